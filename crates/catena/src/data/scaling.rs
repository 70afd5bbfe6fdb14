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
    ///
    /// Values are divided by their largest magnitude first, so that 1e300 does not overflow when squared and
    /// 1e-300 does not vanish.
    fn fitted(values: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = values.clone().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return Self { shift: 0.0, scale: 1.0 };
        }
        let count = values.clone().count() as f64;
        let mean = values.clone().map(|value| value / largest).sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value / largest - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt() * largest;
        // A deviation within the rounding of the values counts as zero.
        let varies = deviation > 1e-14 * largest && deviation.is_normal();
        Self { shift: mean * largest, scale: if varies { deviation } else { 1.0 } }
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
            None => InputPoints::new(inputs.n_rows(), dim, scaled),
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
