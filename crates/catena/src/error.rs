//! One error for all modules, so that `?` works in functions that return [`Error`].

use crate::data::DataError;
use crate::graph::GraphError;
use crate::inference::{InferenceError, SegmentError};
use crate::kernel::KernelError;
use crate::learning::{LearningError, MultiStartError};
use crate::likelihood::LikelihoodError;
use crate::live::LiveError;
use crate::model::ModelError;
use crate::posterior::EnsembleError;
use crate::structure::StructureError;
use crate::units::UnitError;
use thiserror::Error as ThisError;

/// The error of any module.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A number is out of range.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The table is invalid.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A kernel has no such state.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Model, structure and observations do not fit together.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The summary of a chain segment is invalid.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Posteriors cannot be combined.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A live posterior refused an edit or a query.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// An approximation for noise that is not Gaussian failed.
    #[error(transparent)]
    Likelihood(#[from] LikelihoodError),
    /// Learning failed.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// Learning failed at every start.
    #[error(transparent)]
    MultiStart(#[from] MultiStartError<LearningError>),
}
