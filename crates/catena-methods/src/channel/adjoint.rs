//! From derivatives in the channels to derivatives in the mixing matrix and the noise variances.

use catena::model::Lmc;

use super::{Block, Channels};
use crate::Gradient;

/// Derivatives of a log evidence F, a sum of log densities of sets of channels.
///
/// F depends on the span of the channels only. In the cells' directions orthogonal to it, where loadings are 0 and the
/// value is the residual y_⊥, the derivatives are `y_⊥ m_l` in a loading (m the mean of the latents at that location) and
/// `−y_⊥` in the value.
#[derive(Clone, Debug)]
pub(crate) struct Adjoint {
    /// `∂F/∂a_cl`, channel by channel.
    pub(crate) loadings: Vec<f64>,
    /// `∂F/∂ỹ_c`.
    pub(crate) values: Vec<f64>,
    /// m_l, location by location.
    pub(crate) means: Vec<f64>,
    /// `∂F/∂ℓ_l`.
    pub(crate) length_scales: Vec<f64>,
}

/// The same derivatives for one block, in the order of its channels and locations.
#[derive(Clone, Copy)]
pub(crate) struct BlockDerivatives<'a> {
    pub(crate) loadings: &'a [f64],
    pub(crate) values: &'a [f64],
    pub(crate) means: &'a [f64],
    pub(crate) length_scales: &'a [f64],
}

impl Adjoint {
    pub(crate) fn zero(channels: &Channels) -> Self {
        let n_latents = channels.n_latents();
        Self {
            loadings: vec![0.0; channels.n_channels() * n_latents],
            values: vec![0.0; channels.n_channels()],
            means: vec![0.0; channels.n_locations() * n_latents],
            length_scales: vec![0.0; n_latents],
        }
    }

    /// Adds the derivatives of one block.
    pub(crate) fn add(&mut self, block: &Block, of_block: BlockDerivatives<'_>) {
        let n_latents = self.length_scales.len();
        for (at, &channel) in block.channels.iter().enumerate() {
            self.values[channel] += of_block.values[at];
            for latent in 0..n_latents {
                self.loadings[channel * n_latents + latent] += of_block.loadings[at * n_latents + latent];
            }
        }
        for (number, run) in block.runs.iter().enumerate() {
            for latent in 0..n_latents {
                self.means[run.location * n_latents + latent] += of_block.means[number * n_latents + latent];
            }
        }
        for (total, term) in self.length_scales.iter_mut().zip(of_block.length_scales) {
            *total += term;
        }
    }

    /// The derivatives in W, ℓ and r. With `Ŵ = R^−½ W_o` and `ŷ = R^−½ y_o`:
    /// `∂F/∂w_dl = ∂F/∂Ŵ_dl / √r_d` and `∂F/∂r_d = −(Σ_l Ŵ_dl ∂F/∂Ŵ_dl + ŷ_d ∂F/∂ŷ_d + 1) / 2r_d`.
    pub(crate) fn pull_back(&self, channels: &Channels, model: &Lmc, value: f64) -> Gradient {
        let mut gradient = Gradient::zero(model, value);
        gradient.length_scales.copy_from_slice(&self.length_scales);
        for location in 0..channels.n_locations() {
            self.pull_back_location(channels, model, location, &mut gradient);
        }
        gradient
    }

    fn pull_back_location(&self, channels: &Channels, model: &Lmc, location: usize, gradient: &mut Gradient) {
        let n_latents = channels.n_latents;
        let pattern = &channels.patterns[channels.pattern_of[location]];
        let range = channels.of_location(location);
        let whitened = &channels.whitened[channels.cell_start[location]..channels.cell_start[location + 1]];
        let residual = pattern.residual(whitened, &channels.values[range.clone()]);
        let mean = &self.means[location * n_latents..][..n_latents];
        for (cell, &output) in pattern.outputs.iter().enumerate() {
            let rotated = |derivative: &dyn Fn(usize) -> f64| -> f64 {
                let channels = range.clone().enumerate();
                channels.map(|(at, channel)| pattern.rotation(cell, at) * derivative(channel)).sum()
            };
            let noise = pattern.noise[cell];
            let mut through_noise =
                1.0 + whitened[cell] * (rotated(&|channel| self.values[channel]) - residual[cell]);
            for (latent, weight) in model.mixing().row_entries(output) {
                let latent = latent.get();
                let derivative = rotated(&|channel| self.loadings[channel * n_latents + latent])
                    + residual[cell] * mean[latent];
                gradient.mixing[output.get() * n_latents + latent] += derivative / noise.sqrt();
                through_noise += weight / noise.sqrt() * derivative;
            }
            if pattern.has_output_noise[cell] {
                gradient.noise[output.get()] -= 0.5 * through_noise / noise;
            }
        }
    }
}
