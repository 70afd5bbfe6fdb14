//! The correlations κ_l of all latents at once, at Euclidean distances.

use catena::data::squared_distance;
use catena::index::LatentIndex;
use catena::kernel::Kernel;
use catena::model::{Latent, Lmc};
use catena::units::DistanceScale;

use crate::DenseMethodError;

/// The correlation functions of a model's latents; those with equal kernel and length-scale are computed once.
#[derive(Clone, Debug)]
pub(crate) struct Correlations {
    kernels: Vec<Kernel>,
    rates: Vec<f64>,
    length_scales: Vec<f64>,
    /// The first latent with the same correlation function.
    first_equal: Vec<usize>,
    distance_scale: f64,
}

impl Correlations {
    /// The correlation functions of a model's kernels.
    ///
    /// # Errors
    /// When a latent is a piece for time, which has none.
    pub(crate) fn new(model: &Lmc, distance_scale: DistanceScale) -> Result<Self, DenseMethodError> {
        let latents = model.latents();
        if let Some(latent) = latents.iter().position(|latent| latent.kernel().is_none()) {
            return Err(DenseMethodError::PieceForTime { latent: LatentIndex::new(latent) });
        }
        let key = |latent: usize| (latents[latent].kernel(), latents[latent].length_scale());
        let first_equal =
            (0..latents.len()).map(|latent| (0..latent).find(|&at| key(at) == key(latent)).unwrap_or(latent));
        Ok(Self {
            kernels: latents.iter().filter_map(Latent::kernel).collect(),
            rates: latents
                .iter()
                .filter_map(|latent| Some(latent.kernel()?.rate(latent.length_scale())))
                .collect(),
            length_scales: latents.iter().map(|latent| latent.length_scale().get()).collect(),
            first_equal: first_equal.collect(),
            distance_scale: distance_scale.get(),
        })
    }

    pub(crate) fn n_latents(&self) -> usize {
        self.kernels.len()
    }

    /// For each latent, the first latent with the same correlation function.
    pub(crate) fn first_equal(&self) -> &[usize] {
        &self.first_equal
    }

    /// The length-scale of a latent.
    pub(crate) fn length_scale(&self, latent: usize) -> f64 {
        self.length_scales[latent]
    }

    /// The Euclidean distance in units of the distance scale.
    pub(crate) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        squared_distance(a, b).sqrt() / self.distance_scale
    }

    /// κ_l at a distance, for one latent.
    pub(crate) fn value(&self, latent: usize, distance: f64) -> f64 {
        self.kernels[latent].correlation(self.rates[latent] * distance)
    }

    /// `∂κ_l/∂ℓ_l = −(u/ℓ) ρ'(u)`: every rate is inversely proportional to its length-scale.
    pub(crate) fn slope(&self, latent: usize, distance: f64) -> f64 {
        let u = self.rates[latent] * distance;
        let slope = self.kernels[latent].correlation_derivative(u);
        // ρ' vanishes faster than u grows; at an overflowed distance the product would read ∞·0.
        if slope == 0.0 { 0.0 } else { -u / self.length_scales[latent] * slope }
    }

    /// κ_l of all latents between two points.
    pub(crate) fn fill(&self, a: &[f64], b: &[f64], values: &mut [f64]) {
        let distance = self.distance(a, b);
        for latent in 0..values.len() {
            let first = self.first_equal[latent];
            values[latent] = if first < latent { values[first] } else { self.value(latent, distance) };
        }
    }

    /// κ_l and ∂κ_l/∂ℓ_l of all latents between two points.
    pub(crate) fn fill_with_slopes(&self, a: &[f64], b: &[f64], values: &mut [f64], slopes: &mut [f64]) {
        let distance = self.distance(a, b);
        for latent in 0..values.len() {
            let first = self.first_equal[latent];
            (values[latent], slopes[latent]) = if first < latent {
                (values[first], slopes[first])
            } else {
                (self.value(latent, distance), self.slope(latent, distance))
            };
        }
    }
}
