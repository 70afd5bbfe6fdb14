//! Rows of numbers in a temporary file, written in any order and read in row order.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::atomic::{create_beside, forget_unfinished, is_stream};
use super::csv::number_text;
use super::{Fillings, Target, WriteError};
use crate::place::FileName;
use crate::table::NumberStyle;

/// A temporary file of rows of numbers beside a target. It is removed on drop or when the program is interrupted.
#[derive(Debug)]
pub struct ScratchRows {
    name: FileName,
    path: PathBuf,
    file: File,
    width: usize,
}

impl ScratchRows {
    /// Creates the file for rows of `width` numbers, in the folder of the target or, for pipes and devices, in the temporary folder.
    ///
    /// # Errors
    /// If the folder is not writable.
    pub fn beside(target: &Target, width: usize) -> Result<Self, WriteError> {
        let name = target.file().clone();
        let near = match &name {
            FileName::Path(path) if !is_stream(path) => path.clone(),
            _ => std::env::temp_dir().join("catena"),
        };
        let (path, file) = create_beside(&near).map_err(|error| WriteError::from_io(&name, error))?;
        Ok(Self { name, path, file, width })
    }

    /// Writes rows, starting at `first_row`.
    ///
    /// # Errors
    /// If the disk is full or writing fails.
    pub fn write(&mut self, first_row: u64, numbers: &[f64]) -> Result<(), WriteError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let place = first_row * 8 * self.width as u64;
        let file = &mut self.file;
        let written = file.seek(SeekFrom::Start(place)).and_then(|_| file.write_all(&bytes));
        written.map_err(|error| WriteError::from_io(&self.name, error))
    }

    /// Reads all rows in order, as values for the missing cells of a table.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn into_fillings(mut self, columns: FilledColumns) -> Result<ScratchFillings, WriteError> {
        self.file.rewind().map_err(|error| WriteError::from_io(&self.name, error))?;
        let file = self.file.try_clone().map_err(|error| WriteError::from_io(&self.name, error))?;
        let row = vec![f64::NAN; self.width];
        Ok(ScratchFillings { reader: BufReader::with_capacity(1 << 18, file), rows: self, row, columns })
    }
}

impl Drop for ScratchRows {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        forget_unfinished(&self.path);
    }
}

/// The columns of a row: filled columns first, then appended ones.
#[derive(Debug, Clone, Default)]
pub struct FilledColumns {
    /// Positions in the table of the columns to fill, and the number of decimals of each; `None` writes all digits.
    pub filled: Vec<(usize, Option<u8>)>,
    /// Names of the appended columns.
    pub appended: Vec<String>,
}

/// Reads the rows of a [`ScratchRows`] one by one.
#[derive(Debug)]
pub struct ScratchFillings {
    rows: ScratchRows,
    reader: BufReader<File>,
    row: Vec<f64>,
    columns: FilledColumns,
}

impl Fillings for ScratchFillings {
    fn advance(&mut self) -> Result<(), WriteError> {
        for number in &mut self.row {
            let mut bytes = [0; 8];
            self.reader
                .read_exact(&mut bytes)
                .map_err(|error| WriteError::from_io(&self.rows.name, error))?;
            *number = f64::from_le_bytes(bytes);
        }
        Ok(())
    }

    fn filling(&self, position: usize) -> Option<f64> {
        let column = self.columns.filled.iter().position(|(filled, _)| *filled == position)?;
        self.row.get(column).copied()
    }

    fn decimals(&self, position: usize) -> Option<u8> {
        self.columns.filled.iter().find(|(filled, _)| *filled == position)?.1
    }

    fn appended_names(&self) -> Vec<String> {
        self.columns.appended.clone()
    }

    fn push_appended(&self, column: usize, text: &mut String) {
        let number = self.row.get(self.columns.filled.len() + column).copied().unwrap_or(f64::NAN);
        text.push_str(&number_text(number, NumberStyle::Double));
    }
}
