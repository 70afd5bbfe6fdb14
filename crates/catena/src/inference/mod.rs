//! Exact inference on a factor graph: one sweep up or forward, one down or backward.
//!
//! Out of the same two passes come the posterior of every output at every point, the log evidence, and its exact
//! gradient. [`Form`] says which of three equivalent recursions runs and why; each is the others' test.

mod ahead;
mod along;
mod answers;
mod blocks;
mod careful;
mod cells;
mod form;
mod gradient;
mod information;
mod kalman;
mod kalman_memory;
mod log_product;
mod parallel;
mod predictions;
mod readout;
mod segment;
mod square_root;
mod states;
mod step_lanes;
mod steps;
mod workspace;

pub use ahead::Outlook;
pub use blocks::{BlockSweep, Future, Past};
pub use form::Form;
pub(crate) use form::are_variances;
pub use gradient::Gradient;
pub use segment::{Begins, SegmentError, Summary, Surroundings, surroundings};
pub(crate) use segment::{Element, InformationRows, SquareRootModel, StepAt};
pub(crate) use states::{NewSteps, StateGaussian, States, Transition};
pub use workspace::{Marginals, Workspace};

use crate::graph::FactorGraph;
use crate::index::RowIndex;
use thiserror::Error;

/// A sweep that could not be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InferenceError {
    /// The covariance form runs along chains only.
    #[error("the covariance form needs a chain; use the information form or the square-root form on a tree")]
    NotAChain,
    /// A cycle's step depends on more than the ratio of edge to length-scale.
    #[error("edge-length gradients are undefined for models with time components; use stationary kernels")]
    NoEdgeGradient,
    /// A forecast looks forward.
    #[error("distance {at} is negative or not a number; a forecast is for a distance of zero or more ahead")]
    NotAhead {
        /// Which of those given, counted from 0.
        at: usize,
    },
    /// A past or a future that another model has left.
    #[error(
        "what is known before or after the block is of a state of {found} numbers, but the model has {expected}"
    )]
    OtherState {
        /// Numbers of the model's state, with padding.
        expected: usize,
        /// Numbers of the state that was given.
        found: usize,
    },
    /// Numbers left the range of doubles.
    /// Usual causes: weights, observations or noise variances of extreme size.
    /// The row named is where it was *noticed*; the cause may lie elsewhere in the structure.
    #[error("numbers overflow at row {row}; standardize the outputs, or check weights and noise variances")]
    Overflow {
        /// The row.
        row: RowIndex,
    },
}

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
    use crate::linalg::plainly;
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
        let slopes = gradient.mixing.iter().chain(&gradient.length_scales).chain(&gradient.noise);
        moments.chain(slopes).copied().chain([marginals.log_evidence, gradient.log_evidence]).collect()
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
        let (fast, plain) = (found(&graph), plainly(|| found(&graph)));
        for (at, (fast, plain)) in fast.iter().zip(&plain).enumerate() {
            let allowed = 1e-10 * plain.abs().max(1.0);
            assert!(
                (fast - plain).abs() <= allowed,
                "{kernel:?}, {n_latents} latents, {at}: {fast}, {plain}"
            );
        }
    }

    /// Machines without AVX2 run one plain version of everything; here it must be asked for to be run at all.
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
