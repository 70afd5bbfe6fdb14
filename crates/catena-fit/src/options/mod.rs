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

/// Which inference runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MethodChoice {
    /// Along one input message passing, which is exact; above, what predicts hidden cells best.
    #[default]
    Auto,
    /// Message passing.
    Catena,
    /// Dense matrices.
    Exact,
    /// Inducing points.
    Svgp {
        /// Their number; 0 for 200, or as many as there are rows.
        n_inducing: usize,
    },
    /// Neighbors of each point.
    Nngp {
        /// Their number; 0 for 16, or as many as there are rows.
        n_neighbors: usize,
    },
    /// Inducing points, and neighbors for what they leave.
    FullScale {
        /// How many of each; `None` to choose by hidden cells.
        size: Option<FullScaleSize>,
    },
}

/// Which structure message passing runs on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StructureOption {
    /// What suits the number of inputs.
    #[default]
    Auto,
    /// The sorted or greedy chain.
    Chain,
    /// The minimum spanning tree.
    Tree,
    /// Several random greedy chains, learned on the first, predictions combined.
    Ensemble {
        /// How many chains.
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
            Self::Auto => StructureChoice::for_dim(n_inputs).kind().name(),
            Self::Chain | Self::Ensemble { .. } if n_inputs == 1 => "sorted chain",
            Self::Chain | Self::Ensemble { .. } => "greedy chain",
            Self::Tree => "spanning tree",
        }
    }
}

/// What outputs return to where nothing else is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MeanChoice {
    /// Constant along one input; above, linear if that predicts hidden cells better.
    #[default]
    Auto,
    /// A constant for each output.
    Constant,
    /// Linear in the inputs, fitted to the cells before anything else.
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

/// How much time may be spent on choosing and learning; the figures are for 4000 rows of 7 outputs on two cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Budget {
    /// Up to 5 seconds: models are chosen by a parsimony score on a part of the table.
    Quick,
    /// Up to a minute: models are chosen by what they predict of hidden cells.
    #[default]
    Default,
    /// Up to ten minutes: more masks, more starts, longer climbs.
    Thorough,
}

/// Kernels of shared and private latents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KernelPair {
    /// Of shared latents.
    pub shared: Kernel,
    /// Of private latents, if there are any.
    pub private: Kernel,
}

/// A kernel that is not known.
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

/// A model in the user's own units, given instead of learned.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenParameters {
    /// Kernels.
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

/// Everything a user may ask for.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The inference.
    pub method: MethodChoice,
    /// The structure under message passing.
    pub structure: StructureOption,
    /// How latents are carried; `None` to decide by the inputs.
    pub state: Option<StateKind>,
    /// Shared latents; `None` to choose.
    pub latents: Option<usize>,
    /// Whether each output has a private latent; `None` to decide.
    pub private: Option<bool>,
    /// Kernels; `None` to choose.
    pub kernel: Option<KernelPair>,
    /// A model along time instead: sums of level, season and oscillator in every latent. Needs a single input.
    pub time: Option<TimeOptions>,
    /// What outputs return to.
    pub mean: MeanChoice,
    /// Parameters that are given; `None` to learn them.
    pub parameters: Option<GivenParameters>,
    /// Priors of what is learned, for outputs of variance 1; `None` for the default.
    pub priors: Option<Priors>,
    /// The noise variance, in variances of the output, that learning does not go below.
    pub noise_floor: f64,
    /// Whether inputs are brought to scale. Where parameters are given, outputs too are taken as they are without it; where
    /// they are learned, outputs are always brought to mean 0 and variance 1. Models along time always count in median gaps.
    pub standardize: bool,
    /// Whether logarithms of positive skewed outputs, and linear trends for several inputs, may be chosen.
    pub transforms: bool,
    /// Whether inputs may count differently (automatic relevance): `Some(true)` for always, `Some(false)` for never, `None`
    /// to decide by hidden cells. One input alone always counts once.
    pub relevance: Option<bool>,
    /// Points that are part of the structure beside the table's rows, in the user's units: the paper's candidates.
    pub candidates: Option<InputPoints>,
    /// How much may be spent.
    pub budget: Budget,
    /// Learn neighbors, exact, sparse and full-scale methods from this many random rows; `None` for all, or for as many as
    /// the budget allows where the method is full-scale.
    pub learning_rows: Option<usize>,
    /// The most memory that a dense method may take.
    pub memory: MemoryLimit,
    /// The seed of everything random.
    pub seed: u64,
    /// How a length along the only input is written: as a duration where it is a time.
    pub length_text: fn(f64) -> String,
    /// What inputs are called.
    pub input_names: Vec<String>,
    /// What outputs are called.
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
    /// Whether nothing is learned, since all parameters are given.
    pub fn has_parameters(&self) -> bool {
        self.parameters.is_some() || self.time.as_ref().is_some_and(|time| time.parameters.is_some())
    }

    /// The transforms that need no comparison.
    pub(crate) fn transform_choice(&self) -> TransformChoice {
        TransformChoice { trend: self.mean == MeanChoice::Linear, ..TransformChoice::default() }
    }

    /// What an output is called.
    pub(crate) fn output_name(&self, output: usize) -> String {
        self.output_names.get(output).cloned().unwrap_or_else(|| format!("output {output}"))
    }
}
