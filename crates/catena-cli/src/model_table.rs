//! Reads a new table for a saved model and checks that inputs, outputs and time axes agree.

use std::path::Path;

use catena::data::InputPoints;
use catena_fit::{Fit, FitError};
use catena_io::read::{Format, ReadOptions};
use catena_io::select::{
    Frame, Input, Layout, Reason, SelectError, Selection, WideColumns, WideSelection, select,
};
use catena_io::table::{Column, ColumnData, Table};
use catena_store::{About, LengthUnit};

use crate::console::Console;
use crate::error::CliError;
use crate::source::{Source, Text, input_points, read_table, warn_of_codes};

/// How a table for a model is read.
pub(crate) fn read_options(path: &Path, about: &About, format: Option<Format>, text: Text) -> ReadOptions {
    ReadOptions {
        format: Format::of_path(path).or(format),
        text_columns: text_columns(about),
        keep_piped_text: text == Text::Kept,
        cells: about.cell_options(),
        ..ReadOptions::default()
    }
}

/// Columns of names, which are read as text.
fn text_columns(about: &About) -> Vec<String> {
    let series = about.long.iter().map(|long| &long.series);
    let groups = about.groups.iter().flat_map(|groups| &groups.columns);
    let wide = about.wide.iter().map(|wide| &wide.column);
    series.chain(groups).chain(wide).cloned().collect()
}

/// The frame with groups numbered as in the model; new groups come after them.
fn in_groups_of(frame: Frame, about: &About) -> Frame {
    let groups = match (&frame.groups, &about.groups) {
        (Some(found), Some(known)) => Some(found.numbered_as(&known.names)),
        _ => None,
    };
    Frame { groups, ..frame }
}

fn selection(about: &About) -> Selection {
    let axis = |input: &Input| Some((input.name.clone(), input.time.clone()?));
    Selection {
        inputs: Some(about.inputs.iter().map(|input| input.name.clone()).collect()),
        time_axes: about.inputs.iter().filter_map(axis).collect(),
        groups: about.groups.as_ref().map(|groups| groups.columns.clone()).unwrap_or_default(),
        needs_columns: true,
        ..Selection::default()
    }
}

/// Refuses times where the model has numbers.
fn check_kinds(frame: &Frame, about: &About) -> Result<(), CliError> {
    for (found, known) in frame.inputs.iter().zip(&about.inputs) {
        if found.time.is_some() && known.time.is_none() {
            let (file, column) = (frame.file.clone(), found.name.clone());
            return Err(SelectError::AxisKind { file, column, kind: "times", expected: "numbers" }.into());
        }
    }
    Ok(())
}

/// Reads points to predict at; only the inputs of the model are read.
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
    Ok(in_groups_of(frame, about))
}

/// Reads rows with the model's outputs, in the order of the model. An output may have no value.
pub(crate) fn read_rows(
    path: &Path,
    about: &About,
    format: Option<Format>,
    console: Console,
) -> Result<Source, CliError> {
    let table = read_table(path, &read_options(path, about, format, Text::Gone), console)?;
    let source = rows_of(table, about, Empty::Refused, console)?;
    warn_of_codes(&source.frame, console);
    Ok(source)
}

/// Whether a table without any observed value is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    Refused,
    Fine,
}

/// The rows of a table with the model's outputs, in the order of the model.
pub(crate) fn rows_of(
    table: Table,
    about: &About,
    empty: Empty,
    console: Console,
) -> Result<Source, CliError> {
    let mut selection = Selection { may_lack_values: true, ..selection(about) };
    selection.noise_columns.clone_from(&about.noise_columns);
    match (&about.long, &about.wide) {
        (Some(long), _) => {
            selection.inputs = None;
            selection.outputs = known_series(&table, about, &long.series, console)?;
            selection.long = Some(long.clone());
        }
        (None, Some(WideColumns { column, values, .. })) => {
            selection.outputs = Some(values.clone());
            let outputs = Some(about.outputs.clone());
            selection.wide = Some(WideSelection { column: column.clone(), outputs });
        }
        (None, None) => selection.outputs = Some(about.outputs.clone()),
    }
    let found = select(&table, &selection)?;
    let ignored = found.decision.ignored.iter().filter(|choice| choice.reason == Reason::NotInModel);
    let ignored: Vec<&str> = ignored.map(|choice| choice.name.as_str()).collect();
    if !ignored.is_empty() {
        console.say(format!("ignored: {} (outputs that are not in the model)", ignored.join(", ")));
    }
    if found.n_observed() == 0 && empty == Empty::Refused {
        return Err(CliError::NoValues { file: table.file().clone() });
    }
    check_kinds(&found, about)?;
    let frame = in_groups_of(in_order_of(found, about)?, about);
    Ok(Source { table, frame })
}

/// The series of a long table that are in the model, in its order; prints the others. `None` if the column does not exist, which
/// the selection reports.
fn known_series(
    table: &Table,
    about: &About,
    column: &str,
    console: Console,
) -> Result<Option<Vec<String>>, CliError> {
    let Some(ColumnData::Text(names)) = table.column(column).map(Column::data) else { return Ok(None) };
    let is_known = |name: &str| about.outputs.iter().any(|output| output == name);
    let unknown: Vec<&str> =
        names.distinct().iter().map(|name| &**name).filter(|name| !is_known(name)).collect();
    let occurs = |output: &&String| names.distinct().iter().any(|name| **name == ***output);
    let known: Vec<String> = about.outputs.iter().filter(occurs).cloned().collect();
    match (known.is_empty(), unknown.first()) {
        (true, Some(name)) => Err(CliError::NewSeries {
            file: table.file().clone(),
            column: column.to_owned(),
            name: (*name).to_owned(),
            known: about.outputs.join(", "),
        }),
        (_, Some(_)) => {
            console.say(format!("ignored: {} (series that are not in the model)", unknown.join(", ")));
            Ok(Some(known))
        }
        (_, None) => Ok(Some(known)),
    }
}

/// The frame with all outputs of the model; outputs that it lacks have missing values.
fn in_order_of(frame: Frame, about: &About) -> Result<Frame, CliError> {
    let place = |name: &String| about.outputs.iter().position(|output| output == name);
    let places: Vec<usize> = frame.outputs.iter().filter_map(place).collect();
    if places.len() != frame.n_outputs() {
        let column = about.long.as_ref().map_or_else(String::new, |long| long.series.clone());
        let (name, known) = (frame.outputs.join(", "), about.outputs.join(", "));
        return Err(CliError::NewSeries { file: frame.file.clone(), column, name, known });
    }
    let (n_rows, n_found, n_outputs) = (frame.n_rows(), frame.n_outputs(), about.outputs.len());
    let widened = |cells: &[f64]| {
        let mut widened = vec![f64::NAN; n_rows * n_outputs];
        for (at, cell) in cells.iter().enumerate() {
            widened[at / n_found * n_outputs + places[at % n_found]] = *cell;
        }
        widened
    };
    let layout = match frame.layout {
        // A wide table has all outputs of the model, selected in its order.
        wide @ Layout::Wide { .. } => wide,
        Layout::Long { value_columns, row_of, output_of } => {
            let in_model = |output: Option<u32>| output.map(|output| places[output as usize] as u32);
            Layout::Long { value_columns, row_of, output_of: output_of.into_iter().map(in_model).collect() }
        }
    };
    Ok(Frame {
        values: widened(&frame.values),
        noise: frame.noise.as_deref().map(widened),
        outputs: about.outputs.clone(),
        layout,
        ..frame
    })
}

/// The inputs of a frame.
pub(crate) fn points(frame: &Frame) -> Result<InputPoints, CliError> {
    let points = input_points(frame);
    points.map_err(|cause| CliError::Fit { file: frame.file.clone(), cause: FitError::Data(cause) })
}

/// Warns if points lie farther outside the model's rows than its longest length-scale.
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
            "warning: some points are {} beyond the rows of the model, more than its longest length-scale {}; predictions there are close to the prior",
            LengthUnit::of(input).text(beyond),
            LengthUnit::of(input).text(longest)
        ));
    }
}
