//! Errors of methods and fits.

mod method;

use catena::data::DataError;
use catena::index::{OutputIndex, RowIndex};
use catena::learning::{LearningError, MultiStartError};
use catena::model::ModelError;
use catena::structure::StructureError;
use catena::units::UnitError;
use catena_methods::{Bytes, DenseMethodError};
use thiserror::Error;

pub use method::MethodError;

/// A fit that failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FitError {
    /// The table is invalid.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The method failed.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The model is invalid.
    #[error(transparent)]
    Model(ModelError),
    /// A length that is infinite in units of the inputs.
    #[error(
        "a length-scale or period is too large for inputs this close together; multiply the inputs and all lengths by a constant"
    )]
    LengthOverflow,
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A dense method or simple rule failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// No start has a finite log evidence.
    #[error("learning cannot start: {0}")]
    Learning(String),
    /// No start was given.
    #[error("learning has no starting point")]
    NoStart,
    /// A model without latents.
    #[error(
        "{requested} shared latents and no private ones; use at least 1 shared latent, or private latents"
    )]
    NoLatents {
        /// Requested shared latents.
        requested: usize,
    },
    /// Given parameters that do not match the table.
    #[error("{what} has {found} entries, but the table needs {expected}")]
    ParameterShape {
        /// Which parameter.
        what: &'static str,
        /// Entries it should have.
        expected: usize,
        /// Entries it has.
        found: usize,
    },
    /// An option that tables with groups do not have.
    #[error("a table with groups {what}")]
    Groups {
        /// The limitation, and what to do.
        what: &'static str,
    },
    /// A fit whose cells cannot be checked.
    #[error("check {what}")]
    Check {
        /// The limitation, and what to do.
        what: &'static str,
    },
    /// A time model of a table with several inputs.
    #[error("a time model needs a single input, but the table has {found}; choose one with --inputs")]
    TimeNeedsOneInput {
        /// Inputs of the table.
        found: usize,
    },
    /// An option that time models do not have.
    #[error("a time model {what}; leave that option out, or choose a kernel such as matern32")]
    NotAlongTime {
        /// The limitation.
        what: &'static str,
    },
    /// An option that models of space and time do not have.
    #[error("a model of space and time {what}")]
    NotInSpace {
        /// The limitation, and what to do.
        what: &'static str,
    },
    /// Sums with different components.
    #[error(
        "sum {sum} is empty or has other components than the first; all sums of a time model must have the same components"
    )]
    DifferentComponents {
        /// The sum, counted from 1.
        sum: usize,
    },
    /// Columns known ahead with a table or options that they are not made for.
    #[error("known columns {what}")]
    Known {
        /// The limitation, and what to do.
        what: String,
    },
    /// Candidates together with an ensemble.
    #[error(
        "candidates are part of one chain or tree, but an ensemble has several; leave the candidates out"
    )]
    CandidatesInEnsemble,
    /// A model that cannot be applied in blocks.
    #[error(
        "only a message-passing model along a single input can be applied in blocks; allow more memory instead"
    )]
    NotInBlocks,
    /// The covariance form, which runs in blocks, would lose digits.
    #[error(
        "the model's noise is too small for a sweep in blocks, which would lose digits; allow more memory instead"
    )]
    TooLittleNoiseForBlocks,
    /// The sweep of a partition lost digits.
    #[error(
        "the model's noise is too small for a sweep in partitions, which would lose digits; learn it with more noise, or fit the table \
         on one machine"
    )]
    TooLittleNoiseForParts,
    /// A partition with a past that it must not have, or without one that it needs.
    #[error(
        "{}",
        if *is_joined { "another partition precedes this one; pass its message" }
        else { "this is the first partition; pass no message from another" }
    )]
    PartOutOfPlace {
        /// Whether the partition follows another.
        is_joined: bool,
    },
    /// An option that a fit in partitions does not have.
    #[error("a fit in partitions {what}")]
    NotInParts {
        /// The limitation.
        what: &'static str,
    },
    /// A transform of an output that the table does not have.
    #[error("transforms names the output {name}, but the table has the outputs {outputs}")]
    NoOutputToTransform {
        /// The name.
        name: String,
        /// The outputs of the table.
        outputs: String,
    },
    /// A likelihood of an output that the table does not have.
    #[error("likelihood names the output {name}, but the table has the outputs {outputs}")]
    NoOutputWithLikelihood {
        /// The name.
        name: String,
        /// The outputs of the table.
        outputs: String,
    },
    /// Bounds of an output that the table does not have.
    #[error("bounds names the output {name}, but the table has the outputs {outputs}")]
    NoOutputWithBounds {
        /// The name.
        name: String,
        /// The outputs of the table.
        outputs: String,
    },
    /// A value beyond the bounds of its output.
    #[error(
        "output {output} is {value} at row {row}, beyond its bounds {bounds}; leave the cell empty if it is missing, or widen the bounds"
    )]
    BeyondBounds {
        /// The row of the given table.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// The bounds.
        bounds: String,
    },
    /// Bounds of an output whose likelihood has values beyond them.
    #[error(
        "{output} has the bounds {bounds}, but values with the likelihood {likelihood} can lie beyond them; leave one of the two out"
    )]
    BoundsWithLikelihood {
        /// The name of the output.
        output: String,
        /// The bounds.
        bounds: String,
        /// The likelihood.
        likelihood: &'static str,
    },
    /// Something that outputs with bounds do not have.
    #[error("an output with bounds {what}")]
    WithBounds {
        /// The limitation, and what to do.
        what: &'static str,
    },
    /// A value that the likelihood of its output does not allow.
    #[error(
        "output {output} is {value} at row {row}, but an output with the likelihood {likelihood} {allowed}; leave the cell empty if it is \
         missing, or choose another likelihood"
    )]
    NotOfLikelihood {
        /// The row of the given table.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// The likelihood.
        likelihood: &'static str,
        /// Which values are allowed.
        allowed: &'static str,
    },
    /// Something that models with a likelihood other than Gaussian cannot do yet.
    #[error("a model with a likelihood other than gaussian {what}")]
    WithLikelihood {
        /// The limitation, and what to do.
        what: &'static str,
    },
    /// The rounds of an approximation did not converge.
    #[error(
        "the posterior under the likelihood did not converge after {n_sweeps} sweeps; choose a likelihood with more noise, such as \
         negative-binomial for poisson, or look for values that are far off"
    )]
    LikelihoodNotConverged {
        /// The number of sweeps.
        n_sweeps: usize,
    },
    /// A requested transform that needs positive values.
    #[error(
        "output {output} is {value} at row {row}, but the transform {kind} needs positive values; leave the cell empty if it is \
         missing, or choose yeo-johnson"
    )]
    NotTransformable {
        /// The row of the given table.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// The transform.
        kind: &'static str,
    },
    /// A requested transform together with something that is in units of the output itself.
    #[error("{what} is in units of the outputs as they are; leave it out, or choose transforms none")]
    TransformsWith {
        /// The other option.
        what: &'static str,
    },
    /// A value that has no logarithm and no power.
    #[error(
        "output {output} is {value} at row {row}, but the model has a logarithm or power of it; leave the cell empty if it is \
         missing, or fit a new model to all rows"
    )]
    NotPositive {
        /// The row of the given table.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
    },
    /// A value whose square is not representable under fixed parameters.
    #[error(
        "output {output} is too large for the model at row {row}; leave the cell empty if it is missing, or fit a new model to \
         all rows"
    )]
    TooLarge {
        /// The row of the given table.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
    },
    /// An ensemble of too few or too many chains.
    #[error("an ensemble has 1 to {most} chains, not {found}")]
    EnsembleSize {
        /// The largest ensemble.
        most: usize,
        /// Requested chains.
        found: usize,
    },
    /// More memory than allowed.
    #[error(
        "the fit needs about {needed} of memory, more than {limit}; raise --max-memory (max_memory in Python), or use fewer rows or \
         outputs"
    )]
    Memory {
        /// The estimate.
        needed: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// A query whose results need more memory than allowed.
    #[error(
        "the predictions need about {needed} of memory, more than {limit}; predict fewer points or draws at a time"
    )]
    QueryMemory {
        /// The estimate.
        needed: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// So many outputs that the least work exceeds the budget by far.
    #[error(
        "learning {n_outputs} outputs takes {least} even with the fewest iterations, far more than the budget; use fewer outputs, a \
         larger budget, or fewer latents, such as --latents 3 --private no (latents=3, private=False in Python)"
    )]
    TooWide {
        /// Outputs of the table.
        n_outputs: usize,
        /// The estimated duration.
        least: String,
    },
}

impl FitError {
    /// Whether the numerics failed, rather than the input being wrong.
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
            Self::Method(MethodError::Likelihood(_)) | Self::LikelihoodNotConverged { .. } => true,
            Self::Learning(_) | Self::NoStart | Self::TooLittleNoiseForParts => true,
            _ => false,
        }
    }
}

impl From<ModelError> for FitError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Unit(UnitError::LengthScale(f64::INFINITY)) => Self::LengthOverflow,
            other => Self::Model(other),
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
