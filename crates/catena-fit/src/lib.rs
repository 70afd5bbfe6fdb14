//! One interface over catena and its rivals, so that experiments, command line and Python treat them alike.
//!
//! - [`method`]: the traits [`Method`](method::Method), [`Fitted`](method::Fitted) and
//!   [`Differentiable`](method::Differentiable).
//! - [`message_passing`]: catena on a chain or tree as a method.
//! - [`dense`]: exact, sparse and nearest-neighbor inference as methods.
//! - [`full_scale`]: low rank plus neighbors, the accurate method above one input.
//! - [`trivial`]: the predictors that every table is compared with.
//! - [`ensemble`]: several chains as one method.
//! - [`fit`]: from a table in the user's units to a fitted model in one call: choose, learn, condition, summarize.
//! - [`preparation`], [`scores`], [`normal`]: units, predictive distributions and how well they meet the truth.
//! - [`time`]: models of level, season and oscillator along a single input, and forecasts scored from many origins.
//! - [`structure_error`]: how far a structure's posterior is from a dense one, measured on neighborhoods.
//! - [`structure_report`]: everything known about a structure, as text and as JSON.

#[cfg(doctest)]
mod book;
mod carry;
mod contest;
pub mod dense;
mod distinct;
pub mod ensemble;
pub mod fit;
pub mod full_scale;
mod prepared_table;
mod joining;
mod json;
pub mod message_passing;
pub mod method;
pub mod normal;
pub mod preparation;
pub mod rows;
pub mod scores;
mod selection;
pub mod structure_error;
pub mod structure_report;
pub mod time;
pub mod trivial;
