//! Local linear trend: a level whose slope is a random walk.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::LengthScale;

/// A level and its slope per length-scale; both have variance 1 at the root. With `u = Δ/ℓ`:
///
/// ```text
/// A = [[1, u], [0, 1]],   Q = [[u³/3, u²/2], [u²/2, u]]
/// ```
///
/// The standard deviation of a forecast grows like `u^1.5`; a wrong trend ruins long forecasts, so it is never chosen by
/// default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalLinearTrend {
    rate: f64,
}

impl LocalLinearTrend {
    /// The trend with this length-scale.
    pub(crate) fn new(length_scale: LengthScale) -> Self {
        Self { rate: length_scale.get().recip() }
    }
}

impl Dynamics<2> for LocalLinearTrend {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<2> {
        let u = self.rate * distance;
        let half_square = 0.5 * u * u;
        Step { transition: [[1.0, u], [0.0, 1.0]], noise: [[u * u * u / 3.0, half_square], [half_square, u]] }
    }

    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<2> {
        let u = self.rate * distance;
        Step { transition: [[0.0, -u], [0.0, 0.0]], noise: [[-u * u * u, -u * u], [-u * u, -u]] }
    }

    fn root_covariance(self) -> Block<2> {
        [[1.0, 0.0], [0.0, 1.0]]
    }
}
