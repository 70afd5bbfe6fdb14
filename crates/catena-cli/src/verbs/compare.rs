//! `compare`: hide some cells, let every method fill them, and say who did best.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;
use catena::prediction::Prediction;
use catena_fit::fit::{Fit, FitError, FitOptions, FitParts, MethodChoice, StructureOption};
use catena_fit::method::Quantity;
use catena_fit::preparation::Predictive;
use catena_fit::scores::{Scores, score};
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};
use clap::Args;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::arguments::{Columns, Horizon, ModelOptions, Speech, horizon};
use crate::console::Console;
use crate::error::CliError;
use crate::learning::{Asked, fit_watched, warn};
use crate::plan::Plan;
use crate::scoreboard::{print_json, print_text};
use crate::source::{Source, Text, open};

const EXAMPLES: &str = "\
Examples:
  catena compare sensors.csv
  catena compare sensors.csv --block 48h           hide one block of 48 hours of every output
  catena compare sensors.csv --budget quick --json

Hides a tenth of the observed cells at random, or a block of every output, and never shows them to any method. Errors are \
in standard deviations of each output; MNLL is the mean negative log density per hidden cell. The method with the smallest \
error comes first; the line `catena`, or `auto: METHOD` above one input, is what `fit` would take. Structures use the parameters \
that message passing learned, other methods those of that line; `outputs apart` and, above one input, `fullscale` learn their own.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table to hide cells of.
    data: PathBuf,
    /// Hide one block of every output, of this duration or number of rows, instead of single cells.
    #[arg(long, value_parser = horizon, value_name = "B")]
    block: Option<Horizon>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    speech: Speech,
    /// Print what would be done, its size, memory and time, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Every output keeps at least this many cells.
const FEWEST_LEFT: usize = 4;
const FEWEST_CELLS: usize = 20;
/// Dense and neighbor methods take minutes beyond these many cells.
const MOST_CELLS_DENSE: usize = 4000;
const MOST_CELLS_RIVALS: usize = 20_000;

/// A method and how it did, or why it did not run.
struct Row {
    name: String,
    outcome: Result<(Scores, f64, f64), String>,
}

/// Compares methods on hidden cells.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, speech, .. } = arguments;
    let console = speech.console();
    let asked = Asked::new(&arguments.model)?;
    let source = open(data, columns, Text::Gone, console)?;
    let options = asked.prepared(&source.frame, &arguments.model)?;
    if arguments.dry_run {
        return Plan::new(&source.frame, &options).show("compare", speech.json, console);
    }
    let hidden = hidden_cells(arguments, &source)?;
    let failed = |error: FitError| source.in_user_terms(error);
    let table = without(&source, &hidden).map_err(|error| failed(error.into()))?;
    console.say(format!("hidden: {} of {} observed cells", hidden.len(), source.frame.n_observed()));
    let begin = Instant::now();
    let fit = fit_watched(&table, &options, console).map_err(failed)?;
    let seconds = begin.elapsed().as_secs_f64();
    warn(&fit, console);
    let mut rows = contest(&fit, seconds, &options, &hidden, console);
    rows.sort_by(|left, right| rank(left).total_cmp(&rank(right)));
    if speech.json {
        let rows: Vec<Value> = rows.iter().map(to_json).collect();
        return print_json(&json!({"hidden_cells": hidden.len(), "methods": rows}));
    }
    print_text(&to_text(&rows))
}

fn rank(row: &Row) -> f64 {
    row.outcome.as_ref().map_or(f64::INFINITY, |(scores, ..)| scores.rmse)
}

/// Row-major places and values of the cells to hide.
fn hidden_cells(arguments: &Arguments, source: &Source) -> Result<Vec<(usize, f64)>, CliError> {
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
    let mut hidden = vec![];
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
                hidden.extend_from_slice(&cells[..count]);
            }
            Some(Horizon::Steps(rows)) => {
                let count = rows.min(most);
                let begin = below(cells.len() - count + 1);
                hidden.extend_from_slice(&cells[begin..begin + count]);
            }
            Some(Horizon::Along(duration)) if is_time => {
                let time = |at: usize| along[at / n_outputs];
                let begin = below(cells.len());
                let inside = cells[begin..]
                    .iter()
                    .take_while(|at| time(**at) < time(cells[begin]) + duration.seconds());
                let count = inside.count().min(most);
                hidden.extend_from_slice(&cells[begin..begin + count]);
            }
            Some(Horizon::Along(_)) => {
                let column = frame.inputs[0].name.clone();
                return Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column });
            }
        }
    }
    if frame.n_observed() < FEWEST_CELLS || hidden.is_empty() {
        return Err(CliError::TooFewCells { file: frame.file.clone() });
    }
    hidden.sort_unstable();
    Ok(hidden.into_iter().map(|at| (at, frame.values[at])).collect())
}

fn without(source: &Source, hidden: &[(usize, f64)]) -> Result<Dataset, catena::data::DataError> {
    let mut frame = source.frame.clone();
    for (at, _) in hidden {
        frame.values[*at] = f64::NAN;
    }
    crate::source::dataset(&frame)
}

/// Every method that applies, on the same cells.
fn contest(
    fit: &Fit,
    seconds: f64,
    options: &FitOptions,
    hidden: &[(usize, f64)],
    console: Console,
) -> Vec<Row> {
    let table = fit.table();
    let scales: Vec<f64> = fit.parts().preparation.outputs.iter().map(|output| output.scale).collect();
    let judged = |name: &str, learn: f64, predict: &dyn Fn() -> Result<Predictive, FitError>| {
        let begin = Instant::now();
        let outcome = predict()
            .map(|predictive| {
                let scores = score(&predictive, hidden.iter().copied(), &scales);
                (scores, learn, begin.elapsed().as_secs_f64())
            })
            .map_err(|error| error.to_string());
        Row { name: name.to_owned(), outcome }
    };
    let is_message_passing = matches!(fit.parts().method, MethodChoice::Auto | MethodChoice::Catena);
    let first =
        if is_message_passing { "catena".to_owned() } else { format!("auto: {}", fit.parts().method) };
    let mut rows = vec![judged(&first, seconds, &|| fit.predict_rows(Quantity::Observation))];
    // Where another method won, message passing takes part with parameters of its own, and where it won, full-scale does.
    let own = |method: MethodChoice| {
        let begin = Instant::now();
        let fitted = fit_watched(table, &FitOptions { method, ..options.clone() }, console);
        (fitted, begin.elapsed().as_secs_f64())
    };
    let passing = (!is_message_passing).then(|| own(MethodChoice::Catena));
    if let Some((passing, learn)) = &passing {
        rows.push(judged("catena", *learn, &|| predict_rows(passing)));
    }
    if table.observations().n_outputs() > 1 {
        let apart = FitOptions { latents: Some(0), private: Some(true), parameters: None, ..options.clone() };
        let begin = Instant::now();
        let apart = fit_watched(table, &apart, console);
        let learn = begin.elapsed().as_secs_f64();
        rows.push(judged("outputs apart", learn, &|| predict_rows(&apart)));
    }
    let with = |method: MethodChoice, structure: StructureOption| {
        move || {
            let parts = FitParts { method, structure, ..fit.parts().clone() };
            Fit::from_parts(parts)?.predict_rows(Quantity::Observation)
        }
    };
    let on = |structure: StructureOption| {
        let base = passing.as_ref().and_then(|(passing, _)| passing.as_ref().ok()).unwrap_or(fit);
        move || {
            let parts = FitParts { method: MethodChoice::Catena, structure, ..base.parts().clone() };
            Fit::from_parts(parts)?.predict_rows(Quantity::Observation)
        }
    };
    let n_cells = table.observations().n_observed();
    if table.inputs().dim() > 1 {
        rows.push(judged("catena, chain", 0.0, &on(StructureOption::Chain)));
        rows.push(judged("catena, tree", 0.0, &on(StructureOption::Tree)));
        let ensemble = StructureOption::Ensemble { n_chains: 8 };
        rows.push(judged("catena, ensemble:8", 0.0, &on(ensemble)));
        let is_full_scale = matches!(fit.parts().method, MethodChoice::FullScale { .. });
        if !is_full_scale && options.parameters.is_none() {
            let (fitted, learn) = own(MethodChoice::FullScale { size: None });
            let name = match &fitted {
                Ok(fitted) => fitted.parts().method.to_string(),
                Err(_) => "fullscale".to_owned(),
            };
            rows.push(judged(&name, learn, &|| predict_rows(&fitted)));
        }
    }
    let n_points = observed_points(table);
    let neighbors = MethodChoice::Nngp { n_neighbors: 16.min(n_points) };
    let inducing = MethodChoice::Svgp { n_inducing: 200.min(n_points) };
    for (name, method, most) in [
        ("exact", MethodChoice::Exact, MOST_CELLS_DENSE),
        ("nngp:16", neighbors, MOST_CELLS_RIVALS),
        ("svgp:200", inducing, MOST_CELLS_RIVALS),
    ] {
        if n_cells > most {
            let outcome = Err(format!("left out: it takes too long beyond {most} cells"));
            rows.push(Row { name: name.to_owned(), outcome });
        } else {
            rows.push(judged(name, 0.0, &with(method, StructureOption::Auto)));
        }
    }
    rows.push(judged("interpolation", 0.0, &|| {
        Ok(normal(&LinearInterpolation::fit(table)?.predict(table.inputs())?))
    }));
    if table.observations().n_outputs() > 1 {
        rows.push(judged("ridge on the other outputs", 0.0, &|| ridge(table.observations())));
    }
    rows.push(judged("training mean", 0.0, &|| {
        Ok(normal(&TrainingMean::fit(table.observations())?.predict(table.n_rows())?))
    }));
    rows
}

/// Distinct inputs of rows with a value: methods that pick points pick among those.
fn observed_points(table: &Dataset) -> usize {
    let inputs = table.inputs();
    let is_seen = |row: &usize| table.observations().row(RowIndex::new(*row)).len() > 0;
    let point = |row: usize| -> Vec<u64> {
        // Minus zero and zero are one place.
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

/// A variance of zero, as of a constant, is widened to the rounding of the mean so that a density exists.
fn normal(prediction: &Prediction) -> Predictive {
    let cells = prediction.means().iter().zip(prediction.variances());
    let deviations = cells.map(|(mean, variance)| variance.sqrt().max(1e-9 * mean.abs()).max(1e-150));
    Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations.collect())
}

fn to_json(row: &Row) -> Value {
    match &row.outcome {
        Ok((scores, learn, predict)) => json!({
            "name": row.name, "cells": scores.n_cells, "rmse": scores.rmse, "mnll": scores.mnll,
            "coverage95": scores.coverage, "learn_seconds": learn, "predict_seconds": predict,
        }),
        Err(reason) => json!({"name": row.name, "left_out": reason}),
    }
}

fn to_text(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "{:<28} {:>8} {:>9} {:>9} {:>9} {:>10}",
        "method", "RMSE/sd", "MNLL", "in 95 %", "learn s", "predict s"
    )];
    for Row { name, outcome } in rows {
        lines.push(match outcome {
            Ok((scores, learn, predict)) => format!(
                "{name:<28} {:>8.4} {:>9.3} {:>8.1}% {learn:>9.2} {predict:>10.3}",
                scores.rmse,
                scores.mnll,
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
        "smallest error: {}; best log score: {}",
        best(&|scores| scores.rmse),
        best(&|scores| scores.mnll)
    ));
    lines.join("\n") + "\n"
}
