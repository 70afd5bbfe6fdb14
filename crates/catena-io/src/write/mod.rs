//! Writes tables: whole, or as they were read with missing cells filled.
//!
//! `atomic` replaces a file at once or not at all; `target` is a file and its format; `completed` copies the source text cell by
//! cell; `predictions` lays out predictions as a table.

mod atomic;
mod completed;
mod csv;
mod error;
mod predictions;
mod scratch;
mod target;

pub use atomic::{TargetFile, remove_unfinished_files};
pub use completed::{
    Completion, FilledColumn, Fillings, complete, copy_completed, copy_filled, write_completed,
};
pub use csv::cell_text;
pub(crate) use csv::{number_text, write_cell, write_csv};
pub use error::WriteError;
pub use predictions::{Interval, PredictedOutput, SeriesRows, long_prediction_table, prediction_table};
pub use scratch::{FilledColumns, ScratchFillings, ScratchRows};
pub use target::Target;

use std::collections::HashSet;

use crate::table::{Column, Table};

/// Writes a table in the format of its target.
///
/// # Errors
/// If the target cannot be written; then what was there before is still there.
pub fn write_table(table: &Table, target: &Target) -> Result<(), WriteError> {
    let mut seen = HashSet::new();
    if let Some(name) = table.columns().iter().map(Column::name).find(|name| !seen.insert(*name)) {
        let (file, name) = (target.file().clone(), name.to_owned());
        return Err(WriteError::DuplicateName { file, name });
    }
    let Some(write) = target.format().definition().write else {
        return Err(target.not_written());
    };
    let mut file = target.create()?;
    write(table, &mut file)?;
    file.commit()
}
