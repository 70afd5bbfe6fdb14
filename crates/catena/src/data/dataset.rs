//! Inputs and observations of one table.

use std::sync::Arc;

use super::{DataError, InputPoints, Observations};
use crate::index::RowIndex;

/// A table: where each row lies, and what was observed there. Clones share their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    inputs: Arc<InputPoints>,
    observations: Arc<Observations>,
}

impl Dataset {
    /// A table of inputs and observations, row by row.
    ///
    /// # Errors
    /// When the two do not have the same number of rows.
    pub fn new(inputs: InputPoints, observations: Observations) -> Result<Self, DataError> {
        if inputs.n_rows() != observations.n_rows() {
            let (inputs, observations) = (inputs.n_rows(), observations.n_rows());
            return Err(DataError::RowCountMismatch { inputs, observations });
        }
        Ok(Self { inputs: Arc::new(inputs), observations: Arc::new(observations) })
    }

    /// The number of rows, C.
    pub fn n_rows(&self) -> usize {
        self.inputs.n_rows()
    }

    /// Where the rows lie.
    pub fn inputs(&self) -> &InputPoints {
        &self.inputs
    }

    /// What was observed.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// These rows, in this order.
    ///
    /// # Errors
    /// When `rows` is empty.
    ///
    /// # Panics
    /// When a row is of another table and out of range.
    pub fn select_rows(&self, rows: &[RowIndex]) -> Result<Self, DataError> {
        Self::new(self.inputs.select_rows(rows)?, self.observations.select_rows(rows)?)
    }
}
