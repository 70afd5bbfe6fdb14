//! The words for means and budgets on the command line and in Python, and the error of an unknown word.

use std::str::FromStr;

use thiserror::Error;

use super::choices::{Budget, CombineChoice, GroupScaling, MeanChoice};

/// An unknown word, with the valid ones.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("write {0}")]
pub struct UnknownWord(String);

impl UnknownWord {
    /// Any of these words would have been valid.
    pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        Self(match words.split_last() {
            Some((last, words)) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
            _ => words.concat(),
        })
    }
}

/// The count in a text, at least 1.
pub(crate) fn positive_count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| *count > 0)
}

impl FromStr for CombineChoice {
    type Err = UnknownWord;

    /// `auto` or `none`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            _ => Err(UnknownWord::one_of(["auto", "none"])),
        }
    }
}

impl FromStr for GroupScaling {
    type Err = UnknownWord;

    /// `auto`, `shared` or `own`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(Self::Auto),
            "shared" => Ok(Self::Shared),
            "own" => Ok(Self::Own),
            _ => Err(UnknownWord::one_of(["auto", "shared", "own"])),
        }
    }
}

impl FromStr for MeanChoice {
    type Err = UnknownWord;

    /// `auto`, `constant` or `linear`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(Self::Auto),
            "constant" => Ok(Self::Constant),
            "linear" => Ok(Self::Linear),
            _ => Err(UnknownWord::one_of(["auto", "constant", "linear"])),
        }
    }
}

impl FromStr for Budget {
    type Err = UnknownWord;

    /// `quick`, `default` or `thorough`.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "quick" => Ok(Self::Quick),
            "default" => Ok(Self::Default),
            "thorough" => Ok(Self::Thorough),
            _ => Err(UnknownWord::one_of(["quick", "default", "thorough"])),
        }
    }
}
