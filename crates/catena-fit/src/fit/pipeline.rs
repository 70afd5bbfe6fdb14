//! The pipeline of every fit: choose a family and a method, prepare the table, learn, condition, summarize.

use std::sync::Arc;

use catena::data::Dataset;
use catena::learning::Learned;
use catena::model::Lmc;

use super::describe::{Description, SelectionReport, linear_means, structure_reason, summarize};
use super::fitted::{Fit, FitParts};
use super::{given, time};
use crate::error::FitError;
use crate::families::{FamilyChoice, choose};
use crate::method_selection::select_method;
use crate::methods::{Evidence, Quantity, condition, learn, learning_task};
use crate::monitor::{FitMonitor, Stage, announce};
use crate::options::{FitOptions, StructureOption};
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled, without_copies};

/// A model ready to be conditioned on a table.
pub(crate) struct LearnedModel {
    pub(crate) preparation: Preparation,
    /// The table in the model's units with all cells.
    pub(crate) prepared: PreparedTable,
    pub(crate) model: Lmc,
    /// The result of learning; `None` if parameters were given.
    pub(crate) learned: Option<Learned>,
    pub(crate) report: SelectionReport,
}

/// Chooses, learns and conditions a model on a table in the user's units. Everything the options leave open is decided from
/// the data; [`Fit::summary`] lists the decisions and their reasons.
///
/// # Errors
/// When the table or the options are invalid, or numbers overflow.
pub fn fit(table: &Dataset, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Fit, FitError> {
    let options =
        &FitOptions { method: options.method.with_counts(table, options.learning_rows), ..options.clone() };
    if let Some(parameters) = &options.parameters {
        let model = given::learned_model(table, parameters, options)?;
        return finish(table, model, options, monitor);
    }
    if let Some(requested) = &options.time {
        return time::fit(table, requested, options, monitor);
    }
    let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
    if options.latents == Some(0) && !options.private.unwrap_or(table.observations().n_outputs() > 1) {
        return Err(FitError::NoLatents { requested: 0 });
    }
    let (distinct, n_copies) = without_copies(table)?;
    let mut choice = choose(&distinct, options, units, monitor)?;
    let selected = select_method(&distinct, &mut choice, options, units, monitor)?;
    let is_selected = selected.is_some();
    let options = selected.as_ref().unwrap_or(options);
    let FamilyChoice { family, transforms, tried, mut reasons, held_out, held_out_scores, .. } = choice;
    reasons.extend(copies_reason(n_copies));
    announce(monitor, Stage::Structure, 0.0);
    let preparation = Preparation::fitted(&distinct, units, &transforms)?;
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let learning_table = match n_copies {
        0 => prepared.clone(),
        _ => prepared.with_observations(preparation.dataset(&distinct)?.observations())?,
    };
    // A model learned by message passing may have no finite evidence under a dense method, which then starts from the table.
    let earlier = if is_selected || options.method.is_message_passing() {
        let (model, from) = &choice.earlier;
        vec![rescaled(model, from, &preparation)?]
    } else {
        vec![]
    };
    let by_sweep = (choice.settings, choice.multipliers);
    let task = learning_task(&learning_table, family, earlier, by_sweep, (options, is_selected));
    let learned = learn(&learning_table, &task, (options, is_selected), monitor, &mut reasons)?;
    let report = SelectionReport { tried, decisions: reasons, held_out, held_out_scores };
    let model = learned.model.clone();
    let model = LearnedModel { preparation, prepared, model, learned: Some(learned), report };
    finish(table, model, options, monitor)
}

/// The decision about copied cells, if there are any.
pub(crate) fn copies_reason(n_copies: usize) -> Option<String> {
    (n_copies > 0).then(|| {
        format!(
            "{n_copies} cells repeat another at the same place to the last digit; they were left out of learning"
        )
    })
}

/// Conditions a model on all cells of the table and writes the summary.
pub(crate) fn finish(
    table: &Dataset,
    model: LearnedModel,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let LearnedModel { preparation, prepared, model, learned, mut report } = model;
    announce(monitor, Stage::Posterior, 0.0);
    let candidates = options.candidates.as_ref().map(|points| preparation.inputs(points)).transpose()?;
    let dataset = match candidates {
        None => Arc::clone(&prepared.dataset),
        Some(_) => Arc::new(preparation.dataset(table)?),
    };
    let choice = (options.method, options.structure);
    let tree = Some(Arc::clone(&prepared.tree));
    let posterior = condition(&dataset, &model, choice, candidates, tree, (options.seed, options.memory))?;
    if learned.is_none() && options.method.is_message_passing() {
        // Predictions at the rows are the usual purpose of given parameters; their sweep has the log evidence too.
        posterior.predict_rows(Quantity::Function)?;
    }
    let evidence = posterior.evidence()?;
    if options.method.is_message_passing() && options.structure == StructureOption::Auto {
        let is_exact = matches!(evidence, Some(Evidence::Exact(_)));
        report.decisions.push(structure_reason(table.inputs().dim(), is_exact));
    }
    report.decisions.extend(linear_means(table, &preparation, options));
    let summary = summarize(Description {
        method: options.method_name(),
        n_rows: table.n_rows(),
        n_observed: &table.observations().counts_by_output(),
        n_distinct: &table.observations().counts_by_output(),
        model: &model,
        learned: learned.as_ref(),
        log_evidence: evidence.map_or(f64::NAN, Evidence::get),
        preparation: &preparation,
        statistics: &prepared.statistics,
        report,
        options,
    });
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
    announce(monitor, Stage::Posterior, 1.0);
    Ok(Fit::new(parts, dataset, posterior))
}
