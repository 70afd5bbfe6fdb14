//! Covariances of outputs and joint draws at new points: those of the dense process on the structure with the points in it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::structure::{Tree, spanning_tree};
use catena::units::DistanceScale;
use catena_fit::fit::{Event, Fit, FitOptions, GivenParameters, KernelPair, StructureOption, fit};
use catena_fit::method::Quantity;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::{DensePosterior, DensePrior};

const N_ROWS: usize = 14;
const N_DRAWS: usize = 20_000;

fn points(count: usize, dim: usize, seed: u64) -> InputPoints {
    let mut draws = SeededDraws::new(seed);
    let values = (0..count * dim).map(|_| draws.uniform(0.0, 4.0)).collect();
    InputPoints::new(count, dim, values).unwrap()
}

fn cells(n_rows: usize) -> Observations {
    let value = |cell: usize| match cell {
        cell if cell >= 2 * N_ROWS || cell % 3 == 1 => f64::NAN,
        cell => (0.7 * cell as f64).sin(),
    };
    let values: Vec<f64> = (0..2 * n_rows).map(value).collect();
    Observations::from_dense(n_rows, 2, &values).unwrap()
}

fn fitted(inputs: &InputPoints, structure: StructureOption, candidates: Option<InputPoints>) -> Fit {
    let parameters = GivenParameters {
        kernel: "matern32".parse::<KernelPair>().unwrap(),
        mixing: vec![vec![1.0, 0.4], vec![-0.6, 0.9]],
        has_private: false,
        length_scales: vec![1.5, 0.6],
        noise: vec![0.05, 0.1],
    };
    let options = FitOptions {
        parameters: Some(parameters),
        standardize: false,
        structure,
        candidates,
        ..FitOptions::default()
    };
    let table = Dataset::new(inputs.clone(), cells(N_ROWS)).unwrap();
    fit(&table, &options, &|_: Event| ControlFlow::Continue(())).unwrap()
}

fn joined(inputs: &InputPoints, new: &InputPoints) -> InputPoints {
    let values = [inputs.values(), new.values()].concat();
    InputPoints::new(inputs.n_rows() + new.n_rows(), inputs.dim(), values).unwrap()
}

/// Compares covariances at each point, and the moments of draws across all of them.
fn check(fit: &Fit, asked: &InputPoints, judge: &DensePosterior<'_>) {
    let n_cells = 2 * asked.n_rows();
    let row = |point: usize| RowIndex::new(N_ROWS + point);
    let expected: Vec<f64> =
        (0..asked.n_rows()).flat_map(|point| judge.output_covariance(row(point))).collect();
    let found = fit.covariances(asked, Quantity::Function).unwrap();
    assert_close("covariances", 2, &found, &expected, Tolerance::relative(1e-10).with_scale_at_least(1.0));
    let draws = fit.draws(asked, Quantity::Function, N_DRAWS, 3).unwrap();
    let mean: Vec<f64> = (0..asked.n_rows()).flat_map(|point| judge.output_mean(row(point))).collect();
    for a in 0..n_cells {
        for b in 0..n_cells {
            let cross = judge.output_cross_covariance(row(a / 2), row(b / 2))[a % 2 * 2 + b % 2];
            let own = |cell: usize| expected[cell / 2 * 4 + cell % 2 * 3];
            let products = draws.chunks_exact(n_cells).map(|draw| (draw[a] - mean[a]) * (draw[b] - mean[b]));
            let sampled = products.sum::<f64>() / N_DRAWS as f64;
            // Five standard errors of a product of normal numbers.
            let error = ((own(a) * own(b) + cross * cross) / N_DRAWS as f64).sqrt();
            assert!((sampled - cross).abs() < 5.0 * error, "cells {a} and {b}: {sampled} is not {cross}");
        }
    }
}

#[test]
fn on_a_line() {
    let inputs = points(N_ROWS, 1, 1);
    // Before the first row, twice in one gap, and behind the last.
    let asked = InputPoints::from_column(vec![-0.5, 2.01, 2.0, 4.5]).unwrap();
    let fit = fitted(&inputs, StructureOption::Auto, None);
    let all = joined(&inputs, &asked);
    let prior = DensePrior::euclidean(&fit.parts().model, &all, DistanceScale::ONE);
    check(&fit, &asked, &prior.condition(&cells(all.n_rows())).unwrap());
}

#[test]
fn on_a_tree_new_points_are_leaves() {
    let (inputs, asked) = (points(N_ROWS, 2, 2), points(4, 2, 3));
    let fit = fitted(&inputs, StructureOption::Tree, None);
    let tree = spanning_tree(&inputs).unwrap();
    let all = joined(&inputs, &asked);
    let nearest = |point: RowIndex| {
        let near = |a: &RowIndex, b: &RowIndex| {
            all.squared_distance(*a, point).total_cmp(&all.squared_distance(*b, point))
        };
        inputs.rows().min_by(near).unwrap()
    };
    let parent = |row: RowIndex| match row.get() {
        at if at < N_ROWS => tree.parent(tree.position_of(row)).map(|above| tree.row_at(above)),
        _ => Some(nearest(row)),
    };
    let parents: Vec<Option<RowIndex>> = all.rows().map(parent).collect();
    let whole = Tree::from_parents(&all, &parents).unwrap();
    let prior = DensePrior::on_structure(&fit.parts().model, &whole);
    check(&fit, &asked, &prior.condition(&cells(all.n_rows())).unwrap());
}

#[test]
fn candidates_are_inside_the_structure_and_survive_its_parts() {
    let (inputs, candidates) = (points(N_ROWS, 2, 4), points(5, 2, 5));
    let fit = fitted(&inputs, StructureOption::Tree, Some(candidates.clone()));
    let all = joined(&inputs, &candidates);
    let whole = spanning_tree(&all).unwrap();
    let prior = DensePrior::on_structure(&fit.parts().model, &whole);
    let judge = prior.condition(&cells(all.n_rows())).unwrap();
    let expected: Vec<f64> =
        (0..5).flat_map(|point| judge.output_mean(RowIndex::new(N_ROWS + point))).collect();
    let found = fit.predict(&candidates, Quantity::Function).unwrap().means();
    assert_close("means", 2, &found, &expected, Tolerance::relative(1e-10).with_scale_at_least(1.0));
    let again = Fit::from_parts(fit.parts().clone()).unwrap();
    assert_eq!(again.predict(&candidates, Quantity::Function).unwrap().means(), found);
    assert_eq!(fit.predict_rows(Quantity::Function).unwrap().n_rows(), N_ROWS);
}
