//! Reads tables and selects their inputs and outputs.

use std::path::Path;

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};
use catena_fit::{FitError, MethodError};
use catena_io::Place;
use catena_io::read::{ReadOptions, read_with_progress};
use catena_io::select::{Frame, Layout, Selection, repeated_places, select, suspicious_codes};
use catena_io::table::Table;
use catena_io::write::Target;

use crate::arguments::{Columns, ModelOptions};
use crate::console::{Console, counted};
use crate::error::CliError;

/// A table and the columns selected from it.
pub(crate) struct Source {
    pub(crate) table: Table,
    pub(crate) frame: Frame,
}

/// Whether the text of a pipe is kept to be copied later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Kept,
    Gone,
}

/// Reads a table, selects its columns and prints the selection.
pub(crate) fn open(
    path: &Path,
    columns: &Columns,
    (text, model): (Text, &ModelOptions),
    console: Console,
) -> Result<Source, CliError> {
    let mut options = columns.read_options(path);
    options.keep_piped_text = text == Text::Kept;
    options.max_memory = Some(model.memory_limit());
    let table = read_table(path, &options, console)?;
    choose(table, &columns.selection(), console)
}

/// Reads a table with a progress bar.
pub(crate) fn read_table(path: &Path, options: &ReadOptions, console: Console) -> Result<Table, CliError> {
    let bar = console.reading();
    let mut show = |done: u64, total: Option<u64>| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    };
    let table = read_with_progress(path, options, &mut show);
    bar.finish_and_clear();
    let table = table?;
    table.notes().iter().for_each(|note| console.say(note));
    Ok(table)
}

/// Selects the columns of a table and prints the selection.
pub(crate) fn choose(table: Table, selection: &Selection, console: Console) -> Result<Source, CliError> {
    let frame = select(&table, selection)?;
    for sentence in frame.decision.sentences() {
        console.say(sentence);
    }
    if let Some(groups) = &frame.groups {
        console.say(format!("{} share one model", counted(groups.len(), "group")));
    }
    if let Some(sentence) = repeated_places(&table, &frame) {
        console.say(format!("note: {sentence}"));
    }
    warn_of_codes(&frame, console);
    Ok(Source { table, frame })
}

/// Warns of values that look like codes for missing values.
pub(crate) fn warn_of_codes(frame: &Frame, console: Console) {
    for code in suspicious_codes(frame) {
        console.say(format!("warning: {code}"));
    }
}

impl Source {
    /// The selected columns as a dataset.
    pub(crate) fn dataset(&self) -> Result<Dataset, CliError> {
        dataset(&self.frame).map_err(|error| self.in_user_terms(FitError::Data(error)))
    }

    /// The selected columns as a dataset. The frame drops its numbers, and so does the table if it is copied to the target as text.
    pub(crate) fn take_dataset(&mut self, target: &Target) -> Result<Dataset, CliError> {
        let dataset = self.dataset()?;
        self.frame.drop_numbers();
        if self.table.csv_source().is_some() && target.format().is_text() {
            self.table.drop_numbers(self.frame.layout.columns());
        }
        Ok(dataset)
    }

    /// An error with rows and columns named as in the user's file.
    pub(crate) fn in_user_terms(&self, error: FitError) -> CliError {
        self.in_terms_of_rows(error, None)
    }

    /// An error about some of the rows, `rows`, with rows and columns named as in the user's file.
    pub(crate) fn in_terms_of_rows(&self, error: FitError, rows: Option<&[RowIndex]>) -> CliError {
        let file = self.table.file().clone();
        let own = |row: RowIndex| rows.and_then(|rows| rows.get(row.get()).copied()).unwrap_or(row).get();
        let row_of = |row: RowIndex| self.place_of(own(row), None);
        let cell_of = |row: RowIndex, output: OutputIndex| self.place_of(own(row), Some(output.get()));
        match error {
            FitError::Data(DataError::ScalingOverflow { row, .. })
            | FitError::Method(MethodError::Inference(catena::inference::InferenceError::Overflow { row })) => {
                CliError::Overflow { file, place: row_of(row) }
            }
            FitError::Data(DataError::CellNoise { row, output, .. }) => CliError::Cell {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: "the noise of this cell is missing; give a noise column for every output",
            },
            FitError::NotPositive { row, output, .. } => CliError::Cell {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: "this value is not positive, but the model has a logarithm or power of this output; leave the cell empty \
                       if the value is missing, or fit a new model to all rows",
            },
            FitError::NotTransformable { row, output, .. } => CliError::Cell {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: "this value is not positive, which log and box-cox need; leave the cell empty if the value is missing, or \
                       choose yeo-johnson in --transforms",
            },
            FitError::NotOfLikelihood { row, output, value, likelihood, allowed } => CliError::Value {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: format!(
                    "the value is {value}, but an output with the likelihood {likelihood} {allowed}; leave the cell empty if it \
                     is missing, or choose another likelihood in --likelihood"
                ),
            },
            FitError::BeyondBounds { row, output, value, bounds } => CliError::Value {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: format!(
                    "the value is {value}, beyond the bounds {bounds} of this output; leave the cell empty if it is missing, or widen \
                     the bounds in --bounds"
                ),
            },
            FitError::TooLarge { row, output } => CliError::Cell {
                file,
                place: cell_of(row, output),
                column: self.frame.outputs[output.get()].clone(),
                what: "this value is too large for the model; leave the cell empty if the value is missing, or fit a new \
                       model to all rows",
            },
            cause => CliError::Fit { file, cause },
        }
    }

    /// The place of a row in the file, or of the cell of an output.
    pub(crate) fn place_of(&self, row: usize, output: Option<usize>) -> Place {
        match &self.frame.layout {
            Layout::Wide { .. } => self.table.place_of(row),
            Layout::Long { value_columns, row_of, output_of } => {
                let has_output = |own: &Option<u32>| {
                    own.is_some_and(|own| output.is_none_or(|output| own as usize == output))
                };
                let mut rows = row_of.iter().zip(output_of.chunks(value_columns.len().max(1)));
                let found =
                    rows.position(|(own, outputs)| *own as usize == row && outputs.iter().any(has_output));
                self.table.place_of(found.unwrap_or(0))
            }
        }
    }
}

/// The inputs of a frame, with the groups of its rows.
pub(crate) fn input_points(frame: &Frame) -> Result<InputPoints, DataError> {
    let points = InputPoints::new(frame.n_rows(), frame.inputs.len(), frame.to_input_rows())?;
    match &frame.groups {
        None => Ok(points),
        Some(groups) => points.with_groups(group_indices(&groups.of_row)),
    }
}

/// Numbers of groups as indices.
pub(crate) fn group_indices(numbers: &[u32]) -> Vec<GroupIndex> {
    numbers.iter().map(|number| GroupIndex::new(*number as usize)).collect()
}

/// The inputs and outputs of a frame as a dataset.
pub(crate) fn dataset(frame: &Frame) -> Result<Dataset, DataError> {
    let inputs = input_points(frame)?;
    let mut observations = Observations::from_dense(frame.n_rows(), frame.n_outputs(), &frame.values)?;
    if let Some(noise) = &frame.noise {
        let variances: Vec<f64> = noise.iter().map(|deviation| deviation * deviation).collect();
        observations = observations.with_cell_noise(&variances)?;
    }
    Dataset::new(inputs, observations)
}
