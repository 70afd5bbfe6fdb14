//! From a table to an answer in one call: everything is chosen and learned, and the summary says what and why.
//!
//! Two years of three made-up river gauges, read once a day, each silent for weeks. Nothing about the model is given.

#![allow(clippy::print_stdout, reason = "an example is there to be read")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, FitOptions, Quantity, fit};

const GAUGES: [&str; 3] = ["upper", "mill", "delta"];
const DAYS: usize = 700;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let days: Vec<f64> = (0..DAYS).map(|day| day as f64).collect();
    let truth: Vec<f64> = days.iter().flat_map(|&day| levels(day)).collect();
    // Gauge g is silent for five weeks, twice.
    let is_silent = |day: usize, gauge: usize| (day + 90 * gauge) % 300 < 35;
    let seen = |at: usize| if is_silent(at / 3, at % 3) { f64::NAN } else { truth[at] };
    let values: Vec<f64> = (0..truth.len()).map(seen).collect();
    let table = Dataset::new(InputPoints::from_column(days)?, Observations::from_dense(DAYS, 3, &values)?)?;

    let options = FitOptions {
        budget: Budget::Quick,
        output_names: GAUGES.iter().map(|name| (*name).to_owned()).collect(),
        ..FitOptions::default()
    };
    let fitted = fit(&table, &options, &|_| ControlFlow::Continue(()))?;
    println!("{}", fitted.summary().to_text(&|days| format!("{days:.1} d")));

    let filled = fitted.predict_rows(Quantity::Observation)?;
    let hidden: Vec<usize> = (0..truth.len()).filter(|&at| values[at].is_nan()).collect();
    let squares: f64 = hidden.iter().map(|&at| (filled.mean(at) - truth[at]).powi(2)).sum();
    let inside = |at: usize| (filled.quantile(at, 0.025)..=filled.quantile(at, 0.975)).contains(&truth[at]);
    let covered = hidden.iter().filter(|&&at| inside(at)).count();
    println!(
        "{} silent days filled with an error of {:.3} m; {covered} of them inside their 95 % band",
        hidden.len(),
        (squares / hidden.len() as f64).sqrt()
    );
    Ok(())
}

/// Levels in meters: rain that passes all gauges in turn, a season, and a ripple of each gauge's own.
fn levels(day: f64) -> [f64; 3] {
    let rain = |day: f64| (day / 5.3).sin() * (day / 17.0).cos() + 0.5 * (day / 2.9).sin();
    let season = (day / 58.0).sin();
    let ripple = |gauge: f64| 0.02 * (day * (7.1 + gauge)).sin();
    [
        1.2 + 0.4 * rain(day) + 0.3 * season + ripple(0.0),
        2.0 + 0.5 * rain(day - 0.6) + 0.4 * season + ripple(1.0),
        3.1 + 0.3 * rain(day - 1.5) + 0.6 * season + ripple(2.0),
    ]
}
