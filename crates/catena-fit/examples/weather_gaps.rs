//! Fills ten 96-hour gaps each in one airport's temperature and another's pressure, and scores them:
//! `cargo run --release -p catena-fit --example weather_gaps -- [quick|default|thorough] [PERIOD]`.
//!
//! With a period in hours it learns a model along time instead; `0` looks for periods itself.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use catena_fit::scores::score;
use catena_fit::{Budget, FitOptions, Quantity, TimeOptions, fit};
use catena_testkit::weather_table::{N_WINDOWS, weather_table, window};

fn main() -> Result<(), Box<dyn Error>> {
    let budget = match std::env::args().nth(1).as_deref() {
        Some("default") => Budget::Default,
        Some("thorough") => Budget::Thorough,
        _ => Budget::Quick,
    };
    let gaps = ["temp_LGA", "pressure_JFK"];
    let table = weather_table(gaps);
    let time = std::env::args().nth(2).map(|text| text.parse()).transpose()?.map(|period: f64| TimeOptions {
        periods: [period].into_iter().filter(|period| *period > 0.0).collect(),
        ..TimeOptions::default()
    });
    let options = FitOptions { budget, time, ..FitOptions::default() };
    let begin = Instant::now();
    let fitted = fit(&table.dataset()?, &options, &|_| ControlFlow::Continue(()))?;
    println!("{}", fitted.summary().to_text(&|hours| format!("{hours:.1} h")));
    for tried in &fitted.summary().tried {
        let mark = if tried.chosen { "*" } else { " " };
        println!("{mark} {:<70} {:>10.3} {:?} {:?}", tried.name, tried.score, tried.rmse, tried.coverage);
    }
    println!("learned in {:.1} s", begin.elapsed().as_secs_f64());
    let predictive = fitted.predict_rows(Quantity::Observation)?;
    let ones = vec![1.0; table.n_outputs];
    // The temperature is the seventh output, the pressure the sixth.
    for (name, output) in gaps.iter().zip([6, 5]) {
        let mut errors = vec![];
        for number in 0..N_WINDOWS {
            let rows = window(number);
            let is_in = |at: usize| at % table.n_outputs == output && rows.contains(&(at / table.n_outputs));
            let cells = table.hidden.iter().copied().filter(|(at, _)| is_in(*at));
            errors.push(score(&predictive, cells, &ones).rmse);
        }
        let of_output = table.hidden.iter().copied().filter(|(at, _)| at % table.n_outputs == output);
        let scores = score(&predictive, of_output, &ones);
        let coverage = scores.coverage;
        let listed: Vec<String> = errors.iter().map(|error| format!("{error:.2}")).collect();
        errors.retain(|error| !error.is_nan());
        errors.sort_by(f64::total_cmp);
        let median = 0.5 * (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]);
        println!(
            "{name}: median RMSE {median:.2} of {}, log score {:.3}, coverage {coverage:.3}",
            listed.join(" "),
            scores.log_score
        );
    }
    Ok(())
}
