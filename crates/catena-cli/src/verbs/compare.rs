//! `compare`: scores methods on held-out cells of a table.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;
use catena::prediction::Prediction;
use catena_fit::scores::{Scores, score};
use catena_fit::{Fit, FitError, FitOptions, FitParts, MethodChoice, Predictive, Quantity, StructureOption};
use catena_io::time::Horizon;
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};
use clap::Args;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::arguments::{Columns, ModelOptions, Printing, horizon};
use crate::console::Console;
use crate::error::CliError;
use crate::learning::{FitRequest, fit_watched, warn};
use crate::scoreboard::{print_json, print_text};
use crate::source::{Source, Text, open};

const EXAMPLES: &str = "\
Examples:
  catena compare sensors.csv
  catena compare sensors.csv --block 48h           hold out 48 consecutive hours of every output
  catena compare sensors.csv --budget quick --json

A tenth of the observed cells, chosen at random, or one block of every output is held out; no method sees it. RMSE is in standard \
deviations of each output; the log score is the mean log predictive density in nats per held-out cell (larger is better). Rows are sorted \
by RMSE. The row `catena`, or `auto: METHOD` with two or more inputs, is the model that `fit` selects. Other structures use the \
parameters learned by message passing, other methods those of the selected model; `independent outputs` and, with two or more inputs, \
`fullscale` learn their own.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to compare methods on.
    data: PathBuf,
    /// Hold out one block of every output, of this duration or number of rows, instead of single cells.
    #[arg(long, value_parser = horizon, value_name = "B")]
    block: Option<Horizon>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Every output keeps at least this many observed cells.
const FEWEST_LEFT: usize = 4;
const FEWEST_CELLS: usize = 20;
/// Larger tables take the dense and neighbor methods minutes.
const MOST_CELLS_DENSE: usize = 4000;
const MOST_CELLS_SPARSE: usize = 20_000;

/// A method with its scores, learning time and prediction time, or the reason why it did not run.
struct Row {
    name: String,
    outcome: Result<(Scores, f64, f64), String>,
}

/// Compares methods on held-out cells.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model)?;
    let source = open(data, columns, (Text::Gone, &arguments.model), console)?;
    let Some(options) = request.for_table(&source.frame, "compare", *printing)? else { return Ok(()) };
    let held_out = held_out_cells(arguments, &source)?;
    let failed = |error: FitError| source.in_user_terms(error);
    let table = without(&source, &held_out).map_err(|error| failed(error.into()))?;
    console.say(format!("held out: {} of {} observed cells", held_out.len(), source.frame.n_observed()));
    let begin = Instant::now();
    let fit = fit_watched(&table, &options, console).map_err(failed)?;
    let seconds = begin.elapsed().as_secs_f64();
    warn(&fit, console);
    let mut rows = scored_methods(&fit, seconds, &options, &held_out, console);
    rows.sort_by(|left, right| rank(left).total_cmp(&rank(right)));
    if printing.json {
        let rows: Vec<Value> = rows.iter().map(to_json).collect();
        return print_json(
            &json!({"held_out_cells": held_out.len(), "hidden_cells": held_out.len(), "methods": rows}),
        );
    }
    print_text(&to_text(&rows))
}

fn rank(row: &Row) -> f64 {
    row.outcome.as_ref().map_or(f64::INFINITY, |(scores, ..)| scores.rmse)
}

/// Row-major indices and values of the cells to hold out.
fn held_out_cells(arguments: &Arguments, source: &Source) -> Result<Vec<(usize, f64)>, CliError> {
    let frame = &source.frame;
    let n_outputs = frame.n_outputs();
    let mut generator = ChaCha8Rng::seed_from_u64(arguments.model.seed);
    let mut below = |bound: usize| (generator.next_u64() % bound.max(1) as u64) as usize;
    let mut order: Vec<usize> = (0..frame.n_rows()).collect();
    let along = frame.inputs.first().map_or(&[][..], |input| &input.values);
    order.sort_by(|a, b| along[*a].total_cmp(&along[*b]));
    let is_time = frame.inputs.len() == 1 && frame.inputs[0].time.is_some();
    if arguments.block.is_some() && frame.inputs.len() != 1 {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    }
    let mut held_out = vec![];
    for output in 0..n_outputs {
        let places = order.iter().map(|row| row * n_outputs + output);
        let mut cells: Vec<usize> = places.filter(|at| !frame.values[*at].is_nan()).collect();
        let most = cells.len().saturating_sub(FEWEST_LEFT);
        match arguments.block {
            None => {
                let count = cells.len().div_ceil(10).min(most);
                for at in 0..count {
                    let other = at + below(cells.len() - at);
                    cells.swap(at, other);
                }
                held_out.extend_from_slice(&cells[..count]);
            }
            Some(Horizon::Steps(rows)) => {
                let count = rows.min(most);
                let begin = below(cells.len() - count + 1);
                held_out.extend_from_slice(&cells[begin..begin + count]);
            }
            Some(Horizon::Along(duration)) if is_time => {
                let time = |at: usize| along[at / n_outputs];
                let begin = below(cells.len());
                let inside = cells[begin..]
                    .iter()
                    .take_while(|at| time(**at) < time(cells[begin]) + duration.seconds());
                let count = inside.count().min(most);
                held_out.extend_from_slice(&cells[begin..begin + count]);
            }
            Some(Horizon::Along(_)) => {
                let column = frame.inputs[0].name.clone();
                return Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column });
            }
        }
    }
    if frame.n_observed() < FEWEST_CELLS || held_out.is_empty() {
        return Err(CliError::TooFewCells { file: frame.file.clone() });
    }
    held_out.sort_unstable();
    Ok(held_out.into_iter().map(|at| (at, frame.values[at])).collect())
}

fn without(source: &Source, held_out: &[(usize, f64)]) -> Result<Dataset, catena::data::DataError> {
    let mut frame = source.frame.clone();
    for (at, _) in held_out {
        frame.values[*at] = f64::NAN;
    }
    crate::source::dataset(&frame)
}

/// Scores every applicable method on the same cells.
fn scored_methods(
    fit: &Fit,
    seconds: f64,
    options: &FitOptions,
    held_out: &[(usize, f64)],
    console: Console,
) -> Vec<Row> {
    let table = fit.table();
    let scales: Vec<f64> = fit.parts().preparation.outputs.iter().map(|output| output.scale).collect();
    let scored = |name: &str, learn: f64, predict: &dyn Fn() -> Result<Predictive, FitError>| {
        let begin = Instant::now();
        let outcome = predict()
            .map(|predictive| {
                let scores = score(&predictive, held_out.iter().copied(), &scales);
                (scores, learn, begin.elapsed().as_secs_f64())
            })
            .map_err(|error| error.to_string());
        Row { name: name.to_owned(), outcome }
    };
    let is_message_passing = fit.parts().method.is_message_passing();
    let first =
        if is_message_passing { "catena".to_owned() } else { format!("auto: {}", fit.parts().method) };
    let mut rows = vec![scored(&first, seconds, &|| fit.predict_rows(Quantity::Observation))];
    // Message passing and the full-scale method learn their own parameters if they were not selected.
    let learned = |options: FitOptions| {
        let begin = Instant::now();
        (fit_watched(table, &options, console), begin.elapsed().as_secs_f64())
    };
    let by = |method: MethodChoice| learned(FitOptions { method, ..options.clone() });
    let passing = (!is_message_passing).then(|| by(MethodChoice::Catena));
    if let Some((passing, learn)) = &passing {
        rows.push(scored("catena", *learn, &|| predict_rows(passing)));
    }
    if table.observations().n_outputs() > 1 {
        let apart = FitOptions { latents: Some(0), private: Some(true), parameters: None, ..options.clone() };
        let (apart, learn) = learned(apart);
        rows.push(scored("independent outputs", learn, &|| predict_rows(&apart)));
    }
    // Another method or structure with the parameters of a fit.
    let with = |base: &Fit, method: MethodChoice, structure: StructureOption| {
        let parts = FitParts { method, structure, ..base.parts().clone() };
        Fit::from_parts(parts)?.predict_rows(Quantity::Observation)
    };
    let n_cells = table.observations().n_observed();
    if table.inputs().dim() > 1 {
        let base = passing.as_ref().and_then(|(passing, _)| passing.as_ref().ok()).unwrap_or(fit);
        for (name, structure) in [
            ("catena, chain", StructureOption::Chain),
            ("catena, tree", StructureOption::Tree),
            ("catena, ensemble:8", StructureOption::Ensemble { n_chains: 8 }),
        ] {
            rows.push(scored(name, 0.0, &|| with(base, MethodChoice::Catena, structure)));
        }
        let is_full_scale = matches!(fit.parts().method, MethodChoice::FullScale { .. });
        if !is_full_scale && options.parameters.is_none() {
            let (fitted, learn) = by(MethodChoice::FullScale { size: None });
            let name = match &fitted {
                Ok(fitted) => fitted.parts().method.to_string(),
                Err(_) => "fullscale".to_owned(),
            };
            rows.push(scored(&name, learn, &|| predict_rows(&fitted)));
        }
    }
    let n_points = observed_points(table);
    let neighbors = MethodChoice::Nngp { n_neighbors: 16.min(n_points) };
    let inducing = MethodChoice::Svgp { n_inducing: 200.min(n_points) };
    for (name, method, most) in [
        ("exact", MethodChoice::Exact, MOST_CELLS_DENSE),
        ("nngp:16", neighbors, MOST_CELLS_SPARSE),
        ("svgp:200", inducing, MOST_CELLS_SPARSE),
    ] {
        if n_cells > most {
            let outcome = Err(format!("skipped: too slow above {most} cells"));
            rows.push(Row { name: name.to_owned(), outcome });
        } else {
            rows.push(scored(name, 0.0, &|| with(fit, method, StructureOption::Auto)));
        }
    }
    rows.push(scored("interpolation", 0.0, &|| {
        Ok(normal(&LinearInterpolation::fit(table)?.predict(table.inputs())?))
    }));
    if table.observations().n_outputs() > 1 {
        rows.push(scored("ridge on the other outputs", 0.0, &|| ridge(table.observations())));
    }
    rows.push(scored("training mean", 0.0, &|| {
        Ok(normal(&TrainingMean::fit(table.observations())?.predict(table.n_rows())?))
    }));
    rows
}

/// Number of distinct inputs among rows with a value, the candidates for inducing points and neighbors.
fn observed_points(table: &Dataset) -> usize {
    let inputs = table.inputs();
    let is_seen = |row: &usize| table.observations().row(RowIndex::new(*row)).len() > 0;
    let point = |row: usize| -> Vec<u64> {
        // -0.0 and 0.0 are the same input.
        inputs.values()[row * inputs.dim()..(row + 1) * inputs.dim()]
            .iter()
            .map(|x| (x + 0.0).to_bits())
            .collect()
    };
    (0..table.n_rows()).filter(is_seen).map(point).collect::<HashSet<_>>().len()
}

fn predict_rows(fitted: &Result<Fit, FitError>) -> Result<Predictive, FitError> {
    match fitted {
        Ok(fitted) => fitted.predict_rows(Quantity::Observation),
        Err(error) => Err(error.clone()),
    }
}

fn ridge(observations: &Observations) -> Result<Predictive, FitError> {
    Ok(normal(&RidgeRegression::fit(observations, 1.0)?.predict(observations)?))
}

/// A zero variance, as of a constant, is raised to the rounding of the mean so that the density is finite.
fn normal(prediction: &Prediction) -> Predictive {
    let cells = prediction.means().iter().zip(prediction.variances());
    let deviations = cells.map(|(mean, variance)| variance.sqrt().max(1e-9 * mean.abs()).max(1e-150));
    Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations.collect())
}

fn to_json(row: &Row) -> Value {
    match &row.outcome {
        Ok((scores, learn, predict)) => json!({
            "name": row.name, "cells": scores.n_cells, "rmse": scores.rmse, "log_score": scores.log_score,
            "coverage95": scores.coverage, "learn_seconds": learn, "predict_seconds": predict,
        }),
        Err(reason) => json!({"name": row.name, "left_out": reason}),
    }
}

fn to_text(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "{:<28} {:>8} {:>10} {:>9} {:>9} {:>10}",
        "method", "RMSE/sd", "log score", "in 95 %", "learn s", "predict s"
    )];
    for Row { name, outcome } in rows {
        lines.push(match outcome {
            Ok((scores, learn, predict)) => format!(
                "{name:<28} {:>8.4} {:>10.3} {:>8.1}% {learn:>9.2} {predict:>10.3}",
                scores.rmse,
                scores.log_score,
                100.0 * scores.coverage
            ),
            Err(reason) => format!("{name:<28} {reason}"),
        });
    }
    let best = |key: &dyn Fn(&Scores) -> f64| {
        let done = rows.iter().filter_map(|row| Some((&row.name, key(&row.outcome.as_ref().ok()?.0))));
        done.min_by(|left, right| left.1.total_cmp(&right.1))
            .map(|(name, _)| name.clone())
            .unwrap_or_default()
    };
    lines.push(format!(
        "smallest RMSE: {}; largest log score: {}",
        best(&|scores| scores.rmse),
        best(&|scores| -scores.log_score)
    ));
    lines.join("\n") + "\n"
}
