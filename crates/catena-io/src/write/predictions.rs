//! Lays out predictions as a table: the inputs, then mean, standard deviation and interval of every output.

use crate::table::{Column, ColumnData, Table, TextColumn};

/// Bounds of an interval, by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
}

/// Predictions of one output, by row.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedOutput {
    /// The name of the output.
    pub name: String,
    /// Means or medians.
    pub point: Vec<f64>,
    /// Which of them: the suffix of their column.
    pub point_name: &'static str,
    /// Standard deviations.
    pub std: Vec<f64>,
    /// Bounds of the interval, if any.
    pub interval: Option<Interval>,
    /// Quantiles: each probability with its values.
    pub quantiles: Vec<(f64, Vec<f64>)>,
}

/// A row per input: the input columns, then `NAME_mean` or `NAME_median`, `NAME_std`, with an interval `NAME_lo`, `NAME_hi`, and `NAME_q0.1` for
/// the quantile of probability 0.1.
pub fn prediction_table(inputs: Vec<Column>, outputs: Vec<PredictedOutput>) -> Table {
    let mut columns = inputs;
    for PredictedOutput { name, point, point_name, std, interval, quantiles } in outputs {
        columns.push(Column::numbers(format!("{name}_{point_name}"), point));
        columns.push(Column::numbers(format!("{name}_std"), std));
        if let Some(Interval { low, high }) = interval {
            columns.push(Column::numbers(format!("{name}_lo"), low));
            columns.push(Column::numbers(format!("{name}_hi"), high));
        }
        for (probability, values) in quantiles {
            columns.push(Column::numbers(format!("{name}_q{probability}"), values));
        }
    }
    Table::new(columns)
}

/// The layout of a table with a row per input and series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRows {
    /// The column of names.
    pub column: String,
    /// The names of the series.
    pub names: Vec<String>,
    /// The columns of values.
    pub values: Vec<String>,
    /// By name and column of values, row by row, the output; `None` if there is none.
    pub outputs: Vec<Option<usize>>,
}

impl SeriesRows {
    /// The column of names for some inputs.
    pub fn names_column(&self, n_inputs: usize) -> Column {
        let names = (0..n_inputs).flat_map(|_| self.names.iter().map(|name| Some(name.as_str())));
        Column::new(self.column.clone(), ColumnData::Text(names.collect::<TextColumn>()))
    }

    /// The cells of a column of values for some inputs; NaN where a series has no such output.
    pub fn cells(&self, value: usize, n_inputs: usize, number: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
        let outputs = || self.outputs.iter().skip(value).step_by(self.values.len());
        let cells =
            |row: usize| outputs().map(move |output| output.map_or(f64::NAN, |output| number(row, output)));
        (0..n_inputs).flat_map(cells).collect()
    }
}

/// A row per input and series: the input columns, the name of the series, then `VALUE_mean` and so on for each column of values.
pub fn long_prediction_table(inputs: &[Column], rows: &SeriesRows, outputs: &[PredictedOutput]) -> Table {
    let n_rows = inputs.iter().map(|column| column.data().len()).max().unwrap_or(0);
    let mut columns: Vec<Column> = inputs.iter().map(|column| repeated(column, rows.names.len())).collect();
    columns.push(rows.names_column(n_rows));
    for (at, value) in rows.values.iter().enumerate() {
        push_predictions(&mut columns, (rows, at, value), n_rows, outputs);
    }
    Table::new(columns)
}

/// The predictions of one column of values.
fn push_predictions(
    columns: &mut Vec<Column>,
    (rows, at, value): (&SeriesRows, usize, &str),
    n_rows: usize,
    outputs: &[PredictedOutput],
) {
    let mut push = |suffix: &str, values: &dyn Fn(&PredictedOutput, usize) -> f64| {
        let number = |row: usize, output: usize| outputs.get(output).map_or(f64::NAN, |own| values(own, row));
        columns.push(Column::numbers(format!("{value}_{suffix}"), rows.cells(at, n_rows, &number)));
    };
    let cell = |values: &[f64], row: usize| values.get(row).copied().unwrap_or(f64::NAN);
    let point_name = outputs.first().map_or("mean", |output| output.point_name);
    push(point_name, &|output, row| cell(&output.point, row));
    push("std", &|output, row| cell(&output.std, row));
    if outputs.iter().any(|output| output.interval.is_some()) {
        let bound = |output: &PredictedOutput, row, side: fn(&Interval) -> &[f64]| {
            output.interval.as_ref().map_or(f64::NAN, |interval| cell(side(interval), row))
        };
        push("lo", &|output, row| bound(output, row, |interval| &interval.low));
        push("hi", &|output, row| bound(output, row, |interval| &interval.high));
    }
    let probabilities = outputs.first().map_or(&[][..], |output| &output.quantiles);
    for (at, (probability, _)) in probabilities.iter().enumerate() {
        let quantile =
            |output: &PredictedOutput, row| output.quantiles.get(at).map(|(_, values)| cell(values, row));
        push(&format!("q{probability}"), &|output, row| quantile(output, row).unwrap_or(f64::NAN));
    }
}

/// Every cell repeated `times` times.
fn repeated(column: &Column, times: usize) -> Column {
    let data = match column.data() {
        ColumnData::Number(numbers) => {
            let mut numbers = numbers.clone();
            numbers.values =
                numbers.values.iter().flat_map(|value| std::iter::repeat_n(*value, times)).collect();
            ColumnData::Number(numbers)
        }
        ColumnData::Time(column) => ColumnData::Time(column.repeated(times)),
        ColumnData::Text(text) => {
            let cells = (0..text.len()).flat_map(|row| std::iter::repeat_n(text.get(row), times));
            ColumnData::Text(cells.collect())
        }
        ColumnData::Bool(bools) => {
            let cells = (0..column.data().len()).flat_map(|row| std::iter::repeat_n(bools.get(row), times));
            ColumnData::Bool(cells.collect())
        }
    };
    Column::new(column.name().to_owned(), data)
}
