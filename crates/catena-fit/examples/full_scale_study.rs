//! The sensor network with learned parameters (Matérn-5/2, three shared latents), every method side by side, the full-scale
//! method among them: `full_scale_study [SEEDS] [M...] [--missing SHARE] [--only NAME]`.
//!
//! Rows are means over seeds: RMSE, log score (noise included) and 95 % coverage of the test rows in original units, and seconds.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::Kernel;
use catena_fit::scores::score;
use catena_fit::{FitOptions, KernelPair, MethodChoice, Quantity, StructureOption, TransformOptions, fit};
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Dense methods learn from so many random rows: a few hundred are nearly enough.
const FEW: Option<usize> = Some(200);

/// A name, a method, a structure, and how many rows it learns from.
type Contender = (&'static str, &'static str, &'static str, Option<usize>);

const CONTENDERS: [Contender; 9] = [
    ("tree", "catena", "tree", None),
    ("8 chains", "catena", "ensemble:8", None),
    ("nngp 20", "nngp:20", "auto", FEW),
    ("svgp 256", "svgp:256", "auto", Some(300)),
    ("full-scale 0, 20", "fullscale:0,20", "auto", FEW),
    ("full-scale 64, 10", "fullscale:64,10", "auto", FEW),
    ("full-scale 128, 10", "fullscale:128,10", "auto", FEW),
    ("exact", "exact", "auto", FEW),
    ("auto, all open", "auto", "auto", None),
];

fn options((_, method, structure, learning_rows): Contender) -> Result<FitOptions, Box<dyn Error>> {
    let method: MethodChoice = method.parse()?;
    let structure: StructureOption = structure.parse()?;
    if method == MethodChoice::Auto {
        return Ok(FitOptions::default());
    }
    let kernel = KernelPair { shared: Kernel::Matern52, private: Kernel::Matern52 };
    Ok(FitOptions {
        method,
        structure,
        latents: Some(3),
        private: Some(false),
        kernel: Some(kernel),
        ard: Some(false),
        transforms: TransformOptions::NONE,
        learning_rows,
        ..FitOptions::default()
    })
}

/// The rows with a cell, a share of their cells hidden too.
fn observed(study: &Study, missing: f64, seed: u32) -> Result<Dataset, Box<dyn Error>> {
    let (inputs, observations) = (study.dataset.inputs(), study.dataset.observations());
    let n_outputs = observations.n_outputs();
    let mut generator = ChaCha8Rng::seed_from_u64(u64::from(seed));
    let (mut places, mut values) = (vec![], vec![]);
    let rows: Vec<RowIndex> = inputs.rows().filter(|&row| observations.row(row).len() > 0).collect();
    for &row in &rows {
        places.extend_from_slice(inputs.point(row));
        let mut cells = vec![f64::NAN; n_outputs];
        for cell in observations.row(row) {
            let share = (generator.next_u64() >> 11) as f64 * 0.5_f64.powi(53);
            if share >= missing {
                cells[cell.output.get()] = cell.value;
            }
        }
        values.extend(cells);
    }
    let inputs = InputPoints::new(rows.len(), inputs.dim(), places)?;
    Ok(Dataset::new(inputs, Observations::from_dense(rows.len(), n_outputs, &values)?)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut numbers, mut missing, mut only) = (vec![], 0.0, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--missing" => missing = words.next().ok_or("a share")?.parse()?,
            "--only" => only = words.next(),
            number => numbers.push(number.parse::<usize>()?),
        }
    }
    let n_seeds = numbers.first().copied().unwrap_or(3) as u32;
    let dims = if numbers.len() > 1 { numbers[1..].to_vec() } else { vec![2, 4, 8, 32] };
    println!(
        "{:<4} {:<20} {:>9} {:>9} {:>8} {:>8}",
        "M", "method", "RMSE", "log score", "in 95 %", "seconds"
    );
    for dim in dims {
        for contender in CONTENDERS.iter().filter(|one| only.as_ref().is_none_or(|name| one.0 == name)) {
            let mut sums = [0.0; 4];
            for seed in 0..n_seeds {
                let study = sensor_study(dim, seed)?;
                let begin = Instant::now();
                let fitted = fit(&observed(&study, missing, seed)?, &options(*contender)?, &|_| {
                    ControlFlow::Continue(())
                })?;
                if std::env::var_os("CATENA_VERBOSE").is_some() {
                    println!("{}", fitted.summary().to_text(&|length| format!("{length:.3}")));
                }
                let predictive = fitted.predict(&study.test_inputs()?, Quantity::Observation)?;
                let seconds = begin.elapsed().as_secs_f64();
                let units: Vec<f64> = study.output_scaling.iter().map(|(_, scale)| scale.recip()).collect();
                let scores = score(&predictive, study.test_cells(), &units);
                let found = [scores.rmse, scores.log_score, scores.coverage, seconds];
                sums.iter_mut().zip(found).for_each(|(sum, value)| *sum += value / f64::from(n_seeds));
            }
            let [rmse, log_score, coverage, seconds] = sums;
            println!(
                "{dim:<4} {:<20} {rmse:>9.5} {log_score:>9.3} {:>7.1}% {seconds:>8.1}",
                contender.0,
                100.0 * coverage
            );
        }
    }
    Ok(())
}
