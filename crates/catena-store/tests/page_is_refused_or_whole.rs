//! An inconsistent report is an error that names its part; any other becomes one document that requests nothing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod synthetic;

use catena_store::report::{Bands, Report, ReportError};

/// The error after a change to a good report.
fn refused(change: impl Fn(&mut Report)) -> ReportError {
    let mut report = synthetic::time_report(50, 5);
    change(&mut report);
    report.to_html().unwrap_err()
}

#[test]
fn inconsistent_parts_are_named() {
    let error = refused(|report| report.table.as_mut().unwrap().inputs.clear());
    assert_eq!(error, ReportError::NoInput);

    let error = refused(|report| report.table.as_mut().unwrap().outputs[1].mean.truncate(49));
    let name = "water temperature".to_owned();
    assert_eq!(error, ReportError::Length { name, column: "mean", found: 49, expected: 50 });

    let error = refused(|report| report.table.as_mut().unwrap().outputs[4].held_out = vec![None; 3]);
    assert_eq!(
        error,
        ReportError::Length { name: "oxygen".into(), column: "held_out", found: 3, expected: 50 }
    );

    let error = refused(|report| report.table.as_mut().unwrap().inputs[0].values[7] = f64::INFINITY);
    assert_eq!(error, ReportError::NotFinite { name: "time".into(), row: 7, value: f64::INFINITY });

    let error = refused(|report| report.model.as_mut().unwrap().mixing[2].truncate(2));
    assert_eq!(error, ReportError::MatrixShape { matrix: "mixing", rows: 5, columns: 3 });

    let error = refused(|report| report.model.as_mut().unwrap().latents[4].private_to = Some(9));
    assert_eq!(error, ReportError::NoSuchOutput { latent: "private".into(), output: 9, n_outputs: 5 });

    let mut map = synthetic::map_report(20, 2);
    map.structure.as_mut().unwrap().edges[3][1] = 20;
    assert_eq!(map.to_html().unwrap_err(), ReportError::NoSuchRow { edge: 3, row: 20, n_rows: 20 });
}

#[test]
fn the_page_asks_for_nothing_and_is_the_same_every_time() {
    let report = synthetic::time_report(200, 5);
    let page = report.to_html().unwrap();
    assert_eq!(page, report.clone().to_html().unwrap());
    for request in ["src=", "@import", "url(http", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(request), "the page has `{request}`");
    }
    // The only address is the namespace of SVG, which is not fetched.
    assert_eq!(page.matches("http").count(), 1 + page.matches("http-equiv").count());
}

#[test]
fn the_order_of_rows_does_not_matter_along_one_input() {
    let report = synthetic::time_report(300, 5);
    let mut shuffled = report.clone();
    let table = shuffled.table.as_mut().unwrap();
    // 7 and 300 have no common divisor, so this visits every row once.
    let order: Vec<usize> = (0..300).map(|at| (7 * at + 11) % 300).collect();
    fn reordered<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
        if !values.is_empty() {
            *values = order.iter().map(|&row| values[row]).collect();
        }
    }
    reordered(&mut table.inputs[0].values, &order);
    for output in &mut table.outputs {
        reordered(&mut output.observed, &order);
        reordered(&mut output.held_out, &order);
        reordered(&mut output.mean, &order);
        match &mut output.bands {
            Bands::Gaussian { std } => reordered(std, &order),
            Bands::Quantiles { lo50, hi50, lo95, hi95 } => {
                [lo50, hi50, lo95, hi95].into_iter().for_each(|column| reordered(column, &order));
            }
        }
    }
    assert_ne!(report, shuffled);
    assert!(report.to_html().unwrap() == shuffled.to_html().unwrap(), "the pages differ");
}

#[test]
fn files_of_the_page_stay_short() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/page");
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let n_lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(n_lines <= 500, "{} has {n_lines} lines", path.display());
        n_files += 1;
    }
    assert!(n_files > 10);
}
