//! A family of models (number of latents, kernels, ties) and its starting points.

use super::moments::{Extent, OutputMoments};
use super::parameters::Parameters;
use crate::index::{LatentIndex, OutputIndex};
use crate::kernel::{Kernel, StateKind};
use crate::model::{Latent, Lmc, MixingMatrix, ModelError};
use crate::units::{LengthScale, Variance};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

/// Models with a number of shared latents and optionally one private latent per output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Family {
    /// Shared latents.
    pub n_shared: usize,
    /// Their kernel.
    pub shared_kernel: Kernel,
    /// The kernel of the private latents, if there are any.
    pub private_kernel: Option<Kernel>,
    /// The state that carries latents along the structure; kernels without a derivative state use the value.
    pub state: StateKind,
    /// Whether shared latents have one length-scale.
    pub tied: bool,
}

/// The noise variance of a start, in units of the output's variance.
const FIRST_NOISE: f64 = 0.05;

impl Family {
    /// The state of a latent with this kernel: the family's, or the value alone if the kernel has no derivative state.
    pub fn state_of(&self, kernel: Kernel) -> StateKind {
        if kernel.state_dim(self.state).is_ok() { self.state } else { StateKind::Value }
    }

    /// The latents of the family at these length-scales: shared ones first, then private ones.
    fn latents(&self, shared: &[f64], private: &[f64]) -> Result<Vec<Latent>, ModelError> {
        let latent = |kernel: Kernel, length: f64| {
            let length_scale = LengthScale::new(length)?;
            Ok(Latent::new(kernel, self.state_of(kernel), length_scale)?)
        };
        let shared = shared.iter().map(|&length| latent(self.shared_kernel, length));
        let private = private.iter().filter_map(|&length| Some(latent(self.private_kernel?, length)));
        shared.chain(private).collect()
    }

    /// A start from the table. Weights follow the principal axes of the outputs' covariance; private latents take the remaining
    /// variance. Shared length-scales are log-spaced from two spacings to a fifth of the span, private ones are five spacings,
    /// all multiplied by `multiplier`.
    ///
    /// # Errors
    /// When a number leaves the range of doubles.
    pub fn start(&self, moments: &OutputMoments, extent: Extent, multiplier: f64) -> Result<Lmc, ModelError> {
        let n_outputs = moments.n_outputs();
        let mut shared = vec![0.0; n_outputs * self.n_shared];
        let axes = moments.principal(self.n_shared);
        for column in 0..self.n_shared {
            // With more latents than outputs the axes repeat, scaled down.
            let (value, axis) = &axes[column % n_outputs];
            let shrink = 0.5_f64.powi((column / n_outputs) as i32);
            let size = shrink * value.max(0.01).sqrt();
            for output in 0..n_outputs {
                shared[output * self.n_shared + column] = size * axis[output];
            }
        }
        let explained = |output: usize| -> f64 {
            shared[output * self.n_shared..][..self.n_shared].iter().map(|weight| weight * weight).sum()
        };
        let left =
            |output: usize| (moments.covariance()[output * (n_outputs + 1)] - explained(output)).max(0.05);
        let private: Vec<f64> = match self.private_kernel {
            Some(_) => (0..n_outputs).map(|output| left(output).sqrt()).collect(),
            None => vec![],
        };
        let Extent { spacing, span } = extent;
        let (low, high) = (2.0 * spacing, (0.2 * span).max(2.0 * spacing));
        let share = |column: usize| match self.n_shared {
            _ if self.tied => 0.5,
            1 => 0.5,
            count => column as f64 / (count - 1) as f64,
        };
        // The strongest axis gets the longest length-scale.
        let length = |column: usize| multiplier * high * (low / high).powf(share(column));
        let shared_lengths: Vec<f64> = (0..self.n_shared).map(length).collect();
        let private_lengths = vec![multiplier * 5.0 * spacing; private.len()];
        let mixing = MixingMatrix::with_private(n_outputs, self.n_shared, shared, private)?;
        let noise = vec![Variance::new(FIRST_NOISE)?; n_outputs];
        Lmc::new(self.latents(&shared_lengths, &private_lengths)?, mixing, noise)
    }

    /// A start that knows nothing of the table but its extent.
    ///
    /// # Errors
    /// When a number leaves the range of doubles.
    pub fn random_start(&self, n_outputs: usize, extent: Extent, seed: u64) -> Result<Lmc, ModelError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = |size: f64| size * Distribution::<f64>::sample(&StandardNormal, &mut generator);
        let size = (self.n_shared.max(1) as f64).sqrt().recip();
        let shared = (0..n_outputs * self.n_shared).map(|_| normal(size)).collect();
        let n_private = if self.private_kernel.is_some() { n_outputs } else { 0 };
        let private = (0..n_private).map(|_| normal(0.5)).collect();
        let mut between = |low: f64, high: f64| {
            let share: f64 = StandardUniform.sample(&mut generator);
            low * (high / low).powf(share)
        };
        let (low, high) = (extent.spacing, extent.span.max(2.0 * extent.spacing));
        let tied = between(low, high);
        let shared_lengths: Vec<f64> =
            (0..self.n_shared).map(|_| if self.tied { tied } else { between(low, high) }).collect();
        let private_lengths: Vec<f64> = (0..n_private).map(|_| between(low, high)).collect();
        let noise: Result<Vec<Variance>, _> =
            (0..n_outputs).map(|_| Variance::new(between(1e-3, 0.3))).collect();
        let mixing = MixingMatrix::with_private(n_outputs, self.n_shared, shared, private)?;
        Lmc::new(self.latents(&shared_lengths, &private_lengths)?, mixing, noise?)
    }

    /// The parameters of a member of this family: all free except for ties.
    pub fn parameters(&self, member: Lmc, noise_floor: f64) -> Parameters {
        let parameters = Parameters::all(member, noise_floor);
        if self.tied {
            parameters.with_tied_length_scales((0..self.n_shared).map(LatentIndex::new))
        } else {
            parameters
        }
    }

    /// The same with weights and noise of constant outputs fixed: their noise would otherwise vanish.
    pub fn parameters_without(
        &self,
        member: Lmc,
        noise_floor: f64,
        constant: impl IntoIterator<Item = OutputIndex>,
    ) -> Parameters {
        constant.into_iter().fold(self.parameters(member, noise_floor), |parameters, output| {
            parameters.with_fixed_weights_of(output).with_fixed_noise_of(output)
        })
    }
}
