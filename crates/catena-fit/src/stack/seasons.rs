//! The periods of the seasonal members of a pool.

use std::ops::ControlFlow;

use catena::data::Dataset;
use catena_methods::simple_rules::SeasonalMeans;

use crate::error::MethodError;
use crate::families::time::strong_periods;

/// The largest multiple of a period that is tried as a second period: fourteen half days are a week.
const MOST_CYCLES: usize = 14;
/// The fewest cycles of the second period within the table.
const LEAST_REPETITIONS: f64 = 4.0;
/// The correlation of deviations one multiple apart must exceed the mean of its neighbors by this much.
const LEAST_CONTRAST: f64 = 0.08;
/// The smallest multiple with this fraction of the largest contrast is the period.
const FUNDAMENTAL: f64 = 0.7;
/// The fewest pairs of cells behind a correlation.
const LEAST_PAIRS: f64 = 60.0;

/// The periods of a scaled table: the strongest of its periodogram, and the multiple of it with which the deviations from the
/// first season repeat (a week of days). The search ends when `go_on` breaks.
pub(super) fn seasons(table: &Dataset, go_on: &dyn Fn() -> ControlFlow<()>) -> Result<Vec<f64>, MethodError> {
    let Some(&first) = strong_periods(table, go_on).first() else { return Ok(vec![]) };
    let multiple = repetition(table, first)?.map(|multiple| multiple as f64 * first);
    Ok(std::iter::once(first).chain(multiple).collect())
}

/// The multiple of a period after which the deviations from its profile are most alike, compared with the multiples before and
/// after it.
fn repetition(table: &Dataset, period: f64) -> Result<Option<usize>, MethodError> {
    let profile = SeasonalMeans { periods: vec![period], exclusion: None }.predict(table)?;
    let series = deviations(table, &profile.means);
    let ends = series.iter().flatten().map(|cell| cell.0);
    let span = ends.clone().fold(f64::NEG_INFINITY, f64::max) - ends.fold(f64::INFINITY, f64::min);
    let most = ((span / LEAST_REPETITIONS / period) as usize).min(MOST_CYCLES);
    if most < 2 {
        return Ok(None);
    }
    let correlations: Vec<f64> =
        (0..=most + 1).map(|cycles| correlation(&series, cycles as f64 * period)).collect();
    let contrast =
        |cycles: usize| correlations[cycles] - 0.5 * (correlations[cycles - 1] + correlations[cycles + 1]);
    // The neighbor before the second cycle is the first; the correlation at 0 is not used.
    let contrasts: Vec<(usize, f64)> = (2..=most).map(|cycles| (cycles, contrast(cycles))).collect();
    let best = contrasts.iter().map(|one| one.1).filter(|contrast| !contrast.is_nan()).fold(0.0, f64::max);
    // Every multiple of a week is as good as a week: the smallest is the period.
    let is_period = |one: &&(usize, f64)| one.1 > LEAST_CONTRAST.max(FUNDAMENTAL * best);
    Ok(contrasts.iter().find(is_period).map(|one| one.0))
}

/// The deviations of each output from some means, by place.
fn deviations(table: &Dataset, means: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let n_outputs = table.observations().n_outputs();
    let mut series: Vec<Vec<(f64, f64)>> = vec![vec![]; n_outputs];
    for (row, cell) in table.observations().cells() {
        let (place, output) = (table.inputs().point(row)[0], cell.output.get());
        series[output].push((place, cell.value - means[row.get() * n_outputs + output]));
    }
    series.iter_mut().for_each(|series| series.sort_by(|a, b| a.0.total_cmp(&b.0)));
    series
}

/// The correlation of cells at this distance, over the pairs of all outputs. NaN if they are few.
fn correlation(series: &[Vec<(f64, f64)>], distance: f64) -> f64 {
    let (mut products, mut squares, mut n_pairs) = (0.0, 0.0, 0.0);
    for series in series {
        let mut at = 0;
        for &(place, value) in series {
            let target = place + distance;
            at += series[at..].iter().take_while(|cell| cell.0 < target - 0.5).count();
            if let Some(&(_, other)) = series.get(at).filter(|cell| cell.0 <= target + 0.5) {
                products += value * other;
                squares += 0.5 * (value * value + other * other);
                n_pairs += 1.0;
            }
        }
    }
    if n_pairs < LEAST_PAIRS { f64::NAN } else { products / squares }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seasons(table: &Dataset) -> Result<Vec<f64>, MethodError> {
        super::seasons(table, &|| ControlFlow::Continue(()))
    }
    use catena::data::{InputPoints, Observations};

    /// Pseudo-random numbers between −1 and 1 without pattern.
    fn noise(at: usize) -> f64 {
        let mut bits = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn table(value: impl Fn(usize) -> f64) -> Dataset {
        let inputs = InputPoints::from_column((0..1500).map(f64::from).collect()).unwrap();
        let hole = |row: usize| if row % 11 == 3 { f64::NAN } else { value(row) };
        let values: Vec<f64> = (0..1500).map(hole).collect();
        Dataset::new(inputs, Observations::from_dense(1500, 1, &values).unwrap()).unwrap()
    }

    fn day(row: usize) -> f64 {
        (std::f64::consts::TAU * row as f64 / 24.0).sin()
    }

    #[test]
    fn weekends_make_a_week_of_days() {
        // Lower days, not another frequency: the periodogram shows them at many frequencies.
        let amplitude = |row: usize| if row / 24 % 7 >= 5 { 0.3 } else { 1.0 };
        let found = seasons(&table(|row| amplitude(row) * day(row) + 0.2 * noise(row))).unwrap();
        assert_eq!(found, [24.0, 168.0]);
    }

    #[test]
    fn a_plain_daily_cycle_has_no_second_period() {
        let found = seasons(&table(|row| day(row) + 0.5 * noise(row))).unwrap();
        assert_eq!(found, [24.0]);
        assert_eq!(seasons(&table(noise)).unwrap(), [0.0; 0]);
    }
}
