//! Linear interpolation along one input.

use catena::data::{Dataset, InputPoints};
use catena::prediction::Prediction;

use super::TrainingMean;
use crate::DenseMethodError;
use crate::problem::check_dim;

/// For each output, straight lines between its observed cells along the input; beyond the ends, the end value.
/// Cells at the same input are averaged. The variance is the mean squared error of interpolating each inner knot from its
/// two neighbors, the same everywhere; an output with fewer than three knots takes its training variance.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearInterpolation {
    /// Knots (input, value) of each output, by ascending input.
    knots: Vec<Vec<(f64, f64)>>,
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
        let mut cells = vec![vec![]; dataset.observations().n_outputs()];
        for (row, cell) in dataset.observations().cells() {
            cells[cell.output.get()].push((dataset.inputs().point(row)[0], cell.value));
        }
        let knots: Vec<Vec<(f64, f64)>> = cells.into_iter().map(merge_equal).collect();
        let variances = knots.iter().zip(mean.variances());
        let variances =
            variances.map(|(knots, &variance)| left_out_error(knots).unwrap_or(variance)).collect();
        Ok(Self { knots, variances })
    }

    /// The prediction at any inputs.
    ///
    /// # Errors
    /// If the points have more than one input column.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(1, at)?;
        let means = at.values().iter().flat_map(|&x| self.knots.iter().map(move |knots| value_at(knots, x)));
        let variances = self.variances.repeat(at.n_rows());
        Ok(Prediction::new(at.n_rows(), self.knots.len(), means.collect(), variances)?)
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

/// The mean squared error of each inner knot interpolated from its neighbors.
fn left_out_error(knots: &[(f64, f64)]) -> Option<f64> {
    let errors = knots.windows(3).map(|three| (between(three[0], three[2], three[1].0) - three[1].1).powi(2));
    (knots.len() > 2).then(|| errors.sum::<f64>() / (knots.len() - 2) as f64)
}

fn value_at(knots: &[(f64, f64)], x: f64) -> f64 {
    let after = knots.partition_point(|knot| knot.0 <= x);
    match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
        (Some(before), Some(&after)) => between(before, after, x),
        (Some(end), None) => end.1,
        (None, first) => first.map_or(0.0, |first| first.1),
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
