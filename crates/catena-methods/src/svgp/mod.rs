//! Sparse inference through inducing values: the paper's SVGP-LMC and the collapsed variational bound.
//!
//! Latent l has m_l inducing points Z_l. With `K_l(Z, Z) = C_l C_lᵀ` every location has whitened features
//! `u_l = C_l⁻¹ k_l(Z, x)` and keeps a share `1 − |u_l|²` of latent l that the inducing values cannot explain. A channel
//! (a cell of unit noise, loadings a) becomes `ỹ = Σ_l a_l u_lᵀ v_l + noise of variance λ`, v standard normal:
//! - [`Approximation::Fitc`]: `λ = 1 + Σ_l a_l² (1 − |u_l|²)`, the paper's closed form;
//! - [`Approximation::Collapsed`]: λ = 1, and `½ Σ_l a_l² (1 − |u_l|²)` is taken off the evidence, which makes it a lower
//!   bound (Titsias).
//!
//! Everything follows from `A = I + Σ φφᵀ/λ` and `b = Σ φỹ/λ` with φ the stacked a_l u_l: O(C·(Σm)²) time, and memory
//! that does not grow with C, since locations are taken in chunks.
//!
//! - `inducing`: the points and their features.
//! - `sums`: A, b and the evidence.
//! - `predict`: means and variances at any inputs.
//! - `slope`: the gradient.

mod inducing;
mod predict;
mod slope;
mod sums;

use catena::index::LatentIndex;
use catena::model::Lmc;

use crate::channel::Channels;
use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::memory::{Bytes, Demand};
use crate::problem::check_dim;
use crate::target::dot;
use crate::{CellReduction, DenseMethodError, Jitter, MemoryLimit, Problem};
use inducing::Features;
pub use inducing::Inducing;

/// What becomes of the share of a latent that the inducing values cannot explain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Approximation {
    /// It counts as noise of the cell: the paper's form.
    Fitc,
    /// It is taken off the evidence: a lower bound that more inducing points can only raise.
    #[default]
    Collapsed,
}

/// How the sparse method works.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SvgpOptions {
    /// The approximation.
    pub approximation: Approximation,
    /// Added to the diagonal of the correlation matrix of each latent's inducing values.
    pub inducing_jitter: Jitter,
    /// The most memory to use.
    pub memory: MemoryLimit,
}

impl SvgpOptions {
    /// The paper's form and its repair.
    pub fn paper() -> Self {
        Self {
            approximation: Approximation::Fitc,
            inducing_jitter: Jitter::PAPER_INDUCING,
            memory: MemoryLimit::default(),
        }
    }
}

/// The sparse posterior of a problem.
#[derive(Clone, Debug)]
pub struct Svgp {
    model: Lmc,
    channels: Channels,
    features: Features,
    approximation: Approximation,
    /// The factor of A.
    system: Cholesky,
    /// `μ = A⁻¹ b`: the posterior mean of the whitened inducing values.
    mean: Vec<f64>,
    log_evidence: f64,
}

/// Chunks of locations in flight at once; fixed, so that sums do not depend on the number of threads.
const CHUNKS_IN_FLIGHT: usize = 8;
/// Locations per chunk.
const CHUNK: usize = 256;

impl Svgp {
    /// Conditions the model on the observed cells through inducing values.
    ///
    /// # Errors
    /// When inducing points do not fit the problem or (nearly) coincide, or memory does not suffice.
    pub fn fit(
        problem: Problem<'_>,
        inducing: &Inducing,
        options: SvgpOptions,
    ) -> Result<Self, DenseMethodError> {
        let jitters = vec![options.inducing_jitter; problem.model().n_latents()];
        Self::fit_repaired(problem, inducing, options, &jitters)
    }

    /// The same with a repair of its own for every latent, in place of the one in the options: for studies whose latents have
    /// variances, which are part of the mixing matrix here.
    ///
    /// # Errors
    /// As [`Svgp::fit`].
    pub fn fit_repaired(
        problem: Problem<'_>,
        inducing: &Inducing,
        options: SvgpOptions,
        jitters: &[Jitter],
    ) -> Result<Self, DenseMethodError> {
        let model = problem.model().clone();
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let sets = inducing.by_latent(model.n_latents())?;
        let total: usize = sets.iter().map(|points| points.n_rows()).sum();
        let demand = Demand {
            method: "sparse inference",
            n_observed: problem.dataset().observations().n_observed(),
            instead: "use fewer inducing points, method catena or nngp, or allow more memory",
        };
        let numbers = (CHUNKS_IN_FLIGHT as u128 + 2) * (total as u128) * (total as u128 + CHUNK as u128);
        options.memory.check(demand, Bytes::of_numbers(numbers))?;
        for points in &sets {
            check_dim(problem.dataset().inputs().dim(), points)?;
        }
        let channels = Channels::new(problem, Jitter::NONE, CellReduction::AsObserved)?;
        let features = Features::new(correlations, sets, jitters)?;
        let sums = sums::add_up(&channels, &features, options.approximation);
        let system = Cholesky::new(total, sums.system, Threads::All).map_err(|pivot| {
            let (latent, inducing) = features.place_of(pivot);
            DenseMethodError::InducingNotPositiveDefinite { latent: LatentIndex::new(latent), inducing }
        })?;
        let mut mean = sums.right;
        system.whiten(&mut mean, Threads::All);
        let explained = dot(&mean, &mean);
        system.whiten_transposed(&mut mean, Threads::All);
        let log_evidence =
            channels.log_constant() + sums.evidence + 0.5 * (explained - system.log_determinant());
        let approximation = options.approximation;
        Ok(Self { model, channels, features, approximation, system, mean, log_evidence })
    }

    /// The log density of the observed cells under [`Approximation::Fitc`], the lower bound on the exact one under
    /// [`Approximation::Collapsed`].
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The approximation in use.
    pub fn approximation(&self) -> Approximation {
        self.approximation
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }
}

impl Approximation {
    /// The noise λ of a channel whose unexplained variance is `unexplained`.
    fn noise(self, unexplained: f64) -> f64 {
        match self {
            Self::Fitc => 1.0 + unexplained,
            Self::Collapsed => 1.0,
        }
    }
}

/// Chunks of locations, in order.
fn chunks_of(n_locations: usize) -> Vec<std::ops::Range<usize>> {
    (0..n_locations).step_by(CHUNK).map(|start| start..(start + CHUNK).min(n_locations)).collect()
}
