//! A fitted model that owns all it needs: it predicts, explains itself, and can be taken apart for keeping.

use std::ops::ControlFlow;
use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::learning::Learned;
use catena::model::{Latent, Lmc};
use catena::units::DistanceScale;
use catena_methods::fullscale::FullScaleSize;
use catena_methods::{MemoryLimit, Problem};

use super::in_parts::log_volume;
use super::learn::{learn, rival, schedule};
use super::summary::{self, Summary};
use super::warnings::warnings;
use super::{
    Event, FitError, FitMonitor, FitOptions, GivenParameters, KernelPair, MethodChoice, Stage,
    StructureOption,
};
use crate::carry::carried;
use crate::contest::contest;
use crate::distinct::distinct;
use crate::ensemble::EnsembleMethod;
use crate::ground::{Course, Ground};
use crate::message_passing::{CatenaMethod, States, Structure, with_candidates};
use crate::method::{Evidence, Fitted, Method, Quantity};
use crate::preparation::{InputUnits, OutputTransform, Predictive, Preparation};
use crate::scores::{OnHidden, Scores};
use crate::selection::{Choice, choose};

/// A fitted model.
pub struct Fit {
    pub(super) parts: FitParts,
    prepared: Arc<Dataset>,
    pub(super) posterior: Box<dyn Fitted>,
}

/// What a fitted model is made of: enough to build it again, to the bit.
#[derive(Clone, Debug)]
pub struct FitParts {
    /// The table, in the user's units.
    pub table: Dataset,
    /// The change of units.
    pub preparation: Preparation,
    /// The model, in its own units.
    pub model: Lmc,
    /// The inference.
    pub method: MethodChoice,
    /// The structure.
    pub structure: StructureOption,
    /// Points that are part of it beside the rows, in the user's units.
    pub candidates: Option<InputPoints>,
    /// The seed, for methods that draw.
    pub seed: u64,
    /// What was learned and how.
    pub summary: Summary,
}

impl std::fmt::Debug for Fit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fit").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// See [`super::fit`].
pub(super) fn fit(table: &Dataset, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Fit, FitError> {
    let options =
        &FitOptions { method: options.method.with_counts(table, options.learning_rows), ..options.clone() };
    if let Some(given) = &options.parameters {
        return super::given::fit(table, given, options, monitor);
    }
    if let Some(time) = &options.time {
        return super::along_time::fit(table, time, options, monitor);
    }
    let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
    if options.latents == Some(0) && !options.private.unwrap_or(table.observations().n_outputs() > 1) {
        return Err(FitError::NoLatents { asked: 0 });
    }
    let (learned_from, n_copies) = distinct(table)?;
    let mut choice = choose(&learned_from, options, units, monitor)?;
    let verdict = contest(&learned_from, &choice, options, units, monitor)?;
    let resolved = verdict.map(|verdict| choice.follow(verdict, options));
    let options = resolved.as_ref().unwrap_or(options);
    let Choice { family, wanted, tried, mut reasons, held_out, on_hidden, plan, earlier } = choice;
    if n_copies > 0 {
        reasons.push(format!(
            "{n_copies} cells repeat another at the same place to the last digit; learning left them out"
        ));
    }
    tell(monitor, Stage::Structure, 0.0);
    let preparation = Preparation::fitted(&learned_from, units, &wanted)?;
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = |table: &Dataset| -> Result<Dataset, FitError> {
        Ok(with_candidates(preparation.dataset(table)?, candidates.as_ref())?)
    };
    let whole = Ground::new(prepared(table)?, &options.structure.learned_on())?;
    let ground = match n_copies {
        0 => whole.clone(),
        _ => whole.with_observations(prepared(&learned_from)?.observations().clone())?,
    };
    let priors = options.priors.clone().unwrap_or_else(|| ground.priors());
    // Where message passing led, a rival may have no evidence at all: it begins at the table. What a contest learned is the
    // method's own.
    let is_own = resolved.is_some() || options.method.is_message_passing();
    let earlier = earlier.filter(|_| is_own);
    let earlier = earlier.map(|(model, from)| carried(&model, &from, &preparation)).transpose()?;
    let earlier: Vec<Lmc> = earlier.into_iter().collect();
    let (multipliers, settings) = schedule(&family, &earlier, &plan, (table, options, is_own));
    let noise_floor = options.noise_floor;
    let course = Course { family, multipliers, earlier, settings, priors: &priors, noise_floor };
    let learned = learn(&ground, &course, (options, is_own), monitor, &mut reasons)?;
    let told = Told { tried, decisions: reasons, held_out, on_hidden };
    finish(table, preparation, &whole, learned.model.clone(), Some(&learned), told, options, monitor)
}

/// Announces a stage that is too short to be interrupted.
pub(super) fn tell(monitor: &FitMonitor<'_>, stage: Stage, done: f64) {
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
        monitor(Event { stage, done, log_posterior: None });
}

/// What selection has to say.
#[derive(Default)]
pub(super) struct Told {
    pub(super) tried: Vec<crate::selection::Tried>,
    pub(super) decisions: Vec<String>,
    /// How the chosen model and simple predictors did on hidden cells, and the first in detail.
    pub(super) held_out: Vec<(String, Scores)>,
    pub(super) on_hidden: Option<OnHidden>,
}

/// Conditions the model on all cells and writes the summary.
#[expect(clippy::too_many_arguments, reason = "the last step brings everything together")]
pub(super) fn finish(
    table: &Dataset,
    preparation: Preparation,
    ground: &Ground,
    model: Lmc,
    learned: Option<&Learned>,
    told: Told,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    tell(monitor, Stage::Posterior, 0.0);
    let prepared = match options.candidates {
        None => Arc::clone(&ground.dataset),
        Some(_) => Arc::new(preparation.dataset(table)?),
    };
    let conditioning = Conditioning {
        method: options.method,
        structure: options.structure,
        candidates: scaled_candidates(&preparation, options.candidates.as_ref())?,
        seed: options.seed,
        memory: options.memory,
        tree: Some(Arc::clone(&ground.tree)),
    };
    let posterior = condition(&prepared, &model, conditioning)?;
    let counts = table.observations().counts_by_output();
    let model_counts = ground.dataset.observations().counts_by_output();
    let evidence = posterior.evidence()?;
    let log_evidence = evidence.map_or(f64::NAN, Evidence::get);
    let mut decisions = told.decisions;
    if options.method.is_message_passing() && options.structure == StructureOption::Auto {
        let is_exact = matches!(evidence, Some(Evidence::Exact(_)));
        decisions.push(summary::structure(table.inputs().dim(), is_exact));
    }
    decisions.extend(summary::linear_means(table, &preparation, options));
    let outputs = summary::outputs(&model, &preparation, &counts, ground.facts.extent, options);
    let held_out = summary::held_out(told.held_out);
    let summary = Summary {
        method: method_name(options),
        n_rows: table.n_rows(),
        input_names: options.input_names.clone(),
        latents: summary::latents(&model, &preparation, ground.facts.extent, options),
        held_out_by_output: summary::by_output(&outputs, told.on_hidden.as_ref()),
        outputs,
        mixing: summary::mixing(&model, &preparation),
        correlation: summary::correlation(&model, ground.facts.extent),
        log_evidence,
        path: learned.map(|learned| learned.path.clone()).unwrap_or_default(),
        ending: summary::ending(learned),
        n_evaluations: learned.map_or(0, |learned| learned.n_evaluations),
        tried: told.tried,
        warnings: warnings(&model, (&ground.facts, &model_counts), learned, &held_out, options),
        held_out,
        probabilities: summary::probabilities(told.on_hidden.as_ref()),
        decisions,
    };
    let parts = FitParts {
        table: table.clone(),
        preparation,
        model,
        method: options.method,
        structure: options.structure,
        candidates: options.candidates.clone(),
        seed: options.seed,
        summary,
    };
    tell(monitor, Stage::Posterior, 1.0);
    Ok(Fit { parts, prepared, posterior })
}

pub(super) fn method_name(options: &FitOptions) -> String {
    match (options.method, options.structure) {
        (MethodChoice::Exact, _) => "exact".to_owned(),
        (MethodChoice::Svgp { n_inducing }, _) => format!("svgp with {n_inducing} inducing points"),
        (MethodChoice::Nngp { n_neighbors }, _) => format!("nngp with {n_neighbors} neighbors"),
        (MethodChoice::FullScale { size }, _) => {
            let FullScaleSize { n_inducing, n_neighbors } = size.unwrap_or_default();
            format!("full-scale with {n_inducing} inducing points and {n_neighbors} neighbors")
        }
        (_, StructureOption::Ensemble { n_chains }) => format!("catena on {n_chains} chains"),
        (_, StructureOption::Chain) => "catena on a chain".to_owned(),
        (_, StructureOption::Tree) => "catena on a spanning tree".to_owned(),
        (_, StructureOption::Auto) => "catena".to_owned(),
    }
}

/// How a model is conditioned on a table.
struct Conditioning {
    method: MethodChoice,
    structure: StructureOption,
    /// In the model's units.
    candidates: Option<InputPoints>,
    seed: u64,
    memory: MemoryLimit,
    /// The structure over rows and candidates, if it is there already.
    tree: Option<Arc<catena::structure::Tree>>,
}

pub(super) fn scaled_candidates(
    preparation: &Preparation,
    candidates: Option<&InputPoints>,
) -> Result<Option<InputPoints>, FitError> {
    Ok(candidates.map(|candidates| preparation.inputs(candidates)).transpose()?)
}

/// The posterior of a model on a table in its units.
fn condition(
    prepared: &Dataset,
    model: &Lmc,
    conditioning: Conditioning,
) -> Result<Box<dyn Fitted>, FitError> {
    let Conditioning { method, structure, candidates, seed, memory, tree } = conditioning;
    let problem = Problem::new(model, prepared, DistanceScale::ONE)?;
    if let Some(rival) = rival(method, seed, memory) {
        return Ok(rival.fit(problem)?);
    }
    if let StructureOption::Ensemble { n_chains } = structure {
        if n_chains == 0 {
            return Err(FitError::EmptyEnsemble);
        }
        if candidates.is_some() {
            return Err(FitError::CandidatesInEnsemble);
        }
        return Ok(EnsembleMethod { n_chains, seed }.fit(problem)?);
    }
    let structure = tree.map_or_else(|| structure.learned_on(), Structure::Given);
    let method = CatenaMethod { structure, states: States::AsGiven, candidates };
    Ok(method.fit(problem)?)
}

impl Fit {
    /// Builds a fit again from its parts; it predicts what the first one did, to the bit.
    ///
    /// # Errors
    /// When the parts do not belong together.
    pub fn from_parts(parts: FitParts) -> Result<Self, FitError> {
        let prepared = Arc::new(parts.preparation.dataset(&parts.table)?);
        let conditioning = Conditioning {
            method: parts.method,
            structure: parts.structure,
            candidates: scaled_candidates(&parts.preparation, parts.candidates.as_ref())?,
            seed: parts.seed,
            memory: MemoryLimit::default(),
            tree: None,
        };
        let posterior = condition(&prepared, &parts.model, conditioning)?;
        Ok(Self { parts, prepared, posterior })
    }

    /// What the fit is made of.
    pub fn parts(&self) -> &FitParts {
        &self.parts
    }

    /// What was learned, and how.
    pub fn summary(&self) -> &Summary {
        &self.parts.summary
    }

    /// The table, in the user's units.
    pub fn table(&self) -> &Dataset {
        &self.parts.table
    }

    /// The log evidence in the user's units: the density of the cells as they were given.
    ///
    /// # Errors
    /// When the method cannot compute it.
    pub fn log_evidence(&self) -> Result<f64, FitError> {
        let own = self.posterior.evidence()?.map_or(f64::NAN, crate::method::Evidence::get);
        Ok(own + log_volume(&self.parts.table, &self.parts.preparation))
    }

    /// Predictive distributions at the table's rows.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn predict_rows(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        let prediction = self.posterior.predict_rows(quantity)?;
        Ok(self.parts.preparation.predictive(prediction, self.prepared.inputs())?)
    }

    /// Predictive distributions at any inputs, in the user's units; each independent of the others.
    ///
    /// # Errors
    /// When the points have another number of columns, or numbers overflow.
    pub fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Predictive, FitError> {
        let scaled = self.parts.preparation.inputs(at)?;
        let prediction = self.posterior.predict(&scaled, quantity)?;
        Ok(self.parts.preparation.predictive(prediction, &scaled)?)
    }

    /// The kernels of shared and private latents; `None` for a model with pieces for time.
    pub fn kernels(&self) -> Option<KernelPair> {
        let model = &self.parts.model;
        if model.latents().iter().any(|latent| latent.kernel().is_none()) {
            return None;
        }
        let kernel = |at: usize| model.latents().get(at).and_then(Latent::kernel);
        let shared = kernel(0);
        let private = kernel(model.mixing().n_shared()).or(shared)?;
        Some(KernelPair { shared: shared.unwrap_or(private), private })
    }

    /// The parameters in the user's units: given to another fit of the table they make the same model.
    ///
    /// `None` where they would make another one, since they cannot say it: when the logarithm of an output is modelled, when means are
    /// linear, when several inputs have different scales, and for a model with pieces for time (see
    /// [`Fit::time_parameters`]).
    pub fn parameters(&self) -> Option<GivenParameters> {
        let kernel = self.kernels()?;
        let FitParts { model, preparation, .. } = &self.parts;
        let is_plain = |output: &OutputTransform| !output.log && output.slopes.is_empty();
        let (_, unit) = *preparation.inputs.first()?;
        let is_one_unit = preparation.inputs.iter().all(|(_, scale)| *scale == unit);
        if !is_one_unit || !preparation.outputs.iter().all(is_plain) {
            return None;
        }
        let scales = || preparation.outputs.iter().map(|output| output.scale);
        let rows = summary::mixing(model, preparation);
        Some(GivenParameters {
            kernel,
            mixing: rows.chunks_exact(model.n_latents()).map(<[f64]>::to_vec).collect(),
            has_private: model.mixing().has_private(),
            length_scales: model.latents().iter().map(|latent| latent.length_scale().get() * unit).collect(),
            noise: model
                .noise()
                .iter()
                .zip(scales())
                .map(|(noise, scale)| noise.get() * scale * scale)
                .collect(),
        })
    }
}
