//! Stored results: one small file per (study, cell, seed), written when its computation is finished.
//!
//! An interrupted run continues with the computations that have no file. A record of another version of the program is
//! computed again, because results of two versions must not be averaged.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use catena_io::write::{TargetFile, WriteError};
use serde::{Deserialize, Serialize};

use crate::error::ExperimentError;

/// The key of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The study's name on the command line.
    pub(crate) study: &'static str,
    /// The cell, with every setting that its numbers depend on.
    pub(crate) cell: String,
    /// The seed.
    pub(crate) seed: u32,
}

/// The numbers of one computation, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    numbers: BTreeMap<String, f64>,
}

impl Record {
    pub(crate) fn put(&mut self, name: impl Into<String>, number: f64) {
        self.numbers.insert(name.into(), number);
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// The first number that is not finite.
    fn flaw(&self) -> Option<&str> {
        self.numbers.iter().find(|(_, number)| !number.is_finite()).map(|(name, _)| name.as_str())
    }
}

/// A record in its file.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: String,
    #[serde(flatten)]
    record: Record,
}

/// The folder of all records.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
}

/// Numbers of another protocol are not comparable. The second part counts changes of what a cell of the same name computes: 2 sums
/// electricity columns as the authors did and repeats short runs before they are timed; 3 draws the data and the starts of the study
/// on chain starts as the authors did.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/3");

impl Ledger {
    /// The ledger in a folder of results.
    pub(crate) fn new(results: &Path) -> Self {
        Self { folder: results.join("cells") }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.study).join(&key.cell).join(format!("seed-{:03}.json", key.seed))
    }

    /// The record of a computation by this version; `None` if it has not run yet.
    pub(crate) fn find(&self, key: &Key) -> Result<Option<Record>, ExperimentError> {
        let path = self.path(key);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ExperimentError::Folder { path, source }),
        };
        let kept: Kept = serde_json::from_str(&text)
            .map_err(|error| ExperimentError::Damaged { path, cause: error.to_string() })?;
        Ok((kept.version == VERSION).then_some(kept.record))
    }

    /// Stores a record.
    pub(crate) fn keep(&self, key: &Key, record: &Record) -> Result<(), ExperimentError> {
        if let Some(name) = record.flaw() {
            let (cell, name) = (format!("{} {}", key.study, key.cell), name.to_owned());
            return Err(ExperimentError::NotFinite { cell, seed: key.seed, name });
        }
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(folder)
            .map_err(|source| ExperimentError::Folder { path: folder.to_owned(), source })?;
        let kept = Kept { version: VERSION.to_owned(), record: record.clone() };
        let text = serde_json::to_string(&kept)
            .map_err(|error| ExperimentError::Damaged { path: path.clone(), cause: error.to_string() })?;
        write_whole(&path, text.as_bytes())
    }

    /// All records of a cell, by seed from 0 on, up to the first that is missing.
    pub(crate) fn seeds(&self, study: &'static str, cell: &str) -> Result<Vec<Record>, ExperimentError> {
        let mut records = vec![];
        while let Some(record) =
            self.find(&Key { study, cell: cell.to_owned(), seed: records.len() as u32 })?
        {
            records.push(record);
        }
        Ok(records)
    }
}

/// One number of every record, if all have it.
pub(crate) fn column(records: &[Record], name: &str) -> Option<Vec<f64>> {
    if records.is_empty() {
        return None;
    }
    records.iter().map(|record| record.get(name)).collect()
}

/// Writes a file completely or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ExperimentError> {
    let mut file = TargetFile::create_path(path)?;
    let failed = |source| WriteError::Io { file: catena_io::FileName::from(path), source };
    file.write_all(bytes).map_err(failed)?;
    Ok(file.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("catena-ledger-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    fn key(seed: u32) -> Key {
        Key { study: "sensor", cell: "M2".to_owned(), seed }
    }

    #[test]
    fn what_is_kept_is_found_to_the_bit_and_seeds_end_at_the_first_gap() {
        let folder = folder("kept");
        let ledger = Ledger::new(&folder);
        let mut record = Record::default();
        record.put("ss.rmse", 0.1 + 0.2);
        for seed in [0, 1, 3] {
            ledger.keep(&key(seed), &record).unwrap();
        }
        assert_eq!(ledger.find(&key(3)).unwrap(), Some(record));
        assert_eq!(ledger.find(&key(2)).unwrap(), None);
        assert_eq!(ledger.seeds("sensor", "M2").unwrap().len(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn another_version_counts_as_missing_and_nonsense_as_damage() {
        let folder = folder("versions");
        let ledger = Ledger::new(&folder);
        ledger.keep(&key(0), &Record::default()).unwrap();
        let path = ledger.path(&key(0));
        std::fs::write(&path, r#"{"version":"0.0.0","numbers":{}}"#).unwrap();
        assert_eq!(ledger.find(&key(0)).unwrap(), None);
        std::fs::write(&path, "{").unwrap();
        assert!(matches!(ledger.find(&key(0)), Err(ExperimentError::Damaged { .. })));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_number_that_is_not_finite_is_named_and_not_kept() {
        let folder = folder("flaw");
        let ledger = Ledger::new(&folder);
        let mut record = Record::default();
        record.put("ss.rmse", f64::NAN);
        let error = ledger.keep(&key(0), &record).unwrap_err();
        assert_eq!(error.to_string(), "sensor M2, seed 0: ss.rmse is not a finite number");
        assert_eq!(ledger.find(&key(0)).unwrap(), None);
    }
}
