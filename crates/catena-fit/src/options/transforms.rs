//! The requested transform of each output, and the words for it on the command line and in Python.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::words::UnknownWord;
use crate::error::FitError;

/// The requested transform of an output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TransformKind {
    /// None, the logarithm, Box–Cox or Yeo–Johnson, by held-out cells.
    #[default]
    Auto,
    /// The output is modelled as it is.
    None,
    /// Its logarithm is modelled.
    Log,
    /// Its Box–Cox transform is modelled, with a learned exponent.
    BoxCox,
    /// Its Yeo–Johnson transform is modelled, with a learned exponent.
    YeoJohnson,
}

/// The requested transforms of the outputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TransformOptions {
    /// The transform of outputs without one of their own.
    pub others: TransformKind,
    /// Transforms by the names of outputs.
    pub by_name: Vec<(String, TransformKind)>,
}

/// A text that is not a list of transforms.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidTransforms {
    /// An unknown word.
    #[error("{0}, or one per output such as rain=log,flow=box-cox")]
    Word(UnknownWord),
    /// An output with two transforms, or two words for all outputs.
    #[error("{0} has two transforms; write one")]
    Twice(String),
}

impl TransformKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Auto, Self::None, Self::Log, Self::BoxCox, Self::YeoJohnson];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Log => "log",
            Self::BoxCox => "box-cox",
            Self::YeoJohnson => "yeo-johnson",
        }
    }

    /// Whether values must be positive.
    pub(crate) fn needs_positive(self) -> bool {
        matches!(self, Self::Log | Self::BoxCox)
    }

    /// Whether the transform is requested: neither open nor the identity.
    pub(crate) fn is_requested(self) -> bool {
        !matches!(self, Self::Auto | Self::None)
    }
}

impl fmt::Display for TransformKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for TransformKind {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownWord::one_of(Self::ALL.map(Self::name)))
    }
}

impl TransformOptions {
    /// All outputs are open, and so is a linear mean over several inputs.
    pub const AUTO: Self = Self { others: TransformKind::Auto, by_name: vec![] };
    /// All outputs are modelled as they are, with a constant mean unless a linear one is requested.
    pub const NONE: Self = Self { others: TransformKind::None, by_name: vec![] };

    /// Whether nothing may be transformed.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// The transform of each named output.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn kinds(&self, outputs: &[String]) -> Result<Vec<TransformKind>, FitError> {
        let mut kinds = vec![self.others; outputs.len()];
        for (name, kind) in &self.by_name {
            let Some(at) = outputs.iter().position(|output| output == name) else {
                let (name, outputs) = (name.clone(), outputs.join(", "));
                return Err(FitError::NoOutputToTransform { name, outputs });
            };
            kinds[at] = *kind;
        }
        Ok(kinds)
    }
}

impl FromStr for TransformOptions {
    type Err = InvalidTransforms;

    /// A word for all outputs, `NAME=word` for one, or several of these with commas between them.
    fn from_str(text: &str) -> Result<Self, InvalidTransforms> {
        let mut found = Self::default();
        let mut has_word = false;
        for entry in text.split(',') {
            let (name, word) = match entry.rsplit_once('=') {
                Some((name, word)) => (Some(name.trim()), word),
                None => (None, entry),
            };
            let kind = word.trim().parse().map_err(InvalidTransforms::Word)?;
            match name {
                Some(name) if found.by_name.iter().any(|(other, _)| other == name) => {
                    return Err(InvalidTransforms::Twice(name.to_owned()));
                }
                Some(name) => found.by_name.push((name.to_owned(), kind)),
                None if has_word => return Err(InvalidTransforms::Twice("every output".to_owned())),
                None => (found.others, has_word) = (kind, true),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn texts_give_each_output_its_transform() {
        use TransformKind::{Auto, BoxCox, Log, None, YeoJohnson};
        let names = ["rain", "flow", "a=b"].map(str::to_owned);
        let kinds = |text: &str| text.parse::<TransformOptions>().unwrap().kinds(&names).unwrap();
        assert_eq!(kinds("auto"), [Auto; 3]);
        assert_eq!(kinds("none"), [None; 3]);
        assert_eq!(kinds("rain=log, flow=box-cox"), [Log, BoxCox, Auto]);
        assert_eq!(kinds("none,a=b=yeo-johnson"), [None, None, YeoJohnson]);
        assert_eq!("auto".parse(), Ok(TransformOptions::AUTO));
        assert_eq!("none".parse(), Ok(TransformOptions::NONE));
        let error = |text: &str| text.parse::<TransformOptions>().unwrap_err().to_string();
        assert_eq!(
            error("rain=cube"),
            "write auto, none, log, box-cox or yeo-johnson, or one per output such as rain=log,flow=box-cox"
        );
        assert_eq!(error("rain=log,rain=none"), "rain has two transforms; write one");
        assert_eq!(error("log,none"), "every output has two transforms; write one");
        let missing = "snow=log".parse::<TransformOptions>().unwrap().kinds(&names).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "transforms names the output snow, but the table has the outputs rain, flow, a=b"
        );
    }
}
