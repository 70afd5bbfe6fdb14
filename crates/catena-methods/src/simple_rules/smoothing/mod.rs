//! Exponential smoothing of one series on a regular grid: a level, a damped trend and an additive season.
//!
//! The model of single errors: with the error e of the forecast of the next value, the level, the slope and the season of the phase
//! move by α e, β e and γ e. The first state is found by smoothing backward from the end; the gains maximize the likelihood of the
//! errors. The trend is kept if it improves the corrected Akaike criterion.

mod gains;

use self::gains::Gains;
use super::ahead::Series;

/// Steps between values, for each value, at most: a sparser series has no grid.
const MOST_STEPS_PER_VALUE: usize = 3;
/// Times this close to the grid, in steps, are on it.
const BLUR: f64 = 0.1;
/// The latest steps from which gains are learned, at most.
const MOST_LEARNED: usize = 2000;
/// The fewest values beside two seasons.
const FEWEST_VALUES: usize = 8;
/// The strength of the prior on the coordinates of gains.
const PRIOR: f64 = 0.05;
/// The first and the last step of the search for gains, and its most evaluations.
const SEARCH: (f64, f64) = (1.5, 0.04);
const MOST_EVALUATIONS: usize = 250;

/// Exponential smoothing with learned gains.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothing {
    grid: Grid,
    gains: Gains,
    first: State,
    /// The variance of the error of one step.
    variance: f64,
}

/// Equal steps, and those in a season (1 without).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    start: f64,
    step: f64,
    period: usize,
}

/// The state before a step.
#[derive(Clone, Debug, PartialEq)]
struct State {
    level: f64,
    slope: f64,
    /// By phase.
    season: Vec<f64>,
}

/// The state after the last value before an origin, from which all later times are forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothedState {
    state: State,
    /// The step of the last value.
    last: usize,
}

impl Grid {
    /// The grid of the first values; `None` if they lie on none, or if a period is no number of steps.
    fn of(series: &Series, n_known: usize, period: Option<f64>) -> Option<Self> {
        let times = series.times(n_known);
        let (start, end) = (*times.first()?, *times.last()?);
        let step = series.median_gap();
        let n_steps = (end - start) / step;
        let is_dense = n_steps.is_finite() && n_steps <= (MOST_STEPS_PER_VALUE * n_known) as f64;
        let is_on = |time: &f64| {
            let place = (time - start) / step;
            (place - place.round()).abs() <= BLUR
        };
        let steps = period.map_or(1.0, |period| period / step);
        // Phases must not move by half a step over the series.
        let drift = (steps - steps.round()).abs() * n_steps / steps;
        let is_period = period.is_none() || (steps.round() >= 2.0 && drift <= 0.5);
        let found = Self { start, step, period: steps.round().max(1.0) as usize };
        let fewest = FEWEST_VALUES + if period.is_some() { 2 * found.period } else { 0 };
        (is_dense && is_period && n_known >= fewest && times.iter().all(is_on)).then_some(found)
    }

    fn place(&self, time: f64) -> usize {
        ((time - self.start) / self.step).round().max(0.0) as usize
    }
}

impl State {
    /// A rough state at the first values: their mean and their season.
    fn rough(values: &[f64], period: usize) -> Self {
        let mean = |values: &[f64]| {
            let known = values.iter().filter(|value| value.is_finite());
            let (sum, count) = known.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
            if count > 0.0 { sum / count } else { f64::NAN }
        };
        let level = mean(&values[..values.len().min(period.max(4))]);
        let level = if level.is_finite() { level } else { mean(values) };
        if period == 1 {
            return Self { level, slope: 0.0, season: vec![0.0] };
        }
        let seasons: Vec<&[f64]> = values.chunks_exact(period).take(3).collect();
        let phase = |phase: usize| {
            let deviations: Vec<f64> = seasons.iter().map(|season| season[phase] - mean(season)).collect();
            let own = mean(&deviations);
            if own.is_finite() { own } else { 0.0 }
        };
        Self { level, slope: 0.0, season: (0..period).map(phase).collect() }
    }

    /// Passes over values at steps from a place on, missing ones being NaN; errors of values that follow another one are given out.
    fn pass<'v>(
        &mut self,
        gains: &Gains,
        values: impl Iterator<Item = (usize, &'v f64)>,
        mut error_of: impl FnMut(f64),
    ) {
        let period = self.season.len();
        let mut follows = false;
        for (place, value) in values {
            let phase = place % period;
            let slope = gains.damping * self.slope;
            let forecast = self.level + slope + self.season[phase];
            let is_known = value.is_finite();
            let error = if is_known { value - forecast } else { 0.0 };
            self.level += slope + gains.level * error;
            self.slope = slope + gains.slope * error;
            self.season[phase] += gains.season * error;
            if is_known && follows {
                error_of(error);
            }
            follows = is_known;
        }
    }

    /// The first state for gains: a rough one, smoothed to the end and back.
    fn first(gains: &Gains, values: &[f64], period: usize) -> Self {
        let mut state = Self::rough(values, period);
        state.pass(gains, values.iter().enumerate(), |_| {});
        state.slope = -state.slope;
        state.pass(gains, values.iter().enumerate().rev(), |_| {});
        state.slope = -state.slope;
        state
    }
}

impl Smoothing {
    /// Smoothing learned from the first values; `None` if they lie on no grid, are too few, or never change.
    pub fn learn(series: &Series, n_known: usize, period: Option<f64>) -> Option<Self> {
        let grid = Grid::of(series, n_known, period)?;
        let values = on_grid(&grid, series, n_known);
        // Whole seasons are left out, so that phases stay.
        let skipped = values.len().saturating_sub(MOST_LEARNED) / grid.period * grid.period;
        let recent = &values[skipped..];
        let is_seasonal = period.is_some();
        let plain = searched(recent, grid.period, is_seasonal, vec![0.0, -2.0]);
        let with_trend = searched(recent, grid.period, is_seasonal, vec![0.0, -2.0, -2.0, 1.0]);
        let (gains, variance) = if with_trend.1.criterion < plain.1.criterion { with_trend } else { plain };
        let first = State::first(&gains, &values, grid.period);
        let variance = variance.variance;
        (variance > 0.0 && variance.is_finite()).then_some(Self { grid, gains, first, variance })
    }

    /// The state after the first values, which have to be on the grid.
    pub fn state(&self, series: &Series, n_known: usize) -> SmoothedState {
        let values = on_grid(&self.grid, series, n_known);
        let mut state = self.first.clone();
        state.pass(&self.gains, values.iter().enumerate(), |_| {});
        SmoothedState { state, last: values.len().saturating_sub(1) }
    }

    /// Mean and variance of an observation at a later time; between steps by linear interpolation.
    pub fn forecast(&self, from: &SmoothedState, time: f64) -> (f64, f64) {
        let ahead = ((time - self.grid.start) / self.grid.step - from.last as f64).max(0.0);
        let near = ahead.round();
        if (ahead - near).abs() <= BLUR {
            return self.steps_ahead(from, (near as usize).max(1));
        }
        let share = ahead.fract();
        let before = (ahead as usize).max(1);
        let (low, high) = (self.steps_ahead(from, before), self.steps_ahead(from, ahead as usize + 1));
        ((1.0 - share) * low.0 + share * high.0, (1.0 - share) * low.1 + share * high.1)
    }

    fn steps_ahead(&self, from: &SmoothedState, ahead: usize) -> (f64, f64) {
        let SmoothedState { state, last } = from;
        let season = state.season[(last + ahead) % self.grid.period];
        let mean = state.level + state.slope * self.gains.damped(ahead) + season;
        (mean, self.variance * (1.0 + self.gains.spread(ahead - 1, self.grid.period)))
    }

    /// The errors of the forecasts of the next steps if the errors of single steps, in standard deviations, are these.
    pub fn path(&self, errors: &[f64]) -> Vec<f64> {
        let mut state = State { level: 0.0, slope: 0.0, season: vec![0.0; self.grid.period] };
        let deviation = self.variance.sqrt();
        let step = |(at, error): (usize, &f64)| {
            let phase = at % self.grid.period;
            let value =
                state.level + self.gains.damping * state.slope + state.season[phase] + deviation * error;
            state.pass(&self.gains, std::iter::once((at, &value)), |_| {});
            value
        };
        errors.iter().enumerate().map(step).collect()
    }

    /// The number of steps from a state to a time, at least one.
    pub fn n_steps(&self, from: &SmoothedState, time: f64) -> usize {
        self.grid.place(time).saturating_sub(from.last).max(1)
    }
}

/// Values by step; NaN where there is none. Of several values at one step the last.
fn on_grid(grid: &Grid, series: &Series, n_known: usize) -> Vec<f64> {
    let mut values = vec![];
    for (time, value) in series.times(n_known).iter().zip(series.values(n_known)) {
        let place = grid.place(*time);
        if place >= values.len() {
            values.resize(place + 1, f64::NAN);
        }
        values[place] = *value;
    }
    values
}

/// How well gains explain values.
struct Fitness {
    /// What the search minimizes: minus twice the log likelihood and the log prior.
    cost: f64,
    /// The corrected Akaike criterion.
    criterion: f64,
    variance: f64,
}

fn fitness(coordinates: &[f64], values: &[f64], period: usize, is_seasonal: bool) -> Fitness {
    let gains = Gains::at(coordinates, is_seasonal);
    let mut state = State::first(&gains, values, period);
    let (mut squares, mut count) = (0.0, 0.0_f64);
    state.pass(&gains, values.iter().enumerate(), |error| {
        squares += error * error;
        count += 1.0;
    });
    let prior: f64 = coordinates.iter().map(|coordinate| PRIOR * coordinate * coordinate).sum();
    let fit = count * (squares / count).ln();
    // Level and variance; each gain; the slope; the phases of a season.
    let n_free =
        2.0 + if is_seasonal { period as f64 } else { 0.0 } + if coordinates.len() == 4 { 4.0 } else { 1.0 };
    let n_gains = coordinates.len() as f64;
    Fitness {
        cost: fit + prior,
        criterion: fit + prior + 2.0 * n_free * count / (count - n_free - 1.0).max(1.0),
        variance: squares / (count - n_gains).max(1.0),
    }
}

/// The gains of least cost by steps along one coordinate after the other, halved when none helps.
fn searched(values: &[f64], period: usize, is_seasonal: bool, start: Vec<f64>) -> (Gains, Fitness) {
    let mut best = fitness(&start, values, period, is_seasonal);
    let (mut place, mut step, mut n_evaluations) = (start, SEARCH.0, 0);
    while step >= SEARCH.1 && n_evaluations < MOST_EVALUATIONS {
        let mut is_better = false;
        for at in (0..place.len()).filter(|&at| at != 1 || is_seasonal) {
            for move_by in [step, -step] {
                let mut other = place.clone();
                other[at] += move_by;
                let found = fitness(&other, values, period, is_seasonal);
                n_evaluations += 1;
                if found.cost < best.cost {
                    (best, place, is_better) = (found, other, true);
                    break;
                }
            }
        }
        if !is_better {
            step *= 0.5;
        }
    }
    (Gains::at(&place, is_seasonal), best)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    const GAINS: Gains = Gains { level: 0.4, slope: 0.1, season: 0.3, damping: 0.9 };

    fn series(values: &[f64]) -> Series {
        let known = || values.iter().enumerate().filter(|(_, value)| value.is_finite());
        Series::new(
            known().map(|(at, _)| 5.0 + 2.0 * at as f64).collect(),
            known().map(|(_, value)| *value).collect(),
        )
    }

    /// A season of four, a slope and numbers without order.
    fn value(at: usize, noise: f64) -> f64 {
        let mixed = (at * 7919 + 13) % 101;
        10.0 + 0.5 * at as f64 + [1.0, -2.0, 4.0, -3.0][at % 4] + noise * (mixed as f64 / 50.0 - 1.0)
    }

    #[test]
    fn a_response_is_the_change_of_forecasts_when_the_last_value_moves() {
        let values: Vec<f64> = (0..40).map(|at| value(at, 1.0)).collect();
        let mut moved = values.clone();
        moved[39] += 1.0;
        let smoothing = |first: State| Smoothing {
            grid: Grid { start: 5.0, step: 2.0, period: 4 },
            gains: GAINS,
            first,
            variance: 1.0,
        };
        let smoothing = smoothing(State::rough(&values, 4));
        let (before, after) = (smoothing.state(&series(&values), 40), smoothing.state(&series(&moved), 40));
        for ahead in 1..20 {
            let time = 5.0 + 2.0 * (39 + ahead) as f64;
            let change = smoothing.forecast(&after, time).0 - smoothing.forecast(&before, time).0;
            assert!((change - GAINS.response(ahead, 4)).abs() < 1e-12, "{ahead}");
        }
        // A path with one error responds in the same way.
        let path = smoothing.path(&[1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(path[0], 1.0);
        for (ahead, found) in path.iter().enumerate().skip(1) {
            assert!((found - GAINS.response(ahead, 4)).abs() < 1e-12, "{ahead}");
        }
    }

    #[test]
    fn a_season_and_a_slope_without_noise_continue() {
        let values: Vec<f64> = (0..60).map(|at| value(at, 1e-3)).collect();
        let smoothing = Smoothing::learn(&series(&values), 60, Some(8.0)).unwrap();
        let state = smoothing.state(&series(&values), 60);
        for at in 60..68 {
            let (mean, variance) = smoothing.forecast(&state, 5.0 + 2.0 * at as f64);
            assert!((mean - value(at, 0.0)).abs() < 0.4, "{at}: {mean}, {}", value(at, 0.0));
            assert!(variance > 0.0);
        }
    }

    #[test]
    fn learned_gains_are_at_a_minimum_of_the_cost() {
        let values: Vec<f64> = (0..80).map(|at| value(at, 3.0)).collect();
        let (_, best) = searched(&values, 4, true, vec![0.0, -2.0, -2.0, 1.0]);
        for start in [vec![2.0, -1.0, -1.0, 0.0], vec![-2.0, -3.0, -3.0, 2.0]] {
            assert!(best.cost <= searched(&values, 4, true, start).1.cost + 0.5);
        }
        let flat = fitness(&[0.0, -2.0, -2.0, 1.0], &values, 4, true);
        assert!(best.cost < flat.cost);
    }

    #[test]
    fn missing_values_are_passed_over_and_series_off_a_grid_are_refused() {
        let mut values: Vec<f64> = (0..60).map(|at| value(at, 0.5)).collect();
        for at in [7, 21, 22, 40] {
            values[at] = f64::NAN;
        }
        let gappy = series(&values);
        let smoothing = Smoothing::learn(&gappy, gappy.len(), Some(8.0)).unwrap();
        let (mean, _) = smoothing.forecast(&smoothing.state(&gappy, gappy.len()), 5.0 + 2.0 * 62.0);
        assert!((mean - value(62, 0.0)).abs() < 2.0);
        let uneven = Series::new(
            (0..60).map(|at| (at as f64).powf(1.3)).collect(),
            (0..60).map(|at| value(at, 1.0)).collect(),
        );
        assert!(Smoothing::learn(&uneven, 60, None).is_none());
        let constant = series(&[3.0; 40]);
        assert!(Smoothing::learn(&constant, 40, None).is_none());
        // A period of a step and a half; too few seasons.
        assert!(Smoothing::learn(&series(&values), 50, Some(3.0)).is_none());
        assert!(Smoothing::learn(&series(&values), 14, Some(8.0)).is_none());
    }
}
