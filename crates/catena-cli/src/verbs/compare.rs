//! `compare`: scores methods on held-out cells of a table.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use catena::data::Dataset;
use catena::index::RowIndex;
use catena_fit::scores::HeldOutScores;
use catena_fit::{
    CombineChoice, Fit, FitComparison, FitError, FitOptions, FitParts, HeldOutFolds, MethodChoice,
    Predictive, Quantity, SimpleRule, StructureOption,
};
use catena_io::time::Horizon;
use clap::Args;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::arguments::{Columns, ModelOptions, Printing, horizon};
use crate::console::Console;
use crate::error::CliError;
use crate::learning::{FitRequest, fit_compared_watched, fit_watched, warn};
use crate::scoreboard::{print_json, print_text};
use crate::source::{Source, Text, open};

const EXAMPLES: &str = "\
Examples:
  catena compare sensors.csv
  catena compare sensors.csv --block 48h           hold out 48 consecutive hours of every output
  catena compare sensors.csv --budget quick --json

Held-out cells are those of `fit`: the gaps of the table at other places, in several folds. With --block they are one block of every \
output. No method sees the cells on which it is scored. RMSE is in standard deviations of each output; the log score is the mean log \
predictive density in nats per held-out cell (larger is better). `to first` is its difference to that of the answer of `fit`, with a \
standard error that counts each gap once. Rows are sorted by RMSE. Rows that are also in the summary of `fit` have \
the same numbers here: `pool` is the answer of `fit`, `best single model` that of `fit --combine none`; both have the time of the whole \
fit. Other structures and methods use the parameters of the best single model; `independent outputs` and, with two or more inputs, \
`catena` and `fullscale` learn their own.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to compare methods on.
    data: PathBuf,
    /// Hold out one block of every output, of this duration or number of rows, instead of copies of the table's gaps.
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
    outcome: Result<(HeldOutScores, f64, f64), String>,
}

/// Methods on the held-out cells of one table.
struct Comparison<'a> {
    folds: HeldOutFolds,
    /// The training cells of each fold.
    training: Vec<Dataset>,
    /// The best single model on each fold.
    singles: Vec<FitParts>,
    options: &'a FitOptions,
    console: Console,
    /// The answer of `fit` first.
    rows: Vec<Row>,
}

/// Compares methods on held-out cells.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model)?;
    let source = open(data, columns, (Text::Gone, &arguments.model), console)?;
    if source.frame.groups.is_some() && arguments.block.is_some() {
        return Err(CliError::NoGroups { file: source.frame.file.clone(), what: "--block" });
    }
    let Some(options) = request.for_table(&source.frame, "compare", *printing)? else { return Ok(()) };
    let too_few = || CliError::TooFewCells { file: source.frame.file.clone() };
    let block = block_cells(arguments, &source)?;
    if source.frame.n_observed() < FEWEST_CELLS {
        return Err(too_few());
    }
    let table = source.dataset()?;
    let failed = |error: FitError| source.in_user_terms(error);
    let comparison = match block {
        None if options.parameters.is_none() && options.time.is_none() => {
            Comparison::of_fit(&table, &options, console)
        }
        None => HeldOutFolds::with_gaps_of(&table, options.seed)
            .and_then(|folds| Comparison::by_fold(folds, &options, console)),
        Some(cells) => HeldOutFolds::of_cells(&table, cells)
            .and_then(|folds| Comparison::by_fold(folds, &options, console)),
    };
    let comparison = comparison.map_err(failed)?.ok_or_else(too_few)?;
    let folds = comparison.folds.clone();
    console.say(format!(
        "held out: {} cells in {} gaps; folds: {}; observed cells: {}",
        folds.n_cells(),
        folds.n_gaps(),
        folds.n_folds(),
        folds.n_observed()
    ));
    let rows = comparison.all();
    let first = rows.first().and_then(|row| row.outcome.as_ref().ok()).map(|(scores, ..)| scores.clone());
    let mut rows: Vec<(Row, Option<(f64, f64)>)> = rows
        .into_iter()
        .enumerate()
        .map(|(at, row)| {
            let scores = row.outcome.as_ref().ok().filter(|_| at > 0);
            let difference =
                scores.zip(first.as_ref()).map(|((own, ..), first)| folds.difference(own, first));
            (row, difference)
        })
        .collect();
    rows.sort_by(|(left, _), (right, _)| rank(left).total_cmp(&rank(right)));
    if printing.json {
        let rows: Vec<Value> = rows.iter().map(to_json).collect();
        return print_json(&json!({
            "held_out_cells": folds.n_cells(), "hidden_cells": folds.n_cells(), "gaps": folds.n_gaps(),
            "folds": folds.n_folds(), "methods": rows,
        }));
    }
    print_text(&to_text(&rows))
}

fn rank(row: &Row) -> f64 {
    row.outcome.as_ref().map_or(f64::INFINITY, |(scores, ..)| scores.scores.rmse)
}

/// Row-major indices and values of the requested block of each output; `None` unless one is requested.
fn block_cells(arguments: &Arguments, source: &Source) -> Result<Option<Vec<(usize, f64)>>, CliError> {
    let Some(block) = arguments.block else { return Ok(None) };
    let frame = &source.frame;
    let n_outputs = frame.n_outputs();
    let mut generator = ChaCha8Rng::seed_from_u64(arguments.model.seed);
    let mut below = |bound: usize| (generator.next_u64() % bound.max(1) as u64) as usize;
    let mut order: Vec<usize> = (0..frame.n_rows()).collect();
    let along = frame.inputs.first().map_or(&[][..], |input| &input.values);
    order.sort_by(|a, b| along[*a].total_cmp(&along[*b]));
    let is_time = frame.inputs.len() == 1 && frame.inputs[0].time.is_some();
    if frame.inputs.len() != 1 {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    }
    let mut held_out = vec![];
    for output in 0..n_outputs {
        let places = order.iter().map(|row| row * n_outputs + output);
        let cells: Vec<usize> = places.filter(|at| !frame.values[*at].is_nan()).collect();
        let most = cells.len().saturating_sub(FEWEST_LEFT);
        let (begin, count) = match block {
            Horizon::Steps(rows) => {
                let count = rows.min(most);
                (below(cells.len() - count + 1), count)
            }
            Horizon::Along(duration) if is_time => {
                let time = |at: usize| along[at / n_outputs];
                let begin = below(cells.len());
                let inside = cells[begin..]
                    .iter()
                    .take_while(|at| time(**at) < time(cells[begin]) + duration.seconds());
                (begin, inside.count().min(most))
            }
            Horizon::Along(_) => {
                let column = frame.inputs[0].name.clone();
                return Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column });
            }
        };
        held_out.extend_from_slice(&cells[begin..begin + count]);
    }
    if held_out.is_empty() {
        return Err(CliError::TooFewCells { file: frame.file.clone() });
    }
    held_out.sort_unstable();
    Ok(Some(held_out.into_iter().map(|at| (at, frame.values[at])).collect()))
}

fn rows_of(parts: FitParts) -> Result<Predictive, FitError> {
    Fit::from_parts(parts)?.predict_rows(Quantity::Observation)
}

impl<'a> Comparison<'a> {
    /// A fit with the held-out cells on which it was chosen; `None` if there are too few cells.
    fn of_fit(table: &Dataset, options: &'a FitOptions, console: Console) -> Result<Option<Self>, FitError> {
        let begin = Instant::now();
        let (fit, compared) = fit_compared_watched(table, options, console)?;
        let learn = begin.elapsed().as_secs_f64();
        warn(&fit, console);
        let Some(compared) = compared else { return Ok(None) };
        let singles = compared.single_models(&fit)?;
        let FitComparison { folds, scores, .. } = compared;
        // Simple rules are scored below, where they are timed.
        let is_rule = |name: &str| SimpleRule::ALL.iter().any(|rule| rule.name() == name);
        let mut rows = vec![];
        for (name, scores) in scores.into_iter().filter(|(name, _)| !is_rule(name)) {
            let begin = Instant::now();
            if rows.is_empty() {
                fit.predict_rows(Quantity::Observation)?;
            } else {
                rows_of(FitParts { combination: None, ..fit.parts().clone() })?;
            }
            rows.push(Row { name, outcome: Ok((scores, learn, begin.elapsed().as_secs_f64())) });
        }
        let training = folds.training()?;
        Ok(Some(Self { folds, training, singles, options, console, rows }))
    }

    /// A fit to the training cells of each fold; `None` without folds.
    fn by_fold(
        folds: HeldOutFolds,
        options: &'a FitOptions,
        console: Console,
    ) -> Result<Option<Self>, FitError> {
        let training = folds.training()?;
        let begin = Instant::now();
        let fits: Result<Vec<Fit>, FitError> =
            training.iter().map(|table| fit_watched(table, options, console)).collect();
        let (fits, learn) = (fits?, begin.elapsed().as_secs_f64());
        let Some(first) = fits.first() else { return Ok(None) };
        warn(first, console);
        let (is_pool, method) =
            (fits.iter().any(|fit| !fit.summary().members.is_empty()), first.parts().method);
        // The combination of a single model is the factor on its standard deviations.
        let alone = |fit: &Fit| match fit.summary().members.is_empty() {
            true => fit.parts().clone(),
            false => FitParts { combination: None, ..fit.parts().clone() },
        };
        let singles: Vec<FitParts> = fits.iter().map(alone).collect();
        let mut found = Self { folds, training, singles, options, console, rows: vec![] };
        let single = if method.is_message_passing() { "catena".to_owned() } else { method.to_string() };
        let name = if is_pool { "pool".to_owned() } else { single };
        found.score(&name, learn, &|fold| fits[fold].predict_rows(Quantity::Observation));
        if is_pool {
            let singles = found.singles.clone();
            found.score("best single model", learn, &|fold| rows_of(singles[fold].clone()));
        }
        Ok(Some(found))
    }

    /// Adds the scores of predictions by fold.
    fn score(&mut self, name: &str, learn: f64, predict: &dyn Fn(usize) -> Result<Predictive, FitError>) {
        let begin = Instant::now();
        let predictions: Result<Vec<Predictive>, FitError> = (0..self.training.len()).map(predict).collect();
        let outcome = predictions.map_err(|error| error.to_string()).and_then(|predictions| {
            let scores = self.folds.scores(&predictions).ok_or_else(|| "no held-out cells".to_owned())?;
            Ok((scores, learn, begin.elapsed().as_secs_f64()))
        });
        self.rows.push(Row { name: name.to_owned(), outcome });
    }

    /// Adds the scores of fits to the training cells of each fold.
    fn score_learned(&mut self, name: impl Fn(&[Fit]) -> String, options: &FitOptions) {
        let begin = Instant::now();
        let fits: Result<Vec<Fit>, FitError> =
            self.training.iter().map(|table| fit_watched(table, options, self.console)).collect();
        let learn = begin.elapsed().as_secs_f64();
        match fits {
            Ok(fits) => {
                self.score(&name(&fits), learn, &|fold| fits[fold].predict_rows(Quantity::Observation));
            }
            Err(error) => self.rows.push(Row { name: name(&[]), outcome: Err(error.to_string()) }),
        }
    }

    /// Adds another method or structure with the parameters of the best single model.
    fn score_with(&mut self, name: &str, method: MethodChoice, structure: StructureOption) {
        let singles = std::mem::take(&mut self.singles);
        self.score(name, 0.0, &|fold| rows_of(FitParts { method, structure, ..singles[fold].clone() }));
        self.singles = singles;
    }

    /// All applicable methods on the same cells.
    fn all(mut self) -> Vec<Row> {
        let Some(table) = self.training.first().cloned() else { return self.rows };
        let n_outputs = table.observations().n_outputs();
        let options = FitOptions { combine: CombineChoice::None, ..self.options.clone() };
        let chosen = self.singles.first().map_or(options.method, |parts| parts.method);
        if !chosen.is_message_passing() {
            let passing = FitOptions { method: MethodChoice::Catena, ..options.clone() };
            self.score_learned(|_| "catena".to_owned(), &passing);
        }
        if n_outputs > 1 {
            let apart = FitOptions {
                latents: Some(0),
                private: Some(true),
                parameters: None,
                time: None,
                ..options.clone()
            };
            self.score_learned(|_| "independent outputs".to_owned(), &apart);
        }
        if table.inputs().dim() > 1 {
            for (name, structure) in [
                ("catena, chain", StructureOption::Chain),
                ("catena, tree", StructureOption::Tree),
                ("catena, ensemble:8", StructureOption::Ensemble { n_chains: 8 }),
            ] {
                self.score_with(name, MethodChoice::Catena, structure);
            }
            if !matches!(chosen, MethodChoice::FullScale { .. }) && options.parameters.is_none() {
                let method = MethodChoice::FullScale { size: None };
                let name = |fits: &[Fit]| {
                    fits.first().map_or("fullscale".to_owned(), |fit| fit.parts().method.to_string())
                };
                self.score_learned(name, &FitOptions { method, ..options });
            }
        }
        let n_cells = table.observations().n_observed();
        let n_points = self.training.iter().map(observed_points).min().unwrap_or(0);
        let dense = [
            ("exact", MethodChoice::Exact, MOST_CELLS_DENSE),
            ("nngp:16", MethodChoice::Nngp { n_neighbors: 16.min(n_points) }, MOST_CELLS_SPARSE),
            ("svgp:200", MethodChoice::Svgp { n_inducing: 200.min(n_points) }, MOST_CELLS_SPARSE),
        ];
        // Dense methods do not know groups.
        let applicable = if table.inputs().groups().is_some() { &[] } else { &dense[..] };
        for &(name, method, most) in applicable {
            if n_cells > most {
                let outcome = Err(format!("skipped: too slow above {most} cells"));
                self.rows.push(Row { name: name.to_owned(), outcome });
            } else if chosen != method {
                self.score_with(name, method, StructureOption::Auto);
            }
        }
        let training = self.training.clone();
        for rule in SimpleRule::applicable(table.inputs(), n_outputs) {
            self.score(rule.name(), 0.0, &|fold| rule.predict(&training[fold]));
        }
        self.rows
    }
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

fn to_json((row, difference): &(Row, Option<(f64, f64)>)) -> Value {
    match &row.outcome {
        Ok((HeldOutScores { scores, .. }, learn, predict)) => json!({
            "name": row.name, "cells": scores.n_cells, "rmse": scores.rmse, "log_score": scores.log_score,
            "difference": difference.map(|(mean, _)| mean), "difference_error": difference.map(|(_, error)| error),
            "coverage95": scores.coverage, "learn_seconds": learn, "predict_seconds": predict,
        }),
        Err(reason) => json!({"name": row.name, "left_out": reason}),
    }
}

fn to_text(rows: &[(Row, Option<(f64, f64)>)]) -> String {
    let mut lines = vec![format!(
        "{:<28} {:>8} {:>10} {:>18} {:>9} {:>9} {:>10}",
        "method", "RMSE/sd", "log score", "to first", "in 95 %", "learn s", "predict s"
    )];
    for (Row { name, outcome }, difference) in rows {
        let difference = match difference {
            None => String::new(),
            Some((mean, error)) if error.is_finite() => format!("{mean:+.3} ± {error:.3}"),
            Some((mean, _)) => format!("{mean:+.3} (one gap)"),
        };
        lines.push(match outcome {
            Ok((HeldOutScores { scores, .. }, learn, predict)) => format!(
                "{name:<28} {:>8.4} {:>10.3} {difference:>18} {:>8.1}% {learn:>9.2} {predict:>10.3}",
                scores.rmse,
                scores.log_score,
                100.0 * scores.coverage
            ),
            Err(reason) => format!("{name:<28} {reason}"),
        });
    }
    let best = |key: &dyn Fn(&HeldOutScores) -> f64| {
        let done = rows.iter().filter_map(|(row, _)| Some((&row.name, key(&row.outcome.as_ref().ok()?.0))));
        done.min_by(|left, right| left.1.total_cmp(&right.1))
            .map(|(name, _)| name.clone())
            .unwrap_or_default()
    };
    lines.push(format!(
        "smallest RMSE: {}; largest log score: {}",
        best(&|found| found.scores.rmse),
        best(&|found| -found.scores.log_score)
    ));
    lines.join("\n") + "\n"
}
