//! A number added to a diagonal, only at the caller's request.

/// A number added to the diagonal of a covariance matrix before it is factored. The default is 0.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Jitter(f64);

impl Jitter {
    /// 0.
    pub const NONE: Self = Self(0.0);
    /// The paper's exact method: on the covariance of the observed cells.
    pub const PAPER_EXACT: Self = Self(1e-8);
    /// The paper's nearest-neighbor method: on the covariance of the neighbors' cells.
    pub const PAPER_NNGP: Self = Self(1e-10);
    /// The paper's sparse method: on the covariance of the inducing values.
    pub const PAPER_INDUCING: Self = Self(1e-6);

    /// The jitter on a correlation that equals this one on a covariance with the given variance.
    pub fn of_correlation(self, variance: f64) -> Self {
        Self(self.0 / variance)
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}
