//! Which numbers of latents are tried, on how many rows and folds.

use catena::data::Dataset;

use crate::cost::{SelectionPlan, TableSize};
use crate::options::FitOptions;

/// Numbers of shared latents that are tried.
const LADDER: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// The number of rows on which families are compared.
pub(crate) fn selection_rows(size: TableSize, options: &FitOptions) -> usize {
    plan_for(size, options).2.n_rows
}

/// Whether private latents are tried, the numbers of shared latents, and the plan of the comparison.
pub(super) fn plan_for(size: TableSize, options: &FitOptions) -> (bool, Vec<usize>, SelectionPlan) {
    let TableSize { n_rows, n_inputs, n_outputs } = size;
    let private = options.private.unwrap_or(n_outputs > 1);
    let mut ladder = ladder(n_outputs, private, options.latents);
    let most = ladder.iter().copied().max().unwrap_or(1);
    // Along a line most latents turn out rough, with one state; some have two.
    let n_latents = most + if private { n_outputs } else { 0 };
    let state_size = if n_inputs == 1 { n_latents + n_latents / 4 } else { n_latents };
    let plan = SelectionPlan::new(options.budget, n_rows, n_outputs, state_size);
    if plan.is_reduced {
        // Every second number, including the largest.
        ladder = ladder.into_iter().rev().step_by(2).collect::<Vec<_>>();
        ladder.reverse();
    }
    (private, ladder, plan)
}

/// Numbers of shared latents to try.
fn ladder(n_outputs: usize, private: bool, requested: Option<usize>) -> Vec<usize> {
    match requested {
        Some(count) => vec![count],
        // With one output a private latent would be the same as a shared one.
        None if n_outputs == 1 => vec![1, 2],
        None => {
            let fewest = if private { 0 } else { 1 };
            LADDER.iter().copied().filter(|&count| count >= fewest && count <= n_outputs).collect()
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
