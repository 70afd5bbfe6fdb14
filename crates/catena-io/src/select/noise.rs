//! Pairs outputs with their columns of known noise.

use super::choice::{find, numbers};
use super::{SelectError, nearest_name};
use crate::place::Excerpt;
use crate::table::{NumberStyle, Table};
use crate::write::number_text;

/// A noise column, and its output if named.
pub(crate) struct NoiseColumn {
    pub(crate) position: usize,
    pub(crate) output: Option<String>,
}

/// Finds noise columns named as `column` or `output=column`.
pub(crate) fn find_noise(table: &Table, names: &[String]) -> Result<Vec<NoiseColumn>, SelectError> {
    let mut columns = vec![];
    for name in names {
        // The name of a column may contain an equals sign.
        let (output, column) = match name.split_once('=') {
            Some((output, column)) if table.position(name).is_none() => (Some(output.to_owned()), column),
            _ => (None, name.as_str()),
        };
        let position = find(table, column)?;
        // A column can be the noise of several outputs only if they are named.
        let is_same = |other: &NoiseColumn| other.position == position && other.output.is_none();
        if output.is_none() && columns.iter().any(is_same) {
            return Err(SelectError::TwoRoles { file: table.file().clone(), name: column.to_owned() });
        }
        columns.push(NoiseColumn { position, output });
    }
    Ok(columns)
}

/// The noise column of each output, if it has one.
pub(crate) fn pair_noise(
    table: &Table,
    noise: &[NoiseColumn],
    outputs: &[String],
) -> Result<Vec<Option<usize>>, SelectError> {
    let n_unpaired = noise.iter().filter(|column| column.output.is_none()).count();
    if n_unpaired > 0 && (n_unpaired != noise.len() || noise.len() != outputs.len()) {
        let (found, expected) = (noise.len(), outputs.len());
        return Err(SelectError::NoiseCount { file: table.file().clone(), found, expected });
    }
    let mut paired = vec![None; outputs.len()];
    for (order, column) in noise.iter().enumerate() {
        let output = match &column.output {
            None => order,
            Some(name) => outputs.iter().position(|output| output == name).ok_or_else(|| {
                SelectError::NoiseWithoutOutput {
                    file: table.file().clone(),
                    name: name.clone(),
                    nearest: nearest_name(name, outputs.iter().map(String::as_str)).map(str::to_owned),
                }
            })?,
        };
        if paired[output].replace(column.position).is_some() {
            let (file, name) = (table.file().clone(), outputs[output].clone());
            return Err(SelectError::TwoNoises { file, name });
        }
    }
    Ok(paired)
}

/// The numbers of a noise column.
pub(crate) fn noise_numbers(table: &Table, position: usize) -> Result<&[f64], SelectError> {
    numbers(table, position, |file, column, kind| SelectError::NoiseKind { file, column, kind })
}

/// The noise of one cell: a number with a finite variance where there is a value, NaN where it is missing.
pub(crate) fn noise_of(
    table: &Table,
    position: usize,
    row: usize,
    noise: f64,
    value: f64,
) -> Result<f64, SelectError> {
    if value.is_nan() {
        return Ok(f64::NAN);
    }
    // Beyond these bounds the variance is 0 or infinite.
    if (1e-150..=1e150).contains(&noise) {
        return Ok(noise);
    }
    let shown = || number_text(noise, NumberStyle::Double);
    let text = if noise.is_nan() { "a missing cell".to_owned() } else { shown() };
    Err(SelectError::NoiseCell {
        file: table.file().clone(),
        place: table.place_of(row),
        column: table.columns()[position].name().to_owned(),
        text: Excerpt::new(text.as_bytes()),
    })
}
