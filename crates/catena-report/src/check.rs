//! What a report must satisfy before it becomes a page.

use crate::{Model, Report, Structure, Table};

/// A report whose parts do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The table has outputs but nothing to draw them against.
    #[error("the table has no input column; give at least one")]
    NoInput,
    /// Two columns differ in length.
    #[error(
        "column `{column}` of `{name}` has {found} rows, but the first input has {expected}; give one entry per row"
    )]
    Length {
        /// Input or output.
        name: String,
        /// Which of its columns.
        column: &'static str,
        /// Entries found.
        found: usize,
        /// Rows of the first input.
        expected: usize,
    },
    /// An input is NaN or infinite.
    #[error("input `{name}` is {value} at row {row}; leave the row out or give it a finite value")]
    NotFinite {
        /// The input column.
        name: String,
        /// Row, counted from 0.
        row: usize,
        /// What was found there.
        value: f64,
    },
    /// A matrix of the model has another shape.
    #[error("`{matrix}` is not {rows} × {columns}; give a row per output")]
    MatrixShape {
        /// Field of the model.
        matrix: &'static str,
        /// Rows it must have.
        rows: usize,
        /// Columns it must have.
        columns: usize,
    },
    /// A latent is private to an output that is not there.
    #[error("latent `{latent}` is private to output {output}, but the model has {n_outputs} outputs")]
    NoSuchOutput {
        /// Name of the latent.
        latent: String,
        /// Index given.
        output: usize,
        /// Outputs of the model.
        n_outputs: usize,
    },
    /// An edge joins a row that is not there.
    #[error("edge {edge} of the structure joins row {row}, but the table has {n_rows} rows")]
    NoSuchRow {
        /// Index of the edge.
        edge: usize,
        /// Row given.
        row: u32,
        /// Rows of the table.
        n_rows: usize,
    },
}

/// Refuses what could not be drawn truthfully.
pub(crate) fn check(report: &Report) -> Result<(), ReportError> {
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
