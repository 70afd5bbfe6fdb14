//! Whatever bytes come, reading ends in a table or an error.

use crate::folder::Folder;
use catena_io::read::{Format, ReadOptions, read, read_pipe};
use catena_io::select::{Selection, select};
use catena_io::write::{Target, write_table};
use proptest::prelude::*;

fn try_reading(bytes: &[u8], format: Format) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    if let Ok(table) = read_pipe(bytes, &options, &mut |_, _| {}) {
        let _ = select(&table, &Selection::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for &format in Format::ALL {
            try_reading(&bytes, format);
        }
    }

    #[test]
    fn random_pieces_of_tables(pieces in prop::collection::vec(prop::sample::select(vec![
        "time", "a", ",", ";", "\t", "\n", "\r\n", "\"", "1", "-", "e", ".", "2013-03-15", "T12:00", "Z", "+01:00", "inf",
        "NA", "é", "\u{feff}", "[Europe/Berlin]", "9999-12-31T23:59:59.999999999Z", "-9", "0000-01-01", "true", " ",
        "15/03/2013", "3/4/2013", "2,5", "#", "?", "2009Q3", "20120131", "year", "month", "row", "lat", "lon",
    ]), 0..60)) {
        let text = pieces.concat();
        for format in Format::ALL.iter().copied().filter(|format| format.is_text()) {
            try_reading(text.as_bytes(), format);
        }
    }
}

/// Damage to real files reaches deeper than noise does.
#[test]
fn damaged_files() {
    let folder = Folder::new();
    let mut text = "time,a,n,label,ok\n".to_owned();
    for row in 0..300 {
        text += &format!(
            "2013-03-{:02}T00:{:02}:00Z,{}.5,{row},name{},{}\n",
            row % 28 + 1,
            row % 60,
            row,
            row % 7,
            row % 2 == 0
        );
    }
    let table = read(&folder.write("t.csv", text), &ReadOptions::default()).unwrap();
    for format in Format::ALL.iter().copied().filter(|format| format.is_written() && !format.is_text()) {
        let path = folder.path(&format!("t.{}", format.name()));
        write_table(&table, &Target::new(&path, None).unwrap()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in (0..bytes.len()).step_by(7) {
            try_reading(&bytes[..length], format);
        }
        let mut state = 1_u64;
        for _ in 0..4000 {
            let mut damaged = bytes.clone();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let position = (state >> 33) as usize % damaged.len();
            damaged[position] ^= 1 << (state >> 30 & 7);
            try_reading(&damaged, format);
        }
    }
}
