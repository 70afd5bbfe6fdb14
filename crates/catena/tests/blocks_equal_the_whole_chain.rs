//! A chain that comes in blocks, of which only the boundaries are kept, gives what the chain in memory gives.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::{BlockSweep, Form, Future, InferenceError, Past, Workspace};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;

const N_OUTPUTS: usize = 3;

struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Table {
    /// Ascending times with duplicates, and cells with holes; nothing at all is observed in the middle.
    fn drawn(n_rows: usize) -> Self {
        let mut random = SeededDraws::new(17);
        let mut times: Vec<f64> = (0..n_rows).map(|_| random.uniform(0.0, n_rows as f64).round()).collect();
        times.sort_by(f64::total_cmp);
        let mut values = vec![];
        for (row, time) in times.iter().enumerate() {
            for output in 0..N_OUTPUTS {
                let value = (time / (5.0 + output as f64)).sin() + 0.2 * random.normal();
                let is_missing = random.chance(0.4) || (n_rows / 3..n_rows / 2).contains(&row);
                values.push(if is_missing { f64::NAN } else { value });
            }
        }
        Self { times, values }
    }

    /// The rows of a block, before them the last one of the block before without its cells.
    fn block(&self, first: usize, count: usize) -> (InputPoints, Observations) {
        let before = usize::from(first > 0);
        let times = self.times[first - before..first + count].to_vec();
        let mut values = vec![f64::NAN; before * N_OUTPUTS];
        values.extend(&self.values[first * N_OUTPUTS..][..count * N_OUTPUTS]);
        let observations = Observations::from_dense(before + count, N_OUTPUTS, &values).unwrap();
        (InputPoints::from_column(times).unwrap(), observations)
    }
}

fn model(latents: Vec<Latent>) -> Lmc {
    let mut random = SeededDraws::new(2);
    let weights = (0..N_OUTPUTS * latents.len()).map(|_| random.uniform(-1.0, 1.0)).collect();
    let mixing = MixingMatrix::shared(N_OUTPUTS, latents.len(), weights).unwrap();
    Lmc::new(latents, mixing, vec![Variance::new(0.05).unwrap(); N_OUTPUTS]).unwrap()
}

fn models() -> Vec<Lmc> {
    let scale = |length| LengthScale::new(length).unwrap();
    let latent = |kernel, length| Latent::new(kernel, StateKind::Derivative, scale(length)).unwrap();
    vec![
        model(vec![latent(Kernel::Matern32, 7.0), latent(Kernel::Matern32, 300.0)]),
        model(vec![
            Latent::component(Component::RandomWalk, scale(40.0)),
            Latent::component(Component::Cycle { period: scale(12.0) }, scale(500.0)),
            latent(Kernel::Matern12, 5.0),
        ]),
    ]
}

/// The log evidence, means and variances of a table in blocks of these sizes, the last one repeated.
fn in_blocks(model: &Lmc, table: &Table, sizes: &[usize]) -> (f64, Vec<f64>, Vec<f64>) {
    let mut blocks = vec![];
    let mut first = 0;
    while first < table.times.len() {
        let size = sizes.get(blocks.len()).or(sizes.last()).unwrap();
        let count = (*size).min(table.times.len() - first);
        blocks.push((first, count));
        first += count;
    }
    let mut sweep = BlockSweep::new();
    let (mut log_evidence, mut pasts): (f64, Vec<Option<Past>>) = (0.0, vec![None]);
    for (at, &(first, count)) in blocks.iter().enumerate() {
        let (inputs, observations) = table.block(first, count);
        let tree = sorted_chain(&inputs).unwrap();
        let graph = FactorGraph::new(model, &tree, &observations).unwrap();
        assert!(BlockSweep::suits(&graph));
        let (share, past) = sweep.forward(&graph, pasts[at].as_ref()).unwrap();
        log_evidence += share;
        pasts.push(Some(past));
    }
    let n_cells = table.values.len();
    let (mut means, mut variances) = (vec![f64::NAN; n_cells], vec![f64::NAN; n_cells]);
    let mut future: Option<Future> = None;
    for (at, &(first, count)) in blocks.iter().enumerate().rev() {
        let (inputs, observations) = table.block(first, count);
        let tree = sorted_chain(&inputs).unwrap();
        let graph = FactorGraph::new(model, &tree, &observations).unwrap();
        let (prediction, before) = sweep.backward(&graph, pasts[at].as_ref(), future.as_ref()).unwrap();
        future = Some(before);
        means[first * N_OUTPUTS..][..count * N_OUTPUTS].copy_from_slice(prediction.means());
        variances[first * N_OUTPUTS..][..count * N_OUTPUTS].copy_from_slice(prediction.variances());
    }
    assert!(sweep.variances_are_accurate());
    (log_evidence, means, variances)
}

#[test]
fn blocks_of_any_size_equal_the_whole_chain() {
    let table = Table::drawn(1201);
    for (number, model) in models().iter().enumerate() {
        let (inputs, observations) = table.block(0, table.times.len());
        let tree = sorted_chain(&inputs).unwrap();
        let graph = FactorGraph::new(model, &tree, &observations).unwrap();
        let whole = Workspace::with_form(Form::Covariance).marginals(&graph).unwrap();
        for sizes in [&[1201][..], &[600], &[100], &[1, 7, 1, 50], &[1200], &[81, 80]] {
            let (log_evidence, means, variances) = in_blocks(model, &table, sizes);
            let named = format!("model {number} in blocks of {sizes:?}");
            let tolerance = Tolerance::relative(1e-12);
            assert_close(&named, N_OUTPUTS, &means, whole.prediction.means(), tolerance);
            assert_close(&named, N_OUTPUTS, &variances, whole.prediction.variances(), tolerance);
            let tolerance = tolerance.with_scale_at_least(table.values.len() as f64);
            assert_close(&named, 1, &[log_evidence], &[whole.log_evidence], tolerance);
        }
    }
}

#[test]
fn noise_too_small_for_blocks_is_noticed() {
    let noisy = models().remove(0);
    let (latents, mixing) = (noisy.latents().to_vec(), noisy.mixing().clone());
    let quiet = Lmc::new(latents, mixing, vec![Variance::new(1e-12).unwrap(); N_OUTPUTS]).unwrap();
    let (inputs, observations) = Table::drawn(200).block(0, 200);
    let tree = sorted_chain(&inputs).unwrap();
    assert!(!BlockSweep::suits(&FactorGraph::new(&quiet, &tree, &observations).unwrap()));
}

/// Rows are the table's, not the structure's; and slopes that overflow are an error where the evidence does not.
#[test]
fn numbers_that_overflow_name_a_row_of_the_block() {
    let latent =
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0).unwrap()).unwrap();
    let inputs = InputPoints::from_column(vec![2.0, 1.0, 0.0]).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let mut n_slopes_refused = 0;
    for weight in [1e-300, 1e-160, 1.0, 1e150, 1e160, 1e300] {
        for noise in [5e-324, 1e-300, 1e-160, 1.0, 1e160] {
            for value in [1e-300, 1.0, 1e150, 1e160, f64::MAX] {
                let mixing = MixingMatrix::shared(1, 1, vec![weight]).unwrap();
                let model = Lmc::new(vec![latent], mixing, vec![Variance::new(noise).unwrap()]).unwrap();
                let observations = Observations::from_dense(3, 1, &[value, -value, 0.5 * value]).unwrap();
                let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
                let mut sweep = BlockSweep::new();
                let forward = sweep.forward(&graph, None);
                if let Err(error) = &forward {
                    assert_eq!(*error, InferenceError::Overflow { row: RowIndex::new(0) });
                }
                match sweep.gradient(&graph, None, None) {
                    Ok((gradient, _)) => {
                        let slopes = [gradient.mixing, gradient.length_scales, gradient.noise].concat();
                        let is_finite = slopes.iter().all(|slope| slope.is_finite());
                        assert!(is_finite, "{weight} {noise} {value}: {slopes:?}");
                    }
                    Err(_) => n_slopes_refused += usize::from(forward.is_ok()),
                }
            }
        }
    }
    assert!(n_slopes_refused > 0, "no slope overflowed");
}
