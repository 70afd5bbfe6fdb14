//! Nearest-neighbor inference: each point is explained by the k locations nearest to it, the paper's NNGP-LMC.
//!
//! Prediction is local kriging on the k nearest rows with an observation, all observed outputs there; an observed row
//! conditions on itself too. The likelihood is Vecchia's: rows in maxmin order, each given its k nearest
//! predecessors, equally near ones by that order. Cells are reduced to channels first (see [`CellReduction`]), so that a neighborhood costs at most
//! (k·min(D, L))³. With k = all both are exact.
//!
//! - `neighbor`: who is near.
//! - `predict`: local kriging at any inputs.
//! - `likelihood`: the log-likelihood and its gradient.

mod likelihood;
mod neighbor;
mod predict;

use catena::model::Lmc;

use crate::channel::Channels;
use crate::correlation::Correlations;
use crate::{CellReduction, DenseMethodError, Jitter, Problem};
use neighbor::{Places, points_of};

/// How the nearest-neighbor method works.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NngpOptions {
    /// The number of neighboring rows, k.
    pub n_neighbors: usize,
    /// Added to the diagonal of the covariance of the observed cells.
    pub jitter: Jitter,
    /// Whether cells are reduced first.
    pub reduction: CellReduction,
}

impl NngpOptions {
    /// k neighbors, no repairs.
    pub fn new(n_neighbors: usize) -> Self {
        Self { n_neighbors, jitter: Jitter::NONE, reduction: CellReduction::Lossless }
    }

    /// The paper's 20 neighbors and its repair.
    pub fn paper() -> Self {
        Self { jitter: Jitter::PAPER_NNGP, ..Self::new(20) }
    }
}

/// The nearest-neighbor posterior of a problem. Fitting only arranges cells and locations: the work is done per point.
#[derive(Clone, Debug)]
pub struct Nngp {
    model: Lmc,
    correlations: Correlations,
    channels: Channels,
    /// The locations, for prediction.
    places: Places,
    n_neighbors: usize,
}

impl Nngp {
    /// Arranges the observed cells.
    ///
    /// # Errors
    /// When there are no neighbors asked for, or more than there are rows with an observation.
    pub fn fit(problem: Problem<'_>, options: NngpOptions) -> Result<Self, DenseMethodError> {
        let channels = Channels::new(problem, options.jitter, options.reduction)?;
        let (n_neighbors, n_locations) = (options.n_neighbors, channels.n_locations());
        if n_neighbors == 0 {
            return Err(DenseMethodError::NoNeighbors);
        }
        if n_neighbors > n_locations {
            return Err(DenseMethodError::TooManyNeighbors { n_neighbors, n_locations });
        }
        let model = problem.model().clone();
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let places = Places::new(&points_of(&channels)?);
        Ok(Self { model, correlations, channels, places, n_neighbors })
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }
}
