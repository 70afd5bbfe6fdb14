//! Airport weather with coordinates: long with space and time against a column per airport, and airports left out entirely.
//! `cargo run --release -p catena-fit --example space_weather [quick|default|thorough]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example that prints a table")]

use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::scores::score;
use catena_fit::{Budget, Fit, FitOptions, Geometry, MethodChoice, Predictive, Quantity, fit};

const WEATHER: &str = include_str!("../../catena-cli/data/nyc_airport_weather_2013.csv");
/// Latitude and longitude of EWR, JFK and LGA.
const AIRPORTS: [[f64; 2]; 3] = [[40.6925, -74.1687], [40.6398, -73.7789], [40.7769, -73.8740]];
const N_OUTPUTS: usize = 3;

fn main() {
    let budget = match std::env::args().nth(1).as_deref() {
        Some("quick") => Budget::Quick,
        Some("thorough") => Budget::Thorough,
        _ => Budget::Default,
    };
    let wide = weather();
    let n_times = wide.len() / (3 * N_OUTPUTS);
    println!(
        "{n_times} hours of 3 airports, temperature, dew point and pressure at each, in standard deviations"
    );
    let scales = scales(&wide);
    // Gaps of 96 hours every 800 hours: temperature at LGA and pressure at JFK, as in the demonstration.
    let in_gap = |time: usize| time >= 500 && (time - 500) % 800 < 96 && (time - 500) / 800 < 10;
    let is_hidden = |cell: usize| {
        let (time, column) = (cell / 9, cell % 9);
        in_gap(time) && (column == 6 || column == 5)
    };
    let hidden: Vec<usize> =
        (0..wide.len()).filter(|&cell| is_hidden(cell) && !wide[cell].is_nan()).collect();
    for column in [6, 5] {
        println!(
            "{} hours of column {column} in ten gaps",
            hidden.iter().filter(|cell| **cell % 9 == column).count()
        );
    }
    let known: Vec<f64> =
        wide.iter().enumerate().map(|(cell, &x)| if is_hidden(cell) { f64::NAN } else { x }).collect();
    let options = FitOptions { budget, ..FitOptions::default() };
    let begin = Instant::now();
    let by_column = run(&table_of(&known, 9, None), &options);
    shown(
        "a column per airport",
        &by_column.predict_rows(Quantity::Observation).unwrap(),
        &hidden,
        &wide,
        &scales,
        begin,
    );
    let space = FitOptions { method: MethodChoice::Space { geometry: Geometry::LatLon }, ..options.clone() };
    let begin = Instant::now();
    let fields = run(&long_of(&known), &space);
    shown(
        "space and time",
        &fields.predict_rows(Quantity::Observation).unwrap(),
        &hidden,
        &wide,
        &scales,
        begin,
    );
    for decision in &fields.summary().decisions {
        println!("  {decision}");
    }
    for latent in &fields.summary().latents {
        println!("  {} {:?} share {:.3}", latent.kernel, latent.length_scales, latent.share);
    }
    println!("an airport left out entirely: error of each output");
    for out in 0..3 {
        let known: Vec<f64> =
            (0..wide.len()).map(|cell| if cell % 9 / 3 == out { f64::NAN } else { wide[cell] }).collect();
        let begin = Instant::now();
        let long = long_of(&known);
        // The airport is no place of the table.
        let rows: Vec<_> = long.inputs().rows().filter(|row| row.get() % 3 != out).collect();
        let fields = run(&long.select_rows(&rows).unwrap(), &space);
        let at: Vec<f64> =
            (0..n_times).flat_map(|time| [AIRPORTS[out][0], AIRPORTS[out][1], time as f64]).collect();
        let at = InputPoints::new(n_times, 3, at).unwrap();
        let found = fields.predict(&at, Quantity::Observation).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        for decision in &fields.summary().decisions {
            println!("    {decision}");
        }
        for latent in &fields.summary().latents {
            println!("    {} {:?} share {:.3}", latent.kernel, latent.length_scales, latent.share);
        }
        let others: Vec<usize> = (0..3).filter(|other| *other != out).collect();
        let distance = |other: usize| {
            let [lat, lon] = AIRPORTS[other];
            let cosine = lat.to_radians().cos();
            ((lat - AIRPORTS[out][0]).powi(2) + ((lon - AIRPORTS[out][1]) * cosine).powi(2)).sqrt()
        };
        let nearest = *others.iter().min_by(|a, b| distance(**a).total_cmp(&distance(**b))).unwrap();
        let by_weights = |weight: &dyn Fn(usize) -> f64, cell: usize| {
            let cells =
                others.iter().map(|other| (weight(*other), wide[cell / 9 * 9 + 3 * other + cell % 3]));
            let known: Vec<(f64, f64)> = cells.filter(|(_, value)| !value.is_nan()).collect();
            known.iter().map(|(weight, value)| weight * value).sum::<f64>()
                / known.iter().map(|(weight, _)| weight).sum::<f64>()
        };
        let error = |output: usize, answer: &dyn Fn(usize) -> f64| {
            let cells =
                (0..n_times).map(|time| 9 * time + 3 * out + output).filter(|&cell| !wide[cell].is_nan());
            let squares: Vec<f64> = cells
                .map(|cell| ((answer(cell) - wide[cell]) / scales[cell % 9]).powi(2))
                .filter(|square| !square.is_nan())
                .collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        };
        let name = ["EWR", "JFK", "LGA"][out];
        for output in 0..N_OUTPUTS {
            let inside = (0..n_times).filter(|&time| {
                let below = found.probability_below(3 * time + output, wide[9 * time + 3 * out + output]);
                (0.025..=0.975).contains(&below)
            });
            println!(
                "  {name} {}: space and time {:.3} (coverage {:.3}), nearest {:.3}, inverse squared distance {:.3}  [{seconds:.0} s]",
                ["temperature", "dew point", "pressure"][output],
                error(output, &|cell| found.mean(cell / 9 * 3 + output)),
                inside.count() as f64 / n_times as f64,
                error(output, &|cell| by_weights(&|other| f64::from(u8::from(other == nearest)), cell)),
                error(output, &|cell| by_weights(&|other| distance(other).powi(-2), cell)),
            );
        }
    }
}

fn weather() -> Vec<f64> {
    WEATHER
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').skip(1).map(|cell| cell.parse().unwrap_or(f64::NAN)))
        .collect()
}

/// The standard deviation of each column.
fn scales(wide: &[f64]) -> Vec<f64> {
    let of_column = |column: usize| {
        let values: Vec<f64> = wide.iter().skip(column).step_by(9).copied().filter(|x| !x.is_nan()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    };
    (0..9).map(of_column).collect()
}

fn table_of(values: &[f64], n_outputs: usize, inputs: Option<InputPoints>) -> Dataset {
    let n_rows = values.len() / n_outputs;
    let inputs = inputs
        .unwrap_or_else(|| InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap());
    Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, values).unwrap()).unwrap()
}

/// One row per hour and airport; its cells are those of the wide table in the same order.
fn long_of(wide: &[f64]) -> Dataset {
    let n_rows = wide.len() / N_OUTPUTS;
    let inputs =
        (0..n_rows).flat_map(|row| [AIRPORTS[row % 3][0], AIRPORTS[row % 3][1], (row / 3) as f64]).collect();
    table_of(wide, N_OUTPUTS, Some(InputPoints::new(n_rows, 3, inputs).unwrap()))
}

fn run(table: &Dataset, options: &FitOptions) -> Fit {
    fit(table, options, &|_| ControlFlow::Continue(())).unwrap()
}

fn shown(name: &str, found: &Predictive, hidden: &[usize], wide: &[f64], scales: &[f64], begin: Instant) {
    let seconds = begin.elapsed().as_secs_f64();
    for (which, columns) in
        [("all", vec![5, 6]), ("temperature at LGA", vec![6]), ("pressure at JFK", vec![5])]
    {
        let cells =
            hidden.iter().filter(|cell| columns.contains(&(**cell % 9))).map(|&cell| (cell, wide[cell]));
        let cells: Vec<(usize, f64)> = cells.collect();
        let (mut squares, mut log_score, mut inside) = (0.0, 0.0, 0.0);
        for &(cell, value) in &cells {
            let scale = scales[cell % 9];
            let one = score(found, [(cell, value)], &[1.0]);
            squares += (one.rmse / scale).powi(2);
            log_score += one.log_score + scale.ln();
            inside += one.coverage;
        }
        let count = cells.len() as f64;
        println!(
            "{name}, {which}: error {:.3}, log score {:.3}, coverage {:.3}  [{seconds:.0} s]",
            (squares / count).sqrt(),
            log_score / count,
            inside / count
        );
    }
}
