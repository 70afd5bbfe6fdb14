//! A table with groups is independent tables with one model: every result equals that of sweeps over one group at a time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{GroupIndex, RowIndex};
use catena::inference::{Begins, BlockSweep, Form, InferenceError, Summary, Workspace};
use catena::live::{LiveError, LivePosterior};
use catena::model::Latent;
use catena::posterior::Posterior;
use catena::structure::{
    Start, StructureError, Tree, chain_ensemble, greedy_chain, sorted_chain, spanning_tree,
};
use catena::units::DistanceScale;
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

const FORMS: [Form; 3] = [Form::Covariance, Form::Information, Form::SquareRoot];

/// A few roundings of sums over at most 40 rows, in units of the largest of the numbers compared. With the noise of these tables every
/// form keeps 12 digits.
const ROUNDING: f64 = 1e-12;

/// Rows of one table in groups that are interleaved in the file.
struct Grouped {
    scenario: Scenario,
    inputs: InputPoints,
    rows_of_group: Vec<Vec<RowIndex>>,
}

impl Grouped {
    fn draw(shape: Shape, seed: u64) -> Self {
        let scenario = Scenario::draw(shape, Limits::NOISY, seed);
        let mut draws = SeededDraws::new(seed);
        let n_groups = 1 + draws.below(4);
        // Numbers of groups need not be consecutive.
        let groups: Vec<GroupIndex> =
            scenario.inputs.rows().map(|_| GroupIndex::new(3 * draws.below(n_groups) + 1)).collect();
        let mut rows_of_group = vec![];
        for group in (0..n_groups).map(|at| GroupIndex::new(3 * at + 1)) {
            let rows: Vec<RowIndex> =
                scenario.inputs.rows().filter(|row| groups[row.get()] == group).collect();
            if !rows.is_empty() {
                rows_of_group.push(rows);
            }
        }
        let inputs = scenario.inputs.clone().with_groups(groups).unwrap();
        Self { scenario, inputs, rows_of_group }
    }

    /// The structure over all groups: a sorted chain, a chain in the order of the file, or a tree in which the parent of a row is an
    /// earlier row of its group.
    fn structure(&self, inputs: &InputPoints) -> Tree {
        let needs_a_chain = self.scenario.model.latents().iter().any(Latent::needs_a_line);
        if (needs_a_chain || self.scenario.tree.is_chain()) && inputs.dim() == 1 {
            return sorted_chain(inputs).unwrap();
        }
        if needs_a_chain {
            let mut order: Vec<RowIndex> = inputs.rows().collect();
            order.sort_by_key(|row| inputs.group(*row));
            return Tree::chain(inputs, order).unwrap();
        }
        let above = |row: RowIndex| {
            let earlier =
                inputs.rows().take(row.get()).filter(|other| inputs.group(*other) == inputs.group(row));
            let earlier: Vec<RowIndex> = earlier.collect();
            earlier.get(earlier.len() / 2).copied()
        };
        Tree::from_parents(inputs, &inputs.rows().map(above).collect::<Vec<_>>()).unwrap()
    }

    /// One group as a table of its own, without groups.
    fn alone(&self, rows: &[RowIndex]) -> (InputPoints, Tree, Observations) {
        let inputs = self.scenario.inputs.select_rows(rows).unwrap();
        let tree = self.structure(&inputs);
        (inputs, tree, self.scenario.observations.select_rows(rows).unwrap())
    }
}

fn assert_near(label: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{label}");
    let scale = expected.iter().fold(1.0_f64, |largest, number| largest.max(number.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= ROUNDING * scale,
            "{label}, {at}: {found}, {expected}, of {scale}"
        );
    }
}

fn add(sum: &mut Vec<f64>, share: &[f64]) {
    sum.resize(share.len(), 0.0);
    sum.iter_mut().zip(share).for_each(|(sum, share)| *sum += share);
}

/// Log evidence and gradient in one row.
fn slopes(workspace: &mut Workspace, graph: &FactorGraph<'_>) -> Vec<f64> {
    let gradient = workspace.gradient(graph).unwrap();
    let parts = [&gradient.mixing, &gradient.length_scales, &gradient.shapes, &gradient.noise];
    parts.into_iter().flatten().copied().chain([gradient.log_evidence]).collect()
}

fn check(shape: Shape, seed: u64) {
    let grouped = Grouped::draw(shape, seed);
    let Grouped { scenario, inputs, rows_of_group } = &grouped;
    let (model, n_outputs) = (&scenario.model, scenario.model.n_outputs());
    let tree = grouped.structure(inputs);
    assert_eq!(tree.n_roots(), rows_of_group.len());
    let graph = FactorGraph::new(model, &tree, &scenario.observations).unwrap();
    for form in FORMS {
        if form == Form::Covariance && !tree.is_chain() {
            continue;
        }
        let label = format!("{}, {shape:?}, {form:?}", scenario.label);
        let mut workspace = Workspace::with_form(form);
        let whole = workspace.marginals(&graph).unwrap();
        let all_slopes = slopes(&mut workspace, &graph);
        let (mut log_evidence, mut slopes_of_groups) = (0.0, vec![]);
        for rows in rows_of_group {
            let (_, tree, observations) = grouped.alone(rows);
            let graph = FactorGraph::new(model, &tree, &observations).unwrap();
            let mut workspace = Workspace::with_form(form);
            let alone = workspace.marginals(&graph).unwrap();
            log_evidence += alone.log_evidence;
            add(&mut slopes_of_groups, &slopes(&mut workspace, &graph));
            let of_rows = |numbers: &[f64]| -> Vec<f64> {
                rows.iter().flat_map(|row| &numbers[row.get() * n_outputs..][..n_outputs]).copied().collect()
            };
            assert_near(&label, &of_rows(whole.prediction.means()), alone.prediction.means());
            assert_near(&label, &of_rows(whole.prediction.variances()), alone.prediction.variances());
        }
        assert_near(&label, &[whole.log_evidence], &[log_evidence]);
        assert_near(&label, &[workspace.log_evidence(&graph).unwrap()], &[log_evidence]);
        assert_near(&label, &all_slopes, &slopes_of_groups);
    }
}

#[test]
fn sweeps_over_groups_equal_sweeps_over_each() {
    for seed in 0..60 {
        for shape in [Shape::Line, Shape::Time, Shape::Phases, Shape::Chain, Shape::Tree] {
            check(shape, seed);
        }
    }
}

#[test]
fn log_evidence_of_groups_equals_that_of_dense_covariances() {
    for seed in 0..20 {
        let grouped = Grouped::draw(Shape::Line, seed);
        let tree = grouped.structure(&grouped.inputs);
        let graph = FactorGraph::new(&grouped.scenario.model, &tree, &grouped.scenario.observations).unwrap();
        let dense = |rows: &Vec<RowIndex>| {
            let (inputs, _, observations) = grouped.alone(rows);
            let prior = DensePrior::euclidean(&grouped.scenario.model, &inputs, DistanceScale::ONE);
            prior.condition(&observations).unwrap().log_evidence()
        };
        let expected: f64 = grouped.rows_of_group.iter().map(dense).sum();
        assert_near(
            &grouped.scenario.label,
            &[catena::inference::log_evidence(&graph).unwrap()],
            &[expected],
        );
    }
}

#[test]
fn one_group_is_no_group_to_the_bit() {
    for seed in 0..20 {
        let scenario = Scenario::draw(Shape::Time, Limits::MODERATE, seed);
        let one = vec![GroupIndex::new(7); scenario.n_rows()];
        let inputs = scenario.inputs.clone().with_groups(one).unwrap();
        let (with, without) = (sorted_chain(&inputs).unwrap(), sorted_chain(&scenario.inputs).unwrap());
        assert_eq!(with, without);
        assert_eq!(with.median_step(), without.median_step());
        for form in FORMS {
            let bits = |tree: &Tree| {
                let graph = FactorGraph::new(&scenario.model, tree, &scenario.observations).unwrap();
                let mut workspace = Workspace::with_form(form);
                (workspace.marginals(&graph).unwrap(), slopes(&mut workspace, &graph))
            };
            assert_eq!(bits(&with), bits(&without));
        }
    }
}

/// Points near, between, before and after the rows of each group, and in a group without rows.
fn new_points(grouped: &Grouped, seed: u64) -> InputPoints {
    let mut draws = SeededDraws::new(seed);
    let (mut values, mut groups) = (vec![], vec![]);
    for rows in &grouped.rows_of_group {
        for reach in [0.0, 1e-3, 0.7, -5.0, 5.0, 1e4] {
            let row = rows[draws.below(rows.len())];
            values.push(grouped.inputs.point(row)[0] + reach);
            groups.push(grouped.inputs.group(row).unwrap());
        }
    }
    values.push(0.5);
    groups.push(GroupIndex::new(1000));
    InputPoints::from_column(values).unwrap().with_groups(groups).unwrap()
}

#[test]
fn new_inputs_join_their_own_group() {
    for seed in 0..40 {
        for shape in [Shape::Line, Shape::Time] {
            let grouped = Grouped::draw(shape, seed);
            let Grouped { scenario, inputs, rows_of_group } = &grouped;
            let n_outputs = scenario.model.n_outputs();
            let tree = grouped.structure(inputs);
            let graph = FactorGraph::new(&scenario.model, &tree, &scenario.observations).unwrap();
            let points = new_points(&grouped, seed);
            for form in FORMS {
                let label = format!("{}, {shape:?}, {form:?}", scenario.label);
                let posterior = Posterior::with_form(&graph, form).unwrap().with_inputs(inputs).unwrap();
                let by_states = posterior.predict_at(&points).unwrap();
                let (by_pass, _) =
                    Workspace::with_form(form).predict_along(&graph, inputs, &points, false).unwrap();
                let mut n_compared = 0;
                for rows in rows_of_group {
                    let group = inputs.group(rows[0]);
                    let own: Vec<RowIndex> =
                        points.rows().filter(|row| points.group(*row) == group).collect();
                    let (table, tree, observations) = grouped.alone(rows);
                    let graph = FactorGraph::new(&scenario.model, &tree, &observations).unwrap();
                    let values = own.iter().map(|row| points.point(*row)[0]).collect();
                    let at = InputPoints::from_column(values).unwrap();
                    let posterior = Posterior::with_form(&graph, form).unwrap().with_inputs(&table).unwrap();
                    let alone = posterior.predict_at(&at).unwrap();
                    for found in [&by_states, &by_pass] {
                        let of_rows = |numbers: &[f64]| -> Vec<f64> {
                            own.iter()
                                .flat_map(|row| &numbers[row.get() * n_outputs..][..n_outputs])
                                .copied()
                                .collect()
                        };
                        assert_near(&label, &of_rows(found.means()), alone.means());
                        assert_near(&label, &of_rows(found.variances()), alone.variances());
                    }
                    n_compared += own.len();
                }
                assert_eq!(n_compared + 1, points.n_rows());
                // A group without rows has the prior, which a table without cells has at its only row.
                let (empty, at) = (
                    Observations::from_dense(1, n_outputs, &vec![f64::NAN; n_outputs]).unwrap(),
                    InputPoints::from_column(vec![0.5]).unwrap(),
                );
                let tree = sorted_chain(&at).unwrap();
                let graph = FactorGraph::new(&scenario.model, &tree, &empty).unwrap();
                let prior = Workspace::with_form(form).marginals(&graph).unwrap().prediction;
                let last = (points.n_rows() - 1) * n_outputs;
                for found in [&by_states, &by_pass] {
                    assert_near(&label, &found.means()[last..], prior.means());
                    assert_near(&label, &found.variances()[last..], prior.variances());
                }
            }
            let without = InputPoints::from_column(vec![0.0]).unwrap();
            let posterior = Posterior::new(&graph).unwrap().with_inputs(inputs).unwrap();
            assert_eq!(posterior.predict_at(&without).unwrap_err(), InferenceError::NoGroups);
        }
    }
}

#[test]
fn summaries_and_blocks_start_afresh_at_each_group() {
    for seed in 0..40 {
        let grouped = Grouped::draw(Shape::Time, seed);
        let tree = grouped.structure(&grouped.inputs);
        let graph = FactorGraph::new(&grouped.scenario.model, &tree, &grouped.scenario.observations).unwrap();
        let expected = Workspace::with_form(Form::SquareRoot).log_evidence(&graph).unwrap();
        let summary = Summary::of(&graph, Begins::AtRoot).unwrap();
        assert_near(&grouped.scenario.label, &[summary.log_evidence()], &[expected]);
        let (log_evidence, _) = BlockSweep::new().forward(&graph, None).unwrap();
        assert_near(&grouped.scenario.label, &[log_evidence], &[expected]);
    }
}

#[test]
fn parallel_segments_of_groups_equal_the_whole() {
    for seed in [2, 10, 18] {
        let grouped = Grouped::draw(Shape::Line, seed);
        let tree = grouped.structure(&grouped.inputs);
        let graph = FactorGraph::new(&grouped.scenario.model, &tree, &grouped.scenario.observations).unwrap();
        let cut =
            Workspace::with_form(Form::Covariance).in_segments_of(std::num::NonZeroUsize::new(7).unwrap());
        for mut workspace in [cut, Workspace::with_form(Form::Covariance)] {
            let expected = slopes(&mut Workspace::with_form(Form::Information), &graph);
            assert_near(&grouped.scenario.label, &slopes(&mut workspace, &graph), &expected);
        }
    }
}

#[test]
fn structures_that_do_not_know_groups_refuse_them() {
    let group = GroupIndex::new;
    let inputs = InputPoints::new(3, 1, vec![0.0, 1.0, 2.0]).unwrap();
    let inputs = inputs.with_groups(vec![group(0), group(1), group(0)]).unwrap();
    let refusals = [
        greedy_chain(&inputs, Start::FirstRow).unwrap_err(),
        spanning_tree(&inputs).unwrap_err(),
        chain_ensemble(&inputs, 2, 0).unwrap_err(),
    ];
    assert!(refusals.iter().all(|error| matches!(error, StructureError::NoGroups { .. })));
    let rows: Vec<RowIndex> = inputs.rows().collect();
    let interleaved = Tree::chain(&inputs, rows.clone()).unwrap_err();
    assert_eq!(interleaved, StructureError::GroupVisitedTwice { row: rows[2] });
    let across = Tree::from_parents(&inputs, &[None, None, Some(rows[1])]).unwrap_err();
    assert_eq!(across, StructureError::ParentInOtherGroup { row: rows[2] });
    let too_few = Tree::from_parents(&inputs, &[None, Some(rows[0]), Some(rows[0])]).unwrap_err();
    assert_eq!(too_few, StructureError::NotOneRoot { found: 1, n_groups: 2 });
    assert!(InputPoints::new(3, 1, vec![0.0; 3]).unwrap().with_groups(vec![group(0)]).is_err());
}

#[test]
fn a_live_posterior_refuses_groups() {
    let grouped = Grouped::draw(Shape::Line, 3);
    let tree = grouped.structure(&grouped.inputs);
    let graph = FactorGraph::new(&grouped.scenario.model, &tree, &grouped.scenario.observations).unwrap();
    let refused = LivePosterior::new(&graph, &grouped.inputs, &grouped.scenario.observations).unwrap_err();
    assert_eq!(refused, LiveError::Groups);
}
