//! Reads one line for a given model: its group, all inputs and some outputs.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};
use thiserror::Error;

use super::StreamFormat;
use crate::place::Excerpt;
use crate::read::CellOptions;
use crate::read::csv::{Found, QuoteError, Splitter};
use crate::select::{Input, nearest_name};
use crate::table::{Cell, CellProblem, CellRules, LARGEST_EXACT, trimmed};
use crate::time::{DateForm, ParsedZone, TimeAxis, numeric_date};

/// An invalid line: the column, if any, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{what}", column.as_ref().map(|name| format!("column {name}: ")).unwrap_or_default())]
pub struct LineError {
    /// The column.
    pub column: Option<String>,
    /// The problem and what to do.
    pub what: String,
}

/// The values of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamRow {
    /// The names of the row's group, one per column of groups; empty without groups.
    pub groups: Vec<String>,
    /// All inputs, as numbers.
    pub inputs: Vec<f64>,
    /// Observed outputs with their values, ascending.
    pub cells: Vec<(usize, f64)>,
}

/// Reads lines for a model.
#[derive(Debug)]
pub struct LineReader {
    format: StreamFormat,
    /// Columns that name the group of a row.
    groups: Vec<String>,
    inputs: Vec<Input>,
    outputs: Vec<String>,
    /// The columns of a CSV line.
    columns: Option<Vec<Column>>,
    /// How the cells of every input are read.
    input_rules: Vec<CellRules>,
    output_rules: CellRules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Group(usize),
    Input(usize),
    Output(usize),
}

fn wrong(what: impl Into<String>) -> LineError {
    LineError { column: None, what: what.into() }
}

fn wrong_in(column: &str, what: impl Into<String>) -> LineError {
    LineError { column: Some(column.to_owned()), what: what.into() }
}

impl LineReader {
    /// A reader for a model with these inputs and outputs.
    pub fn new(format: StreamFormat, inputs: &[Input], outputs: &[String]) -> Self {
        let reader = Self {
            format,
            groups: vec![],
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            columns: None,
            input_rules: vec![],
            output_rules: CellRules::default(),
        };
        reader.with_cells(&CellOptions::default())
    }

    /// The same reader, for cells that are written like those of the model's table.
    #[must_use]
    pub fn with_cells(mut self, cells: &CellOptions) -> Self {
        let decimal = cells.decimal.unwrap_or_default();
        // Dates are read in the order of the model's table.
        let order = |input: &Input| input.time.as_ref().and_then(|axis| axis.style.form.order());
        let rules = |input: &Input| CellRules::new(&cells.missing, decimal, cells.dates.or(order(input)));
        self.input_rules = self.inputs.iter().map(rules).collect();
        self.output_rules = CellRules::new(&cells.missing, decimal, cells.dates);
        self
    }

    /// The same reader, for a model with these columns of groups, which every line has.
    #[must_use]
    pub fn with_groups(mut self, columns: &[String]) -> Self {
        self.groups = columns.to_vec();
        self
    }

    /// Whether the next line must be a header.
    pub fn needs_header(&self) -> bool {
        self.format == StreamFormat::Csv && self.columns.is_none()
    }

    /// Whether lines have a header.
    pub fn has_headers(&self) -> bool {
        self.format == StreamFormat::Csv
    }

    /// Reads the header of CSV lines: all columns of groups, all inputs and some outputs of the model, in any order.
    ///
    /// # Errors
    /// If a name is unknown, missing or repeated.
    pub fn read_header(&mut self, line: &[u8]) -> Result<(), LineError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let mut columns = vec![];
        for name in fields(ended(line))? {
            let name = String::from_utf8_lossy(trimmed(&name)).into_owned();
            let column = self.column(&name)?;
            if columns.contains(&column) {
                return Err(wrong_in(&name, "occurs twice; name every column once"));
            }
            columns.push(column);
        }
        if let Some(name) = (0..self.groups.len())
            .find(|at| !columns.contains(&Column::Group(*at)))
            .map(|at| &self.groups[at])
        {
            return Err(wrong(format!(
                "the header has no column {name}, which names the groups of the model"
            )));
        }
        let missing = |at: &usize| !columns.contains(&Column::Input(*at));
        if let Some(at) = (0..self.inputs.len()).find(missing) {
            return Err(wrong(format!(
                "the header has no column {}, which is an input of the model",
                self.inputs[at].name
            )));
        }
        self.columns = Some(columns);
        Ok(())
    }

    /// Reads a line; `None` if it is empty.
    ///
    /// # Errors
    /// If it does not match the model or the header.
    pub fn read(&self, line: &[u8]) -> Result<Option<StreamRow>, LineError> {
        let line = ended(line);
        if trimmed(line).is_empty() {
            return Ok(None);
        }
        match self.format {
            StreamFormat::Csv => self.read_csv(line).map(Some),
            StreamFormat::Json => self.read_json(line).map(Some),
        }
    }

    fn column(&self, name: &str) -> Result<Column, LineError> {
        if let Some(at) = self.groups.iter().position(|group| group == name) {
            return Ok(Column::Group(at));
        }
        if let Some(at) = self.inputs.iter().position(|input| input.name == name) {
            return Ok(Column::Input(at));
        }
        if let Some(at) = self.outputs.iter().position(|output| output == name) {
            return Ok(Column::Output(at));
        }
        let names = self.inputs.iter().map(|input| input.name.as_str());
        let names = names.chain(self.groups.iter().map(String::as_str));
        let hint = match nearest_name(name, names.chain(self.outputs.iter().map(String::as_str))) {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => format!("its outputs are {}", self.outputs.join(", ")),
        };
        Err(wrong_in(
            &Excerpt::new(name.as_bytes()).as_str().replace('\u{fffd}', "?"),
            format!("the model has no such input or output; {hint}"),
        ))
    }

    fn name(&self, column: Column) -> &str {
        match column {
            Column::Group(at) => &self.groups[at],
            Column::Input(at) => &self.inputs[at].name,
            Column::Output(at) => &self.outputs[at],
        }
    }

    fn read_csv(&self, line: &[u8]) -> Result<StreamRow, LineError> {
        let columns = self.columns.as_ref().ok_or_else(|| wrong("the header is missing"))?;
        let fields = fields(line)?;
        if fields.len() != columns.len() {
            return Err(wrong(format!("has {} fields, but the header has {}", fields.len(), columns.len())));
        }
        let mut row = Row::new(self.groups.len(), self.inputs.len());
        for (field, &column) in fields.iter().zip(columns) {
            match column {
                Column::Group(at) => {
                    row.groups[at] = Some(String::from_utf8_lossy(trimmed(field)).into_owned());
                }
                _ => row.put(column, self.cell(column, trimmed(field))?),
            }
        }
        self.finish(row)
    }

    fn read_json(&self, line: &[u8]) -> Result<StreamRow, LineError> {
        let object: Map<String, Value> =
            serde_json::from_slice(line).map_err(|error| wrong(format!("is not a JSON object ({error})")))?;
        let mut row = Row::new(self.groups.len(), self.inputs.len());
        for (name, value) in &object {
            let column = self.column(name)?;
            if let Column::Group(at) = column {
                row.groups[at] = match value {
                    Value::String(text) => Some(text.trim().to_owned()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                };
                continue;
            }
            let is_time = matches!(column, Column::Input(at) if self.inputs[at].time.is_some());
            let value = match value {
                Value::Null => None,
                Value::String(text) if is_time => self.cell(column, trimmed(text.as_bytes()))?,
                Value::Number(_) if is_time => {
                    return Err(self.invalid(column, value, CellProblem::NumberAmongTimes));
                }
                Value::Number(number) if is_too_long(number) => {
                    return Err(self.invalid(column, value, CellProblem::TooManyDigits));
                }
                Value::Number(number) => {
                    number.as_f64().filter(|value| !self.output_rules.is_code_number(*value))
                }
                _ => {
                    return Err(wrong_in(
                        name,
                        format!("{} is not a number; use null if it is missing", shown(value)),
                    ));
                }
            };
            row.put(column, value);
        }
        self.finish(row)
    }

    fn invalid(&self, column: Column, value: &Value, reason: CellProblem) -> LineError {
        wrong_in(self.name(column), format!("{} {reason}", shown(value)))
    }

    /// The number of a cell; `None` if missing.
    fn cell(&self, column: Column, text: &[u8]) -> Result<Option<f64>, LineError> {
        let (axis, rules) = match column {
            Column::Input(at) => (self.inputs[at].time.as_ref(), &self.input_rules[at]),
            Column::Output(_) | Column::Group(_) => (None, &self.output_rules),
        };
        let form = axis.map(|axis| axis.style.form);
        let is_number = matches!(form, Some(DateForm::Compact | DateForm::Year));
        let on_axis = |axis: &TimeAxis, instant| {
            let what = "is at a weekend, which the calendar of the model does not have";
            let wrong = || wrong_in(self.name(column), format!("{} {what}", Excerpt::new(text)));
            axis.number_of(instant).map(Some).ok_or_else(wrong)
        };
        let reason = match (rules.classify(text), axis) {
            (Cell::Number { value, .. }, Some(axis)) if is_number => {
                match numeric_date(value, form.unwrap_or_default()) {
                    Some(instant) => return on_axis(axis, instant),
                    None => CellProblem::NumberAmongTimes,
                }
            }
            (Cell::Missing, _) => return Ok(None),
            (Cell::Number { value, .. }, None) => return Ok(Some(value)),
            (Cell::Number { .. }, Some(_)) => CellProblem::NumberAmongTimes,
            (Cell::Time(_), None) => CellProblem::TimeAmongNumbers,
            (Cell::Time(time), Some(axis)) => {
                let what = match (time.zone != ParsedZone::Naive, axis.style.zone.is_zoned()) {
                    (true, false) => "has a zone, but the times of the model have none",
                    (false, true) => "has no zone, but the times of the model have one",
                    _ => return on_axis(axis, time.instant),
                };
                return Err(wrong_in(self.name(column), format!("{} {what}", Excerpt::new(text))));
            }
            (Cell::Other(reason), _) => reason,
        };
        Err(wrong_in(self.name(column), format!("{} {reason}", Excerpt::new(text))))
    }

    fn finish(&self, row: Row) -> Result<StreamRow, LineError> {
        let Row { groups, inputs, mut cells } = row;
        let is_missing = |name: &Option<String>| name.as_ref().is_none_or(String::is_empty);
        if let Some(at) = groups.iter().position(is_missing) {
            return Err(wrong_in(&self.groups[at], "is empty; every line names its group"));
        }
        if let Some(at) = inputs.iter().position(Option::is_none) {
            let what = "has no value; every line needs all inputs";
            return Err(wrong_in(&self.inputs[at].name, what));
        }
        cells.sort_unstable_by_key(|(output, _)| *output);
        let groups = groups.into_iter().flatten().collect();
        Ok(StreamRow { groups, inputs: inputs.into_iter().flatten().collect(), cells })
    }
}

struct Row {
    groups: Vec<Option<String>>,
    inputs: Vec<Option<f64>>,
    cells: Vec<(usize, f64)>,
}

impl Row {
    fn new(n_groups: usize, n_inputs: usize) -> Self {
        Self { groups: vec![None; n_groups], inputs: vec![None; n_inputs], cells: vec![] }
    }

    fn put(&mut self, column: Column, value: Option<f64>) {
        match (column, value) {
            (Column::Input(at), value) => self.inputs[at] = value,
            (Column::Output(at), Some(value)) => self.cells.push((at, value)),
            (Column::Output(_), None) | (Column::Group(_), _) => {}
        }
    }
}

/// Whether an integer is beyond 2^53.
fn is_too_long(number: &Number) -> bool {
    let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    size.is_some_and(|size| size >= LARGEST_EXACT)
}

fn shown(value: &Value) -> Excerpt {
    match value {
        Value::String(text) => Excerpt::new(text.as_bytes()),
        other => Excerpt::new(other.to_string().as_bytes()),
    }
}

/// The line without its line break.
fn ended(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The fields of a CSV line, without quotes.
fn fields(line: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, LineError> {
    let mut splitter = Splitter::default();
    match splitter.split(line, b',', true) {
        Ok(Found::Record { length, .. }) if length == line.len() => {}
        Ok(_) => return Err(wrong("contains a line break")),
        Err(QuoteError::Unclosed) => return Err(wrong("a quote is not closed")),
        Err(QuoteError::TextAfter) => return Err(wrong("text follows a closing quote")),
    }
    Ok(splitter.fields().iter().map(|field| field.content(line)).collect())
}
