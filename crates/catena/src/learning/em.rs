//! One step of expectation maximization for weights and noises: their best values given the posterior moments.
//!
//! With posterior moments m, V of the latents an output reads, the expected log density of its cells is quadratic in the
//! output's weights: `w = (Σ (m mᵀ + V)/r + τI)⁻¹ Σ y m/r`, and its noise is the expected squared residual.

use super::LearningError;
use super::priors::Priors;
use crate::data::Observations;
use crate::graph::FactorGraph;
use crate::index::{OutputIndex, RowIndex};
use crate::linalg::{Lu, Separate};
use crate::model::{Latent, Lmc, MixingMatrix};
use crate::posterior::Posterior;
use crate::units::Variance;

/// The model after one step; its evidence (with the prior on weights) is at least that of the graph's model. Length-scales
/// and outputs without a cell stay as they are, and so do known noises of single cells.
///
/// # Errors
/// When the observations are of another table than the graph's, or the sweep fails.
pub fn em_step(
    graph: &FactorGraph<'_>,
    observations: &Observations,
    priors: &Priors,
    noise_floor: f64,
) -> Result<Lmc, LearningError> {
    graph.check_table(observations)?;
    let model = graph.model();
    let posterior = Posterior::new(graph)?;
    let mut outputs: Vec<OutputSums> =
        (0..model.n_outputs()).map(|output| OutputSums::new(model, OutputIndex::new(output))).collect();
    for row in (0..observations.n_rows()).map(RowIndex::new) {
        if observations.row(row).len() == 0 {
            continue;
        }
        let (mean, covariance) = (posterior.state_mean(row), posterior.state_covariance(row));
        for cell in observations.row(row) {
            let noise = cell.noise_variance.unwrap_or_else(|| model.noise()[cell.output.get()].get());
            outputs[cell.output.get()].add(
                &mean,
                &covariance,
                cell.value,
                noise,
                cell.noise_variance.is_none(),
            );
        }
    }
    let n_shared = model.mixing().n_shared();
    let (mut shared, mut private, mut noises) = (vec![], vec![], vec![]);
    for (output, sums) in outputs.iter().enumerate() {
        let (weights, noise) = sums.best(model, OutputIndex::new(output), priors.weight_precision);
        shared.extend_from_slice(&weights[..n_shared]);
        private.extend_from_slice(&weights[n_shared..]);
        noises.push(Variance::new(noise.max(noise_floor)).map_err(crate::model::ModelError::from)?);
    }
    let mixing = MixingMatrix::with_private(model.n_outputs(), n_shared, shared, private)?;
    Ok(Lmc::new(model.latents().to_vec(), mixing, noises)?)
}

/// Sums over the observed cells of one output.
struct OutputSums {
    /// Where in the state the latents are that the output reads.
    places: Vec<usize>,
    /// Σ E[g gᵀ]/r and Σ y E[g]/r.
    second: Vec<f64>,
    first: Vec<f64>,
    /// The same over cells whose noise is the output's own, without the division, with Σ y² and their number.
    own_second: Vec<f64>,
    own_first: Vec<f64>,
    squares: f64,
    count: f64,
}

impl OutputSums {
    fn new(model: &Lmc, output: OutputIndex) -> Self {
        let starts: Vec<usize> = model
            .latents()
            .iter()
            .scan(0, |next, latent: &Latent| {
                let start = *next;
                *next += latent.state_dim();
                Some(start)
            })
            .collect();
        let readings: Vec<usize> =
            model.readings().map(|(owner, component)| starts[owner.get()] + component).collect();
        let places: Vec<usize> =
            model.mixing().row_entries(output).map(|(latent, _)| readings[latent.get()]).collect();
        let (n, zeros) = (places.len(), vec![0.0; places.len()]);
        let square = vec![0.0; n * n];
        Self {
            places,
            second: square.clone(),
            first: zeros.clone(),
            own_second: square,
            own_first: zeros,
            squares: 0.0,
            count: 0.0,
        }
    }

    fn add(&mut self, mean: &[f64], covariance: &[f64], value: f64, noise: f64, is_own: bool) {
        let (n, size) = (self.places.len(), mean.len());
        for (i, &a) in self.places.iter().enumerate() {
            self.first[i] += value * mean[a] / noise;
            if is_own {
                self.own_first[i] += value * mean[a];
            }
            for (j, &b) in self.places.iter().enumerate() {
                let moment = mean[a] * mean[b] + covariance[a * size + b];
                self.second[i * n + j] += moment / noise;
                if is_own {
                    self.own_second[i * n + j] += moment;
                }
            }
        }
        if is_own {
            self.squares += value * value;
            self.count += 1.0;
        }
    }

    /// The best weights, and the best noise under them.
    fn best(&self, model: &Lmc, output: OutputIndex, precision: f64) -> (Vec<f64>, f64) {
        let n = self.places.len();
        let before: Vec<f64> = model.mixing().row_entries(output).map(|(_, weight)| weight).collect();
        let noise = model.noise()[output.get()].get();
        let mut matrix = self.second.clone();
        matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry += precision);
        let mut weights = self.first.clone();
        match Lu::new::<Separate>(&mut matrix, &mut vec![0; n]) {
            Some(factors) if self.first.iter().any(|sum| *sum != 0.0) => {
                factors.solve::<Separate>(&mut weights, 1);
            }
            _ => weights.clone_from(&before),
        }
        if weights.iter().any(|weight| !weight.is_finite()) {
            weights = before;
        }
        if self.count == 0.0 {
            return (weights, noise);
        }
        let cross: f64 = weights.iter().zip(&self.own_first).map(|(weight, sum)| weight * sum).sum();
        let square: f64 = (0..n * n).map(|at| weights[at / n] * weights[at % n] * self.own_second[at]).sum();
        (weights, (self.squares - 2.0 * cross + square) / self.count)
    }
}
