//! The generated tables have the properties of their parameters.

use super::*;

/// Checks a fraction drawn cell by cell: five standard errors.
fn check_share(what: &str, found: usize, of: usize, expected: f64) {
    let share = found as f64 / of as f64;
    let error = (expected * (1.0 - expected) / of as f64).sqrt();
    assert!((share - expected).abs() <= 5.0 * error, "{what}: {share}, not {expected}");
}

fn is_lost(drawn: &SimulatedTable) -> Vec<bool> {
    let mut lost: Vec<bool> = drawn.table.values.iter().map(|value| value.is_nan()).collect();
    drawn.table.hidden.iter().for_each(|&(at, _)| lost[at] = false);
    lost
}

/// The correlation of two outputs over the rows in which both are observed.
fn correlation(table: &GapTable, a: usize, b: usize) -> f64 {
    let pairs: Vec<(f64, f64)> = table
        .values
        .chunks_exact(table.n_outputs)
        .map(|row| (row[a], row[b]))
        .filter(|(a, b)| !a.is_nan() && !b.is_nan())
        .collect();
    let count = pairs.len() as f64;
    let mean = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / count, sum.1 + pair.1 / count));
    let moment = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|pair| f(pair.0 - mean.0, pair.1 - mean.1)).sum()
    };
    moment(&|a, b| a * b) / (moment(&|a, _| a * a) * moment(&|_, b| b * b)).sqrt()
}

#[test]
fn tables_have_the_sizes_and_rates_of_their_recipes() {
    for recipe in RECIPES {
        let drawn = recipe.draw();
        let table = &drawn.table;
        let (n_rows, n_outputs) = (recipe.n_rows, recipe.n_outputs);
        assert_eq!((table.inputs.n_rows(), table.inputs.dim()), (n_rows, recipe.dim()), "{}", recipe.name);
        assert_eq!((table.n_outputs, table.values.len()), (n_outputs, n_rows * n_outputs));
        assert_eq!(drawn.model.n_outputs(), n_outputs);
        assert_eq!(drawn.model.mixing().n_shared(), recipe.n_shared);
        assert_eq!(drawn.model.mixing().has_private(), recipe.private_share > 0.0);
        let lost = is_lost(&drawn);
        for output in 0..n_outputs {
            let places = || (output..n_rows * n_outputs).step_by(n_outputs);
            let is_poor = recipe.mostly_missing == Some(output);
            let n_hidden = table.hidden.iter().filter(|(at, _)| at % n_outputs == output).count();
            let n_lost = places().filter(|&at| lost[at]).count();
            let what = format!("{}, output {output}", recipe.name);
            match recipe.gaps {
                GapShape::Cells => {
                    check_share(&what, n_lost, n_rows, if is_poor { 0.9 } else { recipe.missing });
                    check_share(&what, n_hidden, n_rows - n_lost, recipe.hidden);
                }
                GapShape::Blocks(length) => {
                    check_share(&what, n_lost, n_rows, recipe.missing);
                    // Blocks cover the requested fraction and less than one block more; missing cells are not held out.
                    let wanted = (recipe.hidden * n_rows as f64).floor();
                    let missed = recipe.missing * wanted;
                    let fewest = wanted - missed - 5.0 * (missed * (1.0 - recipe.missing)).sqrt();
                    let range = fewest..wanted + length as f64;
                    assert!(range.contains(&(n_hidden as f64)), "{what}: {n_hidden}, not in {range:?}");
                }
            }
            // Signal variance as stated.
            let entries = drawn.model.mixing().row_entries(catena::index::OutputIndex::new(output));
            let signal: f64 = entries.map(|(_, weight)| weight * weight).sum();
            let noise = drawn.model.noise()[output].get();
            assert!((noise / signal - recipe.noise).abs() < 1e-12, "{what}");
        }
    }
}

#[test]
fn blocks_are_runs_in_which_nothing_is_seen() {
    for recipe in RECIPES {
        let GapShape::Blocks(length) = recipe.gaps else { continue };
        let table = recipe.draw().table;
        for &(at, _) in &table.hidden {
            let is_blind = |row: usize| table.values[row * table.n_outputs + at % table.n_outputs].is_nan();
            let row = at / table.n_outputs;
            let before = (0..row).rev().take_while(|&row| is_blind(row)).count();
            let after = (row..recipe.n_rows).take_while(|&row| is_blind(row)).count();
            assert!(before + after >= length, "{}: row {row}, run of {}", recipe.name, before + after);
        }
    }
}

#[test]
fn the_same_recipe_gives_the_same_bits() {
    for recipe in RECIPES {
        let bits = |table: &GapTable| -> Vec<u64> {
            let hidden = table.hidden.iter().flat_map(|&(at, value)| [at as u64, value.to_bits()]);
            let values = table.values.iter().chain(table.inputs.values()).map(|value| value.to_bits());
            values.chain(hidden).collect()
        };
        assert_eq!(bits(&recipe.draw().table), bits(&recipe.draw().table), "{}", recipe.name);
    }
}

#[test]
fn coupled_outputs_go_together_and_outputs_apart_do_not() {
    let coupled = recipe("coupled").draw().table;
    let apart = recipe("apart").draw().table;
    for a in 0..coupled.n_outputs {
        for b in 0..a {
            // One latent and 2 % noise leave a correlation of 1/1.02 but for its sign.
            assert!((correlation(&coupled, a, b).abs() - 1.0 / 1.02).abs() < 0.01);
        }
    }
    for a in 0..apart.n_outputs {
        for b in 0..a {
            // 1000 units of a process with length-scale 12 hold some 40 independent values.
            assert!(correlation(&apart, a, b).abs() < 4.0 / 40.0_f64.sqrt());
        }
    }
}
