//! Writes tables: whole, or as they were read with their holes filled.
//!
//! `atomic` makes sure that a file is either complete or untouched; `csv` and `columnar` are the formats; `completed`
//! copies the text of the source cell by cell; `predictions` lays out what a model says.

mod atomic;
mod columnar;
mod completed;
mod csv;
mod error;
mod predictions;
mod scratch;

pub use atomic::{Target, TargetFile, remove_unfinished_files};
pub use completed::{
    Completion, FilledColumn, Fillings, complete, copy_completed, copy_filled, write_completed,
};
pub(crate) use csv::{cell_text, number_text, write_cell};
pub use error::WriteError;
pub use predictions::{Interval, PredictedOutput, long_prediction_table, prediction_table};
pub use scratch::{FilledColumns, ScratchFillings, ScratchRows};

use std::collections::HashSet;

use crate::read::Format;
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
    let mut file = TargetFile::create(target)?;
    match target.format() {
        Format::Csv | Format::Text => csv::write_csv(table, b',', &mut file)?,
        Format::Tsv => csv::write_csv(table, b'\t', &mut file)?,
        Format::Parquet => columnar::write_parquet(table, &mut file)?,
        Format::Arrow => columnar::write_arrow(table, &mut file)?,
    }
    file.commit()
}
