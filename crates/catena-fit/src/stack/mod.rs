//! Stacking: the answer of a fit as a pool of a few members, weighted by their densities at held-out cells.
//!
//! Members are models of the families that were compared, regressions on other outputs with a process for the residuals, and for
//! forecasts time models and simple rules.

mod ahead;
mod candidates;
mod columns;
mod exponents;
mod fitted;
mod member;
mod pool;
mod residuals;
mod rows;
mod rule_ahead;
mod scales;
mod seasons;
mod selection;

pub(crate) use ahead::{AheadCandidate, AheadCells, AheadPool};
pub use columns::PlaceColumns;
pub(crate) use fitted::FittedMembers;
pub use member::{Combination, Member, MemberKind, PoolComponent};
pub(crate) use pool::single_widening;
pub use residuals::ResidualProcess;
pub(crate) use rows::MANY_OUTPUTS;
pub use rows::{RowRegression, RowRule};
pub use rule_ahead::RuleAhead;
pub(crate) use rule_ahead::{center_of, series_of};
pub(crate) use selection::stacked;
