//! Seconds for one posterior (fit and prediction of N test rows) of catena and each rival on the ETT study, N training
//! rows.
//!
//! Claim guarded: exact inference at N = 2000 (about 5600 observed cells) takes at most 10 s on two cores. Catena's sweep
//! runs along the paper's chain over all 2N rows, which is built beforehand and timed apart, as in the paper. The
//! sparse method's time includes k-means, the nearest-neighbor method's its search. Without the real file, a table of
//! the same shape is made up: seven quantised random walks with a daily rhythm.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use catena::data::InputPoints;
use catena::graph::FactorGraph;
use catena::inference;
use catena::structure::{Start as ChainStart, Tree, greedy_chain};
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Inducing, Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, Problem};
use catena_studies::ett_study::ett_study;
use catena_studies::julia_streams::JuliaStream;
use catena_studies::study::Study;

use crate::Failure;
use crate::timing::median;

const TRAINING_ROWS: [usize; 5] = [500, 1000, 2000, 4000, 8000];
const MOST_FOR_EXACT: usize = 2000;
const DROPOUT: f64 = 0.3;
const N_INDUCING: usize = 64;
const N_NEIGHBORS: usize = 20;
/// What takes milliseconds is run this often; the median counts.
const REPEATS_OF_SHORT_RUNS: usize = 7;

/// One timing.
struct Timing {
    method: &'static str,
    n_training: usize,
    n_observed: usize,
    seconds: f64,
}

/// Times catena and every rival and prints a table, or one JSON object per line.
///
/// # Errors
/// When the file cannot be read or a method fails.
pub(crate) fn run(json: bool, ett: Option<&Path>) -> Result<(), Failure> {
    let csv = match ett {
        Some(path) => std::fs::read_to_string(path)?,
        None => made_up_table(2 * TRAINING_ROWS[TRAINING_ROWS.len() - 1]),
    };
    let mut out = std::io::stdout().lock();
    if !json {
        writeln!(out, "method       N  observed cells    seconds")?;
    }
    for n_training in TRAINING_ROWS {
        let study = ett_study(&csv, n_training, DROPOUT, 0)?;
        for timing in times(&study, n_training)? {
            let Timing { method, n_training, n_observed, seconds } = timing;
            if json {
                writeln!(
                    out,
                    "{{\"bench\":\"rivals\",\"method\":\"{method}\",\"n_training\":{n_training},\
                     \"n_observed\":{n_observed},\"seconds\":{seconds:.7}}}"
                )?;
            } else {
                writeln!(out, "{method:6} {n_training:7} {n_observed:15} {seconds:10.4}")?;
            }
        }
    }
    Ok(())
}

fn times(study: &Study, n_training: usize) -> Result<Vec<Timing>, Failure> {
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale)?;
    let at = study.test_inputs()?;
    let n_observed = study.dataset.observations().n_observed();
    let mut timings = vec![];
    let mut time = |method, repeats, run: &dyn Fn() -> Result<(), Failure>| -> Result<(), Failure> {
        let mut seconds = vec![];
        for _ in 0..repeats {
            let start = Instant::now();
            run()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        timings.push(Timing { method, n_training, n_observed, seconds: median(seconds) });
        Ok(())
    };
    let chain = greedy_chain(study.dataset.inputs(), ChainStart::FirstRow)?;
    let chain = chain.with_distance_scale(study.distance_scale)?;
    time("chain", REPEATS_OF_SHORT_RUNS, &|| build_chain(study.dataset.inputs()))?;
    time("catena", REPEATS_OF_SHORT_RUNS, &|| sweep(study, &chain))?;
    let pool = study.pool_inputs()?;
    time("nngp", 1, &|| Ok(nearest_neighbor(problem, &at)?))?;
    time("svgp", 1, &|| Ok(sparse(problem, &pool, &at)?))?;
    if n_training <= MOST_FOR_EXACT {
        time("exact", 1, &|| Ok(exact(problem, &at)?))?;
    }
    Ok(timings)
}

fn build_chain(inputs: &InputPoints) -> Result<(), Failure> {
    std::hint::black_box(greedy_chain(inputs, ChainStart::FirstRow)?);
    Ok(())
}

/// From model, chain and cells to means and variances at all rows, nothing kept from run to run.
fn sweep(study: &Study, chain: &Tree) -> Result<(), Failure> {
    let graph = FactorGraph::new(&study.model, chain, study.dataset.observations())?;
    std::hint::black_box(inference::marginals(&graph)?);
    Ok(())
}

fn exact(problem: Problem<'_>, at: &InputPoints) -> Result<(), DenseMethodError> {
    let prediction = Exact::fit(problem, ExactOptions::default())?.predict(at)?;
    std::hint::black_box(prediction);
    Ok(())
}

fn sparse(problem: Problem<'_>, pool: &InputPoints, at: &InputPoints) -> Result<(), DenseMethodError> {
    let start = Start::PlusPlus { n_centers: N_INDUCING, seed: 0 };
    let centers = k_means(pool, start, PAPER_ROUNDS)?;
    let svgp = Svgp::fit(problem, &Inducing::Shared(centers), SvgpOptions::paper())?;
    std::hint::black_box(svgp.predict(at)?);
    Ok(())
}

fn nearest_neighbor(problem: Problem<'_>, at: &InputPoints) -> Result<(), DenseMethodError> {
    let nngp = Nngp::fit(problem, NngpOptions::new(N_NEIGHBORS))?;
    std::hint::black_box(nngp.predict(at)?);
    Ok(())
}

/// A table in the layout of ETTh1.csv: quantised, so that inputs repeat.
fn made_up_table(n_rows: usize) -> String {
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
