//! Predictive densities at held-out cells, for stacking.

use super::held_out::HeldOutScores;
use super::score::Scores;
use crate::normal::cumulative;
use crate::power::PowerTransform;
use crate::prepare::Predictive;

/// ½ log 2π.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// The predictive densities of one model at held-out cells, as functions of a factor on its standard deviations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Densities {
    /// The errors, in predictive standard deviations.
    pub(crate) errors: Vec<f64>,
    /// Minus the logarithms of the standard deviations, in the user's units.
    pub(crate) log_precisions: Vec<f64>,
    /// The values, in the user's units.
    values: Vec<f64>,
    /// The transform of each cell.
    powers: Vec<PowerTransform>,
}

/// The predictive densities of a mixture: a weight, a factor on standard deviations and densities for each member.
pub(crate) struct MixtureDensities<'a>(pub(crate) Vec<(f64, f64, &'a Densities)>);

impl MixtureDensities<'_> {
    /// The log density of every cell.
    pub(crate) fn log_densities(&self) -> Vec<f64> {
        let n_cells = self.0.first().map_or(0, |(_, _, densities)| densities.len());
        (0..n_cells).map(|cell| self.log_density(cell)).collect()
    }

    fn log_density(&self, cell: usize) -> f64 {
        let term = |&(weight, widening, densities): &(f64, f64, &Densities)| {
            weight.ln() + densities.log_density(cell, widening)
        };
        let largest = self.0.iter().map(term).fold(f64::NEG_INFINITY, f64::max);
        if largest.is_finite() {
            largest + self.0.iter().map(|member| (term(member) - largest).exp()).sum::<f64>().ln()
        } else {
            largest
        }
    }

    /// Scores on the cells `(place, value)`, in units of the scales of the outputs.
    pub(crate) fn scores(&self, cells: &[(usize, f64)], scales: &[f64]) -> HeldOutScores {
        let below = |cell: usize| -> f64 {
            let of = |&(weight, widening, densities): &(f64, f64, &Densities)| {
                weight * cumulative(densities.errors[cell] / widening)
            };
            self.0.iter().map(of).sum()
        };
        let probabilities: Vec<f64> = (0..cells.len()).map(below).collect();
        let mean = |cell: usize| -> f64 {
            self.0.iter().map(|(weight, widening, densities)| weight * densities.mean(cell, *widening)).sum()
        };
        let over = |is_in: &dyn Fn(usize) -> bool| {
            let (mut n_cells, mut squares, mut log_score, mut inside) = (0, 0.0, 0.0, 0.0);
            for (cell, &(at, value)) in cells.iter().enumerate().filter(|(_, (at, _))| is_in(*at)) {
                let scale = scales[at % scales.len()];
                squares += ((value - mean(cell)) / scale).powi(2);
                log_score += self.log_density(cell) + scale.ln();
                inside += f64::from(u8::from((0.025..=0.975).contains(&probabilities[cell])));
                n_cells += 1;
            }
            let count = n_cells as f64;
            // The continuous ranked probability score of a mixture is not needed here.
            let crps = f64::NAN;
            Scores {
                n_cells,
                rmse: (squares / count).sqrt(),
                log_score: log_score / count,
                crps,
                coverage: inside / count,
            }
        };
        let n_outputs = scales.len();
        let by_output = (0..n_outputs).map(|output| over(&|at| at % n_outputs == output)).collect();
        HeldOutScores {
            scores: over(&|_| true),
            by_output,
            probabilities,
            log_densities: self.log_densities(),
        }
    }
}

impl Densities {
    /// At the cells `(place, value)`, with row-major places.
    pub(crate) fn at(predictive: &Predictive, cells: &[(usize, f64)]) -> Self {
        let both = cells.iter().map(|&(at, value)| predictive.standardized(at, value));
        let (errors, log_precisions) = both.unzip();
        let values = cells.iter().map(|(_, value)| *value).collect();
        let powers = cells.iter().map(|&(at, _)| predictive.center(at).2).collect();
        Self { errors, log_precisions, values, powers }
    }

    /// The product of densities at the same cells, each to the power of its exponent, normalized. Members have the same
    /// transforms; `exponents` are those of a cell.
    pub(crate) fn pooled<'e>(members: &[&Self], exponents: impl Fn(usize) -> &'e [f64]) -> Self {
        let mut pooled = members.first().map_or_else(Self::default, |first| (*first).clone());
        for cell in 0..pooled.len() {
            let (mut precision, mut sum) = (0.0, 0.0);
            let used = members.iter().zip(exponents(cell)).filter(|(_, exponent)| **exponent > 0.0);
            for (member, exponent) in used {
                // Relative to the first member, so that nothing overflows. Σ a τ (y − μ) = Σ a √τ z.
                let root = (member.log_precisions[cell] - members[0].log_precisions[cell]).exp();
                precision += exponent * root * root;
                sum += exponent * root * member.errors[cell];
            }
            pooled.errors[cell] = sum / precision.sqrt();
            pooled.log_precisions[cell] = members[0].log_precisions[cell] + 0.5 * precision.ln();
        }
        pooled
    }

    /// The predictive mean of a cell, in the user's units, with standard deviations multiplied by `widening`.
    fn mean(&self, cell: usize, widening: f64) -> f64 {
        let (value, power) = (self.values[cell], self.powers[cell]);
        let deviation = (power.log_derivative(value) - self.log_precisions[cell]).exp();
        power.mean(power.forward(value) - self.errors[cell] * deviation, widening * deviation)
    }

    /// The densities with standard deviations multiplied by a factor for each cell.
    pub(crate) fn widened(&self, factors: impl Iterator<Item = f64>) -> Self {
        let mut widened = self.clone();
        let cells = widened.errors.iter_mut().zip(&mut widened.log_precisions);
        for ((error, log_precision), factor) in cells.zip(factors) {
            *error /= factor;
            *log_precision -= factor.ln();
        }
        widened
    }

    /// The densities of some of the cells.
    pub(crate) fn of_cells(&self, cells: &[usize]) -> Self {
        let numbers = |all: &[f64]| cells.iter().map(|&cell| all[cell]).collect();
        Self {
            errors: numbers(&self.errors),
            log_precisions: numbers(&self.log_precisions),
            values: numbers(&self.values),
            powers: cells.iter().map(|&cell| self.powers[cell]).collect(),
        }
    }

    /// Appends the cells of another fold.
    pub(crate) fn extend(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.log_precisions.extend(other.log_precisions);
        self.values.extend(other.values);
        self.powers.extend(other.powers);
    }

    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    /// The log density of a cell with standard deviations multiplied by `widening`.
    pub(crate) fn log_density(&self, cell: usize, widening: f64) -> f64 {
        let error = self.errors[cell] / widening;
        self.log_precisions[cell] - widening.ln() - HALF_LOG_TAU - 0.5 * error * error
    }

    /// The log densities of all cells.
    pub(crate) fn log_densities(&self, widening: f64) -> Vec<f64> {
        (0..self.len()).map(|cell| self.log_density(cell, widening)).collect()
    }

    /// The mean log density with the factor on the standard deviations that maximizes it.
    pub(crate) fn best_log_score(&self) -> f64 {
        let count = self.len() as f64;
        let square = self.errors.iter().map(|error| error * error).sum::<f64>() / count;
        let log_precision = self.log_precisions.iter().sum::<f64>() / count;
        log_precision - 0.5 * square.ln() - HALF_LOG_TAU - 0.5
    }

    /// Whether all densities are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.errors.iter().chain(&self.log_precisions).all(|number| number.is_finite())
    }
}

/// The mean of values by cell, and its standard error if values within a gap depend on each other. With a single gap the error is
/// infinite.
pub(crate) fn mean_with_error(values: &[f64], gaps: &[usize]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let n_gaps = gaps.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![0.0; n_gaps];
    for (value, &gap) in values.iter().zip(gaps) {
        sums[gap] += value - mean;
    }
    let n_used = n_gaps as f64;
    let variance = sums.iter().map(|sum| sum * sum).sum::<f64>() / (count * count);
    let error = if n_gaps > 1 { (variance * n_used / (n_used - 1.0)).sqrt() } else { f64::INFINITY };
    (mean, error)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use crate::prepare::PooledMember;

    #[test]
    fn densities_are_those_of_the_prediction() {
        let predictive = Predictive::normal(2, vec![1.0, 10.0], vec![0.5, 2.0]);
        let cells = [(0, 1.7), (1, 7.0)];
        let densities = Densities::at(&predictive, &cells);
        for (cell, &(at, value)) in cells.iter().enumerate() {
            assert!((densities.log_density(cell, 1.0) - predictive.log_density(at, value)).abs() < 1e-14);
        }
        let mixture = MixtureDensities(vec![(0.4, 1.0, &densities), (0.6, 2.0, &densities)]);
        let wide = Predictive::normal(2, vec![1.0, 10.0], vec![1.0, 4.0]);
        let exact = Predictive::mixture(vec![(0.4, predictive.clone()), (0.6, wide.clone())]);
        let (exact, scales) = (exact.unwrap(), [0.5, 3.0]);
        let (found, expected) =
            (mixture.scores(&cells, &scales), HeldOutScores::new(&exact, &cells, &scales));
        for (found, expected) in
            [(found.scores, expected.scores), (found.by_output[1], expected.by_output[1])]
        {
            assert!(
                (found.rmse - expected.rmse).abs() < 1e-12
                    && (found.log_score - expected.log_score).abs() < 1e-12
            );
            assert_eq!((found.n_cells, found.coverage), (expected.n_cells, expected.coverage));
        }
        let mean = |widening: f64| densities.log_densities(widening).iter().sum::<f64>() / 2.0;
        let best = (1..4000).map(|at| mean(f64::from(at) * 1e-3)).fold(f64::NEG_INFINITY, f64::max);
        assert!((densities.best_log_score() - best).abs() < 1e-6);
        assert!((densities.log_density(1, 2.0) - wide.log_density(1, 7.0)).abs() < 1e-14);
    }

    #[test]
    fn pooled_densities_are_those_of_the_pooled_prediction() {
        let powers = vec![PowerTransform::None, PowerTransform::BoxCox { exponent: 0.3 }];
        let member = |center: f64, deviation: f64| PooledMember {
            observation: Predictive::new(vec![center, 0.5 * center], vec![deviation; 2], powers.clone()),
            function: None,
        };
        let members = [member(0.3, 0.5), member(1.1, 0.8)];
        let exponents = [0.7, 1.4];
        let cells = [(0, 0.8), (1, 2.5)];
        let pooled = Predictive::pooled(&members, |_, member| exponents[member]).unwrap();
        let densities: Vec<Densities> =
            members.iter().map(|member| Densities::at(&member.observation, &cells)).collect();
        let found = Densities::pooled(&densities.iter().collect::<Vec<_>>(), |_| exponents.as_slice());
        for (cell, &(at, value)) in cells.iter().enumerate() {
            assert!((found.log_density(cell, 1.0) - pooled.log_density(at, value)).abs() < 1e-12);
            assert!((found.mean(cell, 1.0) - pooled.mean(at)).abs() < 1e-10);
        }
    }

    #[test]
    fn cells_of_one_gap_count_as_one_observation() {
        // Two gaps of three equal cells: the standard error is that of two numbers.
        let (mean, error) = mean_with_error(&[1.0, 1.0, 1.0, 3.0, 3.0, 3.0], &[0, 0, 0, 1, 1, 1]);
        assert!((mean - 2.0).abs() < 1e-15 && (error - 1.0).abs() < 1e-15);
        assert_eq!(mean_with_error(&[1.0, 2.0], &[0, 0]).1, f64::INFINITY);
    }
}
