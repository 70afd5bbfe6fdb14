//! Writes the report: figures, tables as CSV, `README.md` and `report.html`.

mod html;
mod machine;
mod readme;
mod runs;

pub(crate) use runs::Runs;

use std::path::Path;

use crate::chapter::{Chapter, Table};
use crate::error::ExperimentError;
use crate::ledger::write_whole;
use crate::verdict::Comparison;

/// Writes all files of the results.
pub(crate) fn write(folder: &Path, chapters: &[Chapter], runs: &Runs) -> Result<(), ExperimentError> {
    let (figures, tables) = (folder.join("figures"), folder.join("tables"));
    for folder in [&figures, &tables] {
        std::fs::create_dir_all(folder)
            .map_err(|source| ExperimentError::Folder { path: folder.clone(), source })?;
    }
    for chapter in chapters {
        for figure in &chapter.figures {
            write_whole(&figures.join(format!("{}.svg", figure.name)), figure.to_svg().as_bytes())?;
            write_whole(&figures.join(format!("{}.png", figure.name)), &figure.to_png()?)?;
            if let Some(csv) = figure.to_csv() {
                write_whole(&figures.join(format!("{}.csv", figure.name)), csv.as_bytes())?;
            }
        }
        for table in &chapter.tables {
            write_whole(&tables.join(format!("{}.csv", table.name)), table_csv(table).as_bytes())?;
        }
        if !chapter.comparisons.is_empty() {
            let path = tables.join(format!("{}_verdicts.csv", chapter.study.replace('-', "_")));
            write_whole(&path, verdicts_csv(&chapter.comparisons).as_bytes())?;
        }
    }
    write_whole(&folder.join("README.md"), readme::text(chapters, runs).as_bytes())?;
    write_whole(&folder.join("report.html"), html::page(chapters, runs).as_bytes())
}

/// A table with one number per cell: a mean and its standard deviation become two columns.
fn table_csv(table: &Table) -> String {
    let has_spread = |column: usize| table.rows.iter().any(|row| row[column].contains(BETWEEN));
    let split = |row: &Vec<String>, is_header: bool| -> Vec<String> {
        let cells = row.iter().enumerate().flat_map(|(column, text)| match text.split_once(BETWEEN) {
            _ if !has_spread(column) => vec![text.clone()],
            _ if is_header => vec![text.clone(), format!("{text}, deviation")],
            Some((mean, deviation)) => vec![mean.to_owned(), deviation.to_owned()],
            None => vec![text.clone(), String::new()],
        });
        cells.collect()
    };
    let rows: Vec<Vec<String>> = [split(&table.header, true)]
        .into_iter()
        .chain(table.rows.iter().map(|row| split(row, false)))
        .collect();
    lines(rows.iter().map(Vec::as_slice))
}

/// The separator of a mean and its standard deviation.
const BETWEEN: &str = " ± ";

/// Verdicts with all digits.
fn verdicts_csv(rows: &[Comparison]) -> String {
    let header = ["quantity", "paper or demand", "ours", "difference", "rule", "verdict"].map(str::to_owned);
    let digits = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let row = |row: &Comparison| {
        let ours = row.ours.to_string();
        let verdict = row.verdict.word().to_owned();
        [
            row.quantity.clone(),
            digits(row.reference),
            ours,
            digits(row.difference()),
            row.rule.clone(),
            verdict,
        ]
    };
    let rows: Vec<[String; 6]> = rows.iter().map(row).collect();
    lines([&header].into_iter().chain(&rows).map(<[String; 6]>::as_slice))
}

fn lines<'a>(rows: impl Iterator<Item = &'a [String]>) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    rows.map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}

/// A comparison as four cells of text: paper, ours, difference, verdict with its rule.
fn comparison_cells(row: &Comparison) -> [String; 4] {
    use crate::chapter::{number, rounded, shown};
    let difference = row.difference().map_or_else(|| "–".to_owned(), rounded);
    [shown(row.reference), number(row.ours), difference, format!("{} ({})", row.verdict.word(), row.rule)]
}
