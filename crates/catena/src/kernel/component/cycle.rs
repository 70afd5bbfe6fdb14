//! One harmonic of a season: a damped rotation.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::LengthScale;
use std::f64::consts::TAU;

/// A state of two numbers that rotates once per period; outputs read the first. With `u = Δ/ℓ` and `θ = 2πΔ/period`:
///
/// ```text
/// A = e^−u [[cos θ, sin θ], [−sin θ, cos θ]],   Q = (1 − e^−2u) I,   ρ = e^−u cos θ
/// ```
///
/// The correlation with the season one length-scale ago is 1/e, so its shape may change slowly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cycle {
    rate: f64,
    period: f64,
}

/// At this u the decay is exactly 0. Products with it use at most this u, since an infinite one would give ∞·0.
const FORGOTTEN: f64 = 1e4;

impl Cycle {
    /// The cycle with this length-scale and period.
    pub(crate) fn new(length_scale: LengthScale, period: LengthScale) -> Self {
        Self { rate: length_scale.get().recip(), period: period.get() }
    }

    /// u, e^−u and θ modulo one turn.
    #[inline(always)]
    fn turn(self, distance: f64) -> (f64, f64, f64) {
        let u = (self.rate * distance).min(FORGOTTEN);
        (u, (-u).exp(), TAU * (distance / self.period).fract())
    }
}

/// A multiple of the rotation by this angle.
#[inline(always)]
fn rotation(size: f64, angle: f64) -> Block<2> {
    let (sine, cosine) = angle.sin_cos();
    [[size * cosine, size * sine], [-size * sine, size * cosine]]
}

impl Dynamics<2> for Cycle {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<2> {
        let (u, decay, angle) = self.turn(distance);
        let noise = -(-2.0 * u).exp_m1();
        Step { transition: rotation(decay, angle), noise: [[noise, 0.0], [0.0, noise]] }
    }

    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<2> {
        let (u, decay, angle) = self.turn(distance);
        let noise = -2.0 * u * decay * decay;
        Step { transition: rotation(u * decay, angle), noise: [[noise, 0.0], [0.0, noise]] }
    }

    /// In the logarithm of the period: the angle is inversely proportional to it, and the derivative of a rotation is the
    /// rotation a quarter turn further.
    #[inline(always)]
    fn shape_derivative(self, distance: f64) -> Step<2> {
        let (_, decay, angle) = self.turn(distance);
        let turned = TAU * (distance / self.period).min(f64::MAX);
        let size = if decay == 0.0 { 0.0 } else { -turned * decay };
        Step { transition: rotation(size, angle + 0.25 * TAU), noise: [[0.0; 2]; 2] }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
