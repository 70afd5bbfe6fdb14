//! Hyperparameters from data: the log evidence plus weak log priors, maximized along its exact gradient.
//!
//! The log evidence is the log marginal likelihood of the observed cells. Learning is a loop around the pipeline. In reading
//! order: [`Family`] (the models and where to start), [`Parameters`] (their free numbers as one vector), [`Priors`],
//! [`LogPosterior`] (the objective), `lbfgs.rs` (the optimizer, which knows no model), [`multi_start`] (several starts),
//! [`learn_relevance`] (a factor on every input). Whatever implements [`Evidence`] can be learned: a chain, a tree, another
//! method's likelihood.

mod family;
mod lbfgs;
mod line_search;
mod moments;
mod multi_start;
mod objective;
mod parameters;
mod priors;
mod relevance;

pub use family::Family;
pub use lbfgs::{OptimizerSettings, Progress, StopReason};
pub use moments::{Extent, OutputMoments};
pub use multi_start::{Learned, MultiStartError, MultiStartSettings, multi_start};
pub use objective::{Evidence, GraphEvidence, LogPosterior};
pub use parameters::Parameters;
pub use priors::{LogNormal, Penalty, Priors};
pub use relevance::{Relevance, RelevanceSettings, learn_relevance};

use crate::data::DataError;
use crate::graph::GraphError;
use crate::inference::InferenceError;
use crate::model::ModelError;
use crate::structure::StructureError;
use thiserror::Error;

/// A log evidence, or a step of learning, that cannot be computed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LearningError {
    /// The model does not fit the graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The inputs cannot be multiplied.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The objective has no finite value at the start.
    #[error("the log evidence is not finite at the start; standardize the outputs")]
    NoValue,
}
