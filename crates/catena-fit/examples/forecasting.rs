//! Forecasts and outages on a table of hourly rows (the first column is the time and is taken as one row an hour):
//! `cargo run --release -p catena-fit --example forecasting -- FILE.csv [SPEC] [quick|default|thorough] [outages|holes]`.
//!
//! Learns on the first 4000 rows, then forecasts from 400 origins every 11 hours with parameters frozen. SPEC is such as
//! `sho+rw+qp(24)`; `24` stands for `auto` with that period, `auto` for a model that looks for periods itself. With `outages`:
//! rows 4501 to 8500 with twelve outages of 24 hours in each output, learned with the gaps in it. With `holes`: the same rows with
//! the same outages, and with a tenth of the cells missing at random; the model along time beside the default one, without a season.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::forecast::{Rolling, rolling};
use catena_fit::scores::score;
use catena_fit::{Budget, FitOptions, Quantity, TimeOptions, TimeSpec, fit};
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression};
use catena_studies::gap_table::GapTable;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

struct Hours {
    names: Vec<String>,
    values: Vec<f64>,
}

impl Hours {
    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(path)?;
        let mut lines = text.lines();
        let names: Vec<String> =
            lines.next().ok_or("an empty file")?.split(',').skip(1).map(str::to_owned).collect();
        let cell = |cell: &str| cell.trim().parse().unwrap_or(f64::NAN);
        let values = lines.flat_map(|line| line.split(',').skip(1).map(cell).collect::<Vec<_>>()).collect();
        Ok(Self { names, values })
    }

    fn rows(&self, rows: std::ops::Range<usize>) -> Result<Dataset, Box<dyn Error>> {
        let n_outputs = self.names.len();
        let inputs = InputPoints::from_column(rows.clone().map(|row| row as f64).collect())?;
        let values = &self.values[rows.start * n_outputs..rows.end * n_outputs];
        Ok(Dataset::new(inputs, Observations::from_dense(rows.len(), n_outputs, values)?)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let hours = Hours::read(arguments.first().ok_or("give the path of a table of hourly rows")?)?;
    let spec = arguments.get(1).map_or("24", String::as_str);
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number of hours"));
    let time = match spec {
        "auto" => TimeOptions::default(),
        period if number(period).is_ok() => {
            TimeOptions { periods: vec![number(period)?], ..TimeOptions::default() }
        }
        text => TimeOptions { spec: Some(TimeSpec::parse(text, &number)?), ..TimeOptions::default() },
    };
    let budget = match arguments.get(2).map(String::as_str) {
        Some("quick") => Budget::Quick,
        Some("thorough") => Budget::Thorough,
        _ => Budget::Default,
    };
    let options =
        FitOptions { time: Some(time), budget, output_names: hours.names.clone(), ..FitOptions::default() };
    match arguments.get(3).map(String::as_str) {
        Some("outages") => outages(&hours, &options),
        Some("holes") => holes(&hours, &options),
        Some(other) => Err(format!("`{other}` is neither outages nor holes").into()),
        None => forecasts(&hours, &options),
    }
}

fn forecasts(hours: &Hours, options: &FitOptions) -> Result<(), Box<dyn Error>> {
    let n_rows = hours.values.len() / hours.names.len();
    let begin = Instant::now();
    let fitted = fit(&hours.rows(0..4000)?, options, &|_| ControlFlow::Continue(()))?;
    println!("{}", fitted.summary().decisions.join("\n"));
    println!("{}\n{}", fitted.summary().ending, fitted.summary().warnings.join("\n"));
    println!(
        "learned in {:.1} s, {} evaluations",
        begin.elapsed().as_secs_f64(),
        fitted.summary().n_evaluations
    );
    let begin = Instant::now();
    let asked = Rolling {
        first: 4000,
        every: 11,
        origins: 400,
        horizons: vec![1.0, 6.0, 24.0, 96.0, 168.0],
        season: Some(24.0),
        interval: 0.9,
    };
    let scores = rolling(&fitted, &hours.rows(0..n_rows)?, &asked)?;
    println!("400 origins in {:.1} s", begin.elapsed().as_secs_f64());
    println!(
        "{:<12} {:>7} {:>8} {:>8} {:>9} {:>7}",
        "predictor", "horizon", "cells", "RMSE", "log score", "90 %"
    );
    for score in scores {
        println!(
            "{:<12} {:>7} {:>8} {:>8.3} {:>9.3} {:>6.1}%",
            score.name,
            score.horizon,
            score.n_cells,
            score.rmse,
            score.log_score,
            100.0 * score.coverage
        );
    }
    Ok(())
}

/// The first row of what is filled, and how many there are.
const FILLED: (usize, usize) = (4500, 4000);

/// Twelve outages of 24 hours per output, never two at once, at starts drawn once: the cells that are hidden.
fn outage_cells(n_outputs: usize) -> Vec<usize> {
    const OUTAGE: usize = 24;
    let (_, n_rows) = FILLED;
    let mut generator = ChaCha8Rng::seed_from_u64(0);
    let mut starts: Vec<(usize, usize)> = vec![];
    for output in 0..n_outputs {
        let mut count = 0;
        while count < 12 {
            let start = (generator.next_u64() % (n_rows - OUTAGE) as u64) as usize;
            if starts.iter().all(|(other, _)| other.abs_diff(start) >= OUTAGE) {
                starts.push((start, output));
                count += 1;
            }
        }
    }
    let cells =
        |&(start, output): &(usize, usize)| (start..start + OUTAGE).map(move |row| row * n_outputs + output);
    starts.iter().flat_map(cells).collect()
}

/// A tenth of all cells, drawn once.
fn random_cells(n_outputs: usize) -> Vec<usize> {
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    (0..FILLED.1 * n_outputs).filter(|_| generator.next_u64() % 10 == 0).collect()
}

/// The rows that are filled without these cells; errors count in standard deviations of the first 4000 rows.
fn table_without(hours: &Hours, cells: Vec<usize>) -> Result<GapTable, Box<dyn Error>> {
    let (n_outputs, (first, n_rows)) = (hours.names.len(), FILLED);
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect())?;
    let values = hours.values[first * n_outputs..(first + n_rows) * n_outputs].to_vec();
    let mut table = GapTable::new("rows 4501 to 8500", inputs, n_outputs, values, cells)?;
    let before = hours.values[..4000 * n_outputs].to_vec();
    let before = GapTable::new("first rows", table.inputs.clone(), n_outputs, before, [])?;
    table.deviations = before.deviations;
    Ok(table)
}

/// Holes of two kinds, filled by the model along time and by the default one.
fn holes(hours: &Hours, along_time: &FitOptions) -> Result<(), Box<dyn Error>> {
    let default = FitOptions { time: None, ..along_time.clone() };
    println!(
        "{:<9} {:<12} {:>7} {:>8} {:>9} {:>7} {:>8}",
        "holes", "model", "cells", "RMSE", "log score", "90 %", "seconds"
    );
    let kinds = [("random", random_cells(hours.names.len())), ("outages", outage_cells(hours.names.len()))];
    for (kind, cells) in kinds {
        let table = table_without(hours, cells)?;
        for (name, options) in [("default", &default), ("along time", along_time)] {
            let begin = Instant::now();
            let fitted = fit(&table.dataset()?, options, &|_| ControlFlow::Continue(()))?;
            let found = fitted.predict_rows(Quantity::Observation)?;
            let seconds = begin.elapsed().as_secs_f64();
            let scores = score(&found, table.hidden.iter().copied(), &table.deviations);
            let is_inside =
                |&&(at, truth): &&(usize, f64)| (0.05..=0.95).contains(&found.probability_below(at, truth));
            let inside = table.hidden.iter().filter(is_inside).count();
            println!(
                "{kind:<9} {name:<12} {:>7} {:>8.4} {:>9.3} {:>6.1}% {seconds:>8.1}",
                scores.n_cells,
                scores.rmse,
                scores.log_score,
                100.0 * inside as f64 / scores.n_cells as f64
            );
        }
    }
    Ok(())
}

/// Outages, filled by interpolation, by the other outputs, by each output alone and by all together.
fn outages(hours: &Hours, options: &FitOptions) -> Result<(), Box<dyn Error>> {
    let (n_outputs, (_, n_rows)) = (hours.names.len(), FILLED);
    let table = table_without(hours, outage_cells(n_outputs))?;
    let gapped = table.dataset()?;
    println!("{} hidden cells", table.hidden.len());
    let rmse = |predicted: &dyn Fn(usize) -> f64| {
        let square = |&(at, truth): &(usize, f64)| {
            ((predicted(at) - truth) / table.deviations[at % n_outputs]).powi(2)
        };
        (table.hidden.iter().map(square).sum::<f64>() / table.hidden.len() as f64).sqrt()
    };
    let straight = LinearInterpolation::fit(&gapped)?.predict(gapped.inputs())?;
    println!("interpolation        {:.4}", rmse(&|at| straight.means()[at]));
    let others = RidgeRegression::fit(gapped.observations(), 1.0)?.predict(gapped.observations())?;
    println!("ridge on the others  {:.4}", rmse(&|at| others.means()[at]));
    let begin = Instant::now();
    let joint = fit(&gapped, options, &|_| ControlFlow::Continue(()))?;
    let seconds = begin.elapsed().as_secs_f64();
    let found = joint.predict_rows(Quantity::Observation)?;
    let mut alone = vec![f64::NAN; n_rows * n_outputs];
    for output in 0..n_outputs {
        let column: Vec<f64> = (0..n_rows).map(|row| table.values[row * n_outputs + output]).collect();
        let single = Dataset::new(table.inputs.clone(), Observations::from_dense(n_rows, 1, &column)?)?;
        let options = FitOptions { output_names: vec![hours.names[output].clone()], ..options.clone() };
        let means = fit(&single, &options, &|_| ControlFlow::Continue(()))?
            .predict_rows(Quantity::Observation)?
            .means();
        (0..n_rows).for_each(|row| alone[row * n_outputs + output] = means[row]);
    }
    let (single, ours) = (rmse(&|at| alone[at]), rmse(&|at| found.mean(at)));
    println!("each output alone    {single:.4}");
    println!("catena               {ours:.4}   {:.2} of alone, in {seconds:.1} s", ours / single);
    println!("{}", joint.summary().decisions.join("\n"));
    Ok(())
}
