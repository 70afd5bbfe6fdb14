//! Tables and model files: the only crate of catena that knows file formats.
//!
//! - [`read::read`] reads a CSV, TSV, Parquet or Arrow file or a spreadsheet into a [`table::Table`]; [`select::select`] lays out its inputs and
//!   outputs as a [`select::Frame`].
//! - [`write::write_table`] writes a table; [`write::write_completed`] writes the table that was read with its missing cells filled
//!   and every other cell unchanged.
//! - [`model_file::Container`] is the container of model files.
//! - [`stream::LineReader`] reads rows line by line; [`journal::Journal`] stores them until the model file is rewritten.
//!
//! Nothing here prints, fits or knows a model. Errors name the file, the line and the column, and say what to do.

mod format;
pub mod journal;
pub mod memory;
pub mod model_file;
mod packing;
pub mod read;
pub mod select;
pub mod stream;
pub mod table;
pub mod time;
pub mod units;
pub mod write;

mod place;

pub use place::{Excerpt, FileId, FileName, Place};
