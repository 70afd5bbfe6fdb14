//! A factor on the standard deviations of a single model whose intervals are too narrow on held-out cells.

use super::densities::{Densities, mean_with_error};

/// A factor must improve the log score by this many nats per cell.
const WORTHWHILE: f64 = 0.02;

/// Factors on the standard deviations of a single model, at least 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Widening {
    /// Learned on the held-out cells of all folds.
    pub(crate) factor: f64,
    /// Learned without each fold; all are 1 if `factor` is.
    pub(crate) without: Vec<f64>,
}

impl Widening {
    /// No factor, for this many folds.
    pub(crate) fn none(n_folds: usize) -> Self {
        Self { factor: 1.0, without: vec![1.0; n_folds] }
    }

    /// The factors of a model with these densities at the cells of one fold after the other; `sizes` are the numbers of cells and
    /// `gaps` the gap of each cell. A factor is used only if cells of each fold, with the factor that the other folds have, are
    /// better predicted than without: by more than [`WORTHWHILE`] and more than the standard error of the gain.
    pub(crate) fn fitted(densities: &Densities, sizes: &[usize], gaps: &[usize]) -> Self {
        let n_cells: usize = sizes.iter().sum();
        if sizes.len() < 2 || densities.len() != n_cells || !densities.is_finite() {
            return Self::none(sizes.len());
        }
        let mut begin = 0;
        let sums: Vec<f64> = sizes
            .iter()
            .map(|size| {
                begin += size;
                densities.errors[begin - size..begin].iter().map(|error| error * error).sum()
            })
            .collect();
        // The log score is largest if the mean squared error is 1 in units of the variance.
        let total: f64 = sums.iter().sum();
        let factor = |sum: f64, count: usize| (sum / count as f64).sqrt().max(1.0);
        let without = sums.iter().zip(sizes).map(|(sum, size)| factor(total - sum, n_cells - size));
        let found = Self { factor: factor(total, n_cells), without: without.collect() };
        let plain = densities.log_densities(1.0);
        let widened = found.widened(densities, sizes).log_densities(1.0);
        let gains: Vec<f64> = widened.iter().zip(plain).map(|(widened, plain)| widened - plain).collect();
        let (gain, error) = mean_with_error(&gains, gaps);
        if gain > WORTHWHILE && gain > error { found } else { Self::none(sizes.len()) }
    }

    /// Whether standard deviations are widened.
    pub(crate) fn is_used(&self) -> bool {
        self.factor > 1.0
    }

    /// Densities with the factor that was learned without the fold of each cell.
    pub(crate) fn widened(&self, densities: &Densities, sizes: &[usize]) -> Densities {
        let factors =
            self.without.iter().zip(sizes).flat_map(|(factor, &size)| std::iter::repeat_n(*factor, size));
        densities.widened(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Predictive;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    /// Four folds of ten gaps with five cells each, whose errors are normal with this standard deviation; the model claims 1.
    fn case(deviation: f64, seed: u64) -> (Densities, Vec<usize>, Vec<usize>) {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let cells: Vec<(usize, f64)> = (0..200)
            .map(|at| {
                let error: f64 = StandardNormal.sample(&mut generator);
                (at, deviation * error)
            })
            .collect();
        let predictive = Predictive::normal(1, vec![0.0; 200], vec![1.0; 200]);
        (Densities::at(&predictive, &cells), vec![50; 4], (0..200).map(|at| at / 5).collect())
    }

    #[test]
    fn narrow_intervals_are_widened_and_others_are_not() {
        for seed in 0..40 {
            // The mean square of 150 errors differs from 4 by 15 %, three standard errors by 35 %.
            let (narrow, sizes, gaps) = case(2.0, seed);
            let found = Widening::fitted(&narrow, &sizes, &gaps);
            assert!(
                (found.factor - 2.0).abs() < 0.4 && found.without.iter().all(|one| (one - 2.0).abs() < 0.5)
            );
            // A gain of 0.02 nats takes a mean square of 1.3 in all folds: beyond three standard errors.
            for deviation in [1.0, 0.5] {
                let (calibrated, sizes, gaps) = case(deviation, seed);
                let found = Widening::fitted(&calibrated, &sizes, &gaps);
                assert_eq!(found, Widening::none(4), "seed {seed}, errors × {deviation}");
            }
        }
    }

    #[test]
    fn the_factor_of_a_fold_is_that_of_the_others() {
        let (narrow, sizes, gaps) = case(2.0, 7);
        let found = Widening::fitted(&narrow, &sizes, &gaps);
        let square: f64 = narrow.errors[50..].iter().map(|error| error * error).sum();
        assert!((found.without[0] - (square / 150.0).sqrt()).abs() < 1e-12);
        let widened = found.widened(&narrow, &sizes);
        for cell in [0, 49, 50, 199] {
            let expected = narrow.log_density(cell, found.without[cell / 50]);
            assert!((widened.log_density(cell, 1.0) - expected).abs() < 1e-12);
        }
        // One fold has no others.
        assert!(!Widening::fitted(&narrow, &[200], &gaps).is_used());
    }
}
