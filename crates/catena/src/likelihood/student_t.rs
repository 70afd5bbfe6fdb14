//! Student-t noise, robust to outliers.
//!
//! With ν degrees of freedom and squared scale s², `y | f ~ t_ν(f, s)`. The log density of a residual u,
//!
//! ```text
//! ψ(u) = log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log πνs² − (ν + 1)/2·log(1 + u²/νs²),
//! ```
//!
//! is concave for |u| up to √ν·s and convex beyond: a value far off pulls less, the farther it is. `straight_tails.rs` has the
//! bound. It is equal to the expected log density where the marginal keeps within the inflections, so that means and variances
//! are those of the best Gaussian; a mixture of Gaussians over an unknown precision per cell would give deviations that are too
//! small by the factor √((ν + 1)/(ν + 3)).

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{ObservationScale, OutputLikelihood};
use super::special::beta_cumulative;
use super::straight_tails::{Curve, expected};
use crate::units::{UnitError, is_positive};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use std::f64::consts::{PI, TAU};

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

/// The precision that a cell far off keeps, times νs². Without it the Gaussian that replaces such a cell would have no width.
const LEAST_PRECISION: f64 = 1e-3;

impl OutputLikelihood for StudentT {
    const NAME: &'static str = "student-t";

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        PseudoObservation { value: cell.value, variance: cell.noise }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let (degrees, noise) = (self.degrees, cell.noise);
        let square_scale = degrees * noise;
        let curve = |u: f64| {
            let (square, sum) = (u * u, square_scale + u * u);
            let share = (degrees + 1.0) / sum;
            Curve {
                value: -0.5 * (degrees + 1.0) * (square / square_scale).ln_1p(),
                slope: -share * u,
                curvature: -share * ((square_scale - square) / sum),
                noise_slope: 0.5 * share * square / noise,
                mixed: share * u * (degrees / sum),
            }
        };
        let residual = CellMarginal { mean: marginal.mean - cell.value, ..marginal };
        let inflection = square_scale.sqrt();
        let found = expected(residual, (-inflection, inflection), 2.0 * inflection, curve);
        let constant = gamma_step(0.5 * degrees) - 0.5 * (TAU.ln() + noise.ln());
        let least = LEAST_PRECISION / square_scale;
        Expectation {
            log_density: found.log_density + constant,
            noise_slope: found.noise_slope - 0.5 / noise,
            ..found
        }
        .with_least_precision(least, -least / noise, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        self.moments(CellMarginal { mean: function, variance: 0.0 }, scale)
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let t = (value - function) / scale.noise.sqrt();
        let beyond = 0.5 * beta_cumulative(0.5 * self.degrees, 0.5, self.degrees / (self.degrees + t * t));
        if t < 0.0 { beyond } else { 1.0 - beyond }
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        // The density has poles at ±√ν·i.
        (value, scale.noise.sqrt() * (self.degrees.sqrt() / PI).min(1.0))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        match rand_distr::StudentT::new(self.degrees) {
            Ok(student) => function + scale.noise.sqrt() * student.sample(generator),
            Err(_) => f64::NAN,
        }
    }

    /// Up to two degrees of freedom the variance is infinite.
    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let factor = if self.degrees > 2.0 { self.degrees / (self.degrees - 2.0) } else { f64::INFINITY };
        (marginal.mean, marginal.variance + scale.noise * factor)
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
        let (row, output) = (crate::index::RowIndex::new(0), crate::index::OutputIndex::new(0));
        // Hardly any variance: the log density itself, at a residual of one scale and far off.
        for (mean, expected) in
            [(1.0, -(4.0 * PI).ln()), (-1e4, -(2.0 * PI).ln() - (1.0 + 10003.0_f64.powi(2) / 4.0).ln())]
        {
            let cell = ObservedCell { row, output, value: 3.0, noise: 4.0, exposure: 1.0 };
            let found = cauchy.expectation(&cell, CellMarginal { mean, variance: 1e-20 });
            assert!((found.log_density - expected).abs() < 1e-9, "{found:?}");
        }
        let scale = ObservationScale { noise: 4.0, exposure: 1.0 };
        assert!((cauchy.cumulative_given(3.0, 1.0, scale) - 0.75).abs() < 1e-14);
    }
}
