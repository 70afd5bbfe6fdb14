//! A fit with more rows: its parameters as they are, or learned again from where they stand.

use std::ops::ControlFlow;
use std::sync::Arc;

use catena::data::Dataset;
use catena::index::OutputIndex;
use catena::kernel::StateKind;
use catena::learning::Family;
use catena::model::{Latent, Lmc};
use catena::structure::sorted_chain;

use super::warnings::left_range;
use super::learn::learn;
use super::fitted::finish;
use super::fitted::SelectionReport;
use super::along_time::conclude;
use crate::selection::Plan;
use crate::error::FitError;
use crate::families::time::{drift_warnings, learn_again};
use crate::fit::{Fit, FitParts};
use crate::learn::LearningTask;
use crate::methods::schedule;
use crate::monitor::{Event, FitMonitor, Stage};
use crate::options::{Budget, FitOptions, StructureOption};
use crate::prepare::{Preparation, PreparedTable, appended, distinct, rescaled, scaled_candidates, with_candidates};

impl Fit {
    /// The same model and units with more rows. A warning is added for outputs that leave the range they were learned on and,
    /// along one input, for those whose new values are farther from their one-step forecasts than the model expects.
    ///
    /// # Errors
    /// When the new rows have other columns.
    pub fn with_more_rows(&self, more: &Dataset) -> Result<Self, FitError> {
        // By itself first, so that what is refused is called by its row of the new table.
        self.parts.preparation.check_positive(more)?;
        self.parts.preparation.dataset(more)?;
        let table = appended(&self.parts.table, more)?;
        let mut parts = FitParts { table, ..self.parts.clone() };
        parts.summary.n_rows = parts.table.n_rows();
        let counts = parts.table.observations().counts_by_output();
        for (output, count) in parts.summary.outputs.iter_mut().zip(counts) {
            output.n_observed = count;
        }
        let names: Vec<&str> = self.parts.summary.outputs.iter().map(|output| output.name.as_str()).collect();
        let out_of_range = left_range(&self.parts.table, more, &names);
        let drifted = self.drift(&parts.table, more)?;
        parts.summary.warnings.extend(out_of_range.into_iter().chain(drifted));
        let mut fit = Self::from_parts(parts)?;
        let evidence = fit.posterior.evidence()?.map_or(f64::NAN, crate::methods::Evidence::get);
        fit.parts.summary.log_evidence = evidence;
        Ok(fit)
    }

    /// Warnings of one-step errors in new rows that all come after the rows before, under message passing along a line.
    fn drift(&self, table: &Dataset, more: &Dataset) -> Result<Vec<String>, FitError> {
        let FitParts { method, structure, preparation, model, summary, .. } = &self.parts;
        let is_line = table.inputs().dim() == 1
            && method.is_message_passing()
            && matches!(structure, StructureOption::Auto | StructureOption::Chain);
        let last =
            |table: &Dataset| table.inputs().values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let first = more.inputs().values().iter().copied().fold(f64::INFINITY, f64::min);
        if !is_line || first <= last(&self.parts.table) {
            return Ok(vec![]);
        }
        let prepared = preparation.dataset(table)?;
        let tree = Arc::new(sorted_chain(prepared.inputs())?);
        let name = |output: usize| summary.outputs[output].name.clone();
        drift_warnings(&prepared, &tree, model, more.n_rows(), &name)
    }

    /// The same kind of model with more rows, its means, scales and parameters learned again on all of them from where they
    /// stand. Of the options only budget, priors, noise floor and the writing of lengths count; everything else is the
    /// model's.
    ///
    /// # Errors
    /// When the new rows have other columns, or numbers overflow.
    pub fn relearned(
        &self,
        more: &Dataset,
        options: &FitOptions,
        monitor: &FitMonitor<'_>,
    ) -> Result<Self, FitError> {
        let FitParts { method, structure, candidates, seed, summary, .. } = &self.parts;
        let options = FitOptions {
            method: *method,
            structure: *structure,
            candidates: candidates.clone(),
            seed: *seed,
            input_names: summary.input_names.clone(),
            output_names: summary.outputs.iter().map(|output| output.name.clone()).collect(),
            ..options.clone()
        };
        self.parts.preparation.check_positive(more)?;
        let table = appended(&self.parts.table, more)?;
        let (learned_from, _) = distinct(&table)?;
        let preparation = self.parts.preparation.refitted(&learned_from)?;
        let start = rescaled(&self.parts.model, &self.parts.preparation, &preparation)?;
        if summary.latents.iter().all(|latent| latent.sum.is_some()) {
            let unit = preparation.inputs[0].1;
            let learned = learn_again(&preparation.dataset(&learned_from)?, start, unit, &options, monitor)?;
            return conclude(&table, preparation, learned, &options, monitor);
        }
        again((&table, &learned_from), preparation, start, &options, monitor)
    }
}

/// Learns a model of kernels again on the distinct cells of a table.
fn again(
    (table, learned_from): (&Dataset, &Dataset),
    preparation: Preparation,
    start: Lmc,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
        monitor(Event { stage: Stage::Structure, done: 0.0, log_posterior: None });
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = |table: &Dataset| -> Result<Dataset, FitError> {
        Ok(with_candidates(preparation.dataset(table)?, candidates.as_ref())?)
    };
    let whole = PreparedTable::new(prepared(table)?, &options.structure.learned_on())?;
    let prepared_table = whole.with_observations(prepared(learned_from)?.observations().clone())?;
    let priors = options.priors.clone().unwrap_or_else(|| prepared_table.priors());
    let (family, n_outputs) = (family_of(&start), start.n_outputs());
    let plan = Plan::new(options.budget, table.n_rows(), n_outputs, start.state_dim());
    let plan = plan.with_final_race(options.budget, table.n_rows(), n_outputs, start.state_dim());
    let earlier = vec![prepared_table.statistics.silenced(start)?];
    // Along one input exact inference was asked for; above, a contest may have chosen it.
    let is_own = table.inputs().dim() > 1;
    let (_, settings) = schedule(&family, &earlier, &plan, (table, options, is_own));
    // Data that have changed may have a better place far from the model's, and an output that never varied before has no
    // weights to begin with: one start knows nothing of the model.
    let has_silent = (0..n_outputs).any(|output| is_silent(&earlier[0], OutputIndex::new(output)));
    let from_table = options.budget != Budget::Quick || has_silent;
    let multipliers: &[f64] = if from_table { &[1.0] } else { &[] };
    let noise_floor = options.noise_floor;
    let task = LearningTask { family, multipliers, earlier, settings, priors: &priors, noise_floor };
    let mut decisions = vec![];
    let learned = learn(&prepared_table, &task, (options, is_own), monitor, &mut decisions)?;
    let from = if learned.start == 0 { "its parameters before" } else { "a start that does not know them" };
    decisions.push(format!("the kind of model is that of before; learned again from {from}"));
    let told = SelectionReport { decisions, ..SelectionReport::default() };
    finish(table, preparation, &whole, learned.model.clone(), Some(&learned), told, options, monitor)
}

/// Whether no latent has a weight on an output.
fn is_silent(model: &Lmc, output: OutputIndex) -> bool {
    model.mixing().row_entries(output).all(|(_, weight)| weight == 0.0)
}

/// The family that a model of kernels is a member of.
fn family_of(model: &Lmc) -> Family {
    let n_shared = model.mixing().n_shared();
    let (shared, private) = model.latents().split_at(n_shared);
    let kernel = |latents: &[Latent]| latents.first().and_then(Latent::kernel);
    let any = kernel(shared).or(kernel(private)).unwrap_or(catena::kernel::Kernel::Matern12);
    let is_derivative = model.latents().iter().any(|latent| latent.state() == StateKind::Derivative);
    let length = |latent: &Latent| latent.length_scale().get().to_bits();
    Family {
        n_shared,
        shared_kernel: any,
        private_kernel: kernel(private),
        state: if is_derivative { StateKind::Derivative } else { StateKind::Value },
        tied: n_shared > 1 && shared.iter().all(|latent| length(latent) == length(&shared[0])),
    }
}
