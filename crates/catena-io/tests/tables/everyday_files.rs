//! Everyday files are read as the same table: packed, from a spreadsheet, with a decimal comma, notes, an index or other dates.

use crate::folder::Folder;
use crate::workbook::{ods, xlsx, zipped};
use catena_io::read::{CellOptions, Format, ReadOptions, read, read_pipe};
use catena_io::select::{Frame, Selection, select, suspicious_codes};
use catena_io::table::{DateOrder, Decimal, Table};
use catena_io::time::CalendarChoice;
use catena_io::write::{Completion, FilledColumn, Target, write_completed, write_table};

fn table(folder: &Folder, name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> Table {
    read(&folder.write(name, text), options).unwrap_or_else(|error| panic!("{error}"))
}

fn frame(table: &Table, selection: &Selection) -> Frame {
    select(table, selection).unwrap_or_else(|error| panic!("{error}"))
}

fn chosen(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> Frame {
    frame(&table(&Folder::new(), name, text, options), &Selection::default())
}

fn notes(table: &Table) -> Vec<String> {
    table.notes().iter().map(ToString::to_string).collect()
}

fn inputs(names: &[&str]) -> Selection {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Selection { inputs: Some(names), ..Selection::default() }
}

const PLAIN: &str = "time,a,b\n2013-03-15,1.5,2\n2013-03-16,NA,3\n2013-03-17,2.25,\n";

/// The numbers of [`PLAIN`], as it must be read from every file.
fn assert_plain(frame: &Frame) {
    assert_eq!(frame.inputs[0].values, [0.0, 86_400.0, 172_800.0]);
    assert_eq!(frame.outputs, ["a", "b"]);
    let expected = [1.5, 2.0, f64::NAN, 3.0, 2.25, f64::NAN];
    let same = |(found, expected): (&f64, &f64)| found == expected || (found.is_nan() && expected.is_nan());
    assert!(frame.values.iter().zip(&expected).all(same), "{:?}", frame.values);
}

#[test]
fn packed_files_are_read_and_written() {
    let folder = Folder::new();
    let plain = table(&folder, "plain.csv", PLAIN, &ReadOptions::default());
    for name in ["t.csv.gz", "t.csv.zst", "t.parquet.gz", "t.arrow.zst", "t.tsv.gz"] {
        let path = folder.path(name);
        write_table(&plain, &Target::new(&path, None).unwrap()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd"), "{name}");
        let back = read(&path, &ReadOptions::default()).unwrap();
        assert_plain(&frame(&back, &Selection::default()));
        // Content decides, not the name: a pipe has none.
        let format = Format::of_path(&path);
        let piped = read_pipe(&bytes[..], &ReadOptions { format, ..ReadOptions::default() }, &mut |_, _| {});
        assert_plain(&frame(&piped.unwrap(), &Selection::default()));
    }
    // A packed file under the name of a plain one, and the other way round.
    let packed = std::fs::read(folder.path("t.csv.gz")).unwrap();
    assert_plain(&chosen("t.csv", packed, &ReadOptions::default()));
    assert_plain(&chosen("t.csv.gz", PLAIN, &ReadOptions::default()));
}

#[test]
fn a_packed_file_is_filled_without_other_changes() {
    let folder = Folder::new();
    let packed = folder.path("t.csv.gz");
    write_table(
        &table(&folder, "plain.csv", PLAIN, &ReadOptions::default()),
        &Target::new(&packed, None).unwrap(),
    )
    .unwrap();
    let source = read(&packed, &ReadOptions::default()).unwrap();
    let filled = vec![FilledColumn { position: 1, values: vec![9.0; 3], decimals: Some(2) }];
    let completion = Completion { filled, ..Completion::default() };
    // In place, and unpacked under another name.
    for name in ["out.csv", "t.csv.gz"] {
        write_completed(&source, &completion, &Target::new(&folder.path(name), None).unwrap()).unwrap();
    }
    let expected = "time,a,b\n2013-03-15,1.5,2\n2013-03-16,9.00,3\n2013-03-17,2.25,\n";
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);
    let again = read(&packed, &ReadOptions::default()).unwrap();
    assert_eq!(frame(&again, &Selection::default()).values[2], 9.0);
    assert_eq!(folder.names(), ["out.csv", "plain.csv", "t.csv.gz"]);
}

/// 41348 is 2013-03-15 in the calendar of spreadsheets.
const SHEET: &[&[&str]] =
    &[&["time", "a", "b"], &["d41348", "1.5", "2"], &["d41349", "#N/A", "3"], &["d41350", "2.25", ""]];

#[test]
fn spreadsheets_are_read() {
    let book = xlsx(&[("Data", SHEET)]);
    assert_plain(&chosen("book.xlsx", &book, &ReadOptions::default()));
    let rows: Vec<Vec<&str>> = PLAIN.lines().map(|line| line.split(',').collect()).collect();
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    assert_plain(&chosen("book.ods", ods(&rows), &ReadOptions::default()));
    // A clock time, and notes before the header. Rows are named by their numbers in the sheet.
    let noted = xlsx(&[(
        "Data",
        &[
            &["Station 7"],
            &["", ""],
            &["time", "a"],
            &["d41348.25", "1"],
            &["d41348.5", "x"],
            &["d41349", "3"],
        ],
    )]);
    let folder = Folder::new();
    let found = table(&folder, "noted.xlsx", &noted, &ReadOptions::default());
    assert_eq!(notes(&found), ["skipped row 1, which is before the header"]);
    let error = select(&found, &Selection::default()).unwrap_err().to_string();
    assert!(error.contains("row 5, column a: \"x\" is text"), "{error}");
}

#[test]
fn a_sheet_is_chosen() {
    let other: &[&[&str]] = &[&["x", "y"], &["1", "2"], &["2", "3"]];
    let book = xlsx(&[("Empty", &[]), ("Data", SHEET), ("Other", other)]);
    let folder = Folder::new();
    let first = table(&folder, "book.xlsx", &book, &ReadOptions::default());
    assert_plain(&frame(&first, &Selection::default()));
    assert_eq!(notes(&first), ["sheet Data is read; pass --sheet to read another (Other)"]);
    let options = |sheet: &str| ReadOptions { sheet: Some(sheet.into()), ..ReadOptions::default() };
    let second = table(&folder, "book.xlsx", &book, &options("Other"));
    assert_eq!(frame(&second, &Selection::default()).values, [2.0, 3.0]);
    let error = read(&folder.path("book.xlsx"), &options("other")).unwrap_err().to_string();
    assert!(error.contains("no sheet \"other\"") && error.contains("Empty, Data, Other"), "{error}");
    // A workbook that claims to be larger than the memory.
    let limited = ReadOptions { max_memory: Some(100), ..ReadOptions::default() };
    assert!(read(&folder.path("book.xlsx"), &limited).unwrap_err().to_string().contains("--max-memory"));
}

/// A damaged workbook is refused in one sentence.
#[test]
fn damaged_workbooks_are_refused() {
    let folder = Folder::new();
    let book = xlsx(&[("Data", SHEET)]);
    for at in (0..book.len()).step_by(13) {
        let mut bytes = book.clone();
        bytes[at] ^= 0x55;
        for (name, bytes) in [("flipped.xlsx", &bytes[..]), ("cut.xlsx", &book[..at])] {
            if let Err(error) = read(&folder.write(name, bytes), &ReadOptions::default()) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    let empty = zipped(&[("a.txt", "nothing".into())]);
    for name in ["zip.xlsx", "zip.ods"] {
        assert!(read(&folder.write(name, &empty), &ReadOptions::default()).is_err());
    }
    let target = Target::new(&folder.path("out.xlsx"), None).unwrap_err().to_string();
    assert!(target.contains("not written") && target.contains("csv"), "{target}");
}

#[test]
fn decimal_commas_and_dates_are_read_by_content_or_option() {
    let folder = Folder::new();
    let comma = "time;a;b\n15/03/2013;1,5;2\n16/03/2013;NA;3\n17/03/2013;2,25;\n";
    let found = table(&folder, "comma.csv", comma, &ReadOptions::default());
    assert_plain(&frame(&found, &Selection::default()));
    assert_eq!(
        notes(&found),
        [
            "numbers are read with a decimal comma, as in \"1,5\" (line 2)",
            "dates are read with the day first, as in \"15/03/2013\" (line 2)"
        ]
    );
    // Filled cells have the comma, too, and times their own style.
    let filled = vec![FilledColumn { position: 1, values: vec![0.125; 3], decimals: Some(2) }];
    let completion = Completion { filled, ..Completion::default() };
    write_completed(&found, &completion, &Target::new(&folder.path("out.csv"), None).unwrap()).unwrap();
    let expected = comma.replace("NA", "0,12");
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), expected);
    let times = frame(&found, &Selection::default()).to_input_columns();
    let written = Table::new(times);
    write_table(&written, &Target::new(&folder.path("times.csv"), None).unwrap()).unwrap();
    let text = std::fs::read_to_string(folder.path("times.csv")).unwrap();
    assert_eq!(text, "time\n15/03/2013\n16/03/2013\n17/03/2013\n");

    let cells =
        CellOptions { decimal: Some(Decimal::Comma), dates: Some(DateOrder::MonthFirst), missing: vec![] };
    let given = ReadOptions { cells, ..ReadOptions::default() };
    let found = chosen("given.csv", "time;a\n3/4/2013;1,234\n3/5/2013;7\n", &given);
    assert_eq!((found.values, found.inputs[0].values.clone()), (vec![1.234, 7.0], vec![0.0, 86_400.0]));
    let american =
        chosen("american.csv", "time,a\n3/4/2013 6:30,1\n3/15/2013 18:00,2\n", &ReadOptions::default());
    assert_eq!(american.inputs[0].values, [0.0, 11.0 * 86_400.0 + 11.5 * 3600.0]);
}

#[test]
fn codes_of_missing_values_are_missing_or_named() {
    let text = "t,a,b\n1,-999,5\n2,1.5,.\n3,#N/A,7\n4,-999.0,8\n5,2.5,miss\n";
    let missing = vec!["-999".to_owned(), "miss".to_owned()];
    let cells = CellOptions { missing, ..CellOptions::default() };
    let options = ReadOptions { cells, ..ReadOptions::default() };
    let found = chosen("codes.csv", text, &options);
    assert_eq!(found.values.iter().filter(|value| value.is_nan()).count(), 5);
    assert_eq!(suspicious_codes(&found), []);
    let plain = text.replace("miss", "9");
    let suspicious = suspicious_codes(&chosen("codes.csv", &plain, &ReadOptions::default()));
    assert_eq!(suspicious.len(), 1);
    let sentence = suspicious[0].to_string();
    assert!(
        sentence.contains("a has the value -999 in 2 cells") && sentence.contains("--missing=-999"),
        "{sentence}"
    );
    // Once, or within the other values, it is a value.
    let once = "t,a,b\n1,-999,99\n2,1.5,99\n3,2,98\n4,3,10\n";
    assert_eq!(suspicious_codes(&chosen("once.csv", once, &ReadOptions::default())), []);
    // In formats without text, too; and the code is what is filled.
    let folder = Folder::new();
    let path = folder.path("codes.parquet");
    let numbers = table(&folder, "numbers.csv", &plain, &ReadOptions::default());
    write_table(&numbers, &Target::new(&path, None).unwrap()).unwrap();
    let back = frame(&read(&path, &options).unwrap(), &Selection::default());
    assert_eq!(back.values.iter().filter(|value| value.is_nan()).count(), 4);
    let coded = table(&folder, "codes.csv", text, &options);
    let filled = vec![FilledColumn { position: 1, values: vec![4.0; 5], decimals: Some(1) }];
    let completion = Completion { filled, ..Completion::default() };
    write_completed(&coded, &completion, &Target::new(&folder.path("out.csv"), None).unwrap()).unwrap();
    let out = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    assert_eq!(out, "t,a,b\n1,4.0,5\n2,1.5,.\n3,4.0,7\n4,4.0,8\n5,2.5,miss\n");
}

#[test]
fn notes_before_a_header_stay_in_the_copy() {
    let folder = Folder::new();
    let text = "\u{feff}Station: \"Berlin, Germany, 52N\nexported 2013-03-15\n\ntime,a\n1,2\n2,\n";
    let found = table(&folder, "noted.csv", text, &ReadOptions::default());
    assert_eq!(notes(&found), ["skipped line 1 to line 3, which are before the header"]);
    assert_eq!(found.place_of(0).to_string(), "line 5");
    let filled = vec![FilledColumn { position: 1, values: vec![3.0; 2], decimals: Some(0) }];
    let completion = Completion { filled, ..Completion::default() };
    write_completed(&found, &completion, &Target::new(&folder.path("out.csv"), None).unwrap()).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).unwrap(), text.replace("2,\n", "2,3\n"));
    // With another column, a note with as many cells would be read as the header.
    let completion = Completion {
        appended: vec![catena_io::table::Column::numbers("a_std", vec![f64::NAN, 0.5])],
        ..completion
    };
    write_completed(&found, &completion, &Target::new(&folder.path("out.csv"), None).unwrap()).unwrap();
    let out = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    assert_eq!(out, "\u{feff}time,a,a_std\n1,2,\n2,3,0.5\n");
}

#[test]
fn an_index_without_a_name_is_not_an_output() {
    let decided = |text: &str| {
        let found = chosen("index.csv", text, &ReadOptions::default());
        (found.inputs[0].name.clone(), found.outputs.clone(), found.decision.sentences().join("; "))
    };
    let (input, outputs, why) = decided(",t,a\n0,1,2\n1,3,4\n");
    assert_eq!((input.as_str(), &outputs[..]), ("t", &["a".to_owned()][..]));
    assert!(why.contains("ignored: index (row numbers without a name)"), "{why}");
    // Without an ascending column the index is the input.
    assert_eq!(decided(",a,b\n0,3,2\n1,1,4\n").0, "index");
    assert_eq!(decided(",a\n0,1\n1,2\n").0, "index");
    // Times without a name are times, and other numbers a column.
    assert_eq!(decided(",a\n2013-01-01,1\n2013-01-02,2\n").0, "index");
    assert_eq!(decided(",a,index\n0.5,1,2\n0.7,2,3\n").0, "index_1");
    assert_eq!(decided("Unnamed: 0,x,a\n0,1,5\n1,2,4\n").0, "x");
}

#[test]
fn columns_of_a_date_are_joined() {
    let text = "year,month,day,hour,temp\n2013,2,28,23,1\n2013,2,28,24,2\n2013,3,1,1,3\n";
    let found = chosen("parts.csv", text, &ReadOptions::default());
    assert_eq!((found.inputs[0].name.as_str(), &found.outputs[..]), ("time", &["temp".to_owned()][..]));
    assert_eq!(found.inputs[0].values, [0.0, 3600.0, 7200.0]);
    let axis = found.inputs[0].time.clone().unwrap();
    assert_eq!(axis.print(3600.0), "2013-03-01 00:00");
    assert_eq!(found.decision.ignored.len(), 4);
    let folder = Folder::new();
    let source = table(&folder, "parts.csv", text, &ReadOptions::default());
    // By name, and for a model with this input.
    for names in [&["time"][..], &["year", "month", "day", "hour"]] {
        assert_eq!(frame(&source, &inputs(names)).inputs[0].values, found.inputs[0].values);
    }
    let known = Selection { time_axes: vec![("time".into(), axis)], ..inputs(&["time"]) };
    assert_eq!(frame(&source, &known).inputs[0].values, found.inputs[0].values);
    // Beside a column of times the parts are no outputs.
    let both = "time_hour,year,month,temp\n2013-01-01,2013,1,2\n2013-01-02,2013,1,3\n";
    assert_eq!(chosen("both.csv", both, &ReadOptions::default()).outputs, ["temp"]);
    let year = chosen("year.csv", "year,temp\n2013,1\n2014,2\n", &ReadOptions::default());
    // Alone, years are times, except in a new table for a model to which they were numbers.
    let axis = year.inputs[0].time.clone().unwrap();
    assert_eq!(
        [axis.print(year.inputs[0].values[0]), axis.print(year.inputs[0].values[1])],
        ["2013", "2014"]
    );
    let source = table(&folder, "year.csv", "year,temp\n2013,1\n2014,2\n", &ReadOptions::default());
    let of_model = Selection { needs_columns: true, ..inputs(&["year"]) };
    assert!(frame(&source, &of_model).inputs[0].time.is_none());
    for text in ["year,temp\n1,1\n2,2\n", "year,temp\n2013.5,1\n2014,2\n", "age,temp\n2013,1\n2014,2\n"] {
        assert!(chosen("numbers.csv", text, &ReadOptions::default()).inputs[0].time.is_none(), "{text}");
    }
}

#[test]
fn rows_are_counted_where_no_column_is_an_input() {
    let one = chosen("one.csv", "flow\n5\n\"\"\n7\n", &ReadOptions::default());
    assert_eq!((one.inputs[0].name.as_str(), &one.inputs[0].values[..]), ("row", &[1.0, 2.0, 3.0][..]));
    assert_eq!(one.outputs, ["flow"]);
    let folder = Folder::new();
    let two = table(&folder, "two.csv", "a,b\n5,1\n6,2\n", &ReadOptions::default());
    let found = frame(&two, &inputs(&["row"]));
    assert_eq!(
        (found.inputs[0].values.clone(), found.outputs),
        (vec![1.0, 2.0], vec!["a".into(), "b".into()])
    );
    // A model with this input needs the column in new tables.
    let for_model = Selection { needs_columns: true, ..inputs(&["row"]) };
    assert!(select(&two, &for_model).unwrap_err().to_string().contains("no column \"row\""));
    let with_row = table(&folder, "row.csv", "row,b\n5,1\n6,2\n", &ReadOptions::default());
    assert_eq!(frame(&with_row, &inputs(&["row"])).inputs[0].values, [5.0, 6.0]);
}

#[test]
fn latitude_and_longitude_are_inputs_together() {
    let found =
        chosen("map.csv", "station,Lat,Lon,depth\na,54.5,10.1,3\nb,55.5,9.1,4\n", &ReadOptions::default());
    let names: Vec<&str> = found.inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!((names, &found.outputs[..]), (vec!["Lat", "Lon"], &["depth".to_owned()][..]));
    // Along time they are measured.
    let track =
        chosen("track.csv", "time,lat,lon\n2013-01-01,1,2\n2013-01-02,1,3\n", &ReadOptions::default());
    assert_eq!(track.outputs, ["lat", "lon"]);
    let out_of_range = chosen("grid.csv", "lat,lon,a\n500,900,1\n501,900,2\n", &ReadOptions::default());
    assert_eq!(out_of_range.inputs.len(), 1);
}

#[test]
fn labels_of_dates_are_dates_and_keep_their_style() {
    let folder = Folder::new();
    // Months, quarters and years have their mean length in the Gregorian calendar.
    let year: f64 = 365.2425;
    for (first, second, days) in [
        ("2009Q3", "2009Q4", year / 4.0),
        ("2009-Q4", "2010-Q1", year / 4.0),
        ("20120131", "20120201", 1.0),
        ("2009-07", "2009-08", year / 12.0),
    ] {
        let text = format!("label,a\n{first},1\n{second},2\n");
        let found = chosen("labels.csv", &text, &ReadOptions::default());
        assert_eq!(found.inputs[0].values, [0.0, (86_400.0 * days).round()], "{first}");
        let elapsed = Selection { calendar: CalendarChoice::Elapsed, ..Selection::default() };
        let source = table(&folder, "labels.csv", &text, &ReadOptions::default());
        assert_ne!(
            frame(&source, &elapsed).inputs[0].values == found.inputs[0].values,
            days > 1.0,
            "{first}"
        );
        let written = Table::new(found.to_input_columns());
        write_table(&written, &Target::new(&folder.path("out.csv"), None).unwrap()).unwrap();
        let out = std::fs::read_to_string(folder.path("out.csv")).unwrap();
        assert_eq!(out, format!("label\n{first}\n{second}\n"));
    }
    // One number that is no date makes all of them numbers.
    let numbers = chosen("numbers.csv", "id,a\n20120131,1\n20120132,2\n", &ReadOptions::default());
    assert!(numbers.inputs[0].time.is_none());
    // For a model with such labels, one row is enough.
    let axis = chosen("days.csv", "day,a\n20120131,1\n20120201,2\n", &ReadOptions::default());
    let known = vec![("day".to_owned(), axis.inputs[0].time.clone().unwrap())];
    let more = table(&folder, "more.csv", "day,a\n20120203,4\n", &ReadOptions::default());
    let found = frame(&more, &Selection { time_axes: known, ..inputs(&["day"]) });
    assert_eq!(found.inputs[0].values, [3.0 * 86_400.0]);
}
