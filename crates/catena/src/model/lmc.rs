//! The linear model of coregionalization, checked.

use super::{Latent, MixingMatrix, ModelError, Process};
use crate::index::LatentIndex;
use crate::kernel::Component;
use crate::units::Variance;

/// `y_id = Σ_l w_dl g_l(x_i) + ε_d`, with latents of unit variance and noise of variance r_d.
#[derive(Clone, Debug, PartialEq)]
pub struct Lmc {
    latents: Vec<Latent>,
    mixing: MixingMatrix,
    noise: Vec<Variance>,
}

impl Lmc {
    /// A model from its three parts.
    ///
    /// # Errors
    /// When the parts do not fit together.
    pub fn new(latents: Vec<Latent>, mixing: MixingMatrix, noise: Vec<Variance>) -> Result<Self, ModelError> {
        if latents.len() != mixing.n_latents() {
            return Err(ModelError::LatentCount { latents: latents.len(), columns: mixing.n_latents() });
        }
        if noise.len() != mixing.n_outputs() {
            return Err(ModelError::NoiseCount { n_outputs: mixing.n_outputs(), found: noise.len() });
        }
        let is_cycle =
            |latent: &Latent| matches!(latent.process(), Process::Component(Component::Cycle { .. }));
        for (at, latent) in latents.iter().enumerate() {
            let follows = at > 0 && at < mixing.n_shared() && is_cycle(&latents[at - 1]);
            if latent.process() == Process::Quadrature && !follows {
                return Err(ModelError::NoCycleBefore { latent: LatentIndex::new(at) });
            }
        }
        Ok(Self { latents, mixing, noise })
    }

    /// The number of outputs, D.
    pub fn n_outputs(&self) -> usize {
        self.mixing.n_outputs()
    }

    /// The number of latents, L: shared and private.
    pub fn n_latents(&self) -> usize {
        self.latents.len()
    }

    /// The latents, by column of the mixing matrix.
    pub fn latents(&self) -> &[Latent] {
        &self.latents
    }

    /// The mixing matrix W.
    pub fn mixing(&self) -> &MixingMatrix {
        &self.mixing
    }

    /// The noise variance r_d of each output.
    pub fn noise(&self) -> &[Variance] {
        &self.noise
    }

    /// For each column of the mixing matrix, the latent whose state it reads and the entry of that state: entry 0 of its own
    /// latent, or entry 1 of the preceding cycle for a quadrature component.
    pub fn readings(&self) -> impl Iterator<Item = (LatentIndex, usize)> + '_ {
        self.latents.iter().enumerate().map(|(at, latent)| match latent.process() {
            Process::Quadrature => (LatentIndex::new(at - 1), 1),
            Process::Stationary(..) | Process::Component(_) => (LatentIndex::new(at), 0),
        })
    }

    /// The size of the joint state, n.
    pub fn state_dim(&self) -> usize {
        self.latents.iter().map(Latent::state_dim).sum()
    }

    /// The number of state components of each latent.
    pub(crate) fn state_dims(&self) -> Vec<usize> {
        self.latents.iter().map(Latent::state_dim).collect()
    }
}
