//! The requested likelihood of each output, and the words for it on the command line and in Python.

use std::fmt;
use std::str::FromStr;

use catena::likelihood::{
    Bernoulli, Beta, Binomial, Censored, Gamma, Gaussian, Likelihood, LogNormal, NegativeBinomial, Poisson,
    StudentT, ZeroInflated,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::error::FitError;

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

/// The requested likelihoods of the outputs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LikelihoodOptions {
    /// The likelihood of outputs that `by_name` does not list. `None` is Gaussian.
    pub others: Option<LikelihoodChoice>,
    /// Likelihoods by the names of outputs.
    pub by_name: Vec<(String, LikelihoodChoice)>,
}

/// A text that is not a likelihood, or not a list of them.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidLikelihood {
    /// An unknown word.
    #[error(
        "`{0}` is not a likelihood; write gaussian, student-t, poisson, negative-binomial, bernoulli, binomial(12), gamma, \
         log-normal, beta, censored(0) or zero-inflated, or one per output such as rain=censored,visits=poisson"
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
    /// An output with two likelihoods, or two words for all outputs.
    #[error("{0} has two likelihoods; write one")]
    Twice(String),
}

impl LikelihoodChoice {
    /// Gaussian noise.
    pub fn gaussian() -> Self {
        Self::of(Gaussian)
    }

    fn of(likelihood: impl Into<Likelihood>) -> Self {
        Self { likelihood: likelihood.into(), trials: 1.0, is_open: false }
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

impl LikelihoodOptions {
    /// The likelihood of each named output; `None` if all are Gaussian.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn choices(&self, outputs: &[String]) -> Result<Option<Vec<LikelihoodChoice>>, FitError> {
        let mut choices = vec![self.others.unwrap_or_else(LikelihoodChoice::gaussian); outputs.len()];
        for (name, choice) in &self.by_name {
            let Some(at) = outputs.iter().position(|output| output == name) else {
                let (name, outputs) = (name.clone(), outputs.join(", "));
                return Err(FitError::NoOutputWithLikelihood { name, outputs });
            };
            choices[at] = *choice;
        }
        let is_gaussian = |choice: &LikelihoodChoice| matches!(choice.likelihood, Likelihood::Gaussian(_));
        Ok((!choices.iter().all(is_gaussian)).then_some(choices))
    }
}

impl FromStr for LikelihoodOptions {
    type Err = InvalidLikelihood;

    /// A word for all outputs, `NAME=word` for one, or several of these with commas between them.
    fn from_str(text: &str) -> Result<Self, InvalidLikelihood> {
        let mut found = Self::default();
        for entry in text.split(',') {
            let (name, word) = match entry.rsplit_once('=') {
                Some((name, word)) => (Some(name.trim()), word),
                None => (None, entry),
            };
            let choice: LikelihoodChoice = word.parse()?;
            match name {
                Some(name) if found.by_name.iter().any(|(other, _)| other == name) => {
                    return Err(InvalidLikelihood::Twice(name.to_owned()));
                }
                Some(name) => found.by_name.push((name.to_owned(), choice)),
                None if found.others.is_some() => {
                    return Err(InvalidLikelihood::Twice("every output".to_owned()));
                }
                None => found.others = Some(choice),
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
    fn texts_give_each_output_its_likelihood_and_are_read_back() {
        let names = ["rain", "visits", "humidity"].map(str::to_owned);
        let options: LikelihoodOptions = "rain=censored, visits=poisson".parse().unwrap();
        let words: Vec<String> =
            options.choices(&names).unwrap().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(words, ["censored(0)", "poisson", "gaussian"]);
        assert_eq!("gaussian".parse::<LikelihoodOptions>().unwrap().choices(&names), Ok(None));
        assert_eq!(LikelihoodOptions::default().choices(&names), Ok(None));
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
            ("poisson,beta", "two likelihoods"),
            ("a=poisson,a=beta", "a has two likelihoods"),
        ] {
            let error = text.parse::<LikelihoodOptions>().unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
        let error = "snow=poisson".parse::<LikelihoodOptions>().unwrap().choices(&names).unwrap_err();
        assert!(error.to_string().contains("snow") && error.to_string().contains("rain, visits, humidity"));
    }
}
