//! Exact inference on a factor graph: one sweep up or forward, one down or backward.
//!
//! Out of the same two passes come the posterior of every output at every point, the log evidence, and its exact
//! gradient. [`Form`] says which of three equivalent recursions runs and why; each is the others' test.

mod ahead;
mod along;
mod beliefs;
mod blocks;
mod buffers;
mod canonical;
mod cells;
mod covariance;
mod factored;
mod form;
mod gradient;
mod log_product;
mod readout;
mod segment;
mod sink;
mod steps;
mod steps_in_lanes;
mod stretch;
mod workspace;

pub use ahead::Outlook;
pub(crate) use beliefs::{Beliefs, NewSteps, StateBelief, Transition};
pub use blocks::{BlockSweep, Future, Past};
pub use form::Form;
pub use gradient::Gradient;
pub use segment::{Begins, SegmentError, Summary, Surroundings, surroundings};
pub(crate) use segment::{Element, Fold, OwnedRows, StepAt};
pub use workspace::{Marginals, Workspace};

use crate::graph::FactorGraph;
use crate::index::RowIndex;
use thiserror::Error;

/// A sweep that could not be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InferenceError {
    /// The covariance form runs along chains only.
    #[error("the covariance form needs a chain; use the canonical or the factored form on a tree")]
    NotAChain,
    /// A cycle's step depends on more than the ratio of edge to length-scale.
    #[error("slopes in the lengths of edges are for kernels; a model with pieces for time has none")]
    NoEdgeSlopes,
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
