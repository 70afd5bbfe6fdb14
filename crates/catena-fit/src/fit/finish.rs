//! The last step of every fit: conditions the model and writes the summary.

use std::sync::Arc;

use catena::data::Dataset;
use catena::learning::Learned;
use catena::model::Lmc;

use super::describe::{Cut, Description, SelectionReport, linear_means, structure_reason, summarize};
use super::fitted::{Fit, FitParts};
use super::likelihood_candidates::proposals;
use super::reasons::bounds_reasons;
use crate::error::FitError;
use crate::methods::{Evidence, Quantity, condition, condition_by_likelihood};
use crate::monitor::{Stage, Step, Watch};
use crate::options::{FitOptions, MethodChoice, StructureOption, Ties};
use crate::prepare::{Preparation, PreparedTable, log_volume};
use crate::space::Fields;
use crate::stack::Combination;

/// A model ready to be conditioned on a table.
pub(crate) struct LearnedModel {
    pub(crate) preparation: Preparation,
    /// The table in the model's units with all cells.
    pub(crate) prepared: PreparedTable,
    pub(crate) model: Lmc,
    /// The result of learning; `None` if parameters were given.
    pub(crate) learned: Option<Learned>,
    pub(crate) report: SelectionReport,
    /// The members of a pool; `None` for a single model.
    pub(crate) combination: Option<Combination>,
}

/// Conditions a model on all cells of the table and writes the summary.
pub(crate) fn finish(
    table: &Dataset,
    model: LearnedModel,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    let LearnedModel { preparation, prepared, model, learned, mut report, combination } = model;
    let bounds = options.bounds_of_outputs(preparation.outputs.len())?;
    let preparation = preparation.with_bounds(&bounds);
    report.decisions.extend(bounds_reasons(&preparation, options));
    if !preparation.has_likelihoods() {
        report.decisions.extend(proposals(table, options)?);
    }
    watch.reach(Step::Posterior, 0.0);
    watch.announce(Stage::Posterior, 0.0);
    let candidates = options.candidates.as_ref().map(|points| preparation.inputs(points)).transpose()?;
    let dataset = match candidates {
        None => Arc::clone(&prepared.dataset),
        Some(_) => Arc::new(preparation.dataset(table)?),
    };
    let choice = (options.method, options.structure);
    let tree = Some(Arc::clone(&prepared.tree));
    let (dataset, posterior) = match preparation.has_likelihoods() {
        true => condition_by_likelihood(&dataset, &model, &preparation, prepared.tree.clone())?,
        false => {
            let settings = (options.seed, options.memory);
            let posterior = condition(&dataset, &model, choice, candidates, tree, settings)?;
            (dataset, posterior)
        }
    };
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
    // A field is two columns of its model.
    let described = match options.method {
        MethodChoice::Space { .. } => Some(Fields::of(&model)?.along_time()?),
        _ => None,
    };
    let summary = summarize(Description {
        method: options.method_name(),
        n_rows: table.n_rows(),
        n_observed: &table.observations().counts_by_output(),
        n_distinct: &table.observations().counts_by_output(),
        model: described.as_ref().unwrap_or(&model),
        learned: learned.as_ref(),
        log_evidence: (evidence.map_or(f64::NAN, Evidence::get), log_volume(table, &preparation)),
        preparation: &preparation,
        statistics: &prepared.statistics,
        report,
        options,
        cut: watch.warning().map(|warning| Cut { warning, by_limit: !watch.is_stopped() }),
    });
    let parts = FitParts {
        table: table.clone(),
        preparation,
        model,
        method: options.method,
        structure: options.structure,
        ties: Ties::ByInputs,
        candidates: options.candidates.clone(),
        seed: options.seed,
        memory: options.memory,
        summary,
        combination,
    };
    watch.reach(Step::Posterior, 1.0);
    watch.announce(Stage::Posterior, 1.0);
    Fit::new(parts, dataset, posterior)
}
