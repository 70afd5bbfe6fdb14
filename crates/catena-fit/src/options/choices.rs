//! Choices of a fit: mean, applied transforms, budget, kernels and given parameters.

use std::str::FromStr;

use catena::kernel::Kernel;
use thiserror::Error;

use crate::power::PowerTransform;

/// The prior mean of the outputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MeanChoice {
    /// Constant along one input; with several inputs linear if that predicts held-out cells better.
    #[default]
    Auto,
    /// A constant for each output.
    Constant,
    /// Linear in the inputs, fitted by least squares before learning.
    Linear,
}

/// Which transforms are applied to a table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TransformChoice {
    /// The transform of each output; empty if all outputs are modelled as they are.
    pub powers: Vec<PowerTransform>,
    /// Whether means are linear in the inputs.
    pub trend: bool,
    /// Factors on the scaled inputs; empty if all are 1.
    pub factors: Vec<f64>,
    /// Whether each group has means and scales of its own.
    pub own_of_groups: bool,
}

/// Whether groups share the mean and scale of each output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum GroupScaling {
    /// Own means and scales if they predict held-out cells better; shared ones with the quick budget and for time models.
    #[default]
    Auto,
    /// One mean and scale of each output for all groups.
    Shared,
    /// Mean and scale of each group's own values.
    Own,
}

impl TransformChoice {
    /// The same choice with these transforms of the outputs.
    #[must_use]
    pub fn with_powers(self, mut powers: Vec<PowerTransform>) -> Self {
        if powers.iter().all(|power| *power == PowerTransform::None) {
            powers.clear();
        }
        Self { powers, ..self }
    }

    /// The transform of an output.
    pub fn power(&self, output: usize) -> PowerTransform {
        self.powers.get(output).copied().unwrap_or_default()
    }
}

/// Whether the answer of a fit is a pool of several members.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CombineChoice {
    /// A pool if it predicts held-out cells better than the best single model. Needs an open model along one input and the
    /// default or thorough budget.
    #[default]
    Auto,
    /// The best single model.
    None,
}

/// The time for choosing and learning; figures are for 4000 rows of 7 outputs on two cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Budget {
    /// Up to 5 seconds: models are chosen by a parsimony score on a sample of the table.
    Quick,
    /// Up to a minute: models are chosen by held-out cells.
    #[default]
    Default,
    /// Up to ten minutes: more folds, starts and iterations.
    Thorough,
}

/// Kernels of shared and private latents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KernelPair {
    /// The kernel of shared latents.
    pub shared: Kernel,
    /// The kernel of private latents.
    pub private: Kernel,
}

/// An unknown kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` is not a kernel; choose from {names}, or shared/private such as matern32/matern12", names = kernel_names())]
pub struct UnknownKernel(String);

fn kernel_names() -> String {
    Kernel::ALL.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for KernelPair {
    type Err = UnknownKernel;

    /// `matern32` for both, or `matern32/matern12` for shared and private latents.
    fn from_str(text: &str) -> Result<Self, UnknownKernel> {
        let kernel = |name: &str| {
            let name = name.trim().to_ascii_lowercase();
            let found = Kernel::ALL.iter().copied().find(|kernel| kernel.name() == name);
            found.ok_or_else(|| UnknownKernel(text.to_owned()))
        };
        let (shared, private) = text.split_once('/').unwrap_or((text, text));
        Ok(Self { shared: kernel(shared)?, private: kernel(private)? })
    }
}

/// Given parameters, in the user's units.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenParameters {
    /// The kernels.
    pub kernel: KernelPair,
    /// Weights, one row per output: shared columns first, then, if `has_private`, one per output.
    pub mixing: Vec<Vec<f64>>,
    /// Whether the last D columns of the weights are private latents.
    pub has_private: bool,
    /// One length-scale per column of the weights, in units of the input.
    pub length_scales: Vec<f64>,
    /// One noise variance per output, in squared units of the output.
    pub noise: Vec<f64>,
}
