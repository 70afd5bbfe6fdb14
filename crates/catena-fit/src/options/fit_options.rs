//! Options of a fit. Everything left open is decided from the data.

use std::time::Duration;

use catena::data::InputPoints;
use catena::kernel::StateKind;
use catena::learning::Priors;
use catena_methods::MemoryLimit;
use catena_methods::fullscale::FullScaleSize;

use super::bounds::{Bounds, BoundsOptions};
use super::choices::{
    Budget, CombineChoice, GivenParameters, GroupScaling, KernelPair, MeanChoice, TransformChoice,
};
use super::likelihoods::{LikelihoodChoice, LikelihoodOptions, LikelihoodRequest};
use super::methods::MethodChoice;
use super::structures::StructureOption;
use super::time::TimeOptions;
use super::transforms::{TransformKind, TransformOptions};
use crate::error::FitError;

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
    /// Whether groups share means and scales. Ignored without groups, and with given parameters.
    pub group_scaling: GroupScaling,
    /// Given parameters; `None` to learn them.
    pub parameters: Option<GivenParameters>,
    /// Priors of the parameters, for outputs of variance 1; `None` for the default.
    pub priors: Option<Priors>,
    /// The lower bound of noise variances, in variances of the output.
    pub noise_floor: f64,
    /// Whether inputs are scaled. If false and parameters are given, outputs are not scaled either; learning always scales
    /// outputs to mean 0 and variance 1. Time models always use median gaps as the unit of time.
    pub standardize: bool,
    /// The transforms of the outputs. If all are `none`, a linear trend for several inputs is not chosen either.
    pub transforms: TransformOptions,
    /// The distribution of each output's observations given the function; Gaussian unless it is requested. An output with another one
    /// has no transform, and the answer is a single model, not a pool.
    pub likelihoods: LikelihoodOptions,
    /// The smallest and largest values of outputs: answers beyond them are put at them.
    pub bounds: BoundsOptions,
    /// Whether the answer is a pool of several members.
    pub combine: CombineChoice,
    /// Whether inputs have factors (automatic relevance): `Some(true)` always, `Some(false)` never, `None` to choose by
    /// held-out cells. Ignored with one input.
    pub ard: Option<bool>,
    /// Further points of the structure (the paper's candidates), in the user's units.
    pub candidates: Option<InputPoints>,
    /// The time for choosing and learning.
    pub budget: Budget,
    /// The time in which the fit must end, with the best model that it then has; `None` for no limit. A fit that is cut short says so
    /// in its warnings, and depends on the speed of the machine; without a limit, fits depend on counted work only.
    pub time_limit: Option<Duration>,
    /// The number of random rows from which methods other than message passing learn; `None` for all rows, or for as many as
    /// the budget allows with full-scale inference.
    pub learning_rows: Option<usize>,
    /// The memory limit of the fit; larger fits are refused.
    pub memory: MemoryLimit,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Periods of the calendar (a day, a week, a year) in units of the only input: time models try them as seasons before those of a
    /// periodogram.
    pub calendar: Vec<f64>,
    /// Formats a length along the only input, for example as a duration.
    pub length_text: fn(f64) -> String,
    /// Whether the last of several inputs is a time. Space and time is then tried if the method is open.
    pub time_is_last: bool,
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
            group_scaling: GroupScaling::Auto,
            parameters: None,
            priors: None,
            noise_floor: 1e-6,
            standardize: true,
            transforms: TransformOptions::AUTO,
            likelihoods: LikelihoodOptions::default(),
            bounds: BoundsOptions::default(),
            combine: CombineChoice::Auto,
            ard: None,
            candidates: None,
            budget: Budget::Default,
            time_limit: None,
            learning_rows: None,
            memory: MemoryLimit::default(),
            seed: 0,
            calendar: vec![],
            length_text: |length| length.to_string(),
            time_is_last: false,
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

    /// Whether models of tables with this many outputs have a private latent per output. Unless it is requested, wide tables have
    /// none: the cost of a row grows with the cube of the number of states.
    pub(crate) fn tries_private(&self, n_outputs: usize) -> bool {
        let most = match self.budget {
            Budget::Quick => 16,
            Budget::Default => 24,
            Budget::Thorough => 64,
        };
        self.private.unwrap_or((2..=most).contains(&n_outputs))
    }

    /// The transforms that need neither comparison nor learning: outputs are as they are.
    pub(crate) fn transform_choice(&self) -> TransformChoice {
        TransformChoice { trend: self.mean == MeanChoice::Linear, ..TransformChoice::default() }
    }

    /// The requested transform of each of `n_outputs` outputs.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn transform_kinds(&self, n_outputs: usize) -> Result<Vec<TransformKind>, FitError> {
        self.transforms.kinds(&self.names_of_outputs(n_outputs))
    }

    /// The requested likelihood of each of `n_outputs` outputs.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn likelihood_requests(
        &self,
        n_outputs: usize,
    ) -> Result<Vec<Option<LikelihoodRequest>>, FitError> {
        let names = self.names_of_outputs(n_outputs);
        let missing = |name| FitError::NoOutputWithLikelihood { name, outputs: names.join(", ") };
        self.likelihoods.of(&names).map_err(missing)
    }

    /// The likelihood of each of `n_outputs` outputs, where an open one is Gaussian; `None` if all are.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn likelihood_choices(
        &self,
        n_outputs: usize,
    ) -> Result<Option<Vec<LikelihoodChoice>>, FitError> {
        let choice = |request: Option<LikelihoodRequest>| match request {
            Some(LikelihoodRequest::Given(choice)) => choice,
            Some(LikelihoodRequest::Auto) | None => LikelihoodChoice::gaussian(),
        };
        let choices: Vec<LikelihoodChoice> =
            self.likelihood_requests(n_outputs)?.into_iter().map(choice).collect();
        Ok((!choices.iter().all(LikelihoodChoice::is_gaussian)).then_some(choices))
    }

    /// Whether a likelihood other than Gaussian is requested or may be chosen.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn may_have_likelihoods(&self, n_outputs: usize) -> Result<bool, FitError> {
        let is_open = self.likelihood_requests(n_outputs)?.contains(&Some(LikelihoodRequest::Auto));
        Ok(is_open || self.likelihood_choices(n_outputs)?.is_some())
    }

    /// The bounds of each of `n_outputs` outputs.
    ///
    /// # Errors
    /// When there is no output of a name.
    pub(crate) fn bounds_of_outputs(&self, n_outputs: usize) -> Result<Vec<Option<Bounds>>, FitError> {
        let names = self.names_of_outputs(n_outputs);
        let missing = |name| FitError::NoOutputWithBounds { name, outputs: names.join(", ") };
        self.bounds.of(&names).map_err(missing)
    }

    fn names_of_outputs(&self, n_outputs: usize) -> Vec<String> {
        (0..n_outputs).map(|output| self.output_name(output)).collect()
    }

    /// The name of an output.
    pub(crate) fn output_name(&self, output: usize) -> String {
        self.output_names.get(output).cloned().unwrap_or_else(|| format!("output {output}"))
    }

    /// The method and structure, for the summary.
    pub(crate) fn method_name(&self) -> String {
        match (self.method, self.structure) {
            (MethodChoice::Exact, _) => "exact".to_owned(),
            (MethodChoice::Svgp { n_inducing }, _) => format!("svgp with {n_inducing} inducing points"),
            (MethodChoice::Nngp { n_neighbors }, _) => format!("nngp with {n_neighbors} neighbors"),
            (MethodChoice::FullScale { size }, _) => {
                let FullScaleSize { n_inducing, n_neighbors } = size.unwrap_or_default();
                format!("full-scale with {n_inducing} inducing points and {n_neighbors} neighbors")
            }
            (MethodChoice::Space { .. }, _) => "space and time".to_owned(),
            (_, StructureOption::Ensemble { n_chains }) => format!("catena on {n_chains} chains"),
            (_, StructureOption::Chain) => "catena on a chain".to_owned(),
            (_, StructureOption::Tree) => "catena on a spanning tree".to_owned(),
            (_, StructureOption::Auto) => "catena".to_owned(),
        }
    }
}
