//! The bounds of an output: the smallest and the largest value that it can have.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::by_output::ByOutput;

/// The smallest and the largest value that an output can have; −∞ and ∞ for an open side.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bounds {
    lower: f64,
    upper: f64,
}

/// The bounds of the outputs.
pub type BoundsOptions = ByOutput<Bounds>;

/// A text or a pair of numbers that are not bounds.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "`{0}` are no bounds; write the smallest and the largest value, such as 0..100, 0.. or ..100, or one per output such as humidity=0..100,rain=0.."
)]
pub struct InvalidBounds(String);

impl Bounds {
    /// Bounds; an infinite one bounds nothing.
    ///
    /// # Errors
    /// When `lower` is not below `upper`, or neither is finite.
    pub fn new(lower: f64, upper: f64) -> Result<Self, InvalidBounds> {
        let found = Self { lower, upper };
        let is_valid = lower < upper && (lower.is_finite() || upper.is_finite());
        if is_valid { Ok(found) } else { Err(InvalidBounds(found.to_string())) }
    }

    /// The smallest value; −∞ for an open side.
    pub const fn lower(&self) -> f64 {
        self.lower
    }

    /// The largest value; ∞ for an open side.
    pub const fn upper(&self) -> f64 {
        self.upper
    }

    /// Whether a value lies within them.
    pub fn contain(&self, value: f64) -> bool {
        (self.lower..=self.upper).contains(&value)
    }

    /// The nearest value within them.
    pub fn nearest(&self, value: f64) -> f64 {
        value.max(self.lower).min(self.upper)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bound: f64| if bound.is_infinite() { String::new() } else { bound.to_string() };
        write!(formatter, "{}..{}", text(self.lower), text(self.upper))
    }
}

impl From<Bounds> for String {
    fn from(bounds: Bounds) -> Self {
        bounds.to_string()
    }
}

impl TryFrom<String> for Bounds {
    type Error = InvalidBounds;

    fn try_from(text: String) -> Result<Self, InvalidBounds> {
        text.parse()
    }
}

impl FromStr for Bounds {
    type Err = InvalidBounds;

    /// `lower..upper`, `lower..` or `..upper`.
    fn from_str(text: &str) -> Result<Self, InvalidBounds> {
        let wrong = || InvalidBounds(text.trim().to_owned());
        let number = |text: &str, open: f64| match text.trim() {
            "" => Some(open),
            text => text.parse::<f64>().ok().filter(|number| number.is_finite()),
        };
        let (lower, upper) = text.split_once("..").ok_or_else(wrong)?;
        let lower = number(lower, f64::NEG_INFINITY).ok_or_else(wrong)?;
        let upper = number(upper, f64::INFINITY).ok_or_else(wrong)?;
        Self::new(lower, upper).map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn texts_are_bounds_and_are_read_back() {
        for (text, lower, upper) in [
            ("0..100", 0.0, 100.0),
            ("-2.5..", -2.5, f64::INFINITY),
            ("..1e3", f64::NEG_INFINITY, 1e3),
            (" 0.5 .. 0.75 ", 0.5, 0.75),
        ] {
            let bounds: Bounds = text.parse().unwrap();
            assert_eq!((bounds.lower(), bounds.upper()), (lower, upper));
            assert_eq!(bounds.to_string().parse(), Ok(bounds));
        }
        for text in ["", "..", "5", "1..1", "2..1", "a..b", "0..inf", "nan..1"] {
            let error = text.parse::<Bounds>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("0..100"), "{error}");
        }
        let options: BoundsOptions = "humidity=0..100,rain=0..".parse().unwrap();
        assert_eq!(options.to_string(), "humidity=0..100,rain=0..");
        let error = "a=0..1,a=0..2".parse::<BoundsOptions>().unwrap_err().to_string();
        assert_eq!(error, "a is given twice; write one entry for each output");
    }

    #[test]
    fn values_beyond_bounds_are_put_at_the_nearest() {
        let bounds = Bounds::new(0.0, 100.0).unwrap();
        assert_eq!([-3.0, 40.0, 101.0].map(|value| bounds.nearest(value)), [0.0, 40.0, 100.0]);
        assert_eq!([-3.0, 0.0, 100.0, 101.0].map(|value| bounds.contain(value)), [false, true, true, false]);
    }
}
