//! Learning and conditioning by the chosen method.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::inference::Gradient;
use catena::learning::{Evidence, Family, Learned, MultiStartSettings, StopReason};
use catena::model::Lmc;
use catena::structure::Tree;
use catena::units::DistanceScale;
use catena_methods::fullscale::FullScaleSize;
use catena_methods::{MemoryLimit, Problem};

use super::catena::Place;
use super::dense::InTableOrder;
use super::full_scale::FullScaleMethod;
use super::in_time::{InTime, Known};
use super::method::{Differentiable, Fitted};
use super::registry::definition;
use crate::cost::{full_scale_learning, limits};
use crate::error::{FitError, MethodError};
use crate::folds::random_rows;
use crate::learn::LearningTask;
use crate::monitor::{Pace, Reporter, Stage, Watch};
use crate::options::{FitOptions, MethodChoice, StructureOption, Ties};
use crate::prepare::{PreparedTable, rows_by_contents};

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
    let (settings, multipliers): (_, &'static [f64]) = if full_scale_likelihood(options, selected).is_some() {
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

/// Learns the chosen family by the evidence of the method until the time limit. If no time is left, the result is the `known`
/// model.
pub(crate) fn learn(
    table: &PreparedTable,
    task: &LearningTask,
    known: Option<Known>,
    (options, selected): (&FitOptions, bool),
    watch: &Watch<'_>,
    reasons: &mut Vec<String>,
) -> Result<Learned, FitError> {
    let reporter = Reporter::new(watch, Stage::Learning, 0.0);
    reporter.end_within(1.0);
    let limit = task.settings.optimizer.max_iterations;
    let report = |progress| reporter.learning(progress, limit);
    let Some(mut method) = definition(options.method).dense(options.method, options.seed, options.memory)
    else {
        let (learned, cut) = InTime { task, table, known, options, reporter: &reporter }.learn(&report)?;
        cut.into_iter().for_each(|cut| watch.cut(cut));
        return Ok(learned);
    };
    let mut learning_rows = options.learning_rows;
    if let Some(size) = full_scale_likelihood(options, selected) {
        method = Box::new(FullScaleMethod::new(size, options.seed).with_memory(options.memory));
        let n_outputs = table.dataset.observations().n_outputs();
        let (most, _) = full_scale_learning(options.budget, &task.family, n_outputs);
        learning_rows = learning_rows.or(Some(most));
    }
    // Samples, inducing points and neighborhoods depend on the order of the rows.
    let mut dataset = table.dataset.select_rows(&rows_by_contents(&table.dataset))?;
    if let Some(count) = learning_rows.filter(|&rows| rows < dataset.n_rows()) {
        let rows = random_rows(&dataset, count, options.seed);
        reasons.push(format!("parameters were learned from {} random rows", rows.len()));
        dataset = dataset.select_rows(&rows)?;
    }
    let table = PreparedTable::new(dataset, options.structure)?;
    let evidence = || MethodEvidence { method: method.as_ref(), dataset: &table.dataset };
    let pace = Pace::new(&reporter, 0.0);
    let learned = task.learn_by(&table.statistics, || table.moments(), &evidence, &|progress| {
        report(progress)?;
        pace.step(progress)
    })?;
    if learned.stop == StopReason::Interrupted {
        let iterations = learned.path.len().saturating_sub(1);
        watch.cut(format!("learning stopped after {iterations} iterations"));
    }
    Ok(learned)
}

/// The size of the full-scale likelihood by which parameters are learned; `None` for the evidence of the method itself.
fn full_scale_likelihood(options: &FitOptions, selected: bool) -> Option<FullScaleSize> {
    definition(options.method).full_scale_likelihood(options.method, selected)
}

/// Conditions a model on a scaled table. `candidates` are scaled; `tree` is the structure over rows and candidates if it is
/// already built.
pub(crate) fn condition(
    dataset: &Dataset,
    model: &Lmc,
    choice: (MethodChoice, StructureOption),
    candidates: Option<InputPoints>,
    tree: Option<Arc<Tree>>,
    settings: (u64, MemoryLimit),
) -> Result<Box<dyn Fitted>, FitError> {
    let place = Place { structure: choice.1, ties: Ties::ByInputs, tree, candidates, seed: settings.0 };
    condition_at(dataset, model, choice.0, place, settings)
}

/// The same with another rule for ties.
pub(crate) fn condition_at(
    dataset: &Dataset,
    model: &Lmc,
    method: MethodChoice,
    place: Place,
    (seed, memory): (u64, MemoryLimit),
) -> Result<Box<dyn Fitted>, FitError> {
    let problem = Problem::new(model, dataset, DistanceScale::ONE)?;
    let Some(method) = definition(method).dense(method, seed, memory) else {
        return super::catena::condition(problem, place);
    };
    let rows = rows_by_contents(dataset);
    if place.ties == Ties::ByRow || rows.is_sorted() {
        return Ok(method.fit(problem)?);
    }
    let ordered = dataset.select_rows(&rows)?;
    match method.fit(Problem::new(model, &ordered, DistanceScale::ONE)?) {
        Ok(fitted) => Ok(Box::new(InTableOrder { fitted, rows: dataset.inputs().clone() })),
        // An error names rows of the table.
        Err(_) => Ok(method.fit(problem)?),
    }
}
