//! Both sides of the paper's bounds, by dense algebra: O((C·D)³) time, so for a few hundred points.

use catena::data::{InputPoints, squared_distance};
use catena::diagnostics::{Distortion, PairSampling, covariance_gap_bound, latent_gap_bound};
use catena::index::{LatentIndex, OutputIndex, Position};
use catena::kernel::StateKind;
use catena::model::{Latent, Lmc};
use catena::structure::Tree;
use catena::units::Variance;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use thiserror::Error;

/// A bound that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// Lemma 1 and Theorem 1 are about chains, and derivative states need a direction.
    #[error(
        "this bound, or a derivative state, needs a chain; use value states and the covariance gap on a tree"
    )]
    NotAChain,
    /// The number of values does not fit the points and outputs.
    #[error("{found} values given for {n_points} points of {n_outputs} outputs")]
    ObservationCount {
        /// The points.
        n_points: usize,
        /// The outputs.
        n_outputs: usize,
        /// The values given.
        found: usize,
    },
    /// Covariance plus noise could not be factorized.
    #[error("covariance plus noise is not positive definite; raise the noise")]
    NotPositiveDefinite,
    /// The eigenvalue computation did not converge.
    #[error("the eigenvalues of a covariance did not converge; check that its entries are finite")]
    NoEigenvalues,
}

/// The two sides of an inequality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// The bounded quantity.
    pub left: f64,
    /// Its bound.
    pub right: f64,
}

/// Spectral norms that Lemma 2 needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CovarianceNorms {
    /// η = ‖K − K_π‖₂, or a bound on it.
    pub gap: f64,
    /// ‖K‖₂ of the Euclidean covariance.
    pub euclidean: f64,
    /// ‖K_π‖₂ of the structure's covariance.
    pub structure: f64,
}

/// How far the structure's posterior can be from the Euclidean one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PosteriorBounds {
    /// A bound on ‖μ − μ_π‖₂.
    mean: f64,
    /// A bound on ‖Σ − Σ_π‖₂.
    covariance: f64,
}

/// Lemma 2, and with the η of Theorem 1 that theorem: all points observed with the same noise σ², ‖y‖₂ given.
fn posterior_bounds(norms: CovarianceNorms, noise: Variance, observations_norm: f64) -> PosteriorBounds {
    let CovarianceNorms { gap, euclidean, structure } = norms;
    let (relative, noise) = (gap / noise.get(), noise.get());
    PosteriorBounds {
        mean: (relative + (euclidean + gap) / noise * relative) * observations_norm,
        covariance: gap + relative * (euclidean + structure) + relative * euclidean * (structure / noise),
    }
}

/// Both sides of Lemma 2; its η, ‖K‖₂ and ‖K_π‖₂ are computed, not bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosteriorSides {
    /// η, ‖K‖₂ and ‖K_π‖₂.
    pub norms: CovarianceNorms,
    /// ‖μ − μ_π‖₂ and its bound.
    pub mean: Sides,
    /// ‖Σ − Σ_π‖₂ and its bound.
    pub covariance: Sides,
}

/// Lemma 1 on a chain: ‖K_l − K_π,l‖₂ ≤ C·α_l·ε_π, with K_π,l from the chain's coordinates.
///
/// # Errors
/// If the structure is not a chain, or the eigenvalues do not converge.
pub fn latent_gap(inputs: &InputPoints, chain: &Tree, latent: &Latent) -> Result<Sides, BoundsError> {
    let along = chain_covariance(chain, latent)?;
    let left = spectral_norm(&(euclidean_covariance(inputs, chain, latent) - along))?;
    Ok(Sides { left, right: latent_gap_bound(latent, chain.len(), exact_distortion(inputs, chain)) })
}

/// Theorem 1's bound on η on a chain: ‖K − K_π‖₂ ≤ C·ε_π·Σ_l ‖w_l‖²·α_l.
///
/// # Errors
/// If the structure is not a chain, or the eigenvalues do not converge.
pub fn covariance_gap(inputs: &InputPoints, chain: &Tree, model: &Lmc) -> Result<Sides, BoundsError> {
    let euclidean = mixed(model, |latent| Ok(euclidean_covariance(inputs, chain, latent)))?;
    let along = mixed(model, |latent| chain_covariance(chain, latent))?;
    let left = spectral_norm(&(euclidean - along))?;
    Ok(Sides { left, right: covariance_gap_bound(model, chain.len(), exact_distortion(inputs, chain)) })
}

/// Lemma 2 (on chains with derivative states: Theorem 1) for any structure and state, with every cell observed.
///
/// `observations` are the values row by row, C×D; the noise is the same for all outputs, as the paper assumes.
///
/// # Errors
/// If a latent with a derivative state is used on a tree, sizes differ, or a factorization fails.
pub fn posterior_gap(
    inputs: &InputPoints,
    structure: &Tree,
    model: &Lmc,
    noise: Variance,
    observations: &[f64],
) -> Result<PosteriorSides, BoundsError> {
    let (n_points, n_outputs) = (structure.len(), model.n_outputs());
    if observations.len() != n_points * n_outputs {
        return Err(BoundsError::ObservationCount { n_points, n_outputs, found: observations.len() });
    }
    // Points in visiting order within each output, as in the covariances.
    let values = Mat::from_fn(n_points * n_outputs, 1, |at, _| {
        let row = structure.row_at(Position::new(at % n_points));
        observations[row.get() * n_outputs + at / n_points]
    });
    let euclidean = mixed(model, |latent| Ok(euclidean_covariance(inputs, structure, latent)))?;
    let along = mixed(model, |latent| structure_covariance(structure, latent))?;
    let norms = CovarianceNorms {
        gap: spectral_norm(&(&euclidean - &along))?,
        euclidean: spectral_norm(&euclidean)?,
        structure: spectral_norm(&along)?,
    };
    let (mean, covariance) = posterior(&euclidean, noise, &values)?;
    let (mean_along, covariance_along) = posterior(&along, noise, &values)?;
    let bounds = posterior_bounds(norms, noise, values.norm_l2());
    Ok(PosteriorSides {
        norms,
        mean: Sides { left: (mean - mean_along).norm_l2(), right: bounds.mean },
        covariance: Sides {
            left: spectral_norm(&(covariance - covariance_along))?,
            right: bounds.covariance,
        },
    })
}

fn exact_distortion(inputs: &InputPoints, chain: &Tree) -> f64 {
    let all_pairs = PairSampling { most_points_for_all_pairs: chain.len(), ..PairSampling::default() };
    Distortion::of(inputs, chain, all_pairs).upper_bound()
}

/// κ_l at a distance; NaN for time components, which the bounds do not cover.
fn correlation_at(latent: &Latent, distance: f64) -> f64 {
    latent.correlation(distance).unwrap_or(f64::NAN)
}

/// K_l, in visiting order, with distances in the unit of the structure.
fn euclidean_covariance(inputs: &InputPoints, structure: &Tree, latent: &Latent) -> Mat<f64> {
    let place = |at: usize| inputs.point(structure.row_at(Position::new(at)));
    let scale = structure.distance_scale().get();
    Mat::from_fn(structure.len(), structure.len(), |i, j| {
        correlation_at(latent, squared_distance(place(i), place(j)).sqrt() / scale)
    })
}

/// K_π,l of Eq. `K_pi`.
fn chain_covariance(chain: &Tree, latent: &Latent) -> Result<Mat<f64>, BoundsError> {
    // Rows in groups are several chains.
    if !chain.is_chain() || chain.n_roots() > 1 {
        return Err(BoundsError::NotAChain);
    }
    let along = chain.coordinates();
    Ok(Mat::from_fn(chain.len(), chain.len(), |i, j| correlation_at(latent, (along[i] - along[j]).abs())))
}

/// The covariance of one latent on the structure.
fn structure_covariance(structure: &Tree, latent: &Latent) -> Result<Mat<f64>, BoundsError> {
    match latent.state() {
        StateKind::Derivative => chain_covariance(structure, latent),
        StateKind::Value => Ok(value_covariance(structure, latent)),
    }
}

/// With value states: the product of the correlations of the edges between two points. A point's row is its parent's,
/// times the edge between them, for all points visited before it.
fn value_covariance(structure: &Tree, latent: &Latent) -> Mat<f64> {
    let mut covariance = Mat::identity(structure.len(), structure.len());
    for position in structure.positions() {
        let Some(above) = structure.parent(position) else { continue };
        let edge = correlation_at(latent, structure.step_into(position));
        for earlier in 0..position.get() {
            let product = edge * covariance[(above.get(), earlier)];
            covariance[(position.get(), earlier)] = product;
            covariance[(earlier, position.get())] = product;
        }
    }
    covariance
}

/// Σ_l (w_l w_lᵀ) ⊗ K_l.
fn mixed(
    model: &Lmc,
    covariance: impl Fn(&Latent) -> Result<Mat<f64>, BoundsError>,
) -> Result<Mat<f64>, BoundsError> {
    let mut sum: Option<Mat<f64>> = None;
    for (at, latent) in model.latents().iter().enumerate() {
        let one = covariance(latent)?;
        let n_points = one.nrows();
        let weight = |output| model.mixing().weight(OutputIndex::new(output), LatentIndex::new(at));
        let size = n_points * model.n_outputs();
        let term = Mat::from_fn(size, size, |i, j| {
            weight(i / n_points) * weight(j / n_points) * one[(i % n_points, j % n_points)]
        });
        sum = Some(match sum {
            Some(sum) => sum + term,
            None => term,
        });
    }
    // A checked model has at least one latent.
    Ok(sum.unwrap_or_else(|| Mat::zeros(0, 0)))
}

/// μ = K(K + σ²I)⁻¹y and Σ = K − K(K + σ²I)⁻¹K.
fn posterior(
    covariance: &Mat<f64>,
    noise: Variance,
    values: &Mat<f64>,
) -> Result<(Mat<f64>, Mat<f64>), BoundsError> {
    let size = covariance.nrows();
    let noisy = covariance + Mat::<f64>::identity(size, size) * faer::Scale(noise.get());
    let factor = noisy.llt(Side::Lower).map_err(|_| BoundsError::NotPositiveDefinite)?;
    Ok((covariance * factor.solve(values), covariance - covariance * factor.solve(covariance)))
}

/// ‖A‖₂ of a symmetric matrix: its largest |eigenvalue|.
fn spectral_norm(matrix: &Mat<f64>) -> Result<f64, BoundsError> {
    let eigenvalues = matrix.self_adjoint_eigenvalues(Side::Lower).map_err(|_| BoundsError::NoEigenvalues)?;
    Ok(eigenvalues.iter().fold(0.0, |largest, value| largest.max(value.abs())))
}
