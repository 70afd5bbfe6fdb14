//! The full-scale method by table size: three inputs, four outputs, three shared latents, 64 inducing points, 10 neighbors.
//!
//! Claims: the times to arrange, learn and predict grow nearly linearly from 2000 to 200 000 rows, memory per row does not
//! grow, and both cores are used. Learning is 100 evaluations of the likelihood with gradient; on large tables fewer are run
//! and the time is scaled.

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{MemoryLimit, Problem};

use serde_json::json;

use crate::random::Random;
use crate::report::Table;
use crate::timing::{repeated, seconds};
use crate::{Failure, Options};

/// Rows, and the number of evaluations that are run.
const SIZES: [(usize, usize); 3] = [(2000, 100), (20_000, 10), (200_000, 2)];
const EVALUATIONS: f64 = 100.0;
const DIM: usize = 3;
const OUTPUTS: usize = 4;
const LATENTS: usize = 3;
/// Waves in each latent of the simulated table.
const WAVES: usize = 40;

/// The measurements of one table size.
struct Measured {
    n_rows: usize,
    /// Seconds to arrange, for 100 evaluations with gradient, and to predict as many points as there are rows.
    seconds: [f64; 3],
    /// Processor seconds per second while learning.
    cores: f64,
    /// The maximum memory of the process so far, bytes.
    memory: f64,
}

/// Measures and prints.
///
/// # Errors
/// If the generated table is rejected.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let most = options.value("--rows").map(str::parse).transpose();
    let most: Option<usize> = most.map_err(|_| "--rows needs a whole number")?;
    let FullScaleSize { n_inducing, n_neighbors } = FullScaleSize::default();
    let note = format!(
        "M = {DIM}, D = {OUTPUTS}, L = {LATENTS}, {n_inducing} inducing points, {n_neighbors} neighbors; seconds; exponents of the \
         growth since the size before"
    );
    let mut table = Table::new("fullscale", options.json, &note);
    let mut before: Option<Measured> = None;
    for (n_rows, evaluations) in SIZES.into_iter().filter(|(rows, _)| most.is_none_or(|most| *rows <= most)) {
        let now = measure(n_rows, evaluations)?;
        let exponent = |what: usize| {
            let before = before.as_ref()?;
            let growth = (n_rows as f64 / before.n_rows as f64).ln();
            Some((now.seconds[what] / before.seconds[what]).ln() / growth)
        };
        table.row(&[
            ("rows", json!(n_rows)),
            ("arrange", json!(now.seconds[0])),
            ("evaluations_100", json!(now.seconds[1])),
            ("predict", json!(now.seconds[2])),
            ("cores", json!(now.cores)),
            ("memory_bytes", json!(now.memory)),
            ("arrange_exponent", json!(exponent(0))),
            ("evaluations_exponent", json!(exponent(1))),
            ("predict_exponent", json!(exponent(2))),
        ]);
        before = Some(now);
    }
    Ok(())
}

fn measure(n_rows: usize, evaluations: usize) -> Result<Measured, Failure> {
    let dataset = table(n_rows)?;
    let begin = Instant::now();
    let arrangement = Arc::new(Arrangement::new(&dataset, FullScaleSize::default(), 0)?);
    let arrange = begin.elapsed().as_secs_f64();
    let fit = |factor: f64| -> Result<FullScale, Failure> {
        let model = model(factor)?;
        let problem = Problem::new(&model, &dataset, DistanceScale::ONE)?;
        Ok(FullScale::fit(problem, Arc::clone(&arrangement), MemoryLimit::default())?)
    };
    let busy = processor_seconds();
    let mut factor = 1.0;
    // Every evaluation is of another model, as in an optimization.
    let learning: f64 = repeated(evaluations, || {
        factor += 0.001;
        Ok(fit(factor)?.gradient()?)
    })?
    .iter()
    .sum();
    let cores = (processor_seconds() - busy) / learning;
    let posterior = fit(1.0)?;
    let mut random = Random::new(7);
    let at = InputPoints::new(n_rows, DIM, (0..n_rows * DIM).map(|_| random.uniform()).collect())?;
    let predict = seconds(|| Ok(posterior.predict(&at)?))?;
    let seconds = [arrange, learning * EVALUATIONS / evaluations as f64, predict];
    Ok(Measured { n_rows, seconds, cores, memory: peak_memory() })
}

/// Points in the unit cube; outputs mix three sums of waves, with noise, a fifth of the cells missing.
fn table(n_rows: usize) -> Result<Dataset, Failure> {
    let mut random = Random::new(3);
    let places: Vec<f64> = (0..n_rows * DIM).map(|_| random.uniform()).collect();
    let wave = |random: &mut Random| -> [f64; DIM + 1] {
        std::array::from_fn(|at| if at < DIM { 6.0 * random.normal() } else { TAU * random.uniform() })
    };
    let waves: Vec<[f64; DIM + 1]> = (0..LATENTS * WAVES).map(|_| wave(&mut random)).collect();
    let weights = mixing();
    let mut values = Vec::with_capacity(n_rows * OUTPUTS);
    for place in places.chunks_exact(DIM) {
        let latents: Vec<f64> = waves
            .chunks_exact(WAVES)
            .map(|waves| {
                let terms = waves.iter().map(|wave| {
                    let phase: f64 = wave.iter().zip(place).map(|(rate, x)| rate * x).sum();
                    (phase + wave[DIM]).cos()
                });
                terms.sum::<f64>() * (2.0 / WAVES as f64).sqrt()
            })
            .collect();
        for weights in weights.chunks_exact(LATENTS) {
            let value: f64 = weights.iter().zip(&latents).map(|(weight, latent)| weight * latent).sum();
            let is_missing = random.uniform() < 0.2;
            let noise = 0.1 * random.normal();
            values.push(if is_missing { f64::NAN } else { value + noise });
        }
    }
    let inputs = InputPoints::new(n_rows, DIM, places)?;
    Ok(Dataset::new(inputs, Observations::from_dense(n_rows, OUTPUTS, &values)?)?)
}

fn mixing() -> Vec<f64> {
    let mut random = Random::new(11);
    (0..OUTPUTS * LATENTS).map(|_| 0.6 * random.normal()).collect()
}

fn model(factor: f64) -> Result<Lmc, Failure> {
    let mut latents = vec![];
    for latent in 0..LATENTS {
        let length_scale = LengthScale::new(factor * (0.25 + 0.05 * latent as f64))?;
        latents.push(Latent::new(Kernel::Matern52, StateKind::Value, length_scale)?);
    }
    let noise = vec![Variance::new(0.01)?; OUTPUTS];
    Ok(Lmc::new(latents, MixingMatrix::shared(OUTPUTS, LATENTS, mixing())?, noise)?)
}

/// Processor seconds of all threads of this process; NaN if the system does not provide them.
fn processor_seconds() -> f64 {
    let ticks = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    ticks().map_or(f64::NAN, |ticks| ticks / 100.0)
}

/// The maximum memory of this process in bytes; NaN if the system does not provide it.
fn peak_memory() -> f64 {
    let kilobytes = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    kilobytes().map_or(f64::NAN, |kilobytes| 1024.0 * kilobytes)
}
