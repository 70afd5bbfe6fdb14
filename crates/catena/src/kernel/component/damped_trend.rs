//! Damped trend: a level whose slope returns to zero.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::LengthScale;

/// A level and its slope per length-scale; both have variance 1 at the root, and the slope keeps it. With `u = Δ/ℓ` and `d = 1 − e^−u`:
///
/// ```text
/// A = [[1, d], [0, e^−u]],   Q = [[2u − 2d − d², d²], [d², 1 − e^−2u]]
/// ```
///
/// A slope is forgotten within a length-scale, so forecasts level off. Over distances far below the length-scale it is a straight
/// line, and the weight is the standard deviation of its slope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DampedTrend {
    rate: f64,
}

/// Below this time the gained variance is summed as a series, since its closed form would cancel.
const SHORT: f64 = 1.0;
/// Terms of that series: the last is 10⁻¹⁸ of the first at [`SHORT`].
const TERMS: i32 = 25;

impl DampedTrend {
    /// The trend with this length-scale.
    pub(crate) fn new(length_scale: LengthScale) -> Self {
        Self { rate: length_scale.get().recip() }
    }

    /// `1 − e^−u`.
    #[inline(always)]
    fn decayed(u: f64) -> f64 {
        -(-u).exp_m1()
    }

    /// `Q₁₁ = 2 ∫₀ᵘ (1 − e^−t)² dt = Σ_{k≥3} (2^k − 4)(−1)^(k+1) u^k/k!`.
    #[inline(always)]
    fn gained(u: f64, decayed: f64) -> f64 {
        if u >= SHORT {
            return 2.0 * (u - decayed) - decayed * decayed;
        }
        let (mut sum, mut term, mut power) = (0.0, u * u * u / 6.0, 8.0);
        for k in 3..3 + TERMS {
            sum += (power - 4.0) * term;
            term *= -u / f64::from(k + 1);
            power *= 2.0;
        }
        sum
    }
}

impl Dynamics<2> for DampedTrend {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<2> {
        let u = self.rate * distance;
        let decayed = Self::decayed(u);
        let square = decayed * decayed;
        let slope = -(-2.0 * u).exp_m1();
        Step {
            transition: [[1.0, decayed], [0.0, (-u).exp()]],
            noise: [[Self::gained(u, decayed), square], [square, slope]],
        }
    }

    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<2> {
        // All entries depend on u = Δ/ℓ alone: the derivative in log ℓ is −u times that in u.
        let u = self.rate * distance;
        let (decayed, left) = (Self::decayed(u), u * (-u).exp());
        let cross = -2.0 * left * decayed;
        Step {
            transition: [[0.0, -left], [0.0, left]],
            noise: [[-2.0 * u * decayed * decayed, cross], [cross, -2.0 * left * (-u).exp()]],
        }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
