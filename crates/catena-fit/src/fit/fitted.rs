//! A fitted model: predictions, parameters and parts.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::model::{Latent, Lmc};
use catena_methods::MemoryLimit;

use super::describe::mixing;
use super::summary::Summary;
use crate::error::FitError;
use crate::folds::scales_of;
use crate::methods::{
    ConditionedModel, Evidence, Fitted, Place, Quantity, condition_at, condition_by_likelihood,
};
use crate::options::{
    BoundsOptions, FitOptions, GivenParameters, KernelPair, LikelihoodOptions, MethodChoice, StructureOption,
    Ties,
};
use crate::power::PowerTransform;
use crate::prepare::{OutputTransform, Predictive, Preparation, log_volume};
use crate::size::{FitSize, QuerySize};
use crate::stack::{Combination, FittedMembers};

/// A fitted model.
pub struct Fit {
    pub(crate) parts: FitParts,
    /// The best single model.
    pub(crate) best: ConditionedModel,
    /// All members, if there are several.
    members: Option<FittedMembers>,
}

/// The parts of a fitted model, from which [`Fit::from_parts`] rebuilds it bit for bit.
#[derive(Clone, Debug)]
pub struct FitParts {
    /// The table, in the user's units.
    pub table: Dataset,
    /// The change of units.
    pub preparation: Preparation,
    /// The model, in its own units.
    pub model: Lmc,
    /// The inference method.
    pub method: MethodChoice,
    /// The structure.
    pub structure: StructureOption,
    /// The rule for ties of the structure.
    pub ties: Ties,
    /// Further points of the structure, in the user's units.
    pub candidates: Option<InputPoints>,
    /// The seed of random methods.
    pub seed: u64,
    /// The memory limit of conditioning and of queries; larger ones are refused.
    pub memory: MemoryLimit,
    /// The summary.
    pub summary: Summary,
    /// The members of a pool; `None` for a single model.
    pub combination: Option<Combination>,
}

impl std::fmt::Debug for Fit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fit").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl FitParts {
    /// Whether the model is on the sorted chain along a single input by message passing.
    pub fn is_line(&self) -> bool {
        self.table.inputs().dim() == 1
            && self.method.is_message_passing()
            && matches!(self.structure, StructureOption::Auto | StructureOption::Chain)
    }

    /// Completes the summary of an earlier version, which has the log evidence of the standardized table only.
    #[must_use]
    pub fn with_log_evidence(mut self) -> Self {
        if self.summary.standardized_log_evidence.is_none() {
            let log_volume = log_volume(&self.table, &self.preparation);
            self.summary.set_log_evidence(self.summary.log_evidence, log_volume);
        }
        self
    }

    /// Refuses to condition the model on its table and more rows within too little memory.
    pub(crate) fn check_memory(&self, more: Option<&Dataset>, limit: MemoryLimit) -> Result<(), FitError> {
        let mut size = FitSize::of(&self.table);
        if let Some(more) = more.map(FitSize::of) {
            size.n_rows = size.n_rows.saturating_add(more.n_rows);
            size.n_observed = size.n_observed.saturating_add(more.n_observed);
        }
        size.check_memory(self.model.state_dim() as f64, self.method, limit)
    }

    /// Refuses a query whose results need too much memory.
    fn check_query(
        &self,
        at: &InputPoints,
        n_draws: Option<usize>,
        n_per_point: usize,
    ) -> Result<(), FitError> {
        let query = QuerySize { n_points: at.n_rows(), n_per_point, n_draws };
        query.check_memory(self.model.state_dim() as f64, self.memory)
    }
}

impl Fit {
    /// A fit of a conditioned model; its members are conditioned here.
    pub(super) fn new(
        parts: FitParts,
        prepared: Arc<Dataset>,
        posterior: Box<dyn Fitted>,
    ) -> Result<Self, FitError> {
        let best = ConditionedModel::new(parts.preparation.clone(), &parts.model, prepared, posterior);
        let settings = (parts.seed, parts.memory);
        let members = match &parts.combination {
            None => None,
            Some(several) => Some(FittedMembers::new(several, &parts.table, parts.structure, settings)?),
        };
        Ok(Self { parts, best, members })
    }

    /// Rebuilds a fit from its parts; its predictions are equal bit for bit.
    ///
    /// # Errors
    /// When the parts do not match, and [`FitError::Memory`] before anything is allocated.
    pub fn from_parts(parts: FitParts) -> Result<Self, FitError> {
        parts.check_memory(None, parts.memory)?;
        let prepared = Arc::new(parts.preparation.dataset(&parts.table)?);
        let candidates = parts.candidates.as_ref();
        let candidates = candidates.map(|points| parts.preparation.inputs(points)).transpose()?;
        if parts.preparation.has_likelihoods() {
            let tree = Arc::new(parts.structure.build_by(parts.ties, prepared.inputs())?);
            let (pseudo, posterior) =
                condition_by_likelihood(&prepared, &parts.model, &parts.preparation, tree)?;
            return Self::new(parts, pseudo, posterior);
        }
        let (structure, ties, seed) = (parts.structure, parts.ties, parts.seed);
        let place = Place { structure, ties, tree: None, candidates, seed };
        let posterior = condition_at(&prepared, &parts.model, parts.method, place, (seed, parts.memory))?;
        Self::new(parts, prepared, posterior)
    }

    /// The same model and units on another table; warnings are added to the summary.
    pub(crate) fn with_table(&self, table: Dataset, warnings: Vec<String>) -> Result<Self, FitError> {
        let mut parts = FitParts { table, ..self.parts.clone() };
        parts.summary.n_rows = parts.table.n_rows();
        let counts = parts.table.observations().counts_by_output();
        for (output, count) in parts.summary.outputs.iter_mut().zip(counts) {
            output.n_observed = count;
        }
        parts.summary.warnings.extend(warnings);
        let mut fit = Self::from_parts(parts)?;
        let standardized = fit.best.posterior.evidence()?.map_or(f64::NAN, Evidence::get);
        let log_volume = log_volume(&fit.parts.table, &fit.parts.preparation);
        fit.parts.summary.set_log_evidence(standardized, log_volume);
        Ok(fit)
    }

    /// The parts of the fit.
    pub fn parts(&self) -> &FitParts {
        &self.parts
    }

    /// The summary.
    pub fn summary(&self) -> &Summary {
        &self.parts.summary
    }

    /// The table, in the user's units.
    pub fn table(&self) -> &Dataset {
        &self.parts.table
    }

    /// The standard deviation of each output of the table, in the user's units: the unit of scores over several outputs.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn output_deviations(&self) -> Result<Vec<f64>, FitError> {
        scales_of(self.table())
    }

    /// The log evidence in the user's units: the log density of the cells as given.
    ///
    /// # Errors
    /// When the method cannot compute it.
    pub fn log_evidence(&self) -> Result<f64, FitError> {
        let own = self.best.posterior.evidence()?.map_or(f64::NAN, Evidence::get);
        Ok(own + log_volume(&self.parts.table, &self.parts.preparation))
    }

    /// The number of sweeps over the structure so far, for tests and diagnostics.
    pub fn n_sweeps(&self) -> usize {
        self.best.posterior.n_sweeps()
    }

    /// Predictive distributions at the table's rows.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn predict_rows(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        match &self.members {
            None => self.best.predict_rows(quantity),
            Some(members) => members.predict_rows(&self.best, quantity),
        }
    }

    /// Predictive distributions at any inputs, in the user's units; each is independent of the others.
    ///
    /// # Errors
    /// When the points have another number of columns, numbers overflow, and [`FitError::QueryMemory`].
    pub fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Predictive, FitError> {
        self.parts.check_query(at, None, 2 * self.parts.model.n_outputs())?;
        match &self.members {
            None => self.best.predict(at, quantity),
            Some(members) => members.predict(&self.best, at, quantity),
        }
    }

    /// The covariance of all outputs at each input, D×D blocks one after the other. It is that of the outputs, not of
    /// their transforms.
    ///
    /// # Errors
    /// When the points have another number of columns, the method has variances only, numbers overflow, and
    /// [`FitError::QueryMemory`].
    pub fn covariances(&self, at: &InputPoints, quantity: Quantity) -> Result<Vec<f64>, FitError> {
        let n_outputs = self.parts.model.n_outputs();
        self.parts.check_query(at, None, n_outputs.saturating_mul(n_outputs))?;
        if self.parts.preparation.outputs.iter().any(|output| output.bounds.is_some()) {
            let what =
                "has no covariances in closed form; take draws (sample_y in Python) and their covariance";
            return Err(FitError::WithBounds { what });
        }
        match &self.members {
            None => self.best.covariances(at, quantity),
            Some(members) => members.covariances(&self.best, at, quantity),
        }
    }

    /// Joint draws at any inputs, each row-major n×D, one after the other; the same for the same seed. Their marginals are
    /// those of [`Fit::predict`].
    ///
    /// # Errors
    /// As [`Fit::covariances`].
    pub fn draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        self.parts.check_query(at, Some(n_draws), self.parts.model.n_outputs())?;
        let mut draws = match &self.members {
            None => self.best.draws(at, quantity, n_draws, seed),
            Some(members) => members.draws(&self.best, at, quantity, n_draws, seed),
        }?;
        self.parts.preparation.bound(&mut draws);
        Ok(draws)
    }

    /// The kernels of shared and private latents; along time and between places of a model of space and time; `None` for a time model.
    pub fn kernels(&self) -> Option<KernelPair> {
        let model = &self.parts.model;
        if let MethodChoice::Space { .. } = self.parts.method {
            let kernel = |at: usize| model.latents().get(at).and_then(Latent::kernel);
            return Some(KernelPair { shared: kernel(0)?, private: kernel(model.n_latents() / 2)? });
        }
        if model.latents().iter().any(|latent| latent.kernel().is_none()) {
            return None;
        }
        let kernel = |at: usize| model.latents().get(at).and_then(Latent::kernel);
        let shared = kernel(0);
        let private = kernel(model.mixing().n_shared()).or(shared)?;
        Some(KernelPair { shared: shared.unwrap_or(private), private })
    }

    /// The parameters in the user's units, from which another fit of the table makes the same model.
    ///
    /// Of a pool they are those of its single model. `None` where parameters alone do not determine the model: when an output has a transform, when means are
    /// linear or groups have scales of their own, when several inputs have different scales, and for models of space and time and time models (see [`Fit::time_parameters`]).
    pub fn parameters(&self) -> Option<GivenParameters> {
        let kernel = self.kernels()?;
        let FitParts { model, preparation, .. } = &self.parts;
        let is_plain =
            |output: &OutputTransform| output.power == PowerTransform::None && output.slopes.is_empty();
        let (_, unit) = *preparation.inputs.first()?;
        if preparation.has_likelihoods() {
            return None;
        }
        let is_space = matches!(self.parts.method, MethodChoice::Space { .. });
        let is_one_unit = preparation.inputs.iter().all(|(_, scale)| *scale == unit);
        if is_space
            || !is_one_unit
            || !preparation.groups.is_empty()
            || !preparation.outputs.iter().all(is_plain)
        {
            return None;
        }
        let noise = model.noise().iter().zip(&preparation.outputs);
        Some(GivenParameters {
            kernel,
            mixing: mixing(model, preparation).chunks_exact(model.n_latents()).map(<[f64]>::to_vec).collect(),
            has_private: model.mixing().has_private(),
            length_scales: model.latents().iter().map(|latent| latent.length_scale().get() * unit).collect(),
            noise: noise.map(|(noise, output)| noise.get() * output.scale * output.scale).collect(),
        })
    }

    /// The likelihoods of the outputs, by name; `None` if all are Gaussian.
    pub fn likelihoods(&self) -> Option<LikelihoodOptions> {
        let FitParts { preparation, summary, .. } = &self.parts;
        let named = summary.outputs.iter().zip(&preparation.outputs);
        let by_name =
            named.filter_map(|(named, output)| Some((named.name.clone(), output.likelihood?.into())));
        preparation.has_likelihoods().then(|| LikelihoodOptions { others: None, by_name: by_name.collect() })
    }

    /// The bounds of the outputs, by name.
    pub fn bounds(&self) -> BoundsOptions {
        let FitParts { preparation, summary, .. } = &self.parts;
        let named = summary.outputs.iter().zip(&preparation.outputs);
        let by_name = named.filter_map(|(named, output)| Some((named.name.clone(), output.bounds?)));
        BoundsOptions { others: None, by_name: by_name.collect() }
    }

    /// The options of a fit with the same method, structure, candidates, seed and names.
    pub(crate) fn same_options(&self, options: &FitOptions) -> FitOptions {
        let FitParts { method, structure, candidates, seed, summary, .. } = &self.parts;
        FitOptions {
            method: *method,
            structure: *structure,
            candidates: candidates.clone(),
            seed: *seed,
            input_names: summary.input_names.clone(),
            output_names: summary.outputs.iter().map(|output| output.name.clone()).collect(),
            bounds: self.bounds(),
            ..options.clone()
        }
    }
}
