//! A fit with more rows: with the same parameters, or with parameters learned again.

use std::sync::Arc;

use catena::data::Dataset;
use catena::index::OutputIndex;
use catena::kernel::{Kernel, StateKind};
use catena::learning::Family;
use catena::model::{Latent, Lmc};
use catena::structure::sorted_chain;

use crate::cost::{FinalPlan, RowSize};
use crate::error::FitError;
use crate::families::time::{self, drift_warnings};
use crate::fit::{
    Fit, FitParts, LearnedModel, SelectionReport, finish, fit, range_warnings, relearn_space,
    stretches_reason, time_model,
};
use crate::folds::in_stretches;
use crate::methods::{Known, learn, learning_task};
use crate::monitor::{FitMonitor, Stage, Watch};
use crate::options::{Budget, FitOptions, MethodChoice};
use crate::prepare::{Preparation, PreparedTable, appended, rescaled, without_copies};

impl Fit {
    /// The same model and units with more rows. The summary warns of outputs that leave the range of the learned values and,
    /// along one input, of new values that are farther from their one-step forecasts than the model expects.
    ///
    /// # Errors
    /// When the new rows have other columns, and [`FitError::Memory`] before anything is allocated.
    pub fn with_more_rows(&self, more: &Dataset) -> Result<Self, FitError> {
        self.parts.check_memory(Some(more), self.parts.memory)?;
        if self.parts.preparation.has_likelihoods() {
            let table = appended(&self.parts.table, more)?;
            let names: Vec<&str> =
                self.parts.summary.outputs.iter().map(|output| output.name.as_str()).collect();
            return self.with_table(table, range_warnings(&self.parts.table, more, &names));
        }
        // Checked alone first, so that errors name rows of the new table.
        self.parts.preparation.check_values(more)?;
        Preparation::check_size(&self.parts.preparation.dataset(more)?, &self.parts.model)?;
        let table = appended(&self.parts.table, more)?;
        let names: Vec<&str> = self.parts.summary.outputs.iter().map(|output| output.name.as_str()).collect();
        let mut warnings = range_warnings(&self.parts.table, more, &names);
        warnings.extend(self.drift(&table, more)?);
        self.with_table(table, warnings)
    }

    /// Warnings of large one-step errors in new rows that all follow the earlier rows, under message passing along a line.
    fn drift(&self, table: &Dataset, more: &Dataset) -> Result<Vec<String>, FitError> {
        let FitParts { preparation, model, summary, .. } = &self.parts;
        let values = |table: &Dataset| table.inputs().values().to_vec();
        let last = values(&self.parts.table).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let first = values(more).into_iter().fold(f64::INFINITY, f64::min);
        // In groups, new rows need not follow those of their own group.
        if !self.parts.is_line() || first <= last || table.inputs().groups().is_some() {
            return Ok(vec![]);
        }
        let prepared = preparation.dataset(table)?;
        let tree = Arc::new(sorted_chain(prepared.inputs())?);
        let name = |output: usize| summary.outputs[output].name.clone();
        drift_warnings(&prepared, &tree, model, &|_| more.n_rows(), &name)
    }

    /// The same kind of model with more rows; means, scales and parameters are learned again on all rows. Of the options only
    /// budget, priors, noise floor, memory and the formatting of lengths are used.
    ///
    /// # Errors
    /// When the new rows have other columns, numbers overflow, and [`FitError::Memory`] before anything is allocated.
    pub fn relearned(
        &self,
        more: &Dataset,
        options: &FitOptions,
        monitor: &FitMonitor<'_>,
    ) -> Result<Self, FitError> {
        self.parts.check_memory(Some(more), options.memory)?;
        if self.likelihoods().is_none() {
            self.parts.preparation.check_values(more)?;
        }
        self.learned_on(appended(&self.parts.table, more)?, options, monitor)
    }

    /// As [`Fit::relearned`], without new rows: for a table that was edited since its parameters were learned.
    ///
    /// # Errors
    /// As [`Fit::relearned`].
    pub fn learned_again(&self, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Self, FitError> {
        self.learned_on(self.parts.table.clone(), options, monitor)
    }

    fn learned_on(
        &self,
        table: Dataset,
        options: &FitOptions,
        monitor: &FitMonitor<'_>,
    ) -> Result<Self, FitError> {
        let watch = &Watch::new(monitor, options.time_limit);
        let options = self.same_options(options);
        if let Some(likelihoods) = self.likelihoods() {
            let options = FitOptions { likelihoods, ..options };
            return fit(&table, &options, monitor);
        }
        let (distinct, _) = without_copies(&table)?;
        let preparation = self.parts.preparation.refitted(&distinct)?;
        let start = rescaled(&self.parts.model, &self.parts.preparation, &preparation)?;
        if let MethodChoice::Space { .. } = options.method {
            return relearn_space(&table, &distinct, (preparation, start), &options, watch);
        }
        if self.parts.summary.latents.iter().all(|latent| latent.sum.is_some()) {
            let unit = preparation.inputs[0].1;
            let model = time::relearn(&preparation.dataset(&distinct)?, start, unit, &options, watch)?;
            return time_model(&table, preparation, model, &options, watch);
        }
        let model = relearn((&table, &distinct), preparation, start, &options, watch)?;
        finish(&table, model, &options, watch)
    }
}

/// Learns a model of kernels again on the distinct cells of a table.
fn relearn(
    (table, distinct): (&Dataset, &Dataset),
    preparation: Preparation,
    start: Lmc,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<LearnedModel, FitError> {
    watch.announce(Stage::Structure, 0.0);
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let learning_table = prepared.with_observations(preparation.dataset(distinct)?.observations())?;
    let (family, n_outputs) = (family_of(&start), start.n_outputs());
    let plan = FinalPlan::new(options.budget, table.n_rows(), RowSize::of_model(&start));
    let mut decisions = vec![];
    let learning_table = match options.method.is_message_passing() {
        false => learning_table,
        true => {
            let part = in_stretches(&learning_table, plan.n_rows, options.structure)?;
            decisions.extend(stretches_reason(part.as_ref(), distinct.n_rows()));
            part.unwrap_or(learning_table)
        }
    };
    let earlier = vec![learning_table.statistics.silenced(start)?];
    // Changed data may have a better optimum far from the model, and an output that was constant before has zero weights:
    // another start is derived from the table.
    let is_silent = |output: usize| {
        earlier[0].mixing().row_entries(OutputIndex::new(output)).all(|(_, weight)| weight == 0.0)
    };
    let from_table = options.budget != Budget::Quick || (0..n_outputs).any(is_silent);
    let multipliers: &[f64] = if from_table { &[1.0] } else { &[] };
    // With several inputs method selection may have chosen exact inference.
    let selected = table.inputs().dim() > 1;
    let task = learning_task(
        &learning_table,
        family,
        earlier.clone(),
        (plan.settings, multipliers),
        (options, selected),
    );
    let known = earlier[0].clone();
    let task = task.with_starts(earlier, multipliers);
    let known = options
        .method
        .is_message_passing()
        .then(|| Known { model: known, n_rows: learning_table.dataset.n_rows() });
    let learned = learn(&learning_table, &task, known, (options, selected), watch, &mut decisions)?;
    let from = if learned.start == 0 { "the previous parameters" } else { "a start derived from the table" };
    decisions.push(format!("same kind of model as before; learned again from {from}"));
    let (model, report) = (learned.model.clone(), SelectionReport::of_decisions(decisions));
    Ok(LearnedModel { preparation, prepared, model, learned: Some(learned), report, combination: None })
}

/// The family of a model of kernels.
fn family_of(model: &Lmc) -> Family {
    let n_shared = model.mixing().n_shared();
    let (shared, private) = model.latents().split_at(n_shared);
    let kernel = |latents: &[Latent]| latents.first().and_then(Latent::kernel);
    let is_derivative = model.latents().iter().any(|latent| latent.state() == StateKind::Derivative);
    let length = |latent: &Latent| latent.length_scale().get().to_bits();
    Family {
        n_shared,
        shared_kernel: kernel(shared).or(kernel(private)).unwrap_or(Kernel::Matern12),
        private_kernel: kernel(private),
        state: if is_derivative { StateKind::Derivative } else { StateKind::Value },
        tied: n_shared > 1 && shared.iter().all(|latent| length(latent) == length(&shared[0])),
    }
}
