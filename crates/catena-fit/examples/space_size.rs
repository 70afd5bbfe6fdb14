//! Seconds and memory of a model of space and time on a simulated table of some size: sums of waves with noise, a fifth of the cells lost.
//! `cargo run --release -p catena-fit --example space_size [places] [times] [outputs] [quick|default]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example that prints a table")]

use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, FitOptions, Geometry, MethodChoice, Quantity, fit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

const WAVES: usize = 60;
const NOISE: f64 = 0.2;

fn main() {
    let number = |at: usize, other: usize| {
        std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(other)
    };
    let (n_places, n_times, n_outputs) = (number(1, 30), number(2, 10_000), number(3, 2));
    let budget = match std::env::args().nth(4).as_deref() {
        Some("quick") => Budget::Quick,
        _ => Budget::Default,
    };
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut generator) };
    let places: Vec<[f64; 2]> = (0..n_places).map(|_| [uniform(), uniform()]).collect();
    let rates: Vec<[f64; 4]> = (0..WAVES * n_outputs)
        .map(|_| [6.0 * uniform() - 3.0, 6.0 * uniform() - 3.0, 0.3 * uniform(), 6.3 * uniform()])
        .collect();
    let n_rows = n_places * n_times;
    let function = |row: usize, output: usize| -> f64 {
        let ([x, y], time) = (places[row % n_places], (row / n_places) as f64);
        let waves = &rates[output * WAVES..][..WAVES];
        let sum: f64 =
            waves.iter().map(|[a, b, rate, phase]| (a * x + b * y + rate * time + phase).cos()).sum();
        sum * (2.0 / WAVES as f64).sqrt()
    };
    let inputs = (0..n_rows).flat_map(|row| {
        let [x, y] = places[row % n_places];
        [x, y, (row / n_places) as f64]
    });
    let inputs = InputPoints::new(n_rows, 3, inputs.collect()).unwrap();
    let truth: Vec<f64> =
        (0..n_rows * n_outputs).map(|cell| function(cell / n_outputs, cell % n_outputs)).collect();
    let mut is_lost = vec![false; truth.len()];
    let values: Vec<f64> = truth
        .iter()
        .zip(&mut is_lost)
        .map(|(value, is_lost)| {
            let noise: f64 = StandardNormal.sample(&mut generator);
            let share: f64 = StandardUniform.sample(&mut generator);
            *is_lost = share < 0.2;
            if *is_lost { f64::NAN } else { value + NOISE * noise }
        })
        .collect();
    let table = Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values).unwrap()).unwrap();
    let method = MethodChoice::Space { geometry: Geometry::Plane };
    let options = FitOptions { method, budget, ..FitOptions::default() };
    let begin = Instant::now();
    let fit = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
    let learned = begin.elapsed().as_secs_f64();
    let found = fit.predict_rows(Quantity::Function).unwrap();
    let predicted = begin.elapsed().as_secs_f64() - learned;
    let lost: Vec<usize> = (0..truth.len()).filter(|cell| is_lost[*cell]).collect();
    let squares = lost.iter().map(|&cell| (found.mean(cell) - truth[cell]).powi(2)).sum::<f64>();
    let inside = lost
        .iter()
        .filter(|&&cell| (found.mean(cell) - truth[cell]).abs() < 1.96 * found.deviation(cell))
        .count();
    println!(
        "{n_places} places x {n_times} times x {n_outputs} outputs: fit {learned:.1} s, predictions {predicted:.1} s, lost cells: error {:.3}, coverage {:.3}",
        (squares / lost.len() as f64).sqrt(),
        inside as f64 / lost.len() as f64
    );
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no peak of memory known");
    println!("{peak}");
    for decision in &fit.summary().decisions {
        println!("  {decision}");
    }
}
