//! The work of a fit before it begins, by the stages of the pipeline: for dry runs, the estimate of the time left and time limits.
//!
//! It counts what the pipeline does: smoothness, candidates on their folds, variants, regressions on other outputs, members of a
//! pool, the final learning with its starts, and the posterior. The counts of iterations and evaluations are means of measured
//! fits (`docs/performance.md`).

use catena::kernel::{Kernel, StateKind};
use catena::learning::Family;

use super::space::SpacePlan;
use crate::cost::{FinalPlan, MethodSelectionPlan, RowSize, TableSize, full_scale_learning, full_scale_work};
use crate::families::time::TimePlan;
use crate::families::{is_wide, plan_for};
use crate::monitor::{Step, StepWork};
use crate::options::{
    Budget, CombineChoice, FitOptions, MOST_WITH_OWN_SEASONS, MethodChoice, StructureOption,
};
use crate::size::FitSize;
use crate::stack::MANY_OUTPUTS;

/// Evaluations of the log evidence per iteration of an optimization.
const EVALUATIONS: f64 = 1.3;
/// The share of their iterations that optimizations take before they converge.
const TAKEN: f64 = 0.95;
/// A prediction of all rows in evaluations with gradient.
const PREDICTION: f64 = 0.6;
/// The cost of rows of many outputs with different masks, in costs of rows with one mask.
const OF_MASKS: f64 = 1.6;
/// Model members of a pool beside the one that is learned at the end.
const MEMBERS: f64 = 1.0;
/// Iterations with which a member continues on a table of which the comparison had a part.
const CONTINUED: f64 = 12.0;
/// Microseconds of a row of a single output under a sum of components, with the share of its iterations that it takes.
const OF_SINGLE: f64 = 0.15;
/// A release build takes this share of the microseconds of the cost model, which are those of the test build.
const RELEASE: f64 = 0.55;
/// Microseconds per cell to read a table into its units and structure, once.
const PREPARATION: f64 = 0.15;

/// Work of the steps of a fit, in seconds of one core.
pub(crate) fn step_work(size: FitSize, options: &FitOptions) -> StepWork {
    let FitSize { n_rows, n_inputs, n_outputs, .. } = size;
    let table = TableSize { n_rows, n_inputs, n_outputs };
    let cells = (n_rows * (n_outputs + n_inputs)) as f64;
    let posterior = 1e-6 * PREPARATION * cells;
    if options.has_parameters() {
        let state = options.expected_state_size(n_outputs);
        let row = RowSize { state_size: state as usize, n_latents: n_outputs, n_outputs };
        let sweeps = 1e-6 * PREDICTION * n_rows as f64 * row.microseconds();
        let mut work = StepWork::default();
        work.add(Step::Posterior, posterior + sweeps);
        return work;
    }
    if let MethodChoice::Space { .. } = options.method {
        // The number of places is not known before the table is read.
        let mut work = StepWork::default();
        work.add(Step::Candidates, SpacePlan::seconds(options.budget));
        if options.combine == CombineChoice::Auto {
            // Fields and columns without silent places, twice, and columns of the whole table.
            let members = 8.0 * SpacePlan::seconds(Budget::Quick) + SpacePlan::seconds(options.budget);
            work.add(Step::Members, members);
        }
        work.add(Step::Learning, SpacePlan::seconds(options.budget));
        work.add(Step::Posterior, posterior);
        return work;
    }
    match options.time {
        Some(_) => of_time_model(table, options, posterior),
        None => of_kernels(table, options, posterior),
    }
}

impl FitOptions {
    /// The seconds of one core that a fit to a table of this size takes, within a factor of about two; for a time limit, at most
    /// that of all threads.
    pub fn expected_seconds(&self, size: FitSize) -> f64 {
        let work = step_work(size, self).total();
        let limit = self.time_limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64());
        work.min(limit * rayon::current_num_threads() as f64)
    }
}

/// The size of a row under `n_shared` smooth latents and private ones, half of which are rough.
fn row_of(n_shared: usize, private: bool, state: StateKind, n_outputs: usize) -> RowSize {
    let family = |private_kernel| Family {
        n_shared,
        shared_kernel: Kernel::Matern32,
        private_kernel,
        state,
        tied: false,
    };
    let of = |kernel| RowSize::of(&family(Some(kernel)), n_outputs);
    if !private {
        return RowSize::of(&family(None), n_outputs);
    }
    let (rough, smooth) = (of(Kernel::Matern12), of(Kernel::Matern32));
    RowSize { state_size: (rough.state_size + smooth.state_size) / 2, ..rough }
}

fn of_kernels(table: TableSize, options: &FitOptions, posterior: f64) -> StepWork {
    let TableSize { n_rows, n_inputs, n_outputs } = table;
    let (private, ladder, plan) = plan_for(table, options);
    let is_line = n_inputs == 1;
    let state = match options.state {
        Some(state) => state,
        None if is_line => StateKind::Derivative,
        None => StateKind::Value,
    };
    let microseconds =
        |n_shared: usize, private: bool| RELEASE * row_of(n_shared, private, state, n_outputs).microseconds();
    let learning_rows = plan.n_rows.min(n_rows) as f64;
    let compared_rows = plan.compared_rows.min(n_rows) as f64;
    let seconds = |iterations: usize, rows: f64, per_row: f64| {
        1e-6 * rows * per_row * (1.0 + EVALUATIONS * TAKEN * iterations as f64)
    };
    let smoothness = match options.kernel {
        Some(_) => 0.0,
        None => {
            let most = if private { 2 } else { (n_outputs / 12).clamp(2, 8) };
            let n_shared = ladder.iter().copied().filter(|&count| count <= most).max().unwrap_or(ladder[0]);
            let n_pairs = if is_wide(n_outputs, private) { 2.0 } else { 3.0 };
            let iterations = plan.smoothness.optimizer.max_iterations;
            n_pairs * seconds(iterations, learning_rows, microseconds(n_shared, private))
        }
    };
    let n_folds = plan.n_folds.max(1) as f64;
    let iterations = plan.candidate.optimizer.max_iterations;
    let n_starts = plan.candidate_multipliers.len() as f64;
    let trial = |n_shared: usize, private: bool| {
        let masks = if is_wide(n_outputs, private) { OF_MASKS } else { 1.0 };
        let per_row = masks * microseconds(n_shared, private);
        let prediction = 1e-6 * PREDICTION * compared_rows * per_row;
        n_starts * seconds(iterations, learning_rows, per_row) + prediction
    };
    let mut first: Vec<f64> = ladder.iter().map(|&count| trial(count, private)).collect();
    if options.latents.is_none() && (2..=16).contains(&n_outputs) {
        first.push(trial(n_outputs, false));
    }
    let on_first: f64 = first.iter().sum();
    // The better half is of all sizes.
    let n_kept = ((first.len() / 2).max(4)).min(first.len()) as f64;
    let of_one = on_first / first.len() as f64;
    let mut work = StepWork::default();
    work.add(Step::Smoothness, smoothness);
    work.add(Step::Candidates, on_first + (n_folds - 1.0) * n_kept * of_one);
    // One length-scale, no private latents, and transforms.
    let n_variants = match (options.latents.is_some(), plan.n_folds) {
        (true, 0) => 0.0,
        (true, _) | (false, 0) => 1.0,
        (false, _) => 3.0,
    };
    // They start from a model that is known, and about half of them are tried on all folds.
    let share = plan.variant.optimizer.max_iterations as f64 / iterations as f64;
    work.add(Step::Variants, n_variants * share.min(1.0) * (0.5 * n_folds + 0.5) * of_one);
    let is_open = options.method == MethodChoice::Auto && options.structure == StructureOption::Auto;
    let has_pool = is_line
        && is_open
        && plan.n_folds > 0
        && options.combine == CombineChoice::Auto
        && options.latents.is_none()
        && options.private.is_none()
        && options.kernel.is_none();
    let usual = ladder[ladder.len() / 2];
    let final_row = row_of(usual, private, state, n_outputs);
    let of_final = microseconds(usual, private);
    let final_plan = FinalPlan::new(options.budget, n_rows, final_row);
    let whole = n_rows as f64;
    let learned = if is_line { n_rows.min(final_plan.n_rows) as f64 } else { whole };
    let is_sampled = plan.n_rows < n_rows;
    let mut learning = 0.0;
    if has_pool {
        work.add(Step::Regressions, of_regressions(n_outputs, compared_rows, n_folds));
        let iterations = if is_sampled { CONTINUED } else { iterations as f64 };
        work.add(Step::Members, MEMBERS * seconds(iterations as usize, learned, of_final));
        learning += seconds(iterations as usize, learned, of_final);
    } else {
        let (settings, per_row) = (final_plan.settings, of_final);
        learning += plan.final_multipliers.len() as f64
            * seconds(settings.trial_iterations, learned, per_row)
            + 0.6 * seconds(settings.optimizer.max_iterations, learned, per_row);
    }
    let is_dense = !is_line && options.method == MethodChoice::Auto || !options.method.is_message_passing();
    if is_dense {
        let family = Family {
            n_shared: usual,
            shared_kernel: Kernel::Matern32,
            private_kernel: private.then_some(Kernel::Matern12),
            state,
            tied: false,
        };
        let plan = MethodSelectionPlan::new(options.budget);
        let (rows, iterations) = full_scale_learning(options.budget, &family, n_outputs);
        let rows = options.learning_rows.unwrap_or(rows).min(n_rows);
        let tries = if is_open { 4 * plan.settings.optimizer.max_iterations } else { 0 };
        work.add(Step::Variants, full_scale_work(&family, n_outputs, plan.learning_rows.min(n_rows) * tries));
        learning = full_scale_work(&family, n_outputs, rows * iterations);
    }
    let sweeps = 1e-6 * PREDICTION * whole * final_row.microseconds();
    work.add(Step::Learning, learning);
    work.add(Step::Posterior, posterior + sweeps);
    work
}

/// Regressions on other outputs with their residual processes, on all folds.
fn of_regressions(n_outputs: usize, rows: f64, n_folds: f64) -> f64 {
    let outputs = n_outputs as f64;
    let n_rules = match n_outputs {
        1 => 2.0,
        _ if n_outputs > MANY_OUTPUTS => 10.0,
        _ => 8.0,
    };
    // Products of all outputs by row, and the inverse of their covariance in every iteration.
    let per_fold = rows * outputs * (1.0 + 0.005 * outputs) + 6e-3 * outputs.powi(3);
    1e-6 * n_rules * (n_folds + 1.0) * per_fold
}

fn of_time_model(table: TableSize, options: &FitOptions, posterior: f64) -> StepWork {
    let TableSize { n_rows, n_outputs, .. } = table;
    let plan = TimePlan::new(options.budget, n_outputs);
    let rows = plan.n_rows.min(n_rows) as f64;
    let outputs = n_outputs as f64;
    let of_single =
        |iterations: usize| 2.0 * 1e-6 * rows * outputs * OF_SINGLE * EVALUATIONS * iterations as f64;
    let n_scores = match options.budget {
        Budget::Quick => 2.0,
        Budget::Default => 3.0,
        Budget::Thorough => 5.0,
    };
    let candidates = n_scores * of_single(plan.comparison.optimizer.max_iterations)
        + 2.0 * of_single(plan.single.optimizer.max_iterations);
    // A level and an oscillator, and often the harmonics of a season.
    let state_size = match n_outputs <= MOST_WITH_OWN_SEASONS {
        true => 5 * n_outputs,
        false => 3 * n_outputs + 8,
    };
    let joint = RowSize { state_size, n_latents: state_size, n_outputs }.microseconds();
    let learning = 1e-6 * rows * joint * EVALUATIONS * plan.joint_iterations as f64;
    let sweeps = 1e-6 * PREDICTION * n_rows as f64 * joint;
    let mut work = StepWork::default();
    work.add(Step::Candidates, candidates);
    work.add(Step::Learning, learning);
    work.add(Step::Posterior, posterior + sweeps);
    work
}
