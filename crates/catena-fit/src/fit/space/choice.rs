//! Chooses the kernels and the number of fields by parsimony score, and learns the best.

use std::collections::VecDeque;

use catena::kernel::Kernel;
use catena::learning::{Learned, StopReason};
use catena::model::Lmc;

use super::plan::SpacePlan;
use super::task::{FieldFamily, SpaceTable, learn, n_free};
use crate::error::FitError;
use crate::families::CandidateSummary;
use crate::fit::describe::SelectionReport;
use crate::monitor::{Pace, Reporter, Stage, Watch};
use crate::options::{Budget, FitOptions};
use crate::space::Fields;

/// More fields than this are not tried.
const MOST_FIELDS: usize = 6;
/// With two fields per output, states along time up to this size are tried.
const MOST_STATES: usize = 128;
/// The smoothness between places is not open with fewer places: they have too few distances to tell it.
const FEWEST_PLACES: usize = 8;

/// A learned family with its score.
struct Candidate {
    family: FieldFamily,
    learned: Learned,
    /// Log evidence minus ½ log(cells) for each free parameter.
    score: f64,
}

/// The learned fields, and what was decided. The kind of an `earlier` model is kept.
pub(super) fn choose(
    table: &SpaceTable,
    earlier: Option<Lmc>,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<(Learned, SelectionReport), FitError> {
    let n_times = table.times.dataset.n_rows();
    let (family, mut starts, mut report) = match earlier {
        Some(model) => {
            let family = FieldFamily::of(&Fields::of(&model)?);
            let starts = vec![model, family.start(table, (1.0, 1.0))?];
            let reason = format!("same kind of model as before, learned again: {}", family.name());
            (family, starts, SelectionReport::of_decisions(vec![reason]))
        }
        None => compared(table, options, watch)?,
    };
    let plan = SpacePlan::new(options.budget, n_times, table.row_size(family.n_fields, family.along_time), 1);
    let part = table.part(plan.learned_times)?;
    if let Some(part) = &part {
        let n_learning = part.times.dataset.n_rows();
        report.decisions.push(format!(
            "parameters were learned from {n_learning} of {n_times} times, in stretches spread over the table"
        ));
    }
    let table = part.as_ref().unwrap_or(table);
    if options.budget == Budget::Thorough {
        for factors in [(0.3, 1.0), (3.0, 3.0)] {
            starts.push(family.start(table, factors)?);
        }
    }
    let reporter = Reporter::new(watch, Stage::Learning, 0.0);
    reporter.end_within(1.0);
    let limit = plan.learned.optimizer.max_iterations;
    let pace = Pace::new(&reporter, 0.0);
    let learned = learn(table, &starts, plan.learned, options, &|progress| {
        reporter.learning(progress, limit)?;
        pace.step(progress)
    })?;
    if learned.stop == StopReason::Interrupted {
        let iterations = learned.path.len().saturating_sub(1);
        watch.cut(format!("learning stopped after {iterations} iterations"));
    }
    Ok((learned, report))
}

/// Compares kernels, then numbers of fields, and returns the best family with its learned model.
fn compared(
    table: &SpaceTable,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<(FieldFamily, Vec<Lmc>, SelectionReport), FitError> {
    let n_outputs = table.n_outputs();
    let is_small = MOST_STATES >= 4 * n_outputs * table.places.len();
    let most = if is_small { 2 * n_outputs } else { n_outputs + 1 };
    let most = options.latents.unwrap_or(most.min(MOST_FIELDS));
    let first = options.latents.unwrap_or(n_outputs.min(2));
    let kernels = match options.kernel {
        Some(pair) => vec![(pair.shared, pair.private)],
        None => {
            let along_time = [Kernel::Matern32, Kernel::Matern12];
            // With Matérn-½ the nearest places matter, and differences between them are not extrapolated.
            let between_places = match table.places.len() {
                ..FEWEST_PLACES => &[Kernel::Matern12][..],
                _ => &along_time,
            };
            let pairs = |time: Kernel| between_places.iter().map(move |space| (time, *space));
            along_time.into_iter().flat_map(pairs).collect()
        }
    };
    let n_candidates = kernels.len() + most.saturating_sub(first);
    let largest = table.row_size(most, kernels[0].0);
    let plan = SpacePlan::new(options.budget, table.times.dataset.n_rows(), largest, n_candidates);
    let part = table.part(plan.compared_times)?;
    let part = part.as_ref().unwrap_or(table);
    let reporter = Reporter::new(watch, Stage::Candidates, 0.0);
    reporter.end_within(0.5);
    let n_cells = part.times.dataset.observations().n_observed().max(2) as f64;
    let try_family = |family: FieldFamily| -> Result<Candidate, FitError> {
        let pace = Pace::new(&reporter, 0.0);
        let starts = [family.start(part, (1.0, 1.0))?];
        let learned = learn(part, &starts, plan.compared, options, &|progress| {
            reporter.go_on()?;
            pace.step(progress)
        })?;
        let penalty = 0.5 * n_cells.ln() * n_free(part, &learned.model, options) as f64;
        Ok(Candidate { family, score: learned.log_evidence - penalty, learned })
    };
    let mut tried: Vec<Candidate> = vec![];
    let of_kernels = kernels.into_iter().map(|(along_time, between_places)| FieldFamily {
        n_fields: first,
        along_time,
        between_places,
    });
    let mut due: VecDeque<FieldFamily> = of_kernels.collect();
    let mut best = 0;
    while let Some(family) = due.pop_front() {
        if !tried.is_empty() && reporter.is_stopped() {
            watch.cut("not all kernels and numbers of fields were compared".to_owned());
            break;
        }
        let candidate = try_family(family)?;
        if tried.get(best).is_none_or(|best| candidate.score > best.score) {
            best = tried.len();
        }
        tried.push(candidate);
        // Once the kernels are chosen, more fields as long as they gain.
        let has_gained = family.n_fields == first || best + 1 == tried.len();
        let chosen = tried[best].family;
        if due.is_empty() && has_gained && chosen.n_fields < most {
            due.push_back(FieldFamily { n_fields: chosen.n_fields + 1, ..chosen });
        }
    }
    let family = tried[best].family;
    let mut report = SelectionReport::default();
    if tried.len() > 1 {
        report.decisions.push(format!("{}: best of {} by parsimony score", family.name(), tried.len()));
        report.tried = tried
            .iter()
            .enumerate()
            .map(|(at, candidate)| CandidateSummary {
                name: candidate.family.name(),
                score: candidate.score,
                score_name: "parsimony score".to_owned(),
                rmse: None,
                coverage: None,
                chosen: at == best,
            })
            .collect();
    } else {
        report.decisions.push(family.name());
    }
    let starts = vec![tried.swap_remove(best).learned.model];
    Ok((family, starts, report))
}
