//! One latent process g_l: unit variance, a kernel, a length-scale, and the state that carries it.

use crate::kernel::{Kernel, KernelError, StateKind};
use crate::units::LengthScale;

/// A latent process of unit variance; the paper's γ_l² is absorbed in its column of the mixing matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    kernel: Kernel,
    state: StateKind,
    length_scale: LengthScale,
}

impl Latent {
    /// A latent with this kernel, carried along edges in this kind of state.
    ///
    /// # Errors
    /// When the kernel has no state of that kind.
    pub fn new(kernel: Kernel, state: StateKind, length_scale: LengthScale) -> Result<Self, KernelError> {
        kernel.state_dim(state)?;
        Ok(Self { kernel, state, length_scale })
    }

    /// The correlation function.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// How it is carried along an edge.
    pub fn state(&self) -> StateKind {
        self.state
    }

    /// The length-scale.
    pub fn length_scale(&self) -> LengthScale {
        self.length_scale
    }

    /// The same latent at another length-scale.
    pub fn with_length_scale(self, length_scale: LengthScale) -> Self {
        Self { length_scale, ..self }
    }

    /// The number of components of its state.
    pub fn state_dim(&self) -> usize {
        self.kernel.state_dim(self.state).unwrap_or(1)
    }

    /// The correlation of two values a distance Δ apart: κ_l(Δ).
    pub fn correlation(&self, distance: f64) -> f64 {
        self.kernel.correlation(self.kernel.rate(self.length_scale) * distance)
    }
}
