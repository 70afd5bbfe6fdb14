//! Log evidences and gradients of several models at once on one chain: the covariance form with one model per vector lane.
//!
//! The models differ in weights, length-scales and noise; kernels, chain and cells are the same, so every lane takes the same branches.
//! A lane's numbers do not depend on the models in the others. Compared with the sweep of one model there is no padding and no sum
//! across a register, only one triangle of each covariance is computed, and the chain of dependent operations is shared by all
//! models.

mod filter;
mod readout;
mod smoother;
mod steps;

use super::error::InferenceError;
use super::gradient::Gradient;
use crate::graph::FactorGraph;
use crate::index::{OutputIndex, Position};
use crate::linalg::{Layout, MODELS, PerModel, Unpadded, dispatch_machine};
use filter::{BatchForward, BatchMemory};
use readout::{BatchReadout, rotation_len};
use smoother::{BatchBackward, BatchSums};
use steps::BatchSteps;

/// Longer chains are swept model by model: several threads then share each of them, and the filtered Gaussians of several models
/// would take too much memory.
const LONGEST: usize = 32_768;

/// Rotations of rows with more cells than latents take at most this many numbers of each model.
const MOST_ROTATIONS: usize = 1 << 20;

/// A sweep over several models that keeps its memory.
#[derive(Debug, Default)]
pub(super) struct BatchSweep {
    memory: BatchMemory,
}

/// The gradient of one model, with the accuracy of its sweep.
#[derive(Debug)]
pub(super) struct BatchGradient {
    pub(super) gradient: Result<Gradient, InferenceError>,
    /// See [`super::form::gradient_is_accurate`].
    pub(super) variance_mismatch: f64,
    pub(super) n_observations: usize,
}

/// Whether these graphs can be swept together: one chain, the same cells and kernels, and cells without noise of their own.
pub(super) fn can_be_batched(graphs: &[&FactorGraph<'_>]) -> bool {
    let [first, others @ ..] = graphs else { return false };
    let latents = first.model().latents();
    let is_alike = |other: &&FactorGraph<'_>| {
        let kinds = latents.iter().zip(other.model().latents());
        std::ptr::eq(first.cells(), other.cells())
            && std::ptr::eq(first.step_lengths(), other.step_lengths())
            && latents.len() == other.model().n_latents()
            && first.model().mixing().has_private() == other.model().mixing().has_private()
            && kinds.into_iter().all(|(one, two)| {
                (one.kernel(), one.state(), one.state_dim()) == (two.kernel(), two.state(), two.state_dim())
            })
    };
    let dims = first.model().state_dims();
    let has_shapes = latents.iter().any(|latent| latent.shape().is_some());
    first.tree().is_chain()
        && first.tree().len() < LONGEST
        && !first.cells().has_own_noise()
        && !has_shapes
        && Unpadded::new(&Layout::new(&dims), &dims).is_some()
        && rotation_len(first.cells(), latents.len()) <= MOST_ROTATIONS
        && others.iter().all(is_alike)
}

/// How many models of this graph's kernels are swept at once where that is faster: 1 if one after the other.
///
/// Up to four latents, the sweep of one model keeps its state in registers; without private latents, rows of many outputs cost
/// more than the state. There, four models together take as long as one after the other, or longer.
pub(crate) fn models_at_once(graph: &FactorGraph<'_>) -> usize {
    let model = graph.model();
    let pays = model.n_latents() > 4 && model.mixing().has_private();
    if pays && can_be_batched(&[graph]) { MODELS } else { 1 }
}

impl BatchSweep {
    /// The log evidence and gradient of up to [`MODELS`] models for which [`can_be_batched`] holds.
    pub(super) fn gradients(&mut self, graphs: &[&FactorGraph<'_>]) -> Vec<BatchGradient> {
        let Some(last) = graphs.last() else { return vec![] };
        // Lanes without a model repeat the last one.
        let all: [&FactorGraph<'_>; MODELS] = std::array::from_fn(|model| *graphs.get(model).unwrap_or(last));
        let dims = last.model().state_dims();
        let layout = Layout::new(&dims);
        let Some(shape) = Unpadded::new(&layout, &dims) else { return vec![] };
        let mut steps = BatchSteps::new(all, &layout, shape);
        let mut readout = BatchReadout::new(all, &layout, shape);
        let (edges, memory) = (last.step_lengths(), &mut self.memory);
        let forward = BatchForward { shape, edges, steps: &mut steps, readout: &mut readout, memory };
        let log_evidences = dispatch_machine(&layout, forward);
        steps.forget();
        let memory = &self.memory;
        let backward = BatchBackward { shape, edges, steps: &mut steps, readout: &mut readout, memory };
        let sums = dispatch_machine(&layout, backward);
        let n_observations = readout.n_observations();
        let one = |(model, graph): (usize, &&FactorGraph<'_>)| {
            let log_evidence = readout.log_noise(model) + log_evidences[model];
            BatchGradient {
                gradient: gradient_of(graph, model, log_evidence, (&readout, &sums), &layout),
                variance_mismatch: sums.mismatch.0[model],
                n_observations,
            }
        };
        graphs.iter().enumerate().map(one).collect()
    }
}

/// One model's gradient in its own parameters.
fn gradient_of(
    graph: &FactorGraph<'_>,
    model: usize,
    log_evidence: f64,
    (readout, sums): (&BatchReadout<'_>, &BatchSums),
    layout: &Layout,
) -> Result<Gradient, InferenceError> {
    if !log_evidence.is_finite() {
        return Err(InferenceError::overflow_at(graph, Position::new(graph.tree().len() - 1)));
    }
    let of = |numbers: &[PerModel]| -> Vec<f64> { numbers.iter().map(|number| number.0[model]).collect() };
    let parameters = graph.model();
    let n_latents = parameters.n_latents();
    let mut mixing = vec![0.0; parameters.n_outputs() * n_latents];
    for output in 0..parameters.n_outputs() {
        for (latent, _) in parameters.mixing().row_entries(OutputIndex::new(output)) {
            if let Some(place) = readout.place(output, layout.slot_of(latent.get())) {
                mixing[output * n_latents + latent.get()] = sums.weights[place].0[model];
            }
        }
    }
    let log_lengths = of(&sums.log_lengths);
    let by_length_scale = parameters.latents().iter().enumerate();
    let length_scales = by_length_scale
        .map(|(latent, process)| log_lengths[layout.slot_of(latent)] / process.length_scale().get())
        .collect();
    let shapes = vec![0.0; n_latents];
    let gradient = Gradient { log_evidence, mixing, length_scales, shapes, noise: of(&sums.noise) };
    match gradient.is_finite() {
        true => Ok(gradient),
        false => Err(InferenceError::overflow_at(graph, Position::new(0))),
    }
}
