//! The pipeline of every fit: choose a family and a method, prepare the table, learn, condition, summarize.

use catena::data::Dataset;
use catena::model::Lmc;

use super::auto_likelihood::{Decision, decide};
use super::compared::FitComparison;
use super::describe::SelectionReport;
use super::finish::{LearnedModel, finish};
use super::fitted::Fit;
use super::reasons::{copies_reason, groups_reason, stretches_reason};
use super::summary::{HeldOut, MemberSummary};
use super::work::step_work;
use super::{given, likelihoods, space, time};
use crate::cost::{FinalPlan, RowSize};
use crate::error::FitError;
use crate::families::{FamilyChoice, check_requested, choose};
use crate::folds::in_stretches;
use crate::method_selection::select_method;
use crate::methods::{Known, Quantity, learn, learning_task};
use crate::monitor::{FitMonitor, Stage, Step, Watch};
use crate::options::{Budget, CombineChoice, FitOptions, LikelihoodRequest, MethodChoice, StructureOption};
use crate::prepare::{InputUnits, Preparation, PreparedTable, check_bounds, rescaled, without_copies};
use crate::scores::{HeldOutScores, Scores, is_better};
use crate::size::FitSize;
use crate::space::Geometry;
use crate::stack::{Combination, Member, stacked};

/// With a limit, this share of it is kept for the steps after learning beyond the work that is planned for them, up to some seconds.
const LAST_SHARE: f64 = 0.05;
const MOST_KEPT: f64 = 100.0;
const READ_AGAIN: f64 = 4.0;

/// Chooses, learns and conditions a model on a table in the user's units. Everything the options leave open is decided from
/// the data; [`Fit::summary`] lists the decisions and their reasons.
///
/// # Errors
/// When the table or the options are invalid, or numbers overflow.
pub fn fit(table: &Dataset, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Fit, FitError> {
    Ok(chosen(table, options, monitor, false)?.0)
}

/// The same with the held-out cells on which the model was chosen; `None` for given parameters, for time models, and for tables
/// with too few cells to hold any out.
///
/// # Errors
/// As [`fit`].
pub fn fit_compared(
    table: &Dataset,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<(Fit, Option<FitComparison>), FitError> {
    chosen(table, options, monitor, true)
}

/// A fit and, if it is wanted, what it was chosen on.
fn chosen(
    table: &Dataset,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
    is_compared: bool,
) -> Result<(Fit, Option<FitComparison>), FitError> {
    let watch = &Watch::new(monitor, options.time_limit);
    let options = &FitOptions {
        method: options.method.with_default_counts(table, options.learning_rows),
        ..options.clone()
    };
    options.check_size(FitSize::of(table))?;
    let n_outputs = table.observations().n_outputs();
    check_bounds(table, &options.bounds_of_outputs(n_outputs)?)?;
    let (decided, reasons) = with_decided_likelihoods(table, options, monitor)?;
    if !reasons.is_empty() {
        let (mut fit, comparison) = chosen(table, &decided, monitor, is_compared)?;
        fit.parts.summary.decisions.splice(0..0, reasons);
        return Ok((fit, comparison));
    }
    watch.plan(step_work(FitSize::of(table), options));
    watch.reserve(watch.planned(Step::Posterior) + (LAST_SHARE * watch.seconds_left()).min(MOST_KEPT));
    if let Some(choices) = options.likelihood_choices(n_outputs)? {
        return Ok((likelihoods::fit(table, choices, options, watch)?, None));
    }
    check_requested(table, options)?;
    let columns = |table: &Dataset, options: &FitOptions| fit(table, options, monitor);
    if let MethodChoice::Space { geometry } = options.method {
        return Ok((space::fit(table, geometry, options, (monitor, &columns))?, None));
    }
    check_groups(table, options)?;
    if space::is_tried(table, options)
        && let Some(fit) = by_places(table, options, monitor)?
    {
        return Ok((fit, None));
    }
    if let Some(parameters) = &options.parameters {
        let model = given::learned_model(table, parameters, options)?;
        return Ok((finish(table, model, options, watch)?, None));
    }
    if let Some(requested) = &options.time {
        return Ok((time::fit(table, requested, options, watch)?, None));
    }
    let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
    if options.latents == Some(0) && !options.tries_private(table.observations().n_outputs()) {
        return Err(FitError::NoLatents { requested: 0 });
    }
    let (distinct, n_copies) = without_copies(table)?;
    // The steps after learning read the whole table a few times more.
    watch.reserve(READ_AGAIN * watch.elapsed());
    let mut choice = choose(&distinct, options, units, watch)?;
    let selected = select_method(&distinct, &mut choice, options, units, watch)?;
    let is_selected = selected.is_some();
    let mut comparison = if is_compared { FitComparison::of(&choice, units)? } else { None };
    let stack = match is_selected {
        true => None,
        false => stacked(&distinct, &choice.comparison, options, units, watch)?,
    };
    let options = selected.as_ref().unwrap_or(options);
    let chosen = choice.comparison.trials.iter().find(|trial| trial.is_chosen);
    let widened = chosen.filter(|trial| stack.is_none() && !is_selected && trial.widening.is_used());
    let widened = widened.map(|trial| (trial.name.clone(), trial.widening.factor));
    let final_plan = |model: &Lmc| {
        let plan = FinalPlan::new(options.budget, distinct.n_rows(), RowSize::of_model(model));
        plan.for_groups(options.budget, distinct.inputs().n_groups())
    };
    let mut by_sweep = (choice.settings, choice.multipliers);
    let is_sampled = choice.comparison.n_learning < distinct.n_rows();
    if let Some(stack) = &stack {
        (choice.family, choice.transforms) = (stack.best.family, stack.best.transforms.clone());
        if is_sampled {
            let units = Preparation::fitted(&choice.comparison.sample, units, &choice.transforms)?;
            choice.earlier = (stack.best.model.clone(), units);
            // As the other members.
            by_sweep = (final_plan(&choice.earlier.0).continued().settings, &[]);
        } else {
            // The weights are those of models learned as in the comparison.
            by_sweep = (choice.comparison.settings, choice.comparison.multipliers);
        }
    }
    // What answers if there is no time to learn on the whole table.
    let known = match &stack {
        Some(stack) => Preparation::fitted(&choice.comparison.sample, units, &choice.transforms)
            .ok()
            .map(|units| (stack.best.model.clone(), units)),
        None => Some(choice.earlier.clone()),
    };
    let n_compared = choice.comparison.n_learning;
    let FamilyChoice { family, transforms, tried, mut reasons, mut held_out, .. } = choice;
    reasons.extend(groups_reason(table, transforms.own_of_groups));
    reasons.extend(copies_reason(n_copies));
    watch.announce(Stage::Structure, 0.0);
    let preparation = Preparation::fitted(&distinct, units, &transforms)?;
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let learning_table = match n_copies {
        0 => prepared.clone(),
        _ => prepared.with_observations(preparation.dataset(&distinct)?.observations())?,
    };
    // A model learned by message passing may have no finite evidence under a dense method, which then starts from the table.
    let earlier = if stack.is_some() && !is_sampled {
        vec![]
    } else if is_selected || options.method.is_message_passing() {
        let (model, from) = &choice.earlier;
        vec![rescaled(model, from, &preparation)?]
    } else {
        vec![]
    };
    let learning_table = match options.method.is_message_passing() {
        false => learning_table,
        true => {
            let n_rows = final_plan(&choice.earlier.0).n_rows;
            let part = in_stretches(&learning_table, n_rows, options.structure)?;
            reasons.extend(stretches_reason(part.as_ref(), distinct.n_rows()));
            part.unwrap_or(learning_table)
        }
    };
    let task = learning_task(&learning_table, family, earlier, by_sweep, (options, is_selected));
    let known = match options.method.is_message_passing() {
        true => known.and_then(|(model, from)| rescaled(&model, &from, &preparation).ok()),
        false => None,
    };
    let known = known.map(|model| Known { model, n_rows: n_compared });
    let learned = learn(&learning_table, &task, known, (options, is_selected), watch, &mut reasons)?;
    let (mut combination, mut summaries) = (None, vec![]);
    if let Some((name, factor)) = widened {
        reasons.push(format!(
            "standard deviations are multiplied by {factor:.2}: on held-out cells they were too small (edits, streams and \
             partitions use them as they are)"
        ));
        combination = Some(Combination::widened(name, factor));
    }
    if let Some(stack) = stack {
        let mut others = held_out.into_iter();
        let best = others.next().map(|(_, scores)| ("best single model".to_owned(), scores));
        let first = [("pool".to_owned(), stack.held_out)];
        held_out = first.into_iter().chain(best).chain(others).collect();
        if let Some(reason) = reasons.iter_mut().find(|reason| reason.contains(": best of ")) {
            reason.insert_str(0, "best single model ");
        }
        reasons.extend(stack.reasons);
        let summary = |(member, (widening, scores)): (&Member, (f64, Scores))| MemberSummary {
            weight: member.weight,
            widening,
            alone: HeldOut::new(member.name.clone(), scores),
        };
        summaries = stack.combination.members.iter().zip(stack.alone).map(summary).collect();
        combination = Some(stack.combination);
    }
    if let Some(comparison) = &mut comparison {
        comparison.scores.clone_from(&held_out);
    }
    let report = SelectionReport { tried, decisions: reasons, held_out, members: summaries };
    let model = learned.model.clone();
    let model = LearnedModel { preparation, prepared, model, learned: Some(learned), report, combination };
    Ok((finish(table, model, options, watch)?, comparison))
}

/// The options with their open likelihoods decided, and why.
///
/// # Errors
/// As [`fit`].
pub(crate) fn with_decided_likelihoods(
    table: &Dataset,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<(FitOptions, Vec<String>), FitError> {
    let requests = options.likelihood_requests(table.observations().n_outputs())?;
    if !requests.contains(&Some(LikelihoodRequest::Auto)) {
        return Ok((options.clone(), vec![]));
    }
    let fitting = |table: &Dataset, options: &FitOptions| fit(table, options, monitor);
    let Decision { options, reasons } = decide(table, &requests, options, &fitting)?;
    Ok((options, reasons))
}

/// A fit of space and time, if it predicts silent places better than what would be chosen without it.
fn by_places(
    table: &Dataset,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Option<Fit>, FitError> {
    let Some(folds) = space::silent_fold(table, options)? else { return Ok(None) };
    let Some(training) = folds.training()?.pop() else { return Ok(None) };
    let limit = options.time_limit.map(|limit| limit / 4);
    let quick =
        FitOptions { budget: Budget::Quick, time_limit: limit, time_is_last: false, ..options.clone() };
    let columns = |table: &Dataset, options: &FitOptions| fit(table, options, monitor);
    let by_space = |table: &Dataset, options: &FitOptions| {
        space::fit(table, Geometry::Auto, options, (monitor, &columns))
    };
    // A table that space and time does not take, such as one of places that are too close, has other methods. Fields alone stand for
    // the pool that they are part of.
    let alone = FitOptions { combine: CombineChoice::None, ..quick.clone() };
    let Ok(own) = by_space(&training, &alone) else { return Ok(None) };
    let (other, _) = chosen(&training, &quick, monitor, false)?;
    let scores = |fit: &Fit| -> Result<Option<HeldOutScores>, FitError> {
        Ok(folds.scores(&[fit.predict_rows(Quantity::Observation)?]))
    };
    let (Some(own), Some(others)) = (scores(&own)?, scores(&other)?) else { return Ok(None) };
    if !is_better(own.scores.log_score, others.scores.log_score, 0.0) {
        return Ok(None);
    }
    let left = FitOptions { time_limit: options.time_limit.map(|limit| limit / 2), ..options.clone() };
    let mut fit = by_space(table, &left)?;
    let name = other.summary().method.clone();
    let summary = &mut fit.parts.summary;
    summary.decisions.insert(
        1,
        format!(
            "space and time predicts silent places better than {name}: log score {:.3} against {:.3} nats per cell on {} cells",
            own.scores.log_score, others.scores.log_score, own.scores.n_cells
        ),
    );
    summary.held_out =
        vec![HeldOut::new("space and time".to_owned(), own.scores), HeldOut::new(name, others.scores)];
    Ok(Some(fit))
}

/// Refuses what does not know groups.
fn check_groups(table: &Dataset, options: &FitOptions) -> Result<(), FitError> {
    if table.inputs().groups().is_none() {
        return Ok(());
    }
    let is_chain = matches!(options.structure, StructureOption::Auto | StructureOption::Chain);
    let n_rows = table.n_rows();
    let are_single = !options.has_parameters() && n_rows > 1 && table.inputs().n_groups() == n_rows;
    let refused = [
        (table.inputs().dim() > 1, "needs a single input; choose one with --inputs"),
        (!options.method.is_message_passing(), "needs message passing; leave the method out"),
        (!is_chain, "needs the sorted chain; leave the structure out"),
        (options.candidates.is_some(), "has no candidate points; leave them out"),
        (are_single, "of one row each has nothing to learn from; choose columns whose names repeat"),
    ];
    match refused.into_iter().find(|(is_requested, _)| *is_requested) {
        Some((_, what)) => Err(FitError::Groups { what }),
        None => Ok(()),
    }
}
