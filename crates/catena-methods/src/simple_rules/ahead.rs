//! Simple rules that forecast one series: its last value, its last season, its drift, its mean, exponential smoothing.

use super::smoothing::{SmoothedState, Smoothing};

/// A rule that forecasts a series from its values up to an origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AheadRule {
    /// The last value: a random walk.
    LastValue,
    /// The last value and the mean change since the first one: a random walk with drift.
    Drift,
    /// The mean of all values.
    Mean,
    /// The value a whole number of periods before, the last one known: a random walk of each phase.
    LastSeason {
        /// The period, in units of the times.
        period: f64,
    },
    /// Exponential smoothing of level, damped trend and season: see [`Smoothing`].
    Smoothing {
        /// The period of the season, if there is one, in units of the times.
        period: Option<f64>,
    },
}

/// A rule with what it learned from the first values of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnedRule {
    /// A rule with the variance that its forecasts gain.
    Walk {
        /// The rule.
        rule: AheadRule,
        /// The [pace](AheadRule::pace).
        pace: f64,
    },
    /// Exponential smoothing.
    Smoothing(Smoothing),
}

/// What a learned rule knows at an origin: the number of values until then, and the state of a smoothing.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleOrigin {
    n_known: usize,
    state: Option<SmoothedState>,
}

impl LearnedRule {
    /// An origin after the first values.
    pub fn origin(&self, series: &Series, n_known: usize) -> RuleOrigin {
        let state = match self {
            Self::Smoothing(smoothing) if n_known > 0 => Some(smoothing.state(series, n_known)),
            _ => None,
        };
        RuleOrigin { n_known, state }
    }

    /// Mean and variance of the value at a time after an origin; `None` without a value.
    pub fn forecast(&self, series: &Series, origin: &RuleOrigin, target: f64) -> Option<(f64, f64)> {
        match (self, &origin.state) {
            (Self::Walk { rule, pace }, _) => rule.forecast(series, origin.n_known, *pace, target),
            (Self::Smoothing(smoothing), Some(state)) => Some(smoothing.forecast(state, target)),
            (Self::Smoothing(_), None) => None,
        }
    }
}

impl RuleOrigin {
    /// The state of a smoothing.
    pub fn state(&self) -> Option<&SmoothedState> {
        self.state.as_ref()
    }
}

/// One series: ascending times, and a value at each.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    times: Vec<f64>,
    values: Vec<f64>,
    /// Sums of the values and of their squares before each place.
    sums: Vec<(f64, f64)>,
    /// The median gap between times; NaN without one.
    gap: f64,
}

/// The seasons that are tried before the last one, where its value is missing.
const MOST_SEASONS: i64 = 4;
/// Times closer than this share of the median gap are equal.
const BLUR: f64 = 0.05;

impl Series {
    /// A series of values at ascending times.
    ///
    /// # Panics
    /// When the numbers of times and values differ.
    pub fn new(times: Vec<f64>, values: Vec<f64>) -> Self {
        assert_eq!(times.len(), values.len());
        let mut gaps: Vec<f64> =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect();
        gaps.sort_by(f64::total_cmp);
        let gap = gaps.get(gaps.len() / 2).copied().unwrap_or(f64::NAN);
        let mut sums = vec![(0.0, 0.0)];
        let first = values.first().copied().unwrap_or(0.0);
        for value in &values {
            let (sum, square) = sums[sums.len() - 1];
            // Relative to the first value, so that squares do not cancel.
            sums.push((sum + (value - first), square + (value - first).powi(2)));
        }
        Self { times, values, sums, gap }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The first times.
    pub(super) fn times(&self, n_known: usize) -> &[f64] {
        &self.times[..n_known]
    }

    /// The first values.
    pub(super) fn values(&self, n_known: usize) -> &[f64] {
        &self.values[..n_known]
    }

    /// The median gap between times; NaN without one.
    pub(super) fn median_gap(&self) -> f64 {
        self.gap
    }

    /// Times closer than this are equal.
    fn blur(&self) -> f64 {
        if self.gap.is_nan() { 0.0 } else { BLUR * self.gap }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The time of the last value.
    pub fn last_time(&self) -> Option<f64> {
        self.times.last().copied()
    }

    /// The number of values at or before a time.
    pub fn n_known(&self, time: f64) -> usize {
        self.times.partition_point(|&other| other <= time)
    }

    /// Mean and variance of the first values.
    fn moments(&self, n_known: usize) -> Option<(f64, f64)> {
        let (sum, square) = self.sums[n_known];
        let count = n_known as f64;
        let (first, mean) = (*self.values.first()?, sum / count);
        let variance = (square - sum * mean) / (count - 1.0).max(1.0);
        (n_known > 0).then_some((first + mean, variance.max(0.0)))
    }

    /// The value at a time among the first ones.
    fn at(&self, time: f64, n_known: usize) -> Option<f64> {
        let place = self.times[..n_known].partition_point(|&other| other < time - self.blur());
        (place < n_known && self.times[place] <= time + self.blur()).then(|| self.values[place])
    }
}

impl AheadRule {
    /// A description.
    pub fn name(self) -> &'static str {
        match self {
            Self::LastValue => "last value",
            Self::Drift => "drift",
            Self::Mean => "mean",
            Self::LastSeason { .. } => "last season",
            Self::Smoothing { .. } => "exponential smoothing",
        }
    }

    /// The rule with what it learns from the first values. A smoothing that cannot be learned is the last season, or the last value.
    pub fn learn(self, series: &Series, n_known: usize) -> LearnedRule {
        let walk = |rule: Self| LearnedRule::Walk { rule, pace: rule.pace(series, n_known) };
        let Self::Smoothing { period } = self else { return walk(self) };
        match (Smoothing::learn(series, n_known, period), period) {
            (Some(smoothing), _) => LearnedRule::Smoothing(smoothing),
            (None, Some(period)) => walk(Self::LastSeason { period }),
            (None, None) => walk(Self::LastValue),
        }
    }

    /// The variance that a forecast gains in one unit of time, or in one season, from the changes within the first values; for the
    /// mean the variance of a value. 0 for too few values.
    pub fn pace(self, series: &Series, n_known: usize) -> f64 {
        let (times, values) = (&series.times[..n_known], &series.values[..n_known]);
        let changes = || times.windows(2).zip(values.windows(2)).filter(|(times, _)| times[1] > times[0]);
        let slope = match self {
            Self::Drift => self.slope(series, n_known),
            _ => 0.0,
        };
        let (sum, count) = match self {
            Self::Mean => return series.moments(n_known).map_or(0.0, |(_, variance)| variance),
            Self::LastValue | Self::Drift | Self::Smoothing { .. } => {
                changes().fold((0.0, 0.0), |(sum, count), (times, values)| {
                    let gap = times[1] - times[0];
                    (sum + (values[1] - values[0] - slope * gap).powi(2) / gap, count + 1.0)
                })
            }
            Self::LastSeason { period } => {
                let change = |place: usize| {
                    Some(values[place] - series.at(times[place] - period, place)?)
                        .filter(|change| change.is_finite())
                };
                let squares: Vec<f64> =
                    (0..n_known).filter_map(change).map(|change| change * change).collect();
                (squares.iter().sum(), squares.len() as f64)
            }
        };
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// The mean change per unit of time.
    fn slope(self, series: &Series, n_known: usize) -> f64 {
        match n_known {
            0 | 1 => 0.0,
            _ => {
                let last = n_known - 1;
                let span = series.times[last] - series.times[0];
                if span > 0.0 { (series.values[last] - series.values[0]) / span } else { 0.0 }
            }
        }
    }

    /// Mean and variance of the value at a later time, from the first values; `None` without a value. A variance is that of an
    /// observation. Without a value a season before, the mean of all values.
    pub fn forecast(self, series: &Series, n_known: usize, pace: f64, target: f64) -> Option<(f64, f64)> {
        let last = n_known.checked_sub(1)?;
        let ahead = (target - series.times[last]).max(0.0);
        let of_mean = || {
            let (mean, variance) = series.moments(n_known)?;
            Some((mean, variance * (1.0 + 1.0 / n_known as f64)))
        };
        match self {
            Self::Mean => of_mean(),
            Self::LastValue | Self::Smoothing { .. } => Some((series.values[last], pace * ahead)),
            Self::Drift => {
                let span = series.times[last] - series.times[0];
                let of_slope = if span > 0.0 { ahead / span } else { 0.0 };
                let mean = series.values[last] + self.slope(series, n_known) * ahead;
                Some((mean, pace * ahead * (1.0 + of_slope)))
            }
            Self::LastSeason { period } => {
                let first = self.seasons(ahead);
                let known = (first..first + MOST_SEASONS)
                    .find_map(|number| Some((series.at(target - number as f64 * period, n_known)?, number)));
                match known {
                    Some((value, number)) => Some((value, pace * number as f64)),
                    None => of_mean(),
                }
            }
        }
    }

    /// The number of seasons from a target back to the last one that is known.
    pub fn seasons(self, ahead: f64) -> i64 {
        match self {
            Self::LastSeason { period } => ((ahead / period - 1e-6).ceil() as i64).max(1),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    /// Monthly values with a season of four and a slope.
    fn series() -> Series {
        let value = |at: usize| 10.0 + 0.5 * at as f64 + [1.0, -2.0, 4.0, 0.0][at % 4];
        Series::new((0..20).map(|at| 2.0 * at as f64).collect(), (0..20).map(value).collect())
    }

    #[test]
    fn rules_continue_what_their_names_say() {
        let (series, all) = (series(), 20);
        let forecast = |rule: AheadRule, target: f64| {
            rule.forecast(&series, all, rule.pace(&series, all), target).unwrap()
        };
        assert_eq!(forecast(AheadRule::LastValue, 44.0).0, 19.5);
        // From 11 to 19.5 in 38 units of time.
        assert!((forecast(AheadRule::Drift, 44.0).0 - (19.5 + 6.0 * 8.5 / 38.0)).abs() < 1e-12);
        let mean = (0..20).map(|at| series.values[at]).sum::<f64>() / 20.0;
        assert!((forecast(AheadRule::Mean, 44.0).0 - mean).abs() < 1e-12);
        let season = AheadRule::LastSeason { period: 8.0 };
        for (target, place, number) in [(40.0, 16, 1.0), (46.0, 19, 1.0), (48.0, 16, 2.0), (54.0, 19, 2.0)] {
            let (mean, variance) = forecast(season, target);
            // Every season is 2 above the one before.
            assert!((mean - series.values[place]).abs() < 1e-12 && (variance - 4.0 * number).abs() < 1e-12);
        }
    }

    #[test]
    fn variances_are_those_of_the_process_each_rule_supposes() {
        let (series, all) = (series(), 20);
        let changes: f64 =
            (1..20).map(|at| (series.values[at] - series.values[at - 1]).powi(2) / 2.0).sum::<f64>() / 19.0;
        let pace = AheadRule::LastValue.pace(&series, all);
        assert!((pace - changes).abs() < 1e-12);
        assert!(
            (AheadRule::LastValue.forecast(&series, all, pace, 44.0).unwrap().1 - 6.0 * changes).abs()
                < 1e-12
        );
        let values = &series.values;
        let mean = values.iter().sum::<f64>() / 20.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 19.0;
        assert!((AheadRule::Mean.pace(&series, all) - variance).abs() < 1e-12);
    }

    #[test]
    fn later_values_are_not_used_and_missing_seasons_are_passed_over() {
        let whole = series();
        let first = Series::new(whole.times[..12].to_vec(), whole.values[..12].to_vec());
        for rule in
            [AheadRule::LastValue, AheadRule::Drift, AheadRule::Mean, AheadRule::LastSeason { period: 8.0 }]
        {
            let (a, b) = (rule.pace(&whole, 12), rule.pace(&first, 12));
            assert_eq!(rule.forecast(&whole, 12, a, 30.0), rule.forecast(&first, 12, b, 30.0));
            assert_eq!(rule.forecast(&whole, 0, a, 30.0), None);
        }
        let keep = |at: &usize| *at != 16;
        let gappy = Series::new(
            (0..20).filter(keep).map(|at| whole.times[at]).collect(),
            (0..20).filter(keep).map(|at| whole.values[at]).collect(),
        );
        let (mean, variance) = AheadRule::LastSeason { period: 8.0 }.forecast(&gappy, 19, 4.0, 40.0).unwrap();
        assert_eq!((mean, variance), (whole.values[12], 8.0));
        // All times are even, so an odd one has no season before.
        let none = AheadRule::LastSeason { period: 8.0 }.forecast(&whole, 20, 4.0, 41.0).unwrap();
        assert_eq!(none.0, AheadRule::Mean.forecast(&whole, 20, 0.0, 41.0).unwrap().0);
    }
}
