//! Exponents of a pool at given cells: Newton steps in one exponent after the other, with the scales learned by turns.

use super::scales::{Scale, Shares, first_scales, improve};
use crate::scores::Densities;

/// The strength of the prior on exponents, in gaps: a member that adds little gets none. For a single member it adds 1/gaps to
/// the variance.
pub(super) const EXPONENT_PRIOR: f64 = 0.5;
/// The power of a cell's expected inverse variance: 1 for the log score, 0 for that of a normal distribution.
const ROBUSTNESS: f64 = 0.5;
/// The largest exponent.
const LARGEST: f64 = 4.0;
/// Rounds over all exponents, and the change of the largest one at which they end.
const ROUNDS: usize = 60;
const TOLERANCE: f64 = 1e-3;

/// The precisions and errors of all members at the cells, relative to the first member.
pub(super) struct Cells {
    /// By member: precisions, and errors in units of the first member's standard deviation.
    pub(super) precisions: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    /// The number of cells in a gap, on average: the strength of priors.
    per_gap: f64,
}

/// The pooled precision of each cell, and the sum of precisions times errors.
pub(super) struct Sums {
    pub(super) precisions: Vec<f64>,
    moments: Vec<f64>,
}

impl Cells {
    pub(super) fn new(members: &[&Densities], cells: &[usize], n_gaps: f64) -> Self {
        let root = |member: &Densities, cell: usize| {
            (member.log_precisions[cell] - members[0].log_precisions[cell]).exp()
        };
        let precision = |member: &&Densities| cells.iter().map(|&cell| root(member, cell).powi(2)).collect();
        let error = |member: &&Densities| {
            cells.iter().map(|&cell| member.errors[cell] / root(member, cell)).collect()
        };
        Self {
            precisions: members.iter().map(precision).collect(),
            errors: members.iter().map(error).collect(),
            per_gap: cells.len() as f64 / n_gaps,
        }
    }

    pub(super) fn sums(&self, exponents: &[f64]) -> Sums {
        let n_cells = self.precisions.first().map_or(0, Vec::len);
        let mut sums = Sums { precisions: vec![0.0; n_cells], moments: vec![0.0; n_cells] };
        for ((precisions, errors), exponent) in self.precisions.iter().zip(&self.errors).zip(exponents) {
            for cell in 0..n_cells {
                sums.precisions[cell] += exponent * precisions[cell];
                sums.moments[cell] += exponent * precisions[cell] * errors[cell];
            }
        }
        sums
    }

    /// Exponents; scales are learned by turns unless they are given.
    pub(super) fn maximized(&self, given: Option<&[Scale]>) -> Vec<f64> {
        let n_members = self.precisions.len();
        let start = |(precisions, errors): (&Vec<f64>, &Vec<f64>)| {
            let squares: f64 = precisions.iter().zip(errors).map(|(p, e)| p * e * e).sum();
            (precisions.len() as f64 / squares).clamp(1e-6, 1.0) / n_members as f64
        };
        let mut exponents: Vec<f64> = self.precisions.iter().zip(&self.errors).map(start).collect();
        let first = first_scales();
        let mut scales = given.unwrap_or(&first).to_vec();
        let mut inverse = vec![1.0; self.precisions.first().map_or(0, Vec::len)];
        for round in 0..ROUNDS {
            let change = self.round(&mut exponents, &inverse);
            if given.is_none() {
                improve(&mut scales, &self.squares(&exponents), self.per_gap);
                // Only the products of exponents and inverse factors count: the mean factor is 1.
                let mean: f64 = scales.iter().map(|scale| scale.weight * scale.variance).sum();
                scales.iter_mut().for_each(|scale| scale.variance /= mean);
            }
            inverse = self.inverse_factors(&exponents, &scales);
            if round > 0 && change < TOLERANCE {
                break;
            }
        }
        exponents
    }

    /// One Newton step for each exponent; the largest change.
    ///
    /// With the pooled precision Λ, the pooled error m = Σ a τ e / Λ and the inverse scale r of a cell, the log density is
    /// ½ log Λ − ½ r Λ m². Its derivatives in the exponent of a member with precision τ and error e are
    /// τ (½/Λ − r m e + ½ r m²) and −τ² (½/Λ² + r (e − m)²/Λ).
    fn round(&self, exponents: &mut [f64], inverse: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        let mut sums = self.sums(exponents);
        for member in 0..exponents.len() {
            let (precisions, errors) = (&self.precisions[member], &self.errors[member]);
            let (mut slope, mut curvature) = (-EXPONENT_PRIOR * self.per_gap, 0.0);
            for cell in 0..inverse.len() {
                let (total, own, error) = (sums.precisions[cell], precisions[cell], errors[cell]);
                let mean = sums.moments[cell] / total;
                slope += own * (0.5 / total - inverse[cell] * mean * (error - 0.5 * mean));
                curvature +=
                    own * own * (0.5 / total + inverse[cell] * (error - mean) * (error - mean)) / total;
            }
            let before = exponents[member];
            let others = exponents.iter().sum::<f64>() - before;
            // A step of limited length; the last positive exponent does not vanish.
            let step = (slope / curvature).clamp(-(0.5 * before + 0.02), 2.0 * before + 0.05);
            let least = if others > 0.0 { 0.0 } else { 1e-6 };
            let next = if step.is_finite() { (before + step).clamp(least, LARGEST) } else { before };
            if next != before {
                for cell in 0..inverse.len() {
                    sums.precisions[cell] += (next - before) * precisions[cell];
                    sums.moments[cell] += (next - before) * precisions[cell] * errors[cell];
                }
                exponents[member] = next;
                // Rounding may leave cells that only this member covered without precision.
                if sums.precisions.iter().any(|total| total.is_nan() || *total <= 0.0) {
                    exponents[member] = before;
                    sums = self.sums(exponents);
                    continue;
                }
            }
            largest = largest.max((next - before).abs());
        }
        largest
    }

    /// The expected inverse factor on the variance of each cell, to the power of the robustness.
    pub(super) fn inverse_factors(&self, exponents: &[f64], scales: &[Scale]) -> Vec<f64> {
        let mut shares = Shares::of(scales);
        let of_cell = |square| -> f64 {
            let shares = shares.at(square).iter().zip(scales);
            shares.map(|(share, scale)| share / scale.variance).sum::<f64>().powf(ROBUSTNESS)
        };
        self.squares(exponents).into_iter().map(of_cell).collect()
    }

    /// The squared error of each cell, in variances of the pool.
    pub(super) fn squares(&self, exponents: &[f64]) -> Vec<f64> {
        let Sums { precisions, moments } = self.sums(exponents);
        precisions.iter().zip(moments).map(|(total, moment)| moment * moment / total).collect()
    }
}
