//! `demo`: fits a year of weather with two gaps whose true values are known, and writes a page.
//!
//! Only the table is embedded; all parameters are learned when the command runs.

use std::ops::Range;
use std::path::PathBuf;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Fit, FitError, FitOptions, Predictive, Quantity};
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

use crate::arguments::Printing;
use crate::console::Console;
use crate::error::CliError;
use crate::learning::{fit_watched, use_threads, warn};
use crate::parameters::write_text;
use crate::scoreboard::{print_json, print_text};
use crate::source::{Source, choose};
use crate::verbs::completion::make_folder;

const EXAMPLES: &str = "\
Examples:
  catena demo                     learn, fill two gaps and print the errors; writes demo/filled.csv and demo/report.html
  catena demo --directory /tmp/weather";

/// Options of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Directory to write to; created if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    directory: PathBuf,
    /// Number of threads [default: all cores].
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    printing: Printing,
}

const WEATHER: &str = include_str!("../../data/nyc_airport_weather_2013.csv");

/// A gap to create: an output, and the Unix time in seconds at which it begins.
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

/// A gap in the table, with the held-out values.
struct HeldOut {
    gap: &'static Gap,
    output: usize,
    rows: Range<usize>,
    truth: Vec<f64>,
}

/// Scores of a method on one gap.
struct Outcome {
    name: &'static str,
    rmse: f64,
    /// Fraction of held-out hours inside their 95 % intervals.
    coverage: f64,
}

/// Runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { directory, threads, printing } = arguments;
    let console = printing.console();
    use_threads(*threads)?;
    make_folder(directory)?;
    let table = read_pipe(WEATHER.as_bytes(), &ReadOptions::default(), &mut |_, _| {})?;
    let mut source = choose(table, &Selection::default(), Console::new(true))?;
    let n_empty = source.frame.values.iter().filter(|value| value.is_nan()).count();
    let held_out = GAPS.each_ref().map(|gap| HeldOut::new(gap, &mut source.frame));
    console.say(beginning(&source.frame, n_empty));

    let data = source.dataset()?;
    let options = FitOptions {
        input_names: vec![source.frame.inputs[0].name.clone()],
        output_names: source.frame.outputs.clone(),
        ..FitOptions::default()
    };
    let failed = |error: FitError| source.in_user_terms(error);
    // The last optimization of the joint model keeps one core busy; the others learn the single outputs meanwhile.
    let (fit, singles) = rayon::join(
        || fit_watched(&data, &options, console),
        || {
            held_out
                .par_iter()
                .map(|gap| Single::learned(&source, gap, &options))
                .collect::<Result<Vec<_>, _>>()
        },
    );
    let (fit, singles) = (fit.map_err(failed)?, singles.map_err(failed)?);
    warn(&fit, console);
    let predictive = fit.predict_rows(Quantity::Observation).map_err(failed)?;

    let outcomes = |(gap, single): (&HeldOut, &Single)| {
        let outcomes = [
            gap.outcome("catena, all sensors together", &predictive, gap.output),
            gap.outcome("catena, this sensor alone", &single.learned, 0),
            gap.outcome("interpolation", &single.line, 0),
        ];
        (gap.gap, outcomes)
    };
    let results: Vec<_> = held_out.iter().zip(&singles).map(outcomes).collect();

    let about =
        About { data: "nyc_airport_weather_2013.csv".to_owned(), ..About::new(&source.frame, None, &[]) };
    let filled = directory.join("filled.csv");
    write_table(&filled_table(&source.frame, &predictive), &Target::new(&filled, None)?)?;
    let mut truth = vec![f64::NAN; source.frame.values.len()];
    for gap in &held_out {
        for (row, value) in gap.rows.clone().zip(&gap.truth) {
            truth[row * source.frame.n_outputs() + gap.output] = *value;
        }
    }
    let report = directory.join("report.html");
    write_text(&report, &page("New York airport weather, 2013", &fit, &about, &truth)?)?;
    if printing.json {
        return print_json(&to_json(&results, &fit));
    }
    print_text(&to_text(&results))?;
    console.say(format!(
        "wrote {}, the table with every gap filled, and {}: open it, it begins with the two silent sensors",
        filled.display(),
        report.display()
    ));
    Ok(())
}

/// What the table is, and which values are hidden.
fn beginning(frame: &Frame, n_empty: usize) -> String {
    let [first, second] = &GAPS;
    format!(
        "A year of weather at three airports: {} hours, {} sensors, {n_empty} empty cells.\n\
         Two sensors fall silent for {} days: {} on {}, {} on {}. Their true values are put aside.",
        frame.n_rows(),
        frame.n_outputs(),
        GAP_HOURS / 24,
        first.output,
        first.when,
        second.output,
        second.when
    )
}

impl HeldOut {
    /// Empties the cells of a gap and keeps their values.
    fn new(gap: &'static Gap, frame: &mut Frame) -> Self {
        let (n_rows, n_outputs) = (frame.n_rows(), frame.n_outputs());
        let output = frame.outputs.iter().position(|name| name == gap.output).unwrap_or(0);
        let instant = Instant::from_nanoseconds(i128::from(gap.begin) * 1_000_000_000);
        let input = &frame.inputs[0];
        let number = input.time.as_ref().and_then(|axis| axis.number_of(instant)).unwrap_or(0.0);
        // The embedded table has every hour once, in ascending order.
        let begin = input.values.partition_point(|value| *value < number);
        let rows = begin..(begin + GAP_HOURS).min(n_rows);
        let mut take = |row| std::mem::replace(&mut frame.values[row * n_outputs + output], f64::NAN);
        let truth = rows.clone().map(&mut take).collect();
        Self { gap, output, rows, truth }
    }

    /// Scores a prediction whose column `column` is this output.
    fn outcome(&self, name: &'static str, predictive: &Predictive, column: usize) -> Outcome {
        let n_columns = predictive.n_outputs();
        let cells = self.rows.clone().zip(&self.truth).filter(|(_, value)| !value.is_nan());
        let cells = cells.map(|(row, value)| (row * n_columns + column, *value));
        let scores = catena_fit::scores::score(predictive, cells, &vec![1.0; n_columns]);
        Outcome { name, rmse: scores.rmse, coverage: scores.coverage }
    }
}

/// Predictions of one output from its own values only.
struct Single {
    learned: Predictive,
    line: Predictive,
}

impl Single {
    /// Learned with the same options as the joint model.
    fn learned(source: &Source, gap: &HeldOut, options: &FitOptions) -> Result<Self, FitError> {
        let frame = &source.frame;
        let values: Vec<f64> =
            frame.values.iter().skip(gap.output).step_by(frame.n_outputs()).copied().collect();
        let observations = Observations::from_dense(frame.n_rows(), 1, &values)?;
        let alone = Dataset::new(InputPoints::from_column(frame.to_input_rows())?, observations)?;
        let options = FitOptions { output_names: vec![gap.gap.output.to_owned()], ..options.clone() };
        let fit = fit_watched(&alone, &options, Console::new(true))?;
        Ok(Self { learned: fit.predict_rows(Quantity::Observation)?, line: interpolated(&alone)? })
    }
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

/// The errors, one column per gap.
fn to_text(results: &[(&Gap, [Outcome; 3])]) -> String {
    let cells = |write: &dyn Fn(&Gap, &[Outcome; 3]) -> String| -> String {
        results.iter().map(|(gap, outcomes)| format!("{:>24}", write(gap, outcomes))).collect()
    };
    let mut lines = vec![format!("{:<30}{}", "error while silent", cells(&|gap, _| gap.output.to_owned()))];
    for at in 0..3 {
        let name = results.first().map_or("", |(_, outcomes)| outcomes[at].name);
        lines.push(format!(
            "{name:<30}{}",
            cells(&|gap, outcomes| format!("{:.2} {:<3}", outcomes[at].rmse, gap.unit))
        ));
    }
    let inside = cells(&|_, outcomes| format!("{:.0} %", 100.0 * outcomes[0].coverage));
    lines.push(format!("{:<30}{inside}", "true values inside 95 % bands"));
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
