//! What can go wrong in an estimate, and what it warns of.

use catena::data::DataError;
use catena::index::RowIndex;
use catena_methods::DenseMethodError;
use thiserror::Error;

/// An estimate that cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// The prediction is of another table.
    #[error(
        "the prediction has {rows} rows of {outputs} outputs, unlike the table; predict the rows of the table itself"
    )]
    PredictionShape {
        /// Rows of the prediction.
        rows: usize,
        /// Outputs of the prediction.
        outputs: usize,
    },
    /// A scale is needed for every output.
    #[error("{found} output scales given for {expected} outputs")]
    ScaleCount {
        /// Outputs of the table.
        expected: usize,
        /// Scales given.
        found: usize,
    },
    /// There is no row to sample from.
    #[error("no rows were given to sample from")]
    NoRows,
    /// A row is not of this table.
    #[error("row {row} is not one of the {n_rows} rows")]
    UnknownRow {
        /// The row.
        row: RowIndex,
        /// Rows of the table.
        n_rows: usize,
    },
    /// An error needs two points, a neighborhood that can be halved two neighbors.
    #[error("{n_sampled} points with {n_neighbors} neighbors were asked for; use at least two of each")]
    TooFew {
        /// Points asked for.
        n_sampled: usize,
        /// Neighbors asked for.
        n_neighbors: usize,
    },
    /// Without observations there is nothing to compare.
    #[error("the table has no observed cell; both posteriors are the prior")]
    NothingObserved,
    /// A neighborhood cannot be made into a table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The dense process failed in the neighborhood of a row.
    #[error("dense process on the neighborhood of row {row}: {source}")]
    Dense {
        /// The sampled row. A row named by the source is the place of a neighbor, the nearest being 0.
        row: RowIndex,
        /// What went wrong.
        source: DenseMethodError,
    },
}

/// What one should know before relying on a structure.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StructureWarning {
    /// The structure's means are far from dense ones, measured by the structure's own deviations.
    #[error(
        "the structure's means differ from dense ones by {in_deviations:.2} of its posterior standard deviations \
         (RMS), more than {limit}; use a tree, an ensemble or a method with neighborhoods"
    )]
    FarFromDense {
        /// The RMS difference, in posterior standard deviations of the structure.
        in_deviations: f64,
        /// The limit it exceeds.
        limit: f64,
    },
    /// The dense process has not settled: the estimate is of the right size at best.
    #[error(
        "the dense process still changes by {change:.3e} when its {n_neighbors} neighbors are halved, more than half \
         of the difference found; ask for more neighbors"
    )]
    ReferenceUnsettled {
        /// The RMS change of the dense means, in output units.
        change: f64,
        /// The neighbors used.
        n_neighbors: usize,
    },
}
