//! Exponents of a pool of members that maximize the log score on held-out cells.
//!
//! The density of a cell is the normalized product of the members' densities, each to the power of its exponent: a normal
//! distribution whose precision is the sum of the members' precisions times their exponents. A member counts where it is
//! certain, and members that repeat each other share an exponent. Errors have heavier tails than a normal distribution, so the
//! answer is a mixture of three such distributions with the same center and different scales.
//!
//! Given the scales, the log score is concave in the exponents; given the exponents, scales and their weights follow by
//! expectation–maximization.

use crate::scores::{Densities, MixtureDensities};

/// Factors on the variances of the components before they are learned.
const VARIANCES: [f64; 3] = [0.25, 1.0, 4.0];
/// The smallest factor on a variance.
const LEAST_VARIANCE: f64 = 0.02;
/// The strength of the priors on exponents and on components, in gaps. That on exponents adds 1/gaps to the variance of a
/// single member: factors estimated from a few gaps are too small on average.
const EXPONENT_PRIOR: f64 = 0.5;
const COMPONENT_PRIOR: f64 = 0.1;
/// The largest exponent.
const LARGEST: f64 = 4.0;
/// Rounds over all exponents, and the change of the largest one at which they end.
const ROUNDS: usize = 60;
const TOLERANCE: f64 = 1e-3;
/// Iterations of the scales after each round.
const SCALE_ITERATIONS: usize = 4;
/// Members with a smaller mean share of the precision are dropped.
const LEAST_SHARE: f64 = 0.03;

/// Exponents of all members and the scales of the components.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pool {
    /// By member; 0 for a member that was dropped.
    pub(super) exponents: Vec<f64>,
    /// The mean share of each member in the precision of a held-out cell.
    pub(super) shares: Vec<f64>,
    pub(super) scales: Vec<Scale>,
}

/// A component: its weight, and the factor on its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) weight: f64,
    pub(super) variance: f64,
}

/// The precisions and errors of all members at the cells, relative to the first member.
struct Cells {
    /// By member: precisions, and errors in units of the first member's standard deviation.
    precisions: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    /// The number of cells in a gap, on average: the strength of priors.
    per_gap: f64,
}

/// The pooled precision of each cell, and the sum of precisions times errors.
struct Sums {
    precisions: Vec<f64>,
    moments: Vec<f64>,
}

impl Pool {
    /// Maximizes the mean log density at the cells, with an exponential prior on each exponent.
    /// Members with a small share are dropped one after the other.
    pub(super) fn fitted(members: &[&Densities], n_gaps: usize) -> Self {
        let mut used: Vec<usize> = (0..members.len()).collect();
        loop {
            let own: Vec<&Densities> = used.iter().map(|&at| members[at]).collect();
            let (exponents, scales) = Cells::new(&own, n_gaps).maximized(None);
            let shares = shares(&own, &exponents);
            let weakest = (0..used.len()).min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
            match weakest.filter(|&at| used.len() > 1 && shares[at] < LEAST_SHARE) {
                Some(at) => {
                    used.remove(at);
                }
                None => {
                    let spread = |numbers: &[f64]| {
                        let mut all = vec![0.0; members.len()];
                        used.iter().zip(numbers).for_each(|(&at, number)| all[at] = *number);
                        all
                    };
                    return Self { exponents: spread(&exponents), shares: spread(&shares), scales };
                }
            }
        }
    }

    /// Exponents of some of the members for the same scales; the others have exponent 0.
    pub(super) fn of_some(&self, members: &[&Densities], is_in: &[bool], n_gaps: usize) -> Vec<f64> {
        let some: Vec<usize> = (0..members.len()).filter(|&at| is_in[at]).collect();
        let own: Vec<&Densities> = some.iter().map(|&at| members[at]).collect();
        let (found, _) = Cells::new(&own, n_gaps).maximized(Some(&self.scales));
        let mut exponents = vec![0.0; members.len()];
        some.iter().zip(found).for_each(|(&at, exponent)| exponents[at] = exponent);
        exponents
    }

    /// The pooled densities of the members.
    pub(super) fn densities(&self, members: &[&Densities]) -> Densities {
        Densities::pooled(members, &self.exponents)
    }

    /// The mixture over the scales of pooled densities.
    pub(super) fn mixture<'a>(&self, pooled: &'a Densities) -> MixtureDensities<'a> {
        let component = |scale: &Scale| (scale.weight, scale.variance.sqrt(), pooled);
        MixtureDensities(self.scales.iter().map(component).collect())
    }
}

/// The mean share of each member in the precision of a cell.
fn shares(members: &[&Densities], exponents: &[f64]) -> Vec<f64> {
    let cells = Cells::new(members, 1);
    let sums = cells.sums(exponents);
    let n_cells = sums.precisions.len() as f64;
    let share = |(precisions, exponent): (&Vec<f64>, &f64)| -> f64 {
        precisions.iter().zip(&sums.precisions).map(|(own, all)| exponent * own / all).sum::<f64>() / n_cells
    };
    cells.precisions.iter().zip(exponents).map(share).collect()
}

/// The factor on the standard deviations of a single member that maximizes its log score, with the prior of a pool.
pub(super) fn single_widening(member: &Densities, n_gaps: usize) -> f64 {
    let n_cells = member.len() as f64;
    let squares: f64 = member.errors.iter().map(|error| error * error).sum();
    // The exponent a maximizes ½ n log a − ½ a Σ z² − prior · a n / gaps.
    let prior = 2.0 * EXPONENT_PRIOR * n_cells / n_gaps.max(1) as f64;
    ((squares + prior) / n_cells).sqrt()
}

impl Cells {
    fn new(members: &[&Densities], n_gaps: usize) -> Self {
        let n_cells = members.first().map_or(0, |member| member.len());
        let root = |member: &Densities, cell: usize| {
            (member.log_precisions[cell] - members[0].log_precisions[cell]).exp()
        };
        let precisions =
            members.iter().map(|member| (0..n_cells).map(|cell| root(member, cell).powi(2)).collect());
        let errors = members
            .iter()
            .map(|member| (0..n_cells).map(|cell| member.errors[cell] / root(member, cell)).collect());
        Self {
            precisions: precisions.collect(),
            errors: errors.collect(),
            per_gap: n_cells as f64 / n_gaps.max(1) as f64,
        }
    }

    fn sums(&self, exponents: &[f64]) -> Sums {
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

    /// Exponents and scales, by turns; scales that are given stay.
    fn maximized(&self, given: Option<&[Scale]>) -> (Vec<f64>, Vec<Scale>) {
        let n_members = self.precisions.len();
        let start = |(precisions, errors): (&Vec<f64>, &Vec<f64>)| {
            let squares: f64 = precisions.iter().zip(errors).map(|(p, e)| p * e * e).sum();
            (precisions.len() as f64 / squares).clamp(1e-6, 1.0) / n_members as f64
        };
        let mut exponents: Vec<f64> = self.precisions.iter().zip(&self.errors).map(start).collect();
        let first = VARIANCES.map(|variance| Scale { weight: 1.0 / VARIANCES.len() as f64, variance });
        let mut scales = given.unwrap_or(&first).to_vec();
        // The expected inverse factor on the variance of each cell.
        let mut inverse = vec![1.0; self.precisions.first().map_or(0, Vec::len)];
        for round in 0..ROUNDS {
            let change = self.round(&mut exponents, &inverse);
            if given.is_none() {
                self.rescale(&exponents, &mut scales);
            }
            inverse = self.inverse_factors(&exponents, &scales);
            if round > 0 && change < TOLERANCE {
                break;
            }
        }
        (exponents, scales)
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
                if sums.precisions.iter().any(|total| !(*total > 0.0)) {
                    exponents[member] = before;
                    sums = self.sums(exponents);
                    continue;
                }
            }
            largest = largest.max((next - before).abs());
        }
        largest
    }

    /// Weights and factors of the components, by expectation–maximization.
    fn rescale(&self, exponents: &[f64], scales: &mut [Scale]) {
        let squares = self.squares(exponents);
        let prior = COMPONENT_PRIOR * self.per_gap;
        let n_cells = squares.len() as f64;
        for _ in 0..SCALE_ITERATIONS {
            let mut totals = vec![0.0; scales.len()];
            let mut sums = vec![0.0; scales.len()];
            for &square in &squares {
                for (at, share) in shares_of(scales, square).into_iter().enumerate() {
                    totals[at] += share;
                    sums[at] += share * square;
                }
            }
            for (at, scale) in scales.iter_mut().enumerate() {
                let count = totals[at] + prior;
                scale.weight = count / (n_cells + prior * VARIANCES.len() as f64);
                scale.variance = ((sums[at] + prior * VARIANCES[at]) / count).max(LEAST_VARIANCE);
            }
        }
        // Only the products of exponents and inverse factors count: the mean factor is 1.
        let mean: f64 = scales.iter().map(|scale| scale.weight * scale.variance).sum();
        scales.iter_mut().for_each(|scale| scale.variance /= mean);
    }

    /// The expected inverse factor on the variance of each cell.
    fn inverse_factors(&self, exponents: &[f64], scales: &[Scale]) -> Vec<f64> {
        let of_cell = |square| -> f64 {
            shares_of(scales, square).iter().zip(scales).map(|(share, scale)| share / scale.variance).sum()
        };
        self.squares(exponents).into_iter().map(of_cell).collect()
    }

    /// The squared error of each cell, in variances of the pool.
    fn squares(&self, exponents: &[f64]) -> Vec<f64> {
        let Sums { precisions, moments } = self.sums(exponents);
        precisions.iter().zip(moments).map(|(total, moment)| moment * moment / total).collect()
    }
}

/// The probability of each component, given a squared error.
fn shares_of(scales: &[Scale], square: f64) -> Vec<f64> {
    let density =
        |scale: &Scale| scale.weight.ln() - 0.5 * scale.variance.ln() - 0.5 * square / scale.variance;
    let mut shares: Vec<f64> = scales.iter().map(density).collect();
    let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    shares.iter_mut().for_each(|share| *share = (*share - largest).exp());
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use crate::prepare::Predictive;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    /// A number from a standard normal distribution, independent by place and stream.
    fn normal(at: usize, stream: usize) -> f64 {
        let mut generator = ChaCha8Rng::seed_from_u64(at as u64);
        generator.set_stream(stream as u64);
        StandardNormal.sample(&mut generator)
    }

    /// Densities of predictions with these means and standard deviations.
    fn densities(values: &[f64], means: Vec<f64>, deviations: Vec<f64>) -> Densities {
        let cells: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
        Densities::at(&Predictive::normal(1, means, deviations), &cells)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn two_independent_measurements_are_weighted_by_their_precisions() {
        // Values with prior variance 100 and two measurements of variances 1 and 4: exponents 1 for both.
        let n = 2000;
        let values: Vec<f64> = (0..n).map(|at| 10.0 * normal(at, 0)).collect();
        let one = densities(&values, (0..n).map(|at| values[at] + normal(at, 1)).collect(), vec![1.0; n]);
        let other =
            densities(&values, (0..n).map(|at| values[at] + 2.0 * normal(at, 2)).collect(), vec![2.0; n]);
        let pool = Pool::fitted(&[&one, &other], n);
        let pooled = pool.densities(&[&one, &other]);
        let variance = mean(&pooled.errors.iter().map(|z| z * z).collect::<Vec<_>>());
        let scale: f64 = pool.scales.iter().map(|scale| scale.weight * scale.variance).sum();
        assert!((variance / scale - 1.0).abs() < 0.05, "{pool:?}");
        assert!((pool.shares[0] - 0.8).abs() < 0.05, "{pool:?}");
        let score = |member: &Densities| mean(&member.log_densities(single_widening(member, n)));
        let together = mean(&pool.mixture(&pooled).log_densities());
        assert!(together > score(&one).max(score(&other)) + 0.05);
    }

    #[test]
    fn a_copy_of_a_member_adds_nothing() {
        let n = 500;
        let values: Vec<f64> = (0..n).map(|at| 10.0 * normal(at, 0)).collect();
        let one = densities(&values, (0..n).map(|at| values[at] + normal(at, 1)).collect(), vec![1.0; n]);
        let single = Pool::fitted(&[&one], n);
        let double = Pool::fitted(&[&one, &one], n);
        let total: f64 = double.exponents.iter().sum();
        assert!((total - single.exponents[0]).abs() < 0.05, "{single:?} {double:?}");
    }

    #[test]
    fn a_member_that_is_wrong_and_certain_is_dropped() {
        let n = 500;
        let values: Vec<f64> = (0..n).map(|at| 10.0 * normal(at, 0)).collect();
        let good = densities(&values, (0..n).map(|at| values[at] + normal(at, 1)).collect(), vec![1.0; n]);
        let bad = densities(&values, vec![3.0; n], vec![0.01; n]);
        let pool = Pool::fitted(&[&good, &bad], n);
        assert_eq!(pool.exponents[1], 0.0);
        assert!(pool.exponents[0] > 0.5);
    }

    #[test]
    fn few_gaps_widen() {
        let n = 400;
        let values: Vec<f64> = (0..n).map(|at| normal(at, 0)).collect();
        let member = densities(&values, vec![0.0; n], vec![1.0; n]);
        let (few, many) = (Pool::fitted(&[&member], 4), Pool::fitted(&[&member], n));
        assert!(few.exponents[0] < 0.85 * many.exponents[0], "{few:?} {many:?}");
        assert!(single_widening(&member, 4) > single_widening(&member, n));
    }

    #[test]
    fn no_other_exponents_have_a_better_log_score() {
        let n = 600;
        let values: Vec<f64> = (0..n).map(|at| normal(at, 0).powi(3)).collect();
        let shifted = |stream: usize, size: f64| -> Vec<f64> {
            (0..n).map(|at| values[at] + size * normal(at, stream)).collect()
        };
        let members = [
            densities(&values, shifted(1, 0.5), vec![0.4; n]),
            densities(&values, shifted(2, 1.0), (0..n).map(|at| 0.5 + (at % 3) as f64).collect()),
            densities(&values, vec![0.0; n], vec![2.0; n]),
        ];
        let all: Vec<&Densities> = members.iter().collect();
        let pool = Pool::fitted(&all, n);
        let score = |pool: &Pool| {
            let own = pool.densities(&all);
            // The prior is worth half a cell per exponent here.
            let prior = EXPONENT_PRIOR * pool.exponents.iter().sum::<f64>();
            mean(&pool.mixture(&own).log_densities()) - prior / n as f64
        };
        let best = score(&pool);
        for member in 0..3 {
            for factor in [0.8, 1.25] {
                let mut other = pool.clone();
                other.exponents[member] *= factor;
                assert!(score(&other) <= best + 1e-4, "{member} × {factor}: {pool:?}");
            }
        }
    }
}
