//! Numbers and choices from bytes, so that every input of a fuzzer is valid.

/// Reads from bytes; past their end everything is zero.
#[derive(Clone, Debug)]
pub struct Supply<'a> {
    bytes: &'a [u8],
}

/// Extreme numbers.
const EXTREMES: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::MIN_POSITIVE,
    5e-324,
    1e-300,
    1e-160,
    1e-16,
    1e16,
    1e150,
    1e160,
    1e300,
    f64::MAX,
    f64::MIN,
    -1e150,
];

impl<'a> Supply<'a> {
    /// Reads from these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are consumed.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// The next eight bytes as a number.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, place| word | u64::from(self.byte()) << (8 * place))
    }

    /// An index below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    /// A Boolean.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn choice<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A number as in tables: mostly small, sometimes extreme, sometimes any 64 bits.
    pub fn number(&mut self) -> f64 {
        match self.byte() {
            // Whole numbers and tenths, with ties.
            kind @ 0..=199 => {
                let small = f64::from(i16::from(self.byte()) - 128);
                if kind % 2 == 0 { small } else { small / 10.0 }
            }
            200..=229 => self.choice(&EXTREMES),
            // Any exponent.
            230..=244 => {
                let exponent = i32::from(self.byte()) - 128;
                f64::from(i16::from(self.byte()) - 128) * 10_f64.powi(exponent * 2)
            }
            _ => f64::from_bits(self.word()),
        }
    }

    /// [`Supply::number`] with 0 in place of numbers that are not finite.
    pub fn finite(&mut self) -> f64 {
        let number = self.number();
        if number.is_finite() { number } else { 0.0 }
    }

    /// A positive, finite number.
    pub fn positive(&mut self) -> f64 {
        let number = self.finite().abs();
        if number > 0.0 { number } else { 1.0 }
    }
}
