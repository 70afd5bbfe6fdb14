//! Which of the three forms of the sweep runs, decided in one place.

use super::Marginals;
use crate::graph::FactorGraph;
use crate::index::OutputIndex;

/// Three forms of one sweep. They agree to rounding; they differ in cost, and in how they round.
///
/// With 1/s the information that one complete row carries about its latents, in units of their prior: the largest
/// eigenvalue of `R^-½ W Wᵀ R^-½` over observed outputs, so that s is the ratio of noise to signal for a single output:
///
/// | form | structures | cost per point | rounding |
/// |---|---|---|---|
/// | [`Covariance`](Form::Covariance) | chains | O(n²(K + min(L, D))) | variances and slopes are differences from the prior's and lose a factor 1/s² of *its* size |
/// | [`Canonical`](Form::Canonical) | all | O(n³) | variances lose a factor 1/s, evidence and slopes 1/s² |
/// | [`Factored`](Form::Factored) | all | O(n³), many times the canonical one | nothing is lost to s |
///
/// Unless a form is named, the cheapest one is chosen that keeps ten digits of what is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Filter forward, dual backward.
    Covariance,
    /// Canonical messages up, beliefs down.
    Canonical,
    /// The same with square-root factors, by orthogonal elimination.
    Factored,
}

/// What a sweep is run for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Evidence,
    Marginals,
    Gradient,
    States,
}

/// The smallest s at which the canonical and the covariance form keep ten digits; for variances in the latter
/// [`keeps_digits`] has the last word.
const ENOUGH_NOISE: f64 = 1e-2;

impl Form {
    /// The form to try first.
    pub(super) fn for_purpose(graph: &FactorGraph<'_>, purpose: Purpose) -> Self {
        let ratio = noise_ratio(graph);
        // Beliefs are kept whole, which the covariance form does not do.
        let can_filter = graph.tree().is_chain() && purpose != Purpose::States;
        match (ratio >= ENOUGH_NOISE, can_filter) {
            (false, _) => Self::Factored,
            (true, true) => Self::Covariance,
            (true, false) => Self::Canonical,
        }
    }
}

/// Whether marginals found in the covariance form have kept ten digits of the largest variance.
///
/// A variance is the difference of two numbers of the prior's size w². Where a row's information 1/s meets the prior, the
/// filtered variance is rounded at ε and enters the dual between two factors 1/s: an error of about ε·w²/s². That is too
/// much only if all variances are small, as when many cells crowd into one place.
pub(super) fn keeps_digits(graph: &FactorGraph<'_>, marginals: &Marginals) -> bool {
    let largest = |numbers: &[f64]| numbers.iter().copied().fold(0.0, f64::max);
    let share_left = largest(marginals.prediction.variances()) / largest(&signal_variances(graph));
    let rounding = f64::EPSILON / noise_ratio(graph).powi(2);
    // A fifth of the tenth digit.
    rounding <= 2e-11 * share_left
}

/// The prior variance |w_d|² of each output.
fn signal_variances(graph: &FactorGraph<'_>) -> Vec<f64> {
    let mixing = graph.model().mixing();
    let outputs = (0..graph.model().n_outputs()).map(OutputIndex::new);
    outputs.map(|output| mixing.row_entries(output).map(|(_, weight)| weight * weight).sum()).collect()
}

/// s: one over the largest eigenvalue of `R^-½ W Wᵀ R^-½` over observed outputs; infinite when nothing is observed.
fn noise_ratio(graph: &FactorGraph<'_>) -> f64 {
    let (cells, mixing) = (graph.cells(), graph.model().mixing());
    let noise = match cells.smallest_own_noise() {
        Some(own) => own,
        None => {
            let counts = cells.counts_by_output();
            let noise = graph.model().noise().iter().map(|noise| noise.get());
            noise.zip(counts).map(|(noise, count)| if count > 0 { noise } else { f64::INFINITY }).collect()
        }
    };
    let n_outputs = noise.len();
    let entry = |at: usize| {
        let (d, e) = (at / n_outputs, at % n_outputs);
        let row = mixing.row_entries(OutputIndex::new(d));
        let product: f64 =
            row.map(|(latent, weight)| weight * mixing.weight(OutputIndex::new(e), latent)).sum();
        product / noise[d].sqrt() / noise[e].sqrt()
    };
    let information: Vec<f64> = (0..n_outputs * n_outputs).map(entry).collect();
    eigenvalue_bound(n_outputs, information).recip()
}

/// An upper bound of the largest eigenvalue of a positive semidefinite matrix, at most `size^⅛` above it: the fourth root
/// of the Frobenius norm of its fourth power.
fn eigenvalue_bound(size: usize, matrix: Vec<f64>) -> f64 {
    let scale = matrix.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    let mut power: Vec<f64> = matrix.iter().map(|entry| entry / scale).collect();
    for _ in 0..2 {
        let entry =
            |at: usize| (0..size).map(|k| power[at / size * size + k] * power[k * size + at % size]).sum();
        power = (0..size * size).map(entry).collect();
    }
    scale * power.iter().map(|entry| entry * entry).sum::<f64>().powf(0.125)
}

#[cfg(test)]
mod tests {
    use super::eigenvalue_bound;

    #[test]
    fn the_bound_is_above_the_largest_eigenvalue_and_near_it() {
        // 2I + 3·(ones) has the eigenvalues 2 (twice) and 11.
        let bound = eigenvalue_bound(3, vec![5.0, 3.0, 3.0, 3.0, 5.0, 3.0, 3.0, 3.0, 5.0]);
        assert!((11.0..11.0 * 3.0_f64.powf(0.125)).contains(&bound), "{bound}");
        assert!((eigenvalue_bound(2, vec![1e200, 0.0, 0.0, 0.0]) / 1e200 - 1.0).abs() < 1e-15);
    }
}
