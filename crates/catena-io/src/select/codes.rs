//! Finds values that look like codes for missing values. They are reported, never dropped.

use std::fmt;

use super::Frame;

/// A value of an output that looks like a code for a missing value.
#[derive(Debug, Clone, PartialEq)]
pub struct SuspiciousCode {
    /// The name of the output.
    pub output: String,
    /// The value.
    pub value: f64,
    /// Number of cells with this value.
    pub count: usize,
}

impl fmt::Display for SuspiciousCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { output, value, count } = self;
        write!(
            formatter,
            "{output} has the value {value} in {count} cells, far from all others; if it is a code for a missing value, pass \
             --missing={value}"
        )
    }
}

/// Sizes of numbers that are used as codes, with either sign.
const CODES: [f64; 12] = [
    99.0,
    99.9,
    99.99,
    999.0,
    999.9,
    999.99,
    9999.0,
    9999.9,
    99_999.0,
    999_999.0,
    32_768.0,
    9.969_209_968_386_869e36,
];

/// Smallest and largest values of the outputs that repeat, are used as codes elsewhere, and are farther from the other values than
/// those are from each other.
pub fn suspicious_codes(frame: &Frame) -> Vec<SuspiciousCode> {
    let n_outputs = frame.n_outputs();
    let mut found = vec![];
    for (output, name) in frame.outputs.iter().enumerate() {
        let column =
            || frame.values.iter().skip(output).step_by(n_outputs).copied().filter(|value| !value.is_nan());
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (low, high) = range(&mut column());
        for code in [low, high] {
            let is_code = CODES.iter().any(|size| (code.abs() - size).abs() <= 1e-6 * size);
            let count = if is_code { column().filter(|value| *value == code).count() } else { 0 };
            if count < 2 {
                continue;
            }
            let (next_low, next_high) = range(&mut column().filter(|value| *value != code));
            let distance = (code - next_low).abs().min((code - next_high).abs());
            if next_low.is_finite() && distance > next_high - next_low {
                found.push(SuspiciousCode { output: name.clone(), value: code, count });
            }
        }
    }
    found
}
