//! Options of a fit. Everything left open is decided from the data.

mod time;
mod time_spec;
mod words;

use std::str::FromStr;

use catena::data::InputPoints;
use catena::index::OutputIndex;
use catena::kernel::{Kernel, StateKind};
use catena::learning::Priors;
use catena::structure::{
    Start, StructureChoice, StructureError, Tree, greedy_chain, sorted_chain, spanning_tree,
};
use catena_methods::MemoryLimit;
use catena_methods::fullscale::FullScaleSize;
use thiserror::Error;

pub use time::{
    ComponentKind, ComponentParameters, MOST_OUTPUTS, MOST_WITH_OWN_SEASONS, SharedHarmonic, SharedSeason,
    TimeOptions, TimeParameters,
};
pub use time_spec::{SpecError, Term, TimeSpec};
pub use words::UnknownWord;

/// How users request relearning, on the command line and in Python.
pub(crate) const RELEARN: &str = "--relearn (relearn=True in Python)";

/// The inference method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MethodChoice {
    /// Along one input message passing, which is exact; with several inputs chosen by cost and held-out cells.
    #[default]
    Auto,
    /// Message passing.
    Catena,
    /// Exact inference with dense matrices.
    Exact,
    /// Sparse variational inference.
    Svgp {
        /// The number of inducing points; 0 for 200, or the number of rows if smaller.
        n_inducing: usize,
    },
    /// Nearest-neighbor inference.
    Nngp {
        /// The number of neighbors; 0 for 16, or the number of rows if smaller.
        n_neighbors: usize,
    },
    /// Full-scale inference: inducing points, and neighbors for the residual process.
    FullScale {
        /// The numbers of both; `None` to choose by held-out cells.
        size: Option<FullScaleSize>,
    },
}

/// The structure for message passing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StructureOption {
    /// The default for the number of inputs.
    #[default]
    Auto,
    /// The sorted or greedy chain.
    Chain,
    /// The minimum spanning tree.
    Tree,
    /// Several random greedy chains; parameters are learned on the greedy chain, predictions are combined.
    Ensemble {
        /// The number of chains.
        n_chains: usize,
    },
}

impl StructureOption {
    /// Builds the structure over the points. For an ensemble it is the greedy chain, on which parameters are learned.
    ///
    /// # Errors
    /// When there are no points, or a distance overflows.
    pub fn build(self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        match self {
            Self::Auto => StructureChoice::for_dim(inputs.dim()).build(inputs),
            Self::Chain | Self::Ensemble { .. } if inputs.dim() == 1 => sorted_chain(inputs),
            Self::Chain | Self::Ensemble { .. } => greedy_chain(inputs, Start::FirstRow),
            Self::Tree => spanning_tree(inputs),
        }
    }

    /// The name of the structure that [`StructureOption::build`] builds for this many inputs.
    pub fn name(self, n_inputs: usize) -> &'static str {
        match self {
            Self::Auto => StructureChoice::for_dim(n_inputs).name(),
            Self::Chain | Self::Ensemble { .. } if n_inputs == 1 => "sorted chain",
            Self::Chain | Self::Ensemble { .. } => "greedy chain",
            Self::Tree => "spanning tree",
        }
    }
}

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
    /// Outputs whose logarithm is modelled.
    pub log: Vec<OutputIndex>,
    /// Whether means are linear in the inputs.
    pub trend: bool,
    /// Factors on the scaled inputs; empty if all are 1.
    pub factors: Vec<f64>,
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

/// Options of a fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The inference method.
    pub method: MethodChoice,
    /// The structure for message passing.
    pub structure: StructureOption,
    /// The state of the latents; `None` for the default of the structure.
    pub state: Option<StateKind>,
    /// The number of shared latents; `None` to choose.
    pub latents: Option<usize>,
    /// Whether each output has a private latent; `None` to choose.
    pub private: Option<bool>,
    /// The kernels; `None` to choose.
    pub kernel: Option<KernelPair>,
    /// Fits a time model instead: every latent is a sum of components. Needs a single input.
    pub time: Option<TimeOptions>,
    /// The prior mean.
    pub mean: MeanChoice,
    /// Given parameters; `None` to learn them.
    pub parameters: Option<GivenParameters>,
    /// Priors of the parameters, for outputs of variance 1; `None` for the default.
    pub priors: Option<Priors>,
    /// The lower bound of noise variances, in variances of the output.
    pub noise_floor: f64,
    /// Whether inputs are scaled. If false and parameters are given, outputs are not scaled either; learning always scales
    /// outputs to mean 0 and variance 1. Time models always use median gaps as the unit of time.
    pub standardize: bool,
    /// Whether logarithms of positive skewed outputs, and linear trends for several inputs, may be chosen.
    pub transforms: bool,
    /// Whether inputs have factors (automatic relevance): `Some(true)` always, `Some(false)` never, `None` to choose by
    /// held-out cells. Ignored with one input.
    pub relevance: Option<bool>,
    /// Further points of the structure (the paper's candidates), in the user's units.
    pub candidates: Option<InputPoints>,
    /// The time for choosing and learning.
    pub budget: Budget,
    /// The number of random rows from which methods other than message passing learn; `None` for all rows, or for as many as
    /// the budget allows with full-scale inference.
    pub learning_rows: Option<usize>,
    /// The memory limit of dense methods.
    pub memory: MemoryLimit,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Formats a length along the only input, for example as a duration.
    pub length_text: fn(f64) -> String,
    /// Names of the inputs.
    pub input_names: Vec<String>,
    /// Names of the outputs.
    pub output_names: Vec<String>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            method: MethodChoice::Auto,
            structure: StructureOption::Auto,
            state: None,
            latents: None,
            private: None,
            kernel: None,
            time: None,
            mean: MeanChoice::Auto,
            parameters: None,
            priors: None,
            noise_floor: 1e-6,
            standardize: true,
            transforms: true,
            relevance: None,
            candidates: None,
            budget: Budget::Default,
            learning_rows: None,
            memory: MemoryLimit::default(),
            seed: 0,
            length_text: |length| length.to_string(),
            input_names: vec![],
            output_names: vec![],
        }
    }
}

impl FitOptions {
    /// Whether parameters are given.
    pub fn has_parameters(&self) -> bool {
        self.parameters.is_some() || self.time.as_ref().is_some_and(|time| time.parameters.is_some())
    }

    /// The transforms that need no comparison.
    pub(crate) fn transform_choice(&self) -> TransformChoice {
        TransformChoice { trend: self.mean == MeanChoice::Linear, ..TransformChoice::default() }
    }

    /// The name of an output.
    pub(crate) fn output_name(&self, output: usize) -> String {
        self.output_names.get(output).cloned().unwrap_or_else(|| format!("output {output}"))
    }
}
