//! Exponents of a pool of members, learned on held-out cells.
//!
//! The density of a cell is the normalized product of the members' densities, each to the power of its exponent: a normal
//! distribution whose precision is the sum of the members' precisions times their exponents. A member counts where it is
//! certain, and members that repeat each other share an exponent. Errors have heavier tails than a normal distribution, so the
//! answer is a mixture of three such distributions with the same center and different scales.
//!
//! Given the scales, the log score is concave in the exponents; given the exponents, scales and their weights follow by
//! expectation–maximization. The log score almost ignores cells with large errors, squared errors consist of little else. The
//! exponents maximize what lies between: the expected inverse variance of a cell enters by its square root.
//!
//! Exponents are means over fits that leave out one fold each. The fold that was left out then shows the errors of the pool on
//! cells that it has not seen; the scales are fitted to these.

use rayon::prelude::*;

use super::exponents::{Cells, EXPONENT_PRIOR};
use super::scales::{Scale, fitted_scales};
use crate::scores::{Densities, MixtureDensities};

/// Cells from which exponents are learned, at most.
const MOST_CELLS: usize = 4000;
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
    /// The exponents that were learned without each fold.
    pub(super) without: Vec<Vec<f64>>,
}

/// The cells of one fold after the other: the number of cells of each fold, and the number of gaps of all.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) sizes: Vec<usize>,
    pub(super) n_gaps: usize,
}

impl Split {
    fn n_cells(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// The fold of each cell.
    fn folds(&self) -> Vec<usize> {
        self.sizes.iter().enumerate().flat_map(|(fold, &size)| std::iter::repeat_n(fold, size)).collect()
    }

    /// Cells for learning, without a fold; all if there is only one fold. Of many cells some are enough.
    fn learning(&self, without: Option<usize>) -> Vec<usize> {
        let folds = self.folds();
        let without = without.filter(|_| self.sizes.len() > 1);
        let step = self.n_cells().div_ceil(MOST_CELLS).max(1);
        (0..folds.len()).step_by(step).filter(|&cell| Some(folds[cell]) != without).collect()
    }

    /// The number of gaps among as many cells.
    fn gaps_of(&self, n_cells: usize, all: usize) -> f64 {
        self.n_gaps.max(1) as f64 * n_cells as f64 / all.max(1) as f64
    }
}

impl Pool {
    /// Learns exponents and scales, with an exponential prior on each exponent. Members with a small share are dropped, half of
    /// them at a time.
    pub(super) fn fitted(members: &[&Densities], split: &Split) -> Self {
        let n_learning = split.learning(None).len();
        let mut used: Vec<usize> = (0..members.len()).collect();
        loop {
            let own: Vec<&Densities> = used.iter().map(|&at| members[at]).collect();
            let fit = |fold: usize| {
                let cells = split.learning(Some(fold));
                let n_gaps = split.gaps_of(cells.len(), n_learning);
                Cells::new(&own, &cells, n_gaps).maximized(None)
            };
            let without: Vec<Vec<f64>> = (0..split.sizes.len()).into_par_iter().map(fit).collect();
            let mean = |at: usize| without.iter().map(|own| own[at]).sum::<f64>() / without.len() as f64;
            let exponents: Vec<f64> = (0..used.len()).map(mean).collect();
            let shares = shares(&own, &exponents, &split.learning(None));
            let mut weak: Vec<usize> = (0..used.len()).filter(|&at| shares[at] < LEAST_SHARE).collect();
            if weak.is_empty() || used.len() == 1 {
                let spread = |numbers: &[f64]| {
                    let mut all = vec![0.0; members.len()];
                    used.iter().zip(numbers).for_each(|(&at, number)| all[at] = *number);
                    all
                };
                let mut pool = Self {
                    exponents: spread(&exponents),
                    shares: spread(&shares),
                    scales: vec![],
                    without: without.iter().map(|own| spread(own)).collect(),
                };
                let squares: Vec<f64> =
                    pool.densities(members, split).errors.iter().map(|error| error * error).collect();
                pool.scales = fitted_scales(&squares, squares.len() as f64 / split.n_gaps.max(1) as f64);
                return pool;
            }
            weak.sort_by(|&a, &b| shares[a].total_cmp(&shares[b]));
            weak.truncate(weak.len().div_ceil(2));
            let mut at = 0..;
            used.retain(|_| at.next().is_some_and(|at| !weak.contains(&at)));
        }
    }

    /// Exponents of some of the members for the same scales; the others have exponent 0.
    pub(super) fn of_some(&self, members: &[&Densities], is_in: &[bool], split: &Split) -> Vec<f64> {
        let some: Vec<usize> = (0..members.len()).filter(|&at| is_in[at]).collect();
        let own: Vec<&Densities> = some.iter().map(|&at| members[at]).collect();
        let cells = Cells::new(&own, &split.learning(None), split.n_gaps.max(1) as f64);
        let mut exponents = vec![0.0; members.len()];
        some.iter()
            .zip(cells.maximized(Some(&self.scales)))
            .for_each(|(&at, exponent)| exponents[at] = exponent);
        exponents
    }

    /// The pooled densities of the members, each cell with the exponents that were learned without its fold.
    pub(super) fn densities(&self, members: &[&Densities], split: &Split) -> Densities {
        let folds = split.folds();
        Densities::pooled(members, |cell| self.without[folds[cell]].as_slice())
    }

    /// The mixture over the scales of pooled densities.
    pub(super) fn mixture<'a>(&self, pooled: &'a Densities) -> MixtureDensities<'a> {
        let component = |scale: &Scale| (scale.weight, scale.variance.sqrt(), pooled);
        MixtureDensities(self.scales.iter().map(component).collect())
    }
}

/// The mean share of each member in the precision of some cells.
fn shares(members: &[&Densities], exponents: &[f64], cells: &[usize]) -> Vec<f64> {
    let cells = Cells::new(members, cells, 1.0);
    let sums = cells.sums(exponents);
    let n_cells = sums.precisions.len() as f64;
    let share = |(precisions, exponent): (&Vec<f64>, &f64)| -> f64 {
        precisions.iter().zip(&sums.precisions).map(|(own, all)| exponent * own / all).sum::<f64>() / n_cells
    };
    cells.precisions.iter().zip(exponents).map(share).collect()
}

/// The factor on the standard deviations of a single member that maximizes its log score, with the prior of a pool.
pub(crate) fn single_widening(member: &Densities, n_gaps: usize) -> f64 {
    let n_cells = member.len() as f64;
    let squares: f64 = member.errors.iter().map(|error| error * error).sum();
    // The exponent a maximizes ½ n log a − ½ a Σ z² − prior · a n / gaps.
    let prior = 2.0 * EXPONENT_PRIOR * n_cells / n_gaps.max(1) as f64;
    ((squares + prior) / n_cells).sqrt()
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

    /// One fold with a gap per cell, or with a few gaps.
    fn one_fold(n_cells: usize, n_gaps: usize) -> Split {
        Split { sizes: vec![n_cells], n_gaps }
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
        let pool = Pool::fitted(&[&one, &other], &one_fold(n, n));
        let pooled = pool.densities(&[&one, &other], &one_fold(n, n));
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
        let single = Pool::fitted(&[&one], &one_fold(n, n));
        let double = Pool::fitted(&[&one, &one], &one_fold(n, n));
        let total: f64 = double.exponents.iter().sum();
        assert!((total - single.exponents[0]).abs() < 0.05, "{single:?} {double:?}");
    }

    #[test]
    fn a_member_that_is_wrong_and_certain_is_dropped() {
        let n = 500;
        let values: Vec<f64> = (0..n).map(|at| 10.0 * normal(at, 0)).collect();
        let good = densities(&values, (0..n).map(|at| values[at] + normal(at, 1)).collect(), vec![1.0; n]);
        let bad = densities(&values, vec![3.0; n], vec![0.01; n]);
        let pool = Pool::fitted(&[&good, &bad], &one_fold(n, n));
        assert_eq!(pool.exponents[1], 0.0);
        assert!(pool.exponents[0] > 0.5);
    }

    #[test]
    fn the_errors_of_a_fold_are_those_of_exponents_learned_without_it() {
        // In the second fold the first member is wrong: without it, it gets all the weight.
        let n = 400;
        let values: Vec<f64> = (0..n).map(|at| 10.0 * normal(at, 0)).collect();
        let wrong = |at: usize| if at < n / 2 { 0.1 } else { 5.0 };
        let one = densities(
            &values,
            (0..n).map(|at| values[at] + wrong(at) * normal(at, 1)).collect(),
            vec![0.1; n],
        );
        let other = densities(&values, (0..n).map(|at| values[at] + normal(at, 2)).collect(), vec![1.0; n]);
        let split = Split { sizes: vec![n / 2, n / 2], n_gaps: n };
        let pool = Pool::fitted(&[&one, &other], &split);
        let found = pool.densities(&[&one, &other], &split);
        let by_hand = Densities::pooled(&[&one, &other], |_| pool.without[1].as_slice());
        assert_eq!(found.errors[n / 2..], by_hand.errors[n / 2..]);
        assert!(pool.without[1][0] > 10.0 * pool.without[0][0], "{pool:?}");
        let widest = pool.scales.iter().map(|scale| scale.variance).fold(0.0, f64::max);
        assert!(widest > 100.0, "{pool:?}");
    }

    #[test]
    fn few_gaps_lower_exponents() {
        let n = 400;
        let values: Vec<f64> = (0..n).map(|at| normal(at, 0)).collect();
        let member = densities(&values, vec![0.0; n], vec![1.0; n]);
        let (few, many) =
            (Pool::fitted(&[&member], &one_fold(n, 4)), Pool::fitted(&[&member], &one_fold(n, n)));
        assert!(few.exponents[0] < 0.85 * many.exponents[0], "{few:?} {many:?}");
        assert!(single_widening(&member, 4) > single_widening(&member, n));
    }

    #[test]
    fn exponents_are_at_the_maximum_for_their_scales() {
        let n = 600;
        let values: Vec<f64> = (0..n).map(|at| normal(at, 0).powi(3)).collect();
        let shifted = |stream: usize, size: f64| -> Vec<f64> {
            (0..n).map(|at| values[at] + size * normal(at, stream).powi(3)).collect()
        };
        let members = [
            densities(&values, shifted(1, 0.5), vec![0.4; n]),
            densities(&values, shifted(2, 1.0), (0..n).map(|at| 0.5 + (at % 3) as f64).collect()),
            densities(&values, vec![0.0; n], vec![2.0; n]),
        ];
        let all: Vec<&Densities> = members.iter().collect();
        let pool = Pool::fitted(&all, &one_fold(n, n));
        let used: Vec<usize> = (0..3).filter(|&at| pool.exponents[at] > 0.0).collect();
        let own: Vec<&Densities> = used.iter().map(|&at| all[at]).collect();
        let cells = Cells::new(&own, &(0..n).collect::<Vec<_>>(), n as f64);
        let exponents: Vec<f64> = used.iter().map(|&at| pool.exponents[at]).collect();
        let mut scales = fitted_scales(&cells.squares(&exponents), 1.0);
        let factor: f64 = scales.iter().map(|scale| scale.weight * scale.variance).sum();
        scales.iter_mut().for_each(|scale| scale.variance /= factor);
        let inverse = cells.inverse_factors(&exponents, &scales);
        let value = |exponents: &[f64]| -> f64 {
            let (precisions, squares) = (cells.sums(exponents).precisions, cells.squares(exponents));
            let cell = |at: usize| 0.5 * precisions[at].ln() - 0.5 * inverse[at] * squares[at];
            (0..n).map(cell).sum::<f64>() - EXPONENT_PRIOR * exponents.iter().sum::<f64>()
        };
        let best = value(&exponents);
        assert!(used.len() > 1, "{pool:?}");
        for member in 0..used.len() {
            for factor in [0.8, 1.25] {
                let mut other = exponents.clone();
                other[member] *= factor;
                assert!(value(&other) < best, "{member} × {factor}: {pool:?}");
            }
        }
    }
}
