//! Squared exponential: ρ = e^(−u²/2), `u = Δ/ℓ`; infinitely smooth, so it has a value state only.

use super::Correlation;
use crate::units::LengthScale;

/// Squared exponential: ρ = e^(−u²/2), u = Δ/ℓ.
#[derive(Clone, Copy, Debug)]
pub struct SquaredExponential;

impl Correlation for SquaredExponential {
    const NAME: &'static str = "se";
    /// e^−1/2, at u = 1.
    const LIPSCHITZ_CONSTANT: f64 = 0.606_530_659_712_633_4;

    fn rate(length_scale: LengthScale) -> f64 {
        length_scale.get().recip()
    }

    #[inline(always)]
    fn correlation(u: f64) -> f64 {
        (-0.5 * u * u).exp()
    }

    #[inline(always)]
    fn correlation_derivative(u: f64) -> f64 {
        let correlation = Self::correlation(u);
        if correlation == 0.0 { 0.0 } else { -u * correlation }
    }

    #[inline(always)]
    fn decorrelation(u: f64) -> f64 {
        -(-u * u).exp_m1()
    }
}
