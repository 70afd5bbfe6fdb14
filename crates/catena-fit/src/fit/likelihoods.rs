//! Fits with likelihoods that are not Gaussian.
//!
//! The family is chosen on a surrogate table: every cell as the value of the function that fits it alone, such as the logarithm
//! of a count. Its units are those of the function. Parameters are then learned by the bound of the cells themselves.

use catena::data::{Cell, Dataset};
use catena::index::OutputIndex;
use catena::learning::{Learned, StopReason};
use catena::likelihood::{
    CellLikelihood, Likelihood, ObservedCell, OutputLikelihoods, OutputNoise, StudentT, ZeroInflated,
};
use catena::model::Lmc;

use super::describe::SelectionReport;
use super::finish::{LearnedModel, finish};
use super::fitted::Fit;
use super::reasons::stretches_reason;
use crate::cost::{FinalPlan, RowSize};
use crate::error::{FitError, MethodError};
use crate::families::choose;
use crate::folds::in_stretches;
use crate::learn::LearningTask;
use crate::methods::LikelihoodEvidence;
use crate::monitor::{Pace, Reporter, Stage, Watch};
use crate::options::{
    CombineChoice, FitOptions, GroupScaling, LikelihoodChoice, LikelihoodOptions, MeanChoice,
    StructureOption, TransformKind, TransformOptions,
};
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled};

/// Factors of the degrees of freedom and of the slope of log odds that are tried in turn.
const FACTORS: [f64; 4] = [2.0, 0.5, 1.25, 0.8];

/// How often numbers of likelihoods and parameters are learned in turn.
const N_TURNS: usize = 2;

/// Fits a table with these likelihoods of its outputs.
pub(super) fn fit(
    table: &Dataset,
    mut choices: Vec<LikelihoodChoice>,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    check_options(table, options)?;
    check_values(table, &choices)?;
    check_bounds(&choices, options)?;
    let surrogate = surrogate(table, &choices)?;
    let options = &FitOptions {
        likelihoods: LikelihoodOptions::default(),
        transforms: TransformOptions::NONE,
        combine: CombineChoice::None,
        mean: MeanChoice::Constant,
        group_scaling: GroupScaling::Shared,
        ..options.clone()
    };
    let units = InputUnits::Scaled;
    let choice = choose(&surrogate, options, units, watch)?;
    watch.announce(Stage::Structure, 0.0);
    let of_function = Preparation::fitted(&surrogate, units, &choice.transforms)?;
    let on_structure = PreparedTable::of(&surrogate, &of_function, options)?;
    let (earlier, from) = &choice.earlier;
    let mut start = rescaled(earlier, from, &of_function)?;
    let plan = FinalPlan::new(options.budget, table.n_rows(), RowSize::of_model(&start));
    let (most_rows, continued) = (plan.n_rows, plan.continued().settings);
    let mut reasons = vec![];
    let part = in_stretches(&on_structure, most_rows, options.structure)?;
    reasons.extend(stretches_reason(part.as_ref(), table.n_rows()));
    let without_noise = |choices: &[LikelihoodChoice]| {
        let outputs = choices.iter().enumerate().filter(|(_, choice)| choice.has_no_noise());
        outputs.map(|(output, _)| OutputIndex::new(output)).collect::<Vec<_>>()
    };
    let mut turn = 0;
    let learned = loop {
        let preparation = of_function.clone().with_likelihoods(&choices);
        let whole = PreparedTable::of(table, &preparation, options)?;
        let cells = in_stretches(&whole, most_rows, options.structure)?.unwrap_or(whole);
        if turn > 0 {
            choices = improved(&cells, &start, &preparation, choices)?;
        }
        let preparation = preparation.with_likelihoods(&choices);
        let likelihoods = preparation.likelihoods(cells.dataset.n_rows()).map_err(MethodError::from)?;
        let settings = if turn == 0 { choice.settings } else { continued };
        let task = LearningTask::new(choice.family, settings, &on_structure.statistics, options)
            .with_starts(vec![start], &[])
            .with_fixed_noise(without_noise(&choices));
        let found = learn(&task, (&on_structure, &cells), &likelihoods, watch)?;
        start = found.model.clone();
        turn += 1;
        if turn > N_TURNS || watch.is_stopped() || !choices.iter().any(|choice| choice.is_open) {
            break Some(found);
        }
    };
    choices.iter_mut().for_each(|choice| choice.is_open = false);
    let preparation = of_function.with_likelihoods(&choices);
    let prepared = PreparedTable::of(table, &preparation, options)?;
    for (output, choice) in choices.iter().enumerate() {
        reasons.push(format!("{}: likelihood {choice}", options.output_name(output)));
    }
    reasons.push(
        "the number of latents and their kernels were chosen on the values of the function that fit each cell alone"
            .to_owned(),
    );
    let report = SelectionReport { tried: choice.tried, decisions: reasons, ..SelectionReport::default() };
    let model = LearnedModel { preparation, prepared, model: start, learned, report, combination: None };
    finish(table, model, options, watch)
}

/// Refuses what does not know likelihoods yet.
pub(super) fn check_options(table: &Dataset, options: &FitOptions) -> Result<(), FitError> {
    let is_one_structure = !matches!(options.structure, StructureOption::Ensemble { .. });
    let refused = [
        (options.has_parameters(), "learns its parameters; leave --no-learn and parameters out"),
        (
            options.time.is_some(),
            "has no time model; choose a kernel such as matern32 instead of periods and components",
        ),
        (!options.method.is_message_passing(), "needs message passing; leave the method out"),
        (!is_one_structure, "needs one chain or tree; leave the ensemble out"),
        (options.candidates.is_some(), "has no candidate points; leave them out"),
        (table.observations().has_cell_noise(), "has one noise per output; leave the noise columns out"),
        (
            !matches!(
                options.transforms,
                TransformOptions { others: TransformKind::Auto | TransformKind::None, .. }
            ) || !options.transforms.by_name.is_empty(),
            "has outputs as they are; leave the transforms out",
        ),
        (options.mean == MeanChoice::Linear, "has constant means; leave --mean linear out"),
        (
            options.group_scaling == GroupScaling::Own,
            "shares means between groups; leave --group-scaling own out",
        ),
    ];
    match refused.into_iter().find(|(is_requested, _)| *is_requested) {
        Some((_, what)) => Err(FitError::WithLikelihood { what }),
        None => Ok(()),
    }
}

/// Refuses values that the likelihood of their output does not allow.
fn check_values(table: &Dataset, choices: &[LikelihoodChoice]) -> Result<(), FitError> {
    for (row, Cell { output, value, .. }) in table.observations().cells() {
        let choice = &choices[output.get()];
        if let Some(allowed) = choice.likelihood.refusal(value, choice.trials) {
            let likelihood = choice.likelihood.name();
            return Err(FitError::NotOfLikelihood { row, output, value, likelihood, allowed });
        }
    }
    Ok(())
}

/// Refuses bounds of an output whose likelihood does not keep them.
fn check_bounds(choices: &[LikelihoodChoice], options: &FitOptions) -> Result<(), FitError> {
    let bounds = options.bounds_of_outputs(choices.len())?;
    for (output, (choice, bounds)) in choices.iter().zip(bounds).enumerate() {
        if let Some(bounds) = bounds.filter(|bounds| !choice.is_gaussian() && !choice.keeps_within(*bounds)) {
            let (output, bounds) = (options.output_name(output), bounds.to_string());
            return Err(FitError::BoundsWithLikelihood {
                output,
                bounds,
                likelihood: choice.likelihood.name(),
            });
        }
    }
    Ok(())
}

/// The table of the values of the function that fit each cell alone.
fn surrogate(table: &Dataset, choices: &[LikelihoodChoice]) -> Result<Dataset, FitError> {
    let n_outputs = choices.len();
    let alone = OutputLikelihoods::new(choices.iter().map(|choice| OutputNoise::from(choice.likelihood)));
    // A limit cuts off about a third of a deviation.
    let mut moments = vec![(0.0, 0.0, 0.0); n_outputs];
    for (_, cell) in table.observations().cells() {
        let (count, sum, squares) = &mut moments[cell.output.get()];
        (*count, *sum, *squares) = (*count + 1.0, *sum + cell.value, *squares + cell.value * cell.value);
    }
    let noise: Vec<f64> = moments
        .into_iter()
        .map(|(count, sum, squares): (f64, f64, f64)| {
            let variance = 0.1 * (squares - sum * sum / count) / count;
            if variance > 0.0 && variance.is_finite() { variance } else { 1.0 }
        })
        .collect();
    let with_trials = |output: usize| choices[output].trials;
    let observations = table.observations().map_cells(|row, cell| {
        let output = cell.output;
        let exposure = with_trials(output.get());
        let own = ObservedCell { row, output, value: cell.value, noise: noise[output.get()], exposure };
        Ok(Cell { value: alone.outputs()[output.get()].likelihood.start(&own).value, ..cell })
    })?;
    Ok(Dataset::new(table.inputs().clone(), observations)?)
}

/// Learns the parameters of a family from cells in the user's units. The statistics are those of the function.
fn learn(
    task: &LearningTask,
    (of_function, cells): (&PreparedTable, &PreparedTable),
    likelihoods: &OutputLikelihoods,
    watch: &Watch<'_>,
) -> Result<Learned, FitError> {
    let reporter = Reporter::new(watch, Stage::Learning, 0.0);
    reporter.end_within(1.0);
    let limit = task.settings.optimizer.max_iterations;
    let pace = Pace::new(&reporter, 0.0);
    let evidence = || LikelihoodEvidence::new(cells, likelihoods);
    let moments = || of_function.moments();
    let learned = task.learn_by(&of_function.statistics, moments, &evidence, &|progress| {
        reporter.learning(progress, limit)?;
        pace.step(progress)
    })?;
    if learned.stop == StopReason::Interrupted {
        let iterations = learned.path.len().saturating_sub(1);
        watch.cut(format!("learning stopped after {iterations} iterations"));
    }
    Ok(learned)
}

/// The same likelihoods with the open numbers changed as long as that raises the bound of the cells under a model.
fn improved(
    cells: &PreparedTable,
    model: &Lmc,
    preparation: &Preparation,
    mut choices: Vec<LikelihoodChoice>,
) -> Result<Vec<LikelihoodChoice>, FitError> {
    let bound = |choices: &[LikelihoodChoice]| -> Result<f64, FitError> {
        let preparation = preparation.clone().with_likelihoods(choices);
        let likelihoods = preparation.likelihoods(cells.dataset.n_rows()).map_err(MethodError::from)?;
        Ok(LikelihoodEvidence::new(cells, &likelihoods).approximation(model)?.lower_bound)
    };
    let mut best = bound(&choices)?;
    for output in 0..choices.len() {
        if !choices[output].is_open {
            continue;
        }
        for way in ways(&choices[output].likelihood) {
            // Again as long as it helps.
            for _ in 0..MOST_STEPS {
                let Some(next) = way(&choices[output].likelihood) else { break };
                let mut tried = choices.clone();
                tried[output].likelihood = next;
                let Ok(found) = bound(&tried) else { break };
                if found <= best {
                    break;
                }
                (best, choices) = (found, tried);
            }
        }
    }
    Ok(choices)
}

/// How often one change of a likelihood is repeated.
const MOST_STEPS: usize = 6;

/// The range of degrees of freedom: with fewer the noise has no variance, with more it is Gaussian.
const DEGREES: std::ops::RangeInclusive<f64> = 1.0..=200.0;

/// The step of the log odds of zeros.
const STEP_OF_LOG_ODDS: f64 = 0.5;

type Change = Box<dyn Fn(&Likelihood) -> Option<Likelihood>>;

/// The changes of the numbers of a likelihood that are tried.
fn ways(likelihood: &Likelihood) -> Vec<Change> {
    let of_degrees = |factor: f64| -> Change {
        Box::new(move |likelihood| match likelihood {
            Likelihood::StudentT(own) if DEGREES.contains(&(factor * own.degrees())) => {
                StudentT::new(factor * own.degrees()).ok().map(Likelihood::from)
            }
            _ => None,
        })
    };
    let of_zeros = |(offset, slope): (f64, f64)| -> Change {
        Box::new(move |likelihood| match likelihood {
            Likelihood::ZeroInflated(own) => {
                ZeroInflated::new(own.offset() + offset, own.slope() + slope).ok().map(Likelihood::from)
            }
            _ => None,
        })
    };
    let half = STEP_OF_LOG_ODDS;
    match likelihood {
        Likelihood::StudentT(_) => FACTORS.map(of_degrees).into(),
        Likelihood::ZeroInflated(_) => {
            let steps = [(half, 0.0), (-half, 0.0), (0.0, half), (0.0, -half)];
            let fine = steps.map(|(offset, slope)| (0.3 * offset, 0.3 * slope));
            steps.into_iter().chain(fine).map(of_zeros).collect()
        }
        _ => vec![],
    }
}
