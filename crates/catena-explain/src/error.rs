//! Errors of building an explicit graph.

use catena::graph::GraphError;
use catena::index::RowIndex;
use catena::kernel::KernelError;
use thiserror::Error;

/// A graph that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Model, structure and observations do not fit together.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A latent has no transition along an edge.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A message overflowed.
    #[error(
        "the messages at row {row} are not finite; rescale the outputs or raise the smallest noise variance"
    )]
    MessageNotFinite {
        /// The first such row in visiting order.
        row: RowIndex,
    },
}
