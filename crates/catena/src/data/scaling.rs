//! Standardization of inputs and outputs. The inverse for predictions is in `prediction.rs`.

use super::{Cell, DataError, InputPoints, Observations};
use crate::index::{OutputIndex, RowIndex};
use crate::units::LengthScale;

/// An affine change of one column: `scaled = (value − shift) / scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    shift: f64,
    scale: f64,
}

impl Column {
    fn checked(column: usize, shift: f64, scale: f64) -> Result<Self, DataError> {
        if shift.is_finite() && scale > 0.0 && scale.is_finite() {
            Ok(Self { shift, scale })
        } else {
            Err(DataError::InvalidScaling { column, shift, scale })
        }
    }

    /// Mean and standard deviation (n − 1) of the values; a column that does not vary keeps scale 1.
    fn fitted(values: impl Iterator<Item = f64> + Clone) -> Self {
        let ColumnMoments { mean, deviation } = ColumnMoments::of(values);
        let usable = deviation.filter(|deviation| *deviation > 0.0 && deviation.is_finite());
        Self { shift: mean, scale: usable.unwrap_or(1.0) }
    }
}

/// Mean and standard deviation of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnMoments {
    /// The mean; 0 without values.
    pub mean: f64,
    /// The standard deviation (n − 1); `None` if all values are equal.
    pub deviation: Option<f64>,
}

impl ColumnMoments {
    /// The moments of the values.
    ///
    /// They are sums of distances from the lowest value, relative to the range: 1e300 does not overflow when squared, 1e-300 does
    /// not vanish, and values that differ in their last digits only keep these digits.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.clone().fold(ends, |(low, high), value| (low.min(value), high.max(value)));
        if low >= high {
            return Self { mean: if low.is_finite() { low } else { 0.0 }, deviation: None };
        }
        // The range of finite values can overflow; half of it cannot.
        let unit = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let range = unit * high - unit * low;
        let distances = values.map(|value| (unit * value - unit * low) / range);
        let count = distances.clone().count() as f64;
        let mean = distances.clone().sum::<f64>() / count;
        let squares: f64 = distances.map(|distance| (distance - mean).powi(2)).sum();
        let from_low = mean * range;
        Self {
            mean: if unit < 1.0 { low + from_low + from_low } else { low + from_low },
            deviation: Some((squares / (count - 1.0).max(1.0)).sqrt() * range / unit),
        }
    }
}

fn checked_columns(pairs: &[(f64, f64)]) -> Result<Vec<Column>, DataError> {
    pairs.iter().enumerate().map(|(at, &(shift, scale))| Column::checked(at, shift, scale)).collect()
}

/// Shifts and scales every input column, by default to mean 0 and standard deviation 1.
#[derive(Clone, Debug, PartialEq)]
pub struct InputScaling {
    columns: Vec<Column>,
}

impl InputScaling {
    /// Mean and standard deviation of each column; a constant column is only shifted.
    pub fn standardizing(inputs: &InputPoints) -> Self {
        let column = |at: usize| inputs.values().iter().skip(at).step_by(inputs.dim()).copied();
        Self { columns: (0..inputs.dim()).map(|at| Column::fitted(column(at))).collect() }
    }

    /// A given shift and scale for each column.
    ///
    /// # Errors
    /// When a shift is not finite or a scale not positive and finite.
    pub fn with_shifts_and_scales(pairs: &[(f64, f64)]) -> Result<Self, DataError> {
        Ok(Self { columns: checked_columns(pairs)? })
    }

    /// Divides each column by its own length-scale (automatic relevance determination), in the units of that column.
    ///
    /// A structure on the rescaled inputs follows them: a column with a long length-scale has little effect on the choice of
    /// neighbors, and edge lengths are the anisotropic distances √Σ_m ((x_m − x'_m)/ℓ_m)², to be used with
    /// latents of length-scale 1, or of the ratio of their length-scales to these.
    pub fn by_length_scales(length_scales: &[LengthScale]) -> Self {
        let column = |length_scale: &LengthScale| Column { shift: 0.0, scale: length_scale.get() };
        Self { columns: length_scales.iter().map(column).collect() }
    }

    /// The shift of each column.
    pub fn shifts(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.columns.iter().map(|column| column.shift)
    }

    /// The scale of each column.
    pub fn scales(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.columns.iter().map(|column| column.scale)
    }

    /// The scaled inputs.
    ///
    /// # Errors
    /// When the number of columns differs or a number overflows.
    pub fn apply(&self, inputs: &InputPoints) -> Result<InputPoints, DataError> {
        let dim = self.columns.len();
        super::error::check_shape("the input table", inputs.n_rows(), dim, inputs.values().len())?;
        let scaled = inputs.values().iter().zip(self.columns.iter().cycle());
        let scaled: Vec<f64> = scaled.map(|(value, column)| (value - column.shift) / column.scale).collect();
        match scaled.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(DataError::ScalingOverflow { row: RowIndex::new(at / dim), column: at % dim }),
            None => inputs.with_values(dim, scaled),
        }
    }
}

/// Shifts and scales every output, by default to mean 0 and standard deviation 1, and converts predictions back.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputScaling {
    columns: Vec<Column>,
}

impl OutputScaling {
    /// Mean and standard deviation of the observed cells of each output; a constant output is only shifted.
    ///
    /// # Errors
    /// When an output was never observed.
    pub fn standardizing(observations: &Observations) -> Result<Self, DataError> {
        let mut by_output = vec![vec![]; observations.n_outputs()];
        for (_, cell) in observations.cells() {
            by_output[cell.output.get()].push(cell.value);
        }
        let mut columns = Vec::with_capacity(by_output.len());
        for (output, values) in by_output.iter().enumerate() {
            if values.is_empty() {
                return Err(DataError::OutputNeverObserved { output: OutputIndex::new(output) });
            }
            columns.push(Column::fitted(values.iter().copied()));
        }
        Ok(Self { columns })
    }

    /// No change.
    pub fn identity(n_outputs: usize) -> Self {
        Self { columns: vec![Column { shift: 0.0, scale: 1.0 }; n_outputs] }
    }

    /// A given shift and scale for each output.
    ///
    /// # Errors
    /// When a shift is not finite or a scale not positive and finite.
    pub fn with_shifts_and_scales(pairs: &[(f64, f64)]) -> Result<Self, DataError> {
        Ok(Self { columns: checked_columns(pairs)? })
    }

    /// The shift of each output.
    pub fn shifts(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.columns.iter().map(|column| column.shift)
    }

    /// The scale of each output.
    pub fn scales(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.columns.iter().map(|column| column.scale)
    }

    /// The scaled observations, with their known noise variances.
    ///
    /// # Errors
    /// When the number of outputs differs or a number overflows.
    pub fn apply(&self, observations: &Observations) -> Result<Observations, DataError> {
        let (rows, outputs) = (observations.n_rows(), self.columns.len());
        super::error::check_shape("the output table", rows, outputs, rows * observations.n_outputs())?;
        observations.map_cells(|row, cell| {
            let Column { shift, scale } = self.columns[cell.output.get()];
            let value = (cell.value - shift) / scale;
            if !value.is_finite() {
                return Err(DataError::ScalingOverflow { row, column: cell.output.get() });
            }
            let noise_variance = cell.noise_variance.map(|variance| variance * scale.powi(-2));
            Ok(Cell { value, noise_variance, ..cell })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_after_a_large_mean_count() {
        // Multiples of the spacing of doubles near 1e12, so that every value is exact.
        let step = 2.0_f64.powi(-13);
        let around = |center: f64, step: f64| [-3.0, 1.0, 2.0, 4.0].map(|value| center + step * value);
        for (center, step) in [(0.0, 1.0), (1e12, step), (-1e12, step), (0.0, 1e300), (0.0, 5e-324)] {
            let values = around(center, step);
            let ColumnMoments { mean, deviation } = ColumnMoments::of(values.into_iter());
            // The mean rounds once; the distances from the lowest value, at most 7 steps, round four times each.
            let rounding = f64::EPSILON * (mean.abs() + 28.0 * step);
            assert!((mean - (center + step)).abs() <= rounding, "{center} {step}: {mean}");
            // Squares around 1: 16 + 0 + 1 + 9, over three.
            let expected = (26.0_f64 / 3.0).sqrt() * step;
            let rounding = 4.0 * f64::EPSILON * expected + 5e-324;
            assert!((deviation.unwrap() - expected).abs() <= rounding, "{center} {step}: {deviation:?}");
        }
        let ends = ColumnMoments::of([f64::MAX, -f64::MAX, 0.0].into_iter());
        assert_eq!(ends, ColumnMoments { mean: 0.0, deviation: Some(f64::MAX) });
    }

    #[test]
    fn only_equal_values_are_constant() {
        for value in [0.0, 4.2, 1e300, -5e-324] {
            let equal = ColumnMoments::of([value; 5].into_iter());
            assert_eq!(equal, ColumnMoments { mean: value, deviation: None });
        }
        let next = ColumnMoments::of([4.2, 4.2_f64.next_up()].into_iter());
        assert!(next.deviation.is_some_and(|deviation| deviation > 0.0));
        assert_eq!(ColumnMoments::of(std::iter::empty()), ColumnMoments { mean: 0.0, deviation: None });
    }
}
