//! Spreadsheets: one sheet of an Excel workbook or an OpenDocument file, read as a table. They are not written.
//!
//! Cells become text and are read like those of delimited text; dates are dates, and an error such as `#N/A` is its text.

use std::collections::BTreeMap;
use std::io::Cursor;

use calamine::{Data, DataRef, ExcelDateTime, Ods, Reader, Xlsx};

use super::Definition;
use super::guard::{guarded, plain};
use crate::place::{Excerpt, FileName, Place};
use crate::read::csv::{check_names, column_builder, name_index};
use crate::read::{Input, Progress, ReadError, ReadNote, ReadOptions, Source, read_all};
use crate::table::{CellRules, Column, ColumnBuilder, Lines, Table, looks_like_data};
use crate::write::number_text;

pub(super) const XLSX: Definition =
    Definition { names: &["xlsx", "xlsm"], delimiting: None, read: read_xlsx, write: None };

pub(super) const ODS: Definition =
    Definition { names: &["ods"], delimiting: None, read: read_ods, write: None };

/// Cells that are not empty, by row and column of the sheet, both counted from 0.
#[derive(Default)]
struct Sheet {
    rows: BTreeMap<u32, BTreeMap<u32, String>>,
    n_bytes: usize,
}

/// Memory of a cell beside its text, in bytes.
const BYTES_PER_CELL: usize = 64;

impl Sheet {
    fn push(&mut self, (row, column): (u32, u32), text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.n_bytes += text.len() + BYTES_PER_CELL;
            self.rows.entry(row).or_default().insert(column, text);
        }
    }
}

fn read_xlsx(source: Source<'_>, progress: Progress<'_>) -> Result<Table, ReadError> {
    read(source, "Excel", progress, |bytes, options, file| {
        let damaged = |error: calamine::XlsxError| damage(file, "Excel", &error.to_string());
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
        let names = book.sheet_names();
        choose(&names, options, file, |name| {
            let mut sheet = Sheet::default();
            // Cell by cell: a sheet with one cell in its last corner has 17 billion cells.
            let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
            while let Some(cell) = cells.next_cell().map_err(damaged)? {
                sheet.push(cell.get_position(), text_of(cell.get_value()));
                options.check_memory(file, sheet.n_bytes as f64)?;
            }
            Ok(sheet)
        })
    })
}

fn read_ods(source: Source<'_>, progress: Progress<'_>) -> Result<Table, ReadError> {
    read(source, "OpenDocument", progress, |bytes, options, file| {
        let damaged = |error: calamine::OdsError| damage(file, "OpenDocument", &error.to_string());
        let mut book: Ods<_> = Ods::new(Cursor::new(bytes)).map_err(damaged)?;
        let names = book.sheet_names();
        choose(&names, options, file, |name| {
            let mut sheet = Sheet::default();
            let range = book.worksheet_range(name).map_err(damaged)?;
            let start = range.start().unwrap_or_default();
            for (row, column, value) in range.used_cells() {
                let place = (start.0 + row as u32, start.1 + column as u32);
                sheet.push(place, text_of(&borrowed(value)));
                options.check_memory(file, sheet.n_bytes as f64)?;
            }
            Ok(sheet)
        })
    })
}

/// A sheet, and a note if there are others.
type Chosen = (Sheet, Option<ReadNote>);

/// Reads a workbook from its bytes and lays out the chosen sheet.
fn read(
    source: Source<'_>,
    format: &'static str,
    progress: Progress<'_>,
    open: impl FnOnce(Vec<u8>, &ReadOptions, &FileName) -> Result<Chosen, ReadError>,
) -> Result<Table, ReadError> {
    let Source { file, options, input } = source;
    let mut opened;
    let stream: &mut dyn std::io::Read = match input {
        Input::File(source) => {
            opened = source.file;
            &mut opened
        }
        Input::Stream(stream) => stream,
    };
    let bytes = read_all(stream, &file, options)?;
    let total = bytes.len() as u64;
    if total == 0 {
        return Err(ReadError::Empty { file });
    }
    if let Some(unpacked) = unpacked_size(&bytes) {
        options.check_memory(&file, unpacked as f64)?;
    }
    guarded(&file.clone(), format, || {
        let (sheet, note) = open(bytes, options, &file)?;
        progress(total, Some(total));
        table_of(sheet, note, file, options)
    })
}

/// The sum of the sizes that the directory of a zip archive gives for its files; `None` without such a directory.
fn unpacked_size(bytes: &[u8]) -> Option<u64> {
    let number = |at: usize, length: usize| -> Option<u64> {
        let digits = bytes.get(at..at + length)?;
        Some(digits.iter().rev().fold(0, |number, digit| 256 * number + u64::from(*digit)))
    };
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06")?;
    let (n_files, mut at) = (number(end + 10, 2)?, usize::try_from(number(end + 16, 4)?).ok()?);
    let mut total = 0;
    for _ in 0..n_files {
        (bytes.get(at..at + 4)? == b"PK\x01\x02").then_some(())?;
        total += number(at + 24, 4)?;
        at += 46 + (number(at + 28, 2)? + number(at + 30, 2)? + number(at + 32, 2)?) as usize;
    }
    Some(total)
}

/// The named sheet, else the first that is not empty.
fn choose(
    names: &[String],
    options: &ReadOptions,
    file: &FileName,
    mut read: impl FnMut(&str) -> Result<Sheet, ReadError>,
) -> Result<Chosen, ReadError> {
    if let Some(wanted) = &options.sheet {
        let Some(name) = names.iter().find(|name| *name == wanted) else {
            let (name, known) = (wanted.clone(), names.join(", "));
            return Err(ReadError::NoSheet { file: file.clone(), name, known });
        };
        return Ok((read(name)?, None));
    }
    let mut chosen: Option<(Sheet, &String)> = None;
    let mut others = vec![];
    for name in names {
        let sheet = read(name)?;
        match chosen {
            _ if sheet.rows.is_empty() => {}
            None => chosen = Some((sheet, name)),
            Some(_) => others.push(name.clone()),
        }
    }
    let Some((sheet, name)) = chosen else { return Err(ReadError::Empty { file: file.clone() }) };
    let note = (!others.is_empty()).then(|| ReadNote::Sheet { name: name.clone(), others });
    Ok((sheet, note))
}

fn damage(file: &FileName, format: &'static str, detail: &str) -> ReadError {
    ReadError::Damaged { file: file.clone(), format, detail: plain(detail) }
}

fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(time) => DataRef::DateTime(*time),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// The text of a cell, as it would be in a file of delimited text.
fn text_of(value: &DataRef<'_>) -> Option<String> {
    Some(match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number, crate::table::NumberStyle::Double),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(time) if time.is_datetime() => time_text(time),
        DataRef::DateTime(duration) => duration.as_f64().to_string(),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => return None,
    })
}

fn time_text(time: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, 0, 0) => format!("{date} {hour:02}:{minute:02}"),
        (_, _, _, 0) => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

/// The table of a sheet: the first row with a name in every column is the header, rows before it are notes.
fn table_of(
    sheet: Sheet,
    sheet_note: Option<ReadNote>,
    file: FileName,
    options: &ReadOptions,
) -> Result<Table, ReadError> {
    let columns: Vec<u32> = used_columns(&sheet);
    let Some((&first_row, first_cells)) = sheet.rows.first_key_value() else {
        return Err(ReadError::Empty { file });
    };
    let names_of = |cells: &BTreeMap<u32, String>| -> Vec<String> {
        columns.iter().map(|column| cells.get(column).map_or("", |text| text.trim()).to_owned()).collect()
    };
    let header = sheet.rows.iter().find(|(_, cells)| is_header(&names_of(cells)));
    let (&header_row, header_cells) = header.unwrap_or((&first_row, first_cells));
    let mut names = names_of(header_cells);
    if !names.iter().any(String::is_empty) && names.iter().all(|name| looks_like_data(name.as_bytes())) {
        return Err(ReadError::NoHeader { file, text: Excerpt::new(names[0].as_bytes()) });
    }
    let has_index = name_index(&mut names);
    check_names(&names, &file)?;
    let mut notes: Vec<ReadNote> = sheet_note.into_iter().collect();
    let place = |row: u32| Place::Row(u64::from(row) + 1);
    if let Some((&last, _)) = sheet.rows.range(..header_row).next_back() {
        notes.push(ReadNote::Skipped { first: place(first_row), last: place(last) });
    }
    let decimal = options.cells.decimal.unwrap_or_default();
    let rules = CellRules::new(&options.cells.missing, decimal, options.cells.dates);
    let builder = |name: &String| column_builder(name, &rules, options);
    let mut builders: Vec<ColumnBuilder> = names.iter().map(builder).collect();
    let (mut lines, mut n_rows) = (Lines::default(), 0);
    for (&row, cells) in sheet.rows.range(header_row + 1..) {
        lines.push(n_rows, u64::from(row) + 1);
        for (builder, column) in builders.iter_mut().zip(&columns) {
            let text = cells.get(column).map_or("", String::as_str);
            // Text of a sheet is UTF-8.
            let _ = builder.push(text.as_bytes(), place(row));
        }
        n_rows += 1;
    }
    if n_rows == 0 {
        return Err(ReadError::NoRows { file });
    }
    let mut columns: Vec<Column> = builders.into_iter().map(ColumnBuilder::finish).collect();
    if has_index {
        let index = columns.remove(0);
        columns.insert(0, index.into_unnamed());
    }
    Ok(Table::from_file(file, columns, n_rows).with_sheet_rows(lines).with_notes(notes))
}

/// The columns of the table: those of the widest row, and every other column with a cell in a later row.
fn used_columns(sheet: &Sheet) -> Vec<u32> {
    let mut columns: Vec<u32> = sheet.rows.values().flat_map(BTreeMap::keys).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Whether all cells are names; only the first may lack one.
fn is_header(names: &[String]) -> bool {
    let is_name = |name: &String| !name.is_empty() && !looks_like_data(name.as_bytes());
    let has_names = names.iter().enumerate().all(|(at, name)| is_name(name) || (at == 0 && name.is_empty()));
    has_names && names.iter().any(|name| !name.is_empty())
}
