//! A table survives every format: values to the bit, missing cells, instants and their style.

use crate::folder::Folder;
use catena_io::read::{Format, ReadOptions, read, read_pipe};
use catena_io::table::{Column, ColumnData, Table, TextColumn, TimeColumn};
use catena_io::time::{Instant, OffsetForm, TimeShape, TimeStyle, ZoneStyle};
use catena_io::write::{Target, write_table};
use proptest::prelude::*;

fn styles() -> impl Strategy<Value = TimeStyle> {
    let zones = vec![
        ZoneStyle::Naive,
        ZoneStyle::Utc,
        ZoneStyle::Offset { seconds: 19_800, form: OffsetForm::Colon },
        ZoneStyle::Offset { seconds: -3600, form: OffsetForm::Hours },
        ZoneStyle::Offset { seconds: 7200, form: OffsetForm::Plain },
        ZoneStyle::Named { name: "America/New_York".into(), has_offset: true },
    ];
    let shapes = vec![TimeShape::Minute, TimeShape::Second];
    let separators = vec!['T', ' '];
    (prop::sample::select(zones), prop::sample::select(shapes), prop::sample::select(separators), 0_u8..4)
        .prop_map(|(zone, shape, separator, fraction_digits)| TimeStyle {
            shape,
            separator,
            fraction_digits,
            zone,
            ..TimeStyle::default()
        })
}

/// Instants of the last and next centuries, some to the nanosecond.
fn instants() -> impl Strategy<Value = Vec<Option<Instant>>> {
    let seconds = -3_000_000_000_i128..4_000_000_000;
    let rest = prop_oneof![Just(0_i128), 0_i128..1_000_000_000, (0_i128..1000).prop_map(|ms| ms * 1_000_000)];
    let instant =
        (seconds, rest).prop_map(|(seconds, rest)| Instant::from_nanoseconds(1_000_000_000 * seconds + rest));
    prop::collection::vec(prop::option::weighted(0.8, instant), 12)
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![
        4 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
        2 => (-1000_i32..1000).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => Just(-0.0),
        1 => Just(0.1),
    ];
    prop::collection::vec(number, 12)
}

fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    // Each begins with a letter that excludes a number, a word for a missing cell or a truth value.
    let text = "#[ -~é\n]{0,6}#";
    prop::collection::vec(prop::option::weighted(0.8, text), 12)
}

prop_compose! {
    fn tables()(instants in instants(), style in styles(), first in numbers(), second in numbers(), texts in texts())
        -> Table
    {
        let texts: TextColumn = texts.iter().map(Option::as_deref).collect();
        Table::new(vec![
            Column::new("time, \"UTC\"", ColumnData::Time(TimeColumn::new(instants, style))),
            Column::numbers("a", first),
            Column::new("label", ColumnData::Text(texts)),
            Column::numbers("b b", second),
        ])
    }
}

fn has_values(table: &Table) -> bool {
    // A column without values has no kind.
    table.columns().iter().all(|column| (0..table.n_rows()).any(|row| !column.data().is_missing(row)))
}

fn assert_same(left: &Table, right: &Table) {
    assert_eq!(left.n_rows(), right.n_rows());
    for (left, right) in left.columns().iter().zip(right.columns()) {
        assert_eq!((left.name(), left.data()), (right.name(), right.data()));
        if let (ColumnData::Time(left), ColumnData::Time(right)) = (left.data(), right.data()) {
            for row in 0..left.len() {
                assert_eq!(left.print(row), right.print(row));
            }
        }
    }
    assert_eq!(left.columns().len(), right.columns().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn every_format_gives_the_same_table(table in tables().prop_filter("values", has_values)) {
        let folder = Folder::new();
        let pass = |table: &Table, name: &str| {
            let path = folder.path(name);
            write_table(table, &Target::new(&path, None).unwrap()).unwrap();
            read(&path, &ReadOptions::default()).unwrap()
        };
        let first = pass(&table, "0.csv");
        for (left, right) in first.columns().iter().zip(table.columns()) {
            prop_assert_eq!((left.name(), left.data()), (right.name(), right.data()));
        }
        // Times of several shapes in one column take the longest when they are written anew; from then on they stay.
        let mut last = first.clone();
        for name in ["1.csv", "2.parquet", "3.arrow", "4.tsv", "5.parquet", "6.feather", "7.csv"] {
            last = pass(&last, name);
            assert_same(&last, &first);
        }
        // The first and the last text are the same to the byte, whatever lies between them.
        prop_assert_eq!(std::fs::read(folder.path("1.csv")).unwrap(), std::fs::read(folder.path("7.csv")).unwrap());
    }
}

#[test]
fn pipes_carry_every_format() {
    let folder = Folder::new();
    let text = "time,a\n2013-01-01T00:00Z,1.5\n2013-01-01T01:00Z,\n";
    let path = folder.write("t.csv", text);
    let table = read(&path, &ReadOptions::default()).unwrap();
    for format in Format::ALL.iter().copied().filter(|format| format.is_written()) {
        let name = format!("p.{}", format.name());
        let path = folder.path(&name);
        write_table(&table, &Target::new(&path, None).unwrap()).unwrap();
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let mut n_bytes = 0;
        let piped = read_pipe(std::fs::File::open(&path).unwrap(), &options, &mut |count, _| n_bytes = count)
            .unwrap();
        assert_same(&piped, &table);
        assert_eq!(n_bytes, std::fs::metadata(&path).unwrap().len(), "{name}: progress ends at the end");
    }
}

#[test]
fn integers_and_dates_keep_their_kind() {
    let folder = Folder::new();
    let text =
        "day,count,big,yes,month\n2013-03-15,3,9007199254740993,true,2013-03\n2013-03-16,,1,false,2013-04\n";
    let mut table = read(&folder.write("t.csv", text), &ReadOptions::default()).unwrap();
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.path(name);
        write_table(&table, &Target::new(&path, None).unwrap()).unwrap();
        table = read(&path, &ReadOptions::default()).unwrap();
    }
    let path = folder.path("back.csv");
    write_table(&table, &Target::new(&path, None).unwrap()).unwrap();
    // Whole numbers that a double does not hold are names and keep their digits.
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}
