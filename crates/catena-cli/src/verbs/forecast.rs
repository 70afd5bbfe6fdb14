//! `forecast`: predicts the rows after the last row of a table.

use std::path::{Path, PathBuf};

use catena::data::InputPoints;
use catena_fit::{
    Fit, FitError, FitOptions, KnownFit, MOST_OUTPUTS, MemoryLimit, QuerySize, StructureOption, TimeOptions,
};
use catena_io::read::ReadOptions;
use catena_io::select::Frame;
use catena_io::table::{Column, Table};
use catena_io::write::{SeriesRows, TargetFile, write_table};
use catena_store::{About, page};
use clap::Args;

use crate::arguments::{Columns, ModelOptions, PredictionOptions, Printing, TableTarget, check_apart, count};
use crate::console::Console;
use crate::error::CliError;
use crate::known_ahead::{KnownOptions, say};
use crate::learning::{FitRequest, warn};
use crate::model_table::warn_outside;
use crate::parameters::write_text;
use crate::predictions::{predicted_outputs, write_predictions};
use crate::rows_ahead::{AheadOptions, RowsAhead, rows_ahead};
use crate::source::{Text, group_indices, open, read_table};

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
  catena forecast load.csv --horizon 48h --known temp --future weather.csv -o next.csv

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
    #[command(flatten)]
    ahead: AheadOptions,
    /// Write this many sample paths of the joint forecast instead of means and standard deviations.
    #[arg(long, value_name = "N", value_parser = count, conflicts_with_all = ["interval", "quantiles"])]
    paths: Option<usize>,
    /// Also write a web page with the rows, the forecast with its bands, and its scores on known rows.
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    #[command(flatten)]
    known: KnownOptions,
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

/// Predicts the rows after the last one.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, target, prediction, columns, printing, .. } = arguments;
    let console = printing.console();
    let mut request = FitRequest::new(&arguments.model, columns)?;
    let read: Vec<&Path> = std::iter::once(data.as_path())
        .chain(arguments.model.parameters.as_deref())
        .chain(arguments.known.files().map(PathBuf::as_path))
        .collect();
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
    let (source, known) = match arguments.known.is_empty() {
        true => (open(data, columns, (Text::Gone, &arguments.model), console)?, None),
        false => {
            let options = ReadOptions {
                keep_piped_text: false,
                max_memory: Some(arguments.model.memory_limit()),
                ..columns.read_options(data)
            };
            let table = read_table(data, &options, console)?;
            let (source, known) = arguments.known.opened(table, columns, (&arguments.model, console))?;
            (source, Some(known))
        }
    };
    if arguments.paths.is_some() && source.frame.inputs.len() > 1 {
        return Err(CliError::SpacePaths { file: source.frame.file.clone() });
    }
    let ahead = rows_ahead(&arguments.ahead, columns, &source.frame, console)?;
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
    let known = known.map(|known| known.columns(&source.frame, &ahead.times)).transpose()?;
    let learned = match &known {
        None => {
            request.learn_ahead(&source, ahead.reach, *printing)?.map(|fit| Forecast::Plain(Box::new(fit)))
        }
        Some(known) => {
            request.learn_known(&source, known, *printing)?.map(|fit| Forecast::Known(Box::new(fit)))
        }
    };
    let Some(forecast) = learned else { return Ok(()) };
    let fit = forecast.fit();
    warn(fit, console);
    if let Forecast::Known(known) = &forecast
        && !printing.json
    {
        say(known, console);
    }
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
    warn_outside(fit, &about, &points, console);
    if let Some(n_paths) = arguments.paths {
        let (quantity, seed) = (prediction.quantity(), arguments.model.seed);
        let paths = match &forecast {
            Forecast::Plain(fit) => fit.draws(&points, quantity, n_paths, seed),
            Forecast::Known(fit) => fit.draws(quantity, n_paths, seed),
        };
        let paths = paths.map_err(|error| source.in_user_terms(error))?;
        write_table(&path_table(&paths, n_paths, &ahead, &source.frame, rows.as_ref()), &target)?;
    } else {
        let predictive = match &forecast {
            Forecast::Plain(fit) => fit.predict(&points, prediction.quantity()),
            Forecast::Known(fit) => fit.predict(prediction.quantity()),
        };
        let predictive = predictive.map_err(|error| source.in_user_terms(error))?;
        let outputs = predicted_outputs(&source.frame.outputs, &predictive, prediction);
        let names = source.frame.groups.iter().flat_map(|groups| groups.columns_of(&ahead.groups));
        let inputs = names.chain(ahead.input_columns(&source.frame)).collect();
        write_predictions(inputs, outputs, rows.as_ref(), &target)?;
    }
    if let Some(path) = &arguments.page {
        write_text(path, &page(&about.data, fit, &about, &[])?)?;
        console.say(format!("wrote {}", path.display()));
    }
    printing.summary(fit)
}

/// A fit that forecasts.
enum Forecast {
    Plain(Box<Fit>),
    Known(Box<KnownFit>),
}

impl Forecast {
    fn fit(&self) -> &Fit {
        match self {
            Self::Plain(fit) => fit,
            Self::Known(known) => known.fit(),
        }
    }
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
