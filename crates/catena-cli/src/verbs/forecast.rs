//! `forecast`: predicts the rows after the last row of a table.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use catena::data::InputPoints;
use catena_fit::{
    FitError, FitOptions, MOST_OUTPUTS, MemoryLimit, QuerySize, StructureOption, TimeOptions, median_gap,
    median_gap_within_groups,
};
use catena_io::select::{Frame, Input};
use catena_io::table::{Column, Table};
use catena_io::time::{AheadError, Grid, Horizon, Stepping};
use catena_io::write::{SeriesRows, TargetFile, write_table};
use catena_store::{About, LengthUnit, page};
use clap::Args;

use crate::arguments::{
    Columns, ModelOptions, PredictionOptions, Printing, TableTarget, check_apart, count, horizon, positive,
};
use crate::console::Console;
use crate::error::CliError;
use crate::learning::{FitRequest, warn};
use crate::model_table::warn_outside;
use crate::parameters::write_text;
use crate::predictions::{predicted_outputs, write_predictions};
use crate::source::{Text, group_indices, input_points, open};

const EXAMPLES: &str = "\
Examples:
  catena forecast sensors.csv --horizon 48h -o next.csv
  catena forecast sensors.csv --horizon 24 --interval 0.9 -o next.csv      24 steps
  catena forecast sales.csv --horizon 6mo -o next.csv                      months, quarters, years
  catena forecast sensors.csv --horizon 7d --step 1h -o next.csv
  catena forecast sensors.csv --horizon 48h --periods 24h,7d --quantiles 0.1,0.5,0.9 -o next.csv
  catena forecast sensors.csv --horizon 48h --kernel 'sho+rw+qp(24h)' -o next.csv
  catena forecast weather.csv --horizon 12h --space lat,lon --time when -o next.csv       at every place
  catena forecast sensors.csv --horizon 48h --paths 200 -o paths.csv       200 sample paths
  catena forecast sales.csv --horizon 6mo --page next.html -o next.csv     also a page with charts and scores

The first row is one step after the last row of the table. Times on a calendar of months, quarters, years or business days are \
continued on it: month ends follow month ends.

By default the model is chosen by forecasts of known rows, up to the horizon from many origins inside the table: sums of a level, a \
trend, an oscillator and seasons, with or without the logarithm, pooled with simple rules that do well there. Their scores are \
printed beside those of the last value, the last season, the drift and the mean. Seasonal periods are those of the calendar and \
of a periodogram unless --periods is given. A model that is given by --kernel or --no-learn is checked in the same way; with a \
single kernel such as matern32, forecasts return to the mean.";

/// Options of `forecast`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to forecast.
    data: PathBuf,
    /// Forecast horizon: a number of steps, or a duration such as 48h, 10B (business days), 6mo, 2Q or 1y.
    #[arg(long, value_parser = horizon, value_name = "H")]
    horizon: Horizon,
    /// Spacing of the rows: a duration such as 1h, 1B, 1mo, 1Q or 1y, or a number if the input is numeric [default: the step of the
    /// table's calendar, else its median spacing].
    #[arg(long, value_name = "S")]
    step: Option<String>,
    /// Write this many sample paths of the joint forecast instead of means and standard deviations.
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["interval", "quantiles"])]
    paths: Option<usize>,
    /// Also write a web page with the rows, the forecast with its bands, and its scores on known rows.
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    #[command(flatten)]
    target: TableTarget,
    #[command(flatten)]
    prediction: PredictionOptions,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Maximum number of forecast rows.
const MOST_STEPS: usize = 10_000_000;

/// Predicts the rows after the last one.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, target, prediction, columns, printing, .. } = arguments;
    let console = printing.console();
    let mut request = FitRequest::new(&arguments.model, columns)?;
    let read: Vec<&Path> =
        std::iter::once(data.as_path()).chain(arguments.model.parameters.as_deref()).collect();
    // In a dry run only JSON goes to standard output.
    let target = target.checked(
        columns.format,
        Printing { json: printing.json && !arguments.model.dry_run, ..*printing },
        &read,
    )?;
    if let Some(page) = &arguments.page {
        check_apart(&[page, &arguments.target.output], &read)?;
        TargetFile::check_path(page)?;
    }
    let source = open(data, columns, (Text::Gone, &arguments.model), console)?;
    if arguments.paths.is_some() && source.frame.inputs.len() > 1 {
        return Err(CliError::SpacePaths { file: source.frame.file.clone() });
    }
    let ahead = rows_ahead(arguments, &source.frame, console)?;
    let about = About::new(&source.frame, columns.long_columns(), &[]);
    let rows = about.series_rows();
    if arguments.paths.is_some() && names_of(&source.frame, rows.as_ref()).contains(&PATH) {
        return Err(CliError::NameTaken { file: source.frame.file.clone(), name: PATH.to_owned() });
    }
    choose_time(&mut request.options, &source.frame, console);
    let n_outputs = source.frame.n_outputs();
    let query = QuerySize {
        n_points: ahead.times.len(),
        n_per_point: if arguments.paths.is_some() { n_outputs } else { n_outputs * prediction.n_columns() },
        n_draws: arguments.paths,
    };
    let limit = MemoryLimit::bytes(arguments.model.memory_limit());
    match query.check_memory(request.options.expected_state_size(n_outputs), limit) {
        Err(FitError::QueryMemory { needed, limit }) => {
            return Err(CliError::ForecastMemory { needed, limit });
        }
        other => other.map_err(|error| source.in_user_terms(error))?,
    }
    let Some(fit) = request.learn_ahead(&source, ahead.reach, *printing)? else { return Ok(()) };
    warn(&fit, console);
    if !printing.json {
        let lines = fit.summary().check_lines(&about.length_unit().writer());
        lines.into_iter().for_each(|line| console.say(line));
    }
    let n_inputs = source.frame.inputs.len();
    let mut points = InputPoints::new(ahead.times.len(), n_inputs, ahead.rows(n_inputs));
    if source.frame.groups.is_some() {
        points = points.and_then(|points| points.with_groups(group_indices(&ahead.groups)));
    }
    let points = points.map_err(|error| source.in_user_terms(FitError::Data(error)))?;
    warn_outside(&fit, &about, &points, console);
    if let Some(n_paths) = arguments.paths {
        let paths = fit.draws(&points, prediction.quantity(), n_paths, arguments.model.seed);
        let paths = paths.map_err(|error| source.in_user_terms(error))?;
        write_table(&path_table(&paths, n_paths, &ahead, &source.frame, rows.as_ref()), &target)?;
    } else {
        let predictive =
            fit.predict(&points, prediction.quantity()).map_err(|error| source.in_user_terms(error))?;
        let outputs = predicted_outputs(&source.frame.outputs, &predictive, prediction);
        let names = source.frame.groups.iter().flat_map(|groups| groups.columns_of(&ahead.groups));
        let inputs = names.chain(ahead.input_columns(&source.frame)).collect();
        write_predictions(inputs, outputs, rows.as_ref(), &target)?;
    }
    if let Some(path) = &arguments.page {
        write_text(path, &page(&about.data, &fit, &about, &[])?)?;
        console.say(format!("wrote {}", path.display()));
    }
    printing.summary(&fit)
}

/// Name of the column with the path number.
const PATH: &str = "path";

/// Names of the other columns of a table of paths.
fn names_of<'a>(frame: &'a Frame, rows: Option<&'a SeriesRows>) -> Vec<&'a str> {
    let groups = frame.groups.iter().flat_map(|groups| &groups.columns).map(String::as_str);
    let inputs = groups.chain(frame.inputs.iter().map(|input| input.name.as_str()));
    match rows {
        None => inputs.chain(frame.outputs.iter().map(String::as_str)).collect(),
        Some(rows) => {
            inputs.chain([rows.column.as_str()]).chain(rows.values.iter().map(String::as_str)).collect()
        }
    }
}

/// Sample paths one after the other, in the layout of the table.
fn path_table(
    paths: &[f64],
    n_paths: usize,
    ahead: &RowsAhead,
    frame: &Frame,
    rows: Option<&SeriesRows>,
) -> Table {
    let (n_outputs, times) = (frame.n_outputs(), &ahead.times);
    let n_copies = rows.map_or(1, |rows| rows.names.len());
    let steps = || (0..n_paths).flat_map(|path| (0..times.len()).map(move |at| (path, at)));
    let copied = || steps().flat_map(|step| std::iter::repeat_n(step, n_copies));
    let numbers = copied().map(|(path, _)| (path + 1) as f64).collect();
    let along: Vec<f64> = copied().map(|(_, at)| times[at]).collect();
    let mut table = vec![Column::numbers(PATH, numbers)];
    if let Some(groups) = &frame.groups {
        let of_row: Vec<u32> = copied().map(|(_, at)| ahead.groups[at]).collect();
        table.extend(groups.columns_of(&of_row));
    }
    table.push(frame.inputs[0].column_of(&along));
    match rows {
        None => {
            for (output, name) in frame.outputs.iter().enumerate() {
                let values = paths.iter().skip(output).step_by(n_outputs).copied().collect();
                table.push(Column::numbers(name.clone(), values));
            }
        }
        Some(rows) => {
            let n_steps = n_paths * times.len();
            table.push(rows.names_column(n_steps));
            for (at, value) in rows.values.iter().enumerate() {
                let cells = rows.cells(at, n_steps, &|step, output| paths[step * n_outputs + output]);
                table.push(Column::numbers(value.clone(), cells));
            }
        }
    }
    Table::new(table)
}

/// Selects a time model unless the options exclude it or there are too many outputs.
fn choose_time(options: &mut FitOptions, frame: &Frame, console: Console) {
    if options.time.is_some() || !leaves_open(options) {
        return;
    }
    if frame.n_outputs() <= MOST_OUTPUTS {
        options.time = Some(TimeOptions::default());
    } else {
        console.say(format!(
            "more than {MOST_OUTPUTS} outputs: using Mat\u{e9}rn kernels, whose forecasts return to the mean"
        ));
    }
}

/// Whether no option requires a model of kernels.
fn leaves_open(options: &FitOptions) -> bool {
    let by_messages = options.method.is_message_passing();
    let on_chain = matches!(options.structure, StructureOption::Auto | StructureOption::Chain);
    let nothing_given = options.kernel.is_none() && options.parameters.is_none() && options.state.is_none();
    by_messages && on_chain && nothing_given && options.latents.is_none() && options.private.is_none()
}

/// The rows of a forecast: steps after the last row of each group, or of the table.
#[derive(Default)]
struct RowsAhead {
    times: Vec<f64>,
    groups: Vec<u32>,
    /// The largest distance from the last row of a group.
    reach: f64,
    /// The coordinates of each row's place; none without places.
    places: Vec<Vec<f64>>,
}

/// The rows of a forecast; prints a step that was inferred from a calendar.
fn rows_ahead(arguments: &Arguments, frame: &Frame, console: Console) -> Result<RowsAhead, CliError> {
    let (input, coordinates) = match frame.inputs.as_slice() {
        [input] => (input, &[][..]),
        [coordinates @ .., input] if !arguments.columns.space.is_empty() => (input, coordinates),
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
    fn rows(&self, n_inputs: usize) -> Vec<f64> {
        let row = |(at, time): (usize, &f64)| {
            let place = self.places.get(at).into_iter().flatten().copied();
            place.chain([*time]).collect::<Vec<f64>>()
        };
        let rows: Vec<f64> = self.times.iter().enumerate().flat_map(row).collect();
        debug_assert_eq!(rows.len(), n_inputs * self.times.len());
        rows
    }

    /// The inputs as columns.
    fn input_columns(&self, frame: &Frame) -> Vec<Column> {
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
fn numeric_step(arguments: &Arguments, frame: &Frame, input: &Input) -> Result<Option<f64>, CliError> {
    let number = |text: &String| {
        positive(text).ok_or_else(|| CliError::StepNeedsTime {
            file: frame.file.clone(),
            column: input.name.clone(),
            step: text.clone(),
        })
    };
    arguments.step.as_ref().map(number).transpose()
}
