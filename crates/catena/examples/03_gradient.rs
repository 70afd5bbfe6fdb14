//! Maximizes the log evidence along its exact gradient: weights, length-scale and noise of two related series.
//!
//! Plain gradient ascent with a step that shrinks when it overshoots, to show what one call returns. Positive
//! parameters are moved on a logarithmic scale, so that they stay positive: d/d(log θ) = θ·d/dθ.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use catena::Error;
use catena::inference::{Gradient, Workspace};
use catena::prelude::*;

const N_ROWS: usize = 80;
const N_STEPS: usize = 320;

/// The current point: two weights, then the logarithms of one length-scale and two noise variances.
type Parameters = [f64; 5];

fn main() -> Result<(), Error> {
    let (times, values) = series();
    let observations = Observations::from_dense(N_ROWS, 2, &values)?;
    let chain = sorted_chain(&InputPoints::from_column(times)?)?;

    let mut parameters: Parameters = [0.5, 0.5, 1.0_f64.ln(), 0.5_f64.ln(), 0.5_f64.ln()];
    let start = model(&parameters)?;
    let graph = FactorGraph::new(&start, &chain, &observations)?;
    // The structure and the cells do not depend on the parameters, so only the model changes from step to step.
    let mut workspace = Workspace::new();
    let mut gradient = workspace.gradient(&graph)?;
    let mut rate = 0.01;

    println!("{} observed cells of two series driven by one latent process.\n", observations.n_observed());
    println!("  step  log evidence   weights          length-scale   noise");
    print_line(0, &gradient, &parameters);
    for step in 1..=N_STEPS {
        let moved = step_along(&gradient, &parameters, rate);
        let candidate = model(&moved)?;
        let there = workspace.gradient(&graph.with_model(&candidate)?)?;
        if there.log_evidence > gradient.log_evidence {
            (parameters, gradient, rate) = (moved, there, rate * 1.3);
        } else {
            rate *= 0.3;
        }
        if step % 10 == 0 && (step / 10).is_power_of_two() {
            print_line(step, &gradient, &parameters);
        }
    }
    println!("\n  made with            weights as 0.90 to -0.60               0.040, 0.010");
    Ok(())
}

/// A step of gradient ascent, at most one half in any direction.
fn step_along(gradient: &Gradient, parameters: &Parameters, rate: f64) -> Parameters {
    let [_, _, log_length, log_first, log_second] = *parameters;
    let gradient = [
        gradient.mixing[0],
        gradient.mixing[1],
        gradient.length_scales[0] * log_length.exp(),
        gradient.noise[0] * log_first.exp(),
        gradient.noise[1] * log_second.exp(),
    ];
    std::array::from_fn(|at| parameters[at] + (rate * gradient[at]).clamp(-0.5, 0.5))
}

fn model(parameters: &Parameters) -> Result<Lmc, Error> {
    let [first, second, log_length, log_noise @ ..] = *parameters;
    let length_scale = LengthScale::new(log_length.exp())?;
    let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale)?;
    let noise = log_noise.map(|log_noise| Variance::new(log_noise.exp()));
    let mixing = MixingMatrix::shared(2, 1, vec![first, second])?;
    Ok(Lmc::new(vec![latent], mixing, noise.into_iter().collect::<Result<_, _>>()?)?)
}

/// Two noisy readings of one smooth curve at irregular times; the second is missing every third time.
fn series() -> (Vec<f64>, Vec<f64>) {
    let mut state = 7_u64;
    // A small linear congruential generator, so that the example needs nothing and prints the same everywhere.
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut time, mut times, mut values) = (0.0, vec![], vec![]);
    for row in 0..N_ROWS {
        time += 0.2 + 0.4 * uniform();
        let curve = (1.1 * time).sin() + 0.7 * (0.43 * time + 1.0).sin();
        let mut noise = |deviation: f64| deviation * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0);
        times.push(time);
        values.push(0.9 * curve + noise(0.2));
        values.push(if row % 3 == 2 { f64::NAN } else { -0.6 * curve + noise(0.1) });
    }
    (times, values)
}

fn print_line(step: usize, gradient: &Gradient, parameters: &Parameters) {
    let [first, second, log_length, log_first, log_second] = *parameters;
    println!(
        "  {step:>4}{:>14.3}   {first:>5.2}, {second:>5.2}   {:>15.2}   {:.3}, {:.3}",
        gradient.log_evidence,
        log_length.exp(),
        log_first.exp(),
        log_second.exp()
    );
}
