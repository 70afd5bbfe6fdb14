//! A JSON value with its path, for error messages.

use catena_io::units::Duration;
use serde_json::Value;

use super::ParameterError;

/// A value and its path.
pub(super) struct Entry<'a> {
    path: String,
    value: &'a Value,
}

/// Length at which values are cut in messages.
const SHOWN: usize = 40;

impl<'a> Entry<'a> {
    /// The whole text.
    pub(super) fn whole(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    fn inside(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The error that something else was expected.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> ParameterError {
        let mut found = self.value.to_string();
        if found.chars().count() > SHOWN {
            found = found.chars().take(SHOWN).chain(['…']).collect();
        }
        let key = if self.path.is_empty() { "the whole file" } else { &self.path };
        ParameterError::Wrong { key: key.to_owned(), found, expected: expected.into() }
    }

    /// The entry under a key, if there is one.
    pub(super) fn get(&self, key: &str) -> Result<Option<Self>, ParameterError> {
        let Value::Object(map) = self.value else {
            return Err(self.wrong("a JSON object"));
        };
        Ok(map.get(key).map(|value| Self { path: self.inside(key), value }))
    }

    /// The entry under a key.
    pub(super) fn need(&self, key: &str, expected: &str) -> Result<Self, ParameterError> {
        let missing = || ParameterError::Missing { key: self.inside(key), expected: expected.to_owned() };
        self.get(key)?.ok_or_else(missing)
    }

    /// Rejects other keys.
    pub(super) fn has_only(&self, known: &[&str]) -> Result<(), ParameterError> {
        let keys = self.value.as_object().into_iter().flat_map(|map| map.keys());
        match keys.into_iter().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(ParameterError::Unknown { key: self.inside(key), expected: known.join(", ") }),
            None => Ok(()),
        }
    }

    /// The entries of a list.
    pub(super) fn list(&self, expected: &str) -> Result<Vec<Self>, ParameterError> {
        let Value::Array(values) = self.value else { return Err(self.wrong(expected)) };
        let entry = |(at, value): (usize, &'a Value)| Self { path: format!("{}[{at}]", self.path), value };
        Ok(values.iter().enumerate().map(entry).collect())
    }

    /// A text.
    pub(super) fn text(&self, expected: &str) -> Result<&'a str, ParameterError> {
        self.value.as_str().ok_or_else(|| self.wrong(expected))
    }

    /// A truth value.
    pub(super) fn truth(&self) -> Result<bool, ParameterError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// Any number.
    pub(super) fn number(&self) -> Result<f64, ParameterError> {
        self.value.as_f64().ok_or_else(|| self.wrong("a number"))
    }

    /// A positive number.
    pub(super) fn positive(&self, what: &str) -> Result<f64, ParameterError> {
        let number = self.value.as_f64().filter(|number| *number > 0.0 && number.is_finite());
        number.ok_or_else(|| self.wrong(format!("a positive {what}")))
    }

    /// A length along the input: a number in its units, or a duration.
    pub(super) fn length(&self, what: &str) -> Result<f64, ParameterError> {
        match self.value {
            Value::String(text) => {
                text.parse().map(Duration::seconds).map_err(|error| self.wrong(error.to_string()))
            }
            _ => self
                .positive(&format!("{what}: a number in units of the input, or a duration such as \"48h\"")),
        }
    }

    /// A list of numbers.
    pub(super) fn numbers(&self) -> Result<Vec<f64>, ParameterError> {
        self.list("a list of numbers")?.iter().map(Self::number).collect()
    }

    /// A list of positive numbers.
    pub(super) fn positives(&self, what: &str) -> Result<Vec<f64>, ParameterError> {
        self.list("a list of numbers")?.iter().map(|entry| entry.positive(what)).collect()
    }

    /// A list of rows of `columns` numbers each.
    pub(super) fn rows(&self, columns: usize, of_what: &str) -> Result<Vec<Vec<f64>>, ParameterError> {
        let row = |row: &Self| {
            let numbers = row.numbers()?;
            match numbers.len() == columns {
                true => Ok(numbers),
                false => Err(row.wrong(format!("{columns} numbers, one per {of_what}"))),
            }
        };
        self.list("a list of rows, one per output")?.iter().map(row).collect()
    }
}

/// The path of the first length written as text. All other texts are names, under `kernel`, `mean` or `piece`.
pub(super) fn first_duration(path: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(_) => Some(path.to_owned()),
        Value::Array(values) => {
            let mut values = values.iter().enumerate();
            values.find_map(|(at, value)| first_duration(&format!("{path}[{at}]"), value))
        }
        Value::Object(map) => {
            let mut lengths =
                map.iter().filter(|(key, _)| !matches!(key.as_str(), "kernel" | "mean" | "piece"));
            let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            lengths.find_map(|(key, value)| first_duration(&inside(key), value))
        }
        _ => None,
    }
}
