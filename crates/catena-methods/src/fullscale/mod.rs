//! The full-scale method: a low-rank part plus nearest neighbors, close to exact above one input at a cost linear in the rows.
//!
//! Latent l is split at m inducing points Z: `κ_l(x, x') = u_l(x)ᵀ u_l(x') + S_l(x, x')` with features
//! `u_l(x) = C_l⁻¹ κ_l(Z, x)`. The first part has weights v ~ N(0, I) on the long vector of all features and is global; the
//! residual S_l is local, and each location is conditioned on its k nearest predecessors in maxmin order. A channel (a cell
//! of unit noise with loadings a, see `channel`) has the long feature `φ = [a_l u_l]` and the residual covariance
//! `Σ_l a_l a'_l S_l + unit noise`. Whitened given the neighbors, channels become innovations (b, z), and with
//! `A = I + Σ b bᵀ`, `t = Σ b z`, `w = A⁻¹ t`:
//!
//! `−2 log p = Σ z² − tᵀw + Σ log(pivot²) + log det A + n log 2π`.
//!
//! Without inducing points it is the nearest-neighbor method, without neighbors the paper's sparse method with a block per
//! location, and with all neighbors it is exact. Rows at equal inputs are one location, so that duplicates cost nothing and
//! do not displace other neighbors. Shared latents have features; private ones have neighbors only.
//!
//! - `arrangement`: order, neighbors and inducing points, once per table.
//! - `features`: the low-rank part.
//! - `neighborhood`: the channels, distances, features and residual correlations of a few locations.
//! - `innovation`: one location given its neighbors.
//! - `sums`: A, t and the likelihood.
//! - `gradient`: the gradient; `location_gradient`: the derivatives of one location.
//! - `predict`: means and variances at any inputs.
//! - `joint`: covariances between inputs.

mod arrangement;
mod features;
mod gradient;
mod innovation;
mod joint;
mod location_gradient;
mod neighborhood;
mod predict;
mod sums;

use std::sync::Arc;

use catena::data::InputPoints;
use catena::model::Lmc;

use crate::channel::{CellReduction, Channels};
use crate::cholesky::Cholesky;
use crate::correlation::Correlations;
use crate::memory::{Bytes, Demand};
use crate::normal_equations::CHUNKS_IN_FLIGHT;
use crate::targets::dot;
use crate::{DenseMethodError, Jitter, MemoryLimit, Problem};
pub use arrangement::Arrangement;
use features::Features;

/// The numbers of inducing points and neighbors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FullScaleSize {
    /// Inducing points, m; 0 for a nearest-neighbor method.
    pub n_inducing: usize,
    /// Neighbors of each location, k; 0 for a sparse method.
    pub n_neighbors: usize,
}

impl FullScaleSize {
    /// The sizes that method selection compares: neighbors alone, and a coarser and a finer low-rank part.
    pub const LADDER: [Self; 3] = [Self::new(0, 20), Self::new(64, 10), Self::new(128, 10)];

    /// m inducing points and k neighbors.
    pub const fn new(n_inducing: usize, n_neighbors: usize) -> Self {
        Self { n_inducing, n_neighbors }
    }

    /// Whether inference at this many places, with features of `n_latents` latents, fits the memory.
    pub fn fits(self, n_places: usize, n_latents: usize, memory: MemoryLimit) -> bool {
        needed_memory(n_places, self.n_inducing.min(n_places) * n_latents) <= memory.get()
    }

    /// Multiplications for the likelihood and its gradient per location with `n_channels` channels, for `n_latents` latents
    /// with features.
    pub fn cost_per_location(self, n_latents: usize, n_channels: usize) -> f64 {
        let (features, own) = ((self.n_inducing * n_latents) as f64, n_channels as f64);
        let (near, inducing) = ((self.n_neighbors + 1) as f64, self.n_inducing as f64);
        let block = near * own;
        let whole = own * features * features * 1.5 + 2.0 * inducing * features;
        let local = block.powi(3) / 1.5 + 4.0 * block * block * own;
        let between = 3.0 * near * near * features + 6.0 * near * own * features;
        whole + local + between + 2.0 * block * block * n_latents as f64
    }
}

impl Default for FullScaleSize {
    /// 64 inducing points and 10 neighbors.
    fn default() -> Self {
        Self::new(64, 10)
    }
}

/// The full-scale posterior of a problem.
#[derive(Clone, Debug)]
pub struct FullScale {
    model: Lmc,
    correlations: Correlations,
    channels: Channels,
    arrangement: Arc<Arrangement>,
    features: Features,
    /// The factor of A.
    system: Cholesky,
    /// w.
    weights: Vec<f64>,
    /// `u_lᵀw_l` of every location and latent; 0 for latents without features.
    fitted: Vec<f64>,
    log_evidence: f64,
}

/// Locations per chunk.
const CHUNK: usize = 128;

impl FullScale {
    /// Conditions the model on the observed cells.
    ///
    /// # Errors
    /// If the arrangement is of another table, the memory limit is exceeded, or a neighborhood's covariance is not positive
    /// definite.
    pub fn fit(
        problem: Problem<'_>,
        arrangement: Arc<Arrangement>,
        memory: MemoryLimit,
    ) -> Result<Self, DenseMethodError> {
        if !arrangement.fits(problem.dataset()) {
            return Err(DenseMethodError::OtherArrangement);
        }
        let model = problem.model().clone();
        check_memory(&model, problem, &arrangement, memory)?;
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let places = (0..arrangement.n_places()).map(|place| arrangement.rows_at(place));
        let channels = Channels::at_places(problem, places, (Jitter::NONE, CellReduction::Lossless))?;
        let features = Features::new(&model, &correlations, &channels, arrangement.inducing())?;
        let total = features.total();
        let mut posterior = Self {
            fitted: vec![0.0; channels.n_locations() * model.n_latents()],
            model,
            correlations,
            channels,
            arrangement,
            features,
            system: Cholesky::from_rows(&[]),
            weights: vec![0.0; total],
            log_evidence: 0.0,
        };
        posterior.condition()?;
        Ok(posterior)
    }

    /// The log density of the observed cells under the approximation.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }

    /// The arrangement of the table.
    pub fn arrangement(&self) -> &Arc<Arrangement> {
        &self.arrangement
    }

    /// `y_c − φ_cᵀw`: the residual of a channel after the low-rank part.
    fn channel_residual(&self, location: usize, channel: usize) -> f64 {
        let n_latents = self.model.n_latents();
        let fitted = &self.fitted[location * n_latents..][..n_latents];
        self.channels.values()[channel] - dot(self.channels.loadings(location, channel), fitted)
    }
}

/// The memory for the features and their derivatives at every place, and for several copies of A. `total` is the number of
/// features of all latents.
fn needed_memory(n_places: usize, total: usize) -> Bytes {
    let (n_places, total) = (n_places as u128, total as u128);
    Bytes::of_numbers(2 * n_places * total + (CHUNKS_IN_FLIGHT as u128 + 3) * total * total)
}

/// Checks the memory for the features and their derivatives at every place, and for several copies of A.
fn check_memory(
    model: &Lmc,
    problem: Problem<'_>,
    arrangement: &Arrangement,
    memory: MemoryLimit,
) -> Result<(), DenseMethodError> {
    let n_inducing = arrangement.inducing().map_or(0, InputPoints::n_rows);
    let n_shared = model.mixing().n_shared();
    let n_latents = if n_shared == 0 { model.n_latents() } else { n_shared };
    let demand = Demand {
        method: "full-scale inference",
        n_observed: problem.dataset().observations().n_observed(),
        instead: "use fewer inducing points, method catena or nngp, or allow more memory",
    };
    memory.check(demand, needed_memory(arrangement.n_places(), n_inducing * n_latents))
}
