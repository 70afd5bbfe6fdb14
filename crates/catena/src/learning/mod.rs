//! Hyperparameters from data: the log evidence plus weak priors, climbed along its exact gradient.
//!
//! A loop around the pipeline, not a branch in it. In reading order: [`Family`] (which models, and where to start),
//! [`Parameters`] (their free numbers as one vector), [`Priors`], [`LogPosterior`] (what is climbed), [`Ascent`] (the
//! climb, which knows no model), [`race`] (several starts, the best finished), [`learn_relevance`] (how much each input matters).
//! Anything that can give an [`Evidence`] can be learned: a chain, a tree, a rival's likelihood.

mod ascent;
mod family;
mod line_search;
mod moments;
mod objective;
mod parameters;
mod priors;
mod race;
mod relevance;

pub use ascent::{Ascent, Iteration, Objective, Settings, Stop};
pub use family::Family;
pub use moments::{Extent, OutputMoments};
pub use objective::{Evidence, GraphEvidence, LogPosterior};
pub use parameters::Parameters;
pub use priors::{CollapseDoubt, LogNormal, Priors, ShortnessDoubt};
pub use race::{Learned, Monitor, Progress, RaceError, RaceSettings, race};
pub use relevance::{Relevance, RelevanceSettings, learn_relevance};

use crate::data::DataError;
use crate::graph::GraphError;
use crate::inference::InferenceError;
use crate::model::ModelError;
use crate::structure::StructureError;
use thiserror::Error;

/// An evidence, or a step of learning, that cannot be computed.
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
    /// There is no evidence to climb.
    #[error("the evidence is not finite at the start; standardize the outputs")]
    NoValue,
}
