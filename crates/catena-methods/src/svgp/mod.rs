//! Sparse inference through inducing values: the paper's SVGP-LMC and the collapsed variational bound.
//!
//! All latents share m inducing points Z. With `K_l(Z, Z) = C_l C_lᵀ` every location has whitened features
//! `u_l = C_l⁻¹ k_l(Z, x)` and `1 − |u_l|²` of the variance of latent l is not explained by the inducing values. A channel
//! (a cell of unit noise, loadings a) becomes `ỹ = Σ_l a_l u_lᵀ v_l + noise of variance λ`, v standard normal:
//! - [`Approximation::Fitc`]: `λ = 1 + Σ_l a_l² (1 − |u_l|²)`, the paper's closed form;
//! - [`Approximation::Collapsed`]: λ = 1, and `½ Σ_l a_l² (1 − |u_l|²)` is subtracted from the evidence, which makes it a
//!   lower bound (Titsias).
//!
//! Everything follows from `A = I + Σ φφᵀ/λ` and `b = Σ φỹ/λ` with φ the stacked a_l u_l: O(C·(mL)²) time, and memory
//! that does not grow with C, since locations are processed in chunks.
//!
//! - `features`: the inducing points and the features of any point.
//! - `sums`: A, b and the evidence.
//! - `predict`: means and variances at any inputs.
//! - `gradient`: the gradient.

mod features;
mod gradient;
mod predict;
mod sums;

use catena::data::InputPoints;
use catena::index::LatentIndex;
use catena::model::Lmc;

use crate::channel::{CellReduction, Channels};
use crate::cholesky::Cholesky;
use crate::correlation::Correlations;
use crate::memory::{Bytes, Demand};
use crate::normal_equations::{CHUNKS_IN_FLIGHT, NormalEquations, chunks_of};
use crate::problem::check_dim;
use crate::{DenseMethodError, Jitter, MemoryLimit, Problem};
use features::Features;

/// How the variance that the inducing values do not explain enters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Approximation {
    /// As noise of the cell: the paper's form.
    Fitc,
    /// Subtracted from the evidence: a lower bound that more inducing points can only raise.
    #[default]
    Collapsed,
}

/// Options of the sparse method.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SvgpOptions {
    /// The approximation.
    pub approximation: Approximation,
    /// Added to the diagonal of the correlation matrix of each latent's inducing values.
    pub inducing_jitter: Jitter,
    /// The memory limit.
    pub memory: MemoryLimit,
}

impl SvgpOptions {
    /// The form and the jitter of the paper.
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

/// Locations per chunk.
const CHUNK: usize = 256;

impl Svgp {
    /// Conditions the model on the observed cells through inducing values.
    ///
    /// # Errors
    /// If the inducing points do not fit the problem or (nearly) coincide, or the memory limit is exceeded.
    pub fn fit(
        problem: Problem<'_>,
        inducing: &InputPoints,
        options: SvgpOptions,
    ) -> Result<Self, DenseMethodError> {
        let jitters = vec![options.inducing_jitter; problem.model().n_latents()];
        Self::fit_with_jitters(problem, inducing, options, &jitters)
    }

    /// [`Svgp::fit`] with one jitter per latent in place of the one in the options: for studies whose latents have variances,
    /// which are part of the mixing matrix here.
    ///
    /// # Errors
    /// As [`Svgp::fit`].
    pub fn fit_with_jitters(
        problem: Problem<'_>,
        inducing: &InputPoints,
        options: SvgpOptions,
        jitters: &[Jitter],
    ) -> Result<Self, DenseMethodError> {
        problem.check_ungrouped()?;
        let model = problem.model().clone();
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let total = model.n_latents() * inducing.n_rows();
        let demand = Demand {
            method: "sparse inference",
            n_observed: problem.dataset().observations().n_observed(),
            instead: "use fewer inducing points, method catena or nngp, or allow more memory",
        };
        let numbers = (CHUNKS_IN_FLIGHT as u128 + 2) * (total as u128) * (total as u128 + CHUNK as u128);
        options.memory.check(demand, Bytes::of_numbers(numbers))?;
        check_dim(problem.dataset().inputs().dim(), inducing)?;
        let channels = Channels::new(problem, Jitter::NONE, CellReduction::AsObserved)?;
        let features = Features::new(correlations, inducing, jitters)?;
        let approximation = options.approximation;
        let equations = NormalEquations::sum(total, &chunks_of(channels.n_locations(), CHUNK), |chunk| {
            Ok::<_, DenseMethodError>(sums::of_chunk(&channels, &features, approximation, chunk))
        })?;
        let evidence = channels.log_constant() + equations.evidence;
        let solution = equations.solve().map_err(|pivot| {
            let (latent, inducing) = (LatentIndex::new(pivot / features.count()), pivot % features.count());
            DenseMethodError::InducingNotPositiveDefinite { latent, inducing }
        })?;
        let log_evidence = evidence + solution.evidence;
        let (system, mean) = (solution.factor, solution.weights);
        Ok(Self { model, channels, features, approximation, system, mean, log_evidence })
    }

    /// The log density of the observed cells under [`Approximation::Fitc`], the lower bound on the exact one under
    /// [`Approximation::Collapsed`].
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The approximation used.
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
