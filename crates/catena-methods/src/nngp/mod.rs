//! Nearest-neighbor inference: each point is conditioned on the k nearest locations, the paper's NNGP-LMC.
//!
//! Prediction is local kriging on all observed outputs of the k nearest rows with an observation; an observed row is
//! conditioned on itself too. The likelihood is Vecchia's: rows in maxmin order, each given its k nearest predecessors,
//! ties by that order. Cells are reduced to channels first (see `channel`), so that a neighborhood costs at most
//! (k·min(D, L))³. Both are exact if k is the number of rows.
//!
//! - `predict`: local kriging at any inputs.
//! - `likelihood`: the log-likelihood and its gradient.

mod likelihood;
mod predict;

use catena::data::{DataError, InputPoints};
use catena::model::Lmc;
use catena::structure::KdTree;

use crate::channel::{CellReduction, Channels};
use crate::correlation::Correlations;
use crate::{DenseMethodError, Jitter, Problem};

/// Options of the nearest-neighbor method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NngpOptions {
    /// The number of neighboring rows, k.
    pub n_neighbors: usize,
    /// Added to the diagonal of the covariance of the observed cells.
    pub jitter: Jitter,
}

impl NngpOptions {
    /// k neighbors, no jitter.
    pub fn new(n_neighbors: usize) -> Self {
        Self { n_neighbors, jitter: Jitter::NONE }
    }

    /// The paper's 20 neighbors and jitter.
    pub fn paper() -> Self {
        Self { jitter: Jitter::PAPER_NNGP, ..Self::new(20) }
    }
}

/// The nearest-neighbor posterior of a problem. Fitting only arranges cells and locations: the work is per point.
#[derive(Clone, Debug)]
pub struct Nngp {
    model: Lmc,
    correlations: Correlations,
    channels: Channels,
    /// The locations, for prediction.
    locations: KdTree,
    n_neighbors: usize,
}

impl Nngp {
    /// Arranges the observed cells.
    ///
    /// # Errors
    /// If no neighbors are requested, or more than there are rows with an observation.
    pub fn fit(problem: Problem<'_>, options: NngpOptions) -> Result<Self, DenseMethodError> {
        let channels = Channels::new(problem, options.jitter, CellReduction::Lossless)?;
        let (n_neighbors, n_locations) = (options.n_neighbors, channels.n_locations());
        if n_neighbors == 0 {
            return Err(DenseMethodError::NoNeighbors);
        }
        if n_neighbors > n_locations {
            return Err(DenseMethodError::TooManyNeighbors { n_neighbors, n_locations });
        }
        let model = problem.model().clone();
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let locations = KdTree::new(&points_of(&channels)?);
        Ok(Self { model, correlations, channels, locations, n_neighbors })
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }
}

/// The points of the observed locations, in the order of the locations.
fn points_of(channels: &Channels) -> Result<InputPoints, DataError> {
    let coordinates = (0..channels.n_locations()).flat_map(|location| channels.point(location));
    InputPoints::new(channels.n_locations(), channels.dim(), coordinates.copied().collect())
}
