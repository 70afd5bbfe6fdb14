//! Random walk: `A = 1`, `Q = Δ/ℓ`, and variance 1 at the root.

use crate::kernel::{Block, Dynamics, Step};
use crate::units::LengthScale;

/// A random walk. Over one length-scale its variance grows by the variance at the root. One amplitude sets both: a walk with
/// standard deviation 10 at the root moves by 1 in a hundredth of its length-scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomWalk {
    rate: f64,
}

impl RandomWalk {
    /// The walk with this length-scale.
    pub(crate) fn new(length_scale: LengthScale) -> Self {
        Self { rate: length_scale.get().recip() }
    }
}

impl Dynamics<1> for RandomWalk {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<1> {
        Step { transition: [[1.0]], noise: [[self.rate * distance]] }
    }

    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<1> {
        Step { transition: [[0.0]], noise: [[-self.rate * distance]] }
    }

    fn root_covariance(self) -> Block<1> {
        [[1.0]]
    }
}
