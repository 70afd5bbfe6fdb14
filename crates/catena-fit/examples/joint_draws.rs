//! Seconds of joint draws off the chain: exact and full-scale inference beside message passing, at the rows of a table and at new points.
//! `cargo run --release -p catena-fit --example joint_draws [rows] [draws]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example that prints a table")]

use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{FitOptions, GivenParameters, KernelPair, Quantity, fit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardUniform};

fn main() {
    let number = |at: usize, other: usize| {
        std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(other)
    };
    let (n_rows, n_draws) = (number(1, 1000), number(2, 10));
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let mut points = || -> InputPoints {
        let uniform = (0..2 * n_rows).map(|_| StandardUniform.sample(&mut generator));
        InputPoints::new(n_rows, 2, uniform.map(|u: f64| 10.0 * u).collect()).unwrap()
    };
    let (rows, new) = (points(), points());
    let value = |cell: usize| {
        let x = rows.values()[2 * (cell / 3)] + rows.values()[2 * (cell / 3) + 1];
        if cell % 11 == 4 { f64::NAN } else { (x + cell as f64 % 3.0).sin() }
    };
    let values: Vec<f64> = (0..3 * n_rows).map(value).collect();
    let table = Dataset::new(rows.clone(), Observations::from_dense(n_rows, 3, &values).unwrap()).unwrap();
    println!(
        "{n_rows} rows of 3 outputs over 2 inputs, {n_draws} draws; seconds at the rows and at as many new points"
    );
    let mut of_chain = [0.0; 2];
    for method in ["catena", "exact", "fullscale", "fullscale:0,20"] {
        let parameters = GivenParameters {
            kernel: "matern32".parse::<KernelPair>().unwrap(),
            mixing: vec![vec![1.0, 0.4], vec![-0.6, 0.9], vec![0.3, 0.8]],
            has_private: false,
            length_scales: vec![2.0, 0.8],
            noise: vec![0.05; 3],
        };
        let options = FitOptions {
            parameters: Some(parameters),
            standardize: false,
            method: method.parse().unwrap(),
            ..FitOptions::default()
        };
        let fit = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
        let seconds = [&rows, &new].map(|at| {
            let begin = Instant::now();
            let draws = fit.draws(at, Quantity::Function, n_draws, 1).unwrap();
            assert!(draws.iter().all(|value| value.is_finite()));
            begin.elapsed().as_secs_f64()
        });
        if method == "catena" {
            of_chain = seconds;
        }
        println!(
            "{method:15} {:8.3} ({:5.1} x)  {:8.3} ({:5.1} x)",
            seconds[0],
            seconds[0] / of_chain[0],
            seconds[1],
            seconds[1] / of_chain[1]
        );
    }
}
