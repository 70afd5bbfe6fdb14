//! Which numbers of latents are tried, on how many rows and folds.

use std::time::Duration;

use catena::data::Dataset;

use crate::cost::{FEWEST_ROWS, RowSize, SelectionPlan, TableSize};
use crate::folds::Fold;
use crate::monitor::Watch;
use crate::options::{Budget, FitOptions};

/// Candidates of the usual size in a comparison.
const CANDIDATES: u64 = 10;
/// Evaluations of the largest candidate for the choice of the smoothness and a few candidates.
const FEWEST_EVALUATIONS: f64 = 40.0;
/// The share of a time limit for which their work is planned.
const SHARE_OF_LIMIT: f64 = 0.4;
/// Numbers of shared latents that are tried, besides private ones or in narrow tables.
const LADDER: [usize; 5] = [0, 1, 2, 4, 8];
/// The same where there are many private latents beside them.
const COARSE_LADDER: [usize; 3] = [0, 2, 8];
/// With the thorough budget, as `LADDER`.
const FINE_LADDER: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// Numbers of shared latents that are tried in wide tables, whose outputs have no private ones.
const WIDE_LADDER: [usize; 4] = [2, 6, 12, 24];
/// With the thorough budget.
const FINE_WIDE_LADDER: [usize; 6] = [1, 2, 4, 8, 16, 24];
/// Tables with more outputs are wide if they have no private latents, and are compared with fewer candidates if they have.
const MOST_OF_NARROW: usize = 12;

/// How much of the comparison was done.
pub(super) struct TriedSoFar {
    pub(super) n_candidates: usize,
    /// Candidates for which there was no time.
    pub(super) n_left_out: usize,
    /// Folds on which candidates should be compared.
    pub(super) n_folds: usize,
}

impl TriedSoFar {
    /// Says what was left out.
    pub(super) fn report_to(&self, watch: &Watch<'_>, folds: &[Fold]) {
        let Self { n_candidates, n_left_out, n_folds } = *self;
        if n_left_out > 0 {
            let n_all = n_candidates + n_left_out;
            watch.cut(format!("selection stopped after {n_candidates} of {n_all} candidates"));
        }
        if folds.len() < n_folds {
            watch.cut(format!("models were compared on {} of {n_folds} folds", folds.len()));
        }
    }
}

/// The number of rows on which families are compared.
pub(crate) fn selection_rows(size: TableSize, options: &FitOptions) -> usize {
    plan_for(size, options).2.n_rows
}

/// Whether private latents are tried, the numbers of shared latents, and the plan of the comparison.
pub(crate) fn plan_for(size: TableSize, options: &FitOptions) -> (bool, Vec<usize>, SelectionPlan) {
    let TableSize { n_rows, n_outputs, .. } = size;
    let mut private = options.tries_private(n_outputs);
    let mut ladder = ladder(size, private, options);
    let most = |ladder: &[usize]| ladder.iter().copied().max().unwrap_or(1);
    if let Some(limit) = options.time_limit {
        // If a table is too wide for a limit, the families with the smallest states are compared.
        let is_affordable = |n_shared: usize, private: bool| {
            let row = row_of(n_shared, private, size);
            let rows = FEWEST_ROWS.min(n_rows) as f64;
            1e-6 * FEWEST_EVALUATIONS * rows * row.microseconds() < core_seconds(limit)
        };
        if private && options.private.is_none() && !is_affordable(most(&ladder), true) {
            private = false;
            ladder = self::ladder(size, private, options);
        }
        while ladder.len() > 1 && !is_affordable(most(&ladder), private) {
            ladder.pop();
        }
    }
    let largest = row_of(most(&ladder), private, size);
    let mut plan = SelectionPlan::new(options.budget, n_rows, largest, ladder.len());
    if plan.is_reduced {
        // Every second number, including the largest.
        ladder = ladder.into_iter().rev().step_by(2).collect::<Vec<_>>();
        ladder.reverse();
        plan = SelectionPlan {
            is_reduced: true,
            ..SelectionPlan::new(options.budget, n_rows, largest, ladder.len())
        };
    }
    if let Some(limit) = options.time_limit {
        shorten(&mut plan, core_seconds(limit), largest);
    }
    (private, ladder, plan)
}

/// Says what a time limit leaves out of the comparison before it begins.
pub(super) fn report_left_out(size: TableSize, options: &FitOptions, watch: &Watch<'_>) {
    if options.time_limit.is_none() {
        return;
    }
    let (private, ladder, plan) = plan_for(size, options);
    let (all_private, all, unlimited) = plan_for(size, &FitOptions { time_limit: None, ..options.clone() });
    let (n_rows, n_all) = (plan.n_rows, unlimited.n_rows);
    if (private, &ladder) != (all_private, &all) {
        watch.cut(format!(
            "only families with small states were compared, on {n_rows} rows instead of {n_all}"
        ));
    } else if n_rows < n_all {
        watch.cut(format!("models were compared on {n_rows} rows instead of {n_all}"));
    }
}

/// The size of a row with this many shared latents, before kernels are chosen.
fn row_of(n_shared: usize, private: bool, size: TableSize) -> RowSize {
    let TableSize { n_inputs, n_outputs, .. } = size;
    let n_latents = n_shared + if private { n_outputs } else { 0 };
    // Along a line shared latents turn out smooth, with two states, and half of the private ones rough, with one.
    let state_size = match n_inputs {
        1 if is_wide(n_outputs, private) => 2 * n_latents,
        1 => n_latents + n_latents / 2,
        _ => n_latents,
    };
    RowSize { state_size, n_latents, n_outputs }
}

/// Seconds of one core that a comparison may take under a time limit, on the threads of this machine.
fn core_seconds(limit: Duration) -> f64 {
    SHARE_OF_LIMIT * limit.as_secs_f64() * rayon::current_num_threads() as f64
}

/// Lowers the rows and starts of a plan to what takes these seconds. What still takes longer is cut while it runs.
fn shorten(plan: &mut SelectionPlan, seconds: f64, largest: RowSize) {
    let iterations = plan.candidate.optimizer.max_iterations as u64;
    let evaluations = (CANDIDATES * plan.n_folds.max(1) * iterations) as f64;
    let work = 1e-6 * evaluations * largest.microseconds() * plan.n_rows as f64;
    let share = seconds / work;
    if share < 1.0 {
        let shortened = |rows: usize| ((share * rows as f64) as usize).max(FEWEST_ROWS.min(rows));
        plan.candidate_multipliers = &[1.0];
        plan.n_rows = shortened(plan.n_rows);
        plan.compared_rows = shortened(plan.compared_rows).max(plan.n_rows);
    }
}

/// Whether a table has many outputs without private latents.
pub(crate) fn is_wide(n_outputs: usize, private: bool) -> bool {
    !private && n_outputs > MOST_OF_NARROW
}

/// Numbers of shared latents to try: at most one per output, and in wide tables one per row.
fn ladder(TableSize { n_rows, n_outputs, .. }: TableSize, private: bool, options: &FitOptions) -> Vec<usize> {
    match options.latents {
        Some(count) => vec![count],
        // With one output a private latent would be the same as a shared one.
        None if n_outputs == 1 => vec![1, 2],
        None => {
            let counts: &[usize] = match (is_wide(n_outputs, private), options.budget) {
                (true, Budget::Thorough) => &FINE_WIDE_LADDER,
                (true, _) => &WIDE_LADDER,
                (false, Budget::Thorough) => &FINE_LADDER,
                (false, _) if private && n_outputs > MOST_OF_NARROW => &COARSE_LADDER,
                (false, _) => &LADDER,
            };
            let fewest = if private { 0 } else { 1 };
            let most = if is_wide(n_outputs, private) { n_outputs.min(n_rows.max(2)) } else { n_outputs };
            counts.iter().copied().filter(|&count| count >= fewest && count <= most).collect()
        }
    }
}

/// How the rows and the work of a comparison on a sample differ from those of the whole table of `n_rows` rows.
pub(super) fn sample_reasons(
    sample: &Dataset,
    n_rows: usize,
    plan: &SelectionPlan,
    options: &FitOptions,
) -> Vec<String> {
    let mut reasons = vec![];
    let n_compared = sample.n_rows();
    let n_learning = if sample.inputs().dim() == 1 { plan.n_rows.min(n_compared) } else { n_compared };
    if n_learning < n_compared {
        reasons.push(format!(
            "for the comparison, models were learned from {n_learning} of {n_rows} rows and scored on {n_compared}"
        ));
    } else if n_compared < n_rows {
        reasons.push(format!("models were compared on {n_compared} of {n_rows} rows"));
    }
    if plan.is_reduced {
        let steps = if options.latents.is_none() { "every second number of latents, " } else { "" };
        let iterations = plan.candidate.optimizer.max_iterations;
        reasons.push(format!(
            "many outputs: comparison shortened to fit the budget ({steps}{iterations} iterations per model)"
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(n_rows: usize, n_outputs: usize, options: &FitOptions) -> (bool, Vec<usize>, SelectionPlan) {
        plan_for(TableSize { n_rows, n_inputs: 1, n_outputs }, options)
    }

    /// Private latents of many outputs cost the cube of their number; shared ones are cheap, so more of them are tried.
    #[test]
    fn wide_tables_try_many_shared_latents_on_several_folds_instead_of_private_ones() {
        let options = FitOptions::default();
        let (private, ladder, narrow) = plan(2000, 12, &options);
        assert!(private && ladder.contains(&0) && ladder.contains(&8) && narrow.n_folds == 4);
        for (n_rows, n_outputs) in [(256, 64), (1000, 100), (214, 500), (12, 142)] {
            let (private, ladder, wide) = plan(n_rows, n_outputs, &options);
            let most = n_rows.min(24);
            assert!(
                !private
                    && ladder[0] <= 6
                    && ladder.last().is_some_and(|&last| last <= most && 2 * last >= most)
            );
            assert!(wide.n_folds == 4 && wide.n_rows >= n_rows.min(500), "{n_rows}×{n_outputs}: {wide:?}");
        }
        let (private, _, _) = plan(256, 64, &FitOptions { private: Some(true), ..options });
        assert!(private);
    }
}
