//! Specifications of time models: `sho+rw+qp(24h)`, `matern12+qp(24h,3)+qp(7d,2)`, or with seasons shared by all outputs
//! `sho+rw+shared(24h,3,2)`.

use std::fmt;

use catena::kernel::Kernel;
use thiserror::Error;

/// One term of a sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Term {
    /// A stationary kernel with derivative states.
    Kernel(Kernel),
    /// A damped oscillator.
    Oscillator,
    /// A random walk.
    Level,
    /// A local linear trend.
    Trend,
    /// A level whose slope returns to zero.
    DampedTrend,
    /// A quasi-periodic season.
    Season {
        /// The period, in units of the input.
        period: f64,
        /// The number of harmonics; `None` to choose.
        harmonics: Option<usize>,
    },
    /// A season shared by all outputs, with one amplitude and phase per output and harmonic.
    Shared {
        /// The period, in units of the input.
        period: f64,
        /// The number of harmonics; `None` to choose.
        harmonics: Option<usize>,
        /// The number of independent groups of the season.
        groups: usize,
    },
}

/// The sum of components that each latent is.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeSpec {
    terms: Vec<Term>,
}

/// An invalid specification; letters are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("kernel `{text}`, letter {position}: {what}")]
pub struct SpecError {
    text: String,
    position: usize,
    what: String,
}

/// The most harmonics of a season.
const MOST_HARMONICS: usize = 20;
/// The most groups of a shared season.
const MOST_GROUPS: usize = 8;
/// The default number of groups.
const GROUPS: usize = 1;

impl TimeSpec {
    /// A sum of one term.
    pub fn of(term: Term) -> Self {
        Self { terms: vec![term] }
    }

    /// A sum of these terms.
    pub(crate) fn from_terms(terms: impl IntoIterator<Item = Term>) -> Self {
        Self { terms: terms.into_iter().collect() }
    }

    /// Whether a text is the specification of a time model rather than a kernel.
    pub fn is_meant_by(text: &str) -> bool {
        let name = text.split(['+', '(']).next().unwrap_or_default().trim();
        text.contains(['+', '('])
            || ["sho", "rw", "llt", "dt", "qp", "shared"].contains(&name.to_ascii_lowercase().as_str())
    }

    /// Parses a specification. `period` converts the text of a period, such as `24h`, to units of the input.
    ///
    /// # Errors
    /// When the specification is invalid; the message names the position.
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
                "dt" => simple(Term::DampedTrend)?,
                "qp" => season(rest, at + name.len(), ("qp", 2), period, &fail)?,
                "shared" => season(rest, at + name.len(), ("shared", 3), period, &fail)?,
                other => match Kernel::ALL.iter().find(|kernel| kernel.name() == other) {
                    Some(kernel) if kernel.state_dim(catena::kernel::StateKind::Derivative).is_ok() => {
                        simple(Term::Kernel(*kernel))?
                    }
                    Some(kernel) => {
                        return Err(fail(
                            at,
                            format!(
                                "{} has no derivative state, which a time model needs; use matern52",
                                kernel.name()
                            ),
                        ));
                    }
                    None => {
                        let known =
                            "matern12, matern32, matern52, sho, rw, llt, dt, qp(PERIOD) or shared(PERIOD)";
                        return Err(fail(at, format!("`{}` is not a component; write {known}", name.trim())));
                    }
                },
            });
        }
        if terms.iter().all(|term| matches!(term, Term::Shared { .. })) {
            let what = "a shared season needs a component of each output beside it; write for example rw+shared(24h)";
            return Err(fail(0, what.to_owned()));
        }
        Ok(Self { terms })
    }

    /// The terms without shared seasons.
    pub(crate) fn own(&self) -> Self {
        let is_own = |term: &&Term| !matches!(term, Term::Shared { .. });
        Self { terms: self.terms.iter().filter(is_own).copied().collect() }
    }

    /// Period, harmonics and groups of each shared season.
    pub(crate) fn shared(&self) -> Vec<(f64, usize, usize)> {
        let shared = |term: &Term| match *term {
            Term::Shared { period, harmonics, groups } => Some((period, harmonics.unwrap_or(1), groups)),
            _ => None,
        };
        self.terms.iter().filter_map(shared).collect()
    }

    /// The sum of a single output: shared seasons become its own, at the end.
    pub(crate) fn alone(&self) -> Self {
        let season = |term: &Term| match *term {
            Term::Shared { period, harmonics, .. } => Some(Term::Season { period, harmonics }),
            _ => None,
        };
        let seasons = self.terms.iter().filter_map(season);
        Self { terms: self.own().terms.into_iter().chain(seasons).collect() }
    }

    /// The same sum with all seasons shared, in this many groups.
    pub(crate) fn with_shared_seasons(&self, groups: usize) -> Self {
        let shared = |term: &Term| match *term {
            Term::Season { period, harmonics } => Term::Shared { period, harmonics, groups },
            other => other,
        };
        Self { terms: self.terms.iter().map(shared).collect() }
    }

    /// Whether every latent has its own season.
    pub(crate) fn has_own_season(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Season { .. }))
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The same sum with this term appended.
    pub fn with(&self, term: Term) -> Self {
        let terms = self.terms.iter().copied().chain([term]).collect();
        Self { terms }
    }

    /// The same sum with another first term.
    pub(crate) fn beginning_with(&self, term: Term) -> Self {
        let terms = [term].into_iter().chain(self.terms.iter().skip(1).copied()).collect();
        Self { terms }
    }

    /// The same sum with periods divided by `unit`.
    pub(crate) fn in_units(&self, unit: f64) -> Self {
        let scaled = |term: &Term| match *term {
            Term::Season { period, harmonics } => Term::Season { period: period / unit, harmonics },
            Term::Shared { period, harmonics, groups } => {
                Term::Shared { period: period / unit, harmonics, groups }
            }
            other => other,
        };
        Self { terms: self.terms.iter().map(scaled).collect() }
    }

    /// The same sum, with periods in steps, and open numbers of harmonics set to this one, or fewer where a harmonic would be
    /// shorter than two steps.
    pub(crate) fn with_harmonics(&self, count: usize) -> Self {
        let count = |period: f64| count.min((0.5 * period + 1e-9) as usize).max(1);
        let set = |term: &Term| match *term {
            Term::Season { period, harmonics } => {
                Term::Season { period, harmonics: Some(harmonics.unwrap_or_else(|| count(period))) }
            }
            Term::Shared { period, harmonics, groups } => {
                let harmonics = Some(harmonics.unwrap_or_else(|| count(period)));
                Term::Shared { period, harmonics, groups }
            }
            other => other,
        };
        Self { terms: self.terms.iter().map(set).collect() }
    }

    /// Whether a number of harmonics is open.
    pub(crate) fn is_open(&self) -> bool {
        let is_open = |term: &Term| {
            matches!(term, Term::Season { harmonics: None, .. } | Term::Shared { harmonics: None, .. })
        };
        self.terms.iter().any(is_open)
    }
}

/// Splits at plus signs outside parentheses.
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

/// Parses `(24h)`, `(24h,3)` or, for a shared season, `(24h,3,2)`, which begins at byte `at` of the whole text.
fn season(
    rest: &str,
    at: usize,
    (name, most): (&str, usize),
    period: &dyn Fn(&str) -> Result<f64, String>,
    fail: &dyn Fn(usize, String) -> SpecError,
) -> Result<Term, SpecError> {
    let Some(inside) = rest.strip_prefix('(') else {
        return Err(fail(at, format!("{name} needs a period, such as {name}(24h) or {name}(24h,3)")));
    };
    let Some(inside) = inside.trim_end().strip_suffix(')') else {
        return Err(fail(at, "the parenthesis is not closed".to_owned()));
    };
    let parts: Vec<&str> = inside.split(',').collect();
    let start = |part: usize| at + 1 + parts[..part].iter().map(|text| text.len() + 1).sum::<usize>();
    if parts.len() > most {
        return Err(fail(start(most), format!("{name} takes at most {most} arguments")));
    }
    let found = period(parts[0].trim()).map_err(|why| fail(at + 1, why))?;
    if !(found > 0.0 && found.is_finite()) {
        return Err(fail(at + 1, "a period must be positive".to_owned()));
    }
    let whole = |part: usize, what: &str, highest: usize| -> Result<Option<usize>, SpecError> {
        let Some(text) = parts.get(part) else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) if (1..=highest).contains(&number) => Ok(Some(number)),
            _ => {
                let what = format!("`{}` is not a valid number of {what}; write 1 to {highest}", text.trim());
                Err(fail(start(part), what))
            }
        }
    };
    let harmonics = whole(1, "harmonics", MOST_HARMONICS)?;
    Ok(match most {
        2 => Term::Season { period: found, harmonics },
        _ => {
            let groups = whole(2, "groups", MOST_GROUPS)?.unwrap_or(GROUPS);
            Term::Shared { period: found, harmonics, groups }
        }
    })
}

impl TimeSpec {
    /// The specification, with periods formatted by `length`.
    pub fn text(&self, length: impl Fn(f64) -> String) -> String {
        let term = |term: &Term| match *term {
            Term::Kernel(kernel) => kernel.name().to_owned(),
            Term::Oscillator => "sho".to_owned(),
            Term::Level => "rw".to_owned(),
            Term::Trend => "llt".to_owned(),
            Term::DampedTrend => "dt".to_owned(),
            Term::Season { period, harmonics: Some(count) } => format!("qp({},{count})", length(period)),
            Term::Season { period, harmonics: None } => format!("qp({})", length(period)),
            Term::Shared { period, harmonics: Some(count), groups } => {
                format!("shared({},{count},{groups})", length(period))
            }
            Term::Shared { period, harmonics: None, .. } => format!("shared({})", length(period)),
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
        for text in [
            "sho",
            "sho+rw",
            "matern12+rw+qp(24,3)+qp(168,2)",
            "matern52+llt",
            "rw+dt",
            "rw+qp(24)",
            "rw+shared(24,3,2)",
        ] {
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
            ("sho+rwx", 5, "not a component"),
            ("sho+qp", 7, "needs a period"),
            ("sho+qp(24h", 7, "not closed"),
            ("sho+qp(24)", 8, "no unit"),
            ("sho+qp(-3h)", 8, "positive"),
            ("sho+qp(24h,0)", 12, "harmonics"),
            ("sho+qp(24h,many)", 12, "harmonics"),
            ("sho(3)+rw", 4, "no arguments"),
            ("sho+qp(24h,3,2)", 14, "at most 2"),
            ("sho+shared(24h,3,0)", 18, "groups"),
            ("sho+shared", 11, "needs a period"),
            ("shared(24h)", 1, "beside it"),
            ("šho+rw", 1, "not a component"),
            (&format!("rw+{}", Kernel::SquaredExponential.name()), 4, "no derivative state"),
        ] {
            let error = TimeSpec::parse(text, &hours).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
