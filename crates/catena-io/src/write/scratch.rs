//! Rows of numbers on the disk, written in any order and read in theirs: what is too large for memory until it is needed.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::atomic::{create_beside, forget_unfinished};
use super::csv::number_text;
use super::{Fillings, Target, WriteError};
use crate::place::FileName;
use crate::table::NumberStyle;

/// A file of rows of equally many numbers, beside a target; it goes away with this value, or when the program is interrupted.
#[derive(Debug)]
pub struct ScratchRows {
    name: FileName,
    path: PathBuf,
    file: File,
    width: usize,
}

impl ScratchRows {
    /// Creates the file, for rows of this many numbers: in the folder of the target, or in the system's for standard output.
    ///
    /// # Errors
    /// When the folder may not be written.
    pub fn beside(target: &Target, width: usize) -> Result<Self, WriteError> {
        let name = target.file().clone();
        let near = match &name {
            FileName::Path(path) => path.clone(),
            _ => std::env::temp_dir().join("catena"),
        };
        let (path, file) = create_beside(&near).map_err(|error| WriteError::from_io(&name, error))?;
        Ok(Self { name, path, file, width })
    }

    /// Writes rows from this one on.
    ///
    /// # Errors
    /// When the disk is full, or the system says no.
    pub fn write(&mut self, first_row: u64, numbers: &[f64]) -> Result<(), WriteError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let place = first_row * 8 * self.width as u64;
        let file = &mut self.file;
        let written = file.seek(SeekFrom::Start(place)).and_then(|_| file.write_all(&bytes));
        written.map_err(|error| WriteError::from_io(&self.name, error))
    }

    /// Reads all rows in their order, as what fills the holes of a table.
    ///
    /// # Errors
    /// When the file cannot be read.
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

/// What the numbers of a row are: one for each filled column, then one for each appended one.
#[derive(Debug, Clone, Default)]
pub struct FilledColumns {
    /// The columns of the table whose holes are filled, counted from 0.
    pub filled: Vec<usize>,
    /// The names of those behind the last.
    pub appended: Vec<String>,
}

/// Rows of numbers on their way into a table.
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
        let column = self.columns.filled.iter().position(|filled| *filled == position)?;
        self.row.get(column).copied()
    }

    fn appended_names(&self) -> Vec<String> {
        self.columns.appended.clone()
    }

    fn push_appended(&self, column: usize, text: &mut String) {
        let number = self.row.get(self.columns.filled.len() + column).copied().unwrap_or(f64::NAN);
        text.push_str(&number_text(number, NumberStyle::Double));
    }
}
