//! `demo`: a year of weather with two gaps whose truth is known, from the embedded table to a page.
//!
//! Nothing is stored but the table: every parameter is learned when the command runs.

use std::ops::Range;
use std::path::PathBuf;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::fit::{Budget, Fit, FitError, FitOptions};
use catena_fit::method::Quantity;
use catena_fit::preparation::Predictive;
use catena_io::read::{ReadOptions, read_pipe};
use catena_io::select::{Frame, Selection};
use catena_io::table::{Column, Table};
use catena_io::time::Instant;
use catena_io::write::{Target, write_table};
use catena_methods::simple_rules::LinearInterpolation;
use catena_store::{About, page};
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::arguments::Speech;
use crate::error::CliError;
use crate::learning::{fit_watched, use_threads, warn};
use crate::parameters::write_text;
use crate::scoreboard::{print_json, print_text};
use crate::source::{Source, choose, dataset};
use crate::verbs::completion::make_folder;

const EXAMPLES: &str = "\
Examples:
  catena demo                     learns, fills, prints errors; writes demo/filled.csv and demo/report.html
  catena demo --directory /tmp/weather";

/// Options of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to write to; it is made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    directory: PathBuf,
    /// Threads to use; without it, all cores.
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    speech: Speech,
}

const WEATHER: &str = include_str!("../../../../data/demo/nyc_airport_weather_2013.csv");

/// A gap that is made: an output, and the second at which it begins, counted from 1970.
struct Gap {
    output: &'static str,
    begin: i64,
    unit: &'static str,
    when: &'static str,
}

const GAPS: [Gap; 2] = [
    Gap { output: "temp_LGA", begin: 1_363_305_600, unit: "\u{b0}F", when: "2013-03-15" },
    Gap { output: "pressure_JFK", begin: 1_373_414_400, unit: "hPa", when: "2013-07-10" },
];
const GAP_HOURS: usize = 96;

/// How well a gap was filled.
struct Outcome {
    name: &'static str,
    rmse: f64,
    /// The share of hidden hours inside 95 % intervals.
    coverage: f64,
}

/// Runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { directory, threads, speech } = arguments;
    let console = speech.console();
    use_threads(*threads)?;
    make_folder(directory)?;
    let table = read_pipe(WEATHER.as_bytes(), &ReadOptions::default(), &mut |_, _| {})?;
    let mut source = choose(table, &Selection::default(), console)?;
    let gaps: Vec<(usize, Range<usize>)> = GAPS.iter().map(|gap| place_of(gap, &source.frame)).collect();
    let truth = hide(&mut source.frame, &gaps);
    console.say(format!("hidden: {GAP_HOURS} hours each of {} and {}", GAPS[0].output, GAPS[1].output));

    let data = source.dataset()?;
    let options = FitOptions {
        budget: Budget::Quick,
        input_names: vec![source.frame.inputs[0].name.clone()],
        output_names: source.frame.outputs.clone(),
        ..FitOptions::default()
    };
    let failed = |error: FitError| source.in_user_terms(error);
    // The last climb of the joint model keeps one core busy; the others learn the single outputs meanwhile.
    let (fit, singles) = rayon::join(
        || fit_watched(&data, &options, console),
        || -> Result<Vec<Single>, FitError> {
            let single = |(gap, place): (&Gap, &(usize, Range<usize>))| {
                Single::learned(&source, place.0, &options, gap.output)
            };
            GAPS.par_iter().zip(&gaps).map(single).collect()
        },
    );
    let (fit, singles) = (fit.map_err(failed)?, singles.map_err(failed)?);
    warn(&fit, console);
    let predictive = fit.predict_rows(Quantity::Observation).map_err(failed)?;

    let mut results = vec![];
    for ((gap, place), single) in GAPS.iter().zip(&gaps).zip(&singles) {
        let judge = |name, predictive: &Predictive, n_outputs, output| {
            outcome(name, predictive, n_outputs, output, &place.1, &truth, place.0, source.frame.n_outputs())
        };
        let outcomes = [
            judge("catena, all outputs together", &predictive, source.frame.n_outputs(), place.0),
            judge("this output alone", &single.learned, 1, 0),
            judge("interpolation", &single.line, 1, 0),
        ];
        results.push((gap, outcomes));
    }

    let about =
        About { data: "nyc_airport_weather_2013.csv".to_owned(), ..About::new(&source.frame, None, &[]) };
    let filled = directory.join("filled.csv");
    write_table(&filled_table(&source.frame, &predictive), &Target::new(&filled, None)?)?;
    let report = directory.join("report.html");
    write_text(&report, &page("New York airport weather, 2013", &fit, &about, &truth)?)?;
    if speech.json {
        return print_json(&to_json(&results, &fit));
    }
    print_text(&to_text(&results))?;
    console.say(format!("wrote {} and {}", filled.display(), report.display()));
    Ok(())
}

/// The output and rows of a gap.
fn place_of(gap: &Gap, frame: &Frame) -> (usize, Range<usize>) {
    let output = frame.outputs.iter().position(|name| name == gap.output).unwrap_or(0);
    let instant = Instant::from_nanoseconds(i128::from(gap.begin) * 1_000_000_000);
    let input = &frame.inputs[0];
    let number = input.time.as_ref().map_or(0.0, |axis| axis.number_of(instant));
    // The embedded table has every hour once, in order.
    let begin = input.values.partition_point(|value| *value < number);
    (output, begin..(begin + GAP_HOURS).min(frame.n_rows()))
}

/// Empties the cells of the gaps; gives what stood there, row-major, and NaN elsewhere.
fn hide(frame: &mut Frame, gaps: &[(usize, Range<usize>)]) -> Vec<f64> {
    let n_outputs = frame.n_outputs();
    let mut truth = vec![f64::NAN; frame.values.len()];
    for (output, rows) in gaps {
        for row in rows.clone() {
            let at = row * n_outputs + output;
            truth[at] = std::mem::replace(&mut frame.values[at], f64::NAN);
        }
    }
    truth
}

#[expect(clippy::too_many_arguments, reason = "the same cells are found in two tables of different width")]
fn outcome(
    name: &'static str,
    predictive: &Predictive,
    n_predicted: usize,
    predicted: usize,
    rows: &Range<usize>,
    truth: &[f64],
    output: usize,
    n_outputs: usize,
) -> Outcome {
    let cells = rows.clone().map(|row| (row * n_predicted + predicted, truth[row * n_outputs + output]));
    let scores = catena_fit::scores::score(
        predictive,
        cells.filter(|(_, value)| !value.is_nan()),
        &vec![1.0; n_predicted],
    );
    Outcome { name, rmse: scores.rmse, coverage: scores.coverage }
}

/// What one output says of itself, without the others.
struct Single {
    learned: Predictive,
    line: Predictive,
}

impl Single {
    /// Learned the same way as all outputs together.
    fn learned(source: &Source, output: usize, options: &FitOptions, name: &str) -> Result<Self, FitError> {
        let alone = alone(source, output)?;
        let options = FitOptions { output_names: vec![name.to_owned()], ..options.clone() };
        let fit = fit_watched(&alone, &options, crate::console::Console::new(true))?;
        Ok(Self { learned: fit.predict_rows(Quantity::Observation)?, line: interpolated(&alone)? })
    }
}

/// One output as a table of its own.
fn alone(source: &Source, output: usize) -> Result<Dataset, FitError> {
    let all = dataset(&source.frame)?;
    let n_outputs = source.frame.n_outputs();
    let values: Vec<f64> = source.frame.values.iter().skip(output).step_by(n_outputs).copied().collect();
    let inputs = InputPoints::from_column(all.inputs().values().to_vec())?;
    Ok(Dataset::new(inputs, Observations::from_dense(all.n_rows(), 1, &values)?)?)
}

fn interpolated(alone: &Dataset) -> Result<Predictive, FitError> {
    let prediction = LinearInterpolation::fit(alone)?.predict(alone.inputs())?;
    let deviations = prediction.variances().iter().map(|variance| variance.sqrt()).collect();
    Ok(Predictive::normal(1, prediction.means().to_vec(), deviations))
}

fn filled_table(frame: &Frame, predictive: &Predictive) -> Table {
    let n_outputs = frame.n_outputs();
    let cell = |at: usize| if frame.values[at].is_nan() { predictive.mean(at) } else { frame.values[at] };
    let column = |output: usize| (0..frame.n_rows()).map(|row| cell(row * n_outputs + output)).collect();
    let mut columns = frame.to_input_columns();
    columns.extend(
        frame.outputs.iter().enumerate().map(|(output, name)| Column::numbers(name.clone(), column(output))),
    );
    Table::new(columns)
}

fn to_text(results: &[(&Gap, [Outcome; 3])]) -> String {
    let mut lines = vec![];
    for (gap, outcomes) in results {
        lines.push(format!("{}, {GAP_HOURS} hours from {}", gap.output, gap.when));
        for Outcome { name, rmse, coverage } in outcomes {
            let percent = 100.0 * coverage;
            lines.push(format!(
                "  {name:<30} error {rmse:>6.2} {:<4} {percent:>5.0} % inside 95 % bands",
                gap.unit
            ));
        }
    }
    lines.join("\n") + "\n"
}

fn to_json(results: &[(&Gap, [Outcome; 3])], fit: &Fit) -> Value {
    let outcome = |outcome: &Outcome| json!({"name": outcome.name, "rmse": outcome.rmse, "coverage95": outcome.coverage});
    let gap = |(gap, outcomes): &(&Gap, [Outcome; 3])| {
        let outcomes: Vec<Value> = outcomes.iter().map(outcome).collect();
        json!({"output": gap.output, "from": gap.when, "hours": GAP_HOURS, "unit": gap.unit, "methods": outcomes})
    };
    let gaps: Vec<Value> = results.iter().map(gap).collect();
    json!({"gaps": gaps, "model": crate::scoreboard::summary_json(fit.summary())})
}
