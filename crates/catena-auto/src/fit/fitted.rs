//! A fitted model that owns all it needs: it predicts, explains itself, and can be taken apart for keeping.

use std::ops::ControlFlow;
use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::learning::{Family, Learned, Progress};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_baselines::Problem;
use catena_baselines::exact::ExactOptions;
use catena_baselines::nngp::NngpOptions;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::summary::{self, HeldOut, Summary};
use super::warnings::warnings;
use super::{Event, FitError, FitMonitor, FitOptions, GivenParameters, MethodChoice, Stage, StructureOption};
use crate::carry::carried;
use crate::dense::{ExactMethod, NngpMethod, SvgpMethod};
use crate::distinct::distinct;
use crate::ensemble::EnsembleMethod;
use crate::ground::{Course, Ground, some_rows};
use crate::message_passing::{CatenaMethod, States, Structure, with_candidates};
use crate::method::{Differentiable, Fitted, Method, Quantity};
use crate::preparation::{InputUnits, OutputTransform, Predictive, Preparation, Wanted};
use crate::selection::{Choice, below, choose};

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
    if let Some(given) = &options.parameters {
        return with_given(table, given, options, monitor);
    }
    let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
    if options.latents == Some(0) && options.private == Some(false) {
        return Err(FitError::NoLatents { asked: 0 });
    }
    let (learned_from, n_copies) = distinct(table)?;
    let Choice { family, wanted, tried, mut reasons, held_out, mut probabilities, plan, earlier } =
        choose(&learned_from, options, units, monitor)?;
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
    // Where message passing led, a rival may have no evidence at all: it begins at the table.
    let earlier = earlier.filter(|_| rival(options.method, options.seed).is_none());
    let earlier = earlier.map(|(model, from)| carried(&model, &from, &preparation)).transpose()?;
    let needs_start = earlier.is_none() && plan.final_multipliers.is_empty();
    let course = Course {
        family,
        multipliers: if needs_start { &[1.0] } else { plan.final_multipliers },
        earlier: earlier.into_iter().collect(),
        settings: plan.race,
        priors: &priors,
        noise_floor: options.noise_floor,
    };
    let learned = learn(&ground, &course, options, monitor, &mut reasons)?;
    probabilities.truncate(4000);
    let held_out: Vec<HeldOut> =
        held_out.into_iter().map(|(name, scores)| HeldOut::new(name, scores)).collect();
    let told = Told { tried, decisions: reasons, held_out, probabilities };
    finish(table, preparation, &whole, learned.model.clone(), Some(&learned), told, options, monitor)
}

/// Announces a stage that is too short to be interrupted.
fn tell(monitor: &FitMonitor<'_>, stage: Stage, done: f64) {
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
        monitor(Event { stage, done, log_posterior: None });
}

/// Learns the chosen family by the method's own evidence.
fn learn(
    ground: &Ground,
    course: &Course<'_>,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
    reasons: &mut Vec<String>,
) -> Result<Learned, FitError> {
    let limit = course.settings.ascent.max_iterations as f64;
    let watch = |progress: Progress| {
        let done = progress.iteration.iteration as f64 / limit;
        let log_posterior = Some(progress.iteration.value);
        monitor(Event { stage: Stage::Learning, done, log_posterior })
    };
    let Some(method) = rival(options.method, options.seed) else { return ground.learn(course, &watch) };
    match options.learning_rows.filter(|&rows| rows < ground.dataset.n_rows()) {
        None => ground.learn_by(method.as_ref(), course, &watch),
        Some(count) => {
            let mut generator = ChaCha8Rng::seed_from_u64(options.seed);
            let mut rows: Vec<_> = ground.dataset.inputs().rows().collect();
            for at in 0..count {
                let other = at + below(&mut generator, rows.len() - at);
                rows.swap(at, other);
            }
            rows.truncate(count);
            rows.sort_unstable();
            reasons.push(format!("parameters were learned from {count} random rows"));
            let part = Ground::new(some_rows(&ground.dataset, &rows)?, &options.structure.learned_on())?;
            part.learn_by(method.as_ref(), course, &watch)
        }
    }
}

/// The rival that was asked for; `None` for message passing.
fn rival(method: MethodChoice, seed: u64) -> Option<Box<dyn Differentiable>> {
    match method {
        MethodChoice::Auto | MethodChoice::Catena => None,
        MethodChoice::Exact => Some(Box::new(ExactMethod(ExactOptions::default()))),
        MethodChoice::Svgp { n_inducing } => {
            let mut method = SvgpMethod::new(n_inducing);
            method.placement = crate::dense::Placement::KMeans { n_inducing, seed };
            Some(Box::new(method))
        }
        MethodChoice::Nngp { n_neighbors } => Some(Box::new(NngpMethod(NngpOptions::new(n_neighbors)))),
    }
}

/// What selection has to say.
#[derive(Default)]
struct Told {
    tried: Vec<crate::selection::Tried>,
    decisions: Vec<String>,
    held_out: Vec<HeldOut>,
    probabilities: Vec<f64>,
}

/// Conditions the model on all cells and writes the summary.
#[expect(clippy::too_many_arguments, reason = "the last step brings everything together")]
fn finish(
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
        tree: Some(Arc::clone(&ground.tree)),
    };
    let posterior = condition(&prepared, &model, conditioning)?;
    let counts = table.observations().counts_by_output();
    let log_evidence = posterior.evidence()?.map_or(f64::NAN, crate::method::Evidence::get);
    let mut decisions = told.decisions;
    if rival(options.method, options.seed).is_none() && options.structure == StructureOption::Auto {
        decisions.push(catena::structure::StructureChoice::for_dim(table.inputs().dim()).to_string());
    }
    let summary = Summary {
        method: method_name(options),
        n_rows: table.n_rows(),
        input_names: options.input_names.clone(),
        latents: summary::latents(&model, &preparation, options),
        outputs: summary::outputs(&model, &preparation, &counts, options),
        mixing: summary::mixing(&model, &preparation),
        correlation: summary::correlation(&model),
        log_evidence,
        path: learned.map(|learned| learned.path.clone()).unwrap_or_default(),
        ending: summary::ending(learned),
        n_evaluations: learned.map_or(0, |learned| learned.n_evaluations),
        tried: told.tried,
        warnings: warnings(&model, ground, learned, &told.held_out, options),
        held_out: told.held_out,
        probabilities: told.probabilities,
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

fn method_name(options: &FitOptions) -> String {
    match (options.method, options.structure) {
        (MethodChoice::Exact, _) => "exact".to_owned(),
        (MethodChoice::Svgp { n_inducing }, _) => format!("svgp with {n_inducing} inducing points"),
        (MethodChoice::Nngp { n_neighbors }, _) => format!("nngp with {n_neighbors} neighbors"),
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
    /// The structure over rows and candidates, if it is there already.
    tree: Option<Arc<catena::structure::Tree>>,
}

fn scaled_candidates(
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
    let Conditioning { method, structure, candidates, seed, tree } = conditioning;
    let problem = Problem::new(model, prepared, DistanceScale::ONE)?;
    if let Some(rival) = rival(method, seed) {
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

/// A fit with parameters in the user's units.
fn with_given(
    table: &Dataset,
    given: &GivenParameters,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let n_outputs = table.observations().n_outputs();
    // With one input a length-scale follows its unit; with several, given length-scales are distances as they are.
    let is_line = table.inputs().dim() == 1;
    let units = if options.standardize && is_line { InputUnits::Scaled } else { InputUnits::AsGiven };
    let preparation = if options.standardize {
        Preparation::fitted(table, units, &Wanted::default())?
    } else {
        Preparation::identity(table.inputs(), n_outputs, units)
    };
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = with_candidates(preparation.dataset(table)?, candidates.as_ref())?;
    let ground = Ground::new(prepared, &options.structure.learned_on())?;
    let model = given_model(given, &preparation, &ground, options)?;
    let told = Told { decisions: vec!["parameters as given".to_owned()], ..Told::default() };
    finish(table, preparation, &ground, model, None, told, options, monitor)
}

fn given_model(
    given: &GivenParameters,
    preparation: &Preparation,
    ground: &Ground,
    options: &FitOptions,
) -> Result<Lmc, FitError> {
    let n_outputs = preparation.outputs.len();
    let n_latents = given.length_scales.len();
    let check = |what: &'static str, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(FitError::ParameterShape { what, expected, found }) }
    };
    check("the mixing matrix", n_outputs, given.mixing.len())?;
    given.mixing.iter().try_for_each(|row| check("a row of the mixing matrix", n_latents, row.len()))?;
    check("the noise", n_outputs, given.noise.len())?;
    let n_private = if given.has_private { n_outputs } else { 0 };
    let Some(n_shared) = n_latents.checked_sub(n_private) else {
        return Err(FitError::ParameterShape {
            what: "the length-scales",
            expected: n_private,
            found: n_latents,
        });
    };
    let (mut shared, mut private, mut noise) = (vec![], vec![], vec![]);
    for ((row, variance), (output, transform)) in
        given.mixing.iter().zip(&given.noise).zip(preparation.outputs.iter().enumerate())
    {
        let OutputTransform { scale, .. } = transform;
        shared.extend(row[..n_shared].iter().map(|weight| weight / scale));
        if given.has_private {
            private.push(row[n_shared + output] / scale);
        }
        noise.push(Variance::new(variance / (scale * scale)).map_err(catena::model::ModelError::from)?);
    }
    let state = options.state.unwrap_or_else(|| ground.suited_state());
    let kernels = given.kernel;
    let family = Family {
        n_shared,
        shared_kernel: kernels.shared,
        private_kernel: given.has_private.then_some(kernels.private),
        state,
        tied: false,
    };
    let unit = if preparation.inputs.len() == 1 { preparation.inputs[0].1 } else { 1.0 };
    let latent = |(at, length): (usize, &f64)| -> Result<Latent, catena::model::ModelError> {
        let kernel = if at < n_shared { kernels.shared } else { kernels.private };
        Ok(Latent::new(kernel, family.state_of(kernel), LengthScale::new(length / unit)?)?)
    };
    let latents: Result<Vec<Latent>, _> = given.length_scales.iter().enumerate().map(latent).collect();
    Ok(Lmc::new(latents?, MixingMatrix::with_private(n_outputs, n_shared, shared, private)?, noise)?)
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
        let mut log_volume = 0.0;
        for (_, cell) in self.parts.table.observations().cells() {
            let transform = &self.parts.preparation.outputs[cell.output.get()];
            log_volume -= transform.scale.ln() + if transform.log { cell.value.ln() } else { 0.0 };
        }
        Ok(own + log_volume)
    }

    /// Predictive distributions at the table's rows.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn predict_rows(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        let prediction = self.posterior.predict_rows(quantity)?;
        Ok(self.parts.preparation.predictive(&prediction, self.prepared.inputs()))
    }

    /// Predictive distributions at any inputs, in the user's units; each independent of the others.
    ///
    /// # Errors
    /// When the points have another number of columns, or numbers overflow.
    pub fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Predictive, FitError> {
        let scaled = self.parts.preparation.inputs(at)?;
        let prediction = self.posterior.predict(&scaled, quantity)?;
        Ok(self.parts.preparation.predictive(&prediction, &scaled))
    }

    /// The same model and units with more rows.
    ///
    /// # Errors
    /// When the new rows have other columns.
    pub fn with_more_rows(&self, more: &Dataset) -> Result<Self, FitError> {
        let table = appended(&self.parts.table, more)?;
        let mut parts = FitParts { table, ..self.parts.clone() };
        parts.summary.n_rows = parts.table.n_rows();
        let counts = parts.table.observations().counts_by_output();
        for (output, count) in parts.summary.outputs.iter_mut().zip(counts) {
            output.n_observed = count;
        }
        let mut fit = Self::from_parts(parts)?;
        let evidence = fit.posterior.evidence()?.map_or(f64::NAN, crate::method::Evidence::get);
        fit.parts.summary.log_evidence = evidence;
        Ok(fit)
    }

    /// The parameters in the user's units, to be given to another fit. Exact for one input; for several, length-scales are
    /// those of inputs that were brought to scale first.
    pub fn parameters(&self) -> GivenParameters {
        let Summary { latents, outputs, mixing, .. } = &self.parts.summary;
        let model = &self.parts.model;
        let n_shared = model.mixing().n_shared();
        let kernel = |at: Option<&Latent>| at.map(Latent::kernel);
        let shared = kernel(model.latents().first());
        let private = kernel(model.latents().get(n_shared));
        let any = shared.or(private).unwrap_or(catena::kernel::Kernel::Matern12);
        GivenParameters {
            kernel: super::KernelPair { shared: shared.unwrap_or(any), private: private.unwrap_or(any) },
            mixing: mixing.chunks_exact(latents.len()).map(<[f64]>::to_vec).collect(),
            has_private: model.mixing().has_private(),
            length_scales: latents.iter().map(|latent| latent.length_scales[0]).collect(),
            noise: outputs.iter().map(|output| output.noise_deviation.powi(2)).collect(),
        }
    }
}

fn appended(table: &Dataset, more: &Dataset) -> Result<Dataset, FitError> {
    let n_outputs = table.observations().n_outputs();
    let dense = |dataset: &Dataset| {
        let mut values = vec![f64::NAN; dataset.n_rows() * n_outputs];
        let mut noise = values.clone();
        for (row, cell) in dataset.observations().cells() {
            let place = row.get() * n_outputs + cell.output.get();
            values[place] = cell.value;
            noise[place] = cell.noise_variance.unwrap_or(f64::NAN);
        }
        (values, noise)
    };
    let found = more.observations().n_outputs();
    if found != n_outputs {
        return Err(FitError::ParameterShape { what: "a new row", expected: n_outputs, found });
    }
    let (before, after) = (dense(table), dense(more));
    let n_rows = table.n_rows() + more.n_rows();
    let inputs = [table.inputs().values(), more.inputs().values()].concat();
    let inputs = InputPoints::new(n_rows, table.inputs().dim(), inputs)?;
    let values = [before.0, after.0].concat();
    let mut observations = catena::data::Observations::from_dense(n_rows, n_outputs, &values)?;
    if table.observations().has_cell_noise() {
        observations = observations.with_cell_noise(&[before.1, after.1].concat())?;
    }
    Ok(Dataset::new(inputs, observations)?)
}
