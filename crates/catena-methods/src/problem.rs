//! The input of every method: a model, a table and the unit of distances.

use catena::data::{Dataset, InputPoints};
use catena::model::Lmc;
use catena::units::DistanceScale;

use crate::DenseMethodError;

/// A model with given hyperparameters and a table.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    model: &'a Lmc,
    dataset: &'a Dataset,
    distance_scale: DistanceScale,
}

impl<'a> Problem<'a> {
    /// A problem with Euclidean distances divided by `distance_scale` before length-scales apply.
    ///
    /// # Errors
    /// If model and table have different numbers of outputs.
    pub fn new(
        model: &'a Lmc,
        dataset: &'a Dataset,
        distance_scale: DistanceScale,
    ) -> Result<Self, DenseMethodError> {
        let (outputs, table) = (model.n_outputs(), dataset.observations().n_outputs());
        if outputs != table {
            return Err(DenseMethodError::OutputCount { model: outputs, table });
        }
        Ok(Self { model, dataset, distance_scale })
    }

    /// Refuses groups, between which Euclidean distances have no meaning.
    ///
    /// # Errors
    /// If the rows have groups.
    pub(crate) fn check_ungrouped(&self) -> Result<(), DenseMethodError> {
        match self.dataset.inputs().groups() {
            None => Ok(()),
            Some(_) => Err(DenseMethodError::Groups),
        }
    }

    /// The model.
    pub fn model(&self) -> &'a Lmc {
        self.model
    }

    /// The table.
    pub fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// The unit of distances.
    pub fn distance_scale(&self) -> DistanceScale {
        self.distance_scale
    }
}

/// Checks the number of input columns.
pub(crate) fn check_dim(expected: usize, points: &InputPoints) -> Result<(), DenseMethodError> {
    let found = points.dim();
    if found == expected { Ok(()) } else { Err(DenseMethodError::InputDim { expected, found }) }
}
