//! Chain segments: a stretch of positions as one Gaussian element, composable and associative.
//!
//! An element is everything that the rest of a chain needs to know of a stretch: how its last state follows from the state
//! before it, and what its cells say about that state. [`element`] has the mathematics.

mod algebra;
mod bytes;
mod element;
mod fold;
mod scan;
mod summary;

pub(crate) use element::{Element, OwnedRows};
pub(crate) use fold::{Fold, StepAt};
pub use scan::{Surroundings, surroundings};
pub use summary::{Begins, SegmentError, Summary};
