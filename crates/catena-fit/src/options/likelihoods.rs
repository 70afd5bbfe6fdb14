//! The requested likelihood of each output, and the words for it on the command line and in Python.

use std::fmt;
use std::str::FromStr;

use catena::likelihood::{
    Bernoulli, Beta, Binomial, Censored, Gamma, Gaussian, Likelihood, LogNormal, NegativeBinomial, Poisson,
    StudentT, ZeroInflated,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::bounds::Bounds;
use super::by_output::ByOutput;

/// The degrees of freedom and the log odds from which learning starts.
const FIRST_DEGREES: f64 = 4.0;
const FIRST_LOG_ODDS: (f64, f64) = (0.0, 1.0);

/// The likelihood of one output, in the user's units.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LikelihoodChoice {
    /// The distribution of observations given the function.
    pub likelihood: Likelihood,
    /// The number of trials of a binomial output, else 1.
    pub trials: f64,
    /// Whether the numbers of the likelihood are learned.
    pub is_open: bool,
}

/// The requested likelihood of one output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LikelihoodRequest {
    /// Chosen by the values of the output and by held-out cells.
    Auto,
    /// This one.
    Given(LikelihoodChoice),
}

/// The requested likelihoods of the outputs; Gaussian unless one is requested.
pub type LikelihoodOptions = ByOutput<LikelihoodRequest>;

/// A text that is not a likelihood, or not a list of them.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidLikelihood {
    /// An unknown word.
    #[error(
        "`{0}` is not a likelihood; write gaussian, student-t, poisson, negative-binomial, bernoulli, binomial(12), gamma, \
         log-normal, beta, censored(0), zero-inflated or auto, or one per output such as rain=censored,visits=poisson"
    )]
    Word(String),
    /// Numbers in parentheses that do not fit.
    #[error("`{text}`: {hint}")]
    Numbers {
        /// The text.
        text: String,
        /// What to write.
        hint: &'static str,
    },
}

impl LikelihoodChoice {
    /// Gaussian noise.
    pub fn gaussian() -> Self {
        Self::of(Gaussian)
    }

    /// Log-normal noise.
    pub(crate) fn log_normal() -> Self {
        Self::of(LogNormal)
    }

    pub(crate) fn of(likelihood: impl Into<Likelihood>) -> Self {
        Self { likelihood: likelihood.into(), trials: 1.0, is_open: false }
    }

    pub(crate) fn is_gaussian(&self) -> bool {
        matches!(self.likelihood, Likelihood::Gaussian(_))
    }

    /// Whether no observation lies beyond these bounds.
    pub(crate) fn keeps_within(&self, bounds: Bounds) -> bool {
        // Whole numbers beyond whole bounds, so that counts are not refused for a fraction.
        let refuses = |beyond: f64| {
            !beyond.is_finite() || self.likelihood.refusal(beyond, self.trials.max(beyond)).is_some()
        };
        refuses(bounds.lower().floor() - 1.0) && refuses(bounds.upper().ceil() + 1.0)
    }

    /// Whether the noise of the output is no parameter of the likelihood.
    pub(crate) fn has_no_noise(&self) -> bool {
        matches!(self.likelihood, Likelihood::Poisson(_) | Likelihood::Bernoulli(_) | Likelihood::Binomial(_))
    }
}

impl fmt::Display for LikelihoodChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.likelihood.name())?;
        match self.likelihood {
            _ if self.is_open => Ok(()),
            Likelihood::StudentT(own) => write!(formatter, "({})", own.degrees()),
            Likelihood::Binomial(_) => write!(formatter, "({})", self.trials),
            Likelihood::ZeroInflated(own) => write!(formatter, "({}:{})", own.offset(), own.slope()),
            Likelihood::Censored(own) => {
                let limit = |limit: f64| if limit.is_finite() { limit.to_string() } else { String::new() };
                match own.upper().is_finite() {
                    true => write!(formatter, "({}:{})", limit(own.lower()), limit(own.upper())),
                    false => write!(formatter, "({})", limit(own.lower())),
                }
            }
            _ => Ok(()),
        }
    }
}

impl From<LikelihoodChoice> for String {
    fn from(choice: LikelihoodChoice) -> Self {
        choice.to_string()
    }
}

impl TryFrom<String> for LikelihoodChoice {
    type Error = InvalidLikelihood;

    fn try_from(text: String) -> Result<Self, InvalidLikelihood> {
        text.parse()
    }
}

impl FromStr for LikelihoodChoice {
    type Err = InvalidLikelihood;

    /// A word, with numbers in parentheses where the likelihood has any.
    fn from_str(text: &str) -> Result<Self, InvalidLikelihood> {
        let text = text.trim();
        let (word, numbers) = match text.split_once('(') {
            None => (text, None),
            Some((word, rest)) => {
                let inside =
                    rest.strip_suffix(')').ok_or_else(|| InvalidLikelihood::Word(text.to_owned()))?;
                (word.trim(), Some(inside))
            }
        };
        let wrong = |hint| InvalidLikelihood::Numbers { text: text.to_owned(), hint };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let pair = |text: &str| text.split_once(':').map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()));
        let plain = |likelihood: Likelihood| match numbers {
            None => Ok(Self::of(likelihood)),
            Some(_) => Err(wrong("this likelihood has no numbers; leave the parentheses out")),
        };
        match word {
            "gaussian" => plain(Gaussian.into()),
            "poisson" => plain(Poisson.into()),
            "negative-binomial" => plain(NegativeBinomial.into()),
            "bernoulli" => plain(Bernoulli.into()),
            "gamma" => plain(Gamma.into()),
            "log-normal" => plain(LogNormal.into()),
            "beta" => plain(Beta.into()),
            "student-t" => {
                let hint = "write student-t, or student-t(4) with positive degrees of freedom";
                let degrees = numbers.map_or(Some(FIRST_DEGREES), number).ok_or_else(|| wrong(hint))?;
                let own = StudentT::new(degrees).map_err(|_| wrong(hint))?;
                Ok(Self { is_open: numbers.is_none(), ..Self::of(own) })
            }
            "binomial" => {
                let hint = "write binomial(12) with the whole number of trials of every cell";
                let trials =
                    numbers.and_then(number).filter(|trials| *trials >= 1.0 && trials.fract() == 0.0);
                Ok(Self { trials: trials.ok_or_else(|| wrong(hint))?, ..Self::of(Binomial) })
            }
            "censored" => {
                let hint = "write censored for values cut off at 0, or limits such as censored(0), censored(0:100) or censored(:100)";
                let open = |text: &str, other: f64| if text.is_empty() { Some(other) } else { number(text) };
                let limits = match numbers {
                    None => Some((0.0, f64::INFINITY)),
                    Some(inside) => match pair(inside) {
                        None => number(inside).map(|lower| (lower, f64::INFINITY)),
                        Some((lower, upper)) => {
                            open(&lower, f64::NEG_INFINITY).zip(open(&upper, f64::INFINITY))
                        }
                    },
                };
                let (lower, upper) = limits.ok_or_else(|| wrong(hint))?;
                Ok(Self::of(Censored::new(lower, upper).map_err(|_| wrong(hint))?))
            }
            "zero-inflated" => {
                let hint = "write zero-inflated, or zero-inflated(0.5:1.2) with the log odds of a value that is not 0 and \
                            their slope in the function";
                let given = match numbers {
                    None => Some(FIRST_LOG_ODDS),
                    Some(inside) => {
                        pair(inside).and_then(|(offset, slope)| number(&offset).zip(number(&slope)))
                    }
                };
                let (offset, slope) = given.ok_or_else(|| wrong(hint))?;
                let own = ZeroInflated::new(offset, slope).map_err(|_| wrong(hint))?;
                Ok(Self { is_open: numbers.is_none(), ..Self::of(own) })
            }
            _ => Err(InvalidLikelihood::Word(text.to_owned())),
        }
    }
}

impl fmt::Display for LikelihoodRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Given(choice) => choice.fmt(formatter),
        }
    }
}

impl FromStr for LikelihoodRequest {
    type Err = InvalidLikelihood;

    /// `auto`, or the word for a likelihood.
    fn from_str(text: &str) -> Result<Self, InvalidLikelihood> {
        if text.trim() == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given) }
    }
}

impl From<LikelihoodChoice> for LikelihoodRequest {
    fn from(choice: LikelihoodChoice) -> Self {
        Self::Given(choice)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn texts_give_each_output_its_likelihood_and_are_read_back() {
        let names = ["rain", "visits", "humidity"].map(str::to_owned);
        let options: LikelihoodOptions = "rain=censored, visits=poisson".parse().unwrap();
        let given = |text: &str| Some(LikelihoodRequest::Given(text.parse().unwrap()));
        assert_eq!(options.of(&names), Ok(vec![given("censored"), given("poisson"), None]));
        let options: LikelihoodOptions = "auto,visits=poisson".parse().unwrap();
        let auto = Some(LikelihoodRequest::Auto);
        assert_eq!(options.of(&names), Ok(vec![auto, given("poisson"), auto]));
        assert_eq!(LikelihoodOptions::default().of(&names), Ok(vec![None; 3]));
        for text in [
            "student-t",
            "student-t(3.25)",
            "binomial(12)",
            "censored(0:100)",
            "censored(:99.5)",
            "censored(-1)",
            "zero-inflated",
            "zero-inflated(0.1:-2)",
            "beta",
            "log-normal",
        ] {
            let choice: LikelihoodChoice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        for (text, hint) in [
            ("cauchy", "is not a likelihood"),
            ("poisson(3)", "no numbers"),
            ("binomial", "binomial(12)"),
            ("binomial(2.5)", "whole number"),
            ("student-t(0)", "degrees of freedom"),
            ("censored(2:1)", "censored(0:100)"),
            ("censored(:)", "censored(0:100)"),
            ("zero-inflated(1)", "log odds"),
            ("poisson,beta", "every output is given twice"),
            ("a=poisson,a=beta", "a is given twice"),
        ] {
            let error = text.parse::<LikelihoodOptions>().unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
        assert_eq!("snow=poisson".parse::<LikelihoodOptions>().unwrap().of(&names), Err("snow".to_owned()));
    }
}
