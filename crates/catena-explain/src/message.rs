//! Gaussian messages in canonical (information) or moment form, with their scales.
//!
//! Upward messages (toward the root) have **canonical** form, because their precision Λ may be singular or 0. Downward messages have
//! **moment** form, because their covariance P may be singular (more outputs than latents, or two rows at the same place). The
//! product of the two forms needs no inverse: see [`Moment::times`].

use crate::matrix::{Eliminated, Matrix, cholesky, dot};
use std::f64::consts::TAU;
use thiserror::Error;

/// A message without the requested form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormError {
    /// A precision that is not positive definite has no mean and no covariance.
    #[error(
        "the precision of the message is singular, so it has no moments; multiply it with a proper message first"
    )]
    Improper,
    /// A covariance that is not positive definite has no precision.
    #[error("the covariance of the message is singular, so it has no canonical form; keep its moments")]
    Degenerate,
}

/// `exp(log_scale + ηᵀx − ½ xᵀΛx)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical {
    /// Λ, symmetric, possibly singular.
    pub precision: Matrix,
    /// η, which is Λ times the mean if Λ is not singular.
    pub information: Vec<f64>,
    /// The logarithm of the message at x = 0.
    pub log_scale: f64,
}

impl Canonical {
    /// The flat message: 1 everywhere.
    pub fn flat(dim: usize) -> Self {
        Self { precision: Matrix::zeros(dim, dim), information: vec![0.0; dim], log_scale: 0.0 }
    }

    /// The number of components of x.
    pub fn dim(&self) -> usize {
        self.information.len()
    }

    /// The product of two messages about the same x, which is what an equality node sends on: Λ, η and log-scales add.
    pub fn times(&self, other: &Self) -> Self {
        Self {
            precision: self.precision.plus(&other.precision),
            information: self.information.iter().zip(&other.information).map(|(a, b)| a + b).collect(),
            log_scale: self.log_scale + other.log_scale,
        }
    }

    /// The message through `x = B u` toward u: `Bᵀ Λ B`, `Bᵀ η`.
    pub(crate) fn pulled_back(&self, map: &Matrix) -> Self {
        let transposed = map.transposed();
        Self {
            precision: transposed.sandwich(&self.precision),
            information: transposed.times_vector(&self.information),
            log_scale: self.log_scale,
        }
    }

    /// The same function as moments: `P = Λ⁻¹`, `m = P η`, `log_scale + ½ ηᵀm + ½ log det 2πP`.
    ///
    /// # Errors
    /// When Λ is not positive definite.
    pub fn to_moment(&self) -> Result<Moment, FormError> {
        let (covariance, log_determinant) = inverse(&self.precision).ok_or(FormError::Improper)?;
        let mean = covariance.times_vector(&self.information);
        let normalizer = 0.5 * (self.dim() as f64 * TAU.ln() - log_determinant);
        let log_scale = self.log_scale + 0.5 * dot(&self.information, &mean) + normalizer;
        Ok(Moment { mean, covariance, log_scale })
    }

    pub(crate) fn is_finite(&self) -> bool {
        let numbers = self.information.iter().chain([&self.log_scale]);
        self.precision.is_finite() && numbers.into_iter().all(|number| number.is_finite())
    }
}

/// `exp(log_scale) · N(x; m, P)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The mean m.
    pub mean: Vec<f64>,
    /// The covariance P, symmetric, possibly singular.
    pub covariance: Matrix,
    /// The logarithm of the integral of the message.
    pub log_scale: f64,
}

impl Moment {
    /// The number of components of x.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The product with a canonical message about the same x; neither needs an inverse.
    ///
    /// With the residual `r = η − Λm`: `P' = (I + PΛ)⁻¹ P`, `m' = m + P' r`, and the scale gains the integral
    /// `−½ log det(I + PΛ) + ½ rᵀP'r + ηᵀm − ½ mᵀΛm`. So the log-scale of the product of the two messages on an edge
    /// is the log evidence.
    pub fn times(&self, other: &Canonical) -> Self {
        let (m, p) = (&self.mean, &self.covariance);
        let pulled = other.precision.times_vector(m);
        let residual: Vec<f64> = other.information.iter().zip(&pulled).map(|(a, b)| a - b).collect();
        let system = Eliminated::new(&Matrix::identity(self.dim()).plus(&p.times(&other.precision)));
        let covariance = system.solve(p).symmetric();
        let shift = covariance.times_vector(&residual);
        let at_mean = dot(&other.information, m) - 0.5 * dot(m, &pulled);
        let integral = at_mean + 0.5 * (dot(&residual, &shift) - system.log_determinant());
        Self {
            mean: m.iter().zip(&shift).map(|(a, b)| a + b).collect(),
            covariance,
            log_scale: self.log_scale + other.log_scale + integral,
        }
    }

    /// The message through `y = B x` toward y: `B m`, `B P Bᵀ`.
    pub(crate) fn pushed_through(&self, map: &Matrix) -> Self {
        Self {
            mean: map.times_vector(&self.mean),
            covariance: map.sandwich(&self.covariance),
            log_scale: self.log_scale,
        }
    }

    /// The same function in canonical form: `Λ = P⁻¹`, `η = Λ m`, `log_scale − ½ ηᵀm − ½ log det 2πP`.
    ///
    /// # Errors
    /// When P is not positive definite.
    pub fn to_canonical(&self) -> Result<Canonical, FormError> {
        let (precision, log_determinant) = inverse(&self.covariance).ok_or(FormError::Degenerate)?;
        let information = precision.times_vector(&self.mean);
        let normalizer = 0.5 * (self.dim() as f64 * TAU.ln() + log_determinant);
        let log_scale = self.log_scale - 0.5 * dot(&information, &self.mean) - normalizer;
        Ok(Canonical { precision, information, log_scale })
    }

    /// The product of a message about a single number with a delta at `value`: the variance is 0, and the scale gains the
    /// density there, `−½ log 2πP − ½ (value − m)²/P`.
    ///
    /// # Panics
    /// When the message is about no number at all.
    pub fn known_to_be(&self, value: f64) -> Self {
        let (distance, variance) = (value - self.mean[0], self.covariance[(0, 0)]);
        let log_density = -0.5 * ((TAU * variance).ln() + distance * distance / variance);
        Self { mean: vec![value], covariance: Matrix::zeros(1, 1), log_scale: self.log_scale + log_density }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let numbers = self.mean.iter().chain([&self.log_scale]);
        self.covariance.is_finite() && numbers.into_iter().all(|number| number.is_finite())
    }
}

/// A message toward the root.
#[derive(Clone, Debug, PartialEq)]
pub enum Upward {
    /// A known value: the delta of a black square in Fig. 2.
    Known(f64),
    /// Every other message.
    Canonical(Canonical),
}

/// A message in the form it travels in.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Toward the root.
    Upward(Upward),
    /// Away from the root.
    Downward(Moment),
}

impl Message {
    /// The canonical parameters; `None` for a known value, whose precision is infinite.
    pub fn to_canonical(&self) -> Option<Canonical> {
        match self {
            Self::Upward(Upward::Known(_)) => None,
            Self::Upward(Upward::Canonical(message)) => Some(message.clone()),
            Self::Downward(message) => message.to_canonical().ok(),
        }
    }
}

/// The inverse of a positive definite matrix, with the logarithm of its determinant (not the inverse's).
///
/// Only the conversions between the forms need an inverse.
fn inverse(matrix: &Matrix) -> Option<(Matrix, f64)> {
    let dim = matrix.n_rows();
    let lower = cholesky(matrix)?;
    let rows = Eliminated::new(&lower).solve(&Matrix::identity(dim));
    let log_determinant = 2.0 * (0..dim).map(|i| lower[(i, i)].ln()).sum::<f64>();
    Some((rows.transposed().times(&rows).symmetric(), log_determinant))
}
