//! The choice between the three forms of the sweep.

use crate::graph::FactorGraph;
use crate::index::{LatentIndex, OutputIndex};
use crate::model::{Latent, MixingMatrix};

/// Three forms of one sweep. They agree to rounding; they differ in cost, and in how they round.
///
/// Let 1/s be the information of one complete row about its latents relative to their prior: the largest
/// eigenvalue of `R^-½ W Wᵀ R^-½` over observed outputs. For a single output, s is the ratio of noise to signal.
///
/// | form | structures | cost per point | rounding |
/// |---|---|---|---|
/// | [`Covariance`](Form::Covariance) | chains | O(n²(K + min(L, D))) | variances are differences from the prior's and lose a factor 1/s of *its* size; the gradient loses 1/s, in weights up to 1/s² where cells crowd; no loss in the log evidence was measured down to s = 1e-9 |
/// | [`Information`](Form::Information) | all | O(n³) | variances lose a factor 1/s, log evidence and gradient 1/s² |
/// | [`SquareRoot`](Form::SquareRoot) | all | O(n³), several times the information form | independent of s |
///
/// The square-root form alone would suffice on trees. It does not replace the information form because it takes 5 times the instructions,
/// and 7 to 11 times the time on a spanning tree of 10⁵ rows (1 to 4 latents; posterior, log evidence and gradient).
///
/// Unless a form is named, the cheapest one is chosen that keeps ten digits, or eight of the gradient; for
/// states of more than 32 numbers, seven digits of variances. A form that is named is used without these checks.
///
/// Predictions between rows and ahead of them ([`Workspace::predict_along`](super::Workspace::predict_along),
/// [`Workspace::predict_ahead`](super::Workspace::predict_ahead)) keep five digits of each variance: from the covariance form where that
/// is accurate, else from the square-root form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Kalman filter forward, Bryson–Frazier smoother backward.
    Covariance,
    /// Information-form messages up, marginals down.
    Information,
    /// The same in square-root information form, by orthogonal elimination.
    SquareRoot,
}

/// The purpose of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Evidence,
    Marginals,
    Gradient,
    States,
}

/// The smallest s at which the information form keeps ten digits.
const ENOUGH_FOR_INFORMATION: f64 = 1e-2;

impl Purpose {
    /// The smallest s at which the covariance form can be accurate: ten digits of the log evidence, as far as measured, and eight of its
    /// gradient. Gradient and variances are checked afterwards, by [`gradient_is_accurate`] and [`variances_are_accurate`].
    fn enough_for_covariance(self) -> f64 {
        match self {
            Self::Evidence => 1e-9,
            Self::Gradient => 1e-7,
            Self::Marginals => f64::EPSILON / SMALLEST_DIGIT,
            // The covariance form does not keep the marginals of states.
            Self::States => f64::INFINITY,
        }
    }
}

impl Form {
    /// The form to try first.
    pub(super) fn for_purpose(graph: &FactorGraph<'_>, purpose: Purpose) -> Self {
        if graph.tree().is_chain() && noise_ratio(graph) >= purpose.enough_for_covariance() {
            Self::Covariance
        } else {
            Self::for_any_tree(graph)
        }
    }

    /// The form to try first for marginals.
    pub(super) fn for_marginals(graph: &FactorGraph<'_>) -> Self {
        Self::for_purpose(graph, Purpose::Marginals)
    }

    /// The form to use if the covariance form is not.
    pub(super) fn for_any_tree(graph: &FactorGraph<'_>) -> Self {
        if noise_ratio(graph) >= ENOUGH_FOR_INFORMATION { Self::Information } else { Self::SquareRoot }
    }
}

/// A fifth of the tenth digit.
const SMALLEST_DIGIT: f64 = 2e-11;

/// A fifth of the seventh digit: for large states another form would take a hundred times as long.
const SMALLEST_DIGIT_OF_LARGE: f64 = 2e-8;
const LARGE_STATE: usize = 32;

fn smallest_digit(graph: &FactorGraph<'_>) -> f64 {
    if graph.model().state_dim() > LARGE_STATE { SMALLEST_DIGIT_OF_LARGE } else { SMALLEST_DIGIT }
}

/// A fifth of the fifth digit: what a prediction at a new input may lose of its own variance, so that it does not depend on other inputs.
const SMALLEST_DIGIT_OF_ONE: f64 = 2e-6;

/// By output, the smallest variance of which the covariance form keeps five digits; see [`variances_are_accurate`].
fn smallest_accurate(graph: &FactorGraph<'_>) -> Vec<f64> {
    let cost = f64::EPSILON / noise_ratio(graph) / SMALLEST_DIGIT_OF_ONE;
    // An output without weights loses nothing.
    signal_variances(graph).into_iter().map(|signal| if signal > 0.0 { cost * signal } else { 0.0 }).collect()
}

/// By output, the smallest variance to be trusted in the covariance form; `None` if that form was named, infinite if the square-root form
/// was.
pub(super) fn smallest_trusted(form: Option<Form>, graph: &FactorGraph<'_>) -> Option<Vec<f64>> {
    match form {
        Some(Form::Covariance) => None,
        Some(Form::SquareRoot) => Some(vec![f64::INFINITY; graph.model().n_outputs()]),
        Some(Form::Information) | None => Some(smallest_accurate(graph)),
    }
}

/// Whether all variances are nonnegative; a negative one has lost every digit.
pub(crate) fn all_nonnegative(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| *number >= 0.0)
}

/// Whether marginals of the covariance form have kept ten digits (seven for large states) of each output's largest
/// variance.
///
/// A variance `P − PNP` is the difference of two numbers of at most the prior variance w². Where a row of information 1/s
/// meets the prior, the filtered variance is rounded at ε·w², the gain of the next observation therefore at a relative ε/s,
/// and so is N: an error of about ε·w²/s. That is too much only if all variances of an output are small, as when many
/// cells crowd into one place. `largest` are the largest variances by output.
pub(super) fn variances_are_accurate(graph: &FactorGraph<'_>, largest: &[f64]) -> bool {
    let mut digits = Accuracy::default();
    digits.add(graph, largest);
    digits.is_enough()
}

/// The same for marginals that come in blocks.
#[derive(Debug, Default)]
pub(super) struct Accuracy {
    /// By output, the largest variance and the prior variance.
    largest: Vec<f64>,
    signals: Vec<f64>,
    /// The relative error allowed, and the one expected from the smallest noise.
    smallest_digit: f64,
    cost: f64,
    /// Whether any variance is negative.
    is_below_zero: bool,
}

impl Accuracy {
    /// Adds a block by its largest variances.
    pub(super) fn add(&mut self, graph: &FactorGraph<'_>, largest: &[f64]) {
        self.largest.resize(largest.len(), 0.0);
        self.largest.iter_mut().zip(largest).for_each(|(largest, &own)| *largest = largest.max(own));
        self.signals = signal_variances(graph);
        self.smallest_digit = smallest_digit(graph);
        self.cost = self.cost.max(f64::EPSILON / noise_ratio(graph));
    }

    /// Adds the variances of a block.
    pub(super) fn add_variances(&mut self, variances: &[f64]) {
        self.is_below_zero |= !all_nonnegative(variances);
    }

    /// Whether enough digits are left.
    pub(super) fn is_enough(&self) -> bool {
        // An output without weights loses nothing: 0/0 is NaN, which `min` skips.
        let shares = self.largest.iter().zip(&self.signals).map(|(left, signal)| left / signal);
        let smallest_share = shares.fold(f64::INFINITY, f64::min);
        !self.is_below_zero && self.cost <= self.smallest_digit * smallest_share
    }
}

/// Whether a gradient of the covariance form has kept eight digits, relative to one unit per cell.
///
/// The gradient in weights loses digits first: a gain with relative error ε/s multiplies the adjoint N, which is as
/// large as 1/s where cells crowd, and the error reaches directions in which the state is poorly determined. Along h, where it is
/// determined to s, only a share s of the error shows: there the pass computes each variance twice, and `variance_mismatch` sums the
/// differences.
pub(super) fn gradient_is_accurate(
    graph: &FactorGraph<'_>,
    variance_mismatch: f64,
    n_observations: usize,
) -> bool {
    variance_mismatch <= 1e-8 * noise_ratio(graph) * n_observations as f64
}

/// The prior variance |w_d|² of each output.
fn signal_variances(graph: &FactorGraph<'_>) -> Vec<f64> {
    let (mixing, sizes) = (graph.model().mixing(), sizes(graph));
    let outputs = (0..graph.model().n_outputs()).map(OutputIndex::new);
    let of_entry = |(latent, weight): (LatentIndex, f64)| weight * weight * sizes[latent.get()];
    outputs.map(|output| mixing.row_entries(output).map(of_entry).sum()).collect()
}

/// By latent, the variance that a row observes: 1 for a stationary process; for others the variance gained between rows, since only
/// the first row observes the variance at the root.
fn sizes(graph: &FactorGraph<'_>) -> Vec<f64> {
    let tree = graph.tree();
    let n_edges = tree.len().saturating_sub(tree.n_roots()).max(1) as f64;
    let step = tree.total_length() / n_edges;
    let size = |latent: &Latent| {
        let wanders = !latent.is_stationary() && tree.len() > tree.n_roots();
        if wanders { latent.gained_variance(step).min(1.0) } else { 1.0 }
    };
    graph.model().latents().iter().map(size).collect()
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
    let (n_outputs, sizes) = (noise.len(), sizes(graph));
    if sizes.len() < n_outputs {
        return eigenvalue_bound(sizes.len(), information_by_latent(mixing, &noise, &sizes)).recip();
    }
    let entry = |at: usize| {
        let (d, e) = (at / n_outputs, at % n_outputs);
        let row = mixing.row_entries(OutputIndex::new(d));
        let product: f64 = row
            .map(|(latent, weight)| sizes[latent.get()] * weight * mixing.weight(OutputIndex::new(e), latent))
            .sum();
        product / noise[d].sqrt() / noise[e].sqrt()
    };
    let information: Vec<f64> = (0..n_outputs * n_outputs).map(entry).collect();
    eigenvalue_bound(n_outputs, information).recip()
}

/// `Wᵀ R⁻¹ W`, which has the eigenvalues of `R^-½ W Wᵀ R^-½` except for zeros, with latents scaled by the roots of their sizes.
fn information_by_latent(mixing: &MixingMatrix, noise: &[f64], sizes: &[f64]) -> Vec<f64> {
    let n_latents = sizes.len();
    let mut information = vec![0.0; n_latents * n_latents];
    for (output, noise) in noise.iter().enumerate() {
        for (one, weight) in mixing.row_entries(OutputIndex::new(output)) {
            let factor = sizes[one.get()].sqrt() * weight / noise;
            for (other, weight) in mixing.row_entries(OutputIndex::new(output)) {
                information[one.get() * n_latents + other.get()] +=
                    factor * sizes[other.get()].sqrt() * weight;
            }
        }
    }
    information
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
    use super::{eigenvalue_bound, information_by_latent};
    use crate::index::{LatentIndex, OutputIndex};
    use crate::model::MixingMatrix;

    #[test]
    fn outputs_and_latents_have_the_same_bound() {
        let weights: Vec<f64> = (0..15).map(|at| (1.3 * at as f64).sin()).collect();
        let mixing = MixingMatrix::shared(5, 3, weights).unwrap();
        let (noise, sizes) = ([0.1, 2.0, 0.03, 1.0, f64::INFINITY], [1.0, 0.4, 0.01]);
        let weight = |d: usize, l: usize| mixing.weight(OutputIndex::new(d), LatentIndex::new(l));
        let entry = |at: usize| {
            let (d, e) = (at / 5, at % 5);
            let product: f64 = (0..3).map(|l| sizes[l] * weight(d, l) * weight(e, l)).sum();
            product / (noise[d] * noise[e]).sqrt()
        };
        let by_output = eigenvalue_bound(5, (0..25).map(entry).collect());
        let by_latent = eigenvalue_bound(3, information_by_latent(&mixing, &noise, &sizes));
        assert!((by_output / by_latent - 1.0).abs() < 1e-13, "{by_output} {by_latent}");
    }

    #[test]
    fn the_bound_is_above_the_largest_eigenvalue_and_near_it() {
        // 2I + 3·(ones) has the eigenvalues 2 (twice) and 11.
        let bound = eigenvalue_bound(3, vec![5.0, 3.0, 3.0, 3.0, 5.0, 3.0, 3.0, 3.0, 5.0]);
        assert!((11.0..11.0 * 3.0_f64.powf(0.125)).contains(&bound), "{bound}");
        assert!((eigenvalue_bound(2, vec![1e200, 0.0, 0.0, 0.0]) / 1e200 - 1.0).abs() < 1e-15);
    }
}
