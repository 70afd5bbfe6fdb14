//! Writes predictions as tables.

use catena_fit::Predictive;
use catena_io::table::Column;
use catena_io::write::{
    Interval, PredictedOutput, SeriesRows, Target, long_prediction_table, prediction_table, write_table,
};

use crate::arguments::PredictionOptions;
use crate::error::CliError;

/// A column added for every output, with a number in each filled cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Added {
    Deviation,
    /// Lower end of the central interval of this probability.
    Low(f64),
    /// Upper end of the central interval of this probability.
    High(f64),
    Quantile(f64),
}

impl Added {
    /// The columns requested by the options.
    pub(crate) fn requested(deviation: bool, options: &PredictionOptions) -> Vec<Self> {
        let deviation = deviation.then_some(Self::Deviation);
        let interval = options.interval.into_iter().flat_map(|share| [Self::Low(share), Self::High(share)]);
        let quantiles = options.quantiles().into_iter().map(Self::Quantile);
        deviation.into_iter().chain(interval).chain(quantiles).collect()
    }

    /// The name of the column beside an output.
    pub(crate) fn name(self, output: &str) -> String {
        match self {
            Self::Deviation => format!("{output}_std"),
            Self::Low(_) => format!("{output}_lo"),
            Self::High(_) => format!("{output}_hi"),
            Self::Quantile(share) => format!("{output}_q{share}"),
        }
    }

    /// The number of a cell.
    pub(crate) fn number(self, predictive: &Predictive, at: usize) -> f64 {
        match self {
            Self::Deviation => predictive.deviation(at),
            Self::Low(share) => predictive.quantile(at, 0.5 - 0.5 * share),
            Self::High(share) => predictive.quantile(at, 0.5 + 0.5 * share),
            Self::Quantile(share) => predictive.quantile(at, share),
        }
    }
}

/// The predicted columns of every output.
pub(crate) fn predicted_outputs(
    names: &[String],
    predictive: &Predictive,
    options: &PredictionOptions,
) -> Vec<PredictedOutput> {
    let (n_rows, n_outputs) = (predictive.n_rows(), predictive.n_outputs());
    let column = |output: usize, value: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..n_rows).map(|row| value(row * n_outputs + output)).collect()
    };
    let predicted = |(output, name): (usize, &String)| PredictedOutput {
        name: name.clone(),
        point: column(output, &|at| predictive.point(at, options.point)),
        point_name: options.point.name(),
        std: column(output, &|at| predictive.deviation(at)),
        interval: options.interval.map(|share| Interval {
            low: column(output, &|at| Added::Low(share).number(predictive, at)),
            high: column(output, &|at| Added::High(share).number(predictive, at)),
        }),
        quantiles: options
            .quantiles()
            .into_iter()
            .map(|share| (share, column(output, &|at| predictive.quantile(at, share))))
            .collect(),
    };
    names.iter().enumerate().map(predicted).collect()
}

/// Writes a prediction in the layout of the model's table: wide, or with a row per series.
pub(crate) fn write_predictions(
    inputs: Vec<Column>,
    outputs: Vec<PredictedOutput>,
    rows: Option<&SeriesRows>,
    target: &Target,
) -> Result<(), CliError> {
    let table = match rows {
        None => prediction_table(inputs, outputs),
        Some(rows) => long_prediction_table(&inputs, rows, &outputs),
    };
    Ok(write_table(&table, target)?)
}
