//! Finds bad cells: every observed cell against what all other cells say of it.
//!
//! `left_out` has each cell given all others in closed form, `stretches` windows of cells, `stuck` runs of equal values, `shifts`
//! outputs that move against the others. `ordinary` is the distribution of errors in the table itself, and `discovery` decides what is
//! surprising among so many questions. `search` repeats: set aside what was found, judge all cells again, learn again.

mod discovery;
mod finding;
mod left_out;
mod ordinary;
mod search;
mod series;
mod shifts;
mod stretches;
mod stuck;

pub use discovery::FALSE_DISCOVERY_RATE;
pub use finding::{BAND, Finding, FindingKind};
pub use search::{Checked, check, fit_cleaned};
