//! `check`: finds bad readings in a table.

use std::path::PathBuf;

use catena_fit::{BAND, Checked, FALSE_DISCOVERY_RATE, check};
use catena_io::write::write_table;
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Columns, ModelOptions, Printing, TableTarget, is_standard_stream};
use crate::console::counted;
use crate::error::CliError;
use crate::findings::{counts, findings_json, findings_table, to_text};
use crate::learning::{FitRequest, watched};
use crate::scoreboard::{print_json, print_text, summary_json};
use crate::source::{Source, Text, open};

const EXAMPLES: &str = "\
Examples:
  catena check sensors.csv
  catena check sensors.csv -o findings.csv
  catena check sensors.csv --budget quick --json
  catena check log.csv --long time,sensor,value
  catena impute sensors.csv --clean -o filled.csv     bad readings are filled like missing ones
  catena check stations.csv --group station           each station is a table of its own with one model

Every observed cell is compared with what all other cells say of it: an expected value and a band of 95 %. `deviation` is in standard \
deviations, and `p-value` is the probability that an ordinary cell of this table deviates as much. Of two hundred findings about one is \
expected to be false. Kinds: a spike is a single cell; a stretch is several cells in a row; a stuck sensor repeats a value for longer \
than its other repetitions explain; a step or a drift is an output that moves against the others. The model is learned without the \
cells that are found. Rows without findings are not listed, and a table without findings is no error.";

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to check.
    data: PathBuf,
    /// Also write the findings as a table, in the format of its suffix; `-` is standard output.
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Checks a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model, columns)?;
    let target = match output {
        None => None,
        Some(path) => {
            let target = TableTarget { output: path.clone(), safe_headers: false };
            Some(target.checked(columns.format, *printing, &[data])?)
        }
    };
    let source = open(data, columns, (Text::Gone, &arguments.model), console)?;
    let Some(options) = request.for_table(&source.frame, "check", *printing)? else { return Ok(()) };
    let table = source.dataset()?;
    let n_cells = table.observations().n_observed();
    let n_learned = (!options.has_parameters()).then_some(n_cells);
    let checked = watched(n_learned, console, |monitor| check(&table, &options, monitor));
    let checked = checked.map_err(|error| source.in_user_terms(error))?;
    if !checked.is_settled {
        console.say("warning: findings still changed at the last round; those near the limit may be others with another --seed");
    }
    if let Some(target) = &target {
        write_table(&findings_table(&checked.findings, &source), target)?;
    }
    console.say(format!(
        "checked {}: {}",
        counted(n_cells, "observed cell"),
        counts(&checked.findings).unwrap_or_else(|| "no findings".to_owned())
    ));
    if printing.json {
        return print_json(&to_json(&checked, n_cells, &source));
    }
    if output.as_deref().is_some_and(is_standard_stream) || checked.findings.is_empty() {
        return Ok(());
    }
    print_text(&to_text(&checked.findings, &source))
}

fn to_json(checked: &Checked, n_cells: usize, source: &Source) -> Value {
    json!({
        "cells": n_cells,
        "questions": checked.n_questions,
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "band": BAND,
        "settled": checked.is_settled,
        "findings": findings_json(&checked.findings, source),
        "summary": summary_json(checked.fit.summary()),
    })
}
