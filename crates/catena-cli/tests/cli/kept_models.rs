//! Model files and parameter files written by an earlier version still give the same answers.
//!
//! `tests/kept_models/` was written by commit 88bf6ad: for each model `NAME.catena`, its predictions at `NAME.at.csv` (new inputs) and
//! `NAME.rows.csv` (its own rows); for each parameter file `NAME.json`, the table that `impute --no-learn` filled with it.

use std::path::Path;

use crate::harness::{Folder, columns};

/// Model, and the prefix of the table with its new inputs.
const MODELS: &[(&str, &str)] = &[
    ("one-input", "depth"),
    ("linear-mean", "depth"),
    ("given-kernels", "depth"),
    ("long-noise", "long"),
    ("transformed", "flow"),
    ("seasons", "hours"),
    ("given-sums", "hours"),
    ("two-inputs-exact", "field"),
    ("two-inputs-fullscale", "field"),
    ("two-inputs-svgp", "field"),
    ("two-inputs-nngp", "field"),
    ("two-inputs-catena", "field"),
    ("two-inputs-ensemble", "field"),
];

/// Parameters, and the table they fill.
const PARAMETERS: &[(&str, &str)] = &[("kernels", "depth"), ("sums", "hours")];

/// Relative to the largest number of a column.
const TOLERANCE: f64 = 1e-12;

fn kept() -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept_models"))
}

fn assert_same_answers(found: &str, expected: &str, what: &str) {
    let (found, expected) = (columns(found), columns(expected));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    for (name, expected) in &expected {
        let number = |cell: &String| cell.parse::<f64>().ok();
        let largest = expected.iter().filter_map(number).fold(0.0, |most: f64, value| most.max(value.abs()));
        assert_eq!(found[name].len(), expected.len(), "{what}: {name}");
        for (row, (found, expected)) in found[name].iter().zip(expected).enumerate() {
            match (number(found), number(expected)) {
                (Some(found), Some(expected)) => {
                    let error = (found - expected).abs() / largest.max(f64::MIN_POSITIVE);
                    assert!(error <= TOLERANCE, "{what}: {name}, row {row}: {found} instead of {expected}");
                }
                _ => assert_eq!(found, expected, "{what}: {name}, row {row}"),
            }
        }
    }
}

#[test]
fn models_open_to_the_same_answers() {
    let folder = kept();
    for (model, table) in MODELS {
        let at = folder.run(&format!("predict {model}.catena --at {table}-points.csv --interval 0.9"));
        assert_same_answers(at.succeeded().text(), &folder.read(&format!("{model}.at.csv")), model);
        let rows = folder.run(&format!("predict {model}.catena"));
        assert_same_answers(rows.succeeded().text(), &folder.read(&format!("{model}.rows.csv")), model);
    }
}

#[test]
fn scores_of_earlier_files_change_their_sign() {
    // These files have the key `mnll`, the negative of today's `log_score`.
    let folder = kept();
    let model = std::fs::read(folder.0.join("one-input.catena")).unwrap();
    let header = String::from_utf8_lossy(&model);
    assert!(header.contains(r#""mnll":-0.4368142387166134"#) && !header.contains("log_score"));
    let page = folder.run("report one-input.catena -o -").succeeded();
    assert!(page.text().contains(r#""log_score":0.4368142387166134"#), "{}", page.text());
}

#[test]
fn parameters_fill_the_same_cells() {
    let folder = kept();
    for (parameters, table) in PARAMETERS {
        let words =
            format!("impute {table}.csv --no-learn --parameters {parameters}.json --std --digits full -o -");
        let expected = folder.read(&format!("{parameters}.filled.csv"));
        assert_same_answers(folder.run(&words).succeeded().text(), &expected, parameters);
    }
}

#[test]
fn no_model_is_left_out() {
    let names = kept().names();
    let models = names.iter().filter_map(|name| name.strip_suffix(".catena"));
    let listed: Vec<&str> = MODELS.iter().map(|(model, _)| *model).collect();
    assert_eq!(models.filter(|model| !listed.contains(model)).count(), 0);
    assert_eq!(names.iter().filter(|name| name.ends_with(".catena")).count(), listed.len());
}
