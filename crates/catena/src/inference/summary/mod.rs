//! Summaries of chain segments, which can leave the process that made them.

mod bytes;
mod error;
mod scan;
mod segment;

pub use error::SegmentError;
pub use scan::{Surroundings, surroundings};
pub use segment::{Begins, Summary};
