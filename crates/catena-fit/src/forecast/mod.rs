//! Forecasts: models chosen and checked on origins inside the table, and scores of forecasts of later rows.
//!
//! - [`fit_ahead`]: a fit whose model, transforms and pool were chosen on forecasts of known rows.
//! - [`fit_known`]: the same with columns that are known ahead.
//! - [`rolling`]: a given fit scored from many origins.

mod candidates;
mod choice;
mod compared;
mod concluded;
mod known;
mod origins;
mod rolling;
mod rules;
mod setting;

pub use choice::fit_ahead;
pub use known::{Effect, KnownColumns, KnownFit, KnownScore, fit_known};
pub use rolling::{Horizon, Rolling, Shifts, Targets, rolling, rolling_with};
