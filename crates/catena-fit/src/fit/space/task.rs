//! Learning fields on a table of times: starts, free parameters and priors.

use std::ops::ControlFlow;

use catena::data::Dataset;
use catena::index::LatentIndex;
use catena::inference::Gradient;
use catena::kernel::{Kernel, StateKind};
use catena::learning::{
    Evidence, Family, Learned, MultiStartSettings, OutputMoments, Parameters, Priors, Progress, multi_start,
};
use catena::model::{Latent, Lmc, ModelError};
use catena::units::LengthScale;

use super::pairs::length_scale_of_pairs;
use crate::cost::RowSize;
use crate::error::{FitError, MethodError};
use crate::folds::in_stretches;
use crate::methods::SpaceEvidence;
use crate::options::{FitOptions, StructureOption};
use crate::prepare::{PreparedTable, TableStatistics};
use crate::space::{Fields, Geometry, Pivot, Places};

/// The first length-scales between places are within this factor of that of the correlations of pairs.
const SPREAD: f64 = 3.0;

/// A table of places and times in the model's units, ready for learning.
pub(super) struct SpaceTable {
    pub(super) places: Places,
    /// The table of times with the outputs of all places, on its chain.
    pub(super) times: PreparedTable,
    moments: OutputMoments,
    /// The length-scale between places by the correlations of their outputs.
    length_scale_of_pairs: Option<f64>,
    /// Constant outputs of the table.
    statistics: TableStatistics,
}

impl SpaceTable {
    pub(super) fn new(long: &Dataset, geometry: Geometry) -> Result<Self, FitError> {
        let places = Places::of(long.inputs(), geometry);
        let pivot = Pivot::new(long, &places)?;
        let length_scale_of_pairs = length_scale_of_pairs(&pivot.table, &places);
        let statistics = PreparedTable::along_rows(long.clone())?.statistics;
        let times = PreparedTable::new(pivot.table, StructureOption::Auto)?;
        let moments = OutputMoments::of(long.observations());
        Ok(Self { places, times, moments, length_scale_of_pairs, statistics })
    }

    /// About this many times, in stretches; `None` for the whole table.
    pub(super) fn part(&self, n_times: usize) -> Result<Option<Self>, FitError> {
        let times = in_stretches(&self.times, n_times, StructureOption::Auto)?;
        Ok(times.map(|times| Self {
            places: self.places.clone(),
            times,
            moments: self.moments.clone(),
            length_scale_of_pairs: self.length_scale_of_pairs,
            statistics: self.statistics.clone(),
        }))
    }

    /// The number of outputs at a place.
    pub(super) fn n_outputs(&self) -> usize {
        self.moments.n_outputs()
    }

    /// The size of a row of times under these fields.
    pub(super) fn row_size(&self, n_fields: usize, along_time: Kernel) -> RowSize {
        let n_places = self.places.len();
        let states = along_time.state_dim(StateKind::Derivative).unwrap_or(1);
        let n_latents = n_places * n_fields;
        RowSize { state_size: states * n_latents, n_latents, n_outputs: n_places * self.n_outputs() }
    }
}

/// A family of fields: how many, and their kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldFamily {
    pub(super) n_fields: usize,
    pub(super) along_time: Kernel,
    pub(super) between_places: Kernel,
}

impl FieldFamily {
    /// The family of a model of fields.
    pub(super) fn of(fields: &Fields) -> Self {
        let kernel =
            |latents: &[Latent]| latents.first().and_then(Latent::kernel).unwrap_or(Kernel::Matern32);
        Self {
            n_fields: fields.n_fields(),
            along_time: kernel(fields.time()),
            between_places: kernel(fields.space()),
        }
    }

    pub(super) fn name(self) -> String {
        let plural = if self.n_fields == 1 { "" } else { "s" };
        let Self { n_fields, along_time, between_places } = self;
        format!(
            "{n_fields} field{plural} ({} along time, {} between places)",
            along_time.name(),
            between_places.name()
        )
    }

    /// A start from the table; length-scales in time and space are multiplied by these factors. Between places they are log-spaced around
    /// that of the correlations of pairs; the slowest field has the longest.
    pub(super) fn start(self, table: &SpaceTable, (time, space): (f64, f64)) -> Result<Lmc, FitError> {
        let family = Family {
            n_shared: self.n_fields,
            shared_kernel: self.along_time,
            private_kernel: None,
            state: StateKind::Derivative,
            tied: false,
        };
        let start = family.start(&table.moments, table.times.statistics.extent, time)?;
        let start = table.statistics.silenced(start)?;
        let spacing = table.places.spacing().unwrap_or(1.0);
        let extent = || table.places.distances().into_iter().fold(spacing, f64::max);
        let of_pairs = table.length_scale_of_pairs.unwrap_or_else(extent);
        let (low, high) = (of_pairs / SPREAD, of_pairs * SPREAD);
        let latent = |field: usize| -> Result<Latent, ModelError> {
            let share = match self.n_fields {
                1 => 0.5,
                count => field as f64 / (count - 1) as f64,
            };
            let length = space * high * (low / high).powf(share);
            Ok(Latent::new(self.between_places, StateKind::Value, LengthScale::new(length)?)?)
        };
        let latents = (0..self.n_fields).map(latent).collect::<Result<_, _>>()?;
        Ok(Fields::new(&start, latents).to_model()?)
    }
}

/// The free parameters of a model of fields: the weights of its last L columns are those of the first.
fn parameters(model: Lmc, noise_floor: f64, statistics: &TableStatistics) -> Parameters {
    let n_fields = model.n_latents() / 2;
    let heads = (0..n_fields).chain(0..n_fields).collect();
    let bound = (n_fields..2 * n_fields).map(LatentIndex::new);
    let parameters =
        bound.fold(Parameters::of_sums(model, noise_floor, heads), Parameters::with_fixed_amplitude);
    let constant = statistics.constant.iter().map(|(output, _)| *output);
    constant.fold(parameters, |parameters, output| {
        parameters.with_fixed_weights_of(output).with_fixed_noise_of(output)
    })
}

/// The number of free parameters of a model of fields.
pub(super) fn n_free(table: &SpaceTable, model: &Lmc, options: &FitOptions) -> usize {
    parameters(model.clone(), options.noise_floor, &table.statistics).n_free()
}

/// Learns fields from these starts.
pub(super) fn learn(
    table: &SpaceTable,
    starts: &[Lmc],
    settings: MultiStartSettings,
    options: &FitOptions,
    monitor: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> Result<Learned, FitError> {
    let Some(first) = starts.first() else { return Err(FitError::NoStart) };
    let priors = options.priors.clone().unwrap_or_else(|| table.times.statistics.priors());
    // Every weight is in two columns.
    let priors = Priors { weight_precision: 0.5 * priors.weight_precision, ..priors };
    let SpaceTable { places, times, .. } = table;
    // Built once, so that a table without an evidence is an error and no failed start.
    let evidence = |model: &Lmc| SpaceEvidence::along(places, &times.dataset, times.tree.clone(), model, 1.0);
    evidence(first)?;
    let parameters = parameters(first.clone(), options.noise_floor, &table.statistics);
    let make = || LazyEvidence { make: &evidence, start: first, found: None };
    Ok(multi_start(&make, &parameters, &priors, starts, settings, monitor)?)
}

/// An evidence that is built when it is first used, since building it may fail.
struct LazyEvidence<'a, F> {
    make: &'a F,
    start: &'a Lmc,
    found: Option<SpaceEvidence>,
}

impl<F: Fn(&Lmc) -> Result<SpaceEvidence, MethodError>> Evidence for LazyEvidence<'_, F> {
    type Error = MethodError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, Self::Error> {
        let evidence = match &mut self.found {
            Some(evidence) => evidence,
            empty => empty.insert((self.make)(self.start)?),
        };
        evidence.gradient(model)
    }
}
