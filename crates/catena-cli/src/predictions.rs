//! Tables out: what a model says, laid out as the user asked.

use catena_auto::preparation::Predictive;
use catena_io::select::LongColumns;
use catena_io::table::Column;
use catena_io::write::{
    Interval, PredictedOutput, Target, long_prediction_table, prediction_table, write_table,
};

use crate::arguments::PredictionOptions;
use crate::error::CliError;

/// What a model says about every output, by row.
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
        mean: column(output, &|at| predictive.mean(at)),
        std: column(output, &|at| predictive.deviation(at)),
        interval: options.interval.map(|share| Interval {
            low: column(output, &|at| predictive.quantile(at, 0.5 - 0.5 * share)),
            high: column(output, &|at| predictive.quantile(at, 0.5 + 0.5 * share)),
        }),
        quantiles: options
            .quantiles
            .iter()
            .map(|&share| (share, column(output, &|at| predictive.quantile(at, share))))
            .collect(),
    };
    names.iter().enumerate().map(predicted).collect()
}

/// Writes a prediction: wide, or long if the model was made from a long table.
pub(crate) fn write_predictions(
    inputs: Vec<Column>,
    outputs: Vec<PredictedOutput>,
    long: Option<&LongColumns>,
    target: &Target,
) -> Result<(), CliError> {
    let table = match long {
        None => prediction_table(inputs, outputs),
        Some(columns) => long_prediction_table(&inputs, &columns.series, &columns.value, &outputs),
    };
    Ok(write_table(&table, target)?)
}
