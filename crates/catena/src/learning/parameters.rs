//! The free parameters of a model as one vector: weights as they are, length-scales and noises by their logarithms.

use crate::index::{LatentIndex, OutputIndex};
use crate::inference::Gradient;
use crate::model::{Lmc, MixingMatrix, ModelError};
use crate::units::{LengthScale, Variance};

/// Which parameters of a model are free, and where each is in the vector.
///
/// A parameter is free, tied to others (they move together and have one value), or fixed. A noise variance is
/// `floor + e^θ`: outputs that explain one another without error would otherwise drive their noise to zero and the
/// evidence to infinity.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    template: Lmc,
    noise_floor: f64,
    /// For every parameter, in the order of [`Parameters::places`], its entry of the vector.
    entries: Vec<Option<usize>>,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Weight(OutputIndex, LatentIndex),
    LengthScale(LatentIndex),
    Noise(OutputIndex),
}

impl Parameters {
    /// All parameters of this model, free, with this floor under every noise variance.
    pub fn all(template: Lmc, noise_floor: f64) -> Self {
        let mut parameters = Self { template, noise_floor, entries: vec![] };
        parameters.entries = (0..parameters.places().len()).map(Some).collect();
        parameters
    }

    /// The same parameters, length-scales of these latents tied to one value.
    pub fn with_tied_length_scales(self, latents: impl IntoIterator<Item = LatentIndex>) -> Self {
        let latents: Vec<LatentIndex> = latents.into_iter().collect();
        self.tied(|place| matches!(place, Place::LengthScale(latent) if latents.contains(&latent)))
    }

    /// The same parameters, noises of all outputs tied to one value.
    pub fn with_tied_noise(self) -> Self {
        self.tied(|place| matches!(place, Place::Noise(_)))
    }

    /// The same parameters, all weights fixed at the model's.
    pub fn with_fixed_mixing(self) -> Self {
        self.fixed(|place| matches!(place, Place::Weight(..)))
    }

    /// The same parameters, the weights of this output fixed at the model's.
    pub fn with_fixed_weights_of(self, output: OutputIndex) -> Self {
        self.fixed(|place| matches!(place, Place::Weight(of, _) if of == output))
    }

    /// The same parameters, all length-scales fixed at the model's.
    pub fn with_fixed_length_scales(self) -> Self {
        self.fixed(|place| matches!(place, Place::LengthScale(_)))
    }

    /// The same parameters, this latent's length-scale fixed at the model's.
    pub fn with_fixed_length_scale(self, latent: LatentIndex) -> Self {
        self.fixed(|place| place == Place::LengthScale(latent))
    }

    /// The same parameters, all noises fixed at the model's.
    pub fn with_fixed_noise(self) -> Self {
        self.fixed(|place| matches!(place, Place::Noise(_)))
    }

    /// The same parameters, this output's noise fixed at the model's.
    pub fn with_fixed_noise_of(self, output: OutputIndex) -> Self {
        self.fixed(|place| place == Place::Noise(output))
    }

    fn tied(mut self, belongs: impl Fn(Place) -> bool) -> Self {
        let places = self.places();
        let members: Vec<usize> = (0..places.len()).filter(|&at| belongs(places[at])).collect();
        let shared = members.iter().find_map(|&at| self.entries[at]);
        for at in members {
            self.entries[at] = self.entries[at].and(shared);
        }
        self.renumbered()
    }

    fn fixed(mut self, belongs: impl Fn(Place) -> bool) -> Self {
        for (entry, place) in self.entries.iter_mut().zip(Self::places_of(&self.template)) {
            if belongs(place) {
                *entry = None;
            }
        }
        self.renumbered()
    }

    /// Entries numbered without holes, in order of first appearance.
    fn renumbered(mut self) -> Self {
        let mut seen: Vec<usize> = vec![];
        for entry in self.entries.iter_mut().flatten() {
            let number = seen.iter().position(|old| old == entry).unwrap_or(seen.len());
            if number == seen.len() {
                seen.push(*entry);
            }
            *entry = number;
        }
        self
    }

    fn places(&self) -> Vec<Place> {
        Self::places_of(&self.template)
    }

    /// Weights row by row (structural zeros of private columns left out), then length-scales, then noises.
    fn places_of(model: &Lmc) -> Vec<Place> {
        let outputs = || (0..model.n_outputs()).map(OutputIndex::new);
        let weight =
            |output| model.mixing().row_entries(output).map(move |(latent, _)| Place::Weight(output, latent));
        let length_scales = (0..model.n_latents()).map(|latent| Place::LengthScale(LatentIndex::new(latent)));
        outputs().flat_map(weight).chain(length_scales).chain(outputs().map(Place::Noise)).collect()
    }

    /// The model the fixed parameters are taken from.
    pub fn template(&self) -> &Lmc {
        &self.template
    }

    /// The floor under every noise variance.
    pub fn noise_floor(&self) -> f64 {
        self.noise_floor
    }

    /// How many numbers are free.
    pub fn n_free(&self) -> usize {
        self.entries.iter().flatten().max().map_or(0, |last| last + 1)
    }

    /// The vector of a model; of tied parameters, the mean of their entries.
    pub fn vector_of(&self, model: &Lmc) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.n_free()];
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let Some(entry) = *entry else { continue };
            let coordinate = match place {
                Place::Weight(output, latent) => model.mixing().weight(output, latent),
                Place::LengthScale(latent) => model.latents()[latent.get()].length_scale().get().ln(),
                // A noise at its floor starts a little above it.
                Place::Noise(output) => {
                    let above = model.noise()[output.get()].get() - self.noise_floor;
                    above.max(1e-3 * self.noise_floor).max(f64::MIN_POSITIVE).ln()
                }
            };
            sums[entry] = (sums[entry].0 + coordinate, sums[entry].1 + 1.0);
        }
        sums.into_iter().map(|(sum, count): (f64, f64)| sum / count).collect()
    }

    /// The model of a vector.
    ///
    /// # Errors
    /// When a parameter leaves the range of numbers.
    ///
    /// # Panics
    /// When the vector does not have [`Parameters::n_free`] entries.
    pub fn model_at(&self, vector: &[f64]) -> Result<Lmc, ModelError> {
        let template = &self.template;
        let (n_outputs, n_shared) = (template.n_outputs(), template.mixing().n_shared());
        let mut shared: Vec<f64> = Vec::with_capacity(n_outputs * n_shared);
        let mut private = vec![];
        let mut latents = template.latents().to_vec();
        let mut noise = template.noise().to_vec();
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let free = entry.map(|entry| vector[entry]);
            match place {
                Place::Weight(output, latent) => {
                    let weight = free.unwrap_or_else(|| template.mixing().weight(output, latent));
                    let is_shared = latent.get() < n_shared;
                    if is_shared { shared.push(weight) } else { private.push(weight) }
                }
                Place::LengthScale(latent) => {
                    if let Some(free) = free {
                        let length_scale = LengthScale::new(free.exp())?;
                        latents[latent.get()] = latents[latent.get()].with_length_scale(length_scale);
                    }
                }
                Place::Noise(output) => {
                    if let Some(free) = free {
                        noise[output.get()] = Variance::new(self.noise_floor + free.exp())?;
                    }
                }
            }
        }
        Lmc::new(latents, MixingMatrix::with_private(n_outputs, n_shared, shared, private)?, noise)
    }

    /// How far each entry may be moved for the evidence to change by about as much: logarithms by one, a weight by the
    /// standard deviation of what blurs it, since the evidence bends in it as (posterior moments)/(that variance). Outputs whose
    /// noises differ a thousandfold would otherwise make the climb a narrow valley.
    pub fn scales_at(&self, vector: &[f64], scales: &mut [f64]) {
        scales.fill(1.0);
        let Ok(model) = self.model_at(vector) else { return };
        for (entry, place) in self.entries.iter().zip(self.places()) {
            if let (Some(entry), Place::Weight(output, _)) = (*entry, place) {
                scales[entry] = blur(&model, output).sqrt();
            }
        }
    }

    /// Slopes in the model's own parameters at `model`, turned into slopes in the vector.
    pub fn pull_back(&self, model: &Lmc, slopes: &Gradient, vector_slopes: &mut [f64]) {
        vector_slopes.fill(0.0);
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let Some(entry) = *entry else { continue };
            vector_slopes[entry] += match place {
                Place::Weight(output, latent) => {
                    slopes.mixing[output.get() * model.n_latents() + latent.get()]
                }
                Place::LengthScale(latent) => {
                    slopes.length_scales[latent.get()] * model.latents()[latent.get()].length_scale().get()
                }
                Place::Noise(output) => {
                    slopes.noise[output.get()] * (model.noise()[output.get()].get() - self.noise_floor)
                }
            };
        }
    }
}

/// The variance that hides an output's shared latents: its noise, some of its own latent, and a little of everything, for
/// a noise at its floor does not make weights certain when other latents can take over.
fn blur(model: &Lmc, output: OutputIndex) -> f64 {
    let own = model.mixing().private_weight(output).unwrap_or(0.0);
    let shared: f64 = model.mixing().shared_row(output).iter().map(|weight| weight * weight).sum();
    model.noise()[output.get()].get() + 0.1 * own * own + 1e-4 * shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, StateKind};
    use crate::model::Latent;

    fn model() -> Lmc {
        let latent = |length| {
            let length_scale = LengthScale::new(length).unwrap();
            Latent::new(Kernel::Matern12, StateKind::Value, length_scale).unwrap()
        };
        let mixing = MixingMatrix::with_private(2, 1, vec![1.0, -2.0], vec![0.5, 0.25]).unwrap();
        let noise = vec![Variance::new(0.1).unwrap(), Variance::new(0.4).unwrap()];
        Lmc::new(vec![latent(1.0), latent(2.0), latent(8.0)], mixing, noise).unwrap()
    }

    fn close(a: &Lmc, b: &Lmc) -> bool {
        let numbers = |model: &Lmc| -> Vec<f64> {
            let lengths = model.latents().iter().map(|latent| latent.length_scale().get());
            let noise = model.noise().iter().map(|noise| noise.get());
            model.mixing().to_dense().into_iter().chain(lengths).chain(noise).collect()
        };
        numbers(a).iter().zip(numbers(b)).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_model_comes_back_from_its_vector() {
        let parameters = Parameters::all(model(), 1e-6);
        assert_eq!(parameters.n_free(), 4 + 3 + 2);
        let back = parameters.model_at(&parameters.vector_of(&model())).unwrap();
        assert!(close(&back, &model()));
    }

    #[test]
    fn tied_parameters_share_an_entry_and_fixed_ones_have_none() {
        let private = [LatentIndex::new(1), LatentIndex::new(2)];
        let parameters = Parameters::all(model(), 0.0)
            .with_tied_length_scales(private)
            .with_fixed_noise_of(OutputIndex::new(0))
            .with_fixed_weights_of(OutputIndex::new(1));
        // Two weights of output 0, the shared length-scale, the tied one, the second noise.
        assert_eq!(parameters.n_free(), 5);
        let back = parameters.model_at(&parameters.vector_of(&model())).unwrap();
        let lengths: Vec<f64> = back.latents().iter().map(|latent| latent.length_scale().get()).collect();
        assert!((lengths[1] - 4.0).abs() < 1e-12 && (lengths[2] - 4.0).abs() < 1e-12, "{lengths:?}");
        assert_eq!(back.noise()[0], model().noise()[0]);
        let moved = parameters.model_at(&[9.0; 5]).unwrap();
        assert_eq!(moved.mixing().shared_row(OutputIndex::new(1)), [-2.0]);
        assert_eq!(moved.noise()[0], model().noise()[0]);
        let slopes = Gradient {
            log_evidence: 0.0,
            mixing: vec![1.0; 6],
            length_scales: vec![1.0; 3],
            noise: vec![1.0; 2],
        };
        let mut pulled = vec![0.0; 5];
        parameters.pull_back(&model(), &slopes, &mut pulled);
        // The tied entry collects ℓ of both latents.
        assert_eq!(pulled, [1.0, 1.0, 1.0, 10.0, 0.4]);
    }

    #[test]
    fn weights_are_measured_by_what_blurs_their_output() {
        let parameters = Parameters::all(model(), 0.0).with_fixed_weights_of(OutputIndex::new(0));
        let mut scales = vec![0.0; parameters.n_free()];
        parameters.scales_at(&parameters.vector_of(&model()), &mut scales);
        let of_second = (0.4_f64 + 0.1 * 0.25 * 0.25 + 1e-4 * 4.0).sqrt();
        // Its shared and its private weight, three length-scales, two noises.
        let expected = [of_second, of_second, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert!(scales.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{scales:?}");
    }

    #[test]
    fn numbers_out_of_range_are_an_error() {
        let parameters = Parameters::all(model(), 0.0);
        let mut vector = parameters.vector_of(&model());
        vector[4] = 800.0;
        assert!(parameters.model_at(&vector).is_err());
        vector[4] = -800.0;
        assert!(parameters.model_at(&vector).is_err());
    }
}
