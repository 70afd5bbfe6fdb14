//! Learns the ETTh1 table over time with default settings and scores the hidden cells:
//! `cargo run --release -p catena-fit --example gap_filling -- ETTh1.csv [ROWS] [quick|default|thorough] [PERIOD]`.
//!
//! With a period in hours it learns a model along time instead; `0` looks for periods itself.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use catena_fit::scores::score;
use catena_fit::{Budget, FitOptions, Quantity, TimeOptions, fit};
use catena_studies::gap_table::ett_over_time;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("give the path of ETTh1.csv")?;
    let n_rows = arguments.get(1).map_or(Ok(4000), |text| text.parse())?;
    let budget = match arguments.get(2).map(String::as_str) {
        Some("quick") => Budget::Quick,
        Some("thorough") => Budget::Thorough,
        _ => Budget::Default,
    };
    let table = ett_over_time(&std::fs::read_to_string(path)?, n_rows, 0)?;
    let names = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"];
    let output_names = names.iter().map(|name| (*name).to_owned()).collect();
    let time = arguments.get(3).map(|text| text.parse()).transpose()?.map(|period: f64| TimeOptions {
        periods: [period].into_iter().filter(|period| *period > 0.0).collect(),
        ..TimeOptions::default()
    });
    let options = FitOptions { budget, time, output_names, ..FitOptions::default() };
    let begin = Instant::now();
    let fitted = fit(&table.dataset()?, &options, &|_| ControlFlow::Continue(()))?;
    let seconds = begin.elapsed().as_secs_f64();
    println!("{}", fitted.summary().to_text(&|hours| format!("{hours:.1} h")));
    for tried in &fitted.summary().tried {
        let mark = if tried.chosen { "*" } else { " " };
        println!("{mark} {:<70} {:>10.3} {:?} {:?}", tried.name, tried.score, tried.rmse, tried.coverage);
    }
    let scores =
        score(&fitted.predict_rows(Quantity::Observation)?, table.hidden.iter().copied(), &table.deviations);
    println!(
        "{}: learned in {seconds:.1} s; hidden cells: RMSE {:.4} sd, log score {:.3}, 95 % intervals cover {:.1} %",
        table.name,
        scores.rmse,
        scores.log_score,
        100.0 * scores.coverage
    );
    Ok(())
}
