//! Options for the model and for learning.

use std::path::PathBuf;
use std::time::Duration;

use catena::kernel::StateKind;
use catena_fit::{
    BoundsOptions, Budget, CombineChoice, GroupScaling, LikelihoodOptions, MeanChoice, MethodChoice,
    StructureOption, TransformOptions,
};
use catena_io::memory::default_limit;
use clap::Args;

use super::values::{self, Bytes, Chosen, KernelOption};

/// The model and how it is learned; `auto` is decided from the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelOptions {
    /// Number of latent processes shared by the outputs, or auto.
    #[arg(long, default_value = "auto", value_parser = values::latents, value_name = "N|auto")]
    pub(crate) latents: Chosen<usize>,
    /// Kernel: auto, a name such as matern32, shared/private such as matern32/matern12, a sum of time components such as
    /// sho+rw+qp(24h), or time to select the components automatically.
    #[arg(long, default_value = "auto", value_parser = values::kernel, value_name = "SPEC")]
    pub(crate) kernel: Chosen<KernelOption>,
    /// Seasonal periods, such as 24h or 24h,7d; numbers if the input is numeric.
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub(crate) periods: Vec<String>,
    /// Prior mean of the outputs: constant, linear (in the inputs) or auto.
    #[arg(long, default_value = "auto")]
    pub(crate) mean: MeanChoice,
    /// Mean and scale of each output with --group: shared by all groups, own of each group, or auto (by held-out cells).
    #[arg(long, default_value = "auto", value_name = "shared|own|auto")]
    pub(crate) group_scaling: GroupScaling,
    /// Whether each output has a private latent process: yes, no or auto.
    #[arg(long, default_value = "auto", value_parser = values::yes_or_no, value_name = "yes|no")]
    pub(crate) private: Chosen<bool>,
    /// Whether each input has its own length-scale (automatic relevance determination; two or more inputs): yes, no or auto.
    #[arg(long, default_value = "auto", value_parser = values::yes_or_no, value_name = "yes|no")]
    pub(crate) ard: Chosen<bool>,
    /// Structure over the rows: auto, chain, tree or ensemble:K.
    #[arg(long, default_value = "auto")]
    pub(crate) structure: StructureOption,
    /// Inference method: auto, catena (message passing), exact, fullscale[:M,K], svgp[:M], nngp[:K], or space[:GEOMETRY] (the last input is
    /// the time, the others the place; plane, latlon or lonlat).
    #[arg(long, default_value = "auto")]
    pub(crate) method: MethodChoice,
    /// State of each latent process: auto, derivative (value and derivatives) or value.
    #[arg(long, default_value = "auto", value_parser = values::state)]
    pub(crate) state: Chosen<StateKind>,
    /// Combine several models and regressions by their scores on held-out cells: auto, or none for the best single model.
    #[arg(long, default_value = "auto", value_name = "auto|none")]
    pub(crate) combine: CombineChoice,
    /// Transforms of the outputs: auto, none, log, box-cox or yeo-johnson (the last two with learned exponents), or one per output
    /// such as rain=log,flow=box-cox; outputs without one are auto.
    #[arg(long, default_value = "auto", value_name = "SPEC")]
    pub(crate) transforms: TransformOptions,
    /// Distribution of the values of each output: gaussian, student-t (outliers), poisson, negative-binomial, bernoulli, binomial(N)
    /// of N trials, gamma, log-normal, beta (proportions), censored (cut off at 0; limits as censored(0:100)), zero-inflated, or auto
    /// (by the values and by held-out cells), or one per output such as rain=censored,visits=poisson; outputs without one are gaussian.
    #[arg(long, value_name = "SPEC")]
    pub(crate) likelihood: Option<LikelihoodOptions>,
    /// Smallest and largest value of all outputs, such as 0..100 or 0.., or of some, such as humidity=0..100,rain=0..; answers beyond
    /// them are put at them.
    #[arg(long, value_name = "SPEC")]
    pub(crate) bounds: Option<BoundsOptions>,
    /// Random seed.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads [default: all cores].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Refuse a table or a fit that needs more memory than this, for example 3GB [default: three quarters of the machine's].
    #[arg(long, value_parser = values::bytes, value_name = "SIZE")]
    pub(crate) max_memory: Option<Bytes>,
    /// Computing budget for model selection and learning: quick, default or thorough (4000 rows of 7 outputs on two cores take at
    /// most 5 s, 60 s and 10 min).
    #[arg(long, default_value = "default")]
    pub(crate) budget: Budget,
    /// End learning within this time, such as 30s or 5min, with the best model so far; a warning says what was left out. Without it the
    /// budget counts work, and results are the same on every machine.
    #[arg(long, value_name = "TIME", value_parser = values::time_limit)]
    pub(crate) time_limit: Option<Duration>,
    /// Do not learn; use the kernels, latents and parameters of --parameters.
    #[arg(long, conflicts_with_all = ["latents", "kernel", "periods", "private", "ard", "combine", "transforms", "likelihood", "budget", "time_limit"])]
    pub(crate) no_learn: bool,
    /// JSON file of parameters as written by `fit --parameters-out`: mixing, length_scales, noise and kernel, or the sums of a time
    /// model; `-` is standard input.
    #[arg(long, value_name = "FILE.json", requires = "no_learn")]
    pub(crate) parameters: Option<PathBuf>,
    /// Print the size of the task and estimates of memory and time, then exit.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl ModelOptions {
    /// The memory limit in bytes.
    pub(crate) fn memory_limit(&self) -> u64 {
        self.max_memory.map_or_else(default_limit, |limit| limit.0 as u64)
    }

    /// Whether a time model is requested.
    pub(crate) fn requests_time_model(&self) -> bool {
        matches!(self.kernel.given(), Some(KernelOption::Sum(_) | KernelOption::Time))
            || !self.periods.is_empty()
    }
}
