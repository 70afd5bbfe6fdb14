//! Stacking: the answer of a fit as a pool of a few members, weighted by their densities at held-out cells.
//!
//! Members are models of the families that were compared, and regressions on other outputs with a process for the residuals.

mod exponents;
mod fitted;
mod member;
mod pool;
mod residuals;
mod rows;
mod scales;
mod seasons;
mod selection;

pub(crate) use fitted::FittedMembers;
pub use member::{Combination, Member, MemberKind, PoolComponent};
pub use residuals::ResidualProcess;
pub use rows::{RowRegression, RowRule};
pub(crate) use selection::stacked;
