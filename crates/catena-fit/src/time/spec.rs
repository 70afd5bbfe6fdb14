//! What a latent along time is the sum of, as people write it: `sho+rw+qp(24h)`, `matern12+qp(24h,3)+qp(7d,2)`, and seasons that
//! outputs share: `sho+rw+shared(24h,3,2)`.

use std::fmt;
use std::ops::Range;

use catena::kernel::{Component, Kernel};
use catena::model::{Latent, Process};
use thiserror::Error;

use super::sums::terms;

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
    /// A season that all outputs share, each with an amplitude and a phase of its own in every harmonic: for many outputs.
    Shared {
        /// Its period, in units of the input.
        period: f64,
        /// How many harmonics it has; `None` to choose.
        harmonics: Option<usize>,
        /// How many of it there are, so that outputs need not change alike.
        groups: usize,
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
/// Most groups that a shared season can have.
const MOST_GROUPS: usize = 8;
/// Groups of a shared season where nothing is said of them.
const GROUPS: usize = 1;

impl TimeSpec {
    /// A sum of one term.
    pub fn of(term: Term) -> Self {
        Self { terms: vec![term] }
    }

    /// The sum that latents with bound columns are, as they stand in a model. Shared seasons are found apart.
    pub(super) fn of_latents(latents: &[Latent]) -> Self {
        let term = |columns: Range<usize>| {
            Some(match latents[columns.start].process() {
                Process::Stationary(kernel, _) => Term::Kernel(kernel),
                Process::Component(Component::Sho { .. }) => Term::Oscillator,
                Process::Component(Component::RandomWalk) => Term::Level,
                Process::Component(Component::LocalLinearTrend) => Term::Trend,
                Process::Component(Component::Cycle { period }) => {
                    Term::Season { period: period.get(), harmonics: Some(columns.len()) }
                }
                Process::QuarterTurn => return None,
            })
        };
        Self { terms: terms(latents).into_iter().filter_map(term).collect() }
    }

    /// Whether a text speaks of a sum or a piece for time, and not of a kernel alone.
    pub fn is_meant_by(text: &str) -> bool {
        let name = text.split(['+', '(']).next().unwrap_or_default().trim();
        text.contains(['+', '('])
            || ["sho", "rw", "llt", "qp", "shared"].contains(&name.to_ascii_lowercase().as_str())
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
                "qp" => season(rest, at + name.len(), ("qp", 2), period, &fail)?,
                "shared" => season(rest, at + name.len(), ("shared", 3), period, &fail)?,
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
                        let known =
                            "matern12, matern32, matern52, sho, rw, llt, qp(PERIOD) or shared(PERIOD)";
                        return Err(fail(at, format!("`{}` is not a piece; write {known}", name.trim())));
                    }
                },
            });
        }
        if terms.iter().all(|term| matches!(term, Term::Shared { .. })) {
            let what = "beside a shared season outputs need something of their own; write for example rw+shared(24h)";
            return Err(fail(0, what.to_owned()));
        }
        Ok(Self { terms })
    }

    /// The terms of every latent: all but the shared seasons.
    pub(super) fn own(&self) -> Self {
        let is_own = |term: &&Term| !matches!(term, Term::Shared { .. });
        Self { terms: self.terms.iter().filter(is_own).copied().collect() }
    }

    /// The shared seasons: period, harmonics and groups of each.
    pub(super) fn shared(&self) -> Vec<(f64, usize, usize)> {
        let shared = |term: &Term| match *term {
            Term::Shared { period, harmonics, groups } => Some((period, harmonics.unwrap_or(1), groups)),
            _ => None,
        };
        self.terms.iter().filter_map(shared).collect()
    }

    /// What an output has alone: a shared season is its own there, after all else.
    pub(super) fn alone(&self) -> Self {
        let season = |term: &Term| match *term {
            Term::Shared { period, harmonics, .. } => Some(Term::Season { period, harmonics }),
            _ => None,
        };
        let seasons = self.terms.iter().filter_map(season);
        Self { terms: self.own().terms.into_iter().chain(seasons).collect() }
    }

    /// The same sum with every season shared, in so many groups.
    pub(super) fn with_shared_seasons(&self, groups: usize) -> Self {
        let shared = |term: &Term| match *term {
            Term::Season { period, harmonics } => Term::Shared { period, harmonics, groups },
            other => other,
        };
        Self { terms: self.terms.iter().map(shared).collect() }
    }

    /// Whether every latent has a season of its own.
    pub(crate) fn has_own_season(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Season { .. }))
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
            Term::Shared { period, harmonics, groups } => {
                Term::Shared { period: period / unit, harmonics, groups }
            }
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
            Term::Shared { period, harmonics, groups } => {
                Term::Shared { period, harmonics: Some(harmonics.unwrap_or(count)), groups }
            }
            other => other,
        };
        Self { terms: self.terms.iter().map(set).collect() }
    }

    /// Whether a number of harmonics is open.
    pub(super) fn is_open(&self) -> bool {
        let is_open = |term: &Term| {
            matches!(term, Term::Season { harmonics: None, .. } | Term::Shared { harmonics: None, .. })
        };
        self.terms.iter().any(is_open)
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

/// `(24h)` or `(24h,3)` or, of a shared season, `(24h,3,2)`, beginning at a byte of the whole text.
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
        return Err(fail(at, "this parenthesis is not closed".to_owned()));
    };
    let parts: Vec<&str> = inside.split(',').collect();
    let start = |part: usize| at + 1 + parts[..part].iter().map(|text| text.len() + 1).sum::<usize>();
    if parts.len() > most {
        return Err(fail(start(most), format!("{name} takes at most {most} arguments")));
    }
    let found = period(parts[0].trim()).map_err(|why| fail(at + 1, why))?;
    if !(found > 0.0 && found.is_finite()) {
        return Err(fail(at + 1, "a period is positive".to_owned()));
    }
    let whole = |part: usize, what: &str, highest: usize| -> Result<Option<usize>, SpecError> {
        let Some(text) = parts.get(part) else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) if (1..=highest).contains(&number) => Ok(Some(number)),
            _ => {
                let what = format!("`{}` is not a number of {what} from 1 to {highest}", text.trim());
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
    /// The sum as it is written, with periods as `length` writes them.
    pub fn text(&self, length: impl Fn(f64) -> String) -> String {
        let term = |term: &Term| match *term {
            Term::Kernel(kernel) => kernel.name().to_owned(),
            Term::Oscillator => "sho".to_owned(),
            Term::Level => "rw".to_owned(),
            Term::Trend => "llt".to_owned(),
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
            ("sho+rwx", 5, "not a piece"),
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
            ("shared(24h)", 1, "of their own"),
            ("šho+rw", 1, "not a piece"),
            (&format!("rw+{}", Kernel::SquaredExponential.name()), 4, "no state in time"),
        ] {
            let error = TimeSpec::parse(text, &hours).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.to_string().contains(what), "{text}: {error}");
        }
    }
}
