//! The paper's studies with learned instead of fixed parameters, every method side by side:
//! `learned_studies sensor [SEEDS]` or `learned_studies ett ETTh1.csv [SEEDS]`.
//!
//! Rows are means over seeds: RMSE and MNLL (noise included) of the test rows in original units, and the share of them in
//! 95 % intervals. `ett` holds random rows out, a split in which accuracy can be measured.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;
use catena_auto::fit::{FitOptions, MethodChoice, StructureOption, fit};
use catena_auto::method::Quantity;
use catena_auto::scores::score;
use catena_studies::ett_study::ett_random_rows;
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;

/// Rivals learn from so many random rows: their evidence costs its cube.
const LEARNING_ROWS: usize = 200;

struct Contender {
    name: &'static str,
    options: FitOptions,
}

fn contenders() -> Vec<Contender> {
    let catena = |structure| FitOptions { structure, ..FitOptions::default() };
    let rival = |method| FitOptions { method, learning_rows: Some(LEARNING_ROWS), ..FitOptions::default() };
    vec![
        Contender { name: "chain", options: catena(StructureOption::Chain) },
        Contender { name: "tree", options: catena(StructureOption::Tree) },
        Contender { name: "8 chains", options: catena(StructureOption::Ensemble { n_chains: 8 }) },
        Contender { name: "nngp 20", options: rival(MethodChoice::Nngp { n_neighbors: 20 }) },
        Contender { name: "svgp 64", options: rival(MethodChoice::Svgp { n_inducing: 64 }) },
        Contender { name: "exact", options: rival(MethodChoice::Exact) },
    ]
}

/// RMSE, MNLL, coverage, seconds.
fn judge(study: &Study, options: &FitOptions) -> Result<[f64; 4], Box<dyn Error>> {
    let begin = Instant::now();
    // Rivals see only rows with a cell: an empty row tells them nothing and costs them much.
    let is_rival = !matches!(options.method, MethodChoice::Auto | MethodChoice::Catena);
    let fitted = fit(&if is_rival { observed(study)? } else { study.dataset.clone() }, options, &|_| {
        ControlFlow::Continue(())
    })?;
    let predictive = fitted.predict(&study.test_inputs()?, Quantity::Observation)?;
    let seconds = begin.elapsed().as_secs_f64();
    let n_outputs = study.output_scaling.len();
    let cells = study.test_cells();
    // A unit of 1/scale counts errors in original units.
    let units: Vec<f64> = study.output_scaling.iter().map(|(_, scale)| scale.recip()).collect();
    if std::env::var_os("CATENA_VERBOSE").is_some() {
        println!("{}", fitted.summary().to_text(&|length| format!("{length:.3}")));
        for output in 0..n_outputs {
            let own = cells.iter().copied().filter(|(at, _)| at % n_outputs == output);
            println!("{:?}", score(&predictive, own.clone(), &units));
            let mut worst: Vec<(f64, usize, f64)> =
                own.map(|(at, truth)| (predictive.log_density(at, truth), at, truth)).collect();
            worst.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (density, at, truth) in &worst[..3] {
                println!(
                    "   {density:.1} truth {truth:.3} mean {:.3} sd {:.5}",
                    predictive.mean(*at),
                    predictive.deviation(*at)
                );
            }
        }
    }
    let scores = score(&predictive, cells, &units);
    Ok([scores.rmse, scores.mnll, scores.coverage, seconds])
}

fn observed(study: &Study) -> Result<Dataset, Box<dyn Error>> {
    let (inputs, observations) = (study.dataset.inputs(), study.dataset.observations());
    let rows: Vec<RowIndex> = inputs.rows().filter(|&row| observations.row(row).len() > 0).collect();
    let n_outputs = observations.n_outputs();
    let points = rows.iter().flat_map(|&row| inputs.point(row)).copied().collect();
    let mut values = vec![f64::NAN; rows.len() * n_outputs];
    for (at, &row) in rows.iter().enumerate() {
        observations.row(row).for_each(|cell| values[at * n_outputs + cell.output.get()] = cell.value);
    }
    let inputs = catena::data::InputPoints::new(rows.len(), inputs.dim(), points)?;
    Ok(Dataset::new(inputs, Observations::from_dense(rows.len(), n_outputs, &values)?)?)
}

fn table(
    title: &str,
    seeds: u32,
    study: impl Fn(u32) -> Result<Study, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    println!(
        "{title}, mean of {seeds} seeds\n{:<10} {:>9} {:>9} {:>9} {:>9}",
        "", "RMSE", "MNLL", "in 95 %", "seconds"
    );
    for Contender { name, options } in contenders() {
        let mut sums = [0.0; 4];
        for seed in 0..seeds {
            let judged = judge(&study(seed)?, &options)?;
            sums.iter_mut().zip(judged).for_each(|(sum, one)| *sum += one / f64::from(seeds));
        }
        let [rmse, mnll, coverage, seconds] = sums;
        println!("{name:<10} {rmse:>9.4} {mnll:>9.3} {:>8.1}% {seconds:>9.1}", 100.0 * coverage);
    }
    println!();
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("sensor") => {
            let seeds = arguments.get(1).map_or(Ok(2), |text| text.parse())?;
            for dim in [2, 4, 8, 32] {
                table(&format!("sensor M = {dim}"), seeds, |seed| Ok(sensor_study(dim, seed)?))?;
            }
            Ok(())
        }
        Some("ett") => {
            let csv = std::fs::read_to_string(arguments.get(1).ok_or("give the path of ETTh1.csv")?)?;
            let seeds = arguments.get(2).map_or(Ok(2), |text| text.parse())?;
            table("ETT M = 3, random rows held out", seeds, |seed| {
                Ok(ett_random_rows(&csv, 1000, 0.3, seed)?)
            })
        }
        _ => Err("usage: learned_studies sensor [SEEDS] | ett ETTh1.csv [SEEDS]".into()),
    }
}
