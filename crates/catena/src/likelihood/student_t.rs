//! Student-t noise, robust to outliers: Gaussian noise with an unknown precision in each cell.
//!
//! With ν degrees of freedom and squared scale s², a cell has a random weight:
//!
//! ```text
//! w ~ Gamma(shape ν/2, rate ν/2),    y | f, w ~ N(f, s²/w),    so that y | f ~ t_ν(f, s).
//! ```
//!
//! # The bound
//!
//! For independent q(f) and q(w) (mean field), a cell's term of the bound is
//! `E_q[log N(y; f, s²/w)] − KL(q(w) ‖ p(w))`. It depends on f through e = E_q[(y − f)²] alone. The best q(w) is
//! proportional to p(w)·√w·exp(−w e/2s²), which is Gamma(a, b) with
//!
//! ```text
//! a = (ν + 1)/2,    b = (ν + e/s²)/2,    E[w] = a/b = (ν + 1)/(ν + e/s²).
//! ```
//!
//! As a function of f its exponent is −E[w](y − f)²/2s² plus a constant: the pseudo-observation has the variance
//! `s²/E[w] = (ν s² + e)/(ν + 1)`. At the best q(w) the term is the logarithm of its normalizer,
//!
//! ```text
//! log ∫ p(w) √(w/2πs²) exp(−w e/2s²) dw = log Γ(a) − log Γ(ν/2) − ½ log πνs² − a·log(1 + e/νs²),
//! ```
//!
//! the log density of Student's t at a residual of √e. It is convex in e, and the pseudo-observation is its tangent: both
//! laws of [`CellLikelihood`] hold, and no digamma function is needed. Each round is one step of coordinate ascent, q(f) and then
//! q(w), and the bound is evaluated after both.

use super::cell::{CellLikelihood, CellMarginal, PseudoObservation};
use crate::units::{UnitError, is_positive};
use std::f64::consts::TAU;

/// Student's t with given degrees of freedom about the function.
///
/// Its squared scale is the model's noise variance of the output, or the cell's own where it is known. The fewer the degrees, the
/// heavier the tails; above about 30 it is close to a Gaussian. Up to two degrees the noise has no variance.
///
/// ```
/// use catena::{data::*, kernel::*, likelihood::*, model::*, structure::sorted_chain, units::*};
///
/// // A wave with one outlier.
/// let times: Vec<f64> = (0..30).map(f64::from).collect();
/// let mut values: Vec<f64> = times.iter().map(|t| (t / 6.0).sin()).collect();
/// values[12] += 5.0;
///
/// let chain = sorted_chain(&InputPoints::from_column(times)?)?;
/// let latent = Latent::new(Kernel::Matern52, StateKind::Derivative, LengthScale::new(6.0)?)?;
/// let model = Lmc::new(vec![latent], MixingMatrix::shared(1, 1, vec![1.0])?, vec![Variance::new(0.01)?])?;
/// let table = Observations::from_dense(30, 1, &values)?;
///
/// let error = |found: Approximation<'_>| (found.prediction.means()[12] - 2.0_f64.sin()).abs();
/// let gaussian = approximate(&model, &chain, &table, &Gaussian, ApproximationSettings::default())?;
/// let student = approximate(&model, &chain, &table, &StudentT::new(4.0)?, ApproximationSettings::default())?;
/// assert!(student.lower_bound > gaussian.lower_bound);
/// assert!(error(gaussian) > 1.0 && error(student) < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    degrees: f64,
}

impl StudentT {
    /// Student's t with these degrees of freedom, ν.
    ///
    /// # Errors
    /// When `degrees` is zero, negative or not finite.
    pub fn new(degrees: f64) -> Result<Self, UnitError> {
        if is_positive(degrees) { Ok(Self { degrees }) } else { Err(UnitError::DegreesOfFreedom(degrees)) }
    }

    /// The degrees of freedom, ν.
    pub const fn degrees(&self) -> f64 {
        self.degrees
    }
}

impl CellLikelihood for StudentT {
    fn pseudo_observation(&self, value: f64, noise: f64, marginal: CellMarginal) -> PseudoObservation {
        let square = marginal.square_about(value);
        // Divided before it is added: the product of large degrees and a large scale would overflow.
        let variance = noise * (self.degrees / (self.degrees + 1.0)) + square / (self.degrees + 1.0);
        PseudoObservation { value, variance }
    }

    fn expected_log_density(&self, value: f64, noise: f64, marginal: CellMarginal) -> f64 {
        let square = marginal.square_about(value) / noise;
        gamma_step(0.5 * self.degrees)
            - 0.5 * (TAU.ln() + noise.ln() + (self.degrees + 1.0) * (square / self.degrees).ln_1p())
    }
}

/// From here on five terms of the series in [`gamma_step`] are exact to rounding.
const ENOUGH_FOR_SERIES: f64 = 16.0;

/// `log Γ(x + ½) − log Γ(x) − ½ log x` for positive x, without cancellation for large x.
fn gamma_step(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ENOUGH_FOR_SERIES {
        // From Γ(x + 1) = x Γ(x): the difference between the results at x and x + 1.
        sum += 0.5 * (x * (x + 1.0) / (x + 0.5).powi(2)).ln();
        x += 1.0;
    }
    let inverse = x.recip();
    let square = inverse * inverse;
    let series = [-1.0 / 8.0, 1.0 / 192.0, -1.0 / 640.0, 17.0 / 14336.0, -31.0 / 18432.0];
    sum + inverse * series.iter().rev().fold(0.0, |rest, term| term + square * rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn the_step_of_the_gamma_function_is_known_at_halves_and_keeps_its_digits() {
        // Γ(½) = √π, Γ(1) = 1, Γ(3/2) = √π/2, Γ(2) = 1.
        let known = [
            (0.5, -0.5 * PI.ln() + 0.5 * 2.0_f64.ln()),
            (1.0, (0.5 * PI.sqrt()).ln()),
            (1.5, -(0.5 * PI.sqrt()).ln() - 0.5 * 1.5_f64.ln()),
        ];
        for (x, expected) in known {
            assert!((gamma_step(x) - expected).abs() < 1e-14, "{x}: {}", gamma_step(x));
        }
        // Γ(x + ½) = √π (2n)!/(4ⁿ n!) at whole x = n.
        let mut expected = PI.sqrt().ln();
        for n in 1..100 {
            let n = f64::from(n);
            expected += ((n - 0.5) / n).ln();
            // Here Γ(n + ½)/Γ(n + 1), so that one more n is to be put back.
            assert!((gamma_step(n) - (expected + 0.5 * n.ln())).abs() < 1e-13, "{n}");
        }
        for x in [1e6, 1e15, 1e300, f64::MAX] {
            assert!((gamma_step(x) * x + 0.125).abs() < 1e-12 + x.powi(-2), "{x}");
        }
        // Γ(½)/Γ(x) → √π x.
        let tiny = f64::MIN_POSITIVE;
        assert!((gamma_step(tiny) - 0.5 * (PI.ln() + tiny.ln())).abs() < 1e-12);
    }

    #[test]
    fn with_one_degree_of_freedom_it_is_cauchy() {
        let cauchy = StudentT::new(1.0).unwrap();
        // Without variance: the log density itself, at a residual of one scale.
        let found = cauchy.expected_log_density(3.0, 4.0, CellMarginal { mean: 1.0, variance: 0.0 });
        assert!((found + (4.0 * PI).ln()).abs() < 1e-14, "{found}");
    }
}
