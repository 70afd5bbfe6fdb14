//! Saves, loads and reports fits. The command line and Python share it, so each opens files of the other.
//!
//! - `about`: names and time axes of the table of a fit.
//! - `file`: [`save`] and [`load`], to a file or to bytes.
//! - `parameters`: [`Parameters`], the learned parameters as JSON text.
//! - `report`: a self-contained HTML page from plain numbers; `fit_report`: [`page`], the page of a fit.
//! - `group_report`: the charts of groups on that page; `predicted`: means and bands of a chart.
//! - `replay`: [`apply`], records of a journal on a live fit.
//! - `rolling`: [`rolling_scores`], forecasts from many origins, scored along the calendar of a table.
//! - `length`: lengths along an input as text; `validation`: the ranges of all numbers of a file.

mod about;
mod error;
mod file;
mod fit_report;
mod group_report;
mod length;
mod members;
mod parameters;
mod predicted;
mod replay;
pub mod report;
mod rolling;
mod validation;

pub use about::{About, GroupNames};
pub use error::StoreError;
pub use file::{Model, data_digest, from_bytes, load, load_parts, save, save_under, to_bytes};
pub use fit_report::{axis, page};
pub use length::LengthUnit;
pub use parameters::{ParameterError, Parameters};
pub use replay::{apply, finish_exchange, model_digest, next_model};
pub use rolling::{RollingError, RollingOptions, RollingScores, rolling_scores};
