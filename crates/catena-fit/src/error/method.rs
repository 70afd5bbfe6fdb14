//! Errors of a method on a problem.

use catena::data::DataError;
use catena::graph::GraphError;
use catena::inference::InferenceError;
use catena::likelihood::LikelihoodError;
use catena::live::LiveError;
use catena::model::ModelError;
use catena::posterior::EnsembleError;
use catena::structure::StructureError;
use catena_methods::{Bytes, DenseMethodError};
use thiserror::Error;

/// A method that cannot handle a problem.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MethodError {
    /// A dense method or simple rule failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// Points with another number of inputs than the table.
    #[error("points have {found} input columns but the table has {expected}")]
    InputDim {
        /// Input columns of the table.
        expected: usize,
        /// Input columns of the points.
        found: usize,
    },
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Model, structure and table do not match.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The table is invalid.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The method has no joint distributions.
    #[error("this method computes means and variances only, not {what}; use method catena")]
    NotOffered {
        /// The requested quantity.
        what: &'static str,
    },
    /// Space and time with a single input.
    #[error(
        "space and time need the coordinates of a place and then a time; name them, as in --space lat,lon --time when"
    )]
    NoPlace,
    /// Places on the sphere with another number of coordinates than two.
    #[error(
        "a place on the sphere has a latitude and a longitude, but the table has {found} columns before the time"
    )]
    NotOnSphere {
        /// Coordinates of a place.
        found: usize,
    },
    /// More places than the state along time can hold.
    #[error(
        "{found} distinct places are too many for space and time together, which takes up to {most}; round the coordinates, or choose \
         --method fullscale instead of --space (method=\"fullscale\" in Python)"
    )]
    TooManyPlaces {
        /// Distinct places.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// Two places whose values cannot be told apart.
    #[error(
        "places ({one}) and ({other}) are too close to be told apart in double precision; give both the same coordinates"
    )]
    PlacesTooClose {
        /// The coordinates of one.
        one: String,
        /// Of the other.
        other: String,
    },
    /// Fields whose states along time need more memory than allowed.
    #[error(
        "space and time with {n_places} places at {n_times} times need about {needed} of memory, more than {limit}; raise \
         --max-memory (max_memory in Python), choose --kernel matern12, which has half the states, or leave places out"
    )]
    PlacesMemory {
        /// Distinct places.
        n_places: usize,
        /// Times, or times and draws.
        n_times: usize,
        /// The estimate.
        needed: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// A model that is not one of fields.
    #[error(
        "a model of {n_latents} latents is not a model of fields; its columns are fields along time, then the same fields between places"
    )]
    NoFields {
        /// Latents of the model.
        n_latents: usize,
    },
    /// Chains could not be combined.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The live posterior failed.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The approximation under a likelihood failed.
    #[error(transparent)]
    Likelihood(#[from] LikelihoodError),
}
