//! Which numbers of latents are tried, on how many rows and folds.

use catena::data::Dataset;

use crate::cost::{RowSize, SelectionPlan, TableSize};
use crate::options::{Budget, FitOptions};

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

/// The number of rows on which families are compared.
pub(crate) fn selection_rows(size: TableSize, options: &FitOptions) -> usize {
    plan_for(size, options).2.n_rows
}

/// Whether private latents are tried, the numbers of shared latents, and the plan of the comparison.
pub(super) fn plan_for(size: TableSize, options: &FitOptions) -> (bool, Vec<usize>, SelectionPlan) {
    let TableSize { n_rows, n_inputs, n_outputs } = size;
    let private = options.tries_private(n_outputs);
    let mut ladder = ladder(size, private, options);
    let most = ladder.iter().copied().max().unwrap_or(1);
    let n_latents = most + if private { n_outputs } else { 0 };
    // Along a line shared latents turn out smooth, with two states, and half of the private ones rough, with one.
    let state_size = match n_inputs {
        1 if is_wide(n_outputs, private) => 2 * n_latents,
        1 => n_latents + n_latents / 2,
        _ => n_latents,
    };
    let largest = RowSize { state_size, n_latents, n_outputs };
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
    (private, ladder, plan)
}

/// Whether a table has many outputs without private latents.
pub(super) fn is_wide(n_outputs: usize, private: bool) -> bool {
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
