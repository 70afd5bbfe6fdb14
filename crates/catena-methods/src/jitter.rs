//! A number added to a diagonal, only where the caller asks for it by name.

/// What is added to the diagonal of a covariance matrix before it is factored. The default is nothing.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Jitter(f64);

impl Jitter {
    /// Nothing is added.
    pub const NONE: Self = Self(0.0);
    /// What the paper's exact method adds to the covariance of the observed cells.
    pub const PAPER_EXACT: Self = Self(1e-8);
    /// What the paper's nearest-neighbor method adds to the covariance of the neighbors' cells.
    pub const PAPER_NNGP: Self = Self(1e-10);
    /// What the paper's sparse method adds to the covariance of the inducing values.
    pub const PAPER_INDUCING: Self = Self(1e-6);

    /// What this on a covariance is on the correlation, when the variance is kept elsewhere.
    pub fn of_correlation(self, variance: f64) -> Self {
        Self(self.0 / variance)
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}
