//! The full-scale method as rows grow: three inputs, four outputs, three shared latents, 64 inducing points, 10 neighbors.
//!
//! Claims guarded: arranging, learning and prediction grow nearly linearly from 2000 to 200 000 rows, memory per row does not
//! grow, and both cores work. Learning is 100 evaluations of the likelihood with gradient; on large tables fewer are run and
//! the time is that of as many.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{MemoryLimit, Problem};

use crate::Failure;
use crate::random::Random;

/// Rows, and evaluations that are run.
const SIZES: [(usize, usize); 3] = [(2000, 100), (20_000, 10), (200_000, 2)];
const EVALUATIONS: f64 = 100.0;
const DIM: usize = 3;
const OUTPUTS: usize = 4;
const LATENTS: usize = 3;
/// Waves in each latent of the made-up table.
const WAVES: usize = 40;

/// What one size took.
struct Line {
    n_rows: usize,
    /// Seconds to arrange, for 100 evaluations with gradient, and to predict as many points as there are rows.
    seconds: [f64; 3],
    /// Seconds of all cores per second of the clock while learning.
    cores: f64,
    /// The most memory the process had held when the size was done, bytes.
    memory: f64,
}

/// Measures all sizes (or those up to `most` rows) and prints a table, or one JSON object per line.
///
/// # Errors
/// When the generated table is refused.
pub(crate) fn run(json: bool, most: Option<usize>) -> Result<(), Failure> {
    let mut lines: Vec<Line> = vec![];
    for (n_rows, evaluations) in SIZES.into_iter().filter(|(rows, _)| most.is_none_or(|most| *rows <= most)) {
        lines.push(measured(n_rows, evaluations)?);
    }
    let mut text = String::new();
    if !json {
        let FullScaleSize { n_inducing, n_neighbors } = FullScaleSize::default();
        writeln!(
            text,
            "M = {DIM}, D = {OUTPUTS}, L = {LATENTS}, {n_inducing} inducing points, {n_neighbors} neighbors; seconds"
        )?;
        writeln!(
            text,
            "{:>8} {:>9} {:>16} {:>10} {:>7} {:>12}   growth exponents since the size before",
            "rows", "arrange", "100 evaluations", "predict", "cores", "kB per row"
        )?;
    }
    for (at, line) in lines.iter().enumerate() {
        let Line { n_rows, seconds, cores, memory } = line;
        let exponents: Vec<f64> = match at.checked_sub(1).map(|before| &lines[before]) {
            Some(before) => {
                let ratio = (*n_rows as f64 / before.n_rows as f64).ln();
                (0..3).map(|what| (seconds[what] / before.seconds[what]).ln() / ratio).collect()
            }
            None => vec![],
        };
        if json {
            let line = serde_json::json!({
                "bench": "fullscale", "rows": n_rows, "arrange": seconds[0], "evaluations_100": seconds[1],
                "predict": seconds[2], "cores": cores, "memory_bytes": memory, "exponents": exponents,
            });
            writeln!(text, "{line}")?;
        } else {
            let shown: Vec<String> = exponents.iter().map(|exponent| format!("{exponent:.2}")).collect();
            writeln!(
                text,
                "{n_rows:>8} {:>9.2} {:>16.2} {:>10.2} {cores:>7.2} {:>12.2}   {}",
                seconds[0],
                seconds[1],
                seconds[2],
                memory / 1e3 / *n_rows as f64,
                shown.join(", ")
            )?;
        }
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn measured(n_rows: usize, evaluations: usize) -> Result<Line, Failure> {
    let dataset = table(n_rows)?;
    let begin = Instant::now();
    let arrangement = Arc::new(Arrangement::new(&dataset, FullScaleSize::default(), 0)?);
    let arrange = begin.elapsed().as_secs_f64();
    let (begin, busy) = (Instant::now(), processor_seconds());
    for evaluation in 0..evaluations {
        // Every evaluation is of another model, as in a climb.
        let model = model(1.0 + 0.001 * evaluation as f64)?;
        let problem = Problem::new(&model, &dataset, DistanceScale::ONE)?;
        let posterior = FullScale::fit(problem, Arc::clone(&arrangement), MemoryLimit::default())?;
        black_box(posterior.gradient()?);
    }
    let learning = begin.elapsed().as_secs_f64();
    let cores = (processor_seconds() - busy) / learning;
    let model = model(1.0)?;
    let problem = Problem::new(&model, &dataset, DistanceScale::ONE)?;
    let posterior = FullScale::fit(problem, arrangement, MemoryLimit::default())?;
    let mut random = Random::new(7);
    let at = InputPoints::new(n_rows, DIM, (0..n_rows * DIM).map(|_| random.uniform()).collect())?;
    let begin = Instant::now();
    black_box(posterior.predict(&at)?);
    let predict = begin.elapsed().as_secs_f64();
    let seconds = [arrange, learning * EVALUATIONS / evaluations as f64, predict];
    Ok(Line { n_rows, seconds, cores, memory: peak_memory() })
}

/// Places in the unit cube; outputs mix three sums of waves, with noise, a fifth of the cells missing.
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

fn model(stretch: f64) -> Result<Lmc, Failure> {
    let mut latents = vec![];
    for latent in 0..LATENTS {
        let length_scale = LengthScale::new(stretch * (0.25 + 0.05 * latent as f64))?;
        latents.push(Latent::new(Kernel::Matern52, StateKind::Value, length_scale)?);
    }
    let noise = vec![Variance::new(0.01)?; OUTPUTS];
    Ok(Lmc::new(latents, MixingMatrix::shared(OUTPUTS, LATENTS, mixing())?, noise)?)
}

/// Seconds that all threads of this process have worked; NaN where the system does not say.
fn processor_seconds() -> f64 {
    let ticks = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    ticks().map_or(f64::NAN, |ticks| ticks / 100.0)
}

/// The most memory this process has held, in bytes; NaN where the system does not say.
fn peak_memory() -> f64 {
    let kilobytes = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    kilobytes().map_or(f64::NAN, |kilobytes| 1024.0 * kilobytes)
}
