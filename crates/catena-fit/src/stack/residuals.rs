//! The process that carries the residuals of one output into its gaps.

use serde::{Deserialize, Serialize};

/// The length-scale of a random walk, in extents of the inputs: within the table it never returns to its mean.
const RANDOM_WALK: f64 = 20.0;
/// The longest length-scale of a stationary process, in extents of the inputs.
const LONGEST: f64 = 5.0;
/// The smallest noise variance, in variances of the residuals.
const LEAST_NOISE: f64 = 1e-6;
/// The first and the last step of the search, in logarithms of the parameters.
const FIRST_STEP: f64 = 1.0;
const LAST_STEP: f64 = 0.1;

/// The residual process of one output, in the model's units: Matérn-1/2 with noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualProcess {
    /// Its standard deviation.
    pub deviation: f64,
    /// Its length-scale.
    pub length_scale: f64,
    /// The variance of the noise.
    pub noise: f64,
}

/// How residuals continue inside a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResidualKind {
    /// They return to 0, at a rate that is learned.
    Stationary,
    /// They do not return: linear interpolation between the ends of the gap.
    RandomWalk,
}

/// An observed residual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residual {
    /// Its place along the input.
    pub(super) place: f64,
    pub(super) value: f64,
    /// The variance of its noise beyond that of the process.
    pub(super) excess: f64,
    /// Whether the process starts here: the first one of a group.
    pub(super) is_first: bool,
}

impl ResidualProcess {
    /// The process of an output without variation or without residuals.
    const NONE: Self = Self { deviation: 0.0, length_scale: 1.0, noise: 1.0 };

    /// The process of the largest likelihood, by a pattern search in the logarithms of the parameters. Residuals are in the order
    /// of their places, group by group, and `extent` is that of the inputs, of the longest group if there are several.
    pub(super) fn fitted(residuals: &[Residual], kind: ResidualKind, extent: f64) -> Self {
        let count = residuals.len() as f64;
        let variance = residuals.iter().map(|one| one.value * one.value).sum::<f64>() / count;
        if residuals.len() < 2 || !(variance > 0.0 && variance.is_finite() && extent > 0.0) {
            return Self { noise: if variance > 0.0 { variance } else { 1.0 }, ..Self::NONE };
        }
        let n_groups = residuals.iter().filter(|one| one.is_first).count().max(1);
        let step = extent * n_groups as f64 / count;
        let process = |[variance, length, noise]: [f64; 3]| Self {
            deviation: (0.5 * variance).exp(),
            length_scale: length.exp(),
            noise: noise.exp(),
        };
        let least_noise = (LEAST_NOISE * variance).ln();
        let value = |parameters: [f64; 3]| match parameters[2] < least_noise {
            true => f64::NEG_INFINITY,
            false => process(parameters).log_likelihood(residuals),
        };
        let (log_variance, log_extent) = (variance.ln(), extent.ln());
        let starts: Vec<[f64; 3]> = match kind {
            ResidualKind::Stationary => [3.0, 30.0, 300.0]
                .into_iter()
                .map(|length: f64| (length * step).min(LONGEST * extent).ln())
                .flat_map(|length| {
                    [0.02_f64, 0.5]
                        .map(|noise| [log_variance + (1.0 - noise).ln(), length, log_variance + noise.ln()])
                })
                .collect(),
            // The variance of a step is 2 Δ / length-scale that of the process.
            ResidualKind::RandomWalk => [0.02_f64, 0.5]
                .into_iter()
                .flat_map(|of_step| {
                    let length = log_extent + RANDOM_WALK.ln();
                    let total = log_variance + (of_step * 0.5).ln() + length - step.ln();
                    [0.02_f64, 0.5].map(|noise| [total, length, log_variance + noise.ln()])
                })
                .collect(),
        };
        let scored = starts.into_iter().map(|start| (value(start), start));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((mut best, mut at)) = best else { return Self::NONE };
        let free: &[usize] = match kind {
            ResidualKind::Stationary => &[0, 1, 2],
            ResidualKind::RandomWalk => &[0, 2],
        };
        let mut step = FIRST_STEP;
        while step >= LAST_STEP {
            let before = best;
            for &parameter in free {
                for sign in [1.0, -1.0] {
                    let mut next = at;
                    next[parameter] += sign * step;
                    if parameter == 1 && next[1] > (LONGEST * extent).ln() {
                        continue;
                    }
                    let found = value(next);
                    if found > best {
                        (best, at) = (found, next);
                        break;
                    }
                }
            }
            if best <= before {
                step *= 0.5;
            }
        }
        process(at)
    }

    /// The log likelihood of residuals in the order of their places, by a Kalman filter with one state.
    fn log_likelihood(&self, residuals: &[Residual]) -> f64 {
        let stationary = self.deviation * self.deviation;
        let (mut mean, mut variance, mut last) = (0.0, stationary, 0.0);
        let (mut sum, mut product) = (0.0, 1.0_f64);
        // Steps are often equal; their factors are kept.
        let (mut kept, mut factor, mut added) = (f64::NAN, 0.0, 0.0);
        for &Residual { place, value, excess, is_first } in residuals {
            if is_first {
                (mean, variance) = (0.0, stationary);
            } else {
                let distance: f64 = place - last;
                if distance != kept {
                    let scaled = distance / self.length_scale;
                    (kept, factor, added) =
                        (distance, (-scaled).exp(), -stationary * (-2.0 * scaled).exp_m1());
                }
                (mean, variance) = (factor * mean, factor * factor * variance + added);
            }
            last = place;
            let noise = self.noise + excess;
            let total = variance + noise;
            let innovation = value - mean;
            sum += innovation * innovation / total;
            product *= total;
            if !(1e-200..1e200).contains(&product) {
                sum += product.ln();
                product = 1.0;
            }
            let gain = variance / total;
            (mean, variance) = (mean + gain * innovation, gain * noise);
        }
        -0.5 * (sum + product.ln() + residuals.len() as f64 * std::f64::consts::TAU.ln())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use std::sync::Arc;

    use super::*;
    use crate::stack::rows::model_of;
    use catena::data::{InputPoints, Observations};
    use catena::graph::FactorGraph;
    use catena::index::GroupIndex;
    use catena::inference;
    use catena::structure::sorted_chain;

    /// Residuals of a slow wave and a fast one at irregular places.
    fn residuals(n: usize) -> Vec<Residual> {
        (0..n)
            .map(|at| {
                let place = at as f64 + 0.3 * (at as f64 * 1.7).sin();
                let value = (place / 30.0).sin() + 0.2 * (place * 2.9).cos();
                let excess = if at % 7 == 3 { 0.4 } else { 0.0 };
                Residual { place, value, excess, is_first: at == 0 }
            })
            .collect()
    }

    /// Of one table, and of three groups of rows at the same places.
    #[test]
    fn the_likelihood_is_that_of_the_sweep() {
        likelihood_is_that_of_the_sweep(&residuals(60), 1);
        let shifted = |shift: f64| move |one: Residual| Residual { value: one.value + shift, ..one };
        let groups =
            [0.0, 1.0, -2.0].into_iter().flat_map(|shift| residuals(20).into_iter().map(shifted(shift)));
        likelihood_is_that_of_the_sweep(&groups.collect::<Vec<_>>(), 3);
    }

    fn likelihood_is_that_of_the_sweep(residuals: &[Residual], n_groups: usize) {
        let process = ResidualProcess { deviation: 0.8, length_scale: 12.0, noise: 0.05 };
        let groups = (0..60).map(|row| GroupIndex::new(row * n_groups / 60)).collect();
        let inputs = InputPoints::from_column(residuals.iter().map(|one| one.place).collect()).unwrap();
        let inputs = inputs.with_groups(groups).unwrap();
        let values: Vec<f64> = residuals.iter().map(|one| one.value).collect();
        let noise: Vec<f64> = residuals.iter().map(|one| process.noise + one.excess).collect();
        let observations = Observations::from_dense(60, 1, &values).unwrap().with_cell_noise(&noise).unwrap();
        let tree = Arc::new(sorted_chain(&inputs).unwrap());
        let graph = FactorGraph::new(Arc::new(model_of(process).unwrap()), tree, &observations).unwrap();
        let exact = inference::log_evidence(&graph).unwrap();
        let found = process.log_likelihood(residuals);
        assert!((found - exact).abs() < 1e-9 * exact.abs(), "{found} and {exact}");
    }

    #[test]
    fn the_search_ends_at_a_maximum() {
        let residuals = residuals(200);
        for kind in [ResidualKind::Stationary, ResidualKind::RandomWalk] {
            let found = ResidualProcess::fitted(&residuals, kind, 200.0);
            let best = found.log_likelihood(&residuals);
            for factor in [0.6, 1.6] {
                let ResidualProcess { deviation, length_scale, noise } = found;
                let mut others = vec![
                    ResidualProcess { deviation: deviation * factor, ..found },
                    ResidualProcess { noise: noise * factor, ..found },
                ];
                if kind == ResidualKind::Stationary {
                    others.push(ResidualProcess { length_scale: length_scale * factor, ..found });
                }
                for other in others {
                    assert!(other.log_likelihood(&residuals) < best + 0.05, "{kind:?}: {other:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn residuals_without_variation_have_a_process() {
        let zero = |at: usize| Residual { place: at as f64, value: 0.0, excess: 0.0, is_first: at == 0 };
        let zeros: Vec<Residual> = (0..5).map(zero).collect();
        assert_eq!(ResidualProcess::fitted(&zeros, ResidualKind::Stationary, 4.0).deviation, 0.0);
        assert_eq!(ResidualProcess::fitted(&[], ResidualKind::RandomWalk, 4.0), ResidualProcess::NONE);
    }
}
