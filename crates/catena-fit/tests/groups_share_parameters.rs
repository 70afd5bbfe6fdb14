//! Groups: independent tables with one model. Fits with groups equal fits of each group with the same parameters, and parameters
//! learned from all groups are better than those of each alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};
use catena::kernel::Kernel;
use catena::units::DistanceScale;
use catena_fit::{
    Budget, CombineChoice, Event, Fit, FitError, FitOptions, GivenParameters, GroupScaling, KernelPair,
    LiveGroups, MethodChoice, Quantity, StructureOption, fit,
};
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, Problem};
use catena_testkit::random::SeededDraws;

const N_OUTPUTS: usize = 2;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Rows of patients in random order: two outputs that follow one curve per patient, at irregular times.
struct Patients {
    times: Vec<f64>,
    groups: Vec<GroupIndex>,
    /// Row-major values with noise; NaN where missing.
    values: Vec<f64>,
    /// Row-major values without noise.
    truth: Vec<f64>,
}

fn patients(n_groups: usize, seed: u64) -> Patients {
    let mut draws = SeededDraws::new(seed);
    let mut rows = vec![];
    for group in 0..n_groups {
        let n_rows = 20 + draws.below(21);
        let mut times: Vec<f64> = (0..n_rows).map(|_| draws.uniform(0.0, 60.0)).collect();
        times.sort_by(f64::total_cmp);
        // A Matérn-1/2 curve of length-scale 15 for both outputs.
        let (mut curve, mut before) = (draws.normal(), 0.0);
        for time in times {
            let kept = (-(time - before) / 15.0_f64).exp();
            (curve, before) = (kept * curve + (1.0 - kept * kept).sqrt() * draws.normal(), time);
            let truth = [curve, 5.0 - 2.0 * curve];
            let value = |at: usize, draws: &mut SeededDraws| {
                if draws.chance(0.3) { f64::NAN } else { truth[at] + 0.4 * draws.normal() }
            };
            let values = [value(0, &mut draws), value(1, &mut draws)];
            rows.push((draws.uniform(0.0, 1.0), time, group, values, truth));
        }
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    Patients {
        times: rows.iter().map(|row| row.1).collect(),
        groups: rows.iter().map(|row| GroupIndex::new(row.2)).collect(),
        values: rows.iter().flat_map(|row| row.3).collect(),
        truth: rows.iter().flat_map(|row| row.4).collect(),
    }
}

impl Patients {
    fn table(&self) -> Dataset {
        let inputs = InputPoints::from_column(self.times.clone()).unwrap();
        let observations = Observations::from_dense(self.times.len(), N_OUTPUTS, &self.values).unwrap();
        Dataset::new(inputs.with_groups(self.groups.clone()).unwrap(), observations).unwrap()
    }

    fn rows_of(&self, group: usize) -> Vec<RowIndex> {
        let rows = (0..self.times.len()).filter(|&row| self.groups[row].get() == group);
        rows.map(RowIndex::new).collect()
    }
}

/// One group as a table without groups.
fn alone(table: &Dataset, rows: &[RowIndex]) -> Dataset {
    let selected = table.select_rows(rows).unwrap();
    let inputs = InputPoints::from_column(selected.inputs().values().to_vec()).unwrap();
    Dataset::new(inputs, selected.observations().clone()).unwrap()
}

fn given() -> FitOptions {
    let kernel = KernelPair { shared: Kernel::Matern32, private: Kernel::Matern12 };
    let parameters = GivenParameters {
        kernel,
        mixing: vec![vec![0.9, 0.4, 0.0], vec![-0.7, 0.0, 0.3]],
        has_private: true,
        length_scales: vec![9.0, 40.0, 15.0],
        noise: vec![0.2, 0.3],
    };
    FitOptions { parameters: Some(parameters), standardize: false, ..FitOptions::default() }
}

/// The numbers of a prediction at rows.
fn numbers(fit: &Fit, at: &InputPoints) -> Vec<f64> {
    let found = fit.predict(at, Quantity::Observation).unwrap();
    (0..at.n_rows() * N_OUTPUTS).flat_map(|cell| [found.mean(cell), found.deviation(cell)]).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found} {expected}");
    }
}

fn in_groups(places: &[f64], group: usize) -> InputPoints {
    let inputs = InputPoints::from_column(places.to_vec()).unwrap();
    inputs.with_groups(vec![GroupIndex::new(group); places.len()]).unwrap()
}

#[test]
fn given_parameters_predict_each_group_as_a_table_of_its_own() {
    let patients = patients(5, 1);
    let table = patients.table();
    let whole = fit(&table, &given(), &go_on).unwrap();
    let rows = whole.predict_rows(Quantity::Function).unwrap();
    let places = [-7.0, 0.0, 13.7, 33.3, 59.0, 80.0];
    let mut log_evidence = 0.0;
    for group in 0..5 {
        let own = patients.rows_of(group);
        let single = fit(&alone(&table, &own), &given(), &go_on).unwrap();
        log_evidence += single.log_evidence().unwrap();
        assert_near(
            &numbers(&whole, &in_groups(&places, group)),
            &numbers(&single, &InputPoints::from_column(places.to_vec()).unwrap()),
        );
        let expected = single.predict_rows(Quantity::Function).unwrap();
        for (at, row) in own.iter().enumerate() {
            for output in 0..N_OUTPUTS {
                let (cell, other) = (row.get() * N_OUTPUTS + output, at * N_OUTPUTS + output);
                assert_near(
                    &[rows.mean(cell), rows.deviation(cell)],
                    &[expected.mean(other), expected.deviation(other)],
                );
            }
        }
    }
    assert_near(&[whole.log_evidence().unwrap() / 100.0], &[log_evidence / 100.0]);
}

#[test]
fn a_group_that_is_unknown_has_the_prior_and_then_its_own_rows() {
    let patients = patients(3, 2);
    let table = patients.table();
    let whole = fit(&table, &given(), &go_on).unwrap();
    let at = in_groups(&[10.0, 12.0], 77);
    // Variances of outputs: weights squared and noise.
    let prior = [0.0, (0.81_f64 + 0.16 + 0.2).sqrt(), 0.0, (0.49_f64 + 0.09 + 0.3).sqrt()];
    assert_near(&numbers(&whole, &at), &prior.repeat(2));
    let later =
        Dataset::new(in_groups(&[11.0], 77), Observations::from_dense(1, 2, &[1.5, f64::NAN]).unwrap())
            .unwrap();
    let updated = whole.with_more_rows(&later).unwrap();
    let single = fit(&alone(&later, &[RowIndex::new(0)]), &given(), &go_on).unwrap();
    let expected = numbers(&single, &InputPoints::from_column(vec![10.0, 12.0]).unwrap());
    assert_near(&numbers(&updated, &at), &expected);
    // The other groups do not change.
    let other = in_groups(&[10.0, 12.0], 1);
    assert_near(&numbers(&updated, &other), &numbers(&whole, &other));
    // A row that the fit has in one group is new in another.
    let known = table.select_rows(&[RowIndex::new(0)]).unwrap();
    assert!(whole.new_rows(&known).unwrap().table.is_none());
    let moved = Dataset::new(in_groups(known.inputs().values(), 78), known.observations().clone()).unwrap();
    assert!(whole.new_rows(&moved).unwrap().table.is_some());
}

#[test]
fn one_group_is_no_group_to_the_bit() {
    let patients = patients(1, 3);
    let table = patients.table();
    let plain = alone(&table, &patients.rows_of(0));
    for budget in [Budget::Quick, Budget::Default] {
        let options = FitOptions { budget, combine: CombineChoice::None, ..FitOptions::default() };
        let (with, without) =
            (fit(&table, &options, &go_on).unwrap(), fit(&plain, &options, &go_on).unwrap());
        assert_eq!(with.parts().model, without.parts().model);
        assert_eq!(with.parts().preparation, without.parts().preparation);
        assert_eq!(
            with.predict_rows(Quantity::Function).unwrap(),
            without.predict_rows(Quantity::Function).unwrap()
        );
        assert_eq!(with.log_evidence().unwrap(), without.log_evidence().unwrap());
    }
}

/// Sixteen groups at the same twelve years: levels of their own, trends and related outputs, and some cells missing.
fn countries() -> Dataset {
    let mut draws = SeededDraws::new(9);
    let (mut years, mut groups, mut values) = (vec![], vec![], vec![]);
    for group in 0..16 {
        let (level, slope) = (draws.normal(), 0.1 + 0.02 * draws.normal());
        for year in 0..12 {
            let common = level + slope * f64::from(year) + 0.05 * draws.normal();
            let cells = [common + 0.02 * draws.normal(), 3.0 - 2.0 * common + 0.02 * draws.normal()];
            years.push(f64::from(year));
            groups.push(GroupIndex::new(group));
            values.extend(cells.map(|cell| if draws.chance(0.15) { f64::NAN } else { cell }));
        }
    }
    let inputs = InputPoints::from_column(years).unwrap().with_groups(groups).unwrap();
    let observations = Observations::from_dense(inputs.n_rows(), N_OUTPUTS, &values).unwrap();
    Dataset::new(inputs, observations).unwrap()
}

/// A pool predicts a row by its group and its place: all groups have rows at the same places.
#[test]
fn a_pool_knows_the_groups_of_rows() {
    let table = countries();
    let pooled = fit(&table, &FitOptions::default(), &go_on).unwrap();
    let members: Vec<&str> =
        pooled.summary().members.iter().map(|member| member.alone.name.as_str()).collect();
    assert!(members.iter().any(|name| name.contains("regression on the other outputs")), "{members:?}");
    let rows = pooled.predict_rows(Quantity::Observation).unwrap();
    let expected: Vec<f64> =
        (0..table.n_rows() * N_OUTPUTS).flat_map(|cell| [rows.mean(cell), rows.deviation(cell)]).collect();
    assert_near(&numbers(&pooled, table.inputs()), &expected);
    let draws = pooled.draws(table.inputs(), Quantity::Function, 3, 5).unwrap();
    assert!(draws.len() == 3 * expected.len() / 2 && draws.iter().all(|value| value.is_finite()));
}

/// Streams have a posterior of each group, which equals that of a fit with the same rows.
#[test]
fn a_live_posterior_of_each_group_equals_the_fit_with_its_rows() {
    let patients = patients(4, 8);
    let table = patients.table();
    let output = OutputIndex::new;
    let own = FitOptions { group_scaling: GroupScaling::Own, budget: Budget::Quick, ..FitOptions::default() };
    for options in [given(), own] {
        let whole = fit(&table, &options, &go_on).unwrap();
        let mut live = LiveGroups::new(&whole).unwrap();
        let new =
            [(2, 61.0, 0, 0.5), (7, 10.0, 1, 4.0), (2, 61.0, 1, 6.0), (0, 70.0, 1, 3.0), (7, 12.0, 0, -0.5)];
        for (group, place, number, value) in new {
            let group = live.group(Some(GroupIndex::new(group)), &[place]).unwrap();
            group.observe(&[place], output(number), value).unwrap();
        }
        // A question about a group without rows leaves none behind.
        live.group(Some(GroupIndex::new(9)), &[5.0]).unwrap();
        let inputs = InputPoints::from_column(vec![61.0, 70.0, 10.0, 12.0]).unwrap();
        let inputs = inputs.with_groups([2, 0, 7, 7].map(GroupIndex::new).to_vec()).unwrap();
        let values = [0.5, 6.0, f64::NAN, 3.0, f64::NAN, 4.0, -0.5, f64::NAN];
        let more = Dataset::new(inputs, Observations::from_dense(4, N_OUTPUTS, &values).unwrap()).unwrap();
        let updated = whole.with_more_rows(&more).unwrap();
        let folded = live.to_fit(&whole).unwrap();
        assert_eq!(folded.table().n_rows(), updated.table().n_rows());
        for (group, place) in [(2, 60.0), (7, 11.0), (0, 65.0), (1, 30.0), (9, 5.0)] {
            let expected = numbers(&updated, &in_groups(&[place], group));
            let of_group = live.group(Some(GroupIndex::new(group)), &[place]).unwrap();
            let found = of_group.marginals_at(&[place], Quantity::Observation).unwrap();
            let found: Vec<f64> =
                (0..N_OUTPUTS).flat_map(|cell| [found.mean(cell), found.deviation(cell)]).collect();
            for found in [found, numbers(&folded, &in_groups(&[place], group))] {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
                }
            }
        }
        assert!(live.group(None, &[1.0]).is_err());
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let patients = patients(8, 4);
    let table = patients.table();
    let sorted: Vec<RowIndex> = (0..8).flat_map(|group| patients.rows_of(group)).collect();
    let options = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    let first = fit(&table, &options, &go_on).unwrap();
    let second = fit(&table.select_rows(&sorted).unwrap(), &options, &go_on).unwrap();
    assert_eq!(first.summary().n_rows, second.summary().n_rows);
    let (a, b) = (first.log_evidence().unwrap(), second.log_evidence().unwrap());
    // The optimizer stops where the log evidence gains less than a thousandth of a nat.
    assert!((a - b).abs() < 0.01, "{a} {b}");
}

/// The root mean squared error of the function at missing cells: values, means and true values.
fn error(found: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let missing = found.filter(|(value, ..)| value.is_nan());
    let squares: Vec<f64> = missing.map(|(_, mean, truth)| (mean - truth).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

#[test]
fn parameters_of_all_groups_beat_one_fit_each() {
    let patients = patients(24, 5);
    let table = patients.table();
    let options = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    let together = fit(&table, &options, &go_on).unwrap();
    assert!(together.summary().decisions.iter().any(|reason| reason.contains("24 groups share")));
    let rows = together.predict_rows(Quantity::Function).unwrap();
    let pooled = error(
        (0..patients.truth.len()).map(|cell| (patients.values[cell], rows.mean(cell), patients.truth[cell])),
    );
    let mut each = vec![];
    for group in 0..24 {
        let own = patients.rows_of(group);
        let single = fit(&alone(&table, &own), &options, &go_on).unwrap();
        let found = single.predict_rows(Quantity::Function).unwrap();
        for (at, row) in own.iter().enumerate() {
            for output in 0..N_OUTPUTS {
                let cell = row.get() * N_OUTPUTS + output;
                each.push((patients.values[cell], found.mean(at * N_OUTPUTS + output), patients.truth[cell]));
            }
        }
    }
    let each = error(each.into_iter());
    assert!(pooled < each, "{pooled} {each}");
    let again =
        together.relearned(&table.select_rows(&patients.rows_of(0)).unwrap(), &options, &go_on).unwrap();
    assert!(again.log_evidence().unwrap().is_finite());
}

#[test]
fn what_does_not_know_groups_refuses_them() {
    let patients = patients(3, 6);
    let table = patients.table();
    let refused = |options: FitOptions| match fit(&table, &options, &go_on) {
        Err(FitError::Groups { what }) => what.to_owned(),
        other => panic!("{other:?}"),
    };
    assert!(
        refused(FitOptions { method: MethodChoice::Exact, ..FitOptions::default() })
            .contains("message passing")
    );
    assert!(
        refused(FitOptions { structure: StructureOption::Tree, ..FitOptions::default() })
            .contains("sorted chain")
    );
    let values = table.inputs().values().iter().flat_map(|&x| [x, 1.0]).collect();
    let plane =
        Dataset::new(table.inputs().with_values(2, values).unwrap(), table.observations().clone()).unwrap();
    assert!(matches!(fit(&plane, &FitOptions::default(), &go_on), Err(FitError::Groups { .. })));
    let whole = fit(&table, &given(), &go_on).unwrap();
    let plain = InputPoints::from_column(vec![1.0]).unwrap();
    let told = whole.predict(&plain, Quantity::Function).unwrap_err().to_string();
    assert!(told.contains("pass the group of each new input"), "{told}");
    let model = &whole.parts().model;
    let problem = Problem::new(model, &table, DistanceScale::ONE).unwrap();
    for error in [
        Exact::fit(problem, ExactOptions::default()).unwrap_err(),
        Nngp::fit(problem, NngpOptions::new(3)).unwrap_err(),
        Svgp::fit(problem, table.inputs(), SvgpOptions::default()).unwrap_err(),
    ] {
        assert!(matches!(error, DenseMethodError::Groups), "{error}");
    }
    assert!(catena_fit::InBlocks::new(whole.parts()).is_err());
    assert!(catena_fit::LiveFit::new(&whole).is_err());
}
