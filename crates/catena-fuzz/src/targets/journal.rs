//! The journal of `catena watch`: after any damage, the records read back are those written, or opening fails.

use catena_io::FileId;
use catena_io::journal::{Journal, Origin, Record};
use catena_io::model_file::Digest;

use crate::Supply;
use crate::scratch::scratch_path;

const N_INPUTS: usize = 2;

/// Odd first byte: the rest are the bytes of a journal. Even: records to write, then damage to do.
pub(super) fn run(bytes: &[u8]) {
    let Ok(model) = Digest::of_reader(b"a model".as_slice()) else { return };
    let path = scratch_path("journal");
    let mut supply = Supply::new(bytes);
    if supply.flag() {
        if std::fs::write(&path, supply.rest()).is_ok() {
            let _ = Journal::open(&path, model, N_INPUTS);
        }
    } else {
        let _ = std::fs::remove_file(&path);
        let written = write(&path, model, &mut supply);
        damage_and_read(&path, model, &written, &mut supply);
    }
    let _ = std::fs::remove_file(&path);
}

fn write(path: &std::path::Path, model: Digest, supply: &mut Supply<'_>) -> Vec<Record> {
    let mut written = vec![];
    let Ok((mut journal, replay)) = Journal::open(path, model, N_INPUTS) else { return written };
    assert!(replay.records.is_empty(), "a new journal has records");
    for _ in 0..supply.below(6) {
        let line = journal.lines().saturating_add(u64::from(supply.byte()));
        let cells = (0..supply.below(4)).map(|_| (u32::from(supply.byte()), supply.number())).collect();
        let inputs = vec![supply.number(); N_INPUTS - supply.below(20) / 19];
        let behind = supply.word() >> 8;
        let id = FileId { device: 1, file: u64::from(supply.byte()) };
        let origin = (behind > 0).then_some(Origin { id, digest: [supply.byte(); 16] });
        let key = [supply.byte(); 16];
        let key = (key != [0; 16]).then_some(key);
        let record = Record { line, behind, origin, groups: vec![], inputs, cells, key };
        if journal.append(std::slice::from_ref(&record), false).is_ok() {
            written.push(record);
        }
    }
    written
}

fn damage_and_read(path: &std::path::Path, model: Digest, written: &[Record], supply: &mut Supply<'_>) {
    let Ok(mut bytes) = std::fs::read(path) else { return };
    let is_cut = supply.flag();
    for _ in 0..supply.below(3) {
        let at = (supply.word() % (bytes.len() as u64 + 1)) as usize;
        if is_cut {
            bytes.truncate(at);
        } else if let Some(byte) = bytes.get_mut(at) {
            *byte ^= supply.byte();
        }
    }
    if std::fs::write(path, &bytes).is_err() {
        return;
    }
    // Closed before it is opened again, because of the lock.
    let opened = Journal::open(path, model, N_INPUTS).map(|(_, replay)| replay);
    match opened {
        Ok(replay) => {
            let n_read = replay.records.len();
            // As text, because NaN differs from itself.
            let text = |records: &[Record]| format!("{records:?}");
            assert!(n_read <= written.len(), "more records than were written");
            assert_eq!(text(&replay.records), text(&written[..n_read]), "other records than were written");
            // The damaged end is cut off: the next time the journal is intact.
            let again = Journal::open(path, model, N_INPUTS);
            let is_whole =
                again.is_ok_and(|(_, again)| again.n_torn_bytes == 0 && again.records.len() == n_read);
            assert!(is_whole, "opened twice, the journal differs");
        }
        // A truncated journal can be continued.
        Err(error) => assert!(!is_cut, "a truncated journal is refused: {error}"),
    }
}
