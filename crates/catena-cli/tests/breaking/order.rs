//! The order of rows and columns changes no answer by more than rounding, the number of threads no bit.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::harness::{Folder, MIXING, NOISE, columns, numbers};
use crate::{Counts, with_model};

/// Predictions by time and output.
fn predictions(folder: &Folder, model: &str) -> BTreeMap<(String, String), f64> {
    let table = columns(folder.run(&format!("predict {model}")).succeeded().text());
    let names = ["temp_mean", "temp_std", "salt_mean", "salt_std"];
    let of = |name: &str| {
        let cells = table["time"].iter().cloned().zip(numbers(&table, name));
        cells.map(|(time, value)| ((time, name.to_owned()), value)).collect::<Vec<_>>()
    };
    names.into_iter().flat_map(of).collect()
}

/// The largest relative difference that another order of the sums can make: the first-order bound n·κ·u of the rounding errors of a
/// Cholesky factorization of the n cells' covariance, where κ is at most its trace over the smallest noise variance.
fn rounding(n_cells: usize) -> f64 {
    let prior = MIXING.iter().map(|weights| weights.iter().map(|weight| weight * weight).sum::<f64>());
    let largest = prior.zip(NOISE).map(|(prior, noise)| prior + noise).fold(0.0, f64::max);
    let condition = n_cells as f64 * largest / NOISE[0].min(NOISE[1]);
    n_cells as f64 * condition * 0.5 * f64::EPSILON
}

fn assert_close(found: &BTreeMap<(String, String), f64>, expected: &BTreeMap<(String, String), f64>) {
    assert_eq!(found.len(), expected.len());
    // A mean and a standard deviation of each cell.
    let rounding = rounding(expected.len() / 2);
    for (cell, value) in expected {
        assert!((found[cell] - value).abs() <= rounding * value.abs(), "{cell:?}: {} {value}", found[cell]);
    }
}

pub(crate) fn run(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("order");
    let expected = predictions(&folder, "m.catena");
    let text = folder.read("waves.csv");
    let mut rows: Vec<&str> = text.lines().collect();
    let header = rows.remove(0);
    for at in (1..rows.len()).rev() {
        rows.swap(at, chance.below(at + 1));
    }
    folder.write("shuffled.csv", format!("{header}\n{}\n", rows.join("\n")));
    folder.run("fit shuffled.csv --no-learn --parameters p.json -o shuffled.catena").succeeded();
    assert_close(&predictions(&folder, "shuffled.catena"), &expected);
    counts.add("orders of rows", 1);
    // The outputs and their parameters in the other order.
    let swap = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        format!("{},{},{},{}\n", cells[0], cells[1], cells[3], cells[2])
    };
    folder.write("swapped.csv", text.lines().map(swap).collect::<String>());
    folder.write(
        "swapped.json",
        r#"{"kernel": "matern32", "mixing": [[0.4, 0.8], [1.5, 0.3]], "length_scales": ["6h", "30h"], "noise": [0.05, 0.02]}"#,
    );
    folder.run("fit swapped.csv --no-learn --parameters swapped.json -o swapped.catena").succeeded();
    assert_close(&predictions(&folder, "swapped.catena"), &expected);
    counts.add("orders of columns", 1);
    let model = |threads: usize| {
        folder
            .run(&format!("fit waves.csv --budget quick --threads {threads} -o t.catena --quiet"))
            .succeeded();
        std::fs::read(folder.0.join("t.catena")).unwrap()
    };
    assert!(model(1) == model(2 + chance.below(3)), "the number of threads changes a model");
    counts.add("numbers of threads", 1);
}
