//! Errors of building a model.

use crate::index::{LatentIndex, OutputIndex};
use crate::kernel::KernelError;
use crate::units::UnitError;
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
    /// The mixing matrix does not have the size of its shape.
    #[error(
        "the mixing matrix has {found} weights, but {n_outputs} outputs and {n_latents} shared latents need {}",
        n_outputs * n_latents
    )]
    MixingShape {
        /// Rows.
        n_outputs: usize,
        /// Shared columns.
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
    /// A weight must be finite.
    #[error("mixing weight of output {output} and latent {latent} is {value}; it must be finite")]
    WeightNotFinite {
        /// The row of the mixing matrix.
        output: OutputIndex,
        /// The column of the mixing matrix.
        latent: LatentIndex,
        /// The weight.
        value: f64,
    },
    /// The quadrature component of a cycle must follow its cycle.
    #[error(
        "column {latent} is the quadrature component of a cycle, but the shared column before it is not a cycle"
    )]
    NoCycleBefore {
        /// The column of the quadrature component.
        latent: LatentIndex,
    },
    /// A length-scale or noise variance is not positive and finite.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A kernel has no such state.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
