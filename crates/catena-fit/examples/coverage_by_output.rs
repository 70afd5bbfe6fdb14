//! Are bands as wide as they should be? Hides a tenth of the demo's cells, fits, and counts how many lie in bands of 50, 80 and
//! 95 %, output by output: `cargo run --release -p catena-fit --example coverage_by_output -- [quick|default|thorough]`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;

use catena_fit::{Budget, FitOptions, Quantity, fit};
use catena_testkit::weather_table::weather_with_random_holes;

const SHARE: f64 = 0.1;
const SEED: u64 = 1;
/// Bands and what they leave out.
const BANDS: [(&str, f64); 3] = [("50 %", 0.5), ("80 %", 0.2), ("95 %", 0.05)];

fn main() -> Result<(), Box<dyn Error>> {
    let budget = match std::env::args().nth(1).as_deref() {
        Some("quick") => Budget::Quick,
        Some("thorough") => Budget::Thorough,
        _ => Budget::Default,
    };
    let (names, table) = weather_with_random_holes(SHARE, SEED);
    let options = FitOptions { budget, ..FitOptions::default() };
    let fitted = fit(&table.dataset()?, &options, &|_| ControlFlow::Continue(()))?;
    let predictive = fitted.predict_rows(Quantity::Observation)?;
    let heads: Vec<String> = BANDS.iter().map(|(name, _)| format!("in {name}")).collect();
    println!("| output | hidden cells | RMSE | {} |\n|---|---|---|---|---|---|", heads.join(" | "));
    for (output, name) in names.iter().enumerate() {
        let mut n_inside = [0_usize; BANDS.len()];
        let (mut n_cells, mut squares) = (0, 0.0);
        for (at, truth) in table.hidden.iter().filter(|(at, _)| at % table.n_outputs == output) {
            let error = truth - predictive.mean(*at);
            for (count, (_, outside)) in n_inside.iter_mut().zip(BANDS) {
                let band =
                    predictive.quantile(*at, 0.5 * outside)..=predictive.quantile(*at, 1.0 - 0.5 * outside);
                *count += usize::from(band.contains(truth));
            }
            n_cells += 1;
            squares += error * error;
        }
        let rmse = (squares / n_cells as f64).sqrt();
        let shares = n_inside.map(|count| format!("{:.1} %", 100.0 * count as f64 / n_cells as f64));
        println!("| {name} | {n_cells} | {rmse:.2} | {} |", shares.join(" | "));
    }
    Ok(())
}
