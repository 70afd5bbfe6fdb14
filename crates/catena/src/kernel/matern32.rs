//! Matérn-3/2: ρ = e^−u (1 + u), `u = √3·Δ/ℓ`; the paper's kernel, once differentiable.

use super::incomplete_gamma::poisson_tail;
use super::{Block, Correlation, DerivativeState, Step};
use crate::units::LengthScale;

/// Matérn-3/2: ρ = e^−u (1 + u), u = √3·Δ/ℓ; the state is (g, g'/λ) with λ the rate.
#[derive(Clone, Copy, Debug)]
pub struct Matern32;

impl Correlation for Matern32 {
    const NAME: &'static str = "matern32";
    /// 1/e, at u = 1.
    const LIPSCHITZ_CONSTANT: f64 = 0.367_879_441_171_442_33;

    fn rate(length_scale: LengthScale) -> f64 {
        3.0_f64.sqrt() / length_scale.get()
    }

    #[inline(always)]
    fn correlation(u: f64) -> f64 {
        times_decay(1.0 + u, (-u).exp())
    }

    #[inline(always)]
    fn correlation_derivative(u: f64) -> f64 {
        times_decay(-u, (-u).exp())
    }

    /// With v = 2u: `e^−v (1 + v/2)²` differs from the Poisson head of order 2 by `e^−v v²/4`.
    #[inline(always)]
    fn decorrelation(u: f64) -> f64 {
        let (v, decay) = (2.0 * u, (-2.0 * u).exp());
        poisson_tail::<2>(v, decay) + times_decay(0.25 * v * v, decay)
    }
}

impl DerivativeState<2> for Matern32 {
    const DRIFT: Block<2> = [[0.0, 1.0], [-1.0, -2.0]];
    const DIFFUSION: f64 = 4.0;
    const STATIONARY_COVARIANCE: Block<2> = [[1.0, 0.0], [0.0, 1.0]];

    /// `A = e^−u (I + (F + I)u)`. With c = e^−u (u, 1 − u), the last column of A, and v = 2u:
    /// `Q₁₁ = 4∫c₁² = 1 − e^−v(1 + v + v²/2)`, `Q₁₂ = 2c₁²` because c₁' = c₂, and `Q₂₂ = 4∫c₂² = Q₁₁ + 2v e^−v`: sums
    /// of positive terms.
    #[inline(always)]
    fn step(u: f64) -> Step<2> {
        let decay = (-u).exp();
        let (v, decay_squared) = (2.0 * u, decay * decay);
        let transition = [
            [times_decay(1.0 + u, decay), times_decay(u, decay)],
            [times_decay(-u, decay), times_decay(1.0 - u, decay)],
        ];
        let q11 = poisson_tail::<2>(v, decay_squared);
        let q12 = 2.0 * transition[0][1] * transition[0][1];
        let q22 = q11 + times_decay(2.0 * v, decay_squared);
        Step { transition, noise: [[q11, q12], [q12, q22]] }
    }
}

/// A polynomial times a decaying exponential, 0 where the exponential has vanished (and not ∞·0).
#[inline(always)]
pub(super) fn times_decay(polynomial: f64, decay: f64) -> f64 {
    if decay == 0.0 { 0.0 } else { polynomial * decay }
}
