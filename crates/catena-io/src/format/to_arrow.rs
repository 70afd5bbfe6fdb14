//! Turns a table into batches of Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use super::from_arrow::TIME_STYLE_KEY;
use crate::table::{Column, ColumnData, NumberColumn, NumberStyle, Table, TimeColumn};
use crate::time::{TimeShape, ZoneStyle};

const ROWS_PER_BATCH: usize = 1 << 16;
const NANOSECONDS_PER_DAY: i128 = 86_400 * 1_000_000_000;

/// The rows of a table, a batch at a time.
pub(super) fn batches<'a>(
    table: &'a Table,
    schema: &'a Arc<Schema>,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'a {
    let starts = (0..table.n_rows()).step_by(ROWS_PER_BATCH);
    starts.map(move |start| {
        let rows = start..(start + ROWS_PER_BATCH).min(table.n_rows());
        let arrays = table.columns().iter().zip(schema.fields());
        let arrays = arrays.map(|(column, field)| array(column.data(), field.data_type(), rows.clone()));
        RecordBatch::try_new(Arc::clone(schema), arrays.collect())
    })
}

pub(super) fn schema_of(table: &Table) -> Arc<Schema> {
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
        // The style of times is stored, so that they are read back as they were written.
        ColumnData::Time(times) => {
            let style = serde_json::to_string(times.style()).unwrap_or_default();
            field.with_metadata(std::collections::HashMap::from([(TIME_STYLE_KEY.to_owned(), style)]))
        }
        _ => field,
    }
}

/// The narrowest type of the same kind that holds every number exactly.
fn number_type(column: &NumberColumn) -> DataType {
    let mut present = column.values.iter().filter(|value| !value.is_nan());
    match column.style {
        // Minus zero is not an integer.
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
