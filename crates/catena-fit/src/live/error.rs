//! Errors of a live fit.

use catena::data::DataError;
use catena::index::{OutputIndex, RowIndex};
use catena::live::LiveError;
use thiserror::Error;

use crate::error::{FitError, MethodError};

/// An error of a live fit, which is then unchanged.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LiveFitError {
    /// The method does not support streaming.
    #[error("method {method} does not support streaming; fit with --method catena on one chain or tree")]
    NotOneStructure {
        /// The method.
        method: String,
    },
    /// The model has known noise variances of cells.
    #[error(
        "the model has a known noise variance per cell, which a stream does not carry; use `catena update`"
    )]
    CellNoise,
    /// The model has a likelihood other than Gaussian.
    #[error(
        "a model with a likelihood other than gaussian does not take a stream yet; use `catena update`, or fit without --likelihood"
    )]
    Likelihood,
    /// A group is named for a fit without groups, or none for a fit with groups.
    #[error("{}", if *has_groups { "the model has groups; name that of the row" } else { "the model has no groups" })]
    Groups {
        /// Whether the fit has groups.
        has_groups: bool,
    },
    /// The rows of a group cannot be conditioned.
    #[error("{cause}")]
    Group {
        /// The error.
        cause: Box<FitError>,
    },
    /// An unknown output.
    #[error("unknown output {output}; the model has {n_outputs} outputs")]
    UnknownOutput {
        /// The output.
        output: OutputIndex,
        /// The number of outputs.
        n_outputs: usize,
    },
    /// An invalid value.
    #[error("the value {value} is {what}")]
    Value {
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// The reason.
        what: &'static str,
    },
    /// Invalid inputs.
    #[error("{expected} finite inputs are needed, not {found:?}")]
    Inputs {
        /// The number of inputs.
        expected: usize,
        /// The given inputs.
        found: Vec<f64>,
    },
    /// An error in one of several rows; none of them is taken.
    #[error("row {row}: {cause}")]
    AtRow {
        /// The row.
        row: RowIndex,
        /// The error.
        cause: Box<Self>,
    },
    /// The posterior failed.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The method failed.
    #[error(transparent)]
    Method(#[from] MethodError),
}

impl LiveFitError {
    /// Whether the numerics failed, rather than the input being wrong.
    pub fn is_numerical(&self) -> bool {
        let is_overflow = |cause: &LiveError| {
            matches!(cause, LiveError::Inference(_) | LiveError::Data(DataError::UnscalingOverflow { .. }))
        };
        match self {
            Self::Live(cause) | Self::Method(MethodError::Live(cause)) => is_overflow(cause),
            Self::AtRow { cause, .. } => cause.is_numerical(),
            _ => false,
        }
    }
}
