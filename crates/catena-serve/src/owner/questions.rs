//! Questions to the posterior, in the terms of the table.

use catena::index::OutputIndex;
use catena_fit::{Expected, LiveFitError, Predictive, Quantity};

use super::service::Service;
use crate::readings::Row;

/// Most rows of a range.
pub(crate) const MOST_ROWS_OF_RANGE: usize = 10_000;

/// A prediction of all outputs at one input.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) inputs: Vec<f64>,
    pub(crate) predictive: Predictive,
}

/// A window of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Rows with observed values: those of the table, or the extremes of equal bins if they are too many.
    pub(crate) points: Vec<Row>,
    /// Whether the rows are extremes.
    pub(crate) is_binned: bool,
    /// Inputs at which mean and bands are drawn.
    pub(crate) places: Vec<f64>,
    /// First and last input, and the step after it.
    pub(crate) ends: Option<[f64; 2]>,
    pub(crate) version: u64,
}

/// Where forecasts are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    pub(crate) count: usize,
    /// The step; that of the last rows if it is `None`.
    pub(crate) step: Option<f64>,
}

impl Service {
    /// Predictions at some inputs.
    pub(crate) fn predict(
        &mut self,
        places: &[Vec<f64>],
        quantity: Quantity,
    ) -> Result<Vec<Answer>, LiveFitError> {
        let answer = |inputs: &Vec<f64>| {
            let predictive = self.live.marginals_at(inputs, quantity)?;
            Ok(Answer { inputs: inputs.clone(), predictive })
        };
        places.iter().map(answer).collect()
    }

    /// What all other observed values say of these values.
    pub(crate) fn expected(
        &mut self,
        inputs: &[f64],
        cells: &[(usize, f64)],
    ) -> Result<Expected, LiveFitError> {
        let cells: Vec<_> = cells.iter().map(|(output, value)| (OutputIndex::new(*output), *value)).collect();
        self.live.expected_at(inputs, &cells)
    }

    /// The places after the last row.
    pub(crate) fn places_ahead(&self, ahead: Ahead) -> Option<Vec<Vec<f64>>> {
        let [_, last] = self.readings.ends()?;
        let step = ahead.step.or_else(|| self.readings.step())?;
        Some((1..=ahead.count).map(|number| vec![last + number as f64 * step]).collect())
    }

    /// The rows between two inputs; `None` if they are too many.
    pub(crate) fn rows_between(&self, from: f64, to: f64) -> Option<Vec<Row>> {
        (self.readings.count(from, to) <= MOST_ROWS_OF_RANGE).then(|| self.readings.rows(from, to))
    }

    /// What a chart of a window shows, with at most `n_places` places along it. Without ends it is the whole table and a tenth after it.
    pub(crate) fn window(&self, from: Option<f64>, to: Option<f64>, n_places: usize) -> Option<Window> {
        let [first, last] = self.readings.ends()?;
        let step = self.readings.step().unwrap_or(1.0);
        let ahead = (0.1 * (last - first)).min(48.0 * step).max(step);
        let (from, to) = (from.unwrap_or(first), to.unwrap_or(last + ahead));
        if to.partial_cmp(&from) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        // Bands are smoother than pixels.
        let n_grid = (n_places / 3).max(10);
        let is_binned = self.readings.count(from, to) > 2 * n_places;
        let points =
            if is_binned { self.readings.extremes(from, to, n_places) } else { self.readings.rows(from, to) };
        let grid = |n: usize| (0..n).map(move |at| from + (to - from) * at as f64 / (n - 1).max(1) as f64);
        let mut places: Vec<f64> = grid(n_grid).collect();
        if !is_binned && points.len() <= n_grid {
            // Rows are drawn as they are, and between them every place that a gap or a forecast needs.
            places.extend(points.iter().map(|row| row.input));
            places.sort_by(f64::total_cmp);
            places.dedup();
        }
        let (ends, version) = (self.readings.ends(), self.version);
        Some(Window { from, to, points, is_binned, places, ends, version })
    }
}
