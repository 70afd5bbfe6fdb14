//! The model as a whole, checked.

use super::{Latent, MixingMatrix, Process};
use crate::index::{LatentIndex, OutputIndex};
use crate::kernel::{Component, KernelError};
use crate::units::{UnitError, Variance};
use thiserror::Error;

/// A model that cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A model needs at least one output.
    #[error("the mixing matrix has no rows; a model needs at least one output")]
    NoOutputs,
    /// A model needs at least one latent process.
    #[error("the mixing matrix has no columns; a model needs at least one latent process")]
    NoLatents,
    /// The mixing matrix does not have the size its shape promises.
    #[error(
        "the mixing matrix has {found} weights, but {n_outputs} outputs and {n_latents} shared latents need {}",
        n_outputs * n_latents
    )]
    MixingShape {
        /// Rows promised.
        n_outputs: usize,
        /// Columns promised.
        n_latents: usize,
        /// Weights given.
        found: usize,
    },
    /// Private latents come one per output, or not at all.
    #[error("{found} private weights given for {n_outputs} outputs; give one per output or none")]
    PrivateShape {
        /// Outputs.
        n_outputs: usize,
        /// Weights given.
        found: usize,
    },
    /// Every column of the mixing matrix belongs to one latent.
    #[error("{latents} latent processes given for a mixing matrix of {columns} columns")]
    LatentCount {
        /// Latents given.
        latents: usize,
        /// Columns of the mixing matrix.
        columns: usize,
    },
    /// Every output has one noise variance.
    #[error("{found} noise variances given for {n_outputs} outputs")]
    NoiseCount {
        /// Outputs.
        n_outputs: usize,
        /// Variances given.
        found: usize,
    },
    /// A weight is not a number one can compute with.
    #[error("mixing weight of output {output} and latent {latent} is {value}")]
    WeightNotFinite {
        /// The row of the mixing matrix.
        output: OutputIndex,
        /// The column of the mixing matrix.
        latent: LatentIndex,
        /// What stands there.
        value: f64,
    },
    /// A quarter turn is of the cycle before it.
    #[error("column {latent} is a quarter turn, but the shared column before it is no cycle")]
    NoCycleBefore {
        /// The column of the quarter turn.
        latent: LatentIndex,
    },
    /// A length-scale or noise variance is not positive and finite.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A kernel cannot be carried as asked.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

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
            if latent.process() == Process::QuarterTurn && !follows {
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

    /// What each column of the mixing matrix weighs: the latent whose state it reads, and which component. Its own latent's
    /// first component, except for a quarter turn.
    pub fn readings(&self) -> impl Iterator<Item = (LatentIndex, usize)> + '_ {
        self.latents.iter().enumerate().map(|(at, latent)| match latent.process() {
            Process::QuarterTurn => (LatentIndex::new(at - 1), 1),
            Process::Stationary(..) | Process::Component(_) => (LatentIndex::new(at), 0),
        })
    }

    /// The number of components of the joint state, n.
    pub fn state_dim(&self) -> usize {
        self.latents.iter().map(Latent::state_dim).sum()
    }
}
