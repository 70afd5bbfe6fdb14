//! Numbers of about 32 digits, as unevaluated sums of two `f64`.
//!
//! A reference in double precision would add rounding errors of its own: at noise 1e-3 a dense posterior variance loses
//! about eight of sixteen digits to the condition of the covariance matrix. Here it keeps more than twenty.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `high + low`, with `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

/// The sum and its rounding error, exactly (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    (sum, (a - (sum - b_seen)) + (b - b_seen))
}

/// The sum and its rounding error for `|a| ≥ |b|` (Dekker).
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The product and its rounding error, exactly as long as nothing over- or underflows (Veltkamp and Dekker).
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let top = scaled - (scaled - x);
        (top, x - top)
    };
    let product = a * b;
    let ((a_top, a_rest), (b_top, b_rest)) = (split(a), split(b));
    let error = ((a_top * b_top - product) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest;
    (product, error)
}

impl DoubleDouble {
    /// 0.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };
    /// 1.
    pub const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// Converts exactly.
    pub const fn new(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// The nearest `f64`.
    pub const fn to_f64(self) -> f64 {
        self.high
    }

    /// The square root; NaN below 0.
    pub fn sqrt(self) -> Self {
        if self.high == 0.0 {
            return Self::ZERO;
        }
        // One Newton step doubles the digits of the f64 root.
        let root = Self::new(self.high.sqrt());
        root + (self - root * root) / (root + root)
    }

    /// e to this power, by a Taylor series of the argument halved until it is small, and squaring back.
    pub fn exp(self) -> Self {
        if self.high < -700.0 {
            return Self::ZERO;
        }
        let halvings = (self.high.abs() / 0.01).log2().ceil().max(0.0) as i32;
        let small = self.times_power_of_two(-halvings);
        let mut term = small;
        let mut power = Self::ONE + small;
        for degree in 2..=16 {
            term = term * small / Self::new(f64::from(degree));
            power += term;
        }
        for _ in 0..halvings {
            power = power * power;
        }
        power
    }

    /// The natural logarithm; NaN below 0.
    pub fn ln(self) -> Self {
        let guess = Self::new(self.high.ln());
        guess + (self * (-guess).exp() - Self::ONE)
    }

    /// This number times `2^exponent`, exactly.
    pub fn times_power_of_two(self, exponent: i32) -> Self {
        let factor = 2.0_f64.powi(exponent);
        Self { high: self.high * factor, low: self.low * factor }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (high, error) = two_sum(self.high, other.high);
        let (low, low_error) = two_sum(self.low, other.low);
        let (high, low) = quick_two_sum(high, error + low);
        let (high, low) = quick_two_sum(high, low + low_error);
        Self { high, low }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (high, error) = two_product(self.high, other.high);
        let (high, low) = quick_two_sum(high, error + (self.high * other.low + self.low * other.high));
        Self { high, low }
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    /// Long division by three `f64` digits.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::new(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::new(second);
        let third = rest.high / other.high;
        Self::new(first) + Self::new(second) + Self::new(third)
    }
}

impl AddAssign for DoubleDouble {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for DoubleDouble {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for DoubleDouble {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ratio(numerator: f64) -> DoubleDouble {
        DoubleDouble::new(numerator)
    }

    fn assert_near(actual: DoubleDouble, expected: DoubleDouble, tolerance: f64) {
        let error = (actual - expected).to_f64().abs();
        assert!(error <= tolerance * expected.to_f64().abs(), "{actual:?} against {expected:?}: {error:e}");
    }

    #[test]
    fn a_third_three_times_is_one() {
        let third = DoubleDouble::ONE / ratio(3.0);
        assert_near(third + third + third, DoubleDouble::ONE, 1e-31);
        assert_near(third * ratio(3.0), DoubleDouble::ONE, 1e-31);
    }

    #[test]
    fn squares_of_roots_come_back() {
        for value in [2.0, 3.0, 5.0, 1e-9, 7e11] {
            let root = ratio(value).sqrt();
            assert_near(root * root, ratio(value), 1e-30);
        }
    }

    #[test]
    fn e_has_its_thirty_digits() {
        // e = 2.71828182845904523536 02874713526624977572…, as the sum of two f64 computed from its decimal digits.
        let digits = [2.0, 718_281_828_459.0, 45_235_360_287.0, 471_352_662_497.0];
        let places = [1.0, 1e12, 1e12, 1e12];
        let mut value = DoubleDouble::ZERO;
        let mut unit = DoubleDouble::ONE;
        for (digit, place) in digits.into_iter().zip(places) {
            unit = unit / ratio(place);
            value += ratio(digit) * unit;
        }
        assert_near(DoubleDouble::ONE.exp(), value, 1e-28);
    }

    #[test]
    fn exponentials_add_and_logarithms_invert() {
        for value in [1e-12, 1e-3, 0.7, 3.0, 40.0, 300.0] {
            let minus = (-ratio(value)).exp();
            assert_near(minus * ratio(value).exp(), DoubleDouble::ONE, 1e-26);
            // A logarithm near 0 is as good as the number near 1 it is taken of.
            let round_trip = ratio(value).exp().ln() - ratio(value);
            assert!(round_trip.to_f64().abs() < 1e-27 * value.max(1.0), "{value}: {round_trip:?}");
        }
    }
}
