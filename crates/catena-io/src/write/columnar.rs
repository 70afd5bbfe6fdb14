//! Writes a table as Parquet or Arrow, in batches of rows.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::{TargetFile, WriteError};
use crate::read::TIME_STYLE_KEY;
use crate::table::{Column, ColumnData, NumberColumn, NumberStyle, Table, TimeColumn};
use crate::time::{TimeShape, ZoneStyle};

const ROWS_PER_BATCH: usize = 1 << 16;
const NANOSECONDS_PER_DAY: i128 = 86_400 * 1_000_000_000;

pub(crate) fn write_parquet(table: &Table, file: &mut TargetFile) -> Result<(), WriteError> {
    let schema = schema_of(table);
    let name = file.name().clone();
    // Snappy is what every reader knows.
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let result = (|| {
        let mut writer = ArrowWriter::try_new(Forward(file), Arc::clone(&schema), Some(properties))?;
        for rows in batches(table.n_rows()) {
            writer.write(&batch(table, &schema, rows)?)?;
        }
        writer.close()
    })();
    result.map(|_| ()).map_err(|error| match error {
        parquet::errors::ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => WriteError::from_io(&name, *source),
            Err(source) => WriteError::Encoding { file: name, format: "Parquet", detail: source.to_string() },
        },
        other => WriteError::Encoding { file: name, format: "Parquet", detail: other.to_string() },
    })
}

pub(crate) fn write_arrow(table: &Table, file: &mut TargetFile) -> Result<(), WriteError> {
    let schema = schema_of(table);
    let name = file.name().clone();
    let result = (|| {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Forward(file), &schema)?;
        for rows in batches(table.n_rows()) {
            writer.write(&batch(table, &schema, rows)?)?;
        }
        writer.finish()
    })();
    result.map_err(|error| match error {
        arrow_schema::ArrowError::IoError(_, source) => WriteError::from_io(&name, source),
        other => WriteError::Encoding { file: name, format: "Arrow", detail: other.to_string() },
    })
}

/// The writers want to own what they write to.
struct Forward<'a>(&'a mut TargetFile);

impl Write for Forward<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn batches(n_rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n_rows).step_by(ROWS_PER_BATCH).map(move |begin| begin..(begin + ROWS_PER_BATCH).min(n_rows))
}

fn schema_of(table: &Table) -> Arc<Schema> {
    Arc::new(Schema::new(table.columns().iter().map(field_of).collect::<Vec<_>>()))
}

fn field_of(column: &Column) -> Field {
    let kind = match column.data() {
        ColumnData::Number(numbers) => number_type(numbers),
        ColumnData::Time(times) => time_type(times),
        ColumnData::Text(_) => DataType::Utf8,
        ColumnData::Bool(_) => DataType::Boolean,
    };
    let field = Field::new(column.name(), kind, true);
    match column.data() {
        // The written form of times goes along, so that they come back as they were.
        ColumnData::Time(times) => {
            let style = times.style().to_json().to_string();
            field.with_metadata(std::collections::HashMap::from([(TIME_STYLE_KEY.to_owned(), style)]))
        }
        _ => field,
    }
}

/// The narrowest type of the same kind that holds every number exactly.
fn number_type(column: &NumberColumn) -> DataType {
    let mut present = column.values.iter().filter(|value| !value.is_nan());
    match column.style {
        // A minus zero is no integer.
        NumberStyle::Integer
            if present
                .all(|value| value.fract() == 0.0 && (*value as i64 as f64).to_bits() == value.to_bits()) =>
        {
            DataType::Int64
        }
        NumberStyle::Single if present.all(|value| f64::from(*value as f32) == *value) => DataType::Float32,
        _ => DataType::Float64,
    }
}

fn time_type(column: &TimeColumn) -> DataType {
    let style = column.style();
    let is_midnight =
        |row| column.instant(row).is_none_or(|instant| instant.nanoseconds() % NANOSECONDS_PER_DAY == 0);
    if style.shape <= TimeShape::Date && style.zone == ZoneStyle::Naive && (0..column.len()).all(is_midnight)
    {
        return DataType::Date32;
    }
    let zone: Option<Arc<str>> = match &style.zone {
        ZoneStyle::Naive => None,
        ZoneStyle::Utc => Some("UTC".into()),
        ZoneStyle::Offset { seconds, .. } => {
            let minutes = seconds.abs() / 60;
            let sign = if *seconds < 0 { '-' } else { '+' };
            Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).into())
        }
        ZoneStyle::Named { name, .. } => Some(name.as_str().into()),
    };
    let unit = if column.needs_nanoseconds() { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
    DataType::Timestamp(unit, zone)
}

fn batch(
    table: &Table,
    schema: &Arc<Schema>,
    rows: Range<usize>,
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let arrays = table.columns().iter().zip(schema.fields());
    let arrays = arrays.map(|(column, field)| array(column.data(), field.data_type(), rows.clone()));
    RecordBatch::try_new(Arc::clone(schema), arrays.collect())
}

fn array(data: &ColumnData, kind: &DataType, rows: Range<usize>) -> ArrayRef {
    match data {
        ColumnData::Number(column) => {
            let cell = |row: usize| column.values.get(row).copied().filter(|value| !value.is_nan());
            match kind {
                DataType::Int64 => {
                    Arc::new(rows.map(|row| cell(row).map(|value| value as i64)).collect::<Int64Array>())
                }
                DataType::Float32 => {
                    Arc::new(rows.map(|row| cell(row).map(|value| value as f32)).collect::<Float32Array>())
                }
                _ => Arc::new(rows.map(cell).collect::<Float64Array>()),
            }
        }
        ColumnData::Time(column) => time_array(column, kind, rows),
        ColumnData::Text(column) => Arc::new(rows.map(|row| column.get(row)).collect::<StringArray>()),
        ColumnData::Bool(column) => Arc::new(rows.map(|row| column.get(row)).collect::<BooleanArray>()),
    }
}

fn time_array(column: &TimeColumn, kind: &DataType, rows: Range<usize>) -> ArrayRef {
    let nanoseconds = |row: usize| column.instant(row).map(|instant| instant.nanoseconds());
    match kind {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            let cells = rows.map(|row| nanoseconds(row).map(|value| value as i64));
            Arc::new(cells.collect::<TimestampNanosecondArray>().with_timezone_opt(zone.clone()))
        }
        DataType::Timestamp(_, zone) => {
            let cells = rows.map(|row| nanoseconds(row).map(|value| (value / 1000) as i64));
            Arc::new(cells.collect::<TimestampMicrosecondArray>().with_timezone_opt(zone.clone()))
        }
        _ => {
            let cells = rows.map(|row| nanoseconds(row).map(|value| (value / NANOSECONDS_PER_DAY) as i32));
            Arc::new(cells.collect::<Date32Array>())
        }
    }
}
