//! Journals that were cut off or changed at any byte: whole records come back, and nothing else.

use super::*;
use crate::place::FileId;
use std::path::PathBuf;

fn digest(seed: u64) -> Digest {
    let array = crate::model_file::Array::from_u64(vec![seed]);
    Digest::of_arrays([("seed", &array)])
}

fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("catena-journal-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn record(line: u64) -> Record {
    let cells = (0..line % 3).map(|output| (output as u32, 0.5 * line as f64 + output as f64)).collect();
    let origin = Origin { id: FileId { device: 7, file: line }, digest: [line as u8; 16] };
    let groups =
        ["", "ward 7", "Ålesund"][..(line % 4) as usize % 3].iter().map(|name| (*name).to_owned()).collect();
    Record {
        line,
        behind: 20 * line,
        origin: Some(origin),
        groups,
        inputs: vec![line as f64, -1.5],
        cells,
        key: key(line),
    }
}

/// A key of every second record.
fn key(line: u64) -> Option<RequestKey> {
    line.is_multiple_of(2).then_some([line as u8; 16])
}

fn beginning() -> Beginning {
    Beginning { model: digest(1), lines: 0, behind: 0, origin: None, version: Version::Three }
}

/// The bytes of a journal, and where each of its records ends.
fn small() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = beginning().to_bytes();
    let mut ends = vec![bytes.len()];
    for line in [1, 2, 5, 6] {
        record(line).push_to(&mut bytes, Version::Three);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

#[test]
fn appended_records_are_read_again() {
    let path = path("again");
    let (mut journal, replay) = Journal::open(&path, digest(1), 2).unwrap();
    assert_eq!(replay, Replay::default());
    journal.append(&[record(1), record(2)], false).unwrap();
    journal.append(&[], true).unwrap();
    journal.append(&[record(5)], true).unwrap();
    assert!(matches!(journal.append(&[record(5)], false), Err(JournalError::OutOfOrder { line: 5, .. })));
    assert!(matches!(Journal::open(&path, digest(1), 2), Err(JournalError::InUse { .. })));
    drop(journal);
    assert!(matches!(Journal::open(&path, digest(2), 2), Err(JournalError::OtherModel { .. })));
    let (mut journal, replay) = Journal::open(&path, digest(1), 2).unwrap();
    assert_eq!(replay.records, [1, 2, 5].map(record));
    assert_eq!((journal.lines(), journal.behind(), replay.n_torn_bytes), (5, 100, 0));
    assert_eq!(journal.origin(), record(5).origin);
    journal.append(&[record(6)], false).unwrap();
    drop(journal);
    assert_eq!(std::fs::read(&path).unwrap(), small().0);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn records_are_found_without_their_model() {
    let path = path("seen");
    assert!(!Journal::has_records(&path).unwrap());
    let (mut journal, _) = Journal::open(&path, digest(1), 2).unwrap();
    assert!(matches!(Journal::has_records(&path), Err(JournalError::InUse { .. })));
    drop(journal);
    assert!(!Journal::has_records(&path).unwrap());
    (journal, _) = Journal::open(&path, digest(1), 2).unwrap();
    journal.append(&[record(1)], false).unwrap();
    drop(journal);
    assert!(Journal::has_records(&path).unwrap());
    std::fs::write(&path, "a note").unwrap();
    assert!(!Journal::has_records(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_journal_may_begin_behind_lines_that_the_model_has() {
    let (old, new) = (path("old"), path("behind"));
    let (mut journal, _) = Journal::open(&old, digest(1), 2).unwrap();
    journal.append(&[record(40)], false).unwrap();
    journal.continue_at(&new, digest(3)).unwrap();
    let (journal, replay) = Journal::open(&new, digest(3), 2).unwrap();
    assert_eq!((journal.lines(), journal.behind(), replay.records.len()), (40, 800, 0));
    assert_eq!(journal.origin(), record(40).origin);
    std::fs::remove_file(&old).unwrap();
    std::fs::remove_file(&new).unwrap();
}

#[test]
fn version_1_is_read_and_continued() {
    let path = path("first_version");
    let begins = Beginning { version: Version::One, ..beginning() };
    let mut bytes = begins.to_bytes();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.starts_with("catena-journal 1\n") && text.contains("\nbegins 0 0 "), "{text}");
    [1, 2].into_iter().for_each(|line| record(line).push_to(&mut bytes, Version::One));
    std::fs::write(&path, &bytes).unwrap();
    let (mut journal, replay) = Journal::open(&path, digest(1), 2).unwrap();
    let plain = |line: u64| Record { origin: None, groups: vec![], key: None, ..record(line) };
    assert_eq!(replay.records, [1, 2].map(plain));
    journal.append(&[record(3)], false).unwrap();
    assert_eq!(journal.origin(), None);
    drop(journal);
    let (_, replay) = Journal::open(&path, digest(1), 2).unwrap();
    assert_eq!(replay.records, [1, 2, 3].map(plain));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn version_2_is_read_and_continued_without_keys() {
    let path = path("second_version");
    let mut bytes = Beginning { version: Version::Two, ..beginning() }.to_bytes();
    [1, 2].into_iter().for_each(|line| record(line).push_to(&mut bytes, Version::Two));
    std::fs::write(&path, &bytes).unwrap();
    let (mut journal, replay) = Journal::open(&path, digest(1), 2).unwrap();
    let plain = |line: u64| Record { groups: vec![], key: None, ..record(line) };
    assert_eq!(replay.records, [1, 2].map(plain));
    assert!(!journal.keeps_keys());
    journal.append(&[record(4)], false).unwrap();
    drop(journal);
    let (_, replay) = Journal::open(&path, digest(1), 2).unwrap();
    assert_eq!(replay.records, [1, 2, 4].map(plain));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_journal_is_continued_in_the_middle_with_its_keys() {
    let (old, new) = (path("middle"), path("after_middle"));
    let (mut journal, _) = Journal::open(&old, digest(1), 2).unwrap();
    journal.append(&[1, 2].map(record), true).unwrap();
    let middle = journal.length();
    journal.append(&[5, 6].map(record), true).unwrap();
    assert_eq!(Journal::records_before(&old, middle, 2).unwrap(), [1, 2].map(record));
    let later = journal.records_from(middle).unwrap();
    assert_eq!(later, [5, 6].map(record));
    journal.continue_after(&new, digest(3), (2, &[[8; 16], [9; 16], [2; 16]]), &later).unwrap();
    journal.append(&[record(7)], true).unwrap();
    assert_eq!(journal.records_from(middle).unwrap(), [5, 6, 7].map(record));
    assert_eq!(Journal::model_of(&new).unwrap(), Some(digest(3)));
    let (journal, replay) = Journal::open(&new, digest(3), 2).unwrap();
    assert!(journal.keeps_keys());
    // Two lines have room for two keys: the last ones.
    let keys: Vec<_> = replay.records.iter().filter_map(|record| record.key).collect();
    assert_eq!(keys, [[9; 16], [2; 16], [6; 16]]);
    assert_eq!(replay.records[2..], [5, 6].map(record));
    std::fs::remove_file(&old).unwrap();
    std::fs::remove_file(&new).unwrap();
}

#[test]
fn cut_at_any_byte_only_whole_records_are_read() {
    let (bytes, ends) = small();
    let path = path("cut");
    for length in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let (mut journal, replay) = Journal::open(&path, digest(1), 2).unwrap();
        let n_whole = ends[1..].iter().filter(|end| **end <= length).count();
        assert_eq!(replay.records, [1, 2, 5, 6].map(record)[..n_whole], "cut at {length}");
        let whole = ends.iter().rev().find(|end| **end <= length);
        let n_torn = whole.map_or(0, |whole| length - whole);
        assert_eq!(replay.n_torn_bytes as usize, n_torn, "cut at {length}");
        assert!(!replay.is_damaged, "cut at {length}");
        // Appending continues from there.
        journal.append(&[record(9)], false).unwrap();
        drop(journal);
        let (_, replay) = Journal::open(&path, digest(1), 2).unwrap();
        assert_eq!((replay.records.len(), replay.n_torn_bytes), (n_whole + 1, 0), "cut at {length}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_changed_byte_is_detected() {
    let (bytes, ends) = small();
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            match read(&bytes, 2) {
                Err(Unreadable::Beginning(_)) => assert!(at < ends[0], "byte {at}"),
                // In a record before others: an error, never skipped.
                Err(Unreadable::Damaged { n_whole, .. }) => {
                    assert_eq!(n_whole, ends[1..].iter().filter(|end| **end <= at).count(), "byte {at}");
                    assert!(at < ends[3], "byte {at}");
                }
                // In the last record: removed, but not taken for one that was never finished.
                Ok(found) => {
                    assert!(found.is_damaged, "byte {at}");
                    assert!(at >= ends[3], "byte {at}");
                    assert_eq!(found.records, [1, 2, 5].map(record), "byte {at}");
                }
            }
        }
    }
}

#[test]
fn other_files_are_left_alone() {
    let path = path("other");
    std::fs::write(&path, "time,temp\n1,2\n").unwrap();
    assert!(matches!(Journal::open(&path, digest(1), 2), Err(JournalError::NotAJournal { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"time,temp\n1,2\n");
    let text = String::from_utf8(beginning().to_bytes()).unwrap();
    std::fs::write(&path, text.replace("journal 3", "journal 7")).unwrap();
    assert!(matches!(Journal::open(&path, digest(1), 2), Err(JournalError::Newer { version: 7, .. })));
    std::fs::remove_file(&path).unwrap();
}
