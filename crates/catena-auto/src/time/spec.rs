//! What a latent along time is the sum of, as people write it: `sho+rw+qp(24h)`, `matern12+qp(24h,3)+qp(7d,2)`.

use std::fmt;

use catena::kernel::Kernel;
use thiserror::Error;

/// One term of a sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Term {
    /// A stationary kernel with a derivative state.
    Kernel(Kernel),
    /// A damped oscillator.
    Oscillator,
    /// A level that wanders.
    Level,
    /// A level with a slope that wanders.
    Trend,
    /// A season that slowly changes.
    Season {
        /// Its period, in units of the input.
        period: f64,
        /// How many harmonics it has; `None` to choose.
        harmonics: Option<usize>,
    },
}

/// The sum that each latent is.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeSpec {
    terms: Vec<Term>,
}

/// A specification that cannot be read; letters are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("kernel `{text}`, letter {position}: {what}")]
pub struct SpecError {
    text: String,
    position: usize,
    what: String,
}

/// Most harmonics a season can have.
const MOST_HARMONICS: usize = 20;

impl TimeSpec {
    /// A sum of one term.
    pub fn of(term: Term) -> Self {
        Self { terms: vec![term] }
    }

    /// Whether a text speaks of a sum or a piece for time, and not of a kernel alone.
    pub fn is_meant_by(text: &str) -> bool {
        let name = text.split(['+', '(']).next().unwrap_or_default().trim();
        text.contains(['+', '(']) || ["sho", "rw", "llt", "qp"].contains(&name.to_ascii_lowercase().as_str())
    }

    /// Reads a specification. `period` turns the text of a period, such as `24h`, into units of the input, or says why it
    /// cannot.
    ///
    /// # Errors
    /// When it cannot be read; the message points at the letter.
    pub fn parse(text: &str, period: &dyn Fn(&str) -> Result<f64, String>) -> Result<Self, SpecError> {
        let fail = |at: usize, what: String| {
            let position = text[..at].chars().count() + 1;
            SpecError { text: text.to_owned(), position, what }
        };
        let mut terms = vec![];
        let mut start = 0;
        for written in split_outside_parentheses(text) {
            let at = start + (written.len() - written.trim_start().len());
            start += written.len() + 1;
            let term = written.trim();
            let (name, rest) = term.split_at(term.find('(').unwrap_or(term.len()));
            let simple = |found: Term| match rest {
                "" => Ok(found),
                _ => Err(fail(at + name.len(), format!("`{}` takes no arguments", name.trim()))),
            };
            terms.push(match name.trim().to_ascii_lowercase().as_str() {
                "" => return Err(fail(at, "a term is missing; write for example sho+rw+qp(24h)".to_owned())),
                "sho" => simple(Term::Oscillator)?,
                "rw" => simple(Term::Level)?,
                "llt" => simple(Term::Trend)?,
                "qp" => season(rest, at + name.len(), period, &fail)?,
                other => match Kernel::ALL.iter().find(|kernel| kernel.name() == other) {
                    Some(kernel) if kernel.state_dim(catena::kernel::StateKind::Derivative).is_ok() => {
                        simple(Term::Kernel(*kernel))?
                    }
                    Some(kernel) => {
                        return Err(fail(
                            at,
                            format!("{} has no state in time; use matern52", kernel.name()),
                        ));
                    }
                    None => {
                        let known = "matern12, matern32, matern52, sho, rw, llt or qp(PERIOD)";
                        return Err(fail(at, format!("`{}` is not a piece; write {known}", name.trim())));
                    }
                },
            });
        }
        Ok(Self { terms })
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The same sum with this term at its end.
    pub fn with(&self, term: Term) -> Self {
        let terms = self.terms.iter().copied().chain([term]).collect();
        Self { terms }
    }

    /// The same sum with another first term.
    pub(super) fn beginning_with(&self, term: Term) -> Self {
        let terms = [term].into_iter().chain(self.terms.iter().skip(1).copied()).collect();
        Self { terms }
    }

    /// The same sum with periods in another unit: each is divided by `unit`.
    pub(super) fn in_units(&self, unit: f64) -> Self {
        let scaled = |term: &Term| match *term {
            Term::Season { period, harmonics } => Term::Season { period: period / unit, harmonics },
            other => other,
        };
        Self { terms: self.terms.iter().map(scaled).collect() }
    }

    /// The same sum, open numbers of harmonics set to this one.
    pub(super) fn with_harmonics(&self, count: usize) -> Self {
        let set = |term: &Term| match *term {
            Term::Season { period, harmonics } => {
                Term::Season { period, harmonics: Some(harmonics.unwrap_or(count)) }
            }
            other => other,
        };
        Self { terms: self.terms.iter().map(set).collect() }
    }

    /// Whether a number of harmonics is open.
    pub(super) fn is_open(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Season { harmonics: None, .. }))
    }
}

/// The parts between plus signs that no parenthesis holds.
fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (vec![], 0, 0_i32);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// `(24h)` or `(24h,3)`, beginning at a byte of the whole text.
fn season(
    rest: &str,
    at: usize,
    period: &dyn Fn(&str) -> Result<f64, String>,
    fail: &dyn Fn(usize, String) -> SpecError,
) -> Result<Term, SpecError> {
    let Some(inside) = rest.strip_prefix('(') else {
        return Err(fail(at, "qp needs a period, such as qp(24h) or qp(24h,3)".to_owned()));
    };
    let Some(inside) = inside.trim_end().strip_suffix(')') else {
        return Err(fail(at, "this parenthesis is not closed".to_owned()));
    };
    let (length, count) = match inside.split_once(',') {
        Some((length, count)) => (length, Some(count)),
        None => (inside, None),
    };
    let found = period(length.trim()).map_err(|why| fail(at + 1, why))?;
    if !(found > 0.0 && found.is_finite()) {
        return Err(fail(at + 1, "a period is positive".to_owned()));
    }
    let harmonics = match count {
        None => None,
        Some(count) => match count.trim().parse() {
            Ok(number) if (1..=MOST_HARMONICS).contains(&number) => Some(number),
            _ => {
                let what =
                    format!("`{}` is not a number of harmonics from 1 to {MOST_HARMONICS}", count.trim());
                return Err(fail(at + 2 + length.len(), what));
            }
        },
    };
    Ok(Term::Season { period: found, harmonics })
}

impl TimeSpec {
    /// The sum as it is written, with periods as `length` writes them.
    pub fn text(&self, length: impl Fn(f64) -> String) -> String {
        let term = |term: &Term| match *term {
            Term::Kernel(kernel) => kernel.name().to_owned(),
            Term::Oscillator => "sho".to_owned(),
            Term::Level => "rw".to_owned(),
            Term::Trend => "llt".to_owned(),
            Term::Season { period, harmonics: Some(count) } => format!("qp({},{count})", length(period)),
            Term::Season { period, harmonics: None } => format!("qp({})", length(period)),
        };
        self.terms.iter().map(term).collect::<Vec<_>>().join("+")
    }
}

impl fmt::Display for TimeSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text(|period| period.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(text: &str) -> Result<f64, String> {
        let number = text.strip_suffix('h').ok_or_else(|| format!("`{text}` has no unit"))?;
        number.parse().map_err(|_| format!("`{number}` is not a number"))
    }

    #[test]
    fn specifications_are_read_and_written() {
        for text in ["sho", "sho+rw", "matern12+rw+qp(24,3)+qp(168,2)", "matern52+llt", "rw+qp(24)"] {
            let read =
                TimeSpec::parse(text, &|period| period.parse().map_err(|_| "no number".to_owned())).unwrap();
            assert_eq!(read.to_string(), text);
        }
        let spaced = TimeSpec::parse(" sho + RW +qp( 24h , 2 )", &hours).unwrap();
        let season = Term::Season { period: 24.0, harmonics: Some(2) };
        assert_eq!(spaced.terms(), [Term::Oscillator, Term::Level, season]);
        assert!(TimeSpec::is_meant_by("sho") && TimeSpec::is_meant_by("matern12+rw"));
        assert!(!TimeSpec::is_meant_by("matern12") && !TimeSpec::is_meant_by("matern32/matern12"));
    }

    #[test]
    fn errors_point_at_the_letter() {
        for (text, position, what) in [
            ("", 1, "missing"),
            ("sho+", 5, "missing"),
            ("sho+rwx", 5, "not a piece"),
            ("sho+qp", 7, "needs a period"),
            ("sho+qp(24h", 7, "not closed"),
            ("sho+qp(24)", 8, "no unit"),
            ("sho+qp(-3h)", 8, "positive"),
            ("sho+qp(24h,0)", 12, "harmonics"),
            ("sho+qp(24h,many)", 12, "harmonics"),
            ("sho(3)+rw", 4, "no arguments"),
            ("šho+rw", 1, "not a piece"),
            (&format!("rw+{}", Kernel::SquaredExponential.name()), 4, "no state in time"),
        ] {
            let error = TimeSpec::parse(text, &hours).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
