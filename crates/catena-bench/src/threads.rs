//! The speedup of two threads over one on one long chain.
//!
//! L = 3, D = 4. The whole chain on one thread, then in segments on one and on two threads, interleaved; speedups are medians
//! over rounds of ratios within a round. The evidence alone stores no forward pass, which shows the cost of memory. A chain of
//! 8000 points fits in the caches.

use std::num::NonZeroUsize;

use catena::inference::Workspace;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::json;

use crate::cases::{Case, THREE_LATENTS};
use crate::report::Table;
use crate::tasks;
use crate::timing::{ROUNDS, Samples, Task, interleaved};
use crate::workload::Workload;
use crate::{Failure, Options};

/// Required speedup of two threads over the whole chain on one.
const GOAL: f64 = 1.5;

/// Points, and the length of segments if the library does not choose it.
const SIZES: [(usize, Option<usize>); 3] = [(1_000_000, None), (100_000, None), (8_000, Some(2_000))];

/// A task on a pool of threads.
fn on_pool<'a>(pool: &'a ThreadPool, mut task: Task<'a>) -> Task<'a> {
    Task { name: task.name, run: Box::new(move || pool.install(|| (task.run)())) }
}

/// Measures and prints.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let pool = |threads: usize| ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let note = format!("L = 3, D = 4, medians of {} interleaved rounds, milliseconds", ROUNDS);
    let mut table = Table::new("threads", options.json, &note);
    for (n_points, length) in SIZES {
        let workload = Workload::new(&Case { n_points, ..THREE_LATENTS })?;
        let graph = tasks::graph(&workload)?;
        let in_segments = || match length.and_then(NonZeroUsize::new) {
            Some(length) => Workspace::new().in_segments_of(length),
            None => Workspace::new().on_all_threads(),
        };
        for task in tasks::SWEEPS {
            let mut tasks = [
                on_pool(&one, task(&graph, Workspace::new())),
                on_pool(&one, task(&graph, in_segments())),
                on_pool(&two, task(&graph, in_segments())),
            ];
            let samples = interleaved(&mut tasks, ROUNDS)?;
            let [whole, alone, both] = &samples[..] else { continue };
            let milliseconds = |samples: &Samples| json!(1e3 * samples.median());
            table.row(&[
                ("points", json!(n_points)),
                ("task", json!(whole.name)),
                ("whole_ms", milliseconds(whole)),
                ("segments_1_thread_ms", milliseconds(alone)),
                ("segments_2_threads_ms", milliseconds(both)),
                ("speedup", json!(whole.times(both))),
                ("goal", json!(GOAL)),
            ]);
        }
    }
    Ok(())
}
