//! Writes a table as delimited text: numbers as the shortest text that reads back the same, times in their style.

use std::io::{self, Write};

use super::{TargetFile, WriteError};
use crate::read::csv::{DELIMITERS, MARK};
use crate::table::{Column, ColumnData, LARGEST_EXACT, NumberStyle, Table, looks_like_data};

/// The shortest text that reads back to the same number, with an exponent for very large and small ones.
pub(crate) fn number_text(value: f64, style: NumberStyle) -> String {
    let mut text = String::new();
    push_number(&mut text, value, style);
    text
}

fn push_number(text: &mut String, value: f64, style: NumberStyle) {
    use std::fmt::Write;
    if value.is_nan() {
        return;
    }
    let size = value.abs();
    let is_plain = size == 0.0 || (1e-5..LARGEST_EXACT as f64).contains(&size);
    // A number read in single precision is shortest in single precision.
    let single = value as f32;
    let is_single = style == NumberStyle::Single && f64::from(single) == value;
    // Writing to a string cannot fail.
    let _ = match (is_plain, is_single) {
        (true, true) => write!(text, "{single}"),
        (true, false) => write!(text, "{value}"),
        (false, true) => write!(text, "{single:e}"),
        (false, false) => write!(text, "{value:e}"),
    };
}

/// Appends the text of a cell, unquoted; nothing if it is missing.
pub(crate) fn push_cell(text: &mut String, data: &ColumnData, row: usize) {
    match data {
        ColumnData::Number(column) => {
            push_number(text, column.values.get(row).copied().unwrap_or(f64::NAN), column.style);
        }
        ColumnData::Time(column) => column.print_to(text, row),
        ColumnData::Text(column) => text.push_str(column.get(row).unwrap_or_default()),
        ColumnData::Bool(column) => text.push_str(match column.get(row) {
            Some(true) => "true",
            Some(false) => "false",
            None => "",
        }),
    }
}

/// Writes a cell, in quotes if it needs them.
pub(crate) fn write_cell(output: &mut impl Write, content: &[u8], delimiter: u8) -> io::Result<()> {
    let is_special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    // Blanks at the ends would be trimmed when the cell is read.
    let has_edge = content.trim_ascii().len() != content.len();
    if !has_edge && !content.iter().any(is_special) {
        return output.write_all(content);
    }
    write_quoted(output, content)
}

/// Writes the name of a column, in quotes if it looks like a value (the header would be read as a row), contains a delimiter (the
/// header shows the delimiter), or begins with a byte order mark or like a note.
pub(crate) fn write_name(output: &mut TargetFile, name: &[u8], delimiter: u8) -> io::Result<()> {
    let safe;
    let name = if output.safe_headers && is_formula(name) {
        safe = [b"'", name].concat();
        &safe
    } else {
        name
    };
    let is_misleading = looks_like_data(name)
        || name.starts_with(MARK)
        || name.starts_with(b"#")
        || name.iter().any(|byte| DELIMITERS.contains(byte));
    if is_misleading { write_quoted(output, name) } else { write_cell(output, name, delimiter) }
}

/// Whether a spreadsheet would run a cell as a formula.
pub(super) fn is_formula(content: &[u8]) -> bool {
    matches!(content.trim_ascii_start().first(), Some(b'=' | b'+' | b'-' | b'@'))
}

fn write_quoted(output: &mut impl Write, content: &[u8]) -> io::Result<()> {
    output.write_all(b"\"")?;
    for (index, piece) in content.split(|byte| *byte == b'"').enumerate() {
        if index > 0 {
            output.write_all(b"\"\"")?;
        }
        output.write_all(piece)?;
    }
    output.write_all(b"\"")
}

pub(crate) fn write_csv(table: &Table, delimiter: u8, file: &mut TargetFile) -> Result<(), WriteError> {
    write_rows(table, delimiter, file).map_err(|source| file.error(source))
}

fn write_rows(table: &Table, delimiter: u8, file: &mut TargetFile) -> io::Result<()> {
    for (index, column) in table.columns().iter().enumerate() {
        if index > 0 {
            file.write_all(&[delimiter])?;
        }
        write_name(file, column.name().as_bytes(), delimiter)?;
    }
    file.write_all(b"\n")?;
    let mut text = String::new();
    for row in 0..table.n_rows() {
        let is_alone = table.columns().len() == 1;
        for (index, column) in table.columns().iter().enumerate() {
            if index > 0 {
                file.write_all(&[delimiter])?;
            }
            write_value(file, &mut text, column, row, delimiter, is_alone)?;
        }
        file.write_all(b"\n")?;
    }
    Ok(())
}

fn write_value(
    file: &mut impl Write,
    text: &mut String,
    column: &Column,
    row: usize,
    delimiter: u8,
    is_alone: bool,
) -> io::Result<()> {
    text.clear();
    push_cell(text, column.data(), row);
    if text.is_empty() && is_alone {
        // An empty line would not be read as a row.
        return file.write_all(b"NA");
    }
    if is_alone && text.bytes().any(|byte| DELIMITERS.contains(&byte)) {
        // The header of one column shows no delimiter.
        return write_quoted(file, text.as_bytes());
    }
    write_cell(file, text.as_bytes(), delimiter)
}

/// The text of a cell; empty if missing.
pub fn cell_text(data: &ColumnData, row: usize) -> String {
    let mut text = String::new();
    push_cell(&mut text, data, row);
    text
}
