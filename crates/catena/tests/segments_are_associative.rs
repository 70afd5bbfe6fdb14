//! Summaries of segments give the whole chain, however it is cut and in whatever order they are joined.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{Position, RowIndex};
use catena::inference::{
    Begins, BlockSweep, Future, Gradient, InferenceError, Past, SegmentError, Summary, Workspace,
    surroundings,
};
use catena::structure::Tree;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};
use std::ops::Range;

/// The rows of a chain from one position to another, with the row before them as an empty one if there is any.
fn cut_out(scenario: &Scenario, positions: Range<usize>) -> (Begins, Tree, Observations) {
    let (begins, first) = match positions.start {
        0 => (Begins::AtRoot, 0),
        start => (Begins::AfterAnother, start - 1),
    };
    let rows: Vec<RowIndex> =
        (first..positions.end).map(|at| scenario.tree.row_at(Position::new(at))).collect();
    let n_outputs = scenario.model.n_outputs();
    let inputs: Vec<f64> = rows.iter().flat_map(|&row| scenario.inputs.point(row).to_vec()).collect();
    let inputs = InputPoints::new(rows.len(), scenario.inputs.dim(), inputs).unwrap();
    let mut values = vec![f64::NAN; rows.len() * n_outputs];
    let mut noise = values.clone();
    for (at, &row) in rows.iter().enumerate().skip(usize::from(begins == Begins::AfterAnother)) {
        for cell in scenario.observations.row(row) {
            values[at * n_outputs + cell.output.get()] = cell.value;
            noise[at * n_outputs + cell.output.get()] = cell.noise_variance.unwrap_or(f64::NAN);
        }
    }
    let mut observations = Observations::from_dense(rows.len(), n_outputs, &values).unwrap();
    if scenario.observations.has_cell_noise() {
        observations = observations.with_cell_noise(&noise).unwrap();
    }
    let order = (0..rows.len()).map(RowIndex::new).collect();
    (begins, Tree::chain(&inputs, order).unwrap(), observations)
}

fn summarise(scenario: &Scenario, positions: Range<usize>) -> Summary {
    if positions.is_empty() {
        return Summary::empty(&scenario.model);
    }
    let (begins, tree, observations) = cut_out(scenario, positions);
    Summary::of(&FactorGraph::new(&scenario.model, &tree, &observations).unwrap(), begins).unwrap()
}

/// Joins neighbors in random order until one is left.
fn join(mut parts: Vec<Summary>, draws: &mut SeededDraws) -> Summary {
    while parts.len() > 1 {
        let at = draws.below(parts.len() - 1);
        let joined = parts[at].then(&parts[at + 1]).unwrap();
        parts.splice(at..at + 2, [joined]);
    }
    parts.remove(0)
}

fn check(shape: Shape, limits: Limits, seeds: Range<u64>) {
    for scenario in Scenario::drawn(shape, limits, seeds) {
        let mut draws = SeededDraws::new(99);
        let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
        let expected = dense.condition(&scenario.observations).unwrap().log_evidence();
        let tolerance =
            Tolerance::relative(1e-11).with_scale_at_least(scenario.observations.n_observed() as f64);
        for n_cuts in [0, 1, 2, 5, 12] {
            let mut cuts: Vec<usize> = (0..n_cuts).map(|_| draws.below(scenario.n_rows() + 1)).collect();
            cuts.extend([0, scenario.n_rows()]);
            cuts.sort_unstable();
            // Every summary goes through its bytes, as it would from one process to another.
            let parts = cuts.windows(2).map(|ends| summarise(&scenario, ends[0]..ends[1]));
            let parts = parts.map(|part| Summary::from_bytes(&part.to_bytes()).unwrap()).collect();
            let whole = join(parts, &mut draws);
            let named = format!("{n_cuts} cuts, {}", scenario.label);
            assert_close(&named, 1, &[whole.log_evidence()], &[expected], tolerance);
        }
    }
}

#[test]
fn on_lines_chains_and_along_time() {
    check(Shape::Line, Limits::MODERATE, 0..32);
    check(Shape::Chain, Limits::MODERATE, 100..132);
    check(Shape::Time, Limits::MODERATE, 200..224);
    check(Shape::Phases, Limits::MODERATE, 240..250);
}

#[test]
fn with_tiny_noise() {
    check(Shape::Line, Limits { noise: (1e-6, 1e-4), ..Limits::MODERATE }, 300..316);
}

#[test]
fn damaged_bytes_and_foreign_segments_are_refused() {
    let scenario = Scenario::draw(Shape::Line, Limits::SMALL, 5);
    let bytes = summarise(&scenario, 0..scenario.n_rows()).to_bytes();
    for cut in 0..bytes.len() {
        assert!(Summary::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Summary::from_bytes(&damaged).is_err(), "byte {at}");
    }
    let mut newer = bytes.clone();
    newer[8] = 2;
    assert_eq!(Summary::from_bytes(&newer), Err(SegmentError::Version { found: 2, known: 1 }));
    let other = (6..40)
        .map(|seed| Scenario::draw(Shape::Line, Limits::MODERATE, seed))
        .find(|other| other.model.n_latents() != scenario.model.n_latents())
        .unwrap();
    let refused = summarise(&scenario, 0..1).then(&summarise(&other, 0..1));
    assert!(matches!(refused, Err(SegmentError::OtherModel { .. })));
}

/// From the summaries of all that lies before and after a block come its posterior and its share of the gradient.
fn check_blocks(shape: Shape, limits: Limits, seeds: Range<u64>) {
    let mut n_checked = 0;
    for scenario in Scenario::drawn(shape, limits, seeds) {
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        if !BlockSweep::suits(&graph) {
            continue;
        }
        let mut draws = SeededDraws::new(7);
        let mut cuts: Vec<usize> = (0..3).map(|_| draws.below(scenario.n_rows() + 1)).collect();
        cuts.extend([0, scenario.n_rows()]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut workspace = Workspace::new();
        let (whole, gradient) = (workspace.marginals(&graph).unwrap(), workspace.gradient(&graph).unwrap());
        let (mut blocks, n_outputs) = (BlockSweep::new(), scenario.model.n_outputs());
        let (mut means, mut variances) = (vec![0.0; whole.prediction.means().len()], vec![]);
        variances.resize(means.len(), 0.0);
        let mut sums = vec![0.0; gradient_as_list(&gradient).len()];
        for ends in cuts.windows(2) {
            let (before, up_to) = (summarise(&scenario, 0..ends[0]), summarise(&scenario, 0..ends[1]));
            let after = summarise(&scenario, ends[1]..scenario.n_rows());
            let past = (ends[0] > 0).then(|| before.past());
            let future = after.future(&up_to).unwrap();
            let (_, tree, observations) = cut_out(&scenario, ends[0]..ends[1]);
            let block = FactorGraph::new(&scenario.model, &tree, &observations).unwrap();
            let (prediction, _) = blocks.backward(&block, past.as_ref(), Some(&future)).unwrap();
            for (at, position) in (ends[0]..ends[1]).enumerate() {
                let row = scenario.tree.row_at(Position::new(position)).get();
                let (from, to) = (at * n_outputs, row * n_outputs);
                means[to..to + n_outputs].copy_from_slice(&prediction.means()[from..from + n_outputs]);
                variances[to..to + n_outputs]
                    .copy_from_slice(&prediction.variances()[from..from + n_outputs]);
            }
            let (share, _) = blocks.gradient(&block, past.as_ref(), Some(&future)).unwrap();
            sums.iter_mut().zip(gradient_as_list(&share)).for_each(|(sum, share)| *sum += share);
        }
        if !blocks.variances_are_accurate() || !blocks.gradient_is_accurate() {
            continue;
        }
        n_checked += 1;
        let tolerance = Tolerance::relative(1e-10);
        let label = &scenario.label;
        assert_close(&format!("means, {label}"), n_outputs, &means, whole.prediction.means(), tolerance);
        let expected = whole.prediction.variances();
        assert_close(&format!("variances, {label}"), n_outputs, &variances, expected, tolerance);
        let tolerance =
            Tolerance::relative(1e-8).with_scale_at_least(scenario.observations.n_observed() as f64);
        assert_close(&format!("gradient, {label}"), 1, &sums, &gradient_as_list(&gradient), tolerance);
    }
    assert!(n_checked > 5, "only {n_checked} scenarios had enough noise");
}

fn gradient_as_list(gradient: &Gradient) -> Vec<f64> {
    let lists = [&gradient.mixing, &gradient.length_scales, &gradient.shapes, &gradient.noise];
    std::iter::once(gradient.log_evidence).chain(lists.into_iter().flatten().copied()).collect()
}

#[test]
fn blocks_between_summaries_know_what_the_whole_knows() {
    check_blocks(Shape::Line, Limits::NOISY, 0..24);
    check_blocks(Shape::Chain, Limits::NOISY, 100..124);
    check_blocks(Shape::Time, Limits::NOISY, 200..224);
    check_blocks(Shape::Phases, Limits::NOISY, 240..256);
    check_blocks(Shape::Line, Limits { rows: 3000, noise: (0.3, 1.0), ..Limits::LONG }, 310..326);
}

/// The scan gives every segment what the summaries of all before and after it give, also after a journey as bytes.
#[test]
fn the_scan_tells_every_segment_of_all_others() {
    for scenario in Scenario::drawn(Shape::Line, Limits::NOISY, 400..412) {
        let mut draws = SeededDraws::new(3);
        let mut cuts: Vec<usize> = (0..4).map(|_| draws.below(scenario.n_rows() + 1)).collect();
        cuts.extend([0, scenario.n_rows()]);
        cuts.sort_unstable();
        cuts.dedup();
        let parts: Vec<Summary> =
            cuts.windows(2).map(|ends| summarise(&scenario, ends[0]..ends[1])).collect();
        let (log_evidence, around) = surroundings(&parts).unwrap();
        let whole = parts.iter().skip(1).fold(parts[0].clone(), |whole, part| whole.then(part).unwrap());
        assert_eq!(log_evidence.to_bits(), whole.log_evidence().to_bits());
        assert!(around[0].past.is_none() && around[parts.len() - 1].future.is_none());
        for (at, around) in around.iter().enumerate() {
            let up_to = |end: usize| {
                parts[..end].iter().fold(Summary::empty(&scenario.model), |all, part| all.then(part).unwrap())
            };
            let after =
                parts[at + 1..].iter().rev().cloned().reduce(|after, part| part.then(&after).unwrap());
            if let Some(past) = &around.past {
                assert_close_lists(past_numbers(past), past_numbers(&up_to(at).past()));
                assert_eq!(Past::from_bytes(&past.to_bytes()).as_ref(), Ok(past));
                assert_eq!(
                    Future::from_bytes(&past.to_bytes()),
                    Err(SegmentError::SomethingElse { expected: "the future of a segment" })
                );
            }
            if let (Some(future), Some(after)) = (&around.future, after) {
                let expected = after.future(&up_to(at + 1)).unwrap();
                assert_close_lists(numbers_of(&future.to_bytes()), numbers_of(&expected.to_bytes()));
                let bytes = future.to_bytes();
                assert_eq!(Future::from_bytes(&bytes).as_ref(), Ok(future));
                for at in 0..bytes.len() {
                    assert!(Future::from_bytes(&bytes[..at]).is_err());
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 0x04;
                    assert!(Future::from_bytes(&damaged).is_err(), "byte {at}");
                }
            }
        }
    }
}

fn numbers_of(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes[16..bytes.len() - 8].as_chunks();
    numbers.iter().map(|&number| f64::from_le_bytes(number)).collect()
}

fn past_numbers(past: &Past) -> Vec<f64> {
    numbers_of(&past.to_bytes())
}

fn assert_close_lists(found: Vec<f64>, expected: Vec<f64>) {
    assert_close("what lies around", 1, &found, &expected, Tolerance::relative(1e-10));
}

/// What another model knows of the past is refused, not misread.
#[test]
fn the_past_of_another_model_is_refused() {
    let drawn = |seed| Scenario::draw(Shape::Line, Limits::NOISY, seed);
    let (one, size) = (drawn(1), |past: &Past| past.to_bytes().len());
    let past = summarise(&one, 0..one.n_rows()).past();
    let other = (2..60).map(drawn).find(|other| size(&summarise(other, 0..1).past()) != size(&past)).unwrap();
    let (_, tree, observations) = cut_out(&other, 1..other.n_rows());
    let graph = FactorGraph::new(&other.model, &tree, &observations).unwrap();
    let refused = BlockSweep::new().forward(&graph, Some(&past));
    assert!(matches!(refused, Err(InferenceError::OtherState { .. })));
}
