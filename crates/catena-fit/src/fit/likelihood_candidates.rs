//! The likelihoods that the values of an output suggest.

use catena::data::Dataset;
use catena::likelihood::{Bernoulli, Beta, Censored, Gamma, Likelihood, NegativeBinomial, Poisson, StudentT};

use crate::error::FitError;
use crate::options::{Bounds, FitOptions, LikelihoodChoice};

/// Outputs with fewer values have no candidates.
const FEWEST: usize = 20;

/// The share of values at the smallest or largest one from which it is taken for a limit, and the share from which it is named unasked.
const SHARE_AT_LIMIT: f64 = 0.03;
const STRIKING_SHARE: f64 = 0.1;

/// Positive values vary more than this in units of their mean where their noise may grow with them.
const VARIATION: f64 = 0.5;

/// The largest median of counts that are named unasked: above it a Gaussian is close.
const SMALL_COUNT: f64 = 10.0;

/// The values of an output.
pub(super) struct OutputValues {
    sorted: Vec<f64>,
}

/// The likelihoods that values suggest, and why.
pub(super) struct Candidates {
    pub(super) choices: Vec<LikelihoodChoice>,
    /// As the beginning of a sentence after the name of the output.
    pub(super) reason: String,
    /// Whether a Gaussian is so far from the values that it is named unasked.
    pub(super) is_striking: bool,
}

impl OutputValues {
    pub(super) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { sorted: values }
    }

    fn is_whole(&self) -> bool {
        self.sorted.iter().all(|value| value.fract() == 0.0)
    }

    fn share(&self, is_in: impl Fn(f64) -> bool) -> f64 {
        self.sorted.iter().filter(|value| is_in(**value)).count() as f64 / self.sorted.len() as f64
    }

    /// The unit in which values are written: 1 for whole numbers, else the smallest difference of two.
    pub(super) fn unit(&self) -> f64 {
        let gaps = self.sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
        let smallest = gaps.fold(f64::INFINITY, f64::min);
        if self.is_whole() || smallest.is_infinite() { 1.0 } else { smallest }
    }

    /// The standard deviation in units of the mean.
    fn variation(&self) -> f64 {
        let count = self.sorted.len() as f64;
        let mean = self.sorted.iter().sum::<f64>() / count;
        let squares = self.sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (squares / count).sqrt() / mean
    }

    /// The ends of the values at which many of them lie: infinite where few do.
    fn limits(&self, least: f64, greatest: f64) -> (f64, f64) {
        let is_limit = |end: f64| self.share(|value| value == end) >= SHARE_AT_LIMIT;
        (
            if is_limit(least) { least } else { f64::NEG_INFINITY },
            if is_limit(greatest) { greatest } else { f64::INFINITY },
        )
    }

    /// The likelihoods that the values suggest; `None` if nothing speaks against a Gaussian. `bounds` are those of the output, which all
    /// candidates keep.
    pub(super) fn candidates(&self, bounds: Option<Bounds>) -> Option<Candidates> {
        let mut found = self.suggested(bounds)?;
        if let Some(bounds) = bounds {
            found.choices.retain(|choice| choice.keeps_within(bounds));
        }
        (!found.choices.is_empty()).then_some(found)
    }

    fn suggested(&self, bounds: Option<Bounds>) -> Option<Candidates> {
        let (&least, &greatest) = (self.sorted.first()?, self.sorted.last()?);
        if self.sorted.len() < FEWEST || least == greatest {
            return None;
        }
        let found = |choices: Vec<Likelihood>, reason: String, is_striking: bool| {
            let choices = choices.into_iter().map(LikelihoodChoice::of).collect();
            Some(Candidates { choices, reason, is_striking })
        };
        let median = self.sorted[self.sorted.len() / 2];
        if self.is_whole() && (least, greatest) == (0.0, 1.0) {
            return found(vec![Bernoulli.into()], "its values are 0 and 1".to_owned(), true);
        }
        // The largest of a few counts is often met twice; at a limit values pile up.
        let is_limited = self.limits(least, greatest).1.is_finite()
            && self.share(|value| value == greatest) > self.share(|value| value == greatest - 1.0);
        if self.is_whole() && least >= 0.0 && !is_limited {
            let reason = format!("its values are whole numbers from {least} to {greatest}");
            return found(vec![Poisson.into(), NegativeBinomial.into()], reason, median <= SMALL_COUNT);
        }
        if self.is_whole() && least < 0.0 {
            // Rounded values, whose ends are met often without a limit.
            return None;
        }
        let (lower, upper) = self.limits(least, greatest);
        if lower.is_finite() || upper.is_finite() {
            // Bounds that are reached are limits on both sides.
            let (lower, upper) = bounds.map_or((lower, upper), |bounds| (bounds.lower(), bounds.upper()));
            let share = self.share(|value| value == least || value == greatest);
            let ends: Vec<String> =
                [lower, upper].into_iter().filter(|end| end.is_finite()).map(|end| end.to_string()).collect();
            let reason = format!("{:.0} % of its values are {}", 100.0 * share, ends.join(" or "));
            let mut choices: Vec<LikelihoodChoice> =
                Censored::new(lower, upper).ok().map(LikelihoodChoice::of).into_iter().collect();
            if least == 0.0 && upper.is_infinite() {
                choices.extend("zero-inflated".parse::<LikelihoodChoice>());
            }
            return Some(Candidates { choices, reason, is_striking: share >= STRIKING_SHARE });
        }
        if least > 0.0 && greatest < 1.0 && greatest > 0.5 {
            return found(vec![Beta.into()], "its values lie between 0 and 1".to_owned(), false);
        }
        if least > 0.0 && self.variation() > VARIATION {
            return found(vec![Gamma.into()], "its values are positive and vary widely".to_owned(), false);
        }
        None
    }
}

/// The values of each output.
pub(super) fn values_by_output(table: &Dataset) -> Vec<OutputValues> {
    let mut values = vec![vec![]; table.observations().n_outputs()];
    for (_, cell) in table.observations().cells() {
        values[cell.output.get()].push(cell.value);
    }
    values.into_iter().map(OutputValues::new).collect()
}

/// What striking values suggest beside a Gaussian, for outputs without a requested likelihood.
pub(super) fn proposals(table: &Dataset, options: &FitOptions) -> Result<Vec<String>, FitError> {
    let n_outputs = table.observations().n_outputs();
    let (requests, bounds) = (options.likelihood_requests(n_outputs)?, options.bounds_of_outputs(n_outputs)?);
    let open =
        values_by_output(table).into_iter().enumerate().filter(|(output, _)| requests[*output].is_none());
    let proposal = |(output, values): (usize, OutputValues)| {
        let Candidates { reason, is_striking, .. } = values.candidates(bounds[output])?;
        let name = options.output_name(output);
        let command = "--likelihood auto (likelihood=\"auto\" in Python)";
        is_striking.then(|| format!("{name}: {reason}; {command} compares distributions of such values"))
    };
    Ok(open.filter_map(proposal).collect())
}

/// The likelihood of an output that is far off more often than a Gaussian.
pub(super) fn heavy_tailed() -> Option<LikelihoodChoice> {
    let own = StudentT::new(4.0).ok()?;
    Some(LikelihoodChoice { is_open: true, ..LikelihoodChoice::of(own) })
}

/// Below this probability a held-out value is far off: beyond 3.3 standard deviations of a Gaussian.
const FAR: f64 = 5e-4;

/// The probability below which more such values than expected are no accident.
const ACCIDENT: f64 = 1e-3;

/// How many held-out values are far off, if more are than by accident; `probabilities` are those of smaller values.
pub(super) fn far_off(probabilities: &[f64]) -> Option<usize> {
    let count = probabilities.iter().filter(|below| **below < FAR || **below > 1.0 - FAR).count();
    let expected = 2.0 * FAR * probabilities.len() as f64;
    // The upper tail of a Poisson distribution.
    let mut term = (-expected).exp();
    let mut fewer = 0.0;
    for number in 0..count {
        fewer += term;
        term *= expected / (number + 1) as f64;
    }
    (1.0 - fewer < ACCIDENT).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: impl Iterator<Item = f64>, bounds: Option<Bounds>) -> Vec<String> {
        let found = OutputValues::new(values.collect()).candidates(bounds);
        found.map_or(vec![], |found| found.choices.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn values_suggest_likelihoods() {
        let wave = |at: usize| (at as f64 / 3.0).sin();
        let all = || 0..60_usize;
        assert_eq!(words(all().map(wave), None), [""; 0]);
        assert_eq!(words(all().map(|at| 20.0 + wave(at)), None), [""; 0]);
        assert_eq!(words(all().map(|at| (at % 2) as f64), None), ["bernoulli"]);
        // As many of each count as a Poisson distribution of mean 2 has: the largest is met twice.
        let counts = [(8, 0.0), (16, 1.0), (16, 2.0), (11, 3.0), (5, 4.0), (2, 5.0), (2, 6.0)];
        let counts = counts.iter().flat_map(|&(times, count)| std::iter::repeat_n(count, times));
        assert_eq!(words(counts, None), ["poisson", "negative-binomial"]);
        assert_eq!(words(all().map(|at| (3.0 + 3.0 * wave(at)).round()), None), ["censored(0:6)"]);
        assert_eq!(words(all().map(|at| wave(at).round()), None), [""; 0]);
        assert_eq!(words(all().map(|at| wave(at).max(0.0)), None), ["censored(0)", "zero-inflated"]);
        assert_eq!(words(all().map(|at| (110.0 + 30.0 * wave(at)).min(100.0)), None), ["censored(:100)"]);
        assert_eq!(words(all().map(|at| 0.6 + 0.3 * wave(at)), None), ["beta"]);
        assert_eq!(words(all().map(|at| (2.0 * wave(at)).exp()), None), ["gamma"]);
        assert_eq!(words(all().take(19).map(|at| (at % 2) as f64), None), [""; 0]);
        let percent = Bounds::new(0.0, 100.0).ok();
        assert_eq!(words(all().map(|at| (90.0 + 30.0 * wave(at)).min(100.0)), percent), ["censored(0:100)"]);
        // Counts have no upper bound.
        assert_eq!(words(all().map(|at| (30.0 + 30.0 * wave(at)).round()), percent), [""; 0]);
    }

    #[test]
    fn the_unit_is_the_smallest_difference() {
        assert_eq!(OutputValues::new(vec![3.0, 9.0, 5.0]).unit(), 1.0);
        assert_eq!(OutputValues::new(vec![0.5, 1.0, 0.25, 0.25]).unit(), 0.25);
        assert_eq!(OutputValues::new(vec![0.5, 0.5]).unit(), 1.0);
    }

    #[test]
    fn more_values_than_by_accident_are_far_off() {
        let uniform = |n: usize| (0..n).map(move |at| (at as f64 + 0.5) / n as f64);
        assert_eq!(far_off(&[]), None);
        assert_eq!(far_off(&uniform(5000).collect::<Vec<_>>()), None);
        let with_tails: Vec<f64> = uniform(500).chain([1e-9, 1e-6, 1.0, 1.0, 1e-7]).collect();
        assert_eq!(far_off(&with_tails), Some(5));
        assert_eq!(far_off(&with_tails[..502]), None);
    }
}
