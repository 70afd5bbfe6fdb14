//! Summaries of chain segments, which can leave the process that made them.

mod bytes;
mod scan;
mod segment;

pub use scan::{Surroundings, surroundings};
pub use segment::{Begins, SegmentError, Summary};
