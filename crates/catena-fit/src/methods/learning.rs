//! Learning and conditioning by the chosen method.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::inference::Gradient;
use catena::learning::{Evidence, Family, Learned, MultiStartSettings};
use catena::model::Lmc;
use catena::structure::Tree;
use catena::units::DistanceScale;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;
use catena_methods::nngp::NngpOptions;
use catena_methods::svgp::SvgpOptions;
use catena_methods::{MemoryLimit, Problem};

use super::dense::{ExactMethod, NngpMethod, SvgpMethod};
use super::ensemble::EnsembleMethod;
use super::full_scale::FullScaleMethod;
use super::message_passing::{MessagePassing, States};
use super::method::{Differentiable, Fitted, Method};
use crate::cost::{full_scale_learning, limits};
use crate::error::{FitError, MethodError};
use crate::folds::random_rows;
use crate::learn::LearningTask;
use crate::monitor::{FitMonitor, Reporter, Stage};
use crate::options::{FitOptions, MethodChoice, StructureOption};
use crate::prepare::PreparedTable;

/// The evidence of a method on a table.
pub(crate) struct MethodEvidence<'a> {
    pub(crate) method: &'a dyn Differentiable,
    pub(crate) dataset: &'a Dataset,
}

impl Evidence for MethodEvidence<'_> {
    type Error = MethodError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, MethodError> {
        let problem = Problem::new(model, self.dataset, DistanceScale::ONE)?;
        let catena_methods::Gradient { value, mixing, length_scales, noise } =
            self.method.gradient(problem)?;
        let shapes = vec![0.0; length_scales.len()];
        Ok(Gradient { log_evidence: value, mixing, length_scales, shapes, noise })
    }
}

/// The task of learning the chosen family. `selected` tells whether method selection chose the method, so that `earlier` models
/// were learned by it. `settings` and `multipliers` are those for message passing.
pub(crate) fn learning_task(
    table: &PreparedTable,
    family: Family,
    earlier: Vec<Lmc>,
    (settings, multipliers): (MultiStartSettings, &'static [f64]),
    (options, selected): (&FitOptions, bool),
) -> LearningTask {
    let (settings, multipliers): (_, &'static [f64]) = if learns_by_full_scale(options, selected) {
        // Evaluations are expensive: one start is enough after a method selection.
        let n_outputs = table.dataset.observations().n_outputs();
        let (_, iterations) = full_scale_learning(options.budget, &family, n_outputs);
        (limits(iterations / 4, iterations), if earlier.is_empty() { &[1.0, 3.0] } else { &[] })
    } else if earlier.is_empty() && multipliers.is_empty() {
        (settings, &[1.0])
    } else {
        (settings, multipliers)
    };
    LearningTask::new(family, settings, &table.statistics, options).with_starts(earlier, multipliers)
}

/// Learns the chosen family by the evidence of the method.
pub(crate) fn learn(
    table: &PreparedTable,
    task: &LearningTask,
    (options, selected): (&FitOptions, bool),
    monitor: &FitMonitor<'_>,
    reasons: &mut Vec<String>,
) -> Result<Learned, FitError> {
    let reporter = Reporter::new(monitor, Stage::Learning, 0.0);
    let limit = task.settings.optimizer.max_iterations;
    let watch = |progress| reporter.learning(progress, limit);
    let Some(mut method) = dense_method(options.method, options.seed, options.memory) else {
        return task.learn(table, &watch);
    };
    let mut learning_rows = options.learning_rows;
    if learns_by_full_scale(options, selected) {
        if options.method == MethodChoice::Exact {
            // Exact inference needs a Cholesky factor at every iteration; the full-scale likelihood is close and cheaper.
            let size = FullScaleSize::default();
            method = Box::new(FullScaleMethod::new(size, options.seed).with_memory(options.memory));
        }
        let n_outputs = table.dataset.observations().n_outputs();
        let (most, _) = full_scale_learning(options.budget, &task.family, n_outputs);
        learning_rows = learning_rows.or(Some(most));
    }
    let sample = match learning_rows.filter(|&rows| rows < table.dataset.n_rows()) {
        None => None,
        Some(count) => {
            let rows = random_rows(&table.dataset, count, options.seed);
            reasons.push(format!("parameters were learned from {} random rows", rows.len()));
            Some(PreparedTable::new(table.dataset.select_rows(&rows)?, options.structure)?)
        }
    };
    let table = sample.as_ref().unwrap_or(table);
    let evidence = || MethodEvidence { method: method.as_ref(), dataset: &table.dataset };
    task.learn_by(&table.statistics, || table.moments(), &evidence, &watch)
}

/// Whether parameters are learned by the full-scale likelihood: for that method, and for selected exact inference.
fn learns_by_full_scale(options: &FitOptions, selected: bool) -> bool {
    match options.method {
        MethodChoice::FullScale { .. } => true,
        MethodChoice::Exact => selected,
        _ => false,
    }
}

/// The chosen method unless it is message passing.
fn dense_method(method: MethodChoice, seed: u64, memory: MemoryLimit) -> Option<Box<dyn Differentiable>> {
    match method {
        MethodChoice::Auto | MethodChoice::Catena => None,
        MethodChoice::Exact => {
            Some(Box::new(ExactMethod(ExactOptions { memory, ..ExactOptions::default() })))
        }
        MethodChoice::Svgp { n_inducing } => {
            let options = SvgpOptions { memory, ..SvgpOptions::default() };
            Some(Box::new(SvgpMethod { n_inducing, seed, options }))
        }
        MethodChoice::Nngp { n_neighbors } => Some(Box::new(NngpMethod(NngpOptions::new(n_neighbors)))),
        MethodChoice::FullScale { size } => {
            Some(Box::new(FullScaleMethod::new(size.unwrap_or_default(), seed).with_memory(memory)))
        }
    }
}

/// Conditions a model on a scaled table. `candidates` are scaled; `tree` is the structure over rows and candidates if it is
/// already built.
pub(crate) fn condition(
    dataset: &Dataset,
    model: &Lmc,
    (method, structure): (MethodChoice, StructureOption),
    candidates: Option<InputPoints>,
    tree: Option<Arc<Tree>>,
    (seed, memory): (u64, MemoryLimit),
) -> Result<Box<dyn Fitted>, FitError> {
    let problem = Problem::new(model, dataset, DistanceScale::ONE)?;
    if let Some(method) = dense_method(method, seed, memory) {
        return Ok(method.fit(problem)?);
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
    Ok(MessagePassing { structure, tree, states: States::AsGiven, candidates }.fit(problem)?)
}
