//! `compare`: scores methods on held-out cells of a table.

use std::path::PathBuf;

use catena_fit::{Compared, ComparedScores, HeldOutBlock, compare};
use catena_io::time::Horizon;
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Columns, ModelOptions, Printing, horizon};
use crate::error::CliError;
use crate::learning::{FitRequest, watched};
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

/// Compares methods on held-out cells.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model, columns)?;
    let source = open(data, &columns.with_stations(), (Text::Gone, &arguments.model), console)?;
    if source.frame.groups.is_some() && arguments.block.is_some() {
        return Err(CliError::NoGroups { file: source.frame.file.clone(), what: "--block" });
    }
    let Some(options) = request.for_table(&source.frame, "compare", *printing)? else { return Ok(()) };
    let block = arguments.block.map(|block| held_out_block(block, &source)).transpose()?;
    let table = source.dataset()?;
    let n_cells = (!options.has_parameters()).then(|| table.observations().n_observed());
    let compared = watched(n_cells, console, |monitor| compare(&table, &options, block, monitor));
    let compared = compared.map_err(|error| source.in_user_terms(error))?;
    let compared = compared.ok_or_else(|| CliError::TooFewCells { file: source.frame.file.clone() })?;
    for warning in &compared.warnings {
        console.say(format!("warning: {warning}"));
    }
    let folds = &compared.folds;
    console.say(format!(
        "held out: {} cells in {} gaps; folds: {}; observed cells: {}",
        folds.n_cells(),
        folds.n_gaps(),
        folds.n_folds(),
        folds.n_observed()
    ));
    if printing.json {
        let rows: Vec<Value> = compared.methods.iter().map(to_json).collect();
        return print_json(&json!({
            "held_out_cells": folds.n_cells(), "hidden_cells": folds.n_cells(), "gaps": folds.n_gaps(),
            "folds": folds.n_folds(), "methods": rows,
        }));
    }
    print_text(&to_text(&compared.methods))
}

/// The requested block in units of the only input.
fn held_out_block(block: Horizon, source: &Source) -> Result<HeldOutBlock, CliError> {
    let frame = &source.frame;
    let [input] = frame.inputs.as_slice() else {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    };
    match block {
        Horizon::Steps(rows) => Ok(HeldOutBlock::Rows(rows)),
        Horizon::Along(duration) if input.time.is_some() => Ok(HeldOutBlock::Length(duration.seconds())),
        Horizon::Along(_) => {
            Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column: input.name.clone() })
        }
    }
}

fn to_json(Compared { name, outcome }: &Compared) -> Value {
    match outcome {
        Ok(ComparedScores { scores, difference, seconds: (learn, predict) }) => json!({
            "name": name, "cells": scores.scores.n_cells, "rmse": scores.scores.rmse, "log_score": scores.scores.log_score,
            "difference": difference.map(|(mean, _)| mean), "difference_error": difference.map(|(_, error)| error),
            "coverage95": scores.scores.coverage, "learn_seconds": learn, "predict_seconds": predict,
        }),
        Err(reason) => json!({"name": name, "left_out": reason}),
    }
}

fn to_text(methods: &[Compared]) -> String {
    let mut lines = vec![format!(
        "{:<28} {:>8} {:>10} {:>18} {:>9} {:>9} {:>10}",
        "method", "RMSE/sd", "log score", "to first", "in 95 %", "learn s", "predict s"
    )];
    for Compared { name, outcome } in methods {
        lines.push(match outcome {
            Ok(ComparedScores { scores, difference, seconds: (learn, predict) }) => {
                let difference = match difference {
                    None => String::new(),
                    Some((mean, error)) if error.is_finite() => format!("{mean:+.3} ± {error:.3}"),
                    Some((mean, _)) => format!("{mean:+.3} (one gap)"),
                };
                format!(
                    "{name:<28} {:>8.4} {:>10.3} {difference:>18} {:>8.1}% {learn:>9.2} {predict:>10.3}",
                    scores.scores.rmse,
                    scores.scores.log_score,
                    100.0 * scores.scores.coverage
                )
            }
            Err(reason) => format!("{name:<28} {reason}"),
        });
    }
    let best = |key: &dyn Fn(&ComparedScores) -> f64| {
        let done =
            methods.iter().filter_map(|method| Some((&method.name, key(method.outcome.as_ref().ok()?))));
        done.min_by(|left, right| left.1.total_cmp(&right.1))
            .map(|(name, _)| name.clone())
            .unwrap_or_default()
    };
    lines.push(format!(
        "smallest RMSE: {}; largest log score: {}",
        best(&|found| found.scores.scores.rmse),
        best(&|found| -found.scores.scores.log_score)
    ));
    lines.join("\n") + "\n"
}
