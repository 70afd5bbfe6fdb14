//! Tables and model files: the only crate of catena that knows file formats.
//!
//! In: [`read::read`] turns a CSV, TSV, Parquet or Arrow file into a [`table::Table`], and [`select::select`] turns that
//! into a [`select::Frame`] of inputs and outputs. Out: [`write::write_table`] writes a table, and
//! [`write::write_completed`] writes the table that was read with its holes filled and every other cell as it was.
//! [`model_file::Container`] is the file a model is kept in. One by one: [`stream::LineReader`] reads rows line by line, and
//! [`journal::Journal`] keeps them until the model does.
//!
//! Nothing here prints, fits or decides what a model is. Every error names the file, the line and the column, and says
//! what to do.

pub mod journal;
pub mod model_file;
pub mod read;
pub mod select;
pub mod stream;
pub mod table;
pub mod time;
pub mod units;
pub mod write;

mod place;

pub use place::{Excerpt, FileName, Place};
