//! Checks that a report is consistent before it becomes a page.

use super::{Model, Report, Structure, Table};

/// An inconsistent report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum ReportError {
    #[error("the table has no input column; at least one is needed")]
    NoInput,
    #[error(
        "column `{column}` of `{name}` has {found} rows, but the first input has {expected}; every column needs one entry per row"
    )]
    Length { name: String, column: &'static str, found: usize, expected: usize },
    #[error("input `{name}` is {value} at row {row}; remove the row or use a finite value")]
    NotFinite { name: String, row: usize, value: f64 },
    #[error("`{matrix}` must be {rows} × {columns}, one row per output")]
    MatrixShape { matrix: &'static str, rows: usize, columns: usize },
    #[error("latent `{latent}` is private to output {output}, but the model has {n_outputs} outputs")]
    NoSuchOutput { latent: String, output: usize, n_outputs: usize },
    #[error("edge {edge} of the structure joins row {row}, but the table has {n_rows} rows")]
    NoSuchRow { edge: usize, row: u32, n_rows: usize },
}

/// Checks lengths, shapes, indices and finite inputs.
pub(super) fn check(report: &Report) -> Result<(), ReportError> {
    if let Some(table) = &report.table {
        check_table(table)?;
    }
    if let Some(model) = &report.model {
        check_model(model)?;
    }
    if let (Some(table), Some(structure)) = (&report.table, &report.structure) {
        check_structure(table, structure)?;
    }
    Ok(())
}

fn check_table(table: &Table) -> Result<(), ReportError> {
    let Some(first) = table.inputs.first() else { return Err(ReportError::NoInput) };
    let expected = first.values.len();
    let same_length = |name: &str, column: &'static str, found: usize| {
        let name = name.to_owned();
        if found == expected { Ok(()) } else { Err(ReportError::Length { name, column, found, expected }) }
    };
    for input in &table.inputs {
        same_length(&input.axis.name, "values", input.values.len())?;
        if let Some((row, &value)) = input.values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(ReportError::NotFinite { name: input.axis.name.clone(), row, value });
        }
    }
    for output in &table.outputs {
        same_length(&output.name, "observed", output.observed.len())?;
        same_length(&output.name, "mean", output.mean.len())?;
        if !output.held_out.is_empty() {
            same_length(&output.name, "held_out", output.held_out.len())?;
        }
        if !output.bad.is_empty() {
            same_length(&output.name, "bad", output.bad.len())?;
        }
        for (column, values) in output.bands.columns() {
            same_length(&output.name, column, values.len())?;
        }
    }
    Ok(())
}

fn check_model(model: &Model) -> Result<(), ReportError> {
    let rows = model.outputs.len();
    let shape = |matrix: &'static str, values: &[Vec<f64>], columns: usize| {
        let fits = values.len() == rows && values.iter().all(|row| row.len() == columns);
        if values.is_empty() || fits {
            Ok(())
        } else {
            Err(ReportError::MatrixShape { matrix, rows, columns })
        }
    };
    let n_shared = model.latents.iter().filter(|latent| latent.private_to.is_none()).count();
    shape("mixing", &model.mixing, n_shared)?;
    shape("correlation", &model.correlation, rows)?;
    if !model.shares.is_empty() && model.shares.len() != rows {
        return Err(ReportError::MatrixShape { matrix: "shares", rows, columns: 3 });
    }
    for latent in &model.latents {
        if let Some(output) = latent.private_to.filter(|&output| output >= rows) {
            return Err(ReportError::NoSuchOutput { latent: latent.name.clone(), output, n_outputs: rows });
        }
    }
    Ok(())
}

fn check_structure(table: &Table, structure: &Structure) -> Result<(), ReportError> {
    let n_rows = table.inputs.first().map_or(0, |input| input.values.len());
    for (edge, rows) in structure.edges.iter().enumerate() {
        if let Some(&row) = rows.iter().find(|&&row| row as usize >= n_rows) {
            return Err(ReportError::NoSuchRow { edge, row, n_rows });
        }
    }
    Ok(())
}
