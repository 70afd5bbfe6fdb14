//! Linear interpolation along one input.

use std::collections::BTreeMap;

use catena::data::{Dataset, InputPoints};
use catena::index::GroupIndex;
use catena::prediction::Prediction;

use super::TrainingMean;
use crate::DenseMethodError;
use crate::problem::check_dim;

/// For each output, straight lines between its observed cells along the input; beyond the ends, the end value.
/// Cells at the same input are averaged. The variance is the mean squared error of interpolating each inner knot from its
/// two neighbors, the same everywhere; an output without such a knot takes its training variance. Over rows in groups there are
/// lines for each group; an output without a knot in a group has its training mean there.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearInterpolation {
    /// By group, knots (input, value) of each output, by ascending input.
    knots: BTreeMap<Option<GroupIndex>, Vec<Vec<(f64, f64)>>>,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl LinearInterpolation {
    /// Lines through the observed cells.
    ///
    /// # Errors
    /// If there is more than one input column, or an output was never observed.
    pub fn fit(dataset: &Dataset) -> Result<Self, DenseMethodError> {
        let dim = dataset.inputs().dim();
        if dim != 1 {
            return Err(DenseMethodError::NotOneDimensional { dim });
        }
        let mean = TrainingMean::fit(dataset.observations())?;
        let n_outputs = dataset.observations().n_outputs();
        let mut knots: BTreeMap<Option<GroupIndex>, Vec<Vec<(f64, f64)>>> = BTreeMap::new();
        for (row, cell) in dataset.observations().cells() {
            let group = knots.entry(dataset.inputs().group(row)).or_insert_with(|| vec![vec![]; n_outputs]);
            group[cell.output.get()].push((dataset.inputs().point(row)[0], cell.value));
        }
        for cells in knots.values_mut().flatten() {
            *cells = merge_equal(std::mem::take(cells));
        }
        let variance = |(output, &variance): (usize, &f64)| {
            let errors: Vec<f64> = knots.values().flat_map(|knots| left_out_errors(&knots[output])).collect();
            if errors.is_empty() { variance } else { errors.iter().sum::<f64>() / errors.len() as f64 }
        };
        let variances = mean.variances().iter().enumerate().map(variance).collect();
        Ok(Self { knots, means: mean.means().to_vec(), variances })
    }

    /// The prediction at any inputs.
    ///
    /// # Errors
    /// If the points have more than one input column.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(1, at)?;
        let mut means = Vec::with_capacity(at.n_rows() * self.means.len());
        for row in at.rows() {
            let (x, knots) = (at.point(row)[0], self.knots.get(&at.group(row)));
            means.extend(
                self.means.iter().enumerate().map(|(output, &mean)| {
                    knots.and_then(|knots| value_at(&knots[output], x)).unwrap_or(mean)
                }),
            );
        }
        let variances = self.variances.repeat(at.n_rows());
        Ok(Prediction::new(at.n_rows(), self.means.len(), means, variances)?)
    }
}

/// Knots by ascending input, cells at equal inputs averaged.
fn merge_equal(mut cells: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    cells.sort_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)));
    let mean = |equal: &[(f64, f64)]| {
        (equal[0].0, equal.iter().map(|cell| cell.1).sum::<f64>() / equal.len() as f64)
    };
    cells.chunk_by(|a, b| a.0 == b.0).map(mean).collect()
}

/// The squared error of each inner knot interpolated from its neighbors.
fn left_out_errors(knots: &[(f64, f64)]) -> impl Iterator<Item = f64> + '_ {
    knots.windows(3).map(|three| (between(three[0], three[2], three[1].0) - three[1].1).powi(2))
}

/// The line at an input; `None` without knots.
fn value_at(knots: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = knots.partition_point(|knot| knot.0 <= x);
    match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
        (Some(before), Some(&after)) => Some(between(before, after, x)),
        (Some(end), None) => Some(end.1),
        (None, first) => first.map(|first| first.1),
    }
}

fn between(before: (f64, f64), after: (f64, f64), x: f64) -> f64 {
    let share = (x - before.0) / (after.0 - before.0);
    before.1 + share * (after.1 - before.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::Observations;

    #[test]
    fn lines_between_knots_and_constants_beyond() {
        let inputs = InputPoints::from_column(vec![4.0, 0.0, 2.0, 2.0]).unwrap();
        let values = [5.0, 1.0, 2.0, 4.0];
        let dataset = Dataset::new(inputs, Observations::from_dense(4, 1, &values).unwrap()).unwrap();
        let fitted = LinearInterpolation::fit(&dataset).unwrap();
        let at = InputPoints::from_column(vec![-1.0, 0.0, 1.0, 2.0, 3.0, 9.0]).unwrap();
        let prediction = fitted.predict(&at).unwrap();
        assert_eq!(prediction.means(), [1.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        // The only inner knot, (2, 3), lies on the line from (0, 1) to (4, 5).
        assert_eq!(prediction.variances(), [0.0; 6]);
    }

    #[test]
    fn two_inputs_are_refused() {
        let inputs = InputPoints::new(1, 2, vec![0.0, 0.0]).unwrap();
        let dataset = Dataset::new(inputs, Observations::from_dense(1, 1, &[1.0]).unwrap()).unwrap();
        let error = DenseMethodError::NotOneDimensional { dim: 2 };
        assert_eq!(LinearInterpolation::fit(&dataset), Err(error));
    }
}
