//! After any edits a live fit says what a fresh fit of the edited table says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::OutputIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc};
use catena_fit::{
    Event, Fit, FitOptions, FitParts, GivenParameters, KernelPair, LiveFit, LiveFitError, MethodChoice,
    PowerTransform, Predictive, Quantity, StructureOption, fit,
};
use catena_testkit::random::SeededDraws;

const N_OUTPUTS: usize = 3;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A table as plain numbers: what a live fit should have made of the one it began with.
#[derive(Clone)]
struct Ledger {
    dim: usize,
    inputs: Vec<f64>,
    values: Vec<f64>,
}

impl Ledger {
    /// Positive values, so that their logarithm may be modelled; a third of the cells missing.
    fn draw(n_rows: usize, dim: usize, draws: &mut SeededDraws) -> Self {
        let inputs: Vec<f64> = (0..n_rows * dim).map(|_| 40.0 + 6.0 * draws.normal()).collect();
        let value =
            |draws: &mut SeededDraws| if draws.chance(0.33) { f64::NAN } else { draws.normal().exp() };
        let values = (0..n_rows * N_OUTPUTS).map(|_| value(draws)).collect();
        Self { dim, inputs, values }
    }

    fn n_rows(&self) -> usize {
        self.inputs.len() / self.dim
    }

    fn point(&self, row: usize) -> Vec<f64> {
        self.inputs[row * self.dim..][..self.dim].to_vec()
    }

    fn table(&self) -> Dataset {
        let inputs = InputPoints::new(self.n_rows(), self.dim, self.inputs.clone()).unwrap();
        Dataset::new(inputs, Observations::from_dense(self.n_rows(), N_OUTPUTS, &self.values).unwrap())
            .unwrap()
    }

    /// The last row with these inputs.
    fn row_at(&self, point: &[f64]) -> Option<usize> {
        (0..self.n_rows()).rev().find(|&row| self.point(row) == point)
    }

    /// One row more, whether there is one at its place or not.
    fn add(&mut self, point: &[f64], values: &[f64]) {
        self.inputs.extend_from_slice(point);
        self.values.extend_from_slice(values);
    }

    fn observe(&mut self, point: &[f64], output: usize, value: f64) {
        let row = self.row_at(point).unwrap_or_else(|| {
            self.add(point, &[f64::NAN; N_OUTPUTS]);
            self.n_rows() - 1
        });
        self.values[row * N_OUTPUTS + output] = value;
    }
}

fn parts(ledger: &Ledger, structure: StructureOption, method: MethodChoice) -> FitParts {
    let kernel = if ledger.dim == 1 { Kernel::Matern32 } else { Kernel::Matern12 };
    let given = GivenParameters {
        kernel: KernelPair { shared: kernel, private: Kernel::Matern12 },
        mixing: vec![
            vec![0.8, -0.5, 0.3, 0.0, 0.0],
            vec![0.3, 0.6, 0.0, 0.4, 0.0],
            vec![0.1, 0.9, 0.0, 0.0, 0.2],
        ],
        has_private: true,
        length_scales: vec![3.0, 9.0, 2.0, 4.0, 1.0],
        noise: vec![0.1, 0.02, 0.3],
    };
    let options = FitOptions { parameters: Some(given), structure, method, ..FitOptions::default() };
    fit(&ledger.table(), &options, &go_on).unwrap().parts().clone()
}

fn close(what: &str, found: f64, expected: f64, scale: f64) {
    let tolerance = 1e-9 * scale.max(expected.abs()).max(1.0);
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

fn same(what: &str, found: &Predictive, expected: &Predictive, row: usize) {
    for output in 0..N_OUTPUTS {
        let at = row * N_OUTPUTS + output;
        close(what, found.mean(output), expected.mean(at), 1.0);
        close(what, found.deviation(output), expected.deviation(at), 1.0);
    }
}

fn check(live: &mut LiveFit, ledger: &Ledger, began_with: &Fit, label: &str) {
    let fresh = Fit::from_parts(FitParts { table: ledger.table(), ..began_with.parts().clone() }).unwrap();
    assert_eq!(live.n_rows(), ledger.n_rows(), "{label}");
    assert_eq!(live.n_observed(), ledger.table().observations().n_observed(), "{label}");
    let evidence = fresh.log_evidence().unwrap();
    close(label, live.log_evidence().unwrap(), evidence, live.n_observed() as f64);
    let rows = fresh.predict_rows(Quantity::Observation).unwrap();
    for row in 0..ledger.n_rows() {
        same(label, &live.marginals_at(&ledger.point(row), Quantity::Observation).unwrap(), &rows, row);
    }
    let mut draws = SeededDraws::new(ledger.n_rows() as u64);
    for _ in 0..10 {
        let place: Vec<f64> = (0..ledger.dim).map(|_| 40.0 + 9.0 * draws.normal()).collect();
        let point = InputPoints::new(1, ledger.dim, place.clone()).unwrap();
        let expected = fresh.predict(&point, Quantity::Function).unwrap();
        same(label, &live.marginals_at(&place, Quantity::Function).unwrap(), &expected, 0);
    }
    let folded = live.to_fit(began_with).unwrap();
    let dense = |fit: &Fit| fit.predict_rows(Quantity::Observation).unwrap().means();
    assert_eq!(dense(&folded), dense(&fresh), "{label}");
    assert_eq!(folded.table(), fresh.table(), "{label}");
}

/// Random edits; above one input new rows lie so far out that a spanning tree joins them as their nearest row does.
fn edit(live: &mut LiveFit, ledger: &mut Ledger, draws: &mut SeededDraws) {
    let (row, output) = (draws.below(ledger.n_rows()), draws.below(N_OUTPUTS));
    let index = OutputIndex::new(output);
    let point = ledger.point(row);
    match draws.below(12) {
        10.. => {
            // Two rows at a place that has one, and one without a cell.
            let value =
                |draws: &mut SeededDraws| if draws.chance(0.3) { f64::NAN } else { draws.normal().exp() };
            let mut more = Ledger { dim: ledger.dim, inputs: vec![], values: vec![] };
            (0..2).for_each(|_| more.add(&point, &[value(draws), value(draws), value(draws)]));
            more.add(&ledger.point(0), &[f64::NAN; N_OUTPUTS]);
            live.add_rows(&more.table()).unwrap();
            ledger.add(&more.inputs, &more.values);
        }
        0..4 => {
            let value = draws.normal().exp();
            ledger.observe(&point, output, value);
            live.observe(&point, index, value).unwrap();
        }
        4..7 => {
            let row = ledger.row_at(&point).unwrap();
            let at = row * N_OUTPUTS + output;
            assert_eq!(live.remove(&point, index).unwrap(), !ledger.values[at].is_nan());
            ledger.values[at] = f64::NAN;
        }
        _ => {
            let far = 100.0 * ledger.n_rows() as f64;
            let place: Vec<f64> = match ledger.dim {
                1 => vec![point[0] + draws.normal()],
                _ => (0..ledger.dim).map(|_| 40.0 + far * (1.0 + draws.uniform(0.0, 1.0))).collect(),
            };
            let cells: Vec<(OutputIndex, f64)> =
                (0..1 + output).map(|output| (OutputIndex::new(output), draws.normal().exp())).collect();
            if draws.chance(0.5) {
                live.observe_row(&place, &cells).unwrap();
            } else {
                // The same as a table, beside a row that says nothing and one that is set to what it is.
                let mut rows = Ledger { dim: ledger.dim, inputs: vec![], values: vec![] };
                rows.add(&[-900.0; 2][..ledger.dim], &[f64::NAN; N_OUTPUTS]);
                let last = ledger.row_at(&point).unwrap();
                rows.add(&point, &ledger.values[last * N_OUTPUTS..][..N_OUTPUTS]);
                cells.iter().for_each(|(output, value)| rows.observe(&place, output.get(), *value));
                assert_eq!(live.observe_rows(&rows.table()).unwrap(), [false, false, true]);
            }
            cells.iter().for_each(|(output, value)| ledger.observe(&place, output.get(), *value));
        }
    }
}

fn run(parts: FitParts, mut ledger: Ledger, seed: u64, label: &str) {
    let fit = Fit::from_parts(parts).unwrap();
    let mut live = LiveFit::new(&fit).unwrap();
    let mut draws = SeededDraws::new(seed);
    check(&mut live, &ledger, &fit, &format!("{label}, before any edit"));
    for round in 0..6 {
        (0..1 + draws.below(8)).for_each(|_| edit(&mut live, &mut ledger, &mut draws));
        check(&mut live, &ledger, &fit, &format!("{label}, round {round}"));
    }
}

#[test]
fn along_one_input() {
    for seed in 0..4 {
        let mut draws = SeededDraws::new(seed);
        let mut ledger = Ledger::draw(60, 1, &mut draws);
        // Several rows at one place.
        ledger.inputs[17] = ledger.inputs[40];
        ledger.inputs[3] = ledger.inputs[40];
        let parts = parts(&ledger, StructureOption::Auto, MethodChoice::Catena);
        run(parts, ledger, seed + 100, &format!("line {seed}"));
    }
}

#[test]
fn with_logarithms_and_sloping_means() {
    let ledger = Ledger::draw(50, 1, &mut SeededDraws::new(9));
    let mut parts = parts(&ledger, StructureOption::Auto, MethodChoice::Catena);
    for transform in &mut parts.preparation.outputs[..2] {
        (transform.power, transform.intercept, transform.scale) = (PowerTransform::Log, 0.3, 1.4);
    }
    parts.preparation.outputs[1].slopes = vec![0.01];
    parts.preparation.outputs[2].slopes = vec![-0.02];
    run(parts, ledger, 109, "logarithms");
}

#[test]
fn on_trees_with_inputs_of_different_weight() {
    for seed in 20..23 {
        let ledger = Ledger::draw(40, 2, &mut SeededDraws::new(seed));
        let mut parts = parts(&ledger, StructureOption::Tree, MethodChoice::Catena);
        parts.preparation.inputs = vec![(40.0, 3.0), (38.0, 11.0)];
        run(parts, ledger, seed + 100, &format!("tree {seed}"));
    }
}

#[test]
fn beside_candidates() {
    let ledger = Ledger::draw(40, 1, &mut SeededDraws::new(31));
    let mut parts = parts(&ledger, StructureOption::Auto, MethodChoice::Catena);
    parts.candidates = Some(InputPoints::from_column(vec![20.0, 41.5, 60.0]).unwrap());
    run(parts, ledger, 131, "candidates");
}

#[test]
fn what_cannot_be_observed_changes_nothing() {
    let mut ledger = Ledger::draw(30, 1, &mut SeededDraws::new(41));
    let mut parts = parts(&ledger, StructureOption::Auto, MethodChoice::Catena);
    parts.preparation.outputs[1].power = PowerTransform::Log;
    let fit = Fit::from_parts(parts).unwrap();
    let mut live = LiveFit::new(&fit).unwrap();
    let (first, second) = (OutputIndex::new(0), OutputIndex::new(1));
    for cells in [
        vec![(first, 1.0), (second, -1.0)],
        vec![(first, 1.0), (second, f64::NAN)],
        vec![(first, f64::INFINITY)],
        vec![(first, 1.0), (OutputIndex::new(3), 1.0)],
    ] {
        live.observe_row(&[39.5], &cells).unwrap_err();
    }
    let mut rows = Ledger { dim: 1, inputs: vec![], values: vec![] };
    rows.add(&ledger.point(2), &[1.0, 1.0, 1.0]);
    rows.add(&[39.5], &[1.0, -1.0, f64::NAN]);
    for refused in [live.observe_rows(&rows.table()).unwrap_err(), live.add_rows(&rows.table()).unwrap_err()]
    {
        assert!(matches!(refused, LiveFitError::AtRow { row, .. } if row.get() == 1), "{refused:?}");
    }
    live.observe(&[f64::NAN], first, 1.0).unwrap_err();
    live.observe(&[1.0, 2.0], first, 1.0).unwrap_err();
    assert!(!live.remove(&[39.5], first).unwrap());
    live.observe_row(&[39.5], &[]).unwrap();
    check(&mut live, &ledger, &fit, "after refusals");
    // −0 and 0 are one place.
    live.observe(&[0.0], first, 2.0).unwrap();
    live.observe(&[-0.0], first, 3.0).unwrap();
    ledger.observe(&[0.0], 0, 3.0);
    check(&mut live, &ledger, &fit, "around zero");
}

#[test]
fn chains_that_take_no_new_points_are_left_as_they_were() {
    let ledger = Ledger::draw(30, 2, &mut SeededDraws::new(61));
    let mut parts = parts(&ledger, StructureOption::Chain, MethodChoice::Catena);
    let latents: Vec<Latent> = parts.model.latents().to_vec();
    let derivative = |latent: &Latent| {
        Latent::new(Kernel::Matern32, StateKind::Derivative, latent.length_scale()).unwrap()
    };
    let model = &parts.model;
    parts.model =
        Lmc::new(latents.iter().map(derivative).collect(), model.mixing().clone(), model.noise().to_vec())
            .unwrap();
    let fit = Fit::from_parts(parts).unwrap();
    let mut live = LiveFit::new(&fit).unwrap();
    assert!(!live.is_line());
    let mut rows = Ledger { dim: 2, inputs: vec![], values: vec![] };
    rows.add(&ledger.point(2), &[1.0, 1.0, 1.0]);
    rows.add(&[39.5, 41.0], &[1.0, 1.0, 1.0]);
    live.observe_rows(&rows.table()).unwrap_err();
    live.add_rows(&rows.table()).unwrap_err();
    check(&mut live, &ledger, &fit, "after refusals");
}

#[test]
fn rivals_and_ensembles_say_that_they_cannot() {
    let ledger = Ledger::draw(30, 2, &mut SeededDraws::new(51));
    for (structure, method) in [
        (StructureOption::Auto, MethodChoice::Exact),
        (StructureOption::Auto, MethodChoice::Nngp { n_neighbors: 5 }),
        (StructureOption::Ensemble { n_chains: 3 }, MethodChoice::Catena),
    ] {
        let fit = Fit::from_parts(parts(&ledger, structure, method)).unwrap();
        assert!(matches!(LiveFit::new(&fit).unwrap_err(), LiveFitError::NotOneStructure { .. }));
    }
}
