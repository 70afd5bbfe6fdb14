//! Compares the rivals with the authors' scores on ETTh1, seed by seed: `ett_agreement PATH_TO_ETTh1.csv`.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena_baselines::Problem;
use catena_baselines::exact::{Exact, ExactOptions};
use catena_baselines::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_baselines::nngp::{Nngp, NngpOptions};
use catena_baselines::svgp::{Inducing, Svgp, SvgpOptions};
use catena_studies::ett_study::ett_study;
use catena_studies::study::Study;

/// (N, seed, scores of the exact, the sparse and the nearest-neighbor method): RMSE, MNLL without noise, MNLL with noise.
#[rustfmt::skip]
const AUTHORS: [(usize, u32, [[f64; 3]; 3]); 6] = [
    (500, 0, [[3.651770992, 6.517327204, 2.795592789], [3.661900663, 4.723817372, 2.605899185], [3.648543804, 6.481573922, 2.792460604]]),
    (500, 1, [[3.42129464, 6.712671035, 3.066770127], [3.474331645, 5.589120847, 2.907417743], [3.416170198, 6.710325205, 3.068212013]]),
    (500, 2, [[4.610376325, 3.229138325, 2.550879722], [4.228113021, 2.633295589, 2.272564593], [4.626005738, 3.236942835, 2.557465702]]),
    (1000, 0, [[4.214999058, 6.867026306, 2.791718294], [4.184178215, 4.504603315, 2.573090278], [4.209990194, 6.813345562, 2.786430478]]),
    (1000, 1, [[4.161769826, 4.073186535, 2.291094205], [4.10209978, 3.341585503, 2.207646934], [4.160982569, 4.075246561, 2.292515396]]),
    (1000, 2, [[4.720592746, 2.59597602, 2.177193883], [4.585591191, 2.304412707, 2.067446447], [4.725900579, 2.596713643, 2.178581737]]),
];
const DROPOUT: f64 = 0.3;

/// Six digits; three for the sparse method at N = 1000.
///
/// The spread printed beside each difference never changes this verdict. It tells how far the score moves between
/// variants of the study that differ in the last bit of the inputs or in the order of the rows alone: inputs of this table
/// repeat and are quantised, so equally near rows or centers are chosen between by exactly that.
///
/// Five of the 18 cells disagree, and ties are why. Sparse, N = 1000, seed 1: one turn of an assignment tie (distances
/// as |x|² + |c|² − 2xᵀc, means by pairwise sums) moves the score onto the reference, to 2e-10. Nearest-neighbor, N = 500,
/// seed 1: the other one of two rows at the same place does, to 6e-11. At N = 1000, 24 rows share one place and 12 test
/// rows take some of them as neighbors; no rule that was tried (by row, by chain position, first or last, stable and
/// unstable sorts, partitions, kd-trees) gives the reference on two seeds, so ours stays the plain one.
fn demanded(n_training: usize, method: &str) -> f64 {
    if n_training == 1000 && method == "svgp" { 1e-3 } else { 1e-6 }
}

/// Scores of the exact, the sparse and the nearest-neighbor method.
fn scores(study: &Study) -> Result<[[f64; 3]; 3], Box<dyn Error>> {
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale)?;
    let at = study.test_inputs()?;
    let start = study.initial_centers(64);
    let centers = k_means(&study.pool_inputs()?, Start::Rows(&start), PAPER_ROUNDS)?;
    let predictions = [
        Exact::fit(problem, ExactOptions::paper())?.predict(&at)?,
        Svgp::fit(problem, &Inducing::Shared(centers), SvgpOptions::paper())?.predict(&at)?,
        Nngp::fit(problem, NngpOptions::paper())?.predict(&at)?,
    ];
    Ok(predictions.map(|prediction| {
        let scores = study.score(&prediction);
        [scores.rmse, scores.mnll_latent, scores.mnll_with_noise]
    }))
}

/// The study with inputs larger by a few units in the last place, or with its rows in reverse.
fn variants(study: &Study) -> Result<Vec<Study>, Box<dyn Error>> {
    let (inputs, dim, n_outputs) =
        (study.dataset.inputs(), study.dataset.inputs().dim(), study.output_scaling.len());
    let mut variants = vec![];
    for units in 1..4 {
        let larger =
            inputs.values().iter().map(|value| value * (1.0 + f64::from(units) * f64::EPSILON)).collect();
        let larger = InputPoints::new(inputs.n_rows(), dim, larger)?;
        let dataset = Dataset::new(larger, study.dataset.observations().clone())?;
        variants.push(Study { dataset, ..study.clone() });
    }
    let backwards = |rows: &[RowIndex]| -> Vec<RowIndex> {
        rows.iter().map(|row| RowIndex::new(inputs.n_rows() - 1 - row.get())).collect()
    };
    let (mut values, mut places, mut truth) = (vec![], vec![], vec![]);
    for row in (0..inputs.n_rows()).rev().map(RowIndex::new) {
        let mut cells = vec![f64::NAN; n_outputs];
        study.dataset.observations().row(row).for_each(|cell| cells[cell.output.get()] = cell.value);
        values.extend(cells);
        places.extend_from_slice(inputs.point(row));
        truth.extend_from_slice(&study.truth[row.get() * n_outputs..][..n_outputs]);
    }
    let observations = Observations::from_dense(inputs.n_rows(), n_outputs, &values)?;
    variants.push(Study {
        dataset: Dataset::new(InputPoints::new(inputs.n_rows(), dim, places)?, observations)?,
        test_rows: backwards(&study.test_rows),
        pool: backwards(&study.pool),
        truth,
        ..study.clone()
    });
    Ok(variants)
}

/// The largest relative difference of two sets of scores.
fn worst(found: &[f64; 3], expected: &[f64; 3]) -> f64 {
    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let Some(path) = std::env::args().nth(1) else {
        writeln!(std::io::stderr(), "usage: ett_agreement PATH_TO_ETTh1.csv")?;
        return Ok(ExitCode::from(2));
    };
    let csv = std::fs::read_to_string(path)?;
    let mut all_agree = true;
    writeln!(out, "   N seed method        rmse  mnll latent   mnll noisy  difference  spread by ties")?;
    for (n_training, seed, expected) in AUTHORS {
        let study = ett_study(&csv, n_training, DROPOUT, seed)?.in_chain_order()?;
        let found = scores(&study)?;
        let mut spreads = [0.0_f64; 3];
        for variant in variants(&study)? {
            let moved = scores(&variant)?;
            for method in 0..3 {
                spreads[method] = spreads[method].max(worst(&moved[method], &found[method]));
            }
        }
        for (method, name) in ["exact", "svgp", "nngp"].into_iter().enumerate() {
            let (difference, spread) = (worst(&found[method], &expected[method]), spreads[method]);
            let agrees = difference < demanded(n_training, name);
            all_agree &= agrees;
            let [rmse, latent, noisy] = found[method];
            let verdict = if agrees { "" } else { "  DISAGREES" };
            writeln!(
                out,
                "{n_training:4} {seed:4} {name:6} {rmse:11.9} {latent:12.9} {noisy:12.9}     {difference:.1e}  \
                 {spread:14.1e}{verdict}"
            )?;
        }
    }
    Ok(if all_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
