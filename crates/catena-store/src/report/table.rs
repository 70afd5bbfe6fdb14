//! The rows of the page: inputs, outputs, predictions and bands.

use serde::Serialize;

/// The rows of the page. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Input columns. With one, outputs are drawn along it; with more, predicted against observed; with two and three, a map.
    pub inputs: Vec<InputColumn>,
    /// Outputs with their predictions.
    pub outputs: Vec<OutputSeries>,
    /// What the bands cover.
    pub band_meaning: BandMeaning,
}

/// One input column.
#[derive(Clone, Debug, PartialEq)]
pub struct InputColumn {
    /// Name, unit and kind.
    pub axis: Axis,
    /// One number per row, in the user's units; seconds since 1970-01-01T00:00 for time.
    pub values: Vec<f64>,
}

/// Name, unit and kind of an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Column name.
    pub name: String,
    /// Unit, shown after the name.
    pub unit: Option<String>,
    /// Number or time.
    pub kind: AxisKind,
}

impl Axis {
    /// A numeric axis.
    pub fn number(name: impl Into<String>, unit: Option<&str>) -> Self {
        Self { name: name.into(), unit: unit.map(str::to_owned), kind: AxisKind::Number }
    }

    /// A time axis.
    pub fn time(name: impl Into<String>, zone: TimeZone) -> Self {
        Self { name: name.into(), unit: None, kind: AxisKind::Time(zone) }
    }
}

/// Whether an input is a number or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    /// Plain numbers.
    Number,
    /// Seconds since 1970-01-01T00:00, shown in a zone.
    Time(TimeZone),
}

/// The zone of the times on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeZone {
    /// Times without a zone; seconds count from 1970-01-01T00:00 on the same clock.
    Naive,
    /// Instants in seconds since 1970-01-01T00:00 UTC, shown this many minutes ahead of UTC.
    MinutesAheadOfUtc(i16),
}

/// One output: observations and predictions by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputSeries {
    /// Column name.
    pub name: String,
    /// Unit, shown after the name.
    pub unit: Option<String>,
    /// Observed values given to the fit; `None` is missing.
    pub observed: Vec<Option<f64>>,
    /// Held-out values; empty without held-out cells.
    pub held_out: Vec<Option<f64>>,
    /// Those of the observed values that all others contradict; empty without any.
    pub bad: Vec<Option<f64>>,
    /// Posterior mean, in the user's units. NaN where there is no prediction.
    pub mean: Vec<f64>,
    /// The 50 % and 95 % bands.
    pub bands: Bands,
}

/// The 50 % and 95 % bands of one output.
#[derive(Clone, Debug, PartialEq)]
pub enum Bands {
    /// Mean ± 0.674 and ± 1.960 standard deviations.
    Gaussian {
        /// Standard deviation by row.
        std: Vec<f64>,
    },
    /// Quantiles by row, for outputs that are not Gaussian in the user's units.
    Quantiles {
        /// Lower end of the 50 % band: the 25 % quantile.
        lo50: Vec<f64>,
        /// Upper end of the 50 % band: the 75 % quantile.
        hi50: Vec<f64>,
        /// Lower end of the 95 % band: the 2.5 % quantile.
        lo95: Vec<f64>,
        /// Upper end of the 95 % band: the 97.5 % quantile.
        hi95: Vec<f64>,
    },
}

impl Default for Bands {
    fn default() -> Self {
        Self::Gaussian { std: vec![] }
    }
}

impl Bands {
    /// The columns with their names.
    pub(crate) fn columns(&self) -> Vec<(&'static str, &[f64])> {
        match self {
            Self::Gaussian { std } => vec![("std", std)],
            Self::Quantiles { lo50, hi50, lo95, hi95 } => {
                vec![("lo50", lo50), ("hi50", hi50), ("lo95", lo95), ("hi95", hi95)]
            }
        }
    }
}

/// What a band covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BandMeaning {
    /// A new observation, noise included.
    #[default]
    Observation,
    /// The function itself, without noise.
    Function,
}
