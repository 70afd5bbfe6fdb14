//! Parameters of a fit as JSON text in the user's units, to be edited by hand and passed to another fit.
//!
//! A model of kernels has `kernel`, `private`, `mixing`, `length_scales` and `noise`; a time model has `mean`, `sums`, `mixing`,
//! `shared` and `noise`. A length along a time input is a duration such as `"48h"` or a number of seconds (time models are written
//! with durations, models of kernels with seconds). Along other inputs it is a number.

mod entry;
mod kernels;
mod sums;

use catena_fit::fit::{Fit, FitOptions, GivenParameters};
use catena_fit::time::{TimeOptions, TimeParameters};
use catena_io::units::Duration;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use entry::Entry;

/// The parameters of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// Of a model of kernels.
    Kernels(GivenParameters),
    /// Of a time model.
    AlongTime(TimeParameters),
}

/// Invalid parameters.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum ParameterError {
    #[error("is not a parameter file ({0}); `catena fit --parameters-out` writes one")]
    NotJson(String),
    #[error("`{key}` is {found}; expected {expected}")]
    Wrong { key: String, found: String, expected: String },
    #[error("`{key}` is missing; expected {expected}")]
    Missing { key: String, expected: String },
    #[error("`{key}` is unknown; expected {expected}")]
    Unknown { key: String, expected: String },
}

impl Parameters {
    /// The parameters of a fit; `None` if they do not determine it (logarithms, linear means, several input scales).
    pub fn of(fit: &Fit) -> Option<Self> {
        fit.time_parameters().map(Self::AlongTime).or_else(|| fit.parameters().map(Self::Kernels))
    }

    /// Parses parameters.
    ///
    /// # Errors
    /// If the text is not JSON or an entry is invalid.
    pub fn read(text: &str) -> Result<Self, ParameterError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ParameterError::NotJson(error.to_string()))?;
        let whole = Entry::whole(&value);
        match (whole.get("sums")?, whole.get("kernel")?) {
            (Some(_), _) => sums::read(&whole).map(Self::AlongTime),
            (None, Some(_)) => kernels::read(&whole).map(Self::Kernels),
            (None, None) => {
                let expected = "a kernel such as \"matern32\", or `sums` for a time model";
                Err(ParameterError::Missing { key: "kernel".to_owned(), expected: expected.to_owned() })
            }
        }
    }

    /// The key of the first length written as a duration, such as `length_scales[0]`. Such parameters need a time input.
    pub fn first_duration(text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        entry::first_duration("", &value)
    }

    /// The parameters as text; `is_time` means that lengths are seconds along a time input.
    pub fn to_text(&self, is_time: bool) -> String {
        match self {
            Self::Kernels(given) => kernels::text(given),
            Self::AlongTime(given) => sums::text(given, is_time),
        }
    }

    /// Sets the options of a fit with these parameters.
    pub fn give_to(self, options: &mut FitOptions) {
        match self {
            Self::Kernels(given) => options.parameters = Some(given),
            Self::AlongTime(given) => {
                options.time = Some(TimeOptions { parameters: Some(given), ..TimeOptions::default() });
            }
        }
    }
}

/// A length along the input.
#[derive(Serialize)]
#[serde(untagged)]
enum Length {
    Number(f64),
    Duration(String),
}

impl Length {
    fn new(length: f64, is_time: bool) -> Self {
        match Duration::from_seconds(length) {
            Some(duration) if is_time => Self::Duration(duration.exact_text()),
            _ => Self::Number(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_found_wherever_a_length_may_stand() {
        let kernels = |lengths: &str| {
            format!(
                r#"{{"kernel": "matern32", "mixing": [[1, 2]], "length_scales": {lengths}, "noise": [1]}}"#
            )
        };
        assert_eq!(Parameters::first_duration(&kernels("[1, 2]")), None);
        assert_eq!(Parameters::first_duration(&kernels(r#"[1, "6h"]"#)).as_deref(), Some("length_scales[1]"));
        let sums = |period: &str| {
            format!(
                r#"{{"mean": "constant", "sums": [[{{"piece": "qp", "period": {period}, "length_scale": 9, "amplitudes": [1]}}]],
                "mixing": [[1]], "noise": [1]}}"#
            )
        };
        assert!(Parameters::read(&sums(r#""24h""#)).is_ok());
        assert_eq!(Parameters::first_duration(&sums("24")), None);
        assert_eq!(Parameters::first_duration(&sums(r#""24h""#)).as_deref(), Some("sums[0][0].period"));
    }
}
