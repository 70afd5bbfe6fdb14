//! The square-root form: conditionals of segments, the sweep over any tree, and a chain swept in little memory.

mod algebra;
mod chain;
mod conditional;
mod model;
mod operations;
mod rows;
mod sweep;

pub(crate) use algebra::Algebra;
pub(super) use chain::{Meets, SquareRootChain};
pub(crate) use conditional::{Conditional, Parts};
pub(crate) use model::{SquareRootModel, StepAt};
pub(crate) use rows::InformationRows;
pub(super) use sweep::SquareRootSweep;
