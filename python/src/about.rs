//! Converts names and clocks of a table from and to Python.

use catena_io::read::CellOptions;
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_io::time::{OffsetForm, TimeAxis, ZoneStyle};
use catena_store::{About, GroupNames};
use pyo3::prelude::*;
use serde_json::Value;

use crate::failure::Failure;
use crate::times::{ClockParts, axis, calendar_text};

/// Columns of groups, the names of each group, and the group of each row.
pub(crate) type GroupedRows = (Vec<String>, Vec<Vec<String>>, Vec<usize>);

/// Names, clocks and notes of a table.
#[derive(FromPyObject)]
pub(crate) struct TableNotes {
    /// Names of the inputs.
    #[pyo3(item)]
    inputs: Vec<String>,
    /// The clock of each time input; `None` for numbers.
    #[pyo3(item)]
    clocks: Vec<Option<ClockParts>>,
    /// Names of the outputs.
    #[pyo3(item)]
    outputs: Vec<String>,
    /// Columns of groups, the names of each group, and the group of each row; `None` for one table.
    #[pyo3(item)]
    groups: Option<GroupedRows>,
    /// Columns with the known noise of each output.
    #[pyo3(item)]
    noise_columns: Vec<String>,
    /// Notes of the Python package, as JSON.
    #[pyo3(item)]
    caller: String,
}

impl TableNotes {
    /// The group of each row; `None` for one table.
    pub(crate) fn groups(&self) -> Option<Vec<usize>> {
        self.groups.as_ref().map(|(_, _, of_row)| of_row.clone())
    }

    /// The notes in the form of a model file.
    pub(crate) fn into_about(self) -> Result<About, Failure> {
        let input = |(name, clock): (String, Option<ClockParts>)| {
            let time = clock.map(axis).transpose()?;
            Ok::<_, Failure>(Input { name, values: vec![], time, style: NumberStyle::Double })
        };
        let caller: Value = serde_json::from_str(&self.caller).map_err(Failure::input)?;
        Ok(About {
            data: "a table in memory".to_owned(),
            inputs: self.inputs.into_iter().zip(self.clocks).map(input).collect::<Result<_, _>>()?,
            outputs: self.outputs,
            long: None,
            wide: None,
            groups: self.groups.map(|(columns, names, _)| GroupNames { columns, names }),
            noise_columns: self.noise_columns,
            cells: CellOptions::default(),
            caller: Some(caller),
        })
    }
}

/// The same table with these names of groups, if there are any.
pub(crate) fn with_groups(about: &About, groups: Option<GroupedRows>) -> About {
    let groups = groups.map(|(columns, names, _)| GroupNames { columns, names });
    About { groups: groups.or_else(|| about.groups.clone()), ..about.clone() }
}

/// The clock of each input that is a time.
pub(crate) fn clocks(about: &About) -> Vec<Option<ClockParts>> {
    let parts = |axis: &TimeAxis| {
        (axis.origin_seconds, zone_name(&axis.style.zone), axis.calendar.and_then(calendar_text))
    };
    about.inputs.iter().map(|input| input.time.as_ref().map(parts)).collect()
}

pub(crate) fn zone_of(name: Option<&str>) -> ZoneStyle {
    match name {
        None => ZoneStyle::Naive,
        Some("UTC" | "Etc/UTC" | "Z") => ZoneStyle::Utc,
        Some(name) => match offset_seconds(name) {
            Some(seconds) => ZoneStyle::Offset { seconds, form: OffsetForm::Colon },
            None => ZoneStyle::Named { name: name.to_owned(), has_offset: true },
        },
    }
}

fn zone_name(zone: &ZoneStyle) -> Option<String> {
    match zone {
        ZoneStyle::Naive => None,
        ZoneStyle::Utc => Some("UTC".to_owned()),
        ZoneStyle::Offset { seconds, .. } => {
            let (sign, minutes) = (if *seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
            Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
        }
        ZoneStyle::Named { name, .. } => Some(name.clone()),
    }
}

/// The seconds of `+01:00`.
fn offset_seconds(name: &str) -> Option<i32> {
    let (sign, clock) =
        name.strip_prefix('-').map_or_else(|| Some((1, name.strip_prefix('+')?)), |rest| Some((-1, rest)))?;
    let (hours, minutes) = clock.split_once(':')?;
    Some(sign * (3600 * hours.parse::<i32>().ok()? + 60 * minutes.parse::<i32>().ok()?))
}
