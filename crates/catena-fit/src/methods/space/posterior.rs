//! The posterior of fields: at the places of the table that of the model along time; at a new place the fields there given those at the
//! places, with the variance of what they leave open.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::InferenceError;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::prediction::Prediction;
use catena::structure::sorted_chain;
use catena::units::{DistanceScale, Variance};
use catena_methods::{Bytes, MemoryLimit, Problem};

use super::query::SpaceQuery;
use crate::error::MethodError;
use crate::methods::message_passing::{MessagePassing, States};
use crate::methods::method::{Evidence, Fitted, Method, Quantity};
use crate::options::StructureOption;
use crate::space::{
    Fields, FieldsAtPlaces, Geometry, MOST_PLACES, Pivot, Places, semidefinite_root, with_more_outputs,
};

/// The fewest new places that are predicted in one sweep.
const NEW_AT_ONCE: usize = 32;
/// Numbers of all covariances that are kept at once.
const COVARIANCES_AT_ONCE: usize = 8_000_000;
/// Between the seeds of what the places leave open of each field.
const OTHER_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The posterior of fields.
pub(super) struct SpacePosterior {
    fields: FieldsAtPlaces,
    places: Places,
    pivot: Pivot,
    scale: DistanceScale,
    memory: MemoryLimit,
    /// The table's rows.
    rows: InputPoints,
    /// Message passing along time at the places of the table.
    along_time: Box<dyn Fitted>,
}

impl SpacePosterior {
    pub(super) fn new(
        problem: Problem<'_>,
        geometry: Geometry,
        memory: MemoryLimit,
    ) -> Result<Self, MethodError> {
        let (table, scale) = (problem.dataset(), problem.distance_scale());
        if table.inputs().dim() < 2 {
            return Err(MethodError::NoPlace);
        }
        if geometry.is_sphere() && table.inputs().dim() != 3 {
            return Err(MethodError::NotOnSphere { found: table.inputs().dim() - 1 });
        }
        let places = Places::of(table.inputs(), geometry);
        if places.len() > MOST_PLACES {
            return Err(MethodError::TooManyPlaces { found: places.len(), most: MOST_PLACES });
        }
        let fields = Fields::of(problem.model())?;
        let pivot = Pivot::new(table, &places)?;
        let (n_times, n_cells) = (pivot.table.n_rows(), table.observations().n_observed());
        check_memory((fields.state_size(places.len()), places.len()), (n_times, n_cells), memory)?;
        let fields = FieldsAtPlaces::new(fields, &places, scale.get())?;
        let along_time = along_time(&fields, &[], &pivot.table, scale)?;
        Ok(Self { fields, places, pivot, scale, memory, rows: table.inputs().clone(), along_time })
    }

    fn n_outputs(&self) -> usize {
        self.fields.fields().n_outputs()
    }

    fn check_dim(&self, at: &InputPoints) -> Result<(), MethodError> {
        let (expected, found) = (self.rows.dim(), at.dim());
        if expected == found { Ok(()) } else { Err(MethodError::InputDim { expected, found }) }
    }

    /// For each field the readings of new places.
    fn readings(&self, new: &Places) -> Vec<Vec<f64>> {
        let n_fields = self.fields.fields().n_fields();
        (0..n_fields).map(|field| self.fields.readings(field, &self.places, new)).collect()
    }

    /// For each field, what the places leave open of its variance at each new place. At a new place that is one of the table but for
    /// rounding, nothing is left.
    fn open_variances(&self, new: &Places, readings: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let of_place = |(field, readings): (usize, &Vec<f64>)| {
            let rest = |place: usize| {
                let own = &readings[place * self.places.len()..][..self.places.len()];
                self.fields.rest(field, &new.part(place..place + 1), own)[0].max(0.0)
            };
            (0..new.len()).map(rest).collect()
        };
        readings.iter().enumerate().map(of_place).collect()
    }

    /// Passes the answers of message passing along time with new places as outputs to `read`.
    fn with_new<T>(
        &self,
        readings: &[Vec<f64>],
        new: &Places,
        read: impl FnOnce(&dyn Fitted) -> Result<T, MethodError>,
    ) -> Result<T, MethodError> {
        if new.is_empty() {
            return read(self.along_time.as_ref());
        }
        read(along_time(&self.fields, readings, &self.pivot.table, self.scale)?.as_ref())
    }

    /// The covariance of two outputs that the places leave open at a new place.
    fn open_covariance(&self, open: &[Vec<f64>], place: usize, (one, other): (usize, usize)) -> f64 {
        let fields = self.fields.fields();
        let of_field = |(field, open): (usize, &Vec<f64>)| {
            fields.weight(one, field) * fields.weight(other, field) * open[place]
        };
        open.iter().enumerate().map(of_field).sum()
    }

    /// Draws of what the places leave open of a field, each at new places (the slower index) and these times.
    fn open_draws(
        &self,
        field: usize,
        (new, readings): (&Places, &[f64]),
        times: &InputPoints,
        (n_draws, seed): (usize, u64),
    ) -> Result<Vec<Vec<f64>>, MethodError> {
        let (n_new, n_times) = (new.len(), times.n_rows());
        let root = semidefinite_root(n_new, &self.fields.rest(field, new, readings));
        let process = prior(self.fields.fields().time()[field], times, self.scale)?;
        let paths: Vec<Vec<f64>> = process.draws(seed).take(n_draws * n_new).collect();
        let draw = |own: &[Vec<f64>]| {
            let entry = |at: usize| -> f64 {
                let (place, time) = (at / n_times, at % n_times);
                root[place * n_new..][..n_new].iter().zip(own).map(|(root, path)| root * path[time]).sum()
            };
            (0..n_new * n_times).map(entry).collect()
        };
        Ok(paths.chunks_exact(n_new).map(draw).collect())
    }

    /// An error at a time of the model along time as an error at a row of a query.
    fn in_rows(error: MethodError, query: &SpaceQuery) -> MethodError {
        let MethodError::Inference(InferenceError::Overflow { row }) = error else { return error };
        let found = query.time_of.iter().position(|time| *time == row.get());
        let row = RowIndex::new(found.map_or(0, |at| query.rows[at]));
        MethodError::Inference(InferenceError::Overflow { row })
    }
}

impl Fitted for SpacePosterior {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        self.along_time.evidence().map_err(|error| match error {
            MethodError::Inference(InferenceError::Overflow { row }) => {
                let row = self.pivot.a_row_of.get(row.get()).copied().unwrap_or(row);
                MethodError::Inference(InferenceError::Overflow { row })
            }
            other => other,
        })
    }

    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.check_dim(at)?;
        let n_outputs = self.n_outputs();
        let (mut means, mut variances) =
            (vec![0.0; at.n_rows() * n_outputs], vec![0.0; at.n_rows() * n_outputs]);
        for query in SpaceQuery::in_parts(at, &self.places, self.places.len().max(NEW_AT_ONCE))? {
            let readings = self.readings(&query.new);
            let open = self.open_variances(&query.new, &readings);
            let found = self
                .with_new(&readings, &query.new, |fitted| fitted.predict(&query.times, Quantity::Function))
                .map_err(|error| Self::in_rows(error, &query))?;
            let width = found.n_outputs();
            for (at, &row) in query.rows.iter().enumerate() {
                let place = query.place_of[at];
                for output in 0..n_outputs {
                    let from = query.time_of[at] * width + place * n_outputs + output;
                    let to = row * n_outputs + output;
                    means[to] = found.means()[from];
                    variances[to] = found.variances()[from];
                    if let Some(new) = place.checked_sub(self.places.len()) {
                        variances[to] += self.open_covariance(&open, new, (output, output));
                    }
                }
            }
        }
        let prediction = Prediction::new(at.n_rows(), n_outputs, means, variances)?;
        Ok(match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(self.fields.fields().noise()),
        })
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.predict(&self.rows, quantity)
    }

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        self.check_dim(at)?;
        let n_outputs = self.n_outputs();
        let mut covariances = vec![0.0; at.n_rows() * n_outputs * n_outputs];
        for query in SpaceQuery::in_parts(at, &self.places, NEW_AT_ONCE)? {
            let readings = self.readings(&query.new);
            let open = self.open_variances(&query.new, &readings);
            let width = (self.places.len() + query.new.len()) * n_outputs;
            let times_at_once = (COVARIANCES_AT_ONCE / (width * width)).max(1);
            let times = query.times.values();
            self.with_new(&readings, &query.new, |fitted| {
                for (part, times) in times.chunks(times_at_once).enumerate() {
                    let found = fitted
                        .covariances(&InputPoints::from_column(times.to_vec())?)
                        .map_err(|error| Self::in_rows(error, &query))?;
                    for (at, &row) in query.rows.iter().enumerate() {
                        let Some(time) = query.time_of[at].checked_sub(part * times_at_once) else {
                            continue;
                        };
                        let Some(block) = found.chunks_exact(width * width).nth(time) else { continue };
                        let place = query.place_of[at];
                        for entry in 0..n_outputs * n_outputs {
                            let (i, j) = (entry / n_outputs, entry % n_outputs);
                            let from = (place * n_outputs + i) * width + place * n_outputs + j;
                            let rest = place.checked_sub(self.places.len());
                            covariances[row * n_outputs * n_outputs + entry] = block[from]
                                + rest.map_or(0.0, |new| self.open_covariance(&open, new, (i, j)));
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(covariances)
    }

    /// Draws along time at all places, and independent ones of what the places leave open at new places.
    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        self.check_dim(at)?;
        let n_outputs = self.n_outputs();
        let query = SpaceQuery::whole(at, &self.places)?;
        let (n_places, n_new) = (self.places.len(), query.new.len());
        if n_new > MOST_PLACES {
            return Err(MethodError::TooManyPlaces { found: n_new, most: MOST_PLACES });
        }
        let (n_times, width) = (query.times.n_rows(), (n_places + n_new) * n_outputs);
        let state_size = self.fields.fields().state_size(n_places);
        // The states of all times, and the draws.
        let n_all = self.pivot.table.n_rows() + n_times;
        check_memory((2 * state_size, n_places), (n_all, n_draws * n_times * width), self.memory)?;
        let readings = self.readings(&query.new);
        let along_time = self
            .with_new(&readings, &query.new, |fitted| fitted.draws(&query.times, n_draws, seed))
            .map_err(|error| Self::in_rows(error, &query))?;
        let fields = self.fields.fields();
        let mut open: Vec<Vec<Vec<f64>>> = vec![];
        for (field, readings) in readings.iter().enumerate().filter(|_| n_new > 0) {
            let seed = seed.wrapping_add(OTHER_SEED.wrapping_mul(1 + field as u64));
            let new = (&query.new, readings.as_slice());
            open.push(self.open_draws(field, new, &query.times, (n_draws, seed))?);
        }
        let mut draws = Vec::with_capacity(n_draws * at.n_rows() * n_outputs);
        for (number, draw) in along_time.chunks_exact(n_times * width).enumerate() {
            for (&time, &place) in query.time_of.iter().zip(&query.place_of) {
                for output in 0..n_outputs {
                    let mut value = draw[time * width + place * n_outputs + output];
                    if let Some(new) = place.checked_sub(n_places) {
                        let of_field = |(field, open): (usize, &Vec<Vec<f64>>)| {
                            fields.weight(output, field) * open[number][new * n_times + time]
                        };
                        value += open.iter().enumerate().map(of_field).sum::<f64>();
                    }
                    draws.push(value);
                }
            }
        }
        Ok(draws)
    }

    fn n_sweeps(&self) -> usize {
        self.along_time.n_sweeps()
    }
}

/// Message passing along time at the places of a table of times, and at new places with these readings.
fn along_time(
    fields: &FieldsAtPlaces,
    readings: &[Vec<f64>],
    times: &Dataset,
    scale: DistanceScale,
) -> Result<Box<dyn Fitted>, MethodError> {
    let model = fields.model(readings)?;
    let method = MessagePassing {
        structure: StructureOption::Chain,
        states: States::AsGiven,
        ..MessagePassing::default()
    };
    if model.n_outputs() == times.observations().n_outputs() {
        return method.fit(Problem::new(&model, times, scale)?);
    }
    let observations = with_more_outputs(times.observations(), model.n_outputs())?;
    method.fit(Problem::new(&model, &Dataset::new(times.inputs().clone(), observations)?, scale)?)
}

/// The process along time without any observation, at these times.
fn prior(
    latent: Latent,
    times: &InputPoints,
    scale: DistanceScale,
) -> Result<Posterior<'static>, MethodError> {
    let noise = vec![Variance::new(1.0).map_err(catena::model::ModelError::from)?];
    let model = Lmc::new(vec![latent], MixingMatrix::shared(1, 1, vec![1.0])?, noise)?;
    let tree = Arc::new(sorted_chain(times)?.with_distance_scale(scale)?);
    let nothing = Observations::from_dense(times.n_rows(), 1, &vec![f64::NAN; times.n_rows()])?;
    Ok(Posterior::new(&FactorGraph::new(Arc::new(model), tree, &nothing)?)?)
}

/// Refuses a sweep over this many times and cells whose states need more memory than the limit.
fn check_memory(
    (state_size, n_places): (usize, usize),
    (n_times, n_cells): (usize, usize),
    limit: MemoryLimit,
) -> Result<(), MethodError> {
    let (size, times, cells) = (state_size as f64, n_times as f64, n_cells as f64);
    let needed = Bytes::about(8.0 * (times * (size * size + size) + cells * (size + 3.0)));
    let limit = limit.get();
    if needed > limit { Err(MethodError::PlacesMemory { n_places, n_times, needed, limit }) } else { Ok(()) }
}
