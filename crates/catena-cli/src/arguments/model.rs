//! Options that say what model is learned and how.

use std::path::PathBuf;

use catena::kernel::StateKind;
use catena_fit::{Budget, MeanChoice, MethodChoice, StructureOption};
use clap::Args;

use super::words::{self, Bytes, Chosen, KernelWord};

/// The model and how it is learned; everything that is not said is decided from the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelOptions {
    /// Latent processes shared by the outputs: a number or auto.
    #[arg(long, default_value = "auto", value_parser = words::latents, value_name = "N|auto")]
    pub(crate) latents: Chosen<usize>,
    /// Kernel, shared/private kernels, a sum of pieces for time, time to choose one, or auto: matern32, matern32/matern12,
    /// sho+rw+qp(24h), ...
    #[arg(long, default_value = "auto", value_parser = words::kernel, value_name = "SPEC")]
    pub(crate) kernel: Chosen<KernelWord>,
    /// Seasons to model, such as 24h or 24h,7d (numbers along an input of numbers).
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub(crate) period: Vec<String>,
    /// What outputs return to where nothing else is known: constant, linear (in the inputs) or auto.
    #[arg(long, default_value = "auto", value_parser = words::mean)]
    pub(crate) mean: MeanChoice,
    /// Whether every output has a latent process of its own: yes, no or auto.
    #[arg(long, default_value = "auto", value_parser = words::yes_or_no, value_name = "yes|no")]
    pub(crate) private: Chosen<bool>,
    /// Whether inputs may count differently (automatic relevance, for two inputs or more): yes, no or auto.
    #[arg(long, default_value = "auto", value_parser = words::yes_or_no, value_name = "yes|no")]
    pub(crate) ard: Chosen<bool>,
    /// What joins the rows: auto, chain, tree or ensemble:K.
    #[arg(long, default_value = "auto", value_parser = words::structure)]
    pub(crate) structure: StructureOption,
    /// Inference: auto, catena, exact, fullscale[:M,K], svgp[:M] or nngp[:K].
    #[arg(long, default_value = "auto", value_parser = words::method)]
    pub(crate) method: MethodChoice,
    /// How latents are carried: auto, derivative or value.
    #[arg(long, default_value = "auto", value_parser = words::state)]
    pub(crate) state: Chosen<StateKind>,
    /// The seed of everything random.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads to use; without it, all cores.
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Refuse a fit that needs more memory than this, such as 3GB.
    #[arg(long, value_parser = words::bytes, value_name = "SIZE")]
    pub(crate) max_memory: Option<Bytes>,
    /// Time for choosing and learning: quick, default or thorough (4000 rows of 7 outputs on two cores: at most 5 s, 60 s, 10 min).
    #[arg(long, default_value = "default", value_parser = words::budget)]
    pub(crate) budget: Budget,
    /// Learn nothing; take the parameters of --parameters, and with them kernels and latents.
    #[arg(long, conflicts_with_all = ["latents", "kernel", "period", "private", "ard", "budget"])]
    pub(crate) no_learn: bool,
    /// A JSON file (`-` is standard input) with mixing, length_scales, noise and kernel, or the sums of a model for time, as `fit --parameters-out` writes it.
    #[arg(long, value_name = "FILE.json", requires = "no_learn")]
    pub(crate) parameters: Option<PathBuf>,
}

impl ModelOptions {
    /// Whether a model of pieces for time is asked for.
    pub(crate) fn asks_for_time(&self) -> bool {
        matches!(self.kernel.given(), Some(KernelWord::Sum(_) | KernelWord::Time)) || !self.period.is_empty()
    }
}
