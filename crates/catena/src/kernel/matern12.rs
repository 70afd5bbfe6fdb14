//! Matérn-1/2 (Ornstein–Uhlenbeck): ρ = e^−u, `u = Δ/ℓ`; continuous paths without derivatives.

use super::{Block, Correlation, DerivativeState, Step};
use crate::units::LengthScale;

/// Matérn-1/2: ρ = e^−u, u = Δ/ℓ.
#[derive(Clone, Copy, Debug)]
pub struct Matern12;

impl Correlation for Matern12 {
    const NAME: &'static str = "matern12";
    const LIPSCHITZ_CONSTANT: f64 = 1.0;

    fn rate(length_scale: LengthScale) -> f64 {
        length_scale.get().recip()
    }

    #[inline(always)]
    fn correlation(u: f64) -> f64 {
        (-u).exp()
    }

    #[inline(always)]
    fn correlation_derivative(u: f64) -> f64 {
        -(-u).exp()
    }

    #[inline(always)]
    fn decorrelation(u: f64) -> f64 {
        -(-2.0 * u).exp_m1()
    }
}

impl DerivativeState<1> for Matern12 {
    const DRIFT: Block<1> = [[-1.0]];
    const DIFFUSION: f64 = 2.0;
    const STATIONARY_COVARIANCE: Block<1> = [[1.0]];

    #[inline(always)]
    fn step(u: f64) -> Step<1> {
        Step { transition: [[Self::correlation(u)]], noise: [[Self::decorrelation(u)]] }
    }
}
