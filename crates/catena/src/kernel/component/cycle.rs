//! One harmonic of a season: a rotation that is slowly forgotten.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::LengthScale;
use std::f64::consts::TAU;

/// Two states that turn once per period, the first of which is read. With `u = Δ/ℓ` and `θ = 2πΔ/period`:
///
/// ```text
/// A = e^−u [[cos θ, sin θ], [−sin θ, cos θ]],   Q = (1 − e^−2u) I,   ρ = e^−u cos θ
/// ```
///
/// The season of one length-scale ago is remembered to a third: a shape that may change over the years, or from day to day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cycle {
    rate: f64,
    period: f64,
}

/// From here on nothing is remembered, and `u` in products with the decay stops growing: beyond the range of doubles it
/// would be ∞·0.
const FORGOTTEN: f64 = 1e4;

impl Cycle {
    /// The cycle with this length-scale and period.
    pub(crate) fn new(length_scale: LengthScale, period: LengthScale) -> Self {
        Self { rate: length_scale.get().recip(), period: period.get() }
    }

    /// u, e^−u and θ, of which only the turns since the last whole one are kept.
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
    fn slope(self, distance: f64) -> Step<2> {
        let (u, decay, angle) = self.turn(distance);
        let noise = -2.0 * u * decay * decay;
        Step { transition: rotation(u * decay, angle), noise: [[noise, 0.0], [0.0, noise]] }
    }

    /// In the logarithm of the period: the angle shrinks as the period grows, and a rotation's slope is the rotation a
    /// quarter turn further.
    #[inline(always)]
    fn shape_slope(self, distance: f64) -> Step<2> {
        let (_, decay, angle) = self.turn(distance);
        let turned = TAU * (distance / self.period).min(f64::MAX);
        let size = if decay == 0.0 { 0.0 } else { -turned * decay };
        Step { transition: rotation(size, angle + 0.25 * TAU), noise: [[0.0; 2]; 2] }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
