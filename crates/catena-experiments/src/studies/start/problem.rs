//! The problems whose chains are begun from many rows, and the ways to choose those rows.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena_studies::chain_starts::{even_starts, farthest_starts, random_starts};
use catena_studies::ett_study::ett_study_by;
use catena_studies::protocol::Protocol;
use catena_studies::sensor_study::sensor_study_by;
use catena_studies::study::Study;

use super::STUDY;
use crate::error::ExperimentError;
use crate::settings::Extent;

pub(super) const DIMS: [usize; 5] = [2, 4, 8, 16, 32];
pub(super) const CHAIN_LENGTHS: [usize; 3] = [1000, 2000, 4000];
const SENSOR_POINTS: usize = 2000;
/// The chance that a training cell of the electricity table is hidden.
const DROPOUT: f64 = 0.3;
/// Generators of the random starts: one for the electricity table, one per seed for the sensor network.
const ETT_START_SEED: u32 = 123;
const SENSOR_START_SEED: u32 = 555;

/// A table and a model of the study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Problem {
    Sensor { dim: usize },
    Ett { chain_length: usize },
}

impl Problem {
    pub(super) fn all(extent: Extent) -> Vec<Self> {
        match extent {
            Extent::Quick => vec![Self::Sensor { dim: 2 }, Self::Sensor { dim: 8 }],
            Extent::Full => {
                let sensor = DIMS.map(|dim| Self::Sensor { dim });
                let ett = CHAIN_LENGTHS.map(|chain_length| Self::Ett { chain_length });
                sensor.into_iter().chain(ett).collect()
            }
        }
    }

    /// The name in references and records.
    pub(super) fn name(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor-M{dim}"),
            Self::Ett { chain_length } => format!("ett-C{chain_length}"),
        }
    }

    /// The name in tables.
    pub(super) fn label(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor, M = {dim}"),
            Self::Ett { chain_length } => format!("electricity, C = {chain_length}"),
        }
    }

    /// The abscissa in the figure.
    pub(super) fn x(self) -> f64 {
        match self {
            Self::Sensor { dim } => dim as f64,
            Self::Ett { chain_length } => chain_length as f64,
        }
    }

    pub(super) fn n_points(self) -> usize {
        match self {
            Self::Sensor { .. } => SENSOR_POINTS,
            Self::Ett { chain_length } => chain_length,
        }
    }

    pub(super) fn is_ett(self) -> bool {
        matches!(self, Self::Ett { .. })
    }

    /// The data of a seed, the same for all starts.
    pub(super) fn study(self, csv: Option<&str>, seed: u32) -> Result<Study, ExperimentError> {
        let protocol = Protocol::CHAIN_STARTS;
        match self {
            Self::Sensor { dim } => Ok(sensor_study_by(protocol, dim, SENSOR_POINTS, seed)?),
            Self::Ett { chain_length } => {
                let csv = csv.ok_or(ExperimentError::NoElectricity { study: STUDY })?;
                Ok(ett_study_by(protocol, csv, chain_length / 2, DROPOUT, seed)?)
            }
        }
    }

    /// The rows to start from.
    pub(super) fn starts(
        self,
        scheme: Scheme,
        inputs: &InputPoints,
        count: usize,
        seed: u32,
    ) -> Vec<RowIndex> {
        let start_seed = match self {
            Self::Sensor { .. } => seed + SENSOR_START_SEED,
            Self::Ett { .. } => ETT_START_SEED,
        };
        match scheme {
            Scheme::Even => even_starts(inputs.n_rows(), count),
            Scheme::Random => random_starts(inputs.n_rows(), count, start_seed),
            Scheme::Farthest => farthest_starts(inputs, count),
        }
    }
}

/// A way to choose starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Even,
    Random,
    Farthest,
}

impl Scheme {
    pub(super) const ALL: [Self; 3] = [Self::Even, Self::Random, Self::Farthest];

    /// The name in records and tables.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Random => "random",
            Self::Farthest => "farthest",
        }
    }

    /// The name of a number of one start in a record.
    pub(super) fn key(self, start: usize, number: &str) -> String {
        format!("{}.{start:02}.{number}", self.word())
    }
}
