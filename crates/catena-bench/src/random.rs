//! Seeded random numbers: the same data in every run and on every machine.

use catena_testkit::random::SplitMix64;

/// Numbers from SplitMix64.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Uniform on the open interval (0, 1), so that its logarithm is finite.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.bits() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
