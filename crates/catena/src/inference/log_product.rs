//! The logarithm of a long product, with few logarithms.

/// A product of positive numbers that takes a logarithm only when it would leave the range of doubles.
#[derive(Clone, Copy)]
pub(super) struct LogProduct {
    product: f64,
    log: f64,
}

impl LogProduct {
    /// The empty product.
    pub(super) const ONE: Self = Self { product: 1.0, log: 0.0 };

    /// Multiplies by a positive factor.
    #[inline(always)]
    pub(super) fn multiply(&mut self, factor: f64) {
        self.product *= factor;
        if !(1e-140..1e140).contains(&self.product) {
            // The factor alone may be huge or tiny, so its logarithm is taken separately.
            self.log += (self.product / factor).ln() + factor.ln();
            self.product = 1.0;
        }
    }

    /// The logarithm of the product.
    pub(super) fn ln(self) -> f64 {
        self.log + self.product.ln()
    }
}
