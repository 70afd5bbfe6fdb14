//! Candidate periods from a periodogram of the observed cells.

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints};
use catena::index::{OutputIndex, RowIndex};

/// The most periods.
const MOST_PERIODS: usize = 2;
/// The most rows; the latest are used.
const MOST_ROWS: usize = 4096;
/// The fewest cycles within the data.
const LEAST_CYCLES: f64 = 4.0;
/// The smallest ratio of a peak to the median around it; noise reaches it once in a million frequencies.
const LEAST_CONTRAST: f64 = 14.0;
/// The smallest fraction of the variance in a peak.
const LEAST_SHARE: f64 = 0.01;

/// The fewest cells of a series.
const FEWEST_CELLS: usize = 32;

/// A peak of the periodogram.
#[derive(Clone, Copy, Debug)]
struct Peak {
    frequency: f64,
    share: f64,
}

/// Clear periods of a scaled table, strongest first; of the outputs until `go_on` breaks. The power of several groups is averaged.
pub(crate) fn strong_periods(table: &Dataset, go_on: &dyn Fn() -> ControlFlow<()>) -> Vec<f64> {
    let groups = times_by_group(table.inputs());
    let span_of = |times: &Vec<(f64, RowIndex)>| match (times.first(), times.last()) {
        (Some(first), Some(last)) => last.0 - first.0,
        _ => 0.0,
    };
    let span = groups.iter().map(span_of).fold(0.0, f64::max);
    let is_long = groups.iter().any(|times| times.len() >= FEWEST_CELLS);
    if !(is_long && span > 0.0 && span.is_finite()) {
        return vec![];
    }
    // Frequencies up to half a cycle per median gap, the unit; twice as fine as the span resolves.
    let step = 0.5 / span;
    let count = ((0.5 / step) as usize).min(2 * MOST_ROWS);
    let mut mean_power = vec![0.0; count];
    let mut n_series = 0.0_f64;
    for output in (0..table.observations().n_outputs()).map(OutputIndex::new) {
        if go_on().is_break() {
            break;
        }
        for times in &groups {
            let first = times.first().map_or(0.0, |first| first.0);
            let cell = |&(time, row): &(f64, RowIndex)| {
                let value = table.observations().row(row).find(|cell| cell.output == output)?.value;
                Some((time - first, value))
            };
            let cells: Vec<(f64, f64)> = times.iter().filter_map(cell).collect();
            // Removing drifts first: with regular gaps their power would appear at the period of the gaps.
            let cells = without_drift(&cells, span_of(times) / (2.0 * LEAST_CYCLES));
            if let Some(power) = powers(&cells, step, count) {
                mean_power.iter_mut().zip(power).for_each(|(sum, power)| *sum += power);
                n_series += 1.0;
            }
        }
    }
    mean_power.iter_mut().for_each(|power| *power /= n_series.max(1.0));
    let mut peaks = peaks(&mean_power, step, LEAST_CYCLES / span);
    // Harmonics are part of the season of their fundamental.
    let all = peaks.clone();
    let is_multiple = |peak: &Peak, of: &Peak| {
        (2..=4).any(|order| {
            (peak.frequency - f64::from(order) * of.frequency).abs() < 1.5 * f64::from(order) * step
        })
    };
    peaks.retain(|peak| !all.iter().any(|other| is_multiple(peak, other)));
    peaks.sort_by(|a, b| b.share.total_cmp(&a.share));
    peaks.iter().take(MOST_PERIODS).map(|peak| rounded_period(peak.frequency, span)).collect()
}

/// Times and rows of each group, ascending: the latest rows of one table, or the groups with the most rows until these are many.
fn times_by_group(inputs: &InputPoints) -> Vec<Vec<(f64, RowIndex)>> {
    let mut times: Vec<(f64, RowIndex)> = inputs.rows().map(|row| (inputs.point(row)[0], row)).collect();
    times.sort_by(|a, b| inputs.group(a.1).cmp(&inputs.group(b.1)).then(a.0.total_cmp(&b.0)));
    let of_group = times.chunk_by(|a, b| inputs.group(a.1) == inputs.group(b.1));
    let latest = |times: &[(f64, RowIndex)]| times[times.len().saturating_sub(MOST_ROWS)..].to_vec();
    let mut groups: Vec<Vec<(f64, RowIndex)>> = of_group.map(latest).collect();
    groups.sort_by_key(|times| std::cmp::Reverse(times.len()));
    let mut n_rows = 0;
    groups.retain(|times| {
        n_rows += times.len();
        n_rows <= MOST_ROWS
    });
    groups
}

/// The cells minus the mean of the cells within `reach`.
fn without_drift(cells: &[(f64, f64)], reach: f64) -> Vec<(f64, f64)> {
    let (mut first, mut end, mut sum) = (0, 0, 0.0);
    let centered = |&(time, value): &(f64, f64)| {
        while end < cells.len() && cells[end].0 <= time + reach {
            sum += cells[end].1;
            end += 1;
        }
        while cells[first].0 < time - reach {
            sum -= cells[first].1;
            first += 1;
        }
        (time, value - sum / (end - first) as f64)
    };
    cells.iter().map(centered).collect()
}

/// The fraction of the variance at each multiple of a frequency step; `None` for too few cells or a constant series.
fn powers(cells: &[(f64, f64)], step: f64, count: usize) -> Option<Vec<f64>> {
    let number = cells.len() as f64;
    let mean = cells.iter().map(|(_, value)| value).sum::<f64>() / number;
    let variance = cells.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>() / number;
    if cells.len() < FEWEST_CELLS || variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let (mut real, mut imaginary) = (vec![0.0; count], vec![0.0; count]);
    for (time, value) in cells {
        // Each frequency follows from the one before by a rotation.
        let (sine, cosine) = (std::f64::consts::TAU * step * time).sin_cos();
        let (mut x, mut y) = (value - mean, 0.0);
        for at in 0..count {
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine);
            real[at] += x;
            imaginary[at] += y;
        }
    }
    let share = |(a, b): (&f64, &f64)| 2.0 * (a * a + b * b) / (number * number * variance);
    Some(real.iter().zip(&imaginary).map(share).collect())
}

/// Frequencies above `lowest` with a large local maximum far above its surroundings.
fn peaks(power: &[f64], step: f64, lowest: f64) -> Vec<Peak> {
    let mut found = vec![];
    for at in 2..power.len().saturating_sub(2) {
        let frequency = step * (at + 1) as f64;
        let is_top = (at - 2..=at + 2).all(|near| power[near] <= power[at]);
        if frequency < lowest || power[at] < LEAST_SHARE || !is_top {
            continue;
        }
        let (low, high) = ((at as f64 / 1.5) as usize, ((at as f64 * 1.5) as usize).min(power.len() - 1));
        let mut around: Vec<f64> =
            (low..=high).filter(|other| other.abs_diff(at) > 3).map(|other| power[other]).collect();
        if around.len() < 8 {
            continue;
        }
        let middle = around.len() / 2;
        let background = *around.select_nth_unstable_by(middle, f64::total_cmp).1;
        if power[at] > LEAST_CONTRAST * background {
            // The vertex of the parabola through the logarithms of three neighbors.
            let [left, top, right] = [at - 1, at, at + 1].map(|near| power[near].max(f64::MIN_POSITIVE).ln());
            let bend = left - 2.0 * top + right;
            let shift = if bend < 0.0 { (0.5 * (left - right) / bend).clamp(-0.5, 0.5) } else { 0.0 };
            found.push(Peak { frequency: frequency + shift * step, share: power[at] });
        }
    }
    found
}

/// The period, rounded to a whole number of median gaps if the span cannot resolve the difference.
fn rounded_period(frequency: f64, span: f64) -> f64 {
    let period = frequency.recip();
    let blur = 0.25 * period * period / span;
    if (period - period.round()).abs() <= blur { period.round() } else { period }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::Observations;

    fn strong_periods(table: &Dataset) -> Vec<f64> {
        super::strong_periods(table, &|| ControlFlow::Continue(()))
    }

    /// Pseudo-random numbers between −1 and 1 without pattern.
    fn noise(at: usize) -> f64 {
        let mut bits = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn table(n_rows: usize, value: impl Fn(usize) -> f64) -> Dataset {
        let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
        let hole = |row: usize| if row % 7 == 3 { f64::NAN } else { value(row) };
        let values: Vec<f64> = (0..n_rows).map(hole).collect();
        Dataset::new(inputs, Observations::from_dense(n_rows, 1, &values).unwrap()).unwrap()
    }

    /// A walk of unit steps.
    fn walk(n_rows: usize) -> Vec<f64> {
        let steps = (0..n_rows).map(|row| noise(row + 77));
        steps
            .scan(0.0, |level, step| {
                *level += step;
                Some(*level)
            })
            .collect()
    }

    #[test]
    fn a_daily_and_a_weekly_cycle_are_found() {
        let walk = walk(2000);
        let wave = |row: usize, period: f64| (std::f64::consts::TAU * row as f64 / period).sin();
        let found = strong_periods(&table(2000, |row| {
            0.1 * walk[row]
                + 3.0 * wave(row, 24.0)
                + 1.5 * wave(row, 12.0)
                + 2.5 * wave(row, 168.0)
                + noise(row)
        }));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0] - 24.0).abs() < 0.05 && (found[1] - 168.0).abs() < 3.0, "{found:?}");
    }

    #[test]
    fn noise_and_walks_have_no_period() {
        let walk = walk(3000);
        assert_eq!(strong_periods(&table(3000, |row| noise(row + 5))), [0.0; 0]);
        assert_eq!(strong_periods(&table(3000, |row| walk[row])), [0.0; 0]);
        assert_eq!(strong_periods(&table(20, noise)), [0.0; 0]);
        assert_eq!(strong_periods(&table(100, |_| 1.0)), [0.0; 0]);
    }
}
