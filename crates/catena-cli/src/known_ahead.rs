//! Columns that are known ahead: their values at the rows of a table and at the rows to forecast.

use std::collections::HashSet;
use std::path::PathBuf;

use catena_fit::{KnownColumns, KnownFit};
use catena_io::read::ReadOptions;
use catena_io::select::{Frame, Input, Selection, select};
use catena_io::table::Table;
use clap::Args;

use crate::arguments::{Columns, ModelOptions, column};
use crate::console::Console;
use crate::error::CliError;
use crate::source::{Source, choose, read_table};

/// Name of the column that a list of holidays becomes.
const HOLIDAY: &str = "holiday";
/// The seconds of a day.
const DAY: f64 = 86_400.0;
/// Times this close are equal, in steps.
const BLUR: f64 = 1e-3;

/// Options for columns known ahead.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct KnownOptions {
    /// Columns whose values are known at the rows to forecast, such as a temperature or a price: their effects on the outputs, linear,
    /// with lags or smooth, are learned, and used if they improve forecasts of known rows.
    #[arg(long, value_name = "E,F", value_delimiter = ',', value_parser = column, conflicts_with_all = ["long", "wide", "group", "space", "page", "no_learn"])]
    known: Vec<String>,
    /// Table with the known columns at the rows to forecast [default: the rows of the table after the last value of any output].
    #[arg(long, value_name = "FILE", requires = "known")]
    future: Option<PathBuf>,
    /// Table whose first column has the dates of holidays, as a column known ahead; for rows of a day or less.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["long", "wide", "group", "space", "page", "no_learn"])]
    holidays: Option<PathBuf>,
}

/// A table of values of the known columns by time, and the days of holidays.
pub(crate) struct KnownTable {
    names: Vec<String>,
    /// Times and values of rows, those of the table first.
    rows: Vec<(f64, Vec<f64>)>,
    n_rows: usize,
    /// Days since 1970.
    holidays: Option<HashSet<i64>>,
}

impl KnownOptions {
    /// Whether none of the options is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.holidays.is_none()
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.future.iter().chain(&self.holidays)
    }

    /// Selects outputs and known columns of a table, and drops the rows after the last value of any output.
    pub(crate) fn opened(
        &self,
        table: Table,
        columns: &Columns,
        (model, console): (&ModelOptions, Console),
    ) -> Result<(Source, KnownTable), CliError> {
        let base = columns.selection();
        let outputs: Vec<String> = match &base.outputs {
            Some(given) => given.clone(),
            None => {
                let all = select(&table, &base)?.outputs;
                all.into_iter().filter(|name| !self.known.contains(name)).collect()
            }
        };
        let refuse = |what: String| CliError::Known { file: table.file().clone(), what };
        if let Some(name) = outputs.iter().find(|name| self.known.contains(name)) {
            return Err(refuse(format!("column {name} is in --outputs and in --known; leave it out of one")));
        }
        if outputs.is_empty() {
            return Err(refuse("no column is left to forecast; name fewer columns in --known".to_owned()));
        }
        let known = self.values_of(&table, &base)?;
        let mut source = choose(table, &Selection { outputs: Some(outputs), ..base }, console)?;
        let n_rows = keep_observed(&mut source.frame)?;
        let mut rows = known;
        if let Some(path) = &self.future {
            rows.truncate(n_rows);
            let [input] = source.frame.inputs.as_slice() else {
                return Err(CliError::SeveralInputs {
                    file: source.frame.file.clone(),
                    found: source.frame.inputs.len(),
                });
            };
            let axes = input.time.iter().map(|axis| (input.name.clone(), axis.clone())).collect();
            let selection = Selection {
                inputs: Some(vec![input.name.clone()]),
                time_axes: axes,
                needs_columns: true,
                ..columns.selection()
            };
            let options =
                ReadOptions { max_memory: Some(model.memory_limit()), ..columns.read_options(path) };
            rows.extend(self.values_of(&read_table(path, &options, console)?, &selection)?);
        }
        let holidays = match &self.holidays {
            Some(path) => {
                let options =
                    ReadOptions { max_memory: Some(model.memory_limit()), ..columns.read_options(path) };
                Some(days_of(&read_table(path, &options, console)?)?)
            }
            None => None,
        };
        let mut names = self.known.clone();
        if holidays.is_some() {
            if names.iter().chain(&source.frame.outputs).any(|name| name == HOLIDAY) {
                let what = format!(
                    "column {HOLIDAY} exists beside --holidays; rename it, or name it in --known instead"
                );
                return Err(CliError::Known { file: source.frame.file.clone(), what });
            }
            names.push(HOLIDAY.to_owned());
        }
        Ok((source, KnownTable { names, rows, n_rows, holidays }))
    }

    /// Time and known values of each row of a table.
    fn values_of(&self, table: &Table, base: &Selection) -> Result<Vec<(f64, Vec<f64>)>, CliError> {
        let outputs = (!self.known.is_empty()).then(|| self.known.clone());
        let inputs_only = outputs.is_none();
        let selection =
            Selection { outputs, may_lack_values: true, inputs_only, noise_columns: vec![], ..base.clone() };
        let frame = select(table, &selection)?;
        let [input] = frame.inputs.as_slice() else {
            return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
        };
        let n_known = self.known.len();
        let row = |(at, time): (usize, &f64)| (*time, frame.values[at * n_known..][..n_known].to_vec());
        Ok(input.values.iter().enumerate().map(row).collect())
    }
}

/// Drops the rows after the last value of any output, which have to be the last of the table; the number of rows that stay.
fn keep_observed(frame: &mut Frame) -> Result<usize, CliError> {
    let [input] = frame.inputs.as_slice() else {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    };
    let n_outputs = frame.outputs.len();
    let has_value =
        |row: &usize| frame.values[row * n_outputs..][..n_outputs].iter().any(|value| !value.is_nan());
    let times = (0..frame.n_rows).filter(has_value).map(|row| input.values[row]);
    let last = times.fold(f64::NEG_INFINITY, f64::max);
    let n_rows = input.values.iter().take_while(|time| **time <= last).count();
    if input.values[n_rows..].iter().any(|time| *time <= last) {
        let what = "rows after the last value of an output stand before others; sort the table by its input"
            .to_owned();
        return Err(CliError::Known { file: frame.file.clone(), what });
    }
    frame.n_rows = n_rows;
    frame.inputs[0].values.truncate(n_rows);
    frame.values.truncate(n_rows * n_outputs);
    if let Some(noise) = &mut frame.noise {
        noise.truncate(n_rows * n_outputs);
    }
    Ok(n_rows)
}

/// The days of the times in the first column of a table.
fn days_of(table: &Table) -> Result<HashSet<i64>, CliError> {
    let first = table.columns().first().map(|column| column.name().to_owned());
    let selection =
        Selection { inputs: Some(first.into_iter().collect()), inputs_only: true, ..Selection::default() };
    let frame = select(table, &selection)?;
    match frame.inputs.as_slice() {
        [Input { values, time: Some(axis), .. }] => {
            Ok(values.iter().map(|value| (axis.unix_seconds(*value) / DAY).floor() as i64).collect())
        }
        _ => Err(CliError::Known {
            file: table.file().clone(),
            what: "its first column holds no dates; write one holiday per line below a header, such as 2026-12-25".to_owned(),
        }),
    }
}

impl KnownTable {
    /// The columns at the rows of a table and at the times to forecast.
    pub(crate) fn columns(&self, frame: &Frame, ahead: &[f64]) -> Result<KnownColumns, CliError> {
        let input = &frame.inputs[0];
        let refuse = |what: String| CliError::Known { file: frame.file.clone(), what };
        let text = |time: f64| match &input.time {
            Some(axis) => axis.print(time),
            None => time.to_string(),
        };
        let last = input.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = ahead.first().map_or(1.0, |first| first - last);
        if let (Some(_), Some(axis)) = (&self.holidays, &input.time)
            && axis.unix_seconds(last + step) - axis.unix_seconds(last) > 1.5 * DAY
        {
            return Err(refuse(
                "--holidays is for rows of a day or less; count the holidays of each row in a column, and name it in --known".to_owned(),
            ));
        }
        if self.holidays.is_some() && input.time.is_none() {
            return Err(refuse(format!("--holidays needs times, but input {} holds numbers", input.name)));
        }
        let holiday = |time: f64| -> Option<f64> {
            let (days, axis) = (self.holidays.as_ref()?, input.time.as_ref()?);
            let day = (axis.unix_seconds(time) / DAY).floor() as i64;
            Some(f64::from(u8::from(days.contains(&day))))
        };
        let mut at_rows = vec![];
        for (time, values) in &self.rows[..self.n_rows] {
            at_rows.extend(values);
            at_rows.extend(holiday(*time));
        }
        let mut values_ahead = vec![];
        for &time in ahead {
            let n_named = self.names.len() - usize::from(self.holidays.is_some());
            if n_named > 0 {
                let mut later = self.rows[self.n_rows..].iter();
                let Some((_, values)) = later.find(|(other, _)| (other - time).abs() <= BLUR * step) else {
                    return Err(refuse(format!(
                        "there is no row at {} for {}; add rows with the known columns and empty outputs up to {}, or give them by \
                         --future FILE",
                        text(time),
                        self.names[..n_named].join(", "),
                        text(ahead.last().copied().unwrap_or(time))
                    )));
                };
                if let Some(column) = values.iter().position(|value| value.is_nan()) {
                    return Err(refuse(format!(
                        "column {} has no value at {}, which is to be forecast; fill it, or leave the column out of --known",
                        self.names[column],
                        text(time)
                    )));
                }
                values_ahead.extend(values);
            }
            values_ahead.extend(holiday(time));
        }
        Ok(KnownColumns {
            names: self.names.clone(),
            at_rows,
            times_ahead: ahead.to_vec(),
            ahead: values_ahead,
        })
    }
}

/// Prints how forecasts of known rows did with the known columns and without, and the effects.
pub(crate) fn say(fit: &KnownFit, console: Console) {
    let width = 38;
    if fit.scores().is_empty() {
        console.say("too few rows to check the known columns; their linear effects are used");
    } else {
        console.say(format!("{:<width$} {:>8} {:>10}", "known columns", "RMSE/sd", "log score"));
    }
    for score in fit.scores() {
        let mark = if score.chosen { " (used)" } else { "" };
        let name = format!("{}{mark}", score.name);
        console.say(format!("{name:<width$} {:>8.3} {:>10.3}", score.rmse, score.log_score));
    }
    for effect in fit.effects() {
        let name = format!("effect on {}: {}", effect.output, effect.feature);
        console.say(format!("{name:<width$} {:.4} \u{b1} {:.4}", effect.value, effect.deviation));
    }
}
