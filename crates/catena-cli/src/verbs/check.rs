//! `check`: finds bad readings in a table.

use std::path::PathBuf;

use catena_fit::{BAND, Checked, FALSE_DISCOVERY_RATE, Finding, FindingKind, check};
use catena_io::Place;
use catena_io::table::{Column, ColumnData, NumberColumn, NumberStyle, Table, TextColumn};
use catena_io::write::{cell_text, write_table};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::arguments::{Columns, ModelOptions, Printing, TableTarget, is_standard_stream};
use crate::console::counted;
use crate::error::CliError;
use crate::learning::{FitRequest, watched};
use crate::scoreboard::{print_json, print_text, summary_json};
use crate::source::{Source, Text, open};

const EXAMPLES: &str = "\
Examples:
  catena check sensors.csv
  catena check sensors.csv -o findings.csv
  catena check sensors.csv --budget quick --json
  catena check log.csv --long time,sensor,value
  catena check stations.csv --group station           each station is a table of its own with one model

Every observed cell is compared with what all other cells say of it: an expected value and a band of 95 %. `deviation` is in standard \
deviations, and `p-value` is the probability that an ordinary cell of this table deviates as much. Of two hundred findings about one is \
expected to be false. Kinds: a spike is a single cell; a stretch is several cells in a row; a stuck sensor repeats a value for longer \
than its other repetitions explain; a step or a drift is an output that moves against the others. The model is learned without the \
cells that are found. Rows without findings are not listed, and a table without findings is no error.";

/// The heading of a column of the list: its name, and whether it holds numbers.
const HEADINGS: [(&str, bool); 7] = [
    ("kind", false),
    ("cells", true),
    ("value", true),
    ("expected", true),
    ("band", false),
    ("deviation", true),
    ("p-value", true),
];

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to check.
    data: PathBuf,
    /// Also write the findings as a table, in the format of its suffix; `-` is standard output.
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Checks a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model)?;
    let target = match output {
        None => None,
        Some(path) => {
            let target = TableTarget { output: path.clone(), safe_headers: false };
            Some(target.checked(columns.format, *printing, &[data])?)
        }
    };
    let source = open(data, columns, (Text::Gone, &arguments.model), console)?;
    let Some(options) = request.for_table(&source.frame, "check", *printing)? else { return Ok(()) };
    let table = source.dataset()?;
    let n_cells = table.observations().n_observed();
    let n_learned = (!options.has_parameters()).then_some(n_cells);
    let checked = watched(n_learned, console, |monitor| check(&table, &options, monitor));
    let checked = checked.map_err(|error| source.in_user_terms(error))?;
    if !checked.is_settled {
        console.say("warning: findings still changed at the last round; those near the limit may be others with another --seed");
    }
    if let Some(target) = &target {
        write_table(&findings_table(&checked.findings, &source), target)?;
    }
    console.say(format!(
        "checked {}: {}",
        counted(n_cells, "observed cell"),
        counts(&checked.findings).unwrap_or_else(|| "no findings".to_owned())
    ));
    if printing.json {
        return print_json(&to_json(&checked, n_cells, &source));
    }
    if output.as_deref().is_some_and(is_standard_stream) || checked.findings.is_empty() {
        return Ok(());
    }
    print_text(&to_text(&checked.findings, &source))
}

/// The number of findings of each kind; `None` without findings.
pub(crate) fn counts(findings: &[Finding]) -> Option<String> {
    let kinds = [
        (FindingKind::Spike, "spikes"),
        (FindingKind::Stretch, "stretches"),
        (FindingKind::Stuck, "stuck sensors"),
        (FindingKind::Step, "steps"),
        (FindingKind::Drift, "drifts"),
    ];
    let count = |kind: FindingKind| findings.iter().filter(|finding| finding.kind == kind).count();
    let texts: Vec<String> = kinds
        .iter()
        .filter_map(|(kind, several)| match count(*kind) {
            0 => None,
            1 if *kind == FindingKind::Stuck => Some("1 stuck sensor".to_owned()),
            1 => Some(format!("1 {}", kind.name())),
            count => Some(format!("{count} {several}")),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The first and the last row of the table that a finding is in.
fn ends(finding: &Finding, source: &Source) -> (Place, Place) {
    let place = |row: usize| source.place_of(row, Some(finding.output.get()));
    finding.ends().map_or((place(0), place(0)), |(first, last)| (place(first.get()), place(last.get())))
}

fn number_of(place: Place) -> u64 {
    match place {
        Place::Line(number) | Place::Row(number) => number,
    }
}

fn first_rows(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(|finding| finding.rows.first().map_or(0, |row| row.get())).collect()
}

/// The inputs and groups of the first row of every finding.
fn places(findings: &[Finding], source: &Source) -> Vec<Column> {
    let rows = first_rows(findings);
    let picked = |values: &[f64]| rows.iter().map(|row| values[*row]).collect::<Vec<f64>>();
    let inputs = source.frame.inputs.iter().map(|input| input.column_of(&picked(&input.values)));
    let groups = source.frame.groups.iter().flat_map(|groups| {
        let own: Vec<u32> = rows.iter().map(|row| groups.of_row[*row]).collect();
        groups.columns_of(&own)
    });
    inputs.chain(groups).collect()
}

/// A row for each finding.
fn findings_table(findings: &[Finding], source: &Source) -> Table {
    let whole = |name: &str, values: Vec<f64>| {
        Column::new(name, ColumnData::Number(NumberColumn { values, style: NumberStyle::Integer }))
    };
    let text = |name: &str, values: Vec<&str>| {
        Column::new(name, ColumnData::Text(values.into_iter().map(Some).collect::<TextColumn>()))
    };
    let numbers = |name: &str, number: &dyn Fn(&Finding) -> f64| {
        Column::numbers(name, findings.iter().map(number).collect())
    };
    let ends: Vec<(Place, Place)> = findings.iter().map(|finding| ends(finding, source)).collect();
    let is_text = matches!(source.place_of(0, None), Place::Line(_));
    let (first, last) = if is_text { ("line", "last_line") } else { ("row", "last_row") };
    let places = places(findings, source);
    // An input may have the name of a column of findings.
    let free = |name: &str| {
        let is_taken = places.iter().any(|column| column.name() == name);
        if is_taken { format!("finding_{name}") } else { name.to_owned() }
    };
    let mut columns = vec![whole(&free(first), ends.iter().map(|ends| number_of(ends.0) as f64).collect())];
    let names = findings.iter().map(|finding| source.frame.outputs[finding.output.get()].as_str());
    let own = [
        text(&free("column"), names.collect()),
        text(&free("kind"), findings.iter().map(|finding| finding.kind.name()).collect()),
        whole(&free("cells"), findings.iter().map(|finding| finding.rows.len() as f64).collect()),
        whole(&free(last), ends.iter().map(|ends| number_of(ends.1) as f64).collect()),
        numbers(&free("value"), &|finding| finding.value),
        numbers(&free("expected"), &|finding| finding.expected),
        numbers(&free("lower"), &|finding| finding.lower),
        numbers(&free("upper"), &|finding| finding.upper),
        numbers(&free("deviation"), &|finding| finding.deviation),
        numbers(&free("p_value"), &|finding| finding.p_value),
    ];
    columns.extend(places);
    columns.extend(own);
    Table::new(columns)
}

fn to_json(checked: &Checked, n_cells: usize, source: &Source) -> Value {
    let table = findings_table(&checked.findings, source);
    let finding = |row: usize| -> Value {
        let cell = |column: &Column| match column.data() {
            ColumnData::Number(numbers) if numbers.style == NumberStyle::Integer => {
                json!(numbers.values[row] as i64)
            }
            ColumnData::Number(numbers) => json!(numbers.values[row]),
            data => json!(cell_text(data, row)),
        };
        let entries = table.columns().iter().map(|column| (column.name().to_owned(), cell(column)));
        Value::Object(entries.collect::<Map<String, Value>>())
    };
    json!({
        "cells": n_cells,
        "questions": checked.n_questions,
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "band": BAND,
        "settled": checked.is_settled,
        "findings": (0..checked.findings.len()).map(finding).collect::<Vec<Value>>(),
        "summary": summary_json(checked.fit.summary()),
    })
}

/// A number with as many digits as help to compare it.
fn short(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{number:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{number:.3e}")
    }
}

/// The findings as aligned columns.
fn to_text(findings: &[Finding], source: &Source) -> String {
    let place_columns = places(findings, source);
    let mut rows: Vec<Vec<String>> = vec![];
    let mut heading = vec!["where".to_owned()];
    heading.extend(place_columns.iter().map(|column| column.name().to_owned()));
    heading.push("column".to_owned());
    heading.extend(HEADINGS.iter().map(|(name, _)| (*name).to_owned()));
    rows.push(heading);
    for (at, finding) in findings.iter().enumerate() {
        let (first, last) = ends(finding, source);
        let place = if first == last { first.to_string() } else { format!("{first}-{}", number_of(last)) };
        let mut row = vec![place];
        row.extend(place_columns.iter().map(|column| cell_text(column.data(), at)));
        row.push(source.frame.outputs[finding.output.get()].clone());
        row.extend([
            finding.kind.name().to_owned(),
            finding.rows.len().to_string(),
            short(finding.value),
            short(finding.expected),
            format!("{} to {}", short(finding.lower), short(finding.upper)),
            format!("{:+.1}", finding.deviation),
            format!("{:.0e}", finding.p_value),
        ]);
        rows.push(row);
    }
    let n_columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let is_number = |column: usize| {
        let own = (column + HEADINGS.len()).checked_sub(n_columns);
        own.is_some_and(|own| HEADINGS[own].1)
    };
    let mut text = String::new();
    for row in rows {
        let padded = row.iter().enumerate().map(|(column, cell)| match is_number(column) {
            true => format!("{cell:>width$}", width = widths[column]),
            false => format!("{cell:<width$}", width = widths[column]),
        });
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
