//! What can go wrong in a rival, and what to do about it.

use catena::data::DataError;
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use thiserror::Error;

use crate::memory::Bytes;

/// A rival that cannot answer, and why.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DenseMethodError {
    /// Model and table speak of different outputs.
    #[error("the model has {model} outputs but the table has {table}")]
    OutputCount {
        /// Outputs of the model.
        model: usize,
        /// Outputs of the table.
        table: usize,
    },
    /// Rivals know kernels, which are functions of a distance.
    #[error(
        "latent {latent} is a piece for time, which only message passing along a chain can carry; use kernels"
    )]
    PieceForTime {
        /// The latent.
        latent: LatentIndex,
    },
    /// Points of another space.
    #[error("points have {found} input columns but the table has {expected}")]
    InputDim {
        /// Input columns of the table.
        expected: usize,
        /// Input columns of the points.
        found: usize,
    },
    /// The covariance of the observed cells is not positive definite in double precision.
    /// Usual causes: near-duplicate inputs with almost no noise; length-scales far above the data range.
    /// The row named is where it was *noticed*.
    #[error(
        "covariance not positive definite, noticed at row {row}; raise the noise variance or merge duplicate inputs"
    )]
    NotPositiveDefinite {
        /// The row at which the factorization stopped.
        row: RowIndex,
    },
    /// The covariance of the inducing values is not positive definite: two inducing points (nearly) coincide.
    #[error(
        "covariance of the inducing values of latent {latent} not positive definite, noticed at inducing point \
         {inducing}; remove duplicate inducing points, use fewer, or allow a jitter"
    )]
    InducingNotPositiveDefinite {
        /// The latent.
        latent: LatentIndex,
        /// The inducing point, counted from 0, at which the factorization stopped.
        inducing: usize,
    },
    /// A variance was lost to cancellation: the noise is below the rounding of the prior covariance.
    #[error(
        "variance of output {output} at row {row} came out as {variance:e}; noise is too small for dense algebra, \
         raise it or use the message-passing method"
    )]
    NegativeVariance {
        /// The row of the points asked for.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// What came out.
        variance: f64,
    },
    /// More neighbors asked for than there are locations with an observation.
    #[error("{n_neighbors} neighbors asked for, but only {n_locations} rows have an observation")]
    TooManyNeighbors {
        /// Neighbors asked for.
        n_neighbors: usize,
        /// Rows with at least one observed cell.
        n_locations: usize,
    },
    /// A neighbor method needs at least one neighbor.
    #[error("at least one neighbor is needed")]
    NoNeighbors,
    /// More inducing points asked for than there are points to place them on.
    #[error("{n_inducing} inducing points asked for, but there are only {n_points} points")]
    TooManyInducing {
        /// Inducing points asked for.
        n_inducing: usize,
        /// Points to choose from.
        n_points: usize,
    },
    /// At least one inducing point or cluster is needed.
    #[error("at least one inducing point is needed")]
    NoInducing,
    /// Inducing points come once for all latents, or once per latent.
    #[error(
        "{found} sets of inducing points given for {n_latents} latents; give one for all or one for each"
    )]
    InducingSets {
        /// Latents of the model.
        n_latents: usize,
        /// Sets given.
        found: usize,
    },
    /// An arrangement of another table.
    #[error("the arrangement is of another table: rows with an observation are not the same")]
    OtherArrangement,
    /// A starting center is not one of the points.
    #[error("row {row} is not one of the {n_points} points to cluster")]
    UnknownRow {
        /// The row given.
        row: RowIndex,
        /// Points to cluster.
        n_points: usize,
    },
    /// The computation would need more memory than it may use; nothing was allocated.
    #[error(
        "{method} needs {needed} of memory for {n_observed} observed cells, more than {limit}; {instead}"
    )]
    Memory {
        /// Which method.
        method: &'static str,
        /// What it would need.
        needed: Bytes,
        /// What it may use.
        limit: Bytes,
        /// Observed cells of the table.
        n_observed: usize,
        /// What to do instead.
        instead: &'static str,
    },
    /// A small singular value decomposition did not converge: the mixing matrix holds extreme numbers.
    #[error(
        "decomposition of the mixing matrix did not converge at row {row}; its weights or noises are extreme"
    )]
    MixingDecomposition {
        /// The first row with that pattern of observed outputs.
        row: RowIndex,
    },
    /// Interpolation along a line needs one input column.
    #[error("linear interpolation needs one input column, not {dim}")]
    NotOneDimensional {
        /// The number of input columns.
        dim: usize,
    },
    /// A ridge penalty must be positive and finite, or regressions on few rows have no solution.
    #[error("ridge penalty {0} is not a positive finite number")]
    Penalty(f64),
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
}
