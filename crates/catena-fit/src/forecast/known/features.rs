//! Columns that are known ahead, and the features of a regression made from them.

/// Columns whose values are known at the rows of a table and at the rows to forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownColumns {
    /// Their names.
    pub names: Vec<String>,
    /// Values at the rows of the table, row-major; NaN where missing.
    pub at_rows: Vec<f64>,
    /// The times of the rows to forecast, ascending and after the last row of the table.
    pub times_ahead: Vec<f64>,
    /// Values at these times, row-major; all are numbers.
    pub ahead: Vec<f64>,
}

/// Which features are made of every column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeatureSet {
    /// The column.
    Linear,
    /// The column, and the column one and two rows before.
    Lagged,
    /// A natural cubic spline of the column.
    Smooth,
}

/// The number of lags.
const N_LAGS: usize = 2;
/// The shares of the values below the knots of a spline, and the fewest distinct values for one.
const KNOTS: [f64; 4] = [0.05, 0.35, 0.65, 0.95];
const FEWEST_DISTINCT: usize = 10;

/// One feature at all rows: those of the table, then those ahead.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Feature {
    pub(super) name: String,
    /// Values with mean 0 and standard deviation 1 over the table; NaN where a column is missing.
    pub(super) values: Vec<f64>,
    /// The standard deviation of the values before, if the feature is a column or a lag of it.
    pub(super) scale: Option<f64>,
}

impl FeatureSet {
    pub(super) const ALL: [Self; 3] = [Self::Linear, Self::Lagged, Self::Smooth];

    /// A description.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear effects",
            Self::Lagged => "linear effects with lags",
            Self::Smooth => "smooth effects",
        }
    }
}

impl KnownColumns {
    /// The features of a set, columns that never change left out. `order` has the rows of the table by time.
    pub(super) fn features(&self, set: FeatureSet, order: &[usize]) -> Vec<Feature> {
        let n_rows = order.len();
        let mut features = vec![];
        for (column, name) in self.names.iter().enumerate() {
            let values: Vec<f64> = self
                .at_rows
                .iter()
                .chain(&self.ahead)
                .skip(column)
                .step_by(self.names.len())
                .copied()
                .collect();
            let mut add = |name: String, values: Vec<f64>, is_linear: bool| {
                features.extend(standardized(name, values, is_linear, n_rows));
            };
            match set {
                FeatureSet::Linear => add(name.clone(), values, true),
                FeatureSet::Lagged => {
                    for lag in 0..=N_LAGS {
                        let name = if lag == 0 { name.clone() } else { format!("{name}, {lag} before") };
                        add(name, lagged(&values, order, lag), true);
                    }
                }
                FeatureSet::Smooth => {
                    let bends = spline(&values, n_rows);
                    add(name.clone(), values, bends.is_empty());
                    for (number, values) in bends.into_iter().enumerate() {
                        add(format!("{name}, bend {}", number + 1), values, false);
                    }
                }
            }
        }
        features
    }
}

/// A feature with mean 0 and standard deviation 1 over the rows of the table; none if it never changes there.
fn standardized(name: String, mut values: Vec<f64>, is_linear: bool, n_rows: usize) -> Option<Feature> {
    let known = || values[..n_rows].iter().filter(|value| value.is_finite());
    let count = known().count() as f64;
    let mean = known().sum::<f64>() / count;
    let deviation = (known().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    if !(deviation.is_finite() && deviation > 1e-12 * mean.abs()) {
        return None;
    }
    values.iter_mut().for_each(|value| *value = (*value - mean) / deviation);
    Some(Feature { name, values, scale: is_linear.then_some(deviation) })
}

/// Values some rows before, by time; NaN at the first rows.
fn lagged(values: &[f64], order: &[usize], lag: usize) -> Vec<f64> {
    // Rows ahead follow those of the table, in order.
    let all: Vec<usize> = order.iter().copied().chain(order.len()..values.len()).collect();
    let mut found = vec![f64::NAN; values.len()];
    for (at, &row) in all.iter().enumerate().skip(lag) {
        found[row] = values[all[at - lag]];
    }
    found
}

/// The bends of a natural cubic spline, which is linear beyond its outer knots; none for few distinct values.
fn spline(values: &[f64], n_rows: usize) -> Vec<Vec<f64>> {
    let mut sorted: Vec<f64> = values[..n_rows].iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n_distinct = sorted.chunk_by(|a, b| a == b).count();
    if n_distinct < FEWEST_DISTINCT {
        return vec![];
    }
    let knots = KNOTS.map(|share| sorted[(share * (sorted.len() - 1) as f64) as usize]);
    if knots.windows(2).any(|pair| pair[0] >= pair[1]) {
        return vec![];
    }
    let [first, .., before, last] = knots;
    let cube = |value: f64| value.max(0.0).powi(3);
    let bend = |knot: f64| {
        let at = |&value: &f64| {
            if value.is_nan() {
                return f64::NAN;
            }
            let tail = cube(value - before) * (last - knot) / (last - before)
                - cube(value - last) * (before - knot) / (last - before);
            (cube(value - knot) - tail) / (last - first).powi(2)
        };
        values.iter().map(at).collect()
    };
    knots[..knots.len() - 2].iter().map(|&knot| bend(knot)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn lags_follow_time_across_the_end_of_the_table() {
        // Rows in the order of times 2, 0, 1, then two rows ahead.
        let found = lagged(&[12.0, 10.0, 11.0, 13.0, 14.0], &[1, 2, 0], 1);
        assert!(found[1].is_nan());
        assert_eq!([found[2], found[0], found[3], found[4]], [10.0, 11.0, 12.0, 13.0]);
    }

    #[test]
    fn splines_are_linear_beyond_their_knots_and_bend_between() {
        let values: Vec<f64> = (0..101).map(|at| at as f64 - 20.0).collect();
        for bend in spline(&values, 81) {
            let second: Vec<f64> =
                bend.windows(3).map(|three| three[2] - 2.0 * three[1] + three[0]).collect();
            // The outer knots are at −16 and 56 of the rows from −20 to 60.
            assert!(second[..2].iter().chain(&second[80..]).all(|curve| curve.abs() < 1e-9), "{second:?}");
            assert!(second.iter().any(|curve| curve.abs() > 1e-4));
        }
        assert_eq!(spline(&values, 81).len(), 2);
        assert!(spline(&[0.0, 1.0].repeat(20), 40).is_empty());
    }

    #[test]
    fn features_have_unit_scale_and_keep_what_is_missing() {
        let known = KnownColumns {
            names: vec!["a".to_owned(), "same".to_owned()],
            at_rows: vec![1.0, 5.0, f64::NAN, 5.0, 3.0, 5.0],
            times_ahead: vec![3.0],
            ahead: vec![5.0, 6.0],
        };
        let found = known.features(FeatureSet::Linear, &[0, 1, 2]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].scale), ("a", Some(1.0)));
        assert_eq!([found[0].values[0], found[0].values[2], found[0].values[3]], [-1.0, 1.0, 3.0]);
        assert!(found[0].values[1].is_nan());
    }
}
