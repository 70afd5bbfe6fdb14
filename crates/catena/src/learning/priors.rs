//! Priors over the parameters: weak by default, and adjustable.

use crate::index::OutputIndex;
use crate::inference::Gradient;
use crate::kernel::Component;
use crate::model::{Lmc, Process};

/// A Gaussian prior on the logarithm of a positive parameter: log density `−½·weight·(log(value/center))²`, up to a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// The median.
    pub center: f64,
    /// One over the variance of the logarithm; 0 for a flat prior.
    pub weight: f64,
}

impl LogNormal {
    /// A flat prior.
    pub const FLAT: Self = Self { center: 1.0, weight: 0.0 };

    /// Log density, and its derivative in the value.
    pub(super) fn at(self, value: f64) -> (f64, f64) {
        let distance = (value / self.center).ln();
        (-0.5 * self.weight * distance * distance, -self.weight * distance / value)
    }
}

/// A one-sided penalty on small values of a positive parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// The value at which the penalty sets in.
    pub limit: f64,
    /// Its strength; 0 for none.
    pub weight: f64,
}

impl Penalty {
    /// No penalty.
    pub const NONE: Self = Self { limit: 1.0, weight: 0.0 };

    /// `−½·weight·(log(limit/value))²` below the limit, 0 above it, and its derivative in the value; both are continuous.
    fn of_logarithm(self, value: f64) -> (f64, f64) {
        let depth = (self.limit / value).ln().max(0.0);
        (-0.5 * self.weight * depth * depth, self.weight * depth / value)
    }

    /// `−½·weight·(limit/value)²`, and its derivative in the value.
    fn of_ratio(self, value: f64) -> (f64, f64) {
        let ratio = self.limit / value;
        (-0.5 * self.weight * ratio * ratio, self.weight * ratio * ratio / value)
    }
}

/// Priors over all parameters of a model whose outputs have variance 1.
///
/// Densities are over the logarithms of length-scales and noise variances, so the maximum is the same for variances and
/// standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Priors {
    /// On every output's noise variance v: `−½·weight·(log(limit/v))²` below the limit, 0 above it.
    ///
    /// Without it the noise of one output can collapse to zero: the model then interpolates that output, and all other
    /// parameters follow. Above the limit the data decide: a two-sided prior would cost an output whose noise is a third of its
    /// variance as much as a hundred cells can contribute, and its predictive intervals would be too narrow.
    pub noise: Penalty,
    /// On the length-scale of every stationary latent.
    pub length_scale: LogNormal,
    /// Instead of that on the length-scale of every season, in its periods: the time in which its shape changes. Harmonics of one
    /// season, which follow each other with one length-scale, count once. `None` for the prior of other latents, for each harmonic.
    pub season: Option<LogNormal>,
    /// Also on the length-scale ℓ of every stationary latent: `−½·weight·(limit/ℓ)²`, negligible well above the limit,
    /// prohibitive well below. The limit is the spacing of the points.
    ///
    /// A latent shorter than the spacing acts as noise between distinct points but not between points that coincide. In tables
    /// with stuck sensors it then replaces the noise, whose variance goes to zero, and duplicates that disagree become impossible.
    pub shortness: Penalty,
    /// On the length-scale of every random walk and local linear trend.
    pub wandering: LogNormal,
    /// On the quality of every oscillator.
    pub quality: LogNormal,
    /// One over the variance of every weight of a stationary latent, around 0.
    pub weight_precision: f64,
}

impl Priors {
    /// Flat priors: maximum likelihood.
    pub const FLAT: Self = Self {
        noise: Penalty::NONE,
        length_scale: LogNormal::FLAT,
        season: None,
        shortness: Penalty::NONE,
        wandering: LogNormal::FLAT,
        quality: LogNormal::FLAT,
        weight_precision: 0.0,
    };

    /// The default for points whose typical spacing and whole span are these.
    ///
    /// - noise: a penalty below 0.01 of the output's variance, of weight 2: 5 nats at 0.001;
    /// - length-scales: center at the geometric mean of spacing and span, one standard deviation to either, and a penalty
    ///   below the spacing of weight 10: 5 nats at the spacing, 125 at a fifth of it;
    /// - weights: standard normal;
    /// - random walks and trends: a hundred times the center of length-scales, since they start from ten standard deviations,
    ///   and half its weight;
    /// - qualities: center 1, weight ½: from over-damped to a few oscillations.
    pub fn for_points(spacing: f64, span: f64) -> Self {
        let center = (spacing * span).sqrt();
        let deviation = (0.5 * (span / spacing).ln()).max(1.0);
        let length_scale = if center > 0.0 && center.is_finite() && deviation.is_finite() {
            LogNormal { center, weight: deviation.powi(-2) }
        } else {
            LogNormal::FLAT
        };
        Self {
            noise: Penalty { limit: 0.01, weight: 2.0 },
            length_scale,
            season: None,
            shortness: Penalty { limit: spacing, weight: 10.0 },
            wandering: LogNormal { center: 100.0 * length_scale.center, weight: 0.5 * length_scale.weight },
            quality: LogNormal { center: 1.0, weight: 0.5 },
            weight_precision: 1.0,
        }
    }

    /// The log density of a model, up to a constant.
    pub fn log_density(&self, model: &Lmc) -> f64 {
        let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
        let mut gradient = Gradient {
            log_evidence: 0.0,
            mixing: vec![0.0; n_outputs * n_latents],
            length_scales: vec![0.0; n_latents],
            shapes: vec![0.0; n_latents],
            noise: vec![0.0; n_outputs],
        };
        self.add_to(model, &mut gradient)
    }

    /// The log density of a model; its gradient is added to `gradient`.
    pub fn add_to(&self, model: &Lmc, gradient: &mut Gradient) -> f64 {
        let mut log_density = 0.0;
        let n_latents = model.n_latents();
        for output in (0..model.n_outputs()).map(OutputIndex::new) {
            let entries = model.mixing().row_entries(output);
            for (latent, weight) in
                entries.filter(|(latent, _)| model.latents()[latent.get()].is_stationary())
            {
                log_density -= 0.5 * self.weight_precision * weight * weight;
                gradient.mixing[output.get() * n_latents + latent.get()] -= self.weight_precision * weight;
            }
        }
        let mut before = None;
        for (latent, derivative) in model.latents().iter().zip(&mut gradient.length_scales) {
            // A quadrature component has the length-scale of its cycle.
            if latent.state_dim() == 0 {
                continue;
            }
            let length_scale = latent.length_scale().get();
            let terms = if let (Process::Component(Component::Cycle { period }), Some(prior)) =
                (latent.process(), self.season)
            {
                let is_harmonic = before.replace(length_scale) == Some(length_scale);
                let (value, slope) = prior.at(length_scale / period.get());
                let season = if is_harmonic { (0.0, 0.0) } else { (value, slope / period.get()) };
                [season, self.shortness.of_ratio(length_scale)]
            } else if latent.is_stationary() {
                before = None;
                [self.length_scale.at(length_scale), self.shortness.of_ratio(length_scale)]
            } else {
                before = None;
                [self.wandering.at(length_scale), (0.0, 0.0)]
            };
            for (value, added) in terms {
                log_density += value;
                *derivative += added;
            }
        }
        for (latent, derivative) in model.latents().iter().zip(&mut gradient.shapes) {
            if let Process::Component(Component::Sho { quality }) = latent.process() {
                let (value, added) = self.quality.at(quality.get());
                log_density += value;
                *derivative += added;
            }
        }
        for (noise, derivative) in model.noise().iter().zip(&mut gradient.noise) {
            let (value, added) = self.noise.of_logarithm(noise.get());
            log_density += value;
            *derivative += added;
        }
        log_density
    }
}
