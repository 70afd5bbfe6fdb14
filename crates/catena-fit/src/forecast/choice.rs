//! Chooses a forecast: sums of components and transforms, scored from origins inside the table beside simple rules, as a pool.

use std::sync::atomic::AtomicBool;

use catena::data::Dataset;
use catena::index::RowIndex;

use super::candidates::ChoicePlan;
use super::compared::{ScoredModel, best_of};
use super::concluded::Source;
use super::origins::Origins;
use super::rules::{periods_of, rule_densities, rules};
use super::setting::Choice;
use crate::error::FitError;
use crate::families::time::seasons;
use crate::fit::{Fit, UNCHECKED, fit, with_decided_likelihoods};
use crate::monitor::{FitMonitor, Watch};
use crate::options::{FitOptions, MOST_OUTPUTS, StructureOption, Term, TimeOptions, TimeSpec, TransformKind};
use crate::prepare::{InputUnits, Preparation};
use crate::size::FitSize;
use crate::stack::AheadCandidate;

/// The most rows on which forecasts are compared, and the fewest values of an output in their first half.
const MOST_ROWS: usize = 6000;
const FEWEST_VALUES: usize = 16;

/// A fit for forecasts up to `reach` after the last row, in units of the input. Whatever the options leave open is chosen by forecasts
/// of known rows from origins inside the table: sums of components, transforms, and a pool with simple rules. A model that the options
/// determine is scored in the same way. [`Summary::origins`](crate::Summary) has the scores.
///
/// Tables with groups, with known noise of cells, with likelihoods or with several inputs are fitted without this choice, as are tables of few rows and
/// other methods than message passing on a chain.
///
/// # Errors
/// As [`fit`](crate::fit).
pub fn fit_ahead(
    table: &Dataset,
    options: &FitOptions,
    reach: f64,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let (options, reasons) = &with_decided_likelihoods(table, options, monitor)?;
    let mut found = fit_ahead_as_decided(table, options, reach, monitor)?;
    found.parts.summary.decisions.splice(0..0, reasons.clone());
    Ok(found)
}

fn fit_ahead_as_decided(
    table: &Dataset,
    options: &FitOptions,
    reach: f64,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let n_outputs = table.observations().n_outputs();
    if options.likelihood_choices(n_outputs)?.is_some() {
        return Ok(unchecked(fit(table, options, monitor)?, "an output has a likelihood"));
    }
    let is_open = leaves_open(options);
    let options = &match (&options.time, is_open && n_outputs <= MOST_OUTPUTS) {
        (None, true) => FitOptions { time: Some(TimeOptions::default()), ..options.clone() },
        _ => options.clone(),
    };
    let requested = options.time.as_ref().filter(|time| is_open && time.spec.is_none());
    if let Some(why) = why_unchecked(table, options) {
        return Ok(unchecked(fit(table, options, monitor)?, why));
    }
    options.check_size(FitSize::of(table))?;
    let recent = recent_rows(table)?;
    Choice {
        table,
        recent: recent.as_ref().unwrap_or(table),
        options,
        reach,
        monitor,
        is_stopped: AtomicBool::new(false),
        watch: Watch::new(monitor, options.time_limit),
    }
    .made(requested)
}

/// Why forecasts of this table are not compared on known rows; `None` if they are.
fn why_unchecked(table: &Dataset, options: &FitOptions) -> Option<&'static str> {
    let is_chain = matches!(options.structure, StructureOption::Auto | StructureOption::Chain);
    let reasons = [
        (table.inputs().dim() != 1, "the table has several inputs"),
        (table.inputs().groups().is_some(), "the table has groups"),
        (table.observations().has_cell_noise(), "the noise of cells is given"),
        (table.observations().n_outputs() > MOST_OUTPUTS, "the table has more than 32 outputs"),
        (!options.method.is_message_passing() || !is_chain, "the method is not message passing on a chain"),
    ];
    reasons.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why)
}

/// A fit that says why it was not checked.
fn unchecked(mut fitted: Fit, why: &str) -> Fit {
    fitted.parts.summary.decisions.push(format!("{UNCHECKED}: {why}"));
    fitted
}

/// The latest rows of a long table, if every output has enough values there; `None` for all rows.
fn recent_rows(table: &Dataset) -> Result<Option<Dataset>, FitError> {
    if table.n_rows() <= MOST_ROWS {
        return Ok(None);
    }
    let mut rows: Vec<RowIndex> = table.inputs().rows().collect();
    rows.sort_by(|&a, &b| table.inputs().point(a)[0].total_cmp(&table.inputs().point(b)[0]));
    let recent = table.select_rows(&rows[rows.len() - MOST_ROWS..])?;
    let learning = table.select_rows(&rows[rows.len() - MOST_ROWS..rows.len() - MOST_ROWS / 2])?;
    let counts = learning.observations().counts_by_output();
    Ok(counts.iter().all(|count| *count >= FEWEST_VALUES).then_some(recent))
}

/// Whether no option determines the model.
fn leaves_open(options: &FitOptions) -> bool {
    let is_chain = matches!(options.structure, StructureOption::Auto | StructureOption::Chain);
    options.method.is_message_passing()
        && is_chain
        && options.kernel.is_none()
        && options.state.is_none()
        && options.latents.is_none()
        && options.private.is_none()
        && options.candidates.is_none()
        && !options.has_parameters()
        && options.time.as_ref().is_none_or(|time| time.spec.is_none())
}

impl Choice<'_> {
    fn made(&self, requested: Option<&TimeOptions>) -> Result<Fit, FitError> {
        let n_outputs = self.table.observations().n_outputs();
        let mut reasons = vec![];
        let found = match requested {
            Some(requested) => self.seasons(requested, &mut reasons)?,
            // Rules have seasons, whatever the model has.
            None => self.seasons(&TimeOptions::default(), &mut vec![])?,
        };
        let plan = ChoicePlan::new(&found, n_outputs, self.options.budget);
        let Some(origins) = Origins::new(self.recent, self.reach, plan.n_folds) else {
            reasons.push(format!("{UNCHECKED}: the table has too few"));
            let model = match (requested, plan.sums.into_iter().nth(1)) {
                (Some(_), Some(spec)) => self.model(spec, self.requested_transforms(TransformKind::None)?),
                _ => self.fixed(),
            };
            return self.unchecked(&model, reasons);
        };
        let (models, tried) = match requested {
            Some(_) => self.compared(&origins, plan.sums, &mut reasons)?,
            None => (self.scored(&origins, self.fixed()).into_iter().collect(), vec![]),
        };
        let Some(best) = best_of(&models) else {
            reasons.push(format!("{UNCHECKED}: all of them failed"));
            let model = match requested {
                Some(_) => {
                    let spec = TimeSpec::of(Term::Oscillator).with(Term::Level);
                    self.model(spec, self.requested_transforms(TransformKind::None)?)
                }
                None => self.fixed(),
            };
            return self.unchecked(&model, reasons);
        };
        let spec = self.options.time.as_ref().and_then(|time| time.spec.as_ref());
        let periods = periods_of(&found, spec);
        let powers = models[best].powers.clone();
        let mut sources: Vec<Source> = vec![];
        let mut candidates: Vec<AheadCandidate> = vec![];
        for ScoredModel { model, densities, .. } in models {
            candidates.push(AheadCandidate { name: model.name.clone(), densities, is_model: true });
            sources.push(Source::Model(model));
        }
        for (rule, name) in rules(&periods, self.options.length_text) {
            let Some(densities) = rule_densities(rule, &origins, self.recent, &powers) else { continue };
            if origins.scored.are_scored(&densities) {
                candidates.push(AheadCandidate { name, densities, is_model: false });
                sources.push(Source::Rule(rule));
            }
        }
        self.concluded(&origins, &candidates, &sources, (best, requested.is_some()), (reasons, tried))
    }

    /// The seasons of the table.
    pub(super) fn seasons(
        &self,
        requested: &TimeOptions,
        reasons: &mut Vec<String>,
    ) -> Result<Vec<Term>, FitError> {
        let (limit, monitor) = (self.limit(0.2), self.quiet(0.0));
        let watch = Watch::new(&monitor, limit);
        let preparation =
            Preparation::fitted(self.table, InputUnits::Scaled, &self.options.transform_choice())?;
        let prepared = preparation.dataset(self.table)?;
        let unit = preparation.inputs[0].1;
        match seasons(&prepared, unit, requested, self.options, &watch) {
            Ok((terms, found)) => {
                reasons.extend(found);
                Ok(terms)
            }
            // All outputs are constant: the fit says so.
            Err(FitError::Learning(_)) => Ok(vec![]),
            Err(error) => Err(error),
        }
    }
}
