//! Learning the chosen family by the evidence of the method that will use it.

use catena::data::Dataset;
use catena::learning::{Family, Learned, MultiStartSettings, OptimizerSettings, Progress};
use catena::model::Lmc;
use catena_methods::MemoryLimit;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;
use catena_methods::nngp::NngpOptions;
use catena_methods::svgp::SvgpOptions;

use super::{Event, FitError, FitMonitor, FitOptions, MethodChoice, Stage};
use crate::contest::final_learning;
use crate::dense::{ExactMethod, NngpMethod, SvgpMethod};
use crate::full_scale::FullScaleMethod;
use crate::ground::{Course, Ground};
use crate::method::Differentiable;
use crate::rows::some_rows;
use crate::selection::{Plan, random_rows};

/// From which starts and for how long the chosen family is learned; `is_own` when what was learned before was learned by this
/// method.
pub(super) fn schedule(
    family: &Family,
    earlier: &[Lmc],
    plan: &Plan,
    (table, options, is_own): (&Dataset, &FitOptions, bool),
) -> (&'static [f64], MultiStartSettings) {
    if !learns_by_full_scale(options, is_own) {
        let needs_start = earlier.is_empty() && plan.final_multipliers.is_empty();
        return (if needs_start { &[1.0] } else { plan.final_multipliers }, plan.race);
    }
    // Its climbs are long: one start is enough where a contest has been.
    let multipliers: &[f64] = if earlier.is_empty() { &[1.0, 3.0] } else { &[] };
    let (_, max_iterations) = final_learning(options.budget, family, table.observations().n_outputs());
    let optimizer = OptimizerSettings { max_iterations, ..plan.race.optimizer };
    (multipliers, MultiStartSettings { trial_iterations: max_iterations / 4, optimizer })
}

/// Learns the chosen family by the method's own evidence.
pub(super) fn learn(
    ground: &Ground,
    course: &Course<'_>,
    (options, is_own): (&FitOptions, bool),
    monitor: &FitMonitor<'_>,
    reasons: &mut Vec<String>,
) -> Result<Learned, FitError> {
    let limit = course.settings.optimizer.max_iterations as f64;
    let watch = |progress: Progress| {
        let done = progress.iteration as f64 / limit;
        let log_posterior = Some(progress.value);
        monitor(Event { stage: Stage::Learning, done, log_posterior })
    };
    let Some(mut method) = rival(options.method, options.seed, options.memory) else {
        return ground.learn(course, &watch);
    };
    let mut learning_rows = options.learning_rows;
    if learns_by_full_scale(options, is_own) {
        if options.method == MethodChoice::Exact {
            // Exact inference costs its cube at every step; the full-scale likelihood is close and does not.
            let size = FullScaleSize::default();
            method = Box::new(FullScaleMethod::new(size, options.seed).with_memory(options.memory));
        }
        let n_outputs = ground.dataset.observations().n_outputs();
        let (most, _) = final_learning(options.budget, &course.family, n_outputs);
        learning_rows = learning_rows.or(Some(most));
    }
    match learning_rows.filter(|&rows| rows < ground.dataset.n_rows()) {
        None => ground.learn_by(method.as_ref(), course, &watch),
        Some(count) => {
            let rows = random_rows(&ground.dataset, count, options.seed);
            reasons.push(format!("parameters were learned from {} random rows", rows.len()));
            let part = Ground::new(some_rows(&ground.dataset, &rows)?, &options.structure.learned_on())?;
            part.learn_by(method.as_ref(), course, &watch)
        }
    }
}

/// Whether parameters are learned by the full-scale likelihood: for that method, and for exact inference if a contest chose it.
fn learns_by_full_scale(options: &FitOptions, is_own: bool) -> bool {
    match options.method {
        MethodChoice::FullScale { .. } => true,
        MethodChoice::Exact => is_own,
        _ => false,
    }
}

/// The rival that was asked for; `None` for message passing.
pub(super) fn rival(method: MethodChoice, seed: u64, memory: MemoryLimit) -> Option<Box<dyn Differentiable>> {
    match method {
        MethodChoice::Auto | MethodChoice::Catena => None,
        MethodChoice::Exact => {
            Some(Box::new(ExactMethod(ExactOptions { memory, ..ExactOptions::default() })))
        }
        MethodChoice::Svgp { n_inducing } => {
            let options = SvgpOptions { memory, ..SvgpOptions::default() };
            Some(Box::new(SvgpMethod { n_inducing, seed, options }))
        }
        MethodChoice::Nngp { n_neighbors } => Some(Box::new(NngpMethod(NngpOptions::new(n_neighbors)))),
        MethodChoice::FullScale { size } => {
            Some(Box::new(FullScaleMethod::new(size.unwrap_or_default(), seed).with_memory(memory)))
        }
    }
}
