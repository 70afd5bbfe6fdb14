//! The gradient of the dense log evidence, `½ tr((ααᵀ − K⁻¹) ∂K/∂θ)` with `α = K⁻¹y`.

use catena::index::LatentIndex;

use super::posterior::DensePosterior;
use super::{DensePrior, DoubleDouble, StateCovariance};

/// Derivatives of the log evidence by every parameter of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseGradient {
    /// d/dw_dl, row-major D×L; 0 where a private column has no entry.
    pub mixing: Vec<f64>,
    /// d/dℓ_l.
    pub length_scales: Vec<f64>,
    /// Derivative in each latent's shape parameter; 0 for latents without one.
    pub shapes: Vec<f64>,
    /// d/dr_d; cells with known noise of their own do not contribute.
    pub noise: Vec<f64>,
}

pub(super) fn dense_gradient(prior: &DensePrior<'_>, posterior: &DensePosterior<'_>) -> DenseGradient {
    let cells = &posterior.cells;
    let n = cells.len();
    let alpha = &posterior.weights;
    let mut sensitivity = posterior.inverse_covariance();
    for (at, entry) in sensitivity.iter_mut().enumerate() {
        *entry = alpha[at / n] * alpha[at % n] - *entry;
    }
    let model = prior.model;
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let mut mixing = vec![DoubleDouble::ZERO; n_outputs * n_latents];
    let mut length_scales = vec![DoubleDouble::ZERO; n_latents];
    let mut shapes = length_scales.clone();
    let mut noise = vec![DoubleDouble::ZERO; n_outputs];
    let readings: Vec<(LatentIndex, usize)> = model.readings().collect();
    for l in 0..n_latents {
        for m in prior.columns_with_latent_of(l) {
            let (owner, p) = (readings[l].0.get(), readings[l].1);
            let components = (p, readings[m].1);
            let derivative = derivative_in(prior, owner, 0, components);
            let shape_derivative =
                model.latents()[owner].shape().map(|_| derivative_in(prior, owner, 1, components));
            for (at, a) in cells.iter().enumerate() {
                for (other, b) in cells.iter().enumerate() {
                    let share = sensitivity[at * n + other] * prior.weight(b.output, m);
                    // K is symmetric in the two cells: the ½ cancels against the derivative in the second cell's weight.
                    mixing[a.output * n_latents + l] += share * prior.between((l, a.row), (m, b.row));
                    let (share, at) = (share * prior.weight(a.output, l), a.row * prior.n_rows + b.row);
                    length_scales[owner] += share * derivative[at];
                    if let Some(derivative) = &shape_derivative {
                        shapes[owner] += share * derivative[at];
                    }
                }
            }
        }
    }
    for (at, cell) in cells.iter().enumerate() {
        if !cell.has_own_noise {
            noise[cell.output] += sensitivity[at * n + at];
        }
    }
    let n_shared = model.mixing().n_shared();
    let is_entry = |at: usize| {
        let (output, latent) = (at / n_latents, at % n_latents);
        latent < n_shared || latent - n_shared == output
    };
    let half = |value: DoubleDouble| value.times_power_of_two(-1).to_f64();
    DenseGradient {
        mixing: (0..mixing.len()).map(|at| if is_entry(at) { mixing[at].to_f64() } else { 0.0 }).collect(),
        length_scales: length_scales.into_iter().map(half).collect(),
        shapes: shapes.into_iter().map(half).collect(),
        noise: noise.into_iter().map(half).collect(),
    }
}

/// The derivative of the covariance of two state components of latent l in its length-scale (`which` = 0) or shape (1), for
/// every pair of rows, by five-point differences. With a relative step of 1e-5 the truncation error is 1e-20 and the
/// rounding error 1e-25.
fn derivative_in(
    prior: &DensePrior<'_>,
    l: usize,
    which: usize,
    (p, q): (usize, usize),
) -> Vec<DoubleDouble> {
    let latent = &prior.model.latents()[l];
    let parameters = [latent.length_scale().get(), latent.shape().unwrap_or(1.0)];
    // A power of two, so that the displacement is exact.
    let step = parameters[which] * 2.0_f64.powi(-17);
    let displaced = [-2.0, -1.0, 1.0, 2.0].map(|times| {
        let mut moved = parameters.map(DoubleDouble::new);
        moved[which] += DoubleDouble::new(times * step);
        StateCovariance::new(latent, prior.metric, moved)
    });
    let divisor = DoubleDouble::new(12.0) * DoubleDouble::new(step);
    let entry = |i: usize, j: usize| {
        let [two_less, less, more, two_more] = [0, 1, 2, 3].map(|at| displaced[at].get((i, p), (j, q)));
        let eight = DoubleDouble::new(8.0);
        (two_less - two_more + eight * (more - less)) / divisor
    };
    (0..prior.n_rows.pow(2)).map(|at| entry(at / prior.n_rows, at % prior.n_rows)).collect()
}
