//! Every invalid table is a typed error whose message names the file, the line or row, and the column.

use std::path::Path;

use crate::folder::Folder;
use catena_io::read::{Content, ReadError, ReadOptions, read};
use catena_io::select::{LongColumns, SelectError, Selection, select};
use catena_io::table::CellProblem;

/// What must come out, without its details.
#[derive(Debug, PartialEq)]
enum Kind {
    Read(&'static str),
    Content(Content),
    Select(&'static str),
    InvalidCell(CellProblem),
}

fn kind_of_read(error: &ReadError) -> Kind {
    if let ReadError::WrongContent { content, .. } = error {
        return Kind::Content(*content);
    }
    Kind::Read(variant(&format!("{error:?}")))
}

fn kind_of_select(error: &SelectError) -> Kind {
    if let SelectError::InvalidCell { reason, .. } = error {
        return Kind::InvalidCell(*reason);
    }
    Kind::Select(variant(&format!("{error:?}")))
}

/// The name of an enum's variant, from how it is shown.
fn variant(shown: &str) -> &'static str {
    let name = shown.split([' ', '(', '{']).next().unwrap();
    Box::leak(name.to_owned().into_boxed_str())
}

fn names(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|name| (*name).to_owned()).collect())
}

/// Reads and selects; gives the kind of error and its message.
fn refuse(path: &Path, selection: &Selection) -> (Kind, String) {
    let table = match read(path, &ReadOptions::default()) {
        Ok(table) => table,
        Err(error) => return (kind_of_read(&error), error.to_string()),
    };
    match select(&table, selection) {
        Ok(frame) => panic!("{} was accepted: {:?}", path.display(), frame.decision),
        Err(error) => (kind_of_select(&error), error.to_string()),
    }
}

fn check(folder: &Folder, file: &str, bytes: &[u8], selection: &Selection, kind: Kind, words: &[&str]) {
    let path = folder.write(file, bytes);
    let (found, message) = refuse(&path, selection);
    assert_eq!(found, kind, "{file}: {message}");
    assert!(message.contains(file), "{file} is not named: {message}");
    for word in words {
        assert!(message.contains(word), "{file}: {word:?} is missing in: {message}");
    }
    assert!(!message.contains('\n') && message.len() < 400, "{file}: not one short line: {message}");
}

#[test]
fn texts_that_are_no_tables() {
    use Kind::{Content as C, Read as R};
    let long_line = [b"a,b\n1,".to_vec(), vec![b'7'; 10_000_000]].concat();
    let long_quote = [b"a,b\n1,2\n1,\"".to_vec(), vec![b'x'; 6_000_000]].concat();
    let utf16: Vec<u8> = "time,a\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16_marked = [b"\xff\xfe".to_vec(), utf16.clone()].concat();
    let cases: Vec<(&str, &[u8], Kind, &[&str])> = vec![
        ("empty.csv", b"", R("Empty"), &["empty"]),
        ("blank.csv", b"\n \n\n", R("Empty"), &[]),
        ("mark_only.csv", b"\xef\xbb\xbf", R("Empty"), &[]),
        ("header_only.csv", b"time,a,b\n", R("NoRows"), &["no rows"]),
        ("header_only.tsv", b"time\ta\n\n\n", R("NoRows"), &[]),
        ("no_header.csv", b"1,2.5\n2,3.5\n", R("NoHeader"), &["line 1", "\"1\""]),
        ("time_header.csv", b"2013-01-01,2.5\n2013-01-02,3\n", R("NoHeader"), &["header"]),
        ("short.csv", b"t,a,b\n1,2,3\n2,3\n", R("Ragged"), &["line 3", "2 cells", "3 columns"]),
        ("long.csv", b"t,a\n\n1,2\n\n1,2,3\n", R("Ragged"), &["line 5", "3 cells"]),
        ("after_break.csv", b"t,a\n1,\"x\ny\"\n2\n", R("Ragged"), &["line 4"]),
        ("twice.csv", b"t,a,b,a\n1,2,3,4\n", R("DuplicateName"), &["\"a\"", "2 and 4"]),
        ("nameless.csv", b"t,,b\n1,2,3\n", R("EmptyName"), &["column 2"]),
        ("nameless_first.csv", b",,a\n0,1,2\n", R("EmptyName"), &["column 1"]),
        ("trailing.csv", b"t,a,\n1,2,\n", R("EmptyName"), &["column 3", "delimiter"]),
        ("open_quote.csv", b"t,a\n1,2\n2,\"3\n3,4\n", R("UnclosedQuote"), &["line 3", "column a"]),
        ("open_header.csv", b"t,\"a\n1,2\n", R("UnclosedQuote"), &["line 1", "column 2"]),
        ("open_long.csv", &long_quote, R("UnclosedQuote"), &["line 3", "column b"]),
        ("after_quote.csv", b"t,a\n1,\"2\"3\n", R("TextAfterQuote"), &["line 2", "column a"]),
        ("long_line.csv", &long_line, R("LineTooLong"), &["line 2", "4194304 bytes"]),
        ("latin1.csv", b"t,note\n1,ok\n2,caf\xe9\n", R("NotUtf8"), &["line 3", "column note", "UTF-8"]),
        ("latin1_header.csv", b"t,temp\xe9rature\n1,2\n", R("NotUtf8"), &["line 1", "column 2"]),
        ("utf16.csv", &utf16, C(Content::Utf16), &["UTF-16"]),
        ("utf16_marked.csv", &utf16_marked, C(Content::Utf16), &["UTF-16"]),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", C(Content::Binary), &["binary"]),
        ("packed.csv", b"\x1f\x8b\x08\0\0\0", R("Io"), &["gzip", "damaged or incomplete", "pack it again"]),
        ("packed.parquet", b"\x1f\x8b\x08\0\0\0", R("Io"), &["gzip", "damaged or incomplete"]),
        ("cut.csv.zst", b"\x28\xb5\x2f\xfd\x04", R("Io"), &["zstd", "damaged or incomplete"]),
        ("table.csv.bz2", b"BZh9", C(Content::Archive), &["unpack"]),
        ("packed_otherwise.csv", b"BZh91AY", C(Content::Archive), &["unpack"]),
        ("old.xls", b"\xd0\xcf\x11\xe0", C(Content::Zip), &[".xlsx", "CSV"]),
        ("sheet.csv", b"PK\x03\x04\x14\0", C(Content::Zip), &["spreadsheet"]),
        ("named.csv", b"PAR1\0\0", C(Content::Parquet), &[".parquet"]),
        ("named.tsv", b"ARROW1\0\0", C(Content::Arrow), &[".arrow"]),
        ("table.xyz", b"a,b\n1,2\n", R("UnknownFormat"), &["suffix"]),
        ("table.xlsx", b"PK\x03\x04\x14\0", R("Damaged"), &["Excel"]),
        ("text.xlsx", b"t,a\n1,2\n", R("Damaged"), &["Excel"]),
        ("nothing.xlsx", b"", R("Empty"), &[]),
        ("table.ods", b"PK\x03\x04\x14\0", R("Damaged"), &["OpenDocument"]),
        ("notes.csv", b"# station 7\nt,a\n1,2\n1,2,3\n", R("NotesFirst"), &["line 1", "before the header"]),
        ("two_tables.csv", b"t,a,b\n1,2,3\nx,y\n4,5\n", R("Ragged"), &["line 3"]),
        ("nothing.parquet", b"", R("Empty"), &[]),
        ("text.parquet", b"t,a\n1,2\n", R("Damaged"), &["Parquet"]),
        ("cut.parquet", b"PAR1\x15\0\x15PAR1", R("Damaged"), &["Parquet"]),
        ("text.arrow", b"t,a\n1,2\n", R("Damaged"), &["Arrow"]),
        ("cut.feather", b"ARROW1\0\0\xff\xff\xff\xff", R("Damaged"), &["Arrow"]),
    ];
    let folder = Folder::new();
    for (file, bytes, kind, words) in cases {
        check(&folder, file, bytes, &Selection::default(), kind, words);
    }
}

#[test]
fn tables_that_do_not_fit_their_use() {
    use Kind::{InvalidCell as T, Select as S};
    let none = Selection::default;
    let inputs = |list: &[&str]| Selection { inputs: names(list), ..none() };
    let outputs = |list: &[&str]| Selection { outputs: names(list), ..none() };
    let both = |ins: &[&str], outs: &[&str]| Selection { inputs: names(ins), outputs: names(outs), ..none() };
    let noise = |list: &[&str]| Selection { noise_columns: names(list).unwrap(), ..none() };
    let long = |time: &str, series: &str, value: &str| LongColumns {
        time: time.into(),
        series: series.into(),
        value: value.into(),
    };
    // The beginning of the text shows a comma.
    let late_point = format!("t;a\n{}2;2.5\n", "1;2,5\n".repeat(100_000));
    let in_long = |columns: LongColumns| Selection { long: Some(columns), ..none() };
    let cases: Vec<(&str, &str, Selection, Kind, &[&str])> = vec![
        (
            "word.csv",
            "t,a\n1,2\n2,cold\n3,4\n4,hot\n5,6\n",
            none(),
            T(CellProblem::Text),
            &["line 3", "column a", "\"cold\"", "one more"],
        ),
        ("inf.csv", "t,a\n1,2\n2,inf\n", none(), T(CellProblem::Infinite), &["line 3", "column a"]),
        (
            "huge.csv",
            "t,a\n1,2\n2,1e999\n",
            none(),
            T(CellProblem::Infinite),
            &["line 3", "column a", "1e999"],
        ),
        // A thousand or a decimal comma: nothing shows which.
        (
            "comma.csv",
            "t;a\n1;2,500\n2;3,250\n",
            none(),
            T(CellProblem::ThousandsSeparator),
            &["line 2", "column a", "--decimal comma"],
        ),
        (
            "late_point.csv",
            &late_point,
            none(),
            T(CellProblem::DecimalPoint),
            &["line 100002", "column a", "--decimal"],
        ),
        // Left out in silence, the answer would be about other columns.
        (
            "comma_beside.csv",
            "t;a;b\n1;2,5;1.5\n2;3,25;2\n",
            none(),
            T(CellProblem::DecimalComma),
            &["line 2", "column a", "--decimal comma", "decimal point", "pass --inputs and --outputs"],
        ),
        (
            "dayfirst_beside.csv",
            "id,day,a\n1,05/03/2013,2\n2,06/03/2013,3\n",
            none(),
            T(CellProblem::AmbiguousDate),
            &["line 2", "column day", "--dates day-first", "pass --inputs and --outputs"],
        ),
        (
            "dayfirst_input.csv",
            "id,day,a\n1,05/03/2013,2\n2,06/03/2013,3\n",
            outputs(&["a"]),
            T(CellProblem::AmbiguousDate),
            &["line 2", "column day"],
        ),
        (
            "other_zones.csv",
            "t,a\n2013-02-28T00:00Z,2\n2013-02-28T01:00,3\n2013-02-28T02:00,3\n",
            none(),
            T(CellProblem::MixedZones),
            &["line 3", "column t", "one more"],
        ),
        (
            "digits.csv",
            "id,a\n9007199254740993,2\n9007199254740995,3\n",
            none(),
            T(CellProblem::TooManyDigits),
            &["line 2", "column id", "2^53"],
        ),
        (
            "digit.csv",
            "t,a\n1,2\n2,9007199254740993\n3,4\n",
            none(),
            T(CellProblem::TooManyDigits),
            &["line 3", "column a"],
        ),
        (
            "thousands.csv",
            "t,a\n1,\"1,234\"\n2,5\n",
            none(),
            T(CellProblem::ThousandsSeparator),
            &["line 2", "column a"],
        ),
        (
            "dayfirst.csv",
            "t,a\n05/03/2013,2\n06/03/2013,3\n",
            none(),
            T(CellProblem::AmbiguousDate),
            &["line 2", "column t", "--dates month-first", "2013-03-15"],
        ),
        (
            "both_orders.csv",
            "t,a\n15/03/2013,2\n03/16/2013,3\n",
            none(),
            T(CellProblem::AmbiguousDate),
            &["line 2", "column t", "one more"],
        ),
        (
            "short_year.csv",
            "t,a\n15/03/13,2\n16/03/13,3\n",
            none(),
            T(CellProblem::ShortYear),
            &["line 2", "column t", "two digits"],
        ),
        (
            "no_such_day.csv",
            "t,a\n15/02/2013,2\n31/02/2013,3\n",
            none(),
            T(CellProblem::OtherDateOrder),
            &["line 3", "column t", "31/02/2013"],
        ),
        (
            "no_such_date.csv",
            "year,month,day,a\n2013,2,28,2\n2013,2,30,3\n",
            none(),
            S("InvalidDate"),
            &["line 3", "year, month, day", "2013-2-30"],
        ),
        (
            "part_missing.csv",
            "year,month,day,a\n2013,2,28,2\n2013,,1,3\n",
            none(),
            S("MissingInput"),
            &["line 3", "column month"],
        ),
        (
            "february.csv",
            "t,a\n2013-02-28,2\n2013-02-30,3\n",
            none(),
            T(CellProblem::InvalidTime),
            &["line 3", "column t"],
        ),
        (
            "zones.csv",
            "t,a\n2013-02-28T00:00Z,2\n2013-02-28T01:00,3\n2013-02-28T02:00Z,3\n",
            none(),
            T(CellProblem::MixedZones),
            &["line 3", "column t"],
        ),
        (
            "numbertime.csv",
            "t,a\n2013-02-28,2\n5,3\n",
            none(),
            T(CellProblem::NumberAmongTimes),
            &["line 3", "column t"],
        ),
        (
            "timenumber.csv",
            "t,a\n1,2\n2,2013-01-01\n3,4\n",
            none(),
            T(CellProblem::TimeAmongNumbers),
            &["line 3", "column a"],
        ),
        ("hole.csv", "t,a\n1,2\n\nNA,3\n", none(), S("MissingInput"), &["line 4", "column t"]),
        ("words.csv", "t,a\nx,1\ny,2\n", none(), S("InputKind"), &["column t", "text", "--inputs row"]),
        (
            "months.csv",
            "symbol,date,price\nA,1 janvier 2000,3\nB,1 janvier 2000,4\n",
            none(),
            S("MonthName"),
            &["line 2", "column date", "2013-03-15"],
        ),
        ("one.csv", "t\nx\ny\n", none(), S("NoOutputs"), &["output"]),
        ("notext.csv", "t,a\n1,x\n2,y\n", none(), S("TextOnly"), &["output", "column a", "\"x\"", "line 2"]),
        ("prices.csv", "t,cost\n1,\n2,$3.00\n", none(), S("TextOnly"), &["column cost", "$3.00", "line 3"]),
        ("holes.csv", "t,a\n1,\n2,NA\n", none(), S("AllMissing"), &["column a"]),
        ("named_holes.csv", "t,a,b\n1,,1\n2,NA,2\n", outputs(&["a"]), S("AllMissing"), &["column a"]),
        ("times.csv", "t,u,a\n2013-01-01,2013-01-01,1\n", none(), S("SeveralTimes"), &["t, u"]),
        ("typo.csv", "time,temp\n1,2\n", outputs(&["tmep"]), S("UnknownColumn"), &["\"tmep\"", "\"temp\""]),
        ("typo_in.csv", "time,temp\n1,2\n", inputs(&["Time"]), S("UnknownColumn"), &["\"time\""]),
        ("far.csv", "time,temp\n1,2\n", inputs(&["longitude"]), S("UnknownColumn"), &["longitude"]),
        ("roles.csv", "t,a\n1,2\n", both(&["t"], &["t"]), S("TwoRoles"), &["\"t\""]),
        ("repeated.csv", "t,a\n1,2\n", outputs(&["a", "a"]), S("TwoRoles"), &["\"a\""]),
        ("text_out.csv", "t,a,b\n1,2,x\n", outputs(&["b"]), S("OutputKind"), &["column b", "text"]),
        (
            "time_out.csv",
            "t,a,b\n1,2013-01-01,3\n",
            both(&["t"], &["a"]),
            S("OutputKind"),
            &["column a", "times"],
        ),
        ("noise.csv", "t,a,b,s\n1,2,3,1\n", noise(&["s"]), S("NoiseCount"), &["1 noise column", "2 outputs"]),
        (
            "noise_kind.csv",
            "t,a,s\n1,2,x\n2,3,y\n",
            noise(&["a=s"]),
            S("NoiseKind"),
            &["column s", "text", "noise"],
        ),
        ("noise_twice.csv", "t,a,r,s\n1,2,1,1\n", noise(&["a=r", "a=s"]), S("TwoNoises"), &["\"a\""]),
        (
            "noise_role.csv",
            "t,a,b,s\n1,2,3,1\n",
            Selection { noise_columns: names(&["s", "s"]).unwrap(), ..outputs(&["a", "b"]) },
            S("TwoRoles"),
            &["\"s\""],
        ),
        ("noise_for.csv", "t,a,s\n1,2,1\n", noise(&["b=s"]), S("NoiseWithoutOutput"), &["\"b\""]),
        (
            "noise_zero.csv",
            "t,a,s\n1,2,1\n2,3,0\n",
            noise(&["a=s"]),
            S("NoiseCell"),
            &["line 3", "column s", "\"0\""],
        ),
        ("noise_hole.csv", "t,a,s\n1,2,\n2,3,1\n", noise(&["s"]), S("NoiseCell"), &["line 2", "column s"]),
        (
            "noise_text.csv",
            "t,a,s\n1,2,x\n2,3,1\n3,4,1\n",
            noise(&["s"]),
            T(CellProblem::Text),
            &["line 2", "column s"],
        ),
        (
            "long_typo.csv",
            "t,name,v\n1,x,2\n",
            in_long(long("t", "nam", "v")),
            S("UnknownColumn"),
            &["\"name\""],
        ),
        ("long_same.csv", "t,name,v\n1,x,2\n", in_long(long("t", "name", "t")), S("TwoRoles"), &["\"t\""]),
        (
            "long_hole.csv",
            "t,name,v\n1,x,2\n2,,3\n",
            in_long(long("t", "name", "v")),
            S("MissingSeries"),
            &["line 3", "column name"],
        ),
        (
            "long_time.csv",
            "t,name,v\n1,x,2\n,x,3\n",
            in_long(long("t", "name", "v")),
            S("MissingInput"),
            &["line 3", "column t"],
        ),
        (
            "long_word.csv",
            "t,name,v\n1,x,2\n2,x,y\n",
            in_long(long("t", "name", "v")),
            T(CellProblem::Text),
            &["line 3", "column v"],
        ),
        (
            "long_empty.csv",
            "t,name,v\n1,x,2\n2,y,\n",
            in_long(long("t", "name", "v")),
            S("AllMissing"),
            &["column y"],
        ),
        (
            "long_noise.csv",
            "t,name,v,s\n1,x,2,1\n",
            Selection { noise_columns: names(&["x=s"]).unwrap(), ..in_long(long("t", "name", "v")) },
            S("NoiseOfLong"),
            &["\"x\"", "all series"],
        ),
        (
            "long_series.csv",
            "t,name,v\n1,xx,2\n",
            Selection { outputs: names(&["xy"]), ..in_long(long("t", "name", "v")) },
            S("UnknownSeries"),
            &["column name", "\"xx\""],
        ),
        (
            "long_inputs.csv",
            "t,name,v\n1,x,2\n",
            Selection { inputs: names(&["t"]), ..in_long(long("t", "name", "v")) },
            S("InputsOfLong"),
            &["time column"],
        ),
    ];
    let folder = Folder::new();
    for (file, text, selection, kind, words) in cases {
        check(&folder, file, text.as_bytes(), &selection, kind, words);
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = Folder::new();
    let (kind, message) = refuse(&folder.path("nowhere.csv"), &Selection::default());
    assert_eq!(kind, Kind::Read("NotFound"));
    assert!(message.contains("nowhere.csv"), "{message}");
    let (kind, message) = refuse(folder.root(), &Selection::default());
    assert_eq!(kind, Kind::Read("IsDirectory"), "{message}");
}

/// Civil times and instants are not compared, in whichever order they come.
#[test]
fn a_table_has_a_zone_if_the_model_has_one() {
    let folder = Folder::new();
    let texts =
        ["t,a\n2013-02-28T01:00,2\n", "t,a\n2013-02-28T01:00+05:00,2\n", "t,a\n2013-02-28T01:00Z,2\n"];
    let tables = texts.map(|text| read(&folder.write("times.csv", text), &ReadOptions::default()).unwrap());
    for (known, is_known_zoned) in tables.iter().zip([false, true, true]) {
        let axis = select(known, &Selection::default()).unwrap().inputs[0].time.clone().unwrap();
        let selection = Selection { time_axes: vec![("t".into(), axis)], ..Selection::default() };
        for (new, is_new_zoned) in tables.iter().zip([false, true, true]) {
            match select(new, &selection) {
                Ok(_) => assert_eq!(is_known_zoned, is_new_zoned),
                Err(error) => {
                    assert!(
                        matches!(error, SelectError::OtherZone { has_zone, .. } if has_zone == is_new_zoned)
                    );
                    assert_ne!(is_known_zoned, is_new_zoned, "{error}");
                }
            }
        }
    }
}

/// A date in a note does not make a column of notes one of dates.
#[test]
fn text_with_a_date_in_it_is_left_out() {
    let folder = Folder::new();
    let path = folder.write("notes.csv", "t,note,a\n1,15/03/2013 cold,2\n2,warm,3\n3,rain,4\n");
    let frame = select(&read(&path, &ReadOptions::default()).unwrap(), &Selection::default()).unwrap();
    assert_eq!(frame.outputs, ["a"]);
}

/// Integers beyond 2^53 would lose digits. A column of them is refused unless other columns are named.
#[test]
fn integers_that_would_lose_digits_are_refused() {
    let folder = Folder::new();
    let path = folder.write("ids.csv", "t,id,a\n1,9007199254740993,2\n2,9007199254740995,3\n");
    let table = read(&path, &ReadOptions::default()).unwrap();
    let error = select(&table, &Selection::default()).unwrap_err();
    assert!(
        matches!(&error, SelectError::InvalidCell { reason: CellProblem::TooManyDigits, count: 2, .. }),
        "{error:?}"
    );
    let message = error.to_string();
    for part in ["line 2, column id", "9007199254740993", "subtract an origin", "--outputs"] {
        assert!(message.contains(part), "{message}");
    }
    let named = Selection { outputs: names(&["a"]), ..Selection::default() };
    assert_eq!(select(&table, &named).unwrap().outputs, ["a"]);
}

/// Text is refused before it fills the memory.
#[test]
fn a_text_larger_than_the_limit_is_refused() {
    let folder = Folder::new();
    let names: Vec<String> = (0..1000).map(|column| format!("y{column}")).collect();
    let row = format!("{}\n", ["1"; 1000].join(","));
    let path = folder.write("wide.csv", format!("{}\n{}", names.join(","), row.repeat(1200)));
    assert!(read(&path, &ReadOptions::default()).is_ok());
    let limited = ReadOptions { max_memory: Some(1_000_000), ..ReadOptions::default() };
    let message = read(&path, &limited).unwrap_err().to_string();
    for part in ["1.0 MB", "--max-memory"] {
        assert!(message.contains(part), "{message}");
    }
    // 1.2 million doubles, estimated from the share of the text that was read, which is ahead of the cells by one buffer.
    let needed: f64 = message.split("about ").nth(1).unwrap().split(" MB").next().unwrap().parse().unwrap();
    assert!((8.0..=9.6).contains(&needed), "{message}");
}

/// An ignored column may have invalid cells.
#[test]
fn an_invalid_cell_in_an_unused_column_is_no_error() {
    let folder = Folder::new();
    let path = folder.write("partly.csv", "t,a,b\n1,2,3\n2,cold,4\n3,5,6\n");
    let table = read(&path, &ReadOptions::default()).unwrap();
    let selection = Selection { outputs: names(&["b"]), ..Selection::default() };
    let frame = select(&table, &selection).unwrap();
    assert_eq!(frame.values, [3.0, 4.0, 6.0]);
    assert_eq!(
        frame.decision.sentences(),
        [
            "inputs: t (the first column; there is no column of times)",
            "outputs: b (named)",
            "ignored: a (not named)",
        ]
    );
}
