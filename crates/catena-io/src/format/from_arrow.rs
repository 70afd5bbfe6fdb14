//! Turns Arrow arrays into columns, batch by batch, so that a file is in memory only once.

use std::collections::TryReserveError;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::memory::{bytes_text, default_limit};
use crate::place::{Excerpt, FileName, Place};
use crate::read::csv::check_names;
use crate::read::{ReadError, ReadOptions};
use crate::table::LARGEST_EXACT;
use crate::table::{
    CellProblem, Column, ColumnData, Dictionary, InvalidCell, NumberColumn, NumberStyle, Table,
    TimeColumnBuilder, UnsupportedColumn,
};
use crate::time::{Instant, OffsetForm, TimeShape, TimeStyle, ZoneStyle};

/// The cells of a column so far.
enum Cells {
    Number { values: Vec<f64>, style: NumberStyle },
    Time { builder: TimeColumnBuilder, nanoseconds_per_tick: i128 },
    Text { codes: Vec<u32>, dictionary: Dictionary },
    Bool(Vec<Option<bool>>),
}

impl Cells {
    /// The memory of a cell, in bytes; texts are stored once and counted when they are read.
    fn bytes_per_row(&self) -> usize {
        match self {
            Self::Number { .. } | Self::Time { .. } => 8,
            Self::Text { .. } => 4,
            Self::Bool(_) => 1,
        }
    }

    /// Makes room for all rows of a file at once.
    fn reserve(&mut self, n_rows: usize) -> Result<(), TryReserveError> {
        match self {
            Self::Number { values, .. } => values.try_reserve_exact(n_rows),
            Self::Text { codes, .. } => codes.try_reserve_exact(n_rows),
            Self::Bool(cells) => cells.try_reserve_exact(n_rows),
            Self::Time { .. } => Ok(()),
        }
    }
}

struct Growing {
    /// The column of a batch.
    position: usize,
    name: String,
    data_type: DataType,
    cells: Cells,
    invalid: Option<InvalidCell>,
}

/// A table built from batches.
pub(super) struct TableBuilder {
    file: FileName,
    columns: Vec<Growing>,
    unsupported: Vec<UnsupportedColumn>,
    n_rows: usize,
    options: ReadOptions,
}

/// Key of the style of times in the metadata of a schema.
pub(super) const TIME_STYLE_KEY: &str = "catena:time_style";

impl TableBuilder {
    pub(super) fn new(file: FileName, schema: &Schema, options: &ReadOptions) -> Result<Self, ReadError> {
        if schema.fields().is_empty() {
            return Err(ReadError::NoColumns { file });
        }
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        check_names(&names, &file)?;
        let (mut columns, mut unsupported) = (vec![], vec![]);
        for (position, field) in schema.fields().iter().enumerate() {
            let (name, data_type) = (field.name().clone(), field.data_type().clone());
            match cells_of(field) {
                Some(cells) => columns.push(Growing { position, name, data_type, cells, invalid: None }),
                None => unsupported.push(UnsupportedColumn { name, type_name: data_type.to_string() }),
            }
        }
        // The limit is asked for once, not for every batch.
        let max_memory = Some(options.max_memory.unwrap_or_else(default_limit));
        let options = ReadOptions { max_memory, ..options.clone() };
        Ok(Self { file, columns, unsupported, n_rows: 0, options })
    }

    /// Refuses more rows than the memory can hold, and makes room for them.
    pub(super) fn expect_rows(&mut self, n_rows: usize) -> Result<(), ReadError> {
        self.check_memory(n_rows)?;
        let has_no_room = |column: &mut Growing| column.cells.reserve(n_rows).is_err();
        if self.columns.iter_mut().any(has_no_room) {
            let needed = bytes_text(self.bytes(n_rows));
            let (file, limit) = (self.file.clone(), "the system provides".to_owned());
            return Err(ReadError::Memory { file, needed, limit });
        }
        Ok(())
    }

    /// The memory of this many rows, in bytes.
    fn bytes(&self, n_rows: usize) -> f64 {
        let texts: usize = self.columns.iter().map(Growing::bytes_of_texts).sum();
        let per_row: usize = self.columns.iter().map(|column| column.cells.bytes_per_row()).sum();
        n_rows as f64 * per_row as f64 + texts as f64
    }

    fn check_memory(&self, n_rows: usize) -> Result<(), ReadError> {
        self.options.check_memory(&self.file, self.bytes(n_rows))
    }

    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), ReadError> {
        self.check_memory(self.n_rows.saturating_add(batch.num_rows()))?;
        for column in &mut self.columns {
            let array = batch.column(column.position);
            column.push(array, self.n_rows).map_err(|type_name| ReadError::UnsupportedType {
                file: self.file.clone(),
                column: column.name.clone(),
                type_name,
            })?;
        }
        self.n_rows += batch.num_rows();
        if self.n_rows >= u32::MAX as usize {
            return Err(ReadError::TooManyRows { file: self.file.clone(), limit: u64::from(u32::MAX - 1) });
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Table, ReadError> {
        if self.n_rows == 0 {
            return Err(ReadError::NoRows { file: self.file });
        }
        let columns = self.columns.into_iter().map(Growing::finish).collect();
        Ok(Table::from_file(self.file, columns, self.n_rows).with_unsupported(self.unsupported))
    }
}

/// Empty cells for a field; `None` if its type is not supported.
fn cells_of(field: &Field) -> Option<Cells> {
    let numbers = |style| Cells::Number { values: vec![], style };
    Some(match field.data_type() {
        kind if kind.is_integer() => numbers(NumberStyle::Integer),
        DataType::Float16 | DataType::Float32 => numbers(NumberStyle::Single),
        DataType::Float64 | DataType::Null | DataType::Decimal128(..) => numbers(NumberStyle::Double),
        DataType::Boolean => Cells::Bool(vec![]),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => text_cells(),
        DataType::Dictionary(_, values)
            if matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) =>
        {
            text_cells()
        }
        DataType::Timestamp(unit, zone) => {
            let nanoseconds_per_tick = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1000,
                TimeUnit::Nanosecond => 1,
            };
            let zone = zone_of(zone.as_deref())?;
            let style = TimeStyle { zone, ..TimeStyle::default() };
            time_cells(field, style, nanoseconds_per_tick)
        }
        DataType::Date32 => time_cells(field, date_style(), 86_400 * 1_000_000_000),
        DataType::Date64 => time_cells(field, date_style(), 1_000_000),
        _ => return None,
    })
}

fn text_cells() -> Cells {
    Cells::Text { codes: vec![], dictionary: Dictionary::default() }
}

fn date_style() -> TimeStyle {
    TimeStyle { shape: TimeShape::Date, ..TimeStyle::default() }
}

/// A column of times, in the style stored in the schema if there is one.
fn time_cells(field: &Field, usual: TimeStyle, nanoseconds_per_tick: i128) -> Cells {
    let stored = field.metadata().get(TIME_STYLE_KEY).and_then(|text| serde_json::from_str(text).ok());
    let style = stored.unwrap_or(usual);
    Cells::Time { builder: TimeColumnBuilder::new(style), nanoseconds_per_tick }
}

/// The zone of a timestamp type, or `None` if it is unknown.
fn zone_of(zone: Option<&str>) -> Option<ZoneStyle> {
    let Some(zone) = zone else { return Some(ZoneStyle::Naive) };
    if matches!(zone, "UTC" | "Z" | "+00:00" | "Etc/UTC") {
        return Some(ZoneStyle::Utc);
    }
    let bytes = zone.as_bytes();
    if let [sign @ (b'+' | b'-'), digits @ ..] = bytes {
        let digits: Vec<u8> = digits.iter().copied().filter(|byte| *byte != b':').collect();
        let text = std::str::from_utf8(&digits).ok()?;
        let number: i32 = text.parse().ok().filter(|_| text.len() == 4)?;
        let seconds = 3600 * (number / 100) + 60 * (number % 100);
        let seconds = if *sign == b'-' { -seconds } else { seconds };
        return (seconds.abs() < 86_400).then_some(ZoneStyle::Offset { seconds, form: OffsetForm::Colon });
    }
    jiff::tz::TimeZone::get(zone).ok()?;
    Some(ZoneStyle::Named { name: zone.to_owned(), has_offset: true })
}

impl Growing {
    /// The memory of the distinct texts, in bytes.
    fn bytes_of_texts(&self) -> usize {
        match &self.cells {
            Cells::Text { dictionary, .. } => dictionary.n_bytes(),
            _ => 0,
        }
    }

    /// Adds an array of the column's type; the error names an unsupported type.
    fn push(&mut self, array: &ArrayRef, n_rows: usize) -> Result<(), String> {
        if array.data_type() != &self.data_type {
            return Err(array.data_type().to_string());
        }
        match self.data_type.clone() {
            DataType::Int8 => self.push_integers::<Int8Type>(array, n_rows),
            DataType::Int16 => self.push_integers::<Int16Type>(array, n_rows),
            DataType::Int32 => self.push_integers::<Int32Type>(array, n_rows),
            DataType::Int64 => self.push_integers::<Int64Type>(array, n_rows),
            DataType::UInt8 => self.push_integers::<UInt8Type>(array, n_rows),
            DataType::UInt16 => self.push_integers::<UInt16Type>(array, n_rows),
            DataType::UInt32 => self.push_integers::<UInt32Type>(array, n_rows),
            DataType::UInt64 => self.push_integers::<UInt64Type>(array, n_rows),
            DataType::Float16 => self.push_floats::<Float16Type>(array, n_rows, |value| value.to_f64()),
            DataType::Float32 => self.push_floats::<Float32Type>(array, n_rows, f64::from),
            DataType::Float64 => self.push_floats::<Float64Type>(array, n_rows, |value| value),
            DataType::Null => self.push_nulls(array.len()),
            DataType::Decimal128(_, 0) => self.push_integers::<Decimal128Type>(array, n_rows),
            DataType::Decimal128(_, scale) => {
                // Parsed from text, so that the result is the double nearest to the decimal.
                let decimal =
                    |value: i128| format!("{value}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN);
                self.push_floats::<Decimal128Type>(array, n_rows, decimal);
            }
            DataType::Boolean => {
                if let Cells::Bool(cells) = &mut self.cells {
                    cells.extend(array.as_boolean().iter());
                }
            }
            DataType::Timestamp(TimeUnit::Second, _) => self.push_times::<TimestampSecondType>(array, n_rows),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                self.push_times::<TimestampMillisecondType>(array, n_rows);
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                self.push_times::<TimestampMicrosecondType>(array, n_rows);
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                self.push_times::<TimestampNanosecondType>(array, n_rows);
            }
            DataType::Date32 => self.push_times::<Date32Type>(array, n_rows),
            DataType::Date64 => self.push_times::<Date64Type>(array, n_rows),
            DataType::Utf8 => self.push_texts(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => self.push_texts(array.as_string::<i64>().iter()),
            DataType::Utf8View => self.push_texts(array.as_string_view().iter()),
            DataType::Dictionary(..) => self.push_dictionary(array)?,
            other => return Err(other.to_string()),
        }
        Ok(())
    }

    fn push_integers<T: ArrowPrimitiveType>(&mut self, array: &ArrayRef, n_rows: usize)
    where
        T::Native: Into<i128>,
    {
        for (row, value) in array.as_primitive::<T>().iter().enumerate() {
            let value: Option<i128> = value.map(Into::into);
            if let Some(value) = value.filter(|value| value.unsigned_abs() >= u128::from(LARGEST_EXACT)) {
                self.become_text();
                self.note(n_rows + row, &value.to_string(), CellProblem::TooManyDigits);
            }
            match &mut self.cells {
                Cells::Number { values, .. } => values.push(value.map_or(f64::NAN, |value| value as f64)),
                Cells::Text { codes, dictionary } => {
                    codes.push(dictionary.code_or_missing(value.map(|value| value.to_string()).as_deref()));
                }
                _ => {}
            }
        }
    }

    /// Counts an invalid cell.
    fn note(&mut self, row: usize, text: &str, reason: CellProblem) {
        let invalid = self.invalid.get_or_insert_with(|| InvalidCell {
            place: Place::Row(row as u64 + 1),
            text: Excerpt::new(text.as_bytes()),
            reason,
            count: 0,
        });
        invalid.count += 1;
    }

    /// Turns the column into text, which keeps integers beyond 2^53 exact.
    fn become_text(&mut self) {
        if let Cells::Number { values, .. } = &self.cells {
            let mut dictionary = Dictionary::default();
            let text = |value: &f64| (!value.is_nan()).then(|| (*value as i64).to_string());
            let codes =
                values.iter().map(|value| dictionary.code_or_missing(text(value).as_deref())).collect();
            self.cells = Cells::Text { codes, dictionary };
        }
    }

    fn push_floats<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        n_rows: usize,
        double: impl Fn(T::Native) -> f64,
    ) {
        for (row, value) in array.as_primitive::<T>().iter().enumerate() {
            let value = value.map_or(f64::NAN, &double);
            if value.is_infinite() {
                self.note(n_rows + row, &value.to_string(), CellProblem::Infinite);
            }
            if let Cells::Number { values, .. } = &mut self.cells {
                values.push(if value.is_infinite() { f64::NAN } else { value });
            }
        }
    }

    fn push_nulls(&mut self, count: usize) {
        if let Cells::Number { values, .. } = &mut self.cells {
            values.resize(values.len() + count, f64::NAN);
        }
    }

    fn push_times<T: ArrowPrimitiveType>(&mut self, array: &ArrayRef, n_rows: usize)
    where
        T::Native: Into<i128>,
    {
        for (row, value) in array.as_primitive::<T>().iter().enumerate() {
            let Cells::Time { builder, nanoseconds_per_tick } = &mut self.cells else { return };
            let ticks: Option<i128> = value.map(Into::into);
            let instant = ticks.map(|ticks| Instant::from_nanoseconds(ticks * *nanoseconds_per_tick));
            if instant.is_some_and(|instant| builder.push(instant)) {
                continue;
            }
            builder.push_missing();
            if let Some(ticks) = ticks {
                let text = format!("{ticks} ({})", self.data_type);
                self.note(n_rows + row, &text, CellProblem::TimeOutOfRange);
            }
        }
    }

    fn push_texts<'a>(&mut self, cells: impl Iterator<Item = Option<&'a str>>) {
        if let Cells::Text { codes, dictionary } = &mut self.cells {
            codes.extend(cells.map(|cell| dictionary.code_or_missing(cell)));
        }
    }

    fn push_dictionary(&mut self, array: &ArrayRef) -> Result<(), String> {
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let texts: Vec<Option<&str>> = match values.data_type() {
            DataType::Utf8 => values.as_string::<i32>().iter().collect(),
            DataType::LargeUtf8 => values.as_string::<i64>().iter().collect(),
            DataType::Utf8View => values.as_string_view().iter().collect(),
            other => return Err(other.to_string()),
        };
        // Keys of missing cells are arbitrary; without texts there are no keys.
        let keys = if texts.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
        let cells = keys.into_iter().enumerate();
        self.push_texts(cells.map(
            |(row, key)| {
                if array.is_null(row) { None } else { texts.get(key).copied().flatten() }
            },
        ));
        Ok(())
    }

    fn finish(self) -> Column {
        let data = match self.cells {
            Cells::Number { values, style } => ColumnData::Number(NumberColumn { values, style }),
            Cells::Time { builder, .. } => ColumnData::Time(builder.finish()),
            Cells::Text { codes, dictionary } => ColumnData::Text(dictionary.into_column(codes)),
            Cells::Bool(cells) => ColumnData::Bool(cells.into_iter().collect()),
        };
        Column::new(self.name, data).with_invalid_cell(self.invalid)
    }
}
