//! The page of `catena report`, opened in a browser, shows the values that `catena predict` writes.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

#[path = "../../catena-store/tests/browser/mod.rs"]
mod browser;

use std::path::{Path, PathBuf};
use std::process::Command;

use browser::devtools::Browser;
use browser::readback::{check_output, check_page};
use catena_store::report::{Axis, Bands, InputColumn, OutputSeries, Report, Table, TimeZone};

const N_ROWS: usize = 400;
const OUTPUTS: [&str; 5] = ["inlet", "outlet", "lake", "weir", "mill"];
/// 2024-03-01T00:00.
const BEGIN: f64 = 1_709_251_200.0;

/// A gauge's level, and whether it was read: each gauge failed for 40 hours.
fn level(row: usize, output: usize) -> Option<f64> {
    let (hour, gauge) = (row as f64, output as f64);
    let shaken = ((row * 31 + output * 17) % 23) as f64 / 23.0 - 0.5;
    let level = 20.0 + 4.0 * (hour / 24.0 + 0.3 * gauge).sin() + (hour / 7.0 + gauge).cos() + 0.4 * shaken;
    let failed = 90 + 50 * output..130 + 50 * output;
    (!failed.contains(&row)).then_some(level)
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page_equals_predict");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut table = format!("time,{}\n", OUTPUTS.join(","));
    for row in 0..N_ROWS {
        // Days beyond March are accepted by the parser of this test.
        table += &format!("2024-03-{:02}T{:02}:00", 1 + row / 24, row % 24);
        for output in 0..OUTPUTS.len() {
            table += &level(row, output).map_or(",".to_owned(), |level| format!(",{level}"));
        }
        table.push('\n');
    }
    std::fs::write(folder.join("gauges.csv"), table).unwrap();
    folder
}

fn run(folder: &Path, words: &str) {
    let program =
        Command::new(env!("CARGO_BIN_EXE_catena")).current_dir(folder).args(words.split(' ')).output();
    let output = program.unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A column of a table of numbers.
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let at = lines.next().unwrap().split(',').position(|word| word == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

/// The expected content of the page, from the table that `predict` wrote.
fn expected(folder: &Path) -> Report {
    let table = std::fs::read_to_string(folder.join("predicted.csv")).unwrap();
    let series = |(output, name): (usize, &&str)| OutputSeries {
        name: (*name).to_owned(),
        observed: (0..N_ROWS).map(|row| level(row, output)).collect(),
        mean: column(&table, &format!("{name}_mean")),
        bands: Bands::Gaussian { std: column(&table, &format!("{name}_std")) },
        ..OutputSeries::default()
    };
    let values = (0..N_ROWS).map(|row| BEGIN + 3600.0 * row as f64).collect();
    let table = Table {
        inputs: vec![InputColumn { axis: Axis::time("time", TimeZone::Naive), values }],
        outputs: OUTPUTS.iter().enumerate().map(series).collect(),
        ..Table::default()
    };
    Report { table: Some(table), ..Report::default() }
}

#[test]
fn a_page_shows_what_predict_says() {
    let folder = folder();
    run(&folder, "fit gauges.csv -o gauges.catena --latents 2 --kernel matern32 --budget quick");
    run(&folder, "report gauges.catena -o page.html");
    run(&folder, "predict gauges.catena -o predicted.csv");
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    let expected = expected(&folder);

    let browser = Browser::start("predicted");
    browser.resize(1200, 1900);
    browser.open(&page);
    assert_eq!(check_page(&browser, &expected), Ok(()));
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // Every output must be drawn.
    let blank = page.replacen(
        "strokeMean(context, found, styleValue(\"--accent\"));",
        "if (output.name !== \"lake\") strokeMean(context, found, styleValue(\"--accent\"));",
        1,
    );
    assert_ne!(page, blank, "the sentence to replace is gone");
    browser.open(&blank);
    let found = check_output(&browser, &expected, 2);
    assert!(found.as_ref().is_err_and(|why| why.contains("lake")), "{found:?}");
}
