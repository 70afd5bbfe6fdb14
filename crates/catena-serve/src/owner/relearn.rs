//! Learns the model again beside the service, from all acknowledged readings, and swaps it in with its journal.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use catena_fit::{Budget, Fit, FitOptions, LiveFit};
use catena_io::journal::Journal;
use catena_io::model_file::ModelLock;
use catena_store::{Model, apply, load, model_digest, next_model, save};

use super::Owner;
use super::service::Service;
use crate::error::ServeError;
use crate::readings::Readings;

/// What happens to the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameters {
    /// They stay; the journal is merged into the model file.
    Keep,
    /// They are learned again.
    Learn,
}

/// The state of learning.
#[derive(Default)]
pub(crate) struct Relearning {
    pub(super) owner: Option<Owner>,
    pub(crate) is_running: bool,
    /// Number of models that were swapped in.
    pub(crate) n_done: u64,
    /// How the last one ended.
    pub(crate) last: Option<String>,
}

/// The part of the journal that the next model has in its table.
#[derive(Debug, Clone, Copy)]
struct Folded {
    lines: u64,
    /// Where it ends in the file.
    end: u64,
}

/// A model to swap in.
struct Ready {
    live: LiveFit,
    readings: Readings,
    folded: Folded,
    next: PathBuf,
    seconds: f64,
}

impl Service {
    /// Begins to learn; `false` if that is under way.
    pub(crate) fn relearn(&mut self, parameters: Parameters) -> bool {
        let (Some(owner), false) = (self.relearning.owner.clone(), self.relearning.is_running) else {
            return false;
        };
        let (model, journal) = (self.model.clone(), self.journal.path().to_owned());
        let folded = Folded { lines: self.journal.lines(), end: self.journal.length() };
        let work = move || {
            let ready = prepare(&model, &journal, folded, parameters).map_err(|error| error.to_string());
            owner.tell(move |service| service.finish(ready));
        };
        let thread = std::thread::Builder::new().name("learning".to_owned()).spawn(work);
        self.relearning.is_running = thread.is_ok();
        thread.is_ok()
    }

    /// Swaps a model in, or says why not.
    fn finish(&mut self, ready: Result<Ready, String>) {
        self.relearning.is_running = false;
        let swapped = ready.and_then(|ready| {
            let (next, seconds) = (ready.next.clone(), ready.seconds);
            let (journal, live, readings) = self.next_journal(ready).map_err(|error| {
                // Before the journal is renamed, the next model can be forgotten.
                let _ = fs::remove_file(&next);
                error.to_string()
            })?;
            (self.journal, self.live, self.readings) = (journal, live, readings);
            self.rename_model(&next).map_err(|error| {
                let what = format!("{error}; restart the service to complete the exchange of the model");
                self.broken = Some(what.clone());
                what
            })?;
            Ok(seconds)
        });
        self.relearning.last = Some(match swapped {
            Ok(seconds) => {
                self.relearning.n_done += 1;
                self.version += 1;
                self.publish();
                format!("swapped in after {seconds:.1} s")
            }
            Err(what) => what,
        });
    }

    /// Writes the journal of the next model in place of the present one. From then on, a start takes the next model.
    fn next_journal(&self, ready: Ready) -> Result<(Journal, LiveFit, Readings), ServeError> {
        let Ready { mut live, mut readings, folded, next, .. } = ready;
        let later = self.journal.records_from(folded.end)?;
        for record in &later {
            // A row that the model refuses is refused at every start.
            if apply(&mut live, record).is_ok() {
                readings.apply(record);
            }
        }
        let path = self.journal.path().to_owned();
        let beside = next_model(&path);
        let digest = model_digest(&next)?;
        let keys = self.keys.all();
        let n_later = later.iter().filter(|record| record.key.is_some()).count();
        let old_keys = &keys[..keys.len().saturating_sub(n_later)];
        self.journal.continue_after(&beside, digest, (folded.lines, old_keys), &later)?;
        let (journal, _) = Journal::open(&beside, digest, self.about.inputs.len())?;
        Ok((journal.renamed(&path)?, live, readings))
    }

    fn rename_model(&mut self, next: &Path) -> Result<(), ServeError> {
        fs::rename(next, &self.model).map_err(ServeError::Exchange)?;
        self.lock = ModelLock::to_use(&self.model)?;
        Ok(())
    }
}

/// Makes the model with all lines of the journal, and saves it beside the present one.
fn prepare(path: &Path, journal: &Path, folded: Folded, parameters: Parameters) -> Result<Ready, ServeError> {
    let began = Instant::now();
    let file = || catena_io::FileName::from(path);
    let not_live = |cause| ServeError::Live { file: file(), cause };
    let not_fit =
        |cause| ServeError::Store(catena_store::StoreError::Fit { file: file(), cause: Box::new(cause) });
    let Model { fit, about } = load(path)?;
    let mut live = LiveFit::new(&fit).map_err(not_live)?;
    for record in &Journal::records_before(journal, folded.end, about.inputs.len())? {
        // A row that the model refuses is refused at every start.
        let _ = apply(&mut live, record);
    }
    let with_all: Fit = live.to_fit(&fit).map_err(not_fit)?;
    drop((live, fit));
    let learned = match parameters {
        Parameters::Keep => with_all,
        Parameters::Learn => {
            let length_text = about.length_writer();
            let options = FitOptions { budget: Budget::Default, length_text, ..FitOptions::default() };
            with_all.learned_again(&options, &|_| ControlFlow::Continue(())).map_err(not_fit)?
        }
    };
    let next = next_model(path);
    save(&learned, &about, &next)?;
    let mut live = LiveFit::new(&learned).map_err(not_live)?;
    live.refresh();
    let readings = Readings::of(&learned);
    Ok(Ready { live, readings, folded, next, seconds: began.elapsed().as_secs_f64() })
}
