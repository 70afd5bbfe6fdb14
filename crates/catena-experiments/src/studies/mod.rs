//! One file per study: its jobs, and what its numbers say.

mod beyond;
mod bounds;
mod cells;
mod complexity;
mod ett;
mod ett_time;
mod sensor;
mod start;

use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::job::Job;
use crate::ledger::Ledger;
use crate::settings::{Context, Extent, StudyName};

/// What a study has to compute.
///
/// # Errors
/// When it needs the electricity table and there is none.
pub(crate) fn jobs<'a>(study: StudyName, context: &'a Context) -> Result<Vec<Job<'a>>, ExperimentError> {
    match study {
        StudyName::Sensor => Ok(sensor::jobs(context)),
        StudyName::Ett => ett::jobs(context),
        StudyName::EttTime => ett_time::jobs(context),
        StudyName::Start => Ok(start::jobs(context)),
        StudyName::Bounds => Ok(bounds::jobs(context)),
        StudyName::Complexity => Ok(complexity::jobs(context)),
        StudyName::Beyond => Ok(beyond::jobs(context)),
    }
}

/// The chapter of a study; `None` if none of its cells is computed.
pub(crate) fn chapter(
    study: StudyName,
    ledger: &Ledger,
    extent: Extent,
) -> Result<Option<Chapter>, ExperimentError> {
    match study {
        StudyName::Sensor => sensor::chapter(ledger, extent),
        StudyName::Ett => ett::chapter(ledger, extent),
        StudyName::EttTime => ett_time::chapter(ledger, extent),
        StudyName::Start => start::chapter(ledger, extent),
        StudyName::Bounds => bounds::chapter(ledger, extent),
        StudyName::Complexity => complexity::chapter(ledger, extent),
        StudyName::Beyond => beyond::chapter(ledger, extent),
    }
}
