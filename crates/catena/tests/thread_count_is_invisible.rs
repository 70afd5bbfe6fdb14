//! A chain swept in stretches gives what the sweep over the whole chain gives, to the same bit on any number of threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::{Form, Gradient, Marginals, Workspace};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Start, Tree, greedy_chain, sorted_chain};
use catena::units::{LengthScale, Quality, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};
use std::num::NonZeroUsize;

/// Relative to the largest number of its kind; sums may cancel to less than their terms, which are of order 1 per cell.
const TOLERANCE: f64 = 1e-12;

/// A chain with its model and cells.
struct Case {
    name: &'static str,
    model: Lmc,
    tree: Tree,
    observations: Observations,
}

fn scale(length: f64) -> LengthScale {
    LengthScale::new(length).unwrap()
}

fn latent(kernel: Kernel, length: f64) -> Latent {
    Latent::new(kernel, StateKind::Derivative, scale(length)).unwrap()
}

/// Three outputs that mix all latents, and a noise of their own.
fn model(latents: Vec<Latent>) -> Lmc {
    let mut random = SeededDraws::new(5);
    let weights = (0..3 * latents.len()).map(|_| 0.3 + random.uniform(0.0, 1.0)).collect();
    let mixing = MixingMatrix::shared(3, latents.len(), weights).unwrap();
    Lmc::new(latents, mixing, [0.1, 0.2, 0.05].map(|noise| Variance::new(noise).unwrap()).into()).unwrap()
}

/// Irregular times in no order, with duplicates.
fn times(n_rows: usize, random: &mut SeededDraws) -> Vec<f64> {
    let mut times: Vec<f64> =
        (0..n_rows).map(|_| (random.uniform(0.0, 1.0) * 4.0 * n_rows as f64).floor() / 4.0).collect();
    times[n_rows / 2] = times[0];
    times
}

/// Waves and noise, three in ten cells missing and nothing at all between two rows in the order of time.
fn observations(inputs: &[f64], hole: std::ops::Range<f64>, random: &mut SeededDraws) -> Observations {
    let span = inputs.iter().fold(0.0_f64, |largest, &time| largest.max(time));
    let mut values = vec![];
    for &time in inputs {
        for output in 0..3 {
            let value = (time / (7.0 + 5.0 * f64::from(output))).sin() + 0.3 * random.normal();
            let is_missing = random.uniform(0.0, 1.0) < 0.3 || hole.contains(&(time / span));
            values.push(if is_missing { f64::NAN } else { value });
        }
    }
    Observations::from_dense(inputs.len(), 3, &values).unwrap()
}

fn case(name: &'static str, latents: Vec<Latent>, n_rows: usize, hole: std::ops::Range<f64>) -> Case {
    let mut random = SeededDraws::new(11);
    let times = times(n_rows, &mut random);
    let observations = observations(&times, hole, &mut random);
    let tree = sorted_chain(&InputPoints::from_column(times).unwrap()).unwrap();
    Case { name, model: model(latents), tree, observations }
}

fn cases() -> Vec<Case> {
    let smooth = || vec![latent(Kernel::Matern32, 6.0), latent(Kernel::Matern32, 20.0)];
    let rough =
        vec![latent(Kernel::Matern12, 4.0), latent(Kernel::Matern12, 40.0), latent(Kernel::Matern12, 9.0)];
    let mixed =
        vec![latent(Kernel::Matern52, 8.0), latent(Kernel::Matern12, 3.0), latent(Kernel::Matern32, 30.0)];
    let quality = Quality::new(4.0).unwrap();
    let pieces = vec![
        Latent::component(Component::Sho { quality }, scale(9.0)),
        Latent::component(Component::RandomWalk, scale(50.0)),
        Latent::component(Component::Cycle { period: scale(24.0) }, scale(300.0)),
        Latent::component(Component::LocalLinearTrend, scale(200.0)),
    ];
    // Hardly anything happens within a stretch, and it knows it: nothing merges.
    let slow = vec![latent(Kernel::Matern32, 1e5), latent(Kernel::Matern12, 1e7)];
    let mut all = vec![
        case("smooth", smooth(), 4000, 0.0..0.0),
        case("rough", rough, 4000, 0.0..0.0),
        case("mixed dimensions", mixed, 3000, 0.2..0.25),
        case("pieces for time", pieces.clone(), 4000, 0.0..0.0),
        case("pieces over a hole", pieces, 4000, 0.3..0.62),
        case("slow", slow, 3000, 0.0..0.0),
        case("smooth over a hole", smooth(), 4000, 0.3..0.62),
        case("nothing observed", smooth(), 2000, -1.0..2.0),
    ];
    all.push(regular_with_private_latents());
    all.push(with_own_noise(case("own noise", smooth(), 3000, 0.5..0.6)));
    all.push(in_the_plane());
    all
}

/// On a grid, in row order, with more latents than outputs.
fn regular_with_private_latents() -> Case {
    let mut random = SeededDraws::new(3);
    let times: Vec<f64> = (0..4000).map(f64::from).collect();
    let observations = observations(&times, 0.0..0.0, &mut random);
    let latents = [5.0, 30.0, 3.0, 4.0, 5.0].map(|length| latent(Kernel::Matern32, length)).into();
    let mixing = MixingMatrix::with_private(3, 2, vec![1.0, 0.5, -0.4, 0.8, 0.3, 0.9], vec![0.4, 0.5, 0.6]);
    let noise = [0.1, 0.2, 0.05].map(|noise| Variance::new(noise).unwrap()).into();
    let model = Lmc::new(latents, mixing.unwrap(), noise).unwrap();
    let tree = sorted_chain(&InputPoints::from_column(times).unwrap()).unwrap();
    Case { name: "private latents", model, tree, observations }
}

fn with_own_noise(case: Case) -> Case {
    let n_cells = case.observations.n_rows() * case.observations.n_outputs();
    let mut random = SeededDraws::new(8);
    let variances: Vec<f64> = (0..n_cells).map(|_| 0.05 + random.uniform(0.0, 1.0)).collect();
    Case { observations: case.observations.with_cell_noise(&variances).unwrap(), ..case }
}

/// A greedy chain through points of the plane, whose value states keep no derivatives.
fn in_the_plane() -> Case {
    let mut random = SeededDraws::new(21);
    let n_rows = 3000;
    let points: Vec<f64> = (0..2 * n_rows).map(|_| 50.0 * random.uniform(0.0, 1.0)).collect();
    let along: Vec<f64> = points.chunks_exact(2).map(|point| point[0] + point[1]).collect();
    let observations = observations(&along, 0.0..0.0, &mut random);
    let tree = greedy_chain(&InputPoints::new(n_rows, 2, points).unwrap(), Start::default()).unwrap();
    let value = |kernel, length| Latent::new(kernel, StateKind::Value, scale(length)).unwrap();
    let model = model(vec![value(Kernel::Matern32, 3.0), value(Kernel::Matern12, 10.0)]);
    Case { name: "in the plane", model, tree, observations }
}

/// All that a workspace finds.
#[derive(PartialEq)]
struct Found {
    log_evidence: f64,
    marginals: Marginals,
    gradient: Gradient,
    edges: Vec<f64>,
}

fn find(case: &Case, mut workspace: Workspace) -> Found {
    let graph = FactorGraph::new(&case.model, &case.tree, &case.observations).unwrap();
    let has_edge_slopes = case.model.latents().iter().all(|latent| latent.kernel().is_some());
    Found {
        log_evidence: workspace.log_evidence(&graph).unwrap(),
        marginals: workspace.marginals(&graph).unwrap(),
        gradient: workspace.gradient(&graph).unwrap(),
        edges: if has_edge_slopes { workspace.gradient_with_edges(&graph).unwrap().1 } else { vec![] },
    }
}

fn chain_sweep() -> Workspace {
    Workspace::with_form(Form::Covariance)
}

fn stretches_of(points: usize) -> Workspace {
    chain_sweep().in_segments_of(NonZeroUsize::new(points).unwrap())
}

fn compare(named: &str, case: &Case, actual: &Found, expected: &Found) {
    let n_cells = case.observations.n_observed().max(1) as f64;
    let close = |what: &str, actual: &[f64], expected: &[f64], tolerance: Tolerance| {
        assert_close(&format!("{what}, {named}"), 1, actual, expected, tolerance);
    };
    let (tolerance, sums) =
        (Tolerance::relative(TOLERANCE), Tolerance::relative(TOLERANCE).with_scale_at_least(n_cells));
    close("evidence", &[actual.log_evidence], &[expected.log_evidence], sums);
    close("evidence of marginals", &[actual.marginals.log_evidence], &[expected.log_evidence], sums);
    close("evidence of gradient", &[actual.gradient.log_evidence], &[expected.log_evidence], sums);
    let predictions = (&actual.marginals.prediction, &expected.marginals.prediction);
    close("means", predictions.0.means(), predictions.1.means(), tolerance);
    close("variances", predictions.0.variances(), predictions.1.variances(), tolerance);
    let (a, b) = (&actual.gradient, &expected.gradient);
    close("mixing", &a.mixing, &b.mixing, sums);
    close("length-scales", &a.length_scales, &b.length_scales, sums);
    close("shapes", &a.shapes, &b.shapes, sums);
    close("noise", &a.noise, &b.noise, sums);
    // One edge's slope is a difference of two running sums.
    close("edges", &actual.edges, &expected.edges, sums);
}

#[test]
fn stretches_equal_the_whole_chain() {
    for case in cases() {
        let expected = find(&case, chain_sweep());
        for length in [700, 1013] {
            compare(
                &format!("{}, stretches of {length}", case.name),
                &case,
                &find(&case, stretches_of(length)),
                &expected,
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for case in cases() {
        let on = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| find(&case, stretches_of(450)))
        };
        let alone = on(1);
        for n_threads in [2, 3, 8] {
            assert!(on(n_threads) == alone, "{} on {n_threads} threads", case.name);
        }
    }
}

#[test]
fn a_long_chain_is_cut_by_itself_and_a_short_one_is_not() {
    let latents = || vec![latent(Kernel::Matern32, 8.0), latent(Kernel::Matern12, 3.0)];
    let long = case("long", latents(), 70_000, 0.4..0.6);
    let (whole, cut) = (find(&long, chain_sweep()), find(&long, chain_sweep().on_all_threads()));
    compare("long", &long, &cut, &whole);
    assert!(cut.gradient.mixing != whole.gradient.mixing, "sums in another order should round otherwise");
    let short = case("short", latents(), 3000, 0.0..0.0);
    assert!(find(&short, chain_sweep()) == find(&short, chain_sweep().on_all_threads()));
}

/// A workspace whose stretches change between sweeps keeps nothing of the earlier ones.
#[test]
fn memory_of_earlier_sweeps_does_not_matter() {
    let cases = cases();
    let mut workspace = stretches_of(450);
    for case in cases.iter().chain(cases.iter().rev()) {
        let graph = FactorGraph::new(&case.model, &case.tree, &case.observations).unwrap();
        assert!(
            workspace.marginals(&graph).unwrap() == stretches_of(450).marginals(&graph).unwrap(),
            "{}",
            case.name
        );
        assert!(
            workspace.gradient(&graph).unwrap() == stretches_of(450).gradient(&graph).unwrap(),
            "{}",
            case.name
        );
    }
}

/// Short stretches of small tables, against the dense process.
#[test]
fn stretches_equal_the_dense_process() {
    let mut n_judged = 0;
    for shape in [Shape::Line, Shape::Chain] {
        for scenario in Scenario::drawn(shape, Limits::NOISY, 4000..4032) {
            let forms = catena_testkit::forms::accurate_forms(&scenario);
            if !forms.contains(&Some(Form::Covariance)) {
                continue;
            }
            n_judged += 1;
            let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
            let dense = dense.condition(&scenario.observations).unwrap();
            let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
            for length in [1, 3, 8] {
                let marginals = stretches_of(length).marginals(&graph).unwrap();
                let named = format!("{} in stretches of {length}", scenario.label);
                let (prediction, tolerance) = (&marginals.prediction, Tolerance::relative(1e-10));
                assert_close(&named, 1, prediction.means(), &dense.means(), tolerance);
                assert_close(&named, 1, prediction.variances(), &dense.variances(), tolerance);
                let tolerance = tolerance.with_scale_at_least(scenario.observations.n_observed() as f64);
                assert_close(&named, 1, &[marginals.log_evidence], &[dense.log_evidence()], tolerance);
            }
        }
    }
    assert!(n_judged >= 20, "{n_judged}");
}
