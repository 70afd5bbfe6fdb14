//! Weights of a mixture that maximize the log score on held-out cells.

use crate::scores::{Densities, MixtureDensities};

/// Iterations of expectation–maximization; the log score changes little after them.
const ITERATIONS: usize = 150;
/// Members below this weight are dropped.
const LEAST_WEIGHT: f64 = 0.03;
/// The smallest factor on standard deviations: a member that is far too wide is worth correcting, but not to certainty.
const LEAST_WIDENING: f64 = 0.3;

/// A member's weight and the factor on its standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemberWeight {
    pub(super) weight: f64,
    pub(super) widening: f64,
}

/// Maximizes the mean log density of the mixture over the cells, by expectation–maximization in weights and factors. Each factor
/// is drawn to 1 as if by the cells of one more gap. Members below a smallest weight get 0.
pub(super) fn mixture_weights(members: &[&Densities], n_gaps: usize) -> Vec<MemberWeight> {
    let mut is_used = vec![true; members.len()];
    loop {
        let weights = maximized(members, &is_used, n_gaps);
        let weakest = (0..members.len())
            .filter(|&at| is_used[at])
            .min_by(|&a, &b| weights[a].weight.total_cmp(&weights[b].weight));
        match weakest.filter(|&at| weights[at].weight < LEAST_WEIGHT) {
            Some(at) => is_used[at] = false,
            None => return weights,
        }
    }
}

fn maximized(members: &[&Densities], is_used: &[bool], n_gaps: usize) -> Vec<MemberWeight> {
    let n_used = is_used.iter().filter(|used| **used).count().max(1) as f64;
    let n_cells = members.first().map_or(0, |member| member.len());
    let prior = n_cells as f64 / n_gaps.max(1) as f64;
    let start = |(member, used): (&&Densities, &bool)| MemberWeight {
        weight: if *used { 1.0 / n_used } else { 0.0 },
        widening: single_widening(member, n_gaps),
    };
    let mut weights: Vec<MemberWeight> = members.iter().zip(is_used).map(start).collect();
    let mut shares = vec![0.0; members.len()];
    for _ in 0..ITERATIONS {
        let mut totals = vec![0.0; members.len()];
        let mut squares = vec![0.0; members.len()];
        for cell in 0..n_cells {
            let mut largest = f64::NEG_INFINITY;
            for (at, member) in members.iter().enumerate().filter(|(at, _)| is_used[*at]) {
                let MemberWeight { weight, widening } = weights[at];
                shares[at] = weight.ln() + member.log_density(cell, widening);
                largest = largest.max(shares[at]);
            }
            let mut sum = 0.0;
            for at in (0..members.len()).filter(|&at| is_used[at]) {
                shares[at] = (shares[at] - largest).exp();
                sum += shares[at];
            }
            for (at, member) in members.iter().enumerate().filter(|(at, _)| is_used[*at]) {
                let share = shares[at] / sum;
                totals[at] += share;
                squares[at] += share * member.errors[cell] * member.errors[cell];
            }
        }
        for at in (0..members.len()).filter(|&at| is_used[at]) {
            let square = (squares[at] + prior) / (totals[at] + prior);
            weights[at] = MemberWeight {
                weight: (totals[at] / n_cells as f64).max(f64::MIN_POSITIVE),
                widening: square.sqrt().max(LEAST_WIDENING),
            };
        }
    }
    weights
}

/// The factor on standard deviations for factors estimated from a number of gaps: the few gaps of the folds do not show all that
/// may happen in another one.
pub(super) fn few_gaps(n_gaps: usize) -> f64 {
    (1.0 + 1.0 / n_gaps.max(1) as f64).sqrt()
}

/// The factor on the standard deviations of a single member.
pub(super) fn single_widening(member: &Densities, n_gaps: usize) -> f64 {
    let n_cells = member.len() as f64;
    let prior = n_cells / n_gaps.max(1) as f64;
    let squares: f64 = member.errors.iter().map(|error| error * error).sum();
    ((squares + prior) / (n_cells + prior)).sqrt().max(LEAST_WIDENING)
}

/// The mixture with these weights, without members of weight 0.
pub(super) fn mixture<'a>(members: &[&'a Densities], weights: &[MemberWeight]) -> MixtureDensities<'a> {
    let used = members.iter().zip(weights).filter(|(_, weight)| weight.weight > 0.0);
    MixtureDensities(used.map(|(member, weight)| (weight.weight, weight.widening, *member)).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use crate::prepare::Predictive;

    /// Densities of predictions that all have this mean and standard deviation.
    fn constant(values: &[f64], mean: f64, deviation: f64) -> Densities {
        let predictive = Predictive::normal(1, vec![mean; values.len()], vec![deviation; values.len()]);
        Densities::at(&predictive, &values.iter().copied().enumerate().collect::<Vec<_>>())
    }

    /// Quantiles of a standard normal.
    fn quantiles(count: usize) -> Vec<f64> {
        (0..count).map(|at| crate::normal::quantile((at as f64 + 0.5) / count as f64)).collect()
    }

    #[test]
    fn the_weights_of_a_mixture_are_found() {
        let one = quantiles(300).into_iter().map(|x| 0.5 * x - 4.0);
        let values: Vec<f64> = one.chain(quantiles(700).into_iter().map(|x| x + 4.0)).collect();
        let members = [constant(&values, -4.0, 0.5), constant(&values, 4.0, 1.0)];
        let found = mixture_weights(&[&members[0], &members[1]], 1000);
        assert!((found[0].weight - 0.3).abs() < 1e-3, "{found:?}");
        assert!(found.iter().all(|member| (member.widening - 1.0).abs() < 0.02), "{found:?}");
    }

    #[test]
    fn a_member_that_brings_nothing_gets_no_weight_and_narrow_ones_are_widened() {
        let values = quantiles(500);
        let members = [constant(&values, 0.0, 0.5), constant(&values, 3.0, 1.0)];
        let found = mixture_weights(&[&members[0], &members[1]], 500);
        assert_eq!(found[1].weight, 0.0);
        assert!((found[0].widening - 2.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn the_log_score_is_at_least_that_of_each_member() {
        let values: Vec<f64> = quantiles(200).iter().map(|x| x * x * x).collect();
        let members = [constant(&values, 0.0, 1.0), constant(&values, 0.5, 3.0), constant(&values, 0.0, 9.0)];
        let all: Vec<&Densities> = members.iter().collect();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let stacked = mean(mixture(&all, &mixture_weights(&all, 200)).log_densities());
        for member in &members {
            assert!(stacked > mean(member.log_densities(single_widening(member, 200))));
        }
    }
}
