//! Names and time axes of the table of a fit.

use std::collections::HashMap;

use catena_fit::FitOptions;
use catena_io::read::CellOptions;
use catena_io::select::{Frame, Input, LongColumns, WideColumns};
use catena_io::write::SeriesRows;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::LengthUnit;

/// The table of a fit, without its numbers.
#[derive(Debug, Clone)]
pub struct About {
    /// Where the table came from.
    pub data: String,
    /// The inputs, without their values.
    pub inputs: Vec<Input>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// The columns of a long table; `None` for a wide one.
    pub long: Option<LongColumns>,
    /// The columns of a table in which the names of a column became outputs; `None` if none did.
    pub wide: Option<WideColumns>,
    /// The columns that name groups, and the names of each group; `None` for one table.
    pub groups: Option<GroupNames>,
    /// Columns with the known noise of each output; empty if there are none.
    pub noise_columns: Vec<String>,
    /// How the cells of the table were said to be written; new tables are read in the same way.
    pub cells: CellOptions,
    /// Data of the program that saved the model; other programs keep it unchanged.
    pub caller: Option<Value>,
}

/// The groups of a table, without their rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupNames {
    /// The columns that name the group of a row.
    pub columns: Vec<String>,
    /// The names of each group, one per column, in the order of [`GroupIndex`](catena::index::GroupIndex).
    pub names: Vec<Vec<String>>,
}

impl GroupNames {
    /// The groups of a frame; `None` for one table.
    pub fn of(frame: &Frame) -> Option<Self> {
        let groups = frame.groups.as_ref()?;
        Some(Self { columns: groups.columns.clone(), names: groups.names.clone() })
    }
}

impl About {
    /// The description of a frame.
    pub fn new(frame: &Frame, long: Option<&LongColumns>, noise_columns: &[String]) -> Self {
        let input = |input: &Input| Input { values: vec![], ..input.clone() };
        Self {
            data: frame.file.to_string(),
            inputs: frame.inputs.iter().map(input).collect(),
            outputs: frame.outputs.clone(),
            long: long.cloned(),
            wide: frame.wide.clone(),
            groups: GroupNames::of(frame),
            noise_columns: noise_columns.to_vec(),
            cells: CellOptions::default(),
            caller: None,
        }
    }

    /// The same table, with cells that are written in this way.
    #[must_use]
    pub fn with_cells(self, cells: &CellOptions) -> Self {
        Self { cells: cells.clone(), ..self }
    }

    /// How the cells of new tables are read: as said for the first table, with dates in its order.
    pub fn cell_options(&self) -> CellOptions {
        let order = |input: &Input| input.time.as_ref()?.style.form.order();
        let dates = self.cells.dates.or_else(|| self.inputs.iter().find_map(order));
        CellOptions { dates, ..self.cells.clone() }
    }

    /// The layout of predictions, if the table has a row per series; `None` for a wide table.
    pub fn series_rows(&self) -> Option<SeriesRows> {
        let outputs = self.outputs.iter();
        if let Some(LongColumns { series, value, .. }) = &self.long {
            return Some(SeriesRows {
                column: series.clone(),
                names: self.outputs.clone(),
                values: vec![value.clone()],
                outputs: (0..outputs.len()).map(Some).collect(),
            });
        }
        let WideColumns { column, values, names } = self.wide.clone()?;
        let number: HashMap<&str, usize> =
            outputs.enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let pairs =
            names.iter().flat_map(|name| values.iter().map(move |value| WideColumns::output(value, name)));
        let outputs = pairs.map(|output| number.get(output.as_str()).copied()).collect();
        Some(SeriesRows { column, names, values, outputs })
    }

    /// The unit of lengths along the inputs.
    pub fn length_unit(&self) -> LengthUnit {
        LengthUnit::of_inputs(&self.inputs)
    }

    /// The function that writes lengths in messages of a fit.
    pub fn length_writer(&self) -> fn(f64) -> String {
        if self.is_time() { self.length_unit().writer() } else { FitOptions::default().length_text }
    }

    /// Options of a fit with what the inputs of the table decide: how lengths are written, and the periods of the calendar.
    #[must_use]
    pub fn completed(&self, options: FitOptions) -> FitOptions {
        let calendar = self.length_unit().calendar_periods();
        FitOptions { length_text: self.length_writer(), calendar, ..options }
    }

    /// Whether the only input is a time.
    pub fn is_time(&self) -> bool {
        self.inputs.len() == 1 && self.inputs[0].time.is_some()
    }
}
