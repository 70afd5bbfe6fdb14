//! What every form of the sweep computes.

use super::gradient::GradientSums;
use super::predictions::Statistics;
use super::state_space::StateSpace;
use crate::index::Position;

/// A form of the sweep, with the memory of its passes. Log evidences leave out `−½ Σ log 2πr`; an error is the position where numbers
/// overflowed.
pub(super) trait Sweep {
    /// The log evidence, by the first pass alone.
    fn log_evidence(&mut self, model: StateSpace<'_>) -> Result<f64, Position>;

    /// The log evidence, and mean and variance of every output, written in row order.
    fn marginals(
        &mut self,
        model: StateSpace<'_>,
        numbers: (&mut [f64], &mut [f64]),
    ) -> Result<(f64, Statistics), Position>;

    /// The log evidence, and its gradient added to `sums`.
    fn gradient(&mut self, model: StateSpace<'_>, sums: &mut GradientSums) -> Result<f64, Position>;
}
