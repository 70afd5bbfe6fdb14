//! A choice for each output: one for all of them, or by name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A choice for each output.
#[derive(Clone, PartialEq, Debug)]
pub struct ByOutput<T> {
    /// The choice for outputs that `by_name` does not list, if there is one.
    pub others: Option<T>,
    /// Choices by the names of outputs.
    pub by_name: Vec<(String, T)>,
}

/// A text that is not a choice for each output.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidByOutput<E> {
    /// A part of it that cannot be read.
    #[error(transparent)]
    Entry(E),
    /// An output with two choices, or two choices for all outputs.
    #[error("{0} is given twice; write one entry for each output")]
    Twice(String),
}

impl<T> Default for ByOutput<T> {
    fn default() -> Self {
        Self { others: None, by_name: vec![] }
    }
}

impl<T: Clone> ByOutput<T> {
    /// The choice for each named output.
    ///
    /// # Errors
    /// The first name that no output has.
    pub(crate) fn of(&self, outputs: &[String]) -> Result<Vec<Option<T>>, String> {
        let mut choices = vec![self.others.clone(); outputs.len()];
        for (name, choice) in &self.by_name {
            let at = outputs.iter().position(|output| output == name).ok_or_else(|| name.clone())?;
            choices[at] = Some(choice.clone());
        }
        Ok(choices)
    }
}

impl<T: FromStr> FromStr for ByOutput<T> {
    type Err = InvalidByOutput<T::Err>;

    /// An entry for all outputs, `NAME=entry` for one, or several of these with commas between them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut found = Self::default();
        for entry in text.split(',') {
            let (name, entry) = match entry.rsplit_once('=') {
                Some((name, entry)) => (Some(name.trim()), entry),
                None => (None, entry),
            };
            let choice = entry.trim().parse().map_err(InvalidByOutput::Entry)?;
            match name {
                Some(name) if found.by_name.iter().any(|(other, _)| other == name) => {
                    return Err(InvalidByOutput::Twice(name.to_owned()));
                }
                Some(name) => found.by_name.push((name.to_owned(), choice)),
                None if found.others.is_some() => {
                    return Err(InvalidByOutput::Twice("every output".to_owned()));
                }
                None => found.others = Some(choice),
            }
        }
        Ok(found)
    }
}

impl<T: fmt::Display> fmt::Display for ByOutput<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.others.iter().map(ToString::to_string);
        let named = self.by_name.iter().map(|(name, choice)| format!("{name}={choice}"));
        formatter.write_str(&others.chain(named).collect::<Vec<_>>().join(","))
    }
}
