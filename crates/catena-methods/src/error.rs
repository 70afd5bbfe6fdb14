//! Errors of the dense methods and the simple rules.

use catena::data::DataError;
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use thiserror::Error;

use crate::memory::Bytes;

/// A method that cannot be applied or has failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DenseMethodError {
    /// Model and table have different numbers of outputs.
    #[error("the model has {model} outputs but the table has {table}")]
    OutputCount {
        /// Outputs of the model.
        model: usize,
        /// Outputs of the table.
        table: usize,
    },
    /// A time component has no correlation function of the distance.
    #[error("latent {latent} is a time component; use a kernel, or method catena along one input")]
    TimeComponent {
        /// The latent.
        latent: LatentIndex,
    },
    /// A table with groups.
    #[error(
        "a dense method does not know groups of rows; use message passing on a sorted chain, or a table of each group"
    )]
    Groups,
    /// Points with another number of inputs.
    #[error("points have {found} input columns but the table has {expected}")]
    InputDim {
        /// Input columns of the table.
        expected: usize,
        /// Input columns of the points.
        found: usize,
    },
    /// The covariance of the observed cells is not positive definite in double precision.
    /// Usual causes: near-duplicate inputs with almost no noise, and length-scales far above the range of the data. The
    /// cause may be in an earlier row than the one named.
    #[error(
        "covariance not positive definite, detected at row {row}; raise the noise variance or merge duplicate inputs"
    )]
    NotPositiveDefinite {
        /// The row at which the factorization stopped.
        row: RowIndex,
    },
    /// The covariance of the inducing values is not positive definite: inducing points (nearly) coincide.
    #[error(
        "covariance of the inducing values of latent {latent} not positive definite, detected at inducing point \
         {inducing}; remove duplicate inducing points, use fewer, or add a jitter"
    )]
    InducingNotPositiveDefinite {
        /// The latent.
        latent: LatentIndex,
        /// The inducing point, counted from 0, at which the factorization stopped.
        inducing: usize,
    },
    /// A variance was lost to cancellation: the noise is below the rounding of the prior covariance.
    #[error(
        "variance of output {output} at row {row} is {variance:e}; the noise is too small for dense algebra, raise it \
         or use method catena"
    )]
    NegativeVariance {
        /// The row of the points.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The computed value.
        variance: f64,
    },
    /// A joint distribution with an entry that is not a number.
    #[error("joint draws overflow at these points; ask for points nearer to the table")]
    Draws,
    /// More neighbors requested than there are locations with an observation.
    #[error("{n_neighbors} neighbors requested, but only {n_locations} rows have an observation")]
    TooManyNeighbors {
        /// Neighbors requested.
        n_neighbors: usize,
        /// Rows with at least one observed cell.
        n_locations: usize,
    },
    /// A neighbor method needs at least one neighbor.
    #[error("at least one neighbor is needed")]
    NoNeighbors,
    /// More inducing points requested than there are points to choose from.
    #[error("{n_inducing} inducing points requested, but there are only {n_points} points")]
    TooManyInducing {
        /// Inducing points requested.
        n_inducing: usize,
        /// Points to choose from.
        n_points: usize,
    },
    /// At least one inducing point or cluster is needed.
    #[error("at least one inducing point is needed")]
    NoInducing,
    /// An arrangement of another table.
    #[error("the arrangement was made for another table: the rows with observations differ")]
    OtherArrangement,
    /// A starting center is not one of the points.
    #[error("row {row} is not one of the {n_points} points to cluster")]
    UnknownRow {
        /// The row given.
        row: RowIndex,
        /// Points to cluster.
        n_points: usize,
    },
    /// The computation would exceed the memory limit; nothing was allocated.
    #[error(
        "{method} needs {needed} of memory for {n_observed} observed cells, more than the limit of {limit}; {instead}"
    )]
    Memory {
        /// The method.
        method: &'static str,
        /// The memory it would need.
        needed: Bytes,
        /// The limit.
        limit: Bytes,
        /// Observed cells of the table.
        n_observed: usize,
        /// An alternative for the user.
        instead: &'static str,
    },
    /// A singular value decomposition did not converge: the mixing matrix has extreme entries.
    #[error(
        "decomposition of the mixing matrix did not converge at row {row}; its weights or the noise variances are extreme"
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
    /// A ridge penalty must be positive and finite: otherwise regressions on few rows have no solution.
    #[error("ridge penalty {0} is not a positive finite number")]
    Penalty(f64),
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
}
