//! Leave-one-out in closed form equals dense inference on the table without the cell.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, RowIndex};
use catena::kernel::Kernel;
use catena_fit::{
    Event, Fit, FitOptions, GivenParameters, KernelPair, MethodChoice, Quantity, StructureOption, fit,
};

const N_ROWS: usize = 18;
const N_OUTPUTS: usize = 3;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Two shared latents and a private one per output, in the units of the table.
fn options(method: MethodChoice, structure: StructureOption, noise: f64) -> FitOptions {
    FitOptions {
        method,
        structure,
        standardize: false,
        parameters: Some(GivenParameters {
            kernel: KernelPair { shared: Kernel::Matern32, private: Kernel::Matern12 },
            mixing: vec![
                vec![1.0, 0.4, 0.5, 0.0, 0.0],
                vec![-0.7, 0.9, 0.0, 0.6, 0.0],
                vec![0.3, 0.2, 0.0, 0.0, 0.4],
            ],
            has_private: true,
            length_scales: vec![2.0, 0.8, 0.5, 0.7, 1.1],
            noise: vec![noise, 2.0 * noise, 0.5 * noise],
        }),
        ..FitOptions::default()
    }
}

fn values() -> Vec<f64> {
    let value = |cell: usize| if cell % 5 == 2 { f64::NAN } else { (0.7 * cell as f64).sin() * 2.0 };
    (0..N_ROWS * N_OUTPUTS).map(value).collect()
}

fn inputs(dim: usize) -> InputPoints {
    let places: Vec<f64> =
        (0..dim * N_ROWS).map(|at| 4.0 * (at as f64 * 0.618_033_988_749_895).fract()).collect();
    InputPoints::new(N_ROWS, dim, places).unwrap()
}

fn table(inputs: &InputPoints, values: &[f64], has_cell_noise: bool) -> Dataset {
    let mut cells = Observations::from_dense(N_ROWS, N_OUTPUTS, values).unwrap();
    if has_cell_noise {
        let noise: Vec<f64> = (0..values.len()).map(|cell| 0.05 + 0.01 * cell as f64).collect();
        cells = cells.with_cell_noise(&noise).unwrap();
    }
    Dataset::new(inputs.clone(), cells).unwrap()
}

fn fitted(table: &Dataset, options: &FitOptions) -> Fit {
    fit(table, options, &go_on).unwrap()
}

/// Compares every cell with a fit by `reference` without it.
fn assert_equal(inputs: &InputPoints, (own, reference): (&FitOptions, &FitOptions), noise: Option<&[f64]>) {
    let found = fitted(&table(inputs, &values(), noise.is_none()), own).left_out().unwrap();
    let all = values();
    for cell in (0..all.len()).filter(|cell| !all[*cell].is_nan()) {
        let mut without = all.clone();
        without[cell] = f64::NAN;
        let (row, output) = (cell / N_OUTPUTS, cell % N_OUTPUTS);
        let at = inputs.select_rows(&[RowIndex::new(row)]).unwrap();
        let expected = fitted(&table(inputs, &without, noise.is_none()), reference);
        let expected = expected.predict(&at, Quantity::Function).unwrap();
        let own_noise = noise.map_or(0.05 + 0.01 * cell as f64, |noise| noise[output]);
        let deviation = (expected.deviation(output).powi(2) + own_noise).sqrt();
        assert!((found.mean(cell) - expected.mean(output)).abs() < 1e-9, "mean of cell {cell}");
        assert!((found.deviation(cell) - deviation).abs() < 1e-9, "deviation of cell {cell}");
    }
}

#[test]
fn along_a_line_every_cell_is_that_of_dense_inference_without_it() {
    for noise in [0.1, 0.01] {
        let own = options(MethodChoice::Catena, StructureOption::Auto, noise);
        let dense = options(MethodChoice::Exact, StructureOption::Auto, noise);
        let by_output = [noise, 2.0 * noise, 0.5 * noise];
        assert_equal(&inputs(1), (&own, &dense), Some(&by_output));
        assert_equal(&inputs(1), (&dense, &dense), Some(&by_output));
    }
}

#[test]
fn cells_with_their_own_noise_are_left_out_with_it() {
    let own = options(MethodChoice::Catena, StructureOption::Auto, 0.1);
    let dense = options(MethodChoice::Exact, StructureOption::Auto, 0.1);
    assert_equal(&inputs(1), (&own, &dense), None);
}

#[test]
fn on_a_tree_every_cell_is_that_of_the_tree_without_it() {
    let own = options(MethodChoice::Catena, StructureOption::Tree, 0.1);
    assert_equal(&inputs(2), (&own, &own), Some(&[0.1, 0.2, 0.05]));
    let dense = options(MethodChoice::Exact, StructureOption::Auto, 0.1);
    assert_equal(&inputs(2), (&dense, &dense), Some(&[0.1, 0.2, 0.05]));
}

#[test]
fn groups_say_nothing_of_each_other() {
    let groups: Vec<GroupIndex> = (0..N_ROWS).map(|row| GroupIndex::new(row % 2)).collect();
    let grouped = inputs(1).with_groups(groups).unwrap();
    let own = options(MethodChoice::Catena, StructureOption::Auto, 0.1);
    let found = fitted(&table(&grouped, &values(), false), &own).left_out().unwrap();
    for group in 0..2 {
        let rows: Vec<RowIndex> = (0..N_ROWS).filter(|row| row % 2 == group).map(RowIndex::new).collect();
        let whole = table(&inputs(1), &values(), false).select_rows(&rows).unwrap();
        let alone = fitted(&whole, &own).left_out().unwrap();
        for (at, row) in rows.iter().enumerate() {
            for output in 0..N_OUTPUTS {
                let (own, other) = (row.get() * N_OUTPUTS + output, at * N_OUTPUTS + output);
                assert!((found.mean(own) - alone.mean(other)).abs() < 1e-12);
                assert!((found.deviation(own) - alone.deviation(other)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn what_has_no_such_answer_is_refused_with_a_remedy() {
    let refused = |options: &FitOptions| {
        let whole = table(&inputs(2), &values(), false);
        fitted(&whole, options).left_out().unwrap_err().to_string()
    };
    let nearest = options(MethodChoice::Nngp { n_neighbors: 3 }, StructureOption::Auto, 0.1);
    assert_eq!(refused(&nearest), "check needs method catena or exact; leave the method out");
    let chains = options(MethodChoice::Catena, StructureOption::Ensemble { n_chains: 2 }, 0.1);
    assert_eq!(refused(&chains), "check needs one chain or tree, not an ensemble; leave the structure out");
    let silent = options(MethodChoice::Catena, StructureOption::Tree, 1e-14);
    assert!(refused(&silent).ends_with("give a larger noise"));
}
