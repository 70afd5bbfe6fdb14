//! The free parameters of a model as one vector: weights as they are, positive numbers by their logarithms.

use crate::index::{LatentIndex, OutputIndex};
use crate::inference::Gradient;
use crate::kernel::Component;
use crate::model::{Latent, Lmc, MixingMatrix, ModelError, Process};
use crate::units::{LengthScale, Variance};

/// The parameters of a model that are free, with their entries in the vector.
///
/// A parameter is free, tied to others (they move together and have one value), or fixed. A noise variance is
/// `floor + e^θ`: outputs that explain one another without error would otherwise drive their noise to zero and the
/// evidence to infinity. A shared column of the mixing matrix can be bound to another one: it is then that column times an
/// amplitude, and their latents are the components of one sum. Periods are given, not learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    template: Lmc,
    noise_floor: f64,
    /// By latent, the column that its column is a multiple of: its own number unless it is bound.
    heads: Vec<usize>,
    /// For every parameter, in the order of [`Parameters::places`], its entry of the vector.
    entries: Vec<Option<usize>>,
}

/// The smallest amplitude of a bound column at which an optimization starts.
const SMALLEST_AMPLITUDE: f64 = 1e-3;

/// The meaning of one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Weight(OutputIndex, LatentIndex),
    /// The amplitude of a bound column.
    Amplitude(LatentIndex),
    LengthScale(LatentIndex),
    /// The quality of an oscillator.
    Quality(LatentIndex),
    Noise(OutputIndex),
}

impl Parameters {
    /// All parameters of this model, free, with this floor under every noise variance.
    pub fn all(template: Lmc, noise_floor: f64) -> Self {
        let heads = (0..template.n_latents()).collect();
        Self::of_sums(template, noise_floor, heads)
    }

    /// All parameters of this model, free, where latent l's column of the mixing matrix is a multiple of that of latent
    /// `heads[l]`; a latent that is its own head has weights of its own.
    ///
    /// # Panics
    /// When there is not one head per latent, or a head is private or has a head itself.
    pub fn of_sums(template: Lmc, noise_floor: f64, heads: Vec<usize>) -> Self {
        assert_eq!(heads.len(), template.n_latents(), "one head per latent");
        let is_head = |head: &usize| heads[*head] == *head && *head < template.mixing().n_shared();
        let is_free = |latent: usize| heads[latent] == latent;
        assert!(
            (0..heads.len()).all(|latent| is_free(latent) || is_head(&heads[latent])),
            "a head is a shared latent with weights of its own"
        );
        let mut parameters = Self { template, noise_floor, heads, entries: vec![] };
        parameters.entries = (0..parameters.places().len()).map(Some).collect();
        parameters
    }

    /// The same parameters, the amplitude of this bound column fixed at the model's.
    pub fn with_fixed_amplitude(self, latent: LatentIndex) -> Self {
        self.fixed(|place| place == Place::Amplitude(latent))
    }

    /// The same parameters, length-scales of these latents tied to one value.
    pub fn with_tied_length_scales(self, latents: impl IntoIterator<Item = LatentIndex>) -> Self {
        let latents: Vec<LatentIndex> = latents.into_iter().collect();
        self.tied(|place| matches!(place, Place::LengthScale(latent) if latents.contains(&latent)))
    }

    /// The same parameters, the weights of this output fixed at the model's.
    pub fn with_fixed_weights_of(self, output: OutputIndex) -> Self {
        self.fixed(|place| matches!(place, Place::Weight(of, _) if of == output))
    }

    /// The same parameters, this weight fixed at the model's.
    pub fn with_fixed_weight(self, output: OutputIndex, latent: LatentIndex) -> Self {
        self.fixed(|place| place == Place::Weight(output, latent))
    }

    /// The same parameters, all length-scales fixed at the model's.
    pub fn with_fixed_length_scales(self) -> Self {
        self.fixed(|place| matches!(place, Place::LengthScale(_)))
    }

    /// The same parameters, all qualities of oscillators fixed at the model's.
    pub fn with_fixed_qualities(self) -> Self {
        self.fixed(|place| matches!(place, Place::Quality(_)))
    }

    /// The same parameters, this output's noise fixed at the model's.
    pub fn with_fixed_noise_of(self, output: OutputIndex) -> Self {
        self.fixed(|place| place == Place::Noise(output))
    }

    /// The same parameters, noises of all outputs tied to one value.
    pub fn with_tied_noise(self) -> Self {
        self.tied(|place| matches!(place, Place::Noise(_)))
    }

    /// The same parameters, all weights fixed at the model's.
    pub fn with_fixed_mixing(self) -> Self {
        self.fixed(|place| matches!(place, Place::Weight(..)))
    }

    /// The same parameters, this latent's length-scale fixed at the model's.
    pub fn with_fixed_length_scale(self, latent: LatentIndex) -> Self {
        self.fixed(|place| place == Place::LengthScale(latent))
    }

    /// The same parameters, all noises fixed at the model's.
    pub fn with_fixed_noise(self) -> Self {
        self.fixed(|place| matches!(place, Place::Noise(_)))
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
        let places = self.places();
        for (entry, place) in self.entries.iter_mut().zip(places) {
            if belongs(place) {
                *entry = None;
            }
        }
        self.renumbered()
    }

    /// Entries numbered consecutively, in order of first appearance.
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

    /// Weights row by row (structural zeros of private columns and bound columns left out), amplitudes, length-scales,
    /// qualities, noises.
    fn places(&self) -> Vec<Place> {
        let model = &self.template;
        let outputs = || (0..model.n_outputs()).map(OutputIndex::new);
        let latents = || (0..model.n_latents()).map(LatentIndex::new);
        let is_free = |latent: &LatentIndex| self.heads[latent.get()] == latent.get();
        let weight = |output| {
            let entries = model.mixing().row_entries(output).map(|(latent, _)| latent);
            entries.filter(is_free).map(move |latent| Place::Weight(output, latent))
        };
        let has_quality = |latent: &LatentIndex| {
            matches!(model.latents()[latent.get()].process(), Process::Component(Component::Sho { .. }))
        };
        let amplitudes = latents().filter(|latent| !is_free(latent)).map(Place::Amplitude);
        // A quadrature component has the length-scale of its cycle.
        let has_state = |latent: &LatentIndex| model.latents()[latent.get()].state_dim() > 0;
        let length_scales = latents().filter(has_state).map(Place::LengthScale);
        let qualities = latents().filter(has_quality).map(Place::Quality);
        let weights = outputs().flat_map(weight);
        weights
            .chain(amplitudes)
            .chain(length_scales)
            .chain(qualities)
            .chain(outputs().map(Place::Noise))
            .collect()
    }

    /// The column of each latent as a multiple of its head's.
    fn amplitudes_of(&self, model: &Lmc) -> Vec<f64> {
        let (mixing, n_outputs) = (model.mixing(), model.n_outputs());
        let product = |a: usize, b: usize| -> f64 {
            let weight = |output, latent| mixing.weight(OutputIndex::new(output), LatentIndex::new(latent));
            (0..n_outputs).map(|output| weight(output, a) * weight(output, b)).sum()
        };
        let multiple = |(latent, &head): (usize, &usize)| match product(head, head) {
            _ if head == latent => 1.0,
            // The multiple of a zero column is undefined.
            0.0 => 1.0,
            square => product(latent, head) / square,
        };
        self.heads.iter().enumerate().map(multiple).collect()
    }

    /// The floor under every noise variance.
    pub fn noise_floor(&self) -> f64 {
        self.noise_floor
    }

    /// The number of free parameters.
    pub fn n_free(&self) -> usize {
        self.entries.iter().flatten().max().map_or(0, |last| last + 1)
    }

    /// The vector of a model; of tied parameters, the mean of their entries.
    pub fn vector_of(&self, model: &Lmc) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.n_free()];
        let amplitudes = self.amplitudes_of(model);
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let Some(entry) = *entry else { continue };
            let coordinate = match place {
                Place::Weight(output, latent) => model.mixing().weight(output, latent),
                // An amplitude of zero restarts small.
                Place::Amplitude(latent) => amplitudes[latent.get()].abs().max(SMALLEST_AMPLITUDE).ln(),
                Place::LengthScale(latent) => model.latents()[latent.get()].length_scale().get().ln(),
                Place::Quality(latent) => model.latents()[latent.get()].shape().unwrap_or(1.0).ln(),
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
        let mut shared = vec![0.0; n_outputs * n_shared];
        let mut private = vec![];
        let mut amplitudes = self.amplitudes_of(template);
        let mut latents = template.latents().to_vec();
        let mut noise = template.noise().to_vec();
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let free = entry.map(|entry| vector[entry]);
            match place {
                Place::Weight(output, latent) => {
                    let weight = free.unwrap_or_else(|| template.mixing().weight(output, latent));
                    match latent.get() {
                        latent if latent < n_shared => shared[output.get() * n_shared + latent] = weight,
                        _ => private.push(weight),
                    }
                }
                Place::Amplitude(latent) => {
                    if let Some(free) = free {
                        amplitudes[latent.get()] = free.exp();
                    }
                }
                Place::LengthScale(latent) => {
                    if let Some(free) = free {
                        let length_scale = LengthScale::new(free.exp())?;
                        latents[latent.get()] = latents[latent.get()].with_length_scale(length_scale);
                    }
                }
                Place::Quality(latent) => {
                    if let Some(free) = free {
                        latents[latent.get()] = latents[latent.get()].with_shape(free.exp())?;
                    }
                }
                Place::Noise(output) => {
                    if let Some(free) = free {
                        noise[output.get()] = Variance::new(self.noise_floor + free.exp())?;
                    }
                }
            }
        }
        for latent in 1..latents.len() {
            if latents[latent].process() == Process::Quadrature {
                latents[latent] = latents[latent].with_length_scale(latents[latent - 1].length_scale());
            }
        }
        for row in shared.chunks_exact_mut(n_shared.max(1)) {
            for latent in (0..n_shared).filter(|&latent| self.heads[latent] != latent) {
                row[latent] = amplitudes[latent] * row[self.heads[latent]];
            }
        }
        Lmc::new(latents, MixingMatrix::with_private(n_outputs, n_shared, shared, private)?, noise)
    }

    /// The step of each entry that changes the log evidence by about as much: 1 for logarithms; for a weight, the standard
    /// deviation of the effective noise of its output, since the curvature in the weight is (second moment)/(that variance). Without
    /// these scales, noise variances that differ a thousandfold would make the problem ill-conditioned.
    pub fn scales_at(&self, vector: &[f64], scales: &mut [f64]) {
        scales.fill(1.0);
        let Ok(model) = self.model_at(vector) else { return };
        for (entry, place) in self.entries.iter().zip(self.places()) {
            if let (Some(entry), Place::Weight(output, _)) = (*entry, place) {
                scales[entry] = effective_noise(&model, output).sqrt();
            }
        }
    }

    /// The chain rule: the gradient in the model's own parameters at `model`, as a gradient in the vector.
    pub fn pull_back(&self, model: &Lmc, of_model: &Gradient, gradient: &mut [f64]) {
        gradient.fill(0.0);
        let amplitudes = self.amplitudes_of(model);
        let weight_gradient =
            |output: usize, latent: usize| of_model.mixing[output * model.n_latents() + latent];
        for (entry, place) in self.entries.iter().zip(self.places()) {
            let Some(entry) = *entry else { continue };
            gradient[entry] += match place {
                Place::Weight(output, head) => {
                    let members = self.heads.iter().enumerate().filter(|(_, of)| **of == head.get());
                    members
                        .map(|(latent, _)| amplitudes[latent] * weight_gradient(output.get(), latent))
                        .sum()
                }
                Place::Amplitude(latent) => {
                    let weight = |output| model.mixing().weight(OutputIndex::new(output), latent);
                    (0..model.n_outputs())
                        .map(|output| weight(output) * weight_gradient(output, latent.get()))
                        .sum()
                }
                Place::LengthScale(latent) => {
                    of_model.length_scales[latent.get()] * model.latents()[latent.get()].length_scale().get()
                }
                Place::Quality(latent) => {
                    of_model.shapes[latent.get()] * model.latents()[latent.get()].shape().unwrap_or(1.0)
                }
                Place::Noise(output) => {
                    of_model.noise[output.get()] * (model.noise()[output.get()].get() - self.noise_floor)
                }
            };
        }
    }
}

/// The variance from which an output's shared latents must be told apart: its noise, a tenth of its private latent's variance,
/// and a small fraction of the shared variance. The latter keeps weights uncertain where the noise is at its floor, because other
/// latents could explain the same values.
fn effective_noise(model: &Lmc, output: OutputIndex) -> f64 {
    let own = model.mixing().private_weight(output).unwrap_or(0.0);
    let of_latent =
        |(weight, latent): (&f64, &Latent)| if latent.is_stationary() { weight * weight } else { 0.0 };
    let shared: f64 = model.mixing().shared_row(output).iter().zip(model.latents()).map(of_latent).sum();
    model.noise()[output.get()].get() + 0.1 * own * own + 1e-4 * shared
}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
