//! Comparison of a computed number with the paper's.

use crate::reference::Printed;

/// The rule of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// The difference is at most this.
    Absolute(f64),
    /// The difference is at most this part of the reference.
    Relative(f64),
    /// Ours lies in this interval.
    Within(f64, f64),
    /// Ours is at most the reference.
    AtMost,
    /// Shown, not judged: times of another machine, ratios.
    Context,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Agrees by the rule.
    Agrees,
    /// Differs by the rule.
    Misses,
    /// Not comparable: fewer seeds than the mean in the paper.
    FewSeeds,
    /// Not judged.
    Context,
    /// The paper's claim is false, and the number shows it.
    Refutes,
}

impl Verdict {
    /// One or two words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Misses => "misses",
            Self::FewSeeds => "fewer seeds",
            Self::Context => "not judged",
            Self::Refutes => "refutes the claim",
        }
    }
}

/// A row of the table of verdicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The compared quantity.
    pub quantity: String,
    /// The paper's number, or a required bound.
    pub reference: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// The rule, in words.
    pub rule: String,
    /// The judgement.
    pub verdict: Verdict,
}

impl Comparison {
    /// Judges ours by a rule.
    pub(crate) fn new(quantity: impl Into<String>, reference: f64, ours: f64, rule: Rule) -> Self {
        let difference = (ours - reference).abs();
        let (holds, rule_text) = match rule {
            Rule::Absolute(most) => (difference <= most, format!("difference ≤ {most:.0e}")),
            Rule::Relative(most) => {
                (difference <= most * reference.abs(), format!("relative difference ≤ {most:.0e}"))
            }
            Rule::Within(low, high) => ((low..=high).contains(&ours), format!("in [{low:.3e}, {high:.3e}]")),
            Rule::AtMost => (ours <= reference, "≤".to_owned()),
            Rule::Context => (true, "context".to_owned()),
        };
        let verdict = match (rule, holds) {
            (Rule::Context, _) => Verdict::Context,
            (_, true) => Verdict::Agrees,
            (_, false) => Verdict::Misses,
        };
        Self { quantity: quantity.into(), reference: Some(reference), ours, rule: rule_text, verdict }
    }

    /// Judges ours by the digits that the paper prints.
    pub(crate) fn by_digits(quantity: impl Into<String>, printed: Printed, ours: f64) -> Self {
        let rounding = 4.0 * f64::EPSILON * printed.value.abs();
        let mut row = Self::new(quantity, printed.value, ours, Rule::Absolute(printed.half_digit + rounding));
        row.rule = "every printed digit".to_owned();
        row
    }

    /// A number that has nothing beside it.
    pub(crate) fn alone(quantity: impl Into<String>, ours: f64) -> Self {
        let rule = "context".to_owned();
        Self { quantity: quantity.into(), reference: None, ours, rule, verdict: Verdict::Context }
    }

    /// The same, but of fewer seeds than the paper has: shown, not judged.
    pub(crate) fn of_seeds(self, found: usize, of_paper: usize) -> Self {
        if found < of_paper { self.not_comparable(format!("{found} of {of_paper} seeds")) } else { self }
    }

    /// The same, shown and not judged, for this reason.
    pub(crate) fn not_comparable(self, reason: String) -> Self {
        Self { verdict: Verdict::FewSeeds, rule: reason, ..self }
    }

    /// The same, shown and not judged, because the reference is not comparable.
    pub(crate) fn not_judged(self, reason: String) -> Self {
        Self { verdict: Verdict::Context, rule: reason, ..self }
    }

    /// Ours minus the reference.
    pub fn difference(&self) -> Option<f64> {
        self.reference.map(|reference| self.ours - reference)
    }
}

/// The largest relative difference of pairs (ours, reference).
pub(crate) fn worst_relative(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    pairs.into_iter().fold(0.0, |worst, (ours, reference)| {
        let difference = ((ours - reference) / reference).abs();
        // NaN must not pass.
        if difference.is_nan() { f64::INFINITY } else { worst.max(difference) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(reference: f64, ours: f64, rule: Rule) -> Verdict {
        Comparison::new("", reference, ours, rule).verdict
    }

    #[test]
    fn rules_judge_as_they_say() {
        assert_eq!(verdict(1.0, 1.0 + 9e-7, Rule::Absolute(1e-6)), Verdict::Agrees);
        assert_eq!(verdict(1.0, 1.0 - 2e-6, Rule::Absolute(1e-6)), Verdict::Misses);
        assert_eq!(verdict(-100.0, -100.05, Rule::Relative(1e-3)), Verdict::Agrees);
        assert_eq!(verdict(-100.0, -100.2, Rule::Relative(1e-3)), Verdict::Misses);
        assert_eq!(verdict(0.0, 3.0, Rule::Within(1.0, 2.0)), Verdict::Misses);
        assert_eq!(verdict(5.0, f64::NAN, Rule::AtMost), Verdict::Misses);
        assert_eq!(verdict(5.0, 9.0, Rule::Context), Verdict::Context);
    }

    #[test]
    fn printed_digits_are_rounded_numbers() {
        let printed = Printed { value: 0.061, half_digit: 0.0005 };
        assert_eq!(Comparison::by_digits("", printed, 0.061_42).verdict, Verdict::Agrees);
        assert_eq!(Comparison::by_digits("", printed, 0.061_52).verdict, Verdict::Misses);
        assert_eq!(Comparison::by_digits("", printed, 0.07).of_seeds(3, 100).verdict, Verdict::FewSeeds);
        assert_eq!(Comparison::by_digits("", printed, 0.07).of_seeds(100, 100).verdict, Verdict::Misses);
    }

    #[test]
    fn a_missing_number_is_the_worst_difference() {
        assert_eq!(worst_relative([(1.0, 1.0), (f64::NAN, 1.0)]), f64::INFINITY);
        assert!((worst_relative([(1.0, 2.0), (3.0, 3.0)]) - 0.5).abs() < 1e-15);
    }
}
