//! The season of each output: a profile over the period, and the mean of the same phase in neighboring cycles.

use catena::data::Dataset;
use catena::index::RowIndex;
use rayon::prelude::*;

use super::RowPredictions;
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};

/// Harmonics of a profile, at most.
const HARMONICS: usize = 6;
/// The penalty on squared coefficients, per cell.
const PENALTY: f64 = 0.01;
/// Cycles on each side whose cells count.
const CYCLES: usize = 8;
/// Weights fall by a factor of e over this many cycles.
const DECAY: f64 = 3.0;
/// The weight of the profile among the cells of neighboring cycles, in cells of the nearest cycle.
const PROFILE_WEIGHT: f64 = 0.05;
/// Cells with a smaller lost fraction show what neighboring cycles explain.
const WELL_KNOWN: f64 = 0.2;
/// Cells farther apart than this are not interpolated, in units of the input.
const LONGEST_STEP: f64 = 2.0;
/// A cell this near counts as one of the same phase, in units of the input.
const SAME_PLACE: f64 = 0.5;

/// Every cell of an output from the season of that output along the first input. One unit of the input is a typical step
/// between rows.
///
/// The profile is a sum of harmonics of the periods, fitted by ridge regression. With [`Self::exclusion`], each output is then
/// regressed on its profile and on its weighted means at the same phase of the nearest cycles. Outputs are expected in
/// comparable units (mean 0, variance 1).
#[derive(Clone, Debug, PartialEq)]
pub struct SeasonalMeans {
    /// The periods, at most a few.
    pub periods: Vec<f64>,
    /// Cells nearer than this along the input do not count as cells of neighboring cycles: within a gap none is observed, and the
    /// errors at observed cells should be those within a gap. `None` for the profile alone.
    pub exclusion: Option<f64>,
}

/// The observed cells of one output by place.
type Series = [(f64, f64)];

impl SeasonalMeans {
    /// Predictions of all cells. An output without values has zeros. Where cells of neighboring cycles are missing, the excess is
    /// the part of the variance that they would have explained.
    ///
    /// # Errors
    /// If the equations of a regression are singular.
    pub fn predict(&self, dataset: &Dataset) -> Result<RowPredictions, DenseMethodError> {
        let (n_rows, n_outputs) = (dataset.n_rows(), dataset.observations().n_outputs());
        let place = |row: usize| dataset.inputs().point(RowIndex::new(row))[0];
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.sort_by(|&a, &b| place(a).total_cmp(&place(b)));
        let places: Vec<f64> = order.iter().map(|&row| place(row)).collect();
        let mut series: Vec<Vec<(f64, f64)>> = vec![vec![]; n_outputs];
        for (&row, &place) in order.iter().zip(&places) {
            for cell in dataset.observations().row(RowIndex::new(row)) {
                series[cell.output.get()].push((place, cell.value));
            }
        }
        let columns: Result<Vec<RowPredictions>, DenseMethodError> =
            series.par_iter().map(|series| self.of_series(series, &places)).collect();
        let mut all =
            RowPredictions { means: vec![0.0; n_rows * n_outputs], excess: vec![0.0; n_rows * n_outputs] };
        for (output, column) in columns?.into_iter().enumerate() {
            for (&row, (mean, excess)) in order.iter().zip(column.means.into_iter().zip(column.excess)) {
                let at = row * n_outputs + output;
                (all.means[at], all.excess[at]) = (mean, excess);
            }
        }
        Ok(all)
    }

    /// The season of one output at these places, which ascend.
    fn of_series(&self, series: &Series, places: &[f64]) -> Result<RowPredictions, DenseMethodError> {
        let n_features = self.frequencies().map(|(_, count)| 2 * count).sum();
        let profile = regressed(series, n_features, |place, features| self.harmonics(place, features))?;
        let profile_at = |place: f64| {
            let mut features = vec![0.0; n_features];
            self.harmonics(place, &mut features);
            value(&profile, &features)
        };
        let Some(exclusion) = self.exclusion else {
            let means = places.iter().map(|&place| profile_at(place)).collect();
            return Ok(RowPredictions { means, excess: vec![0.0; places.len()] });
        };
        // The profile and the means of neighboring cycles at some places, and the fraction of the variance explained by
        // neighboring cycles that is lost there.
        let features_at = |places: &[f64]| -> (Vec<Vec<f64>>, Vec<f64>) {
            let profile: Vec<f64> = places.iter().map(|&place| profile_at(place)).collect();
            let mut features: Vec<Vec<f64>> = profile.iter().map(|&mean| vec![mean]).collect();
            let mut lost = vec![1.0_f64; places.len()];
            for &period in &self.periods {
                let near = neighbors(series, places, &profile, period, exclusion);
                for ((features, lost), near) in features.iter_mut().zip(&mut lost).zip(near) {
                    features.push(near.mean);
                    *lost = lost.min(lost_fraction(near.weight));
                }
            }
            (features, lost)
        };
        let (observed, lost) = features_at(&series.iter().map(|cell| cell.0).collect::<Vec<_>>());
        let mut next = observed.iter();
        let weights = regressed(series, 1 + self.periods.len(), |_, features| {
            features.iter_mut().zip(next.next().into_iter().flatten()).for_each(|(to, from)| *to = *from);
        })?;
        // What neighboring cycles explain beyond the profile, from the cells where most of them are observed.
        let (mut explained, mut count) = (0.0, 0.0);
        for ((cell, features), lost) in series.iter().zip(&observed).zip(lost) {
            if lost < WELL_KNOWN {
                explained += (cell.1 - features[0]).powi(2) - (cell.1 - value(&weights, features)).powi(2);
                count += 1.0;
            }
        }
        let explained = f64::max(explained / f64::max(count, 1.0), 0.0);
        let (features, lost) = features_at(places);
        Ok(RowPredictions {
            means: features.iter().map(|features| value(&weights, features)).collect(),
            excess: lost.iter().map(|lost| explained * lost).collect(),
        })
    }

    /// The frequency of each period and the number of its harmonics: at most half a cycle per unit.
    fn frequencies(&self) -> impl Iterator<Item = (f64, usize)> + '_ {
        self.periods.iter().map(|period| (period.recip(), HARMONICS.min((0.5 * period) as usize)))
    }

    /// Cosines and sines at a place.
    fn harmonics(&self, place: f64, features: &mut [f64]) {
        let mut at = 0;
        for (frequency, count) in self.frequencies() {
            let (sine, cosine) = (std::f64::consts::TAU * (place * frequency).fract()).sin_cos();
            let (mut x, mut y) = (1.0, 0.0);
            for _ in 0..count {
                (x, y) = (x * cosine - y * sine, x * sine + y * cosine);
                (features[at], features[at + 1]) = (x, y);
                at += 2;
            }
        }
    }
}

/// Cells at the same phase of neighboring cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Neighbors {
    /// Their weighted mean with the profile.
    mean: f64,
    /// The sum of their weights, in cells of the nearest cycle.
    weight: f64,
}

/// The cells of the series at the same phase of neighboring cycles, at places that ascend. Their mean is drawn to the profile, and
/// equals it where no such cell is observed.
fn neighbors(
    series: &Series,
    places: &[f64],
    profile: &[f64],
    period: f64,
    exclusion: f64,
) -> Vec<Neighbors> {
    let first = ((exclusion / period).ceil() as usize).max(1);
    let mut sums: Vec<(f64, f64)> =
        profile.iter().map(|mean| (PROFILE_WEIGHT * mean, PROFILE_WEIGHT)).collect();
    for (number, cycle) in (first..first + CYCLES).enumerate() {
        let weight = (-(number as f64) / DECAY).exp();
        for offset in [cycle as f64 * period, -(cycle as f64 * period)] {
            let mut after = 0;
            for (place, (sum, total)) in places.iter().zip(&mut sums) {
                let target = place + offset;
                after += series[after..].iter().take_while(|cell| cell.0 <= target).count();
                if let Some(value) = interpolated(series, after, target) {
                    *sum += weight * value;
                    *total += weight;
                }
            }
        }
    }
    let found = |(sum, total): (f64, f64)| Neighbors { mean: sum / total, weight: total - PROFILE_WEIGHT };
    sums.into_iter().map(found).collect()
}

/// The fraction of the variance explained by neighboring cycles that is lost with a sum of weights below the largest one. The
/// error of a mean of n cells and a prior worth one cell falls as 1/(1 + n).
fn lost_fraction(weight: f64) -> f64 {
    let most: f64 = (0..CYCLES).map(|number| 2.0 * (-(number as f64) / DECAY).exp()).sum();
    let error = |weight: f64| 1.0 / (1.0 + weight);
    ((error(weight) - error(most)) / (1.0 - error(most))).max(0.0)
}

/// The value of a series at a place between the cells `after - 1` and `after`; `None` if none is near.
fn interpolated(series: &Series, after: usize, target: f64) -> Option<f64> {
    let before = after.checked_sub(1).map(|before| series[before]);
    let after = series.get(after).copied();
    if let (Some(before), Some(after)) = (before, after)
        && after.0 - before.0 <= LONGEST_STEP
    {
        let share = (target - before.0) / (after.0 - before.0);
        return Some(before.1 + share * (after.1 - before.1));
    }
    let near = [before, after].into_iter().flatten().map(|cell| ((cell.0 - target).abs(), cell.1));
    near.filter(|cell| cell.0 <= SAME_PLACE).min_by(|a, b| a.0.total_cmp(&b.0)).map(|cell| cell.1)
}

/// Coefficients of a ridge regression of the values on features of their places, and last the constant.
fn regressed(
    series: &Series,
    n_features: usize,
    mut features_at: impl FnMut(f64, &mut [f64]),
) -> Result<Vec<f64>, DenseMethodError> {
    let size = n_features + 1;
    let mut gram = vec![0.0; size * size];
    let mut right = vec![0.0; size];
    let mut features = vec![1.0; size];
    for &(place, value) in series {
        features_at(place, &mut features[..n_features]);
        for (column, &feature) in features.iter().enumerate() {
            let target = &mut gram[column * size + column..(column + 1) * size];
            target.iter_mut().zip(&features[column..]).for_each(|(sum, other)| *sum += feature * other);
            right[column] += feature * value;
        }
    }
    let count = series.len().max(1) as f64;
    gram.iter_mut().step_by(size + 1).for_each(|diagonal| *diagonal += PENALTY * count);
    // The constant has no penalty, but an output without values needs one.
    gram[size * size - 1] -= if series.is_empty() { 0.0 } else { PENALTY * count };
    let cholesky = Cholesky::new(size, gram, Threads::One)
        .map_err(|_| DenseMethodError::NotPositiveDefinite { row: RowIndex::new(0) })?;
    cholesky.solve(&mut right, Threads::One);
    Ok(right)
}

fn value(coefficients: &[f64], features: &[f64]) -> f64 {
    let constant = coefficients.last().copied().unwrap_or(0.0);
    constant + features.iter().zip(coefficients).map(|(feature, weight)| feature * weight).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};

    /// A cycle of seven rows that grows, with a gap.
    fn table(n_rows: usize, gap: std::ops::Range<usize>) -> (Dataset, Vec<f64>) {
        let truth = |row: usize| (1.0 + row as f64 / 100.0) * [1.0, 3.0, -2.0, 0.5, -1.0, 0.0, -1.5][row % 7];
        let truth: Vec<f64> = (0..n_rows).map(truth).collect();
        let cell = |row: usize| if gap.contains(&row) { f64::NAN } else { truth[row] };
        let values: Vec<f64> = (0..n_rows).map(cell).collect();
        let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
        (Dataset::new(inputs, Observations::from_dense(n_rows, 1, &values).unwrap()).unwrap(), truth)
    }

    fn error(means: &[f64], truth: &[f64], gap: std::ops::Range<usize>) -> f64 {
        let n = gap.len() as f64;
        (gap.map(|row| (means[row] - truth[row]).powi(2)).sum::<f64>() / n).sqrt()
    }

    #[test]
    fn neighboring_cycles_follow_a_season_that_grows() {
        let gap = 150..171;
        let (dataset, truth) = table(210, gap.clone());
        let profile = SeasonalMeans { periods: vec![7.0], exclusion: None }.predict(&dataset).unwrap().means;
        let near =
            SeasonalMeans { periods: vec![7.0], exclusion: Some(10.0) }.predict(&dataset).unwrap().means;
        let (profile, near) = (error(&profile, &truth, gap.clone()), error(&near, &truth, gap));
        assert!(near < 0.3 * profile && near < 0.3, "{near} and {profile}");
    }

    #[test]
    fn the_profile_of_a_constant_season_is_its_mean_by_phase() {
        let truth: Vec<f64> = (0..120).map(|row| [2.0, -1.0, 0.0, 4.0, 1.0][row % 5]).collect();
        let inputs = InputPoints::from_column((0..120).map(f64::from).collect()).unwrap();
        let dataset = Dataset::new(inputs, Observations::from_dense(120, 1, &truth).unwrap()).unwrap();
        let means = SeasonalMeans { periods: vec![5.0], exclusion: None }.predict(&dataset).unwrap().means;
        // Two harmonics describe five phases; the penalty shrinks deviations from the mean by 0.01 / (0.5 + 0.01).
        let mean = 1.2;
        for (found, truth) in means.iter().zip(&truth) {
            assert!((found - mean - (truth - mean) * 0.5 / 0.51).abs() < 1e-9, "{found} for {truth}");
        }
    }

    #[test]
    fn cells_of_the_gap_and_of_excluded_cycles_do_not_count() {
        let series: Vec<(f64, f64)> = (0..40).map(|at| (f64::from(at), f64::from(at))).collect();
        // At place 20 with period 4 and exclusion 9 the cycles 3 to 10 count: symmetric around 20 as far as cells exist.
        let found = neighbors(&series, &[20.0], &[20.0], 4.0, 9.0)[0].mean;
        let cells = (3..11).flat_map(|cycle| [20.0 + 4.0 * f64::from(cycle), 20.0 - 4.0 * f64::from(cycle)]);
        let (mut sum, mut total) = (PROFILE_WEIGHT * 20.0, PROFILE_WEIGHT);
        for place in cells.filter(|place| (0.0..=39.0).contains(place)) {
            let weight = (-((place - 20.0_f64).abs() / 4.0 - 3.0) / DECAY).exp();
            sum += weight * place;
            total += weight;
        }
        assert!((found - sum / total).abs() < 1e-12, "{found}");
        let far = neighbors(&series, &[1000.0], &[7.0], 4.0, 0.0)[0];
        assert_eq!((far.mean, lost_fraction(far.weight)), (7.0, 1.0));
    }

    #[test]
    fn windows_without_neighboring_cycles_are_less_certain() {
        // The amplitude of a cycle of seven rows changes slowly; the last rows lie far away from the others.
        let value =
            |row: usize| (1.0 + (row as f64 / 60.0).sin()) * [1.0, 3.0, -2.0, 0.5, -1.0, 0.0, -1.5][row % 7];
        let places: Vec<f64> =
            (0..420).map(|row| if row < 413 { row as f64 } else { row as f64 + 70_000.0 }).collect();
        let values: Vec<f64> = (0..420).map(value).collect();
        let dataset = Dataset::new(
            InputPoints::from_column(places).unwrap(),
            Observations::from_dense(420, 1, &values).unwrap(),
        );
        let found =
            SeasonalMeans { periods: vec![7.0], exclusion: Some(3.0) }.predict(&dataset.unwrap()).unwrap();
        let profile = 413..420;
        assert!(profile.clone().all(|row| found.excess[row] > 0.5), "{:?}", &found.excess[profile]);
        assert!((100..300).all(|row| found.excess[row] < 1e-9));
        assert!(found.excess[0] > 0.0 && found.excess[0] < 0.5 * found.excess[415]);
    }

    #[test]
    fn an_output_without_values_and_rows_in_any_order_are_accepted() {
        let values = [1.0, f64::NAN, 2.0, f64::NAN, 1.5, f64::NAN];
        let inputs = InputPoints::from_column(vec![2.0, 0.0, 1.0]).unwrap();
        let dataset = Dataset::new(inputs, Observations::from_dense(3, 2, &values).unwrap()).unwrap();
        let means =
            SeasonalMeans { periods: vec![2.0], exclusion: Some(0.0) }.predict(&dataset).unwrap().means;
        assert!(means.iter().all(|mean| mean.is_finite()));
        assert_eq!([means[1], means[3], means[5]], [0.0; 3]);
    }
}
