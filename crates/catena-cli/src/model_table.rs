//! A new table read for a kept model: same inputs, same outputs, same clock, or a clear refusal.

use std::path::Path;

use catena::data::InputPoints;
use catena_auto::fit::{Fit, FitError};
use catena_io::read::{Format, ReadOptions};
use catena_io::select::{Frame, Input, SelectError, Selection, nearest_name, select};
use catena_io::table::{Column, Table};
use catena_store::{About, length_text};

use crate::console::Console;
use crate::error::CliError;
use crate::source::{Source, Text, read_table};

/// How a table for a model is read.
pub(crate) fn read_options(path: &Path, about: &About, format: Option<Format>, text: Text) -> ReadOptions {
    ReadOptions {
        format: Format::of_path(path).or(format),
        text_columns: about.long.iter().map(|long| long.series.clone()).collect(),
        keep_piped_text: text == Text::Kept,
    }
}

fn selection(about: &About) -> Selection {
    let axis = |input: &Input| Some((input.name.clone(), input.time.clone()?));
    Selection {
        inputs: Some(about.inputs.iter().map(|input| input.name.clone()).collect()),
        time_axes: about.inputs.iter().filter_map(axis).collect(),
        ..Selection::default()
    }
}

/// A model of numbers cannot place times.
fn check_kinds(frame: &Frame, about: &About) -> Result<(), CliError> {
    for (found, known) in frame.inputs.iter().zip(&about.inputs) {
        if found.time.is_some() && known.time.is_none() {
            let (file, column) = (frame.file.clone(), found.name.clone());
            return Err(SelectError::AxisKind { file, column, kind: "times", expected: "numbers" }.into());
        }
    }
    Ok(())
}

/// Reads points to predict at; all columns but the inputs of the model are ignored.
pub(crate) fn read_points(
    path: &Path,
    about: &About,
    format: Option<Format>,
    console: Console,
) -> Result<Frame, CliError> {
    let table = read_table(path, &read_options(path, about, format, Text::Gone), console)?;
    let selection = Selection { inputs_only: true, ..selection(about) };
    let frame = select(&table, &selection)?;
    check_kinds(&frame, about)?;
    Ok(frame)
}

/// Reads rows with values of the model's outputs, in the order of the model. An output may have no value in them.
pub(crate) fn read_rows(
    path: &Path,
    about: &About,
    format: Option<Format>,
    console: Console,
) -> Result<Source, CliError> {
    let table = read_table(path, &read_options(path, about, format, Text::Gone), console)?;
    rows_of(table, about, Empty::Refused)
}

/// Whether rows without any value are of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    Refused,
    Fine,
}

/// The rows of a table with values of the model's outputs, in the order of the model.
pub(crate) fn rows_of(table: Table, about: &About, empty: Empty) -> Result<Source, CliError> {
    let mut selection = selection(about);
    selection.noise_columns.clone_from(&about.noise_columns);
    match &about.long {
        Some(long) => {
            selection.inputs = None;
            selection.long = Some(long.clone());
        }
        None => {
            let names = || table.columns().iter().map(Column::name);
            if let Some(name) = about.outputs.iter().find(|name| table.position(name).is_none()) {
                let nearest = nearest_name(name, names()).map(str::to_owned);
                let (file, name) = (table.file().clone(), name.clone());
                return Err(SelectError::UnknownColumn { file, name, nearest }.into());
            }
            let has_value = |name: &&String| {
                let column = table.column(name);
                column.is_some_and(|column| {
                    column.stray().is_some() || (0..table.n_rows()).any(|row| !column.data().is_hole(row))
                })
            };
            let with_values: Vec<String> = about.outputs.iter().filter(has_value).cloned().collect();
            match (with_values.is_empty(), empty) {
                (false, _) => selection.outputs = Some(with_values),
                (true, Empty::Refused) => return Err(CliError::NoValues { file: table.file().clone() }),
                (true, Empty::Fine) => {
                    selection.inputs_only = true;
                    selection.noise_columns.clear();
                }
            }
        }
    }
    let found = select(&table, &selection)?;
    check_kinds(&found, about)?;
    let frame = in_order_of(found, about)?;
    Ok(Source { table, frame })
}

/// The same frame with the outputs of the model; those it does not have are holes.
fn in_order_of(frame: Frame, about: &About) -> Result<Frame, CliError> {
    let place = |name: &String| about.outputs.iter().position(|output| output == name);
    let mut places = vec![];
    for name in &frame.outputs {
        let Some(place) = place(name) else {
            let column = about.long.as_ref().map_or_else(String::new, |long| long.series.clone());
            return Err(CliError::NewSeries { file: frame.file.clone(), column, name: name.clone() });
        };
        places.push(place);
    }
    let (n_rows, n_found, n_outputs) = (frame.n_rows(), frame.n_outputs(), about.outputs.len());
    let spread = |cells: &[f64]| {
        let mut spread = vec![f64::NAN; n_rows * n_outputs];
        for (at, cell) in cells.iter().enumerate() {
            spread[at / n_found * n_outputs + places[at % n_found]] = *cell;
        }
        spread
    };
    Ok(Frame {
        values: spread(&frame.values),
        noise: frame.noise.as_deref().map(spread),
        outputs: about.outputs.clone(),
        ..frame
    })
}

/// The points of a frame.
pub(crate) fn points(frame: &Frame) -> Result<InputPoints, CliError> {
    let points = InputPoints::new(frame.n_rows(), frame.inputs.len(), frame.to_input_rows());
    points.map_err(|cause| CliError::Fit { file: frame.file.clone(), cause: FitError::Data(cause) })
}

/// Says when points lie far outside the rows a model was made from.
pub(crate) fn warn_outside(fit: &Fit, about: &About, points: &InputPoints, console: Console) {
    let [input] = about.inputs.as_slice() else { return };
    let range = |values: &[f64]| {
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
    };
    let (first, last) = range(fit.table().inputs().values());
    let (low, high) = range(points.values());
    let beyond = (first - low).max(high - last);
    let scales = fit.summary().latents.iter().flat_map(|latent| latent.length_scales.first());
    let longest = scales.fold(0.0_f64, |longest, scale| longest.max(*scale));
    if beyond > longest {
        console.say(format!(
            "warning: some points are {} beyond the rows of the model, farther than its longest length-scale {}: there it knows little",
            length_text(input.time.is_some(), beyond),
            length_text(input.time.is_some(), longest)
        ));
    }
}
