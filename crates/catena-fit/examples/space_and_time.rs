//! Simulated fields at 30 stations and 300 times: errors of the truth, of learned fields, of stations as outputs and of a cloud of
//! points. `cargo run --release -p catena-fit --example space_and_time [seeds]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example that prints a table")]

use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::methods::{Method, SpaceMethod};
use catena_fit::scores::score;
use catena_fit::{FitOptions, Geometry, MethodChoice, Quantity, fit};
use catena_methods::Problem;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};
use std::ops::ControlFlow;

const STATIONS: usize = 30;
const TIMES: usize = 300;
const ALONG_TIME: f64 = 8.0;
const BETWEEN_PLACES: f64 = 0.5;
const NOISE: f64 = 0.01;

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("seed | method                | error | log score | coverage | seconds");
    for seed in 0..seeds {
        let table = simulated(seed);
        for (name, answer) in [
            ("truth", truth as Answer),
            ("fields, learned", fields),
            ("stations as outputs", wide),
            ("cloud of points", cloud),
        ] {
            let begin = Instant::now();
            let predictive = answer(&table);
            let found = score(&predictive, table.hidden.iter().copied(), &[1.0]);
            println!(
                "{seed:4} | {name:21} | {:.3} | {:9.3} | {:.3}    | {:.1}",
                found.rmse,
                found.log_score,
                found.coverage,
                begin.elapsed().as_secs_f64()
            );
        }
    }
}

struct Simulated {
    stations: Vec<[f64; 2]>,
    long: Dataset,
    /// Row and true function of the hidden cells.
    hidden: Vec<(usize, f64)>,
}

type Answer = fn(&Simulated) -> catena_fit::Predictive;

/// The model of the simulation.
fn model() -> Lmc {
    let latent =
        |kernel, state, length| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
    let latents = vec![
        latent(Kernel::Matern32, StateKind::Derivative, ALONG_TIME),
        latent(Kernel::Matern32, StateKind::Value, BETWEEN_PLACES),
    ];
    let mixing = MixingMatrix::shared(1, 2, vec![1.0, 1.0]).unwrap();
    Lmc::new(latents, mixing, vec![Variance::new(NOISE).unwrap()]).unwrap()
}

/// A field at random stations of the unit square; each station is silent for stretches, and single cells are lost.
fn simulated(seed: u64) -> Simulated {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut generator) };
    let stations: Vec<[f64; 2]> = (0..STATIONS).map(|_| [uniform(), uniform()]).collect();
    let mut is_hidden = vec![false; STATIONS * TIMES];
    for station in 0..STATIONS {
        for _ in 0..2 {
            let (begin, length) = ((uniform() * TIMES as f64) as usize, 20 + (uniform() * 40.0) as usize);
            for time in begin..(begin + length).min(TIMES) {
                is_hidden[time * STATIONS + station] = true;
            }
        }
    }
    is_hidden.iter_mut().for_each(|hidden| *hidden |= uniform() < 0.1);
    let inputs: Vec<f64> = (0..TIMES * STATIONS)
        .flat_map(|row| {
            let [x, y] = stations[row % STATIONS];
            [x, y, (row / STATIONS) as f64]
        })
        .collect();
    let inputs = InputPoints::new(TIMES * STATIONS, 3, inputs).unwrap();
    let nothing = Observations::from_dense(TIMES * STATIONS, 1, &vec![f64::NAN; TIMES * STATIONS]).unwrap();
    let empty = Dataset::new(inputs.clone(), nothing).unwrap();
    let model = model();
    let prior =
        SpaceMethod::default().fit(Problem::new(&model, &empty, DistanceScale::ONE).unwrap()).unwrap();
    let field = prior.draws(&inputs, 1, seed).unwrap();
    let hidden = (0..field.len()).filter(|row| is_hidden[*row]).map(|row| (row, field[row])).collect();
    let values: Vec<f64> = (0..field.len())
        .map(|row| {
            let noise: f64 = StandardNormal.sample(&mut generator);
            if is_hidden[row] { f64::NAN } else { field[row] + NOISE.sqrt() * noise }
        })
        .collect();
    let observations = Observations::from_dense(field.len(), 1, &values).unwrap();
    Simulated { stations, long: Dataset::new(inputs, observations).unwrap(), hidden }
}

fn truth(table: &Simulated) -> catena_fit::Predictive {
    let model = model();
    let problem = Problem::new(&model, &table.long, DistanceScale::ONE).unwrap();
    let fitted = SpaceMethod::default().fit(problem).unwrap();
    let (means, variances) = fitted.predict_rows(Quantity::Function).unwrap().into_arrays();
    catena_fit::Predictive::normal(1, means, variances.iter().map(|variance| variance.sqrt()).collect())
}

fn learned(table: &Dataset, method: MethodChoice) -> catena_fit::Predictive {
    let options = FitOptions { method, ..FitOptions::default() };
    let fitted = fit(table, &options, &|_| ControlFlow::Continue(())).unwrap();
    for line in fitted.summary().decisions.iter().take(3) {
        println!("     |   {line}");
    }
    if let MethodChoice::Space { .. } = method {
        let summary = fitted.summary();
        for latent in &summary.latents {
            println!("     |   {} {:?}", latent.kernel, latent.length_scales);
        }
    }
    fitted.predict_rows(Quantity::Function).unwrap()
}

fn fields(table: &Simulated) -> catena_fit::Predictive {
    learned(&table.long, MethodChoice::Space { geometry: Geometry::Auto })
}

fn cloud(table: &Simulated) -> catena_fit::Predictive {
    learned(&table.long, MethodChoice::Auto)
}

fn wide(table: &Simulated) -> catena_fit::Predictive {
    let values: Vec<f64> = table.long.observations().to_dense();
    let inputs = InputPoints::from_column((0..TIMES).map(|time| time as f64).collect()).unwrap();
    let observations = Observations::from_dense(TIMES, table.stations.len(), &values).unwrap();
    let found = learned(&Dataset::new(inputs, observations).unwrap(), MethodChoice::Auto);
    let (means, deviations) = (0..values.len()).map(|at| (found.mean(at), found.deviation(at))).unzip();
    catena_fit::Predictive::normal(1, means, deviations)
}
