//! Filling changes missing cells only: every other byte of a text table is unchanged.

use crate::folder::Folder;
use catena_io::read::{Format, ReadError, ReadOptions, read, read_pipe};
use catena_io::table::{Column, ColumnData};
use catena_io::write::{
    Completion, FilledColumn, Target, WriteError, complete, copy_completed, write_completed,
};
use proptest::prelude::*;

const TEXT: &str = "\u{feff}time;\"a\";note;b\r\n\
    2013-03-15 00:00;1.50;\"x;\"\"y\"\"\";007\r\n\
    \r\n\
    2013-03-15 01:00;NA;  plain ;\" 2.0\"\r\n\
    2013-03-15 02:00; +3e0;\"two\r\nlines\";-\r\n\
    2013-03-15 03:00;n/a;;4";

fn completion() -> Completion {
    Completion {
        filled: vec![
            FilledColumn { position: 1, values: vec![10.0, 20.5, 30.0, f64::NAN], decimals: None },
            FilledColumn { position: 3, values: vec![1.0, 2.0, 1e-9, 4.0], decimals: None },
        ],
        appended: vec![Column::numbers("a;std", vec![f64::NAN, 0.25, f64::NAN, 0.5])],
        ..Completion::default()
    }
}

const EXPECTED: &str = "\u{feff}time;\"a\";note;b;\"a;std\"\r\n\
    2013-03-15 00:00;1.50;\"x;\"\"y\"\"\";007;\r\n\
    \r\n\
    2013-03-15 01:00;20.5;  plain ;\" 2.0\";0.25\r\n\
    2013-03-15 02:00; +3e0;\"two\r\nlines\";1e-9;\r\n\
    2013-03-15 03:00;n/a;;4;0.5";

#[test]
fn only_holes_change() {
    let folder = Folder::new();
    let path = folder.write("t.csv", TEXT);
    let table = read(&path, &ReadOptions::default()).unwrap();
    // In place: the source is read until the end, then replaced.
    for out in ["filled.csv", "t.csv"] {
        let out = folder.path(out);
        write_completed(&table, &completion(), &Target::new(&out, None).unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(&out).unwrap(), EXPECTED);
    }
    // Now the source has changed, and that is noticed.
    let target = Target::new(&folder.path("again.csv"), None).unwrap();
    let error = write_completed(&table, &completion(), &target).unwrap_err();
    assert!(matches!(error, WriteError::Source(ReadError::Changed { .. })), "{error:?}");
    assert_eq!(folder.names(), ["filled.csv", "t.csv"]);
}

#[test]
fn a_pipe_keeps_its_text_if_asked_to() {
    let folder = Folder::new();
    let out = folder.path("filled.csv");
    let target = Target::new(&out, None).unwrap();
    let options = ReadOptions { keep_piped_text: true, ..ReadOptions::default() };
    let table = read_pipe(TEXT.as_bytes(), &options, &mut |_, _| {}).unwrap();
    let (source, n_rows) = (table.csv_source().unwrap().clone(), table.n_rows());
    drop(table);
    copy_completed(&source, n_rows, &completion(), &target).unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), EXPECTED);

    let table = read_pipe(TEXT.as_bytes(), &ReadOptions::default(), &mut |_, _| {}).unwrap();
    let error = write_completed(&table, &completion(), &target).unwrap_err();
    assert!(matches!(error, WriteError::Source(ReadError::NotKept { .. })), "{error:?}");
}

#[test]
fn another_separator_keeps_what_cells_say() {
    let folder = Folder::new();
    let table = read(&folder.write("t.csv", TEXT), &ReadOptions::default()).unwrap();
    let out = folder.path("t.tsv");
    write_completed(&table, &completion(), &Target::new(&out, None).unwrap()).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(b'\t')
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let rows: Vec<Vec<String>> =
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    assert_eq!(rows[0], ["2013-03-15 00:00", "1.50", "x;\"y\"", "007", ""]);
    assert_eq!(rows[1], ["2013-03-15 01:00", "20.5", "  plain ", " 2.0", "0.25"]);
    assert_eq!(rows[2], ["2013-03-15 02:00", " +3e0", "two\r\nlines", "1e-9", ""]);
}

#[test]
fn binary_formats_hold_the_same_numbers() {
    let folder = Folder::new();
    let table = read(&folder.write("t.csv", TEXT), &ReadOptions::default()).unwrap();
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.path(name);
        write_completed(&table, &completion(), &Target::new(&path, None).unwrap()).unwrap();
        let back =
            read(&path, &ReadOptions { format: Format::of_path(&path), ..ReadOptions::default() }).unwrap();
        let ColumnData::Number(numbers) = back.column("a").unwrap().data() else { panic!("{name}") };
        assert_eq!(numbers.values[..3], [1.5, 20.5, 3.0]);
        assert!(numbers.values[3].is_nan());
    }
}

#[test]
fn values_of_another_table_are_refused() {
    let folder = Folder::new();
    let table = read(&folder.write("t.csv", TEXT), &ReadOptions::default()).unwrap();
    for name in ["x.csv", "x.parquet"] {
        let target = Target::new(&folder.path(name), None).unwrap();
        let fill = |position, n_rows| Completion {
            filled: vec![FilledColumn { position, values: vec![0.0; n_rows], decimals: None }],
            ..Completion::default()
        };
        let error = |completion| write_completed(&table, &completion, &target).unwrap_err();
        assert!(matches!(error(fill(1, 3)), WriteError::RowCount { found: 3, expected: 4, .. }));
        assert!(
            matches!(error(fill(2, 4)), WriteError::NotFillable { column } if column == table.columns()[2].name())
        );
        assert!(matches!(error(fill(9, 4)), WriteError::NotFillable { column } if column == "10"));
    }
    assert_eq!(folder.names(), ["t.csv"]);
}

proptest! {
    /// With nothing to fill, a copy is the original, whatever it looks like.
    #[test]
    fn a_copy_without_values_is_the_original(
        cells in prop::collection::vec(prop::sample::select(vec![
            "1", "-2.50", "NA", "", " 7 ", "\"q\"", "\"a\"\"b\"", "\"x\ny\"", "word", "2013-01-01", "é",
        ]), 1..60),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        has_last in any::<bool>(),
    ) {
        let mut text = format!("a,b,c{ending}");
        for row in cells.chunks_exact(3) {
            text += &format!("{}{ending}", row.join(","));
        }
        if !has_last {
            text.truncate(text.len() - ending.len());
        }
        let folder = Folder::new();
        // A header alone is no table.
        if let Ok(table) = read(&folder.write("t.csv", &text), &ReadOptions::default()) {
            let out = folder.path("out.csv");
            write_completed(&table, &Completion::default(), &Target::new(&out, None).unwrap()).unwrap();
            prop_assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
        } else {
            prop_assert!(cells.len() < 3);
        }
    }
}

#[test]
fn replaced_cells_are_filled_and_their_neighbors_keep_their_text() {
    let folder = Folder::new();
    let table =
        read(&folder.write("t.csv", "t,a,b\n1,0070,1\n2,99,2.50\n3,,3\n4,99,4\n"), &ReadOptions::default())
            .unwrap();
    let completion = Completion {
        filled: vec![FilledColumn { position: 1, values: vec![1.5, 2.5, 3.5, f64::NAN], decimals: None }],
        replaced: [(1, 1), (1, 3)].into(),
        ..Completion::default()
    };
    for name in ["out.csv", "out.parquet"] {
        let target = Target::new(&folder.path(name), None).unwrap();
        write_completed(&table, &completion, &target).unwrap();
    }
    let text = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    // The last one has no value: it becomes empty.
    assert_eq!(text, "t,a,b\n1,0070,1\n2,2.5,2.50\n3,3.5,3\n4,,4\n");
    let whole = complete(&table, &completion).unwrap();
    let ColumnData::Number(numbers) = whole.columns()[1].data() else { panic!("numbers") };
    assert!(numbers.values[..3] == [70.0, 2.5, 3.5] && numbers.values[3].is_nan());
}
