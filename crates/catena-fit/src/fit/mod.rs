//! From a table to a fitted model in one call: choose, learn, condition, summarize.

mod along_time;
mod fitted;
mod given;
mod in_blocks;
pub mod in_parts;
mod joint;
mod learn;
mod live;
mod options;
mod relearn;
mod summary;
mod sums;
mod text;
mod warnings;
mod words;

use std::ops::ControlFlow;

use catena::data::{DataError, Dataset};
use catena::index::{OutputIndex, RowIndex};
use catena::learning::{LearningError, MultiStartError};
use catena::model::ModelError;
use catena::structure::StructureError;
use catena_methods::DenseMethodError;
use thiserror::Error;

pub use crate::selection::Tried;
pub use catena_methods::fullscale::FullScaleSize;
pub use fitted::{Fit, FitParts};
pub use in_blocks::{Block, InBlocks};
pub use live::{LiveFit, LiveFitError};
pub use options::{
    Budget, FitOptions, GivenParameters, KernelPair, MeanChoice, MethodChoice, StructureOption, UnknownKernel,
};
pub use summary::{HeldOut, LatentSummary, OutputSummary, Summary};
pub use sums::{PieceSummary, SumSummary};
pub use words::UnknownWord;

use crate::method::MethodError;

/// A fit that could not be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FitError {
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The method failed.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A dense method or a simple rule failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// Learning has no value to climb from.
    #[error("learning cannot start: {0}")]
    Learning(String),
    /// Nothing to start from.
    #[error("learning has no start")]
    NoStart,
    /// A number of latents that no model has.
    #[error("{asked} shared latents without private ones: ask for at least 1, or for private latents")]
    NoLatents {
        /// Latents asked for.
        asked: usize,
    },
    /// Given parameters that do not belong to the table.
    #[error("{what} has {found} entries, but the table needs {expected}")]
    ParameterShape {
        /// Which parameter.
        what: &'static str,
        /// Entries it should have.
        expected: usize,
        /// Entries it has.
        found: usize,
    },
    /// Time is one input.
    #[error("a model along time needs a single input, but the table has {found}; name one with --inputs")]
    TimeNeedsOneInput {
        /// Inputs of the table.
        found: usize,
    },
    /// An option that models along time do not have.
    #[error("a model along time {what}; leave that out, or name a kernel such as matern32")]
    NotAlongTime {
        /// What it cannot do.
        what: &'static str,
    },
    /// Sums of different pieces.
    #[error(
        "sum {sum} is of other pieces than the first, or of none; all sums of a model along time are of the same"
    )]
    OtherPieces {
        /// The sum, counted from 1.
        sum: usize,
    },
    /// Candidates are part of one structure.
    #[error(
        "candidates are part of one chain or tree; with an ensemble there are several, so leave them out"
    )]
    CandidatesInEnsemble,
    /// A table in blocks is a chain along one input.
    #[error(
        "only a model by message passing along a single input can be applied in blocks; allow more memory instead"
    )]
    NotInBlocks,
    /// The form of the sweep that runs in blocks would lose digits.
    #[error(
        "the model's noise is too small for a sweep in blocks, which would lose digits; allow more memory instead"
    )]
    TooLittleNoiseForBlocks,
    /// A part of a table has lost digits.
    #[error(
        "the model's noise is too small for a sweep in parts, which would lose digits; learn it with more noise, or fit the table \
         on one machine"
    )]
    TooLittleNoiseForParts,
    /// A part was asked as the first one and is not, or the other way round.
    #[error(
        "{}",
        if *is_joined { "this part follows another: give it what lies before it" }
        else { "this part is the first: nothing lies before it" }
    )]
    PartOutOfPlace {
        /// Whether the part follows another.
        is_joined: bool,
    },
    /// Only what messages along a chain can do can be done in parts.
    #[error("a table in parts {what}")]
    NotInParts {
        /// What it cannot do.
        what: &'static str,
    },
    /// A value that has no logarithm.
    #[error(
        "output {output} is {value} at row {row}, but its logarithm is modelled; leave the cell empty if it is missing, or fit a \
         new model to all rows"
    )]
    NotPositive {
        /// The row, of the table that was given.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// What stands there.
        value: f64,
    },
    /// An ensemble of nothing.
    #[error("an ensemble needs at least one chain")]
    EmptyEnsemble,
}

impl FitError {
    /// Whether numbers failed, rather than what was given being wrong.
    pub fn is_numerical(&self) -> bool {
        match self {
            Self::Data(DataError::ScalingOverflow { .. } | DataError::UnscalingOverflow { .. }) => true,
            Self::Method(MethodError::Inference(_) | MethodError::Ensemble(_)) => true,
            Self::Method(MethodError::Dense(cause)) | Self::Dense(cause) => matches!(
                cause,
                DenseMethodError::NotPositiveDefinite { .. }
                    | DenseMethodError::InducingNotPositiveDefinite { .. }
                    | DenseMethodError::NegativeVariance { .. }
                    | DenseMethodError::MixingDecomposition { .. }
            ),
            Self::Learning(_) | Self::NoStart | Self::TooLittleNoiseForParts => true,
            _ => false,
        }
    }
}

impl From<LearningError> for FitError {
    fn from(error: LearningError) -> Self {
        Self::Learning(error.to_string())
    }
}

impl From<MultiStartError<LearningError>> for FitError {
    fn from(error: MultiStartError<LearningError>) -> Self {
        Self::Learning(error.to_string())
    }
}

impl From<MultiStartError<MethodError>> for FitError {
    fn from(error: MultiStartError<MethodError>) -> Self {
        match error {
            MultiStartError::NoEvidence(cause) => Self::Method(cause),
            other => Self::Learning(other.to_string()),
        }
    }
}

/// How a user asks for parameters to be learned again, on the command line and in Python.
pub(crate) const RELEARN: &str = "--relearn (relearn=True in Python)";

/// What a fit is busy with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Comparing smoothness.
    Smoothness,
    /// Comparing candidate models.
    Candidates,
    /// Building the structure over all points.
    Structure,
    /// Learning the chosen model.
    Learning,
    /// Conditioning on all cells.
    Posterior,
}

/// How far a fit has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// What it is busy with.
    pub stage: Stage,
    /// The share of that stage that is done, at most.
    pub done: f64,
    /// The best log posterior of the parameters so far, while learning.
    pub log_posterior: Option<f64>,
}

/// Told of progress, from several threads; may ask the fit to stop and keep the best so far.
pub type FitMonitor<'a> = dyn Fn(Event) -> ControlFlow<()> + Sync + 'a;

/// Chooses, learns and conditions a model on a table in the user's units. Everything the options leave open is decided from
/// the data; [`Fit::summary`] says what was decided and why.
///
/// # Errors
/// When the table or the options cannot be used, or numbers overflow.
pub fn fit(table: &Dataset, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Fit, FitError> {
    fitted::fit(table, options, monitor)
}
