//! Checks of tables that were read.

use catena_io::read::{Format, ReadOptions, read_pipe};
use catena_io::select::{Frame, Layout};
use catena_io::table::{Column, ColumnData, Table};
use catena_io::write::{Completion, FilledColumn, Target, write_completed, write_table};

use crate::Supply;
use crate::scratch::scratch_path;

/// The table in the remaining bytes, if they are one.
pub(super) fn read_text(supply: &mut Supply<'_>, text_columns: &[String]) -> Option<Table> {
    let texts: Vec<Format> = Format::ALL.iter().copied().filter(|format| format.is_text()).collect();
    let format = supply.choice(&texts);
    read_as(format, supply.rest(), text_columns)
}

/// The table in a file of this format, if it is one.
pub(super) fn read_as(format: Format, file: &[u8], text_columns: &[String]) -> Option<Table> {
    let options = ReadOptions {
        format: Some(format),
        text_columns: text_columns.to_vec(),
        keep_piped_text: true,
        ..ReadOptions::default()
    };
    let table = read_pipe(file, &options, &mut |_, _| {}).ok()?;
    let is_whole = table.columns().iter().all(|column| column.data().len() == table.n_rows());
    assert!(is_whole, "columns of different lengths");
    Some(table)
}

/// Checks that a frame has finite inputs, and values that are finite or missing.
pub(super) fn check_frame(table: &Table, frame: &Frame) {
    let (n_rows, n_outputs) = (frame.n_rows(), frame.n_outputs());
    assert!(frame.inputs.iter().all(|input| input.values.iter().all(|value| value.is_finite())));
    assert_eq!(frame.values.len(), n_rows * n_outputs);
    assert!(frame.values.iter().all(|value| !value.is_infinite()));
    for input in &frame.inputs {
        assert_eq!(input.values.len(), n_rows);
        assert_eq!(input.column_of(&input.values).data().len(), n_rows);
    }
    if let Layout::Wide { .. } = frame.layout {
        assert_eq!(n_rows, table.n_rows());
    }
    for (position, column) in frame.to_table_columns(|_| 0.5) {
        assert!(position < table.columns().len() && column.len() == table.n_rows());
    }
    assert!(!frame.decision.sentences().is_empty());
}

/// Checks that a table written and read again is the same, and that filling its missing values changes nothing else.
pub(super) fn check_writing(table: &Table) {
    let path = scratch_path("table.csv");
    let Ok(target) = Target::new(&path, Some(Format::CSV)) else { return };
    let read = |what: &str| {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let options = ReadOptions { format: Some(Format::CSV), ..ReadOptions::default() };
        let again = read_pipe(bytes.as_slice(), &options, &mut |_, _| {});
        assert!(again.is_ok(), "{what} cannot be read again: {again:?}\n{}", String::from_utf8_lossy(&bytes));
        again.ok()
    };
    if write_table(table, &target).is_ok()
        && let Some(again) = read("a written table")
    {
        assert_eq!(again.n_rows(), table.n_rows());
        for (left, right) in table.columns().iter().zip(again.columns()) {
            check_same(left, right);
        }
    }
    let filled = table.columns().iter().enumerate().filter(|(_, column)| is_number(column));
    let values = vec![0.5; table.n_rows()];
    let filled =
        filled.map(|(position, _)| FilledColumn { position, values: values.clone(), decimals: None });
    let filled = filled.collect();
    let completion = Completion { filled, ..Completion::default() };
    if write_completed(table, &completion, &target).is_ok()
        && let Some(again) = read("a completed table")
    {
        assert_eq!(again.n_rows(), table.n_rows());
        // Text among numbers stays as it is.
        let whole =
            table.columns().iter().zip(again.columns()).filter(|(left, _)| left.invalid_cell().is_none());
        for (left, right) in whole {
            let (ColumnData::Number(left), ColumnData::Number(right)) = (left.data(), right.data()) else {
                continue;
            };
            for (left, right) in left.values.iter().zip(&right.values) {
                let expected = if left.is_nan() { 0.5 } else { *left };
                assert!(right.to_bits() == expected.to_bits(), "{left} became {right}");
            }
        }
    }
    let _ = std::fs::remove_file(path);
}

fn is_number(column: &Column) -> bool {
    matches!(column.data(), ColumnData::Number(_))
}

/// Checks equal numbers, to the bit, and equal instants; a column without values may change its kind.
fn check_same(left: &Column, right: &Column) {
    assert_eq!(left.name(), right.name());
    match (left.data(), right.data()) {
        (ColumnData::Number(left), ColumnData::Number(right)) => {
            for (left, right) in left.values.iter().zip(&right.values) {
                assert!(left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan());
            }
        }
        (ColumnData::Time(left), ColumnData::Time(right)) => {
            for row in 0..left.len() {
                assert_eq!(
                    left.instant(row),
                    right.instant(row),
                    "{} became {}",
                    left.print(row),
                    right.print(row)
                );
            }
        }
        _ => {}
    }
}
