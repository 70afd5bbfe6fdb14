//! A fit with the names of its table: kept in a file, shown on a page. The command line and Python share it, so that each
//! opens what the other wrote.
//!
//! - `about`: what is remembered of a table beside its numbers.
//! - `file`: [`save`], [`load`], and the same as bytes.
//! - `page`: [`page`], one self-contained web page.
//! - `parameters`: [`Parameters`], what was learned as a JSON text, to be given to another fit.
//! - `length`: lengths along an input as a person writes them.

mod about;
mod error;
mod file;
mod length;
mod page;
mod parameters;

pub use about::About;
pub use error::StoreError;
pub use file::{Model, data_digest, from_bytes, load, load_parts, save, to_bytes};
pub use length::length_text;
pub use page::page;
pub use parameters::{ParameterError, Parameters};
