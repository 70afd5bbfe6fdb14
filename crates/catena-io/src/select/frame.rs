//! Inputs and outputs as numbers, and their positions in the table.

use super::{Decision, Groups, WideColumns};
use crate::place::FileName;
use crate::table::{Column, ColumnData, NumberColumn, NumberStyle, TimeColumn};
use crate::time::TimeAxis;

/// One input: a number per row, and the axis of a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// A finite number per row; for a time, seconds after the origin of its axis.
    pub values: Vec<f64>,
    /// The axis, if it is a time.
    pub time: Option<TimeAxis>,
    /// How numbers were written.
    pub style: NumberStyle,
}

impl Input {
    /// Numbers along this input as a column of its kind.
    pub fn column_of(&self, values: &[f64]) -> Column {
        let data = match &self.time {
            Some(axis) => {
                let instants = values.iter().map(|value| axis.instant_of(*value));
                ColumnData::Time(TimeColumn::new(instants, axis.style.clone()))
            }
            None => ColumnData::Number(NumberColumn { values: values.to_vec(), style: self.style }),
        };
        Column::new(self.name.clone(), data)
    }
}

/// How cells of a frame correspond to cells of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// Each row of the table is a row of the frame.
    Wide {
        /// The column of each output in the table.
        output_columns: Vec<usize>,
    },
    /// Each row of the table has cells of one row of the frame, one in each column of values.
    Long {
        /// The columns of values in the table.
        value_columns: Vec<usize>,
        /// By row of the table, the row of the frame.
        row_of: Vec<u32>,
        /// By row of the table and column of values, row by row, the output, or `None` if it is not used.
        output_of: Vec<Option<u32>>,
    },
}

impl Layout {
    /// The columns of the table that hold values of outputs.
    pub fn columns(&self) -> &[usize] {
        match self {
            Self::Wide { output_columns } => output_columns,
            Self::Long { value_columns, .. } => value_columns,
        }
    }
}

/// Inputs and outputs, ready for a model.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where the table came from.
    pub file: FileName,
    /// Number of rows.
    pub n_rows: usize,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Values of the outputs (rows × outputs), row by row; NaN is missing.
    pub values: Vec<f64>,
    /// Known standard deviations of the noise, laid out as `values`; NaN where unknown.
    pub noise: Option<Vec<f64>>,
    /// The groups of the rows; `None` if all rows are one table.
    pub groups: Option<Groups>,
    /// Positions in the table.
    pub layout: Layout,
    /// The columns of a table in which the names of a column became outputs.
    pub wide: Option<WideColumns>,
    /// The chosen columns and the reasons.
    pub decision: Decision,
}

impl Frame {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Number of observed values.
    pub fn n_observed(&self) -> usize {
        self.values.iter().filter(|value| !value.is_nan()).count()
    }

    /// The inputs (rows × inputs), row by row.
    pub fn to_input_rows(&self) -> Vec<f64> {
        let rows = 0..self.n_rows();
        rows.flat_map(|row| self.inputs.iter().map(move |input| input.values[row])).collect()
    }

    /// The inputs as columns of a table, in their original style.
    pub fn to_input_columns(&self) -> Vec<Column> {
        self.inputs.iter().map(|input| input.column_of(&input.values)).collect()
    }

    /// Frees the numbers, once they are in a dataset; names, layout and number of rows stay.
    pub fn drop_numbers(&mut self) {
        (self.values, self.noise) = (vec![], None);
        self.inputs.iter_mut().for_each(|input| input.values = vec![]);
    }

    /// Numbers for the cells of this frame (rows × outputs, row by row) as columns of its table: for each, the position of
    /// the column and a number per row of the table.
    pub fn to_table_columns(&self, number: impl Fn(usize) -> f64) -> Vec<(usize, Vec<f64>)> {
        let n_outputs = self.n_outputs();
        match &self.layout {
            Layout::Wide { output_columns } => {
                let column =
                    |output: usize| (0..self.n_rows).map(|row| number(row * n_outputs + output)).collect();
                output_columns
                    .iter()
                    .enumerate()
                    .map(|(output, position)| (*position, column(output)))
                    .collect()
            }
            Layout::Long { value_columns, row_of, output_of } => {
                let cell = |(row, output): (&u32, &Option<u32>)| {
                    output.map_or(f64::NAN, |output| number(*row as usize * n_outputs + output as usize))
                };
                let column = |at: usize| {
                    row_of
                        .iter()
                        .zip(output_of.iter().skip(at).step_by(value_columns.len()))
                        .map(cell)
                        .collect()
                };
                value_columns.iter().enumerate().map(|(at, position)| (*position, column(at))).collect()
            }
        }
    }
}
