//! A simple rule that forecasts each output from its own past, as a member of a pool.

use std::collections::BTreeMap;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use catena_methods::simple_rules::{AheadRule, LearnedRule, RuleOrigin, Series};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::power::PowerTransform;
use crate::prepare::Predictive;

/// A rule for every output. It predicts after the last value of an output only.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleAhead {
    /// The rule.
    pub rule: AheadRule,
    /// The transform of each output.
    pub powers: Vec<PowerTransform>,
}

/// A rule with the series of a table.
#[derive(Debug)]
pub(crate) struct FittedRule {
    powers: Vec<PowerTransform>,
    /// The transformed values of each output.
    series: Vec<Series>,
    /// What the rule learned from all values of each output, and the origin after them.
    learned: Vec<(LearnedRule, RuleOrigin)>,
}

/// The transformed values of each output of a table, by time.
pub(crate) fn series_of(table: &Dataset, powers: &[PowerTransform]) -> Vec<Series> {
    let mut cells: Vec<Vec<(f64, f64)>> = vec![vec![]; powers.len()];
    for (row, cell) in table.observations().cells() {
        let output = cell.output.get();
        cells[output].push((table.inputs().point(row)[0], powers[output].forward(cell.value)));
    }
    let series = |mut cells: Vec<(f64, f64)>| {
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (times, values) = cells.into_iter().unzip();
        Series::new(times, values)
    };
    cells.into_iter().map(series).collect()
}

/// Mean and standard deviation of a forecast; that of a rule without errors so far is the size of the series over its number of values.
pub(crate) fn center_of(
    rule: &LearnedRule,
    series: &Series,
    (origin, n_known): (&RuleOrigin, usize),
    target: f64,
) -> (f64, f64) {
    let (mean, variance) = rule.forecast(series, origin, target).unwrap_or((0.0, 1.0));
    if variance > 0.0 {
        return (mean, variance.sqrt());
    }
    // Values that never change, or repeat exactly.
    let size = mean.abs().max(AheadRule::Mean.pace(series, n_known).sqrt());
    (mean, if size > 0.0 { size } else { 1.0 } / n_known.max(1) as f64)
}

impl RuleAhead {
    /// The rule on a table.
    pub(crate) fn fitted(&self, table: &Dataset) -> FittedRule {
        let series = series_of(table, &self.powers);
        let learned = |own: &Series| {
            let rule = self.rule.learn(own, own.len());
            let origin = rule.origin(own, own.len());
            (rule, origin)
        };
        let learned = series.iter().map(learned).collect();
        FittedRule { powers: self.powers.clone(), series, learned }
    }
}

impl FittedRule {
    /// Mean and standard deviation of an output at a time.
    fn center(&self, output: usize, time: f64) -> (f64, f64) {
        let (series, (rule, origin)) = (&self.series[output], &self.learned[output]);
        center_of(rule, series, (origin, series.len()), time)
    }

    /// Predictive distributions of observations at inputs.
    pub(crate) fn predict(&self, at: &InputPoints) -> Predictive {
        let n_outputs = self.series.len();
        let cells = at.rows().flat_map(|row| (0..n_outputs).map(move |output| (row, output)));
        let (centers, deviations) = cells.map(|(row, output)| self.center(output, at.point(row)[0])).unzip();
        Predictive::new(centers, deviations, self.powers.clone())
    }

    /// Joint draws of the transformed outputs at inputs, each row-major, one after the other. Their marginals are those of
    /// [`FittedRule::predict`]; errors of one output add up as in the walk that its rule supposes.
    pub(crate) fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Vec<f64> {
        let n_outputs = self.series.len();
        let mut order: Vec<RowIndex> = at.rows().collect();
        order.sort_by(|&a, &b| at.point(a)[0].total_cmp(&at.point(b)[0]));
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut draws = vec![0.0; n_draws * at.n_rows() * n_outputs];
        for draw in draws.chunks_exact_mut((at.n_rows() * n_outputs).max(1)) {
            for output in 0..n_outputs {
                if let (LearnedRule::Smoothing(smoothing), origin) = &self.learned[output]
                    && let Some(state) = origin.state()
                {
                    // One error for each step; rows between steps have that of the next one.
                    let n_steps = order.last().map_or(0, |&row| smoothing.n_steps(state, at.point(row)[0]));
                    let errors: Vec<f64> =
                        (0..n_steps).map(|_| StandardNormal.sample(&mut generator)).collect();
                    let path = smoothing.path(&errors);
                    for &row in &order {
                        let time = at.point(row)[0];
                        let error = path[smoothing.n_steps(state, time) - 1];
                        draw[row.get() * n_outputs + output] = self.center(output, time).0 + error;
                    }
                    continue;
                }
                // The walk of each phase: its variance and its value so far.
                let mut walks: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
                for &row in &order {
                    let time = at.point(row)[0];
                    let (mean, deviation) = self.center(output, time);
                    let fresh: f64 = StandardNormal.sample(&mut generator);
                    let variance = deviation * deviation;
                    let error = match self.phase(output, time) {
                        None => deviation * fresh,
                        Some(phase) => {
                            let (before, value) = walks.get(&phase).copied().unwrap_or((0.0, 0.0));
                            let value = value + (variance - before).max(0.0).sqrt() * fresh;
                            walks.insert(phase, (variance, value));
                            value
                        }
                    };
                    draw[row.get() * n_outputs + output] = mean + error;
                }
            }
        }
        draws
    }

    /// The walk to which an error belongs: one for each phase of a season; `None` for errors that are independent.
    fn phase(&self, output: usize, time: f64) -> Option<i64> {
        let LearnedRule::Walk { rule, .. } = self.learned[output].0 else { return None };
        match rule {
            AheadRule::Mean => None,
            AheadRule::LastValue | AheadRule::Drift | AheadRule::Smoothing { .. } => Some(0),
            AheadRule::LastSeason { period } => {
                let series = &self.series[output];
                let ahead = time - series.last_time()?;
                let within = ahead - (rule.seasons(ahead) - 1) as f64 * period;
                // A thousandth of a period tells phases apart.
                Some((1e3 * within / period).round() as i64)
            }
        }
    }
}
