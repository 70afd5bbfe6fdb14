//! Chain segments: a segment of positions as one Gaussian element, composable and associative.
//!
//! An element is everything that the rest of a chain needs to know of a segment: how its last state follows from the state
//! before it, and what its cells say about that state. [`element`] has the mathematics.

mod algebra;
mod bytes;
mod element;
mod fold;
mod scan;
mod summary;

pub(crate) use element::{Element, InformationRows};
pub(crate) use fold::{SquareRootModel, StepAt};
pub use scan::{Surroundings, surroundings};
pub use summary::{Begins, SegmentError, Summary};
