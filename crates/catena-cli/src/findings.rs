//! Findings of a check as a table, as JSON and as aligned text, in the terms of the user's table.

use catena_fit::{Finding, FindingKind};
use catena_io::Place;
use catena_io::table::{Column, ColumnData, NumberColumn, NumberStyle, Table, TextColumn};
use catena_io::write::cell_text;
use serde_json::{Map, Value, json};

use crate::source::Source;

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
pub(crate) fn findings_table(findings: &[Finding], source: &Source) -> Table {
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

/// The findings as a list of objects.
pub(crate) fn findings_json(findings: &[Finding], source: &Source) -> Value {
    let table = findings_table(findings, source);
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
    (0..findings.len()).map(finding).collect()
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
pub(crate) fn to_text(findings: &[Finding], source: &Source) -> String {
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
