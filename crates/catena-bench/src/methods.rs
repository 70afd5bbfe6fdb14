//! Seconds for one posterior (fit and prediction of N test rows) of every method on the ETT study with N training rows.
//!
//! Claim: exact inference at N = 2000 (about 5600 observed cells) takes at most 10 s on two cores. The sweep of catena uses the
//! paper's chain over all 2N rows, whose construction is timed separately, as in the paper. The time of the sparse method
//! includes k-means, that of the nearest-neighbor method its search. Without the real file, the table is simulated: seven
//! quantized random walks with a daily cycle.

use std::fmt::Write as _;

use catena::data::InputPoints;
use catena::graph::FactorGraph;
use catena::inference;
use catena::prediction::Prediction;
use catena::structure::{Start as ChainStart, greedy_chain};
use catena_methods::Problem;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_studies::ett_study::ett_study;
use catena_studies::julia_streams::JuliaStream;
use serde_json::json;

use crate::report::Table;
use crate::timing::{median, repeated};
use crate::{Failure, Options};

const TRAINING_ROWS: [usize; 5] = [500, 1000, 2000, 4000, 8000];
const MOST_FOR_EXACT: usize = 2000;
const DROPOUT: f64 = 0.3;
const N_INDUCING: usize = 64;
const N_NEIGHBORS: usize = 20;
/// Repetitions of tasks that take milliseconds; the median is reported.
const REPEATS: usize = 7;

/// Measures and prints.
///
/// # Errors
/// If the file cannot be read or a method fails.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let csv = match options.value("--ett") {
        Some(path) => std::fs::read_to_string(path)?,
        None => simulated_table(2 * TRAINING_ROWS[TRAINING_ROWS.len() - 1]),
    };
    let mut table = Table::new("methods", options.json, "seconds for one posterior of the ETT study");
    for n_training in TRAINING_ROWS {
        let study = ett_study(&csv, n_training, DROPOUT, 0)?;
        let problem = Problem::new(&study.model, &study.dataset, study.distance_scale)?;
        let (at, pool) = (study.test_inputs()?, study.pool_inputs()?);
        let n_observed = study.dataset.observations().n_observed();
        let mut print = |method: &str, seconds: Vec<f64>| {
            table.row(&[
                ("method", json!(method)),
                ("n_training", json!(n_training)),
                ("n_observed", json!(n_observed)),
                ("seconds", json!(median(seconds))),
            ]);
        };
        let build = || greedy_chain(study.dataset.inputs(), ChainStart::FirstRow);
        print("chain", repeated(REPEATS, || Ok(build()?))?);
        let chain = build()?.with_distance_scale(study.distance_scale)?;
        let sweep = || -> Result<_, Failure> {
            let graph = FactorGraph::new(&study.model, &chain, study.dataset.observations())?;
            Ok(inference::marginals(&graph)?)
        };
        print("catena", repeated(REPEATS, sweep)?);
        let nngp = || Ok(Nngp::fit(problem, NngpOptions::new(N_NEIGHBORS))?.predict(&at)?);
        print("nngp", repeated(1, nngp)?);
        print("svgp", repeated(1, || sparse(problem, &pool, &at))?);
        if n_training <= MOST_FOR_EXACT {
            print("exact", repeated(1, || Ok(Exact::fit(problem, ExactOptions::default())?.predict(&at)?))?);
        }
    }
    Ok(())
}

fn sparse(problem: Problem<'_>, pool: &InputPoints, at: &InputPoints) -> Result<Prediction, Failure> {
    let start = Start::PlusPlus { n_centers: N_INDUCING, seed: 0 };
    let centers = k_means(pool, start, PAPER_ROUNDS)?;
    Ok(Svgp::fit(problem, &centers, SvgpOptions::paper())?.predict(at)?)
}

/// A table in the layout of ETTh1.csv: quantized, so that inputs repeat.
fn simulated_table(n_rows: usize) -> String {
    let mut stream = JuliaStream::new(1);
    let mut levels = [0.0_f64; 7];
    let mut text = String::from("date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT\n");
    for row in 0..n_rows {
        let _ = write!(text, "{row}");
        for (column, level) in levels.iter_mut().enumerate() {
            *level = 0.98 * *level + 0.3 * stream.randn();
            let daily = (std::f64::consts::TAU * (row % 24) as f64 / 24.0 + column as f64).sin();
            let _ = write!(text, ",{:.2}", 5.0 + *level + daily);
        }
        text.push('\n');
    }
    text
}
