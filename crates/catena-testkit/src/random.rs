//! Seeded random numbers, the same on every platform.

/// The generator SplitMix64.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream that starts at this state.
    pub fn new(state: u64) -> Self {
        Self(state)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// A whole number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }
}

/// Draws from common distributions; equal seeds give equal draws.
#[derive(Clone, Debug)]
pub struct SeededDraws(SplitMix64);

impl SeededDraws {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        // Without the multiplication neighboring seeds would give shifted copies of one stream.
        Self(SplitMix64::new((seed ^ 0x5851_F42D_4C95_7F2D).wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Uniform in its logarithm, between the two bounds.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(0.0, 1.0)).ln()).sqrt();
        radius * self.uniform(0.0, std::f64::consts::TAU).cos()
    }

    /// The numbers below `n` in random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
