//! The rows of a forecast: steps after the last row of a table, or of each group.

use std::collections::{BTreeMap, HashSet};

use catena_fit::{median_gap, median_gap_within_groups};
use catena_io::select::{Frame, Input};
use catena_io::table::Column;
use catena_io::time::{AheadError, Grid, Horizon, Stepping};
use catena_store::LengthUnit;
use clap::Args;

use crate::arguments::{Columns, horizon, positive};
use crate::console::Console;
use crate::error::CliError;
use crate::source::input_points;

/// Maximum number of forecast rows.
const MOST_STEPS: usize = 10_000_000;

/// How far a forecast reaches.
#[derive(Debug, Clone, Args)]
pub(crate) struct AheadOptions {
    /// Forecast horizon: a number of steps, or a duration such as 48h, 10B (business days), 6mo, 2Q or 1y.
    #[arg(long, value_parser = horizon, value_name = "H")]
    horizon: Horizon,
    /// Spacing of the rows: a duration such as 1h, 1B, 1mo, 1Q or 1y, or a number if the input is numeric [default: the step of the
    /// table's calendar, else its median spacing].
    #[arg(long, value_name = "S")]
    step: Option<String>,
}

/// The rows of a forecast: steps after the last row of each group, or of the table.
#[derive(Default)]
pub(crate) struct RowsAhead {
    pub(crate) times: Vec<f64>,
    pub(crate) groups: Vec<u32>,
    /// The largest distance from the last row of a group.
    pub(crate) reach: f64,
    /// The coordinates of each row's place; none without places.
    places: Vec<Vec<f64>>,
}

/// The rows of a forecast; prints a step that was inferred from a calendar.
pub(crate) fn rows_ahead(
    arguments: &AheadOptions,
    columns: &Columns,
    frame: &Frame,
    console: Console,
) -> Result<RowsAhead, CliError> {
    let (input, coordinates) = match frame.inputs.as_slice() {
        [input] => (input, &[][..]),
        [coordinates @ .., input] if !columns.space.is_empty() => (input, coordinates),
        inputs => return Err(CliError::SeveralInputs { file: frame.file.clone(), found: inputs.len() }),
    };
    let mut lasts = BTreeMap::new();
    for (row, x) in input.values.iter().enumerate() {
        let group = frame.groups.as_ref().map_or(0, |groups| groups.of_row[row]);
        let last = lasts.entry(group).or_insert(f64::NEG_INFINITY);
        *last = x.max(*last);
    }
    let no_step = || CliError::NoStep { file: frame.file.clone(), column: input.name.clone() };
    let usual = match coordinates {
        [] => input_points(frame).ok().and_then(|points| median_gap_within_groups(&points)),
        _ => median_gap(&input.values),
    };
    let mut all = RowsAhead::default();
    let Some(axis) = &input.time else {
        let step = numeric_step(arguments, frame, input)?.or(usual).ok_or_else(no_step)?;
        for (group, last) in lasts {
            all.extend((group, last), numbers_ahead(arguments.horizon, last, step, input, frame)?);
        }
        return Ok(all.at_places(coordinates));
    };
    let given = arguments.step.as_ref().map(|text| text.parse()).transpose()?;
    let failed = |error: AheadError| match error {
        AheadError::NoStep => no_step(),
        AheadError::Short { horizon, step } => {
            CliError::ShortHorizon { horizon: horizon.to_string(), step: step.to_string() }
        }
        AheadError::Long { horizon, step, limit } => {
            CliError::LongHorizon { horizon: horizon.to_string(), step: step.to_string(), limit }
        }
        error => CliError::Ahead(error),
    };
    let stepping = Stepping::new(axis, &input.values, usual, given).map_err(failed)?;
    let mut inferred = None;
    for (group, last) in lasts {
        let rows = stepping.rows_ahead(last, arguments.horizon, MOST_STEPS).map_err(failed)?;
        inferred = rows.inferred;
        all.extend((group, last), rows.numbers);
    }
    if let Some(Grid { step, day }) = inferred {
        let day = day.map_or_else(|| ", Monday to Friday".to_owned(), |day| format!(" {day}"));
        console.say(format!("step: {step}{day} (inferred from {})", input.name));
    }
    Ok(all.at_places(coordinates))
}

impl RowsAhead {
    /// The same times at each distinct place, in the order of the table.
    fn at_places(self, coordinates: &[Input]) -> Self {
        let n_rows = coordinates.first().map_or(0, |input| input.values.len());
        let mut seen = HashSet::new();
        let place = |row: usize| -> Vec<f64> { coordinates.iter().map(|input| input.values[row]).collect() };
        let is_new =
            |place: &Vec<f64>| seen.insert(place.iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<_>>());
        let places: Vec<Vec<f64>> = (0..n_rows).map(place).filter(is_new).collect();
        if places.is_empty() {
            return self;
        }
        let mut all = Self { reach: self.reach, ..Self::default() };
        for place in places {
            all.groups.extend(&self.groups);
            all.times.extend(&self.times);
            all.places.extend(std::iter::repeat_n(place, self.times.len()));
        }
        all
    }

    /// All inputs, row by row: coordinates of the place, then the time.
    pub(crate) fn rows(&self, n_inputs: usize) -> Vec<f64> {
        let row = |(at, time): (usize, &f64)| {
            let place = self.places.get(at).into_iter().flatten().copied();
            place.chain([*time]).collect::<Vec<f64>>()
        };
        let rows: Vec<f64> = self.times.iter().enumerate().flat_map(row).collect();
        debug_assert_eq!(rows.len(), n_inputs * self.times.len());
        rows
    }

    /// The inputs as columns.
    pub(crate) fn input_columns(&self, frame: &Frame) -> Vec<Column> {
        let n_inputs = frame.inputs.len();
        let rows = self.rows(n_inputs);
        let along = |at: usize| rows.iter().copied().skip(at).step_by(n_inputs).collect::<Vec<f64>>();
        frame.inputs.iter().enumerate().map(|(at, input)| input.column_of(&along(at))).collect()
    }

    fn extend(&mut self, (group, last): (u32, f64), times: Vec<f64>) {
        self.reach = times.iter().map(|time| time - last).fold(self.reach, f64::max);
        self.groups.extend(std::iter::repeat_n(group, times.len()));
        self.times.extend(times);
    }
}

/// Equal steps after the last row, along numbers.
fn numbers_ahead(
    horizon: Horizon,
    last: f64,
    step: f64,
    input: &Input,
    frame: &Frame,
) -> Result<Vec<f64>, CliError> {
    let Horizon::Steps(count) = horizon else {
        return Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column: input.name.clone() });
    };
    if count > MOST_STEPS {
        let (horizon, step) = (horizon.to_string(), LengthUnit::Number.text(step));
        return Err(CliError::LongHorizon { horizon, step, limit: MOST_STEPS });
    }
    Ok((1..=count).map(|ahead| last + ahead as f64 * step).collect())
}

/// The given step along numbers.
fn numeric_step(arguments: &AheadOptions, frame: &Frame, input: &Input) -> Result<Option<f64>, CliError> {
    let number = |text: &String| {
        positive(text).ok_or_else(|| CliError::StepNeedsTime {
            file: frame.file.clone(),
            column: input.name.clone(),
            step: text.clone(),
        })
    };
    arguments.step.as_ref().map(number).transpose()
}
