//! `impute`: fills the missing values of a table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use catena::data::Dataset;
use catena::index::{OutputIndex, RowIndex};
use catena_fit::{Checked, Fit, FitParts, fit_cleaned};
use catena_io::read::ReadOptions;
use catena_io::select::{Frame, Layout};
use catena_io::table::{Column, ColumnData, Table};
use catena_io::write::{Completion, FilledColumn, Target, write_completed};
use catena_store::load_parts;
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Columns, Digits, ModelOptions, PredictionOptions, Printing, TableTarget, digits};
use crate::console::counted;
use crate::error::CliError;
use crate::findings::{counts, findings_json};
use crate::in_blocks::BlockFilling;
use crate::learning::{FitRequest, fit_watched, warn, watched};
use crate::limits::{LeftEmpty, LimitOptions, Limits};
use crate::model_table::{Empty, read_options, rows_of};
use crate::plan::Plan;
use crate::predictions::Added;
use crate::scoreboard::{print_json, summary_json};
use crate::source::{Source, Text, open, read_table};

const EXAMPLES: &str = "\
Examples:
  catena impute sensors.csv -o filled.csv
  catena impute sensors.csv --std -o filled.parquet          with standard deviations
  catena impute log.csv --long time,sensor,value -o filled.csv
  catena impute trial.csv --long patient,time,variable,value -o filled.csv     independent patients, one model
  catena impute stations.csv --wide station -o filled.csv     rows of several stations, which explain each other
  catena impute weather.csv --bounds humidity=0..100,rain=0.. --std -o filled.csv     nothing beyond these values
  catena impute visits.csv --likelihood auto -o filled.csv     counts, limits and outliers by their own distributions
  catena impute sensors.csv --clean -o filled.csv     fill also the bad readings that `check` finds
  catena impute weather.csv --space lat,lon --time when -o filled.csv     stations with coordinates
  catena impute sensors.csv --max-gap 6h --max-std 0.5 -o filled.csv     leave long gaps and uncertain cells empty
  catena impute sensors.csv.gz --missing -999 --digits full -o filled.csv.gz
  cat sensors.csv | catena impute - | head
  catena impute big.csv --no-learn --parameters p.json -o filled.csv
  catena impute new.csv --model sensors.catena -o filled.csv         use a saved model
  catena impute huge.csv --model sensors.catena --max-memory 200MB -o filled.csv     larger than memory";

/// Options of `impute`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table with missing values.
    data: PathBuf,
    #[command(flatten)]
    target: TableTarget,
    /// Do not learn; use the columns, units and parameters of a saved model. With --max-memory, a sorted CSV file of any size is filled in
    /// blocks of rows.
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with_all = [
            "latents", "kernel", "periods", "private", "ard", "combine", "transforms", "likelihood", "bounds", "structure", "method", "state", "budget", "time_limit", "no_learn",
            "parameters", "clean", "inputs", "outputs", "long", "wide", "group", "space", "time", "group_scaling", "noise_columns", "calendar",
        ]
    )]
    model: Option<PathBuf>,
    /// Add columns NAME_std with the standard deviation of each filled cell, empty where observed.
    #[arg(long)]
    std: bool,
    /// Treat the bad readings that `check` finds as missing: the model is learned without them, and they are filled.
    #[arg(long)]
    clean: bool,
    #[command(flatten)]
    limits: LimitOptions,
    /// Decimals of filled cells in text: column (as many as the observed cells of the column), full, or a number.
    #[arg(long, value_parser = digits, default_value = "column", value_name = "column|full|N")]
    digits: Digits,
    #[command(flatten)]
    prediction: PredictionOptions,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Fills the missing values of a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.options, columns)?;
    if let Some(model) = &arguments.model {
        return run_with(model, arguments);
    }
    let target = checked_target(arguments)?;
    let text = if arguments.options.dry_run { Text::Gone } else { Text::Kept };
    let mut source = open(data, &columns.with_stations(), (text, &arguments.options), console)?;
    check_columns(arguments, &source)?;
    let limits = arguments.limits.for_table(&source.frame)?;
    let n_missing = n_missing(&source);
    if n_missing == 0 && !arguments.options.dry_run && !arguments.clean {
        return copy(arguments, &source, &target);
    }
    let Some(options) = request.for_table(&source.frame, "impute", *printing)? else { return Ok(()) };
    if arguments.clean {
        let dataset = source.dataset()?;
        let n_cells = (!options.has_parameters()).then(|| dataset.observations().n_observed());
        let found = watched(n_cells, console, |monitor| fit_cleaned(&dataset, &options, monitor));
        let (fit, checked) = found.map_err(|error| source.in_user_terms(error))?;
        warn(&fit, console);
        let replaced = Replaced::new(&dataset, &fit, &checked, &source);
        console.say(replaced.text());
        drop(dataset);
        return complete(arguments, &source, (n_missing, &limits), (&fit, Some(&replaced)), &target);
    }
    let dataset = source.take_dataset(&target)?;
    let fit = fit_watched(&dataset, &options, console).map_err(|error| source.in_user_terms(error))?;
    warn(&fit, console);
    complete(arguments, &source, (n_missing, &limits), (&fit, None), &target)
}

/// The bad readings that are filled like missing cells.
struct Replaced {
    /// By column and row of the table.
    cells: BTreeSet<(usize, usize)>,
    /// The numbers of findings of each kind; `None` without findings.
    counts: Option<String>,
    findings: Value,
}

impl Replaced {
    fn new(dataset: &Dataset, fit: &Fit, checked: &Checked, source: &Source) -> Self {
        let (before, after, n_outputs) =
            (dataset.observations(), fit.table().observations(), source.frame.n_outputs());
        let is_replaced = |at: usize| {
            let (row, output) = (RowIndex::new(at / n_outputs), OutputIndex::new(at % n_outputs));
            before.is_observed(row, output) && !after.is_observed(row, output)
        };
        let marks = source.frame.to_table_columns(|at| if is_replaced(at) { 1.0 } else { 0.0 });
        let cells = marks.into_iter().flat_map(|(position, marks)| {
            let rows = marks.into_iter().enumerate().filter(|(_, mark)| *mark == 1.0);
            rows.map(move |(row, _)| (position, row)).collect::<Vec<_>>()
        });
        Self {
            cells: cells.collect(),
            counts: counts(&checked.findings),
            findings: findings_json(&checked.findings, source),
        }
    }

    /// What was found, as a message.
    fn text(&self) -> String {
        match &self.counts {
            None => "no bad readings were found".to_owned(),
            Some(counts) => {
                let cells = counted(self.cells.len(), "bad reading");
                format!("{cells} treated as missing and filled ({counts}; `catena check` lists them)")
            }
        }
    }
}

/// Writes a table without missing values, which needs no model.
fn copy(arguments: &Arguments, source: &Source, target: &Target) -> Result<(), CliError> {
    let (n_rows, printing) = (source.table.n_rows(), arguments.printing);
    let names = added_columns(arguments, source).into_iter().flat_map(|(_, names)| names);
    let appended = names.map(|name| added_column(&source.table, name, vec![])).collect();
    write_completed(&source.table, &Completion { appended, ..Completion::default() }, target)?;
    printing.console().say("the table has no missing values; it was copied without a fit");
    if printing.json {
        return print_json(&json!({"rows": n_rows, "missing": 0, "holes": 0, "filled": 0}));
    }
    Ok(())
}

/// Fills a table with a saved model, in blocks if memory is limited.
fn run_with(model: &Path, arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let target = checked_target(arguments)?;
    let (parts, about) = load_parts(model)?;
    let about = if columns.cells().is_default() { about } else { about.with_cells(&columns.cells()) };
    if let Some(limit) = arguments.options.max_memory {
        let added = Added::requested(arguments.std, &arguments.prediction);
        let filling = BlockFilling {
            data,
            model,
            format: columns.format,
            limit,
            quantity: arguments.prediction.quantity(),
            point: arguments.prediction.point,
            added: &added,
            limits: &arguments.limits,
            digits: arguments.digits,
            printing: *printing,
        };
        match &parts.combination {
            Some(_) if parts.summary.members.is_empty() => {
                console.say("the standard deviations of the model have a factor; those of a table filled in blocks do not");
            }
            Some(_) => {
                console.say("the model is a pool of several members; a table filled in blocks uses its best single model only");
            }
            None => {}
        }
        if arguments.options.dry_run {
            return filling.plan(&parts, &about);
        }
        return filling.fill(&parts, &about, &target);
    }
    let text = if arguments.options.dry_run { Text::Gone } else { Text::Kept };
    let options =
        ReadOptions { sheet: columns.sheet.clone(), ..read_options(data, &about, columns.format, text) };
    let table = read_table(data, &options, console)?;
    let mut source = rows_of(table, &about, Empty::Refused, console)?;
    check_columns(arguments, &source)?;
    if arguments.options.dry_run {
        return Plan::with_model(&source.frame, &parts).show("impute", printing.json, console);
    }
    let limits = arguments.limits.for_table(&source.frame)?;
    let n_missing = n_missing(&source);
    if n_missing == 0 {
        return copy(arguments, &source, &target);
    }
    let parts = FitParts { table: source.take_dataset(&target)?, ..parts };
    let fit = Fit::from_parts(parts).map_err(|error| source.in_user_terms(error))?;
    complete(arguments, &source, (n_missing, &limits), (&fit, None), &target)
}

/// The checked target; it may be the table itself, but no other input. In a dry run only JSON goes to standard output.
fn checked_target(arguments: &Arguments) -> Result<Target, CliError> {
    let Arguments { target, columns, printing, model, options, .. } = arguments;
    let read = [model.as_deref(), options.parameters.as_deref()];
    let printing = Printing { json: printing.json && !options.dry_run, ..*printing };
    target.checked(columns.format, printing, &read.into_iter().flatten().collect::<Vec<&Path>>())
}

fn complete(
    arguments: &Arguments,
    source: &Source,
    (n_missing, limits): (usize, &Limits),
    (fit, replaced): (&Fit, Option<&Replaced>),
    target: &Target,
) -> Result<(), CliError> {
    let (mut completion, left) = completion(arguments, source, fit, (limits, target))?;
    if let Some(replaced) = replaced {
        completion.replaced.clone_from(&replaced.cells);
    }
    write_completed(&source.table, &completion, target)?;
    let n_replaced = replaced.map_or(0, |replaced| replaced.cells.len());
    let n_filled = (n_missing + n_replaced).saturating_sub(left.total());
    let (filled, outputs) = (counted(n_filled, "missing value"), counted(source.frame.n_outputs(), "output"));
    let printing = arguments.printing;
    printing.console().say(format!("filled {filled} in {outputs}{}", left.text()));
    if !printing.json {
        return Ok(());
    }
    let mut summary = summary_json(fit.summary());
    if let Some(entries) = summary.as_object_mut() {
        entries.insert("filled".to_owned(), json!(n_filled));
        if let Some(replaced) = replaced {
            let cleaned = json!({"cells": n_replaced, "findings": replaced.findings});
            entries.insert("cleaned".to_owned(), cleaned);
        }
        entries.insert("left_empty".to_owned(), json!({"max_gap": left.by_gap, "max_std": left.by_std}));
    }
    print_json(&summary)
}

/// The number of decimals of filled cells of a column.
fn decimals(arguments: &Arguments, table: &Table, position: usize, target: &Target) -> Option<u8> {
    match arguments.digits {
        Digits::Full => None,
        Digits::Decimals(decimals) => Some(decimals),
        Digits::Column => table.columns()[position].decimals().filter(|_| target.format().is_text()),
    }
}

/// The number of missing values; of a long table, those that have a row.
fn n_missing(source: &Source) -> usize {
    let Source { table, frame } = source;
    let is_missing = |position: usize, row: usize| table.columns()[position].data().is_missing(row);
    let count = |position: usize| (0..table.n_rows()).filter(|row| is_missing(position, *row)).count();
    match &frame.layout {
        Layout::Wide { output_columns } => output_columns.iter().map(|position| count(*position)).sum(),
        Layout::Long { value_columns, output_of, .. } => {
            let (n_values, cells) = (value_columns.len(), output_of.iter().enumerate());
            let cells = cells.filter(|(_, output)| output.is_some());
            cells.filter(|(at, _)| is_missing(value_columns[at % n_values], at / n_values)).count()
        }
    }
}

/// The added columns with their names.
fn added_columns(arguments: &Arguments, source: &Source) -> Vec<(Added, Vec<String>)> {
    let positions = source.frame.layout.columns().iter();
    let names: Vec<&str> = positions.map(|position| source.table.columns()[*position].name()).collect();
    let named = |added: Added| (added, names.iter().map(|name| added.name(name)).collect());
    Added::requested(arguments.std, &arguments.prediction).into_iter().map(named).collect()
}

/// Checks, before learning, that the outputs can be filled and that added columns have free names.
fn check_columns(arguments: &Arguments, source: &Source) -> Result<(), CliError> {
    let Source { table, frame } = source;
    let file = || table.file().clone();
    let added = added_columns(arguments, source);
    let taken = added.iter().flat_map(|(_, names)| names).find(|name| table.position(name).is_some());
    if let Some(name) = taken {
        return Err(CliError::NameTaken { file: file(), name: name.clone() });
    }
    let truths = frame.layout.columns().iter().map(|position| &table.columns()[*position]);
    match truths.into_iter().find(|column| matches!(column.data(), ColumnData::Bool(_))) {
        Some(column) => Err(CliError::NotFillable { file: file(), column: column.name().to_owned() }),
        None => Ok(()),
    }
}

fn completion(
    arguments: &Arguments,
    source: &Source,
    fit: &Fit,
    (limits, target): (&Limits, &Target),
) -> Result<(Completion, LeftEmpty), CliError> {
    let predictive =
        fit.predict_rows(arguments.prediction.quantity()).map_err(|error| source.in_user_terms(error))?;
    for warning in fit.beyond_limits(&predictive, arguments.prediction.point) {
        arguments.printing.console().say(format!("warning: {warning}"));
    }
    let Source { table, frame } = source;
    let (observations, n_outputs) = (fit.table().observations(), frame.n_outputs());
    let is_observed =
        |at: usize| observations.is_observed(RowIndex::new(at / n_outputs), OutputIndex::new(at % n_outputs));
    let is_empty = |at: usize| !is_observed(at) && limits.reason(&predictive, at).is_some();
    let point = |at| if is_empty(at) { f64::NAN } else { predictive.point(at, arguments.prediction.point) };
    let filled = frame.to_table_columns(point).into_iter();
    let filled = filled.map(|(position, values)| FilledColumn {
        position,
        values,
        decimals: decimals(arguments, table, position, target),
    });
    let filled = filled.collect();
    let mut appended = vec![];
    for (added, names) in added_columns(arguments, source) {
        let number =
            |at| if is_observed(at) || is_empty(at) { f64::NAN } else { added.number(&predictive, at) };
        let columns = frame.to_table_columns(number).into_iter();
        appended.extend(columns.zip(names).map(|((_, values), name)| added_column(table, name, values)));
    }
    let mut left = LeftEmpty::default();
    let has_cell = cells_of_table(frame);
    for at in (0..frame.n_rows() * n_outputs).filter(|at| has_cell(*at) && !is_observed(*at)) {
        if let Some(reason) = limits.reason(&predictive, at) {
            left.count(reason);
        }
    }
    Ok((Completion { filled, appended, ..Completion::default() }, left))
}

/// Whether a cell of a frame is in its table: a long table need not have all of them.
fn cells_of_table(frame: &Frame) -> impl Fn(usize) -> bool {
    let cells = match &frame.layout {
        Layout::Wide { .. } => None,
        Layout::Long { value_columns, row_of, output_of } => {
            let mut cells = vec![false; frame.n_rows() * frame.n_outputs()];
            for (at, output) in output_of.iter().enumerate() {
                if let Some(output) = output {
                    let row = row_of[at / value_columns.len()] as usize;
                    cells[row * frame.n_outputs() + *output as usize] = true;
                }
            }
            Some(cells)
        }
    };
    move |at| cells.as_ref().is_none_or(|cells| cells[at])
}

fn added_column(table: &Table, name: String, mut values: Vec<f64>) -> Column {
    values.resize(table.n_rows(), f64::NAN);
    Column::numbers(name, values)
}
