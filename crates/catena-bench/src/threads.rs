//! How much faster two threads sweep one long chain than one thread does.
//!
//! L = 3, D = 4. The whole chain on one thread, then cut into stretches on one and on two threads, interleaved; speedups are medians over
//! rounds of ratios within a round. Evidence alone keeps nothing of the way forward: beside it one sees what memory costs. A chain of
//! 8000 points is small enough for the caches.

use crate::Failure;
use crate::cases::{Case, THREE_LATENTS};
use crate::contenders;
use crate::timing::{Contender, Rounds, Samples, race};
use crate::workload::Workload;
use catena::graph::FactorGraph;
use catena::inference::Workspace;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::io::Write as _;
use std::num::NonZeroUsize;

/// Two threads are to be this much faster than the whole chain on one.
const GOAL: f64 = 1.5;

/// Points, and the length of stretches where it is not left to the library.
const SIZES: [(usize, Option<usize>); 3] = [(1_000_000, None), (100_000, None), (8_000, Some(2_000))];

#[derive(Clone, Copy)]
enum Quantity {
    Gradient,
    Posterior,
    Evidence,
}

impl Quantity {
    const ALL: [Self; 3] = [Self::Gradient, Self::Posterior, Self::Evidence];

    fn name(self) -> &'static str {
        match self {
            Self::Gradient => contenders::GRADIENT,
            Self::Posterior => contenders::POSTERIOR,
            Self::Evidence => contenders::EVIDENCE,
        }
    }
}

/// One way to sweep, on a pool of threads.
fn contender<'a>(
    name: &'static str,
    quantity: Quantity,
    mut workspace: Workspace,
    pool: &'a ThreadPool,
    graph: &'a FactorGraph<'a>,
) -> Result<Contender<'a>, Failure> {
    let run = move || {
        let evidence = pool.install(|| match quantity {
            Quantity::Gradient => workspace.gradient(graph).map(|gradient| gradient.log_evidence),
            Quantity::Evidence => workspace.log_evidence(graph),
            Quantity::Posterior => {
                workspace.marginals(graph).map(|marginals| black_box(marginals).log_evidence)
            }
        });
        Ok(black_box(evidence?))
    };
    Ok(Contender { name, run: Box::new(run) })
}

/// Measures and prints a table, or one JSON object per line.
pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let pool = |threads: usize| ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let mut out = std::io::stdout().lock();
    if !json {
        writeln!(out, "L=3 D=4, {} rounds, interleaved", Rounds::default().get())?;
        writeln!(
            out,
            "   points   quantity               whole ms   cut, 1 ms   cut, 2 ms   speedup   goal"
        )?;
    }
    for (n_points, length) in SIZES {
        let workload = Workload::new(&Case { n_points, ..THREE_LATENTS })?;
        let graph = contenders::graph(&workload)?;
        let cut = || match length.and_then(NonZeroUsize::new) {
            Some(length) => Workspace::new().in_segments_of(length),
            None => Workspace::new().on_all_threads(),
        };
        for quantity in Quantity::ALL {
            let mut racers = [
                contender("whole", quantity, Workspace::new(), &one, &graph)?,
                contender("cut, 1 thread", quantity, cut(), &one, &graph)?,
                contender("cut, 2 threads", quantity, cut(), &two, &graph)?,
            ];
            let samples = race(&mut racers, Rounds::default())?;
            let [whole, alone, both] = &samples[..] else { continue };
            let milliseconds = |samples: &Samples| 1e3 * samples.median();
            let (speedup, name) = (whole.times(both), quantity.name());
            if json {
                let line = serde_json::json!({
                    "bench": "threads", "points": n_points, "quantity": name, "whole_ms": milliseconds(whole),
                    "cut_one_ms": milliseconds(alone), "cut_two_ms": milliseconds(both), "speedup": speedup,
                    "goal": GOAL,
                });
                writeln!(out, "{line}")?;
            } else {
                writeln!(
                    out,
                    "{n_points:>9}   {name:<20} {:>10.1} {:>11.1} {:>11.1} {speedup:>9.2} {GOAL:>6.1}",
                    milliseconds(whole),
                    milliseconds(alone),
                    milliseconds(both),
                )?;
            }
        }
    }
    Ok(())
}
