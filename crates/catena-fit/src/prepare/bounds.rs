//! Bounds of outputs: values of a table beyond them are refused, and answers are put at them.

use catena::data::{Cell, Dataset};
use catena::index::OutputIndex;

use super::units::Preparation;
use crate::error::FitError;
use crate::options::{Bounds, LikelihoodChoice};

impl Preparation {
    /// Checks that all values that must be positive for their transform are, and that all lie within their bounds.
    pub(crate) fn check_values(&self, dataset: &Dataset) -> Result<(), FitError> {
        check_bounds(dataset, &self.bounds())?;
        let needs_positive = |output: OutputIndex| {
            self.outputs.get(output.get()).is_some_and(|output| output.power.needs_positive())
        };
        let mut cells = dataset.observations().cells();
        match cells.find(|(_, cell)| cell.value <= 0.0 && needs_positive(cell.output)) {
            None => Ok(()),
            Some((row, cell)) => Err(FitError::NotPositive { row, output: cell.output, value: cell.value }),
        }
    }

    /// The bounds of each output.
    pub(crate) fn bounds(&self) -> Vec<Option<Bounds>> {
        self.outputs.iter().map(|output| output.bounds).collect()
    }

    /// The same with these bounds. Values of an output with a likelihood keep within its bounds by themselves.
    pub(crate) fn with_bounds(mut self, bounds: &[Option<Bounds>]) -> Self {
        for (output, bounds) in self.outputs.iter_mut().zip(bounds) {
            output.bounds =
                bounds.filter(|_| output.likelihood.as_ref().is_none_or(LikelihoodChoice::is_gaussian));
        }
        self
    }

    /// Puts values in the user's units beyond their bounds at them. They are row-major tables, one after the other.
    pub(crate) fn bound(&self, values: &mut [f64]) {
        let bounds = self.bounds();
        for (at, value) in values.iter_mut().enumerate() {
            if let Some(bounds) = bounds[at % bounds.len()] {
                *value = bounds.nearest(*value);
            }
        }
    }
}

/// Checks that all values lie within the bounds of their outputs.
pub(crate) fn check_bounds(dataset: &Dataset, bounds: &[Option<Bounds>]) -> Result<(), FitError> {
    for (row, Cell { output, value, .. }) in dataset.observations().cells() {
        if let Some(own) = bounds.get(output.get()).copied().flatten()
            && !own.contain(value)
        {
            return Err(FitError::BeyondBounds { row, output, value, bounds: own.to_string() });
        }
    }
    Ok(())
}
