//! What is believed of the parameters before the data: weak, stated, changeable.

use crate::index::OutputIndex;
use crate::inference::Gradient;
use crate::kernel::Piece;
use crate::model::{Lmc, Process};

/// A bell over the logarithm of a positive parameter: log density `−½·weight·(log(value/center))²`, up to a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// Where the density of the logarithm is largest.
    pub center: f64,
    /// One over the variance of the logarithm; 0 for no prior at all.
    pub weight: f64,
}

impl LogNormal {
    /// No opinion.
    pub const FLAT: Self = Self { center: 1.0, weight: 0.0 };

    /// Log density, and its slope in the value.
    pub(super) fn at(self, value: f64) -> (f64, f64) {
        let distance = (value / self.center).ln();
        (-0.5 * self.weight * distance * distance, -self.weight * distance / value)
    }
}

/// A doubt in noise that vanishes: log density `−½·weight·(log(center/value))²` below `center`, and 0 above it.
///
/// One noise that collapses makes every cell of its output exact, and all other parameters serve that. How much noise there
/// is beyond the center is for the data to say: a bell with two sides would cost an output whose noise is a third of its
/// variance as much as a hundred cells can tell, and its bands would be too narrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollapseDoubt {
    /// The variance below which the doubt begins.
    pub center: f64,
    /// How strong it is; 0 for none.
    pub weight: f64,
}

impl CollapseDoubt {
    /// Log density, and its slope in the value; both are continuous at the center.
    fn at(self, value: f64) -> (f64, f64) {
        let depth = (self.center / value).ln().max(0.0);
        (-0.5 * self.weight * depth * depth, self.weight * depth / value)
    }
}

/// A doubt in processes that live between the points: log density `−½·weight·(length/ℓ)²`, negligible for length-scales well
/// above `length`, prohibitive well below.
///
/// A latent shorter than the spacing passes for noise wherever points are apart, and claims to know the value exactly where
/// two points coincide. Tables with stuck sensors then drive the true noise to zero, and the first duplicate that
/// disagrees is a catastrophe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortnessDoubt {
    /// The spacing of the points.
    pub length: f64,
    /// How strong the doubt is; 0 for none.
    pub weight: f64,
}

impl ShortnessDoubt {
    /// Log density, and its slope in the length-scale.
    fn at(self, length_scale: f64) -> (f64, f64) {
        let ratio = self.length / length_scale;
        (-0.5 * self.weight * ratio * ratio, self.weight * ratio * ratio / length_scale)
    }
}

/// Priors over all parameters of a model whose outputs have variance 1.
///
/// Densities are over the logarithms of length-scales and noises, so that the maximum does not depend on whether one
/// counts in variances or deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Priors {
    /// Of every output's noise variance.
    pub noise: CollapseDoubt,
    /// Of the length-scale of every stationary latent.
    pub length_scale: LogNormal,
    /// Of the length-scale of every stationary latent, too.
    pub shortness: ShortnessDoubt,
    /// Of the length-scale of every latent that wanders; a random walk or a trend.
    pub wandering: LogNormal,
    /// Of the quality of every oscillator.
    pub quality: LogNormal,
    /// One over the variance of every weight of a stationary latent, around 0.
    pub weight_precision: f64,
}

impl Priors {
    /// No opinion on anything: maximum likelihood.
    pub const FLAT: Self = Self {
        noise: CollapseDoubt { center: 1.0, weight: 0.0 },
        length_scale: LogNormal::FLAT,
        shortness: ShortnessDoubt { length: 0.0, weight: 0.0 },
        wandering: LogNormal::FLAT,
        quality: LogNormal::FLAT,
        weight_precision: 0.0,
    };

    /// The default for points whose typical spacing and whole span are these.
    ///
    /// - noise: a doubt below 0.01 of the output's variance, of weight 2: 5 nats at 0.001. It keeps a single noise from
    ///   collapsing and has no opinion above;
    /// - length-scales: center between spacing and span (geometric mean), one standard deviation to either, and a doubt in
    ///   those below the spacing of weight 10: 5 nats at the spacing, 125 at a fifth of it;
    /// - weights: standard normal;
    /// - walks: a hundred times the center of length-scales, since they start from ten deviations, and half its weight;
    /// - qualities: center 1, weight ½: from over-damped to a handful of swings.
    pub fn for_points(spacing: f64, span: f64) -> Self {
        let center = (spacing * span).sqrt();
        let deviation = (0.5 * (span / spacing).ln()).max(1.0);
        let length_scale = if center > 0.0 && center.is_finite() && deviation.is_finite() {
            LogNormal { center, weight: deviation.powi(-2) }
        } else {
            LogNormal::FLAT
        };
        Self {
            noise: CollapseDoubt { center: 0.01, weight: 2.0 },
            length_scale,
            shortness: ShortnessDoubt { length: spacing, weight: 10.0 },
            wandering: LogNormal { center: 100.0 * length_scale.center, weight: 0.5 * length_scale.weight },
            quality: LogNormal { center: 1.0, weight: 0.5 },
            weight_precision: 1.0,
        }
    }

    /// The log density of a model, up to a constant.
    pub fn log_density(&self, model: &Lmc) -> f64 {
        let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
        let mut slopes = Gradient {
            log_evidence: 0.0,
            mixing: vec![0.0; n_outputs * n_latents],
            length_scales: vec![0.0; n_latents],
            shapes: vec![0.0; n_latents],
            noise: vec![0.0; n_outputs],
        };
        self.add_to(model, &mut slopes)
    }

    /// The log density of a model, its slopes added to those given.
    pub fn add_to(&self, model: &Lmc, slopes: &mut Gradient) -> f64 {
        let mut log_density = 0.0;
        let n_latents = model.n_latents();
        for output in (0..model.n_outputs()).map(OutputIndex::new) {
            let entries = model.mixing().row_entries(output);
            for (latent, weight) in
                entries.filter(|(latent, _)| model.latents()[latent.get()].is_stationary())
            {
                log_density -= 0.5 * self.weight_precision * weight * weight;
                slopes.mixing[output.get() * n_latents + latent.get()] -= self.weight_precision * weight;
            }
        }
        let with_states = model.latents().iter().zip(&mut slopes.length_scales);
        for (latent, slope) in with_states.filter(|(latent, _)| latent.state_dim() > 0) {
            let length_scale = latent.length_scale().get();
            let beliefs = if latent.is_stationary() {
                [self.length_scale.at(length_scale), self.shortness.at(length_scale)]
            } else {
                [self.wandering.at(length_scale), (0.0, 0.0)]
            };
            for (value, added) in beliefs {
                log_density += value;
                *slope += added;
            }
        }
        for (latent, slope) in model.latents().iter().zip(&mut slopes.shapes) {
            if let Process::Piece(Piece::Sho { quality }) = latent.process() {
                let (value, added) = self.quality.at(quality.get());
                log_density += value;
                *slope += added;
            }
        }
        for (noise, slope) in model.noise().iter().zip(&mut slopes.noise) {
            let (value, added) = self.noise.at(noise.get());
            log_density += value;
            *slope += added;
        }
        log_density
    }
}
