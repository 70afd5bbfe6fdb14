//! Truths drawn from the model lie where posteriors say they lie: ranks are uniform and bands cover what they promise, on chains
//! and trees, with true and with learned parameters; and with a wrong noise they do not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::learning::{
    Extent, Family, GraphEvidence, MultiStartSettings, OutputMoments, Priors, multi_start,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain, spanning_tree};
use catena::units::{LengthScale, Variance};
use catena_testkit::process_draws::draw_on_line;
use catena_testkit::random::SeededDraws;
use std::ops::ControlFlow;

const N_ROWS: usize = 60;
/// Enough to learn from.
const MANY_ROWS: usize = 300;
const N_OUTPUTS: usize = 3;
const MISSING: f64 = 0.4;
const N_REPLICATIONS: u64 = 400;

/// Quantiles of the standard normal at 1/16, 2/16, … 8/16; the rest by symmetry.
const SIXTEENTHS: [f64; 8] = [
    -1.534_120_544_352_546_3,
    -1.150_349_380_376_008_3,
    -0.887_146_559_018_875_7,
    -0.674_489_750_196_081_7,
    -0.488_776_411_114_669_5,
    -0.318_639_363_964_375_14,
    -0.157_310_684_610_170_7,
    0.0,
];
/// With 15 degrees of freedom one χ² in a thousand is larger.
const CHI_SQUARED: f64 = 37.697;
/// Bands of 50, 80 and 95 %: half-widths in standard deviations.
const BANDS: [(f64, f64); 3] =
    [(0.5, 0.674_489_750_196_081_7), (0.8, 1.281_551_565_544_600_4), (0.95, 1.959_963_984_540_054)];

/// What kind of structure the truth lives on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Chain,
    Tree,
}

/// Whose parameters the posterior has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parameters {
    True,
    TwiceTheNoise,
    /// From as many rows as a small table has.
    LearnedFromFew,
    LearnedFromMany,
}

fn model(on: On, noise_factor: f64) -> Lmc {
    let state = if on == On::Chain { StateKind::Derivative } else { StateKind::Value };
    let latent =
        |length: f64| Latent::new(Kernel::Matern32, state, LengthScale::new(length).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(N_OUTPUTS, 2, vec![0.9, 0.3, -0.4, 0.8, 0.6, 0.6]).unwrap();
    let noise = [0.3, 0.2, 0.4].map(|noise| Variance::new(noise * noise_factor).unwrap());
    Lmc::new(vec![latent(4.0), latent(1.5)], mixing, noise.to_vec()).unwrap()
}

/// A table of the model's own, with what was hidden of it.
struct Replication {
    inputs: InputPoints,
    tree: Tree,
    /// Row-major, without noise.
    truth: Vec<f64>,
    /// The same with noise, every cell.
    noisy: Vec<f64>,
    observed: Vec<f64>,
}

fn replicate(on: On, model: &Lmc, n_rows: usize, draws: &mut SeededDraws) -> Replication {
    let dim = if on == On::Chain { 1 } else { 2 };
    // As dense on a line, or in the plane, for any number of rows.
    let span = 12.0 * (n_rows as f64 / N_ROWS as f64).powf(1.0 / dim as f64);
    let mut values: Vec<f64> = (0..n_rows * dim).map(|_| draws.uniform(0.0, span)).collect();
    if on == On::Chain {
        values.sort_by(f64::total_cmp);
    }
    let inputs = InputPoints::new(n_rows, dim, values).unwrap();
    let tree = if on == On::Chain { sorted_chain(&inputs).unwrap() } else { spanning_tree(&inputs).unwrap() };
    let latents: Vec<Vec<f64>> =
        model.latents().iter().map(|latent| draw_latent(on, latent, &inputs, &tree, draws)).collect();
    let (mut truth, mut noisy, mut observed) = (vec![], vec![], vec![]);
    for row in 0..n_rows {
        for output in (0..N_OUTPUTS).map(OutputIndex::new) {
            let entries = model.mixing().row_entries(output);
            let signal: f64 = entries.map(|(latent, weight)| weight * latents[latent.get()][row]).sum();
            truth.push(signal);
            noisy.push(signal + model.noise()[output.get()].get().sqrt() * draws.normal());
            observed.push(if draws.chance(MISSING) { f64::NAN } else { noisy[noisy.len() - 1] });
        }
    }
    Replication { inputs, tree, truth, noisy, observed }
}

/// One latent at every row. On a tree, whose covariance is a product of correlations along edges, from parent to child.
fn draw_latent(
    on: On,
    latent: &Latent,
    inputs: &InputPoints,
    tree: &Tree,
    draws: &mut SeededDraws,
) -> Vec<f64> {
    let kernel = latent.kernel().unwrap();
    if on == On::Chain {
        return draw_on_line(kernel, latent.length_scale(), inputs.values(), draws);
    }
    let mut values = vec![0.0; tree.len()];
    for position in tree.positions() {
        let row = tree.row_at(position).get();
        values[row] = match tree.parent(position) {
            None => draws.normal(),
            Some(parent) => {
                let above = inputs.squared_distance(tree.row_at(position), tree.row_at(parent)).sqrt();
                let correlation = kernel.correlation(kernel.rate(latent.length_scale()) * above);
                let left = (1.0 - correlation * correlation).sqrt();
                correlation * values[tree.row_at(parent).get()] + left * draws.normal()
            }
        };
    }
    values
}

fn learn(on: On, replication: &Replication, observations: &Observations) -> Lmc {
    let state = if on == On::Chain { StateKind::Derivative } else { StateKind::Value };
    let family =
        Family { n_shared: 2, shared_kernel: Kernel::Matern32, private_kernel: None, state, tied: false };
    let extent = Extent::of(&replication.inputs, &replication.tree);
    let moments = OutputMoments::of(observations);
    let starts = [1.0, 0.3].map(|multiplier| family.start(&moments, extent, multiplier).unwrap());
    let parameters = family.parameters(starts[0].clone(), 1e-4);
    let graph = FactorGraph::new(&starts[0], &replication.tree, observations).unwrap();
    let make = || GraphEvidence::new(graph.clone());
    let priors = Priors::for_points(extent.spacing, extent.span);
    let learned = multi_start(&make, &parameters, &priors, &starts, MultiStartSettings::default(), &|_| {
        ControlFlow::Continue(())
    });
    learned.unwrap().model
}

/// χ² of counts that should be equal.
fn chi_squared(counts: &[usize]) -> f64 {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

struct Found {
    /// χ² of one hidden cell per replication, in its predictive distribution.
    cells: f64,
    /// χ² of the rank of the field's mean among joint draws.
    ranks: f64,
    /// The share of hidden cells within each of the bands.
    coverage: [f64; 3],
}

fn run(on: On, parameters: Parameters, n_replications: u64) -> Found {
    let truth = model(on, 1.0);
    let n_rows = if parameters == Parameters::LearnedFromMany { MANY_ROWS } else { N_ROWS };
    let (mut bins, mut ranks) = ([0_usize; 16], [0_usize; 16]);
    let (mut within, mut n_hidden) = ([0_usize; 3], 0);
    for seed in 0..n_replications {
        let mut draws = SeededDraws::new(10_000 + seed);
        let replication = replicate(on, &truth, n_rows, &mut draws);
        let observations = Observations::from_dense(n_rows, N_OUTPUTS, &replication.observed).unwrap();
        let used = match parameters {
            Parameters::True => truth.clone(),
            Parameters::TwiceTheNoise => model(on, 2.0),
            Parameters::LearnedFromFew | Parameters::LearnedFromMany => {
                learn(on, &replication, &observations)
            }
        };
        let graph = FactorGraph::new(&used, &replication.tree, &observations).unwrap();
        let posterior = Posterior::new(&graph).unwrap();
        let prediction = posterior.prediction();
        let score = |at: usize| {
            let (row, output) = (RowIndex::new(at / N_OUTPUTS), OutputIndex::new(at % N_OUTPUTS));
            let variance = prediction.variance(row, output) + used.noise()[output.get()].get();
            (replication.noisy[at] - prediction.mean(row, output)) / variance.sqrt()
        };
        let hidden: Vec<usize> =
            (0..n_rows * N_OUTPUTS).filter(|&at| replication.observed[at].is_nan()).collect();
        for score in hidden.iter().map(|&at| score(at)) {
            n_hidden += 1;
            for (count, (_, half_width)) in within.iter_mut().zip(BANDS) {
                *count += usize::from(score.abs() <= half_width);
            }
        }
        bins[sixteenth(score(hidden[draws.below(hidden.len())]))] += 1;
        let mean = |field: &[f64]| field.iter().sum::<f64>();
        let below =
            posterior.draws(seed).take(31).filter(|draw| mean(draw) < mean(&replication.truth)).count();
        ranks[below / 2] += 1;
    }
    let coverage = within.map(|count| count as f64 / n_hidden as f64);
    let found = Found { cells: chi_squared(&bins), ranks: chi_squared(&ranks), coverage };
    eprintln!(
        "{on:?}, {parameters:?}, {n_replications} tables: χ² of cells {:.1}, of ranks {:.1}; in bands {:.3?}",
        found.cells, found.ranks, found.coverage
    );
    found
}

/// Which sixteenth of the standard normal distribution a number lies in.
fn sixteenth(score: f64) -> usize {
    let below = SIXTEENTHS.iter().filter(|&&edge| score > edge).count();
    below + SIXTEENTHS[..7].iter().filter(|&&edge| score > -edge).count()
}

fn check_coverage(what: &str, found: &Found, allowed: f64) {
    for ((promised, _), covered) in BANDS.iter().zip(found.coverage) {
        assert!((covered - promised).abs() <= allowed, "{what}: {covered} in bands of {promised}");
    }
}

#[test]
fn with_true_parameters() {
    for on in [On::Chain, On::Tree] {
        let found = run(on, Parameters::True, N_REPLICATIONS);
        assert!(found.cells < CHI_SQUARED, "{on:?}: χ² of cells {}", found.cells);
        assert!(found.ranks < CHI_SQUARED, "{on:?}: χ² of ranks {}", found.ranks);
        // Some 29 000 cells, each worth perhaps a quarter of an independent one.
        check_coverage(&format!("{on:?}"), &found, 0.015);
    }
}

#[test]
fn a_wrong_noise_is_found_out() {
    for on in [On::Chain, On::Tree] {
        let found = run(on, Parameters::TwiceTheNoise, N_REPLICATIONS);
        assert!(found.cells > CHI_SQUARED, "{on:?}: χ² of cells {} although the noise is wrong", found.cells);
        assert!(found.coverage[0] > 0.55, "{on:?}: {} in bands of 0.5", found.coverage[0]);
    }
}

/// What is learned from 540 cells is itself uncertain; bands may lose some coverage by it, not more than five points.
#[test]
fn with_learned_parameters() {
    for on in [On::Chain, On::Tree] {
        let found = run(on, Parameters::LearnedFromMany, 200);
        check_coverage(&format!("{on:?}, learned"), &found, 0.05);
    }
}

#[test]
fn with_parameters_learned_from_few_cells() {
    for on in [On::Chain, On::Tree] {
        let found = run(on, Parameters::LearnedFromFew, 200);
        check_coverage(&format!("{on:?}, learned from few"), &found, 0.05);
    }
}

#[test]
fn sixteenths_are_counted_from_below() {
    assert_eq!([-9.0, -1.5, -0.1, 0.1, 1.5, 9.0].map(sixteenth), [0, 1, 7, 8, 14, 15]);
}
