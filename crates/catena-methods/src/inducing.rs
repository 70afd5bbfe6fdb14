//! Derivatives in what stretches distances: the length-scale of each latent, and a factor on each input.

use crate::correlation::Correlations;

/// Sums of derivatives of the likelihood.
#[derive(Clone, Debug, Default)]
pub(super) struct ScaleSlopes {
    /// `∂/∂ℓ_l`.
    pub(super) length_scales: Vec<f64>,
    /// `∂/∂ log s_m` for inputs `s_m x_m` at s = 1; empty when nobody asked.
    pub(super) inputs: Vec<f64>,
}

impl ScaleSlopes {
    pub(super) fn zero(n_latents: usize, n_inputs: usize) -> Self {
        Self { length_scales: vec![0.0; n_latents], inputs: vec![0.0; n_inputs] }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let sums = self.length_scales.iter_mut().chain(&mut self.inputs);
        sums.zip(other.length_scales.iter().chain(&other.inputs)).for_each(|(sum, term)| *sum += term);
    }

    /// Adds what a derivative in one correlation, `slope`, says. A correlation knows `d / ℓ`, so with `d² = Σ (s_m Δ_m)²`:
    /// `∂κ/∂ log s_m = −ℓ ∂κ/∂ℓ · Δ_m² / d²`.
    pub(super) fn add_pair(
        &mut self,
        (correlations, latent): (&Correlations, usize),
        slope: f64,
        distance: f64,
        [a, b]: [&[f64]; 2],
    ) {
        let slope = slope * correlations.slope(latent, distance);
        self.length_scales[latent] += slope;
        // Where no length-scale matters no factor does: at distance 0, or beyond all range.
        if self.inputs.is_empty() || slope == 0.0 {
            return;
        }
        let squares = || a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        let through_inputs = -slope * correlations.length_scale(latent) / squares().sum::<f64>();
        self.inputs.iter_mut().zip(squares()).for_each(|(sum, square)| *sum += through_inputs * square);
    }
}
