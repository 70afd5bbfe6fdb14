//! A race gives the same bits on any number of threads, ties go to the earlier start, and what goes wrong has a type.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Observations, OutputScaling};
use catena::graph::{FactorGraph, GraphError};
use catena::inference::Gradient;
use catena::kernel::Kernel;
use catena::learning::{
    Evidence, Extent, Family, GraphEvidence, Learned, LearningError, MultiStartError, MultiStartSettings,
    OptimizerSettings, OutputMoments, Parameters, Priors, StopReason, multi_start,
};
use catena::model::Lmc;
use catena::structure::{StructureChoice, Tree};
use catena_testkit::learning_tables::recipe;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Case {
    tree: Tree,
    observations: Observations,
    priors: Priors,
    starts: Vec<Lmc>,
    parameters: Parameters,
}

fn case(name: &str, n_rows: usize) -> Case {
    let recipe = recipe(name).with_rows(n_rows);
    let data = recipe.draw().table.dataset().unwrap();
    let observations =
        OutputScaling::standardizing(data.observations()).unwrap().apply(data.observations()).unwrap();
    let choice = StructureChoice::for_dim(data.inputs().dim());
    let tree = choice.build(data.inputs()).unwrap();
    let family = Family {
        n_shared: 2,
        shared_kernel: Kernel::Matern32,
        private_kernel: Some(Kernel::Matern12),
        state: choice.state(),
        tied: false,
    };
    let extent = Extent::of(data.inputs(), &tree);
    let moments = OutputMoments::of(&observations);
    let mut starts: Vec<Lmc> =
        [1.0, 0.3, 3.0].map(|multiplier| family.start(&moments, extent, multiplier).unwrap()).into();
    starts.push(family.random_start(recipe.n_outputs, extent, 4).unwrap());
    let parameters = family.parameters(starts[0].clone(), 1e-6);
    Case { tree, observations, priors: Priors::for_points(extent.spacing, extent.span), starts, parameters }
}

const SHORT: MultiStartSettings = MultiStartSettings {
    trial_iterations: 15,
    optimizer: OptimizerSettings { max_iterations: 40, memory: 20, tolerance: 0.0, patience: 10 },
};

fn run(case: &Case, starts: &[Lmc]) -> Learned {
    let graph = FactorGraph::new(&case.starts[0], &case.tree, &case.observations).unwrap();
    let make = || GraphEvidence::new(graph.clone());
    multi_start(&make, &case.parameters, &case.priors, starts, SHORT, &|_| ControlFlow::Continue(())).unwrap()
}

/// Every number of a result, as bits.
fn bits(learned: &Learned) -> Vec<u64> {
    let model = &learned.model;
    let lengths = model.latents().iter().map(|latent| latent.length_scale().get());
    let noise = model.noise().iter().map(|noise| noise.get());
    let values = [learned.log_evidence, learned.log_posterior].into_iter();
    let lists = learned.path.iter().chain(&learned.trial_values).copied();
    let numbers =
        model.mixing().to_dense().into_iter().chain(lengths).chain(noise).chain(values).chain(lists);
    let counts = [learned.start as u64, learned.n_evaluations as u64];
    numbers.map(f64::to_bits).chain(counts).collect()
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    for (name, n_rows) in [("mostly-missing", 400), ("plane", 200)] {
        let case = case(name, n_rows);
        let on = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let learned = pool.install(|| run(&case, &case.starts));
            assert!(learned.log_posterior.is_finite());
            bits(&learned)
        };
        let alone = on(1);
        assert_eq!(alone, on(2), "{name}");
        assert_eq!(alone, on(1), "{name}, again");
    }
}

#[test]
fn a_race_tells_what_happened() {
    let case = case("mostly-missing", 400);
    let learned = run(&case, &case.starts);
    let best = learned.trial_values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(learned.trial_values.len(), 4);
    assert_eq!(learned.trial_values[learned.start], best);
    assert_eq!(learned.path[SHORT.trial_iterations], best);
    assert_eq!(*learned.path.last().unwrap(), learned.log_posterior);
    assert!(learned.path.is_sorted());
    assert_eq!(learned.stop, StopReason::IterationLimit);
    assert_eq!(learned.path.len(), SHORT.optimizer.max_iterations + 1);
    // The value told is that of the model told.
    let graph = FactorGraph::new(&learned.model, &case.tree, &case.observations).unwrap();
    let again = catena::inference::log_evidence(&graph).unwrap();
    assert!((again - learned.log_evidence).abs() < 1e-9 * again.abs(), "{again}, {}", learned.log_evidence);
    let prior = case.priors.log_density(&learned.model);
    assert!((learned.log_posterior - prior - learned.log_evidence).abs() < 1e-9 * again.abs());
}

#[test]
fn the_better_start_wins_wherever_it_stands_and_ties_go_to_the_earlier() {
    let case = case("mostly-missing", 400);
    let winner = run(&case, &case.starts).start;
    let mut rotated = case.starts.clone();
    rotated.rotate_left(1);
    assert_eq!(run(&case, &rotated).start, (winner + 3) % 4);
    let best = case.starts[winner].clone();
    let twice = run(&case, &[best.clone(), best.clone(), best]);
    assert_eq!(twice.start, 0);
    assert_eq!(twice.trial_values[0].to_bits(), twice.trial_values[2].to_bits());
}

#[test]
fn the_best_so_far_comes_back_when_a_race_is_interrupted() {
    let case = case("mostly-missing", 400);
    let graph = FactorGraph::new(&case.starts[0], &case.tree, &case.observations).unwrap();
    let make = || GraphEvidence::new(graph.clone());
    for after in [0, 30, 70] {
        let told = AtomicUsize::new(0);
        let monitor = |_| {
            let so_far = told.fetch_add(1, Ordering::Relaxed);
            if so_far >= after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let learned =
            multi_start(&make, &case.parameters, &case.priors, &case.starts, SHORT, &monitor).unwrap();
        assert_eq!(learned.stop, StopReason::Interrupted, "after {after}");
        assert_eq!(*learned.path.last().unwrap(), learned.log_posterior);
        assert!(learned.trial_values.iter().all(|heat| *heat <= learned.log_posterior), "after {after}");
    }
}

/// An evidence that refuses some models: those whose first noise is above a bound.
struct Picky<'a> {
    inner: GraphEvidence<'a>,
    bound: f64,
    refusal: Option<LearningError>,
}

impl Evidence for Picky<'_> {
    type Error = LearningError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, LearningError> {
        let mut slopes = self.inner.gradient(model)?;
        if model.noise()[0].get() <= self.bound {
            return Ok(slopes);
        }
        slopes.log_evidence = f64::NAN;
        self.refusal.clone().map_or(Ok(slopes), Err)
    }
}

#[test]
fn a_race_without_a_result_says_why() {
    let case = case("mostly-missing", 200);
    let graph = FactorGraph::new(&case.starts[0], &case.tree, &case.observations).unwrap();
    let refusal = LearningError::Graph(GraphError::OutputCountMismatch { model: 1, observations: 2 });
    let outcome = |bound: f64, refusal: Option<LearningError>, starts: &[Lmc]| {
        let make = || Picky { inner: GraphEvidence::new(graph.clone()), bound, refusal: refusal.clone() };
        multi_start(&make, &case.parameters, &case.priors, starts, SHORT, &|_| ControlFlow::Continue(()))
    };
    assert_eq!(outcome(1.0, None, &[]).unwrap_err(), MultiStartError::NoStart);
    assert_eq!(outcome(0.0, None, &case.starts).unwrap_err(), MultiStartError::NotFinite);
    let failed = outcome(0.0, Some(refusal.clone()), &case.starts).unwrap_err();
    assert_eq!(failed, MultiStartError::NoEvidence(refusal.clone()));
    // A start that fails does not spoil the race for the others.
    let noise_of = |start: &Lmc| start.noise()[0].get();
    let noises: Vec<f64> = case.starts.iter().map(noise_of).collect();
    let bound = 0.5 * (noises[3] + noises[0]);
    let (good, bad): (Vec<usize>, Vec<usize>) = (0..4).partition(|&at| noises[at] <= bound);
    assert!(!good.is_empty() && !bad.is_empty(), "{noises:?}");
    for refusal in [None, Some(refusal)] {
        let learned = outcome(bound, refusal, &case.starts).unwrap();
        assert!(good.contains(&learned.start) && learned.log_posterior.is_finite());
        assert!(bad.iter().all(|&at| !learned.trial_values[at].is_finite()));
        assert!(learned.model.noise()[0].get() <= bound);
    }
}
