//! A member of models of space and time: a model along time with a column for every place and output, whose weights are free.
//!
//! It knows no distances, so that it predicts at its own places only. There its covariance between places is what the table says, not
//! what a correlation function allows.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::model::Lmc;
use catena_methods::MemoryLimit;

use crate::error::FitError;
use crate::methods::{ConditionedModel, Quantity, SpaceQuery, condition};
use crate::options::{MethodChoice, StructureOption};
use crate::prepare::{Predictive, Preparation};
use crate::space::{Pivot, Places};

/// Numbers of all covariances that are kept at once.
const COVARIANCES_AT_ONCE: usize = 8_000_000;

/// A model along time with a column for every place and output: output d of place p is its output p·D + d.
#[derive(Clone, Debug)]
pub struct PlaceColumns {
    /// The places.
    pub places: Places,
    /// Its units.
    pub preparation: Preparation,
    /// The model, in its own units.
    pub model: Lmc,
}

/// The same conditioned on a table.
pub(crate) struct FittedColumns {
    places: Places,
    n_outputs: usize,
    model: ConditionedModel,
}

impl PlaceColumns {
    /// Conditions the model on the rows of a table that are at its places.
    pub(crate) fn fitted(
        &self,
        table: &Dataset,
        (seed, memory): (u64, MemoryLimit),
    ) -> Result<FittedColumns, FitError> {
        let Self { places, preparation, model } = self;
        let times = Pivot::new(table, places)?.table;
        let prepared = Arc::new(preparation.dataset(&times)?);
        let choice = (MethodChoice::Catena, StructureOption::Chain);
        let posterior = condition(&prepared, model, choice, None, None, (seed, memory))?;
        Ok(FittedColumns {
            places: places.clone(),
            n_outputs: table.observations().n_outputs(),
            model: ConditionedModel::new(preparation.clone(), model, prepared, posterior),
        })
    }
}

impl FittedColumns {
    /// The places at which the model predicts.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// For each point its place and time, numbered time by time; `None` at other places.
    fn numbers(&self, query: &SpaceQuery) -> Vec<Option<usize>> {
        let n_places = self.places.len();
        let pairs = query.time_of.iter().zip(&query.place_of);
        pairs.map(|(time, place)| (*place < n_places).then_some(time * n_places + place)).collect()
    }

    /// Predictions; at other places centers are 0 and standard deviations 1.
    pub(crate) fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Predictive, FitError> {
        let query = SpaceQuery::whole(at, &self.places)?;
        let found = self.model.predict(&query.times, quantity)?;
        Ok(found.rows_at(self.n_outputs, &self.numbers(&query)))
    }

    /// The covariance of all outputs at each point; zero at other places.
    pub(super) fn covariances(&self, at: &InputPoints, quantity: Quantity) -> Result<Vec<f64>, FitError> {
        let query = SpaceQuery::whole(at, &self.places)?;
        let (n_outputs, n_places) = (self.n_outputs, self.places.len());
        let (size, width) = (n_outputs * n_outputs, n_places * n_outputs);
        let numbers = self.numbers(&query);
        let mut covariances = vec![0.0; at.n_rows() * size];
        let at_once = (COVARIANCES_AT_ONCE / (width * width)).max(1);
        for (part, times) in query.times.values().chunks(at_once).enumerate() {
            let found = self.model.covariances(&InputPoints::from_column(times.to_vec())?, quantity)?;
            for (number, covariance) in numbers.iter().zip(covariances.chunks_exact_mut(size)) {
                let Some(number) = number else { continue };
                let (time, place) = (number / n_places, number % n_places);
                let Some(time) = time.checked_sub(part * at_once) else { continue };
                let Some(block) = found.chunks_exact(width * width).nth(time) else { continue };
                for (entry, value) in covariance.iter_mut().enumerate() {
                    let (i, j) =
                        (place * n_outputs + entry / n_outputs, place * n_outputs + entry % n_outputs);
                    *value = block[i * width + j];
                }
            }
        }
        Ok(covariances)
    }

    /// Joint draws; 1 at other places.
    pub(super) fn draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let query = SpaceQuery::whole(at, &self.places)?;
        let numbers = self.numbers(&query);
        let at_times = self.model.transformed_draws(&query.times, quantity, n_draws, seed)?;
        let n_outputs = self.n_outputs;
        let mut draws = Vec::with_capacity(n_draws * at.n_rows() * n_outputs);
        for draw in at_times.chunks_exact(query.times.n_rows() * self.places.len() * n_outputs) {
            for number in &numbers {
                match number {
                    Some(number) => draws.extend(&draw[number * n_outputs..][..n_outputs]),
                    None => draws.extend(std::iter::repeat_n(1.0, n_outputs)),
                }
            }
        }
        Ok(draws)
    }
}
