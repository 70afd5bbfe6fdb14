//! Readings on their way into the journal and the posterior: planned, journaled, applied.

use std::io::ErrorKind;

use catena::index::OutputIndex;
use catena_fit::LiveFitError;
use catena_io::journal::{JournalError, Record, RequestKey};
use catena_store::apply;

use super::keys::Seen;
use super::service::Service;

/// Values at one input.
#[derive(Debug, Clone)]
pub(crate) struct WriteRow {
    pub(crate) inputs: Vec<f64>,
    /// Outputs with their values, ascending; NaN removes a value.
    pub(crate) cells: Vec<(u32, f64)>,
}

/// A request that changes the table: all of its rows or none.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) rows: Vec<WriteRow>,
    pub(crate) key: Option<RequestKey>,
}

/// The acknowledgment of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Written {
    pub(crate) n_rows: usize,
    /// The last line of the journal.
    pub(crate) line: u64,
    /// Whether its key had been seen, so that nothing changed.
    pub(crate) is_repeated: bool,
    pub(crate) version: u64,
}

/// The reason why nothing of a request was taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// A row that the model does not take, counted from 0.
    Row { row: usize, output: Option<usize>, what: String },
    /// The key belongs to a request with another body.
    KeyOfOther,
    /// The journal cannot be written.
    Disk(String),
}

/// What becomes of a request.
pub(super) enum Plan {
    Refused(Refusal),
    Repeated,
    Records { n_records: usize, key: Option<RequestKey> },
}

/// Plans by request, and the records of all.
pub(super) struct Planned {
    plans: Vec<Plan>,
    records: Vec<Record>,
}

/// A request whose records, if any, are in the journal.
pub(super) enum Outcome {
    Refused(Refusal),
    Repeated,
    Journaled,
}

impl Service {
    /// Checks requests; the records of those that can be taken follow each other in the journal.
    pub(super) fn plan<'a>(&mut self, writes: impl Iterator<Item = &'a Write>) -> Planned {
        let (mut plans, mut records): (Vec<Plan>, Vec<Record>) = (vec![], vec![]);
        let mut line = self.journal.lines();
        for write in writes {
            let seen = write.key.map_or(Seen::New, |key| self.keys.seen(&key));
            let plan = match (seen, self.first_refused(write)) {
                (Seen::Before, _) => Plan::Repeated,
                (Seen::Other, _) => Plan::Refused(Refusal::KeyOfOther),
                (Seen::New, Some(refusal)) => Plan::Refused(refusal),
                (Seen::New, None) => {
                    let before = records.len();
                    for row in write.rows.iter().filter(|row| !row.cells.is_empty()) {
                        line += 1;
                        let (inputs, cells) = (row.inputs.clone(), row.cells.clone());
                        records.push(Record {
                            line,
                            behind: 0,
                            origin: None,
                            groups: vec![],
                            inputs,
                            cells,
                            key: None,
                        });
                    }
                    let n_records = records.len() - before;
                    // The key on the last record: a request that was cut short by a kill is not known by it.
                    if let Some(last) = records[before..].last_mut() {
                        last.key = write.key;
                    }
                    // Known from here on, for the same request later in this batch.
                    if let Some(key) = write.key.filter(|_| n_records > 0) {
                        self.keys.add(key);
                    }
                    Plan::Records { n_records, key: write.key }
                }
            };
            plans.push(plan);
        }
        Planned { plans, records }
    }

    /// Writes the records of all requests and flushes them to disk.
    pub(super) fn journal(&mut self, planned: Planned) -> Vec<Outcome> {
        let Planned { plans, records } = planned;
        let written = match &self.broken {
            Some(what) if !records.is_empty() => Err(what.clone()),
            _ => self.journal.append(&records, true).map_err(|error| {
                // After a failed flush nobody knows what is on the disk; a full disk is said before anything is flushed.
                if !is_full(&error) {
                    self.broken = Some(format!("{error}; restart the service when the disk works again"));
                }
                error.to_string()
            }),
        };
        self.metrics.journal_lines.set(self.journal.lines());
        let outcome = |plan: Plan| match (plan, &written) {
            (Plan::Refused(refusal), _) => Outcome::Refused(refusal),
            (Plan::Records { n_records: 0, .. }, _) => Outcome::Journaled,
            (Plan::Repeated, Ok(())) => Outcome::Repeated,
            (Plan::Records { .. }, Ok(())) => Outcome::Journaled,
            // The request that it repeats may be in this batch.
            (Plan::Repeated, Err(what)) => Outcome::Refused(Refusal::Disk(what.clone())),
            (Plan::Records { key, .. }, Err(what)) => {
                if let Some(key) = key {
                    self.keys.forget(&key);
                }
                Outcome::Refused(Refusal::Disk(what.clone()))
            }
        };
        plans.into_iter().map(outcome).collect()
    }

    /// Applies a request to the posterior.
    pub(super) fn apply(&mut self, write: &Write, outcome: Outcome) -> Result<Written, Refusal> {
        let is_repeated = match outcome {
            Outcome::Refused(refusal) => {
                self.metrics.refused.add(write.rows.len() as u64);
                return Err(refusal);
            }
            Outcome::Repeated => true,
            Outcome::Journaled => false,
        };
        for (number, row) in
            write.rows.iter().enumerate().filter(|(_, row)| !is_repeated && !row.cells.is_empty())
        {
            let (inputs, cells) = (row.inputs.clone(), row.cells.clone());
            let record =
                Record { line: 0, behind: 0, origin: None, groups: vec![], inputs, cells, key: None };
            // Only structures that take no new point refuse a row that was checked; a restart refuses it again.
            apply(&mut self.live, &record).map_err(|error| refused(number, &error))?;
            self.readings.apply(&record);
            self.surprises.add(&record);
            self.metrics.readings.add(record.cells.len() as u64);
            self.version += 1;
        }
        let (line, version) = (self.journal.lines(), self.version);
        Ok(Written { n_rows: write.rows.len(), line, is_repeated, version })
    }

    fn first_refused(&self, write: &Write) -> Option<Refusal> {
        let check = |(number, row): (usize, &WriteRow)| {
            let set = row.cells.iter().filter(|(_, value)| !value.is_nan());
            let set: Vec<_> =
                set.map(|&(output, value)| (OutputIndex::new(output as usize), value)).collect();
            self.live.check_row(&row.inputs, &set).err().map(|error| refused(number, &error))
        };
        write.rows.iter().enumerate().find_map(check)
    }
}

fn refused(row: usize, error: &LiveFitError) -> Refusal {
    let output = match error {
        LiveFitError::Value { output, .. } => Some(output.get()),
        _ => None,
    };
    Refusal::Row { row, output, what: error.to_string() }
}

/// Whether nothing was written because there is no room: the journal is as it was.
fn is_full(error: &JournalError) -> bool {
    let JournalError::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded)
}
