//! Exact inference on a factor graph by a sweep: one pass up (or forward), one pass down (or backward).
//!
//! The two passes yield the posterior of every output at every point, the log evidence, and its exact
//! gradient. [`Form`] states which of three equivalent recursions runs and why: a Kalman filter with a Bryson–Frazier smoother, the
//! information form, or the square-root form. Each is tested against the others.

mod batch;
mod blocks;
mod cells;
mod error;
mod form;
mod gaussian;
mod gradient;
mod information;
mod kalman;
mod kalman_memory;
mod log_product;
mod new_inputs;
mod parallel;
mod paths;
mod predictions;
mod readout;
mod square_root;
mod state_space;
mod states;
mod step_lanes;
mod steps;
mod summary;
mod sweep;
mod workspace;

pub(crate) use batch::models_at_once;
pub use blocks::{BlockSweep, Future, Past};
pub use error::InferenceError;
pub use form::Form;
pub(crate) use form::all_nonnegative;
pub(crate) use gaussian::Gaussian;
pub use gradient::Gradient;
pub use new_inputs::Outlook;
pub(crate) use new_inputs::{attachment, places};
pub(crate) use square_root::{Conditional, InformationRows, Parts, SquareRootModel, StepAt};
pub(crate) use states::States;
pub use summary::{Begins, SegmentError, Summary, Surroundings, surroundings};
pub use workspace::{Marginals, Workspace};

use crate::graph::FactorGraph;

/// The log evidence of the observed cells, on all threads. See [`Workspace::log_evidence`].
///
/// # Errors
/// When numbers overflow.
pub fn log_evidence(graph: &FactorGraph<'_>) -> Result<f64, InferenceError> {
    Workspace::new().on_all_threads().log_evidence(graph)
}

/// Mean and variance of every output at every row, on all threads. See [`Workspace::marginals`].
///
/// # Errors
/// When numbers overflow.
pub fn marginals(graph: &FactorGraph<'_>) -> Result<Marginals, InferenceError> {
    Workspace::new().on_all_threads().marginals(graph)
}

/// The log evidence and its gradient, on all threads. See [`Workspace::gradient`].
///
/// # Errors
/// When numbers overflow.
pub fn gradient(graph: &FactorGraph<'_>) -> Result<Gradient, InferenceError> {
    Workspace::new().on_all_threads().gradient(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{InputPoints, Observations};
    use crate::kernel::{Kernel, StateKind};
    use crate::linalg::without_vectors;
    use crate::model::{Latent, Lmc, MixingMatrix};
    use crate::structure::{Tree, sorted_chain, spanning_tree};
    use crate::units::{LengthScale, Variance};

    const N_ROWS: usize = 40;
    const N_OUTPUTS: usize = 3;

    /// Evidence, marginals and gradient in one row.
    fn found(graph: &FactorGraph<'_>) -> Vec<f64> {
        let mut workspace = Workspace::new();
        let marginals = workspace.marginals(graph).unwrap();
        let gradient = workspace.gradient(graph).unwrap();
        let moments = marginals.prediction.means().iter().chain(marginals.prediction.variances());
        let derivatives = gradient.mixing.iter().chain(&gradient.length_scales).chain(&gradient.noise);
        moments.chain(derivatives).copied().chain([marginals.log_evidence, gradient.log_evidence]).collect()
    }

    fn compare(tree: &Tree, kernel: Kernel, state: StateKind, n_latents: usize) {
        let wave = |at: usize| (at as f64 * 12.9898).sin();
        let latent =
            |at: usize| Latent::new(kernel, state, LengthScale::new(1.0 + 0.3 * at as f64).unwrap()).unwrap();
        let weights = (0..N_OUTPUTS * n_latents).map(|at| 0.5 * wave(at + 3)).collect();
        let mixing = MixingMatrix::shared(N_OUTPUTS, n_latents, weights).unwrap();
        let noise = vec![Variance::new(0.1).unwrap(); N_OUTPUTS];
        let model = Lmc::new((0..n_latents).map(latent).collect(), mixing, noise).unwrap();
        let values: Vec<f64> =
            (0..N_ROWS * N_OUTPUTS).map(|at| if at % 4 == 1 { f64::NAN } else { wave(at) }).collect();
        let observations = Observations::from_dense(N_ROWS, N_OUTPUTS, &values).unwrap();
        let graph = FactorGraph::new(&model, tree, &observations).unwrap();
        let (fast, plain) = (found(&graph), without_vectors(|| found(&graph)));
        for (at, (fast, plain)) in fast.iter().zip(&plain).enumerate() {
            let allowed = 1e-10 * plain.abs().max(1.0);
            assert!(
                (fast - plain).abs() <= allowed,
                "{kernel:?}, {n_latents} latents, {at}: {fast}, {plain}"
            );
        }
    }

    /// Machines without AVX2 run one plain version of everything; here it runs on request.
    #[test]
    fn machines_without_vector_instructions_find_the_same() {
        let wave = |at: usize| 3.0 * (at as f64 * 78.233).cos();
        let line = InputPoints::from_column((0..N_ROWS).map(wave).collect()).unwrap();
        let plane = InputPoints::new(N_ROWS, 2, (0..2 * N_ROWS).map(wave).collect()).unwrap();
        let (chain, tree) = (sorted_chain(&line).unwrap(), spanning_tree(&plane).unwrap());
        for n_latents in [1, 2, 3, 4, 5, 8, 9, 16] {
            for kernel in [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52] {
                compare(&chain, kernel, StateKind::Derivative, n_latents);
                compare(&tree, kernel, StateKind::Value, n_latents);
            }
        }
    }
}
