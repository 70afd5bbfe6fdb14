//! Stacking: the answer of a fit as a mixture of a few members, weighted by their densities at held-out cells.
//!
//! Members are models of the families that were compared, and regressions on the other outputs of a row with a process for the
//! residuals.

mod fitted;
mod member;
mod rows;
mod selection;
mod weights;

pub(crate) use fitted::FittedMembers;
pub use member::{Member, MemberKind};
pub use rows::{ResidualProcess, RowRegression, RowRule};
pub(crate) use selection::stacked;
