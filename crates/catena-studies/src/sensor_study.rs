//! The paper's sensor network: M weather stations, three monitors, 2000 candidate points.

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{Position, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};

use crate::brute_force_chain::brute_force_greedy_chain;
use crate::julia_streams::{JuliaStream, JuliaVersion};
use crate::protocol::{Dealing, Protocol};
use crate::study::{Study, StudyError, mean_and_deviation};

const ROWS: usize = 2000;
const OUTPUTS: usize = 3;
const LENGTH_SCALES: [f64; 2] = [1.0, 2.0];
const VARIANCES: [f64; 2] = [2.0, 1.0];
const NOISE: f64 = 0.1;

/// The study at M inputs with the authors' random streams.
///
/// # Errors
/// Never for the paper's settings.
pub fn sensor_study(dim: usize, seed: u32) -> Result<Study, StudyError> {
    sensor_study_of(dim, ROWS, seed)
}

/// The same network with another number of candidate points, half of them observed.
///
/// # Errors
/// When there are fewer than four points.
pub fn sensor_study_of(dim: usize, n_rows: usize, seed: u32) -> Result<Study, StudyError> {
    sensor_study_by(Protocol::MAIN, dim, n_rows, seed)
}

/// The same with data drawn by a protocol: another version of the streams gives another network, too.
///
/// # Errors
/// When there are fewer than four points.
pub fn sensor_study_by(
    protocol: Protocol,
    dim: usize,
    n_rows: usize,
    seed: u32,
) -> Result<Study, StudyError> {
    if n_rows < 4 {
        return Err(StudyError::TooShort { found: n_rows, needed: 4 });
    }
    let mut stream = JuliaStream::with_version(protocol.streams, seed);
    let columns = stream.randn_array(n_rows * dim);
    let mixing = stream.randn_array(OUTPUTS * LENGTH_SCALES.len());
    let inputs = standardized(&columns, n_rows)?;
    let truth = outputs_at(&inputs, protocol.streams);
    let chain = brute_force_greedy_chain(&inputs, RowIndex::new(0))?;
    let distance_scale = chain.median_step().ok_or(StudyError::NoDistanceScale)?;

    let mut is_training = vec![false; n_rows];
    let dealt = JuliaStream::with_version(protocol.streams, seed + 7777).randperm(n_rows);
    for place in dealt.into_iter().take(n_rows / 2) {
        let row = match protocol.dealing {
            Dealing::ByPosition => chain.row_at(Position::new(place)),
            Dealing::ByRow => RowIndex::new(place),
        };
        is_training[row.get()] = true;
    }
    let output_scaling: Vec<(f64, f64)> = (0..OUTPUTS)
        .map(|output| {
            let rows = (0..n_rows).filter(|&row| is_training[row]);
            let (mean, deviation) =
                mean_and_deviation(&rows.map(|row| truth[row * OUTPUTS + output]).collect::<Vec<_>>());
            (mean, deviation + 1e-8)
        })
        .collect();
    let values: Vec<f64> = (0..n_rows * OUTPUTS)
        .map(|cell| {
            let (shift, scale) = output_scaling[cell % OUTPUTS];
            if is_training[cell / OUTPUTS] { (truth[cell] - shift) / scale } else { f64::NAN }
        })
        .collect();
    Ok(Study {
        pool: chain.positions().map(|position| chain.row_at(position)).collect(),
        test_rows: (0..n_rows).filter(|&row| !is_training[row]).map(RowIndex::new).collect(),
        dataset: Dataset::new(inputs, Observations::from_dense(n_rows, OUTPUTS, &values)?)?,
        model: model(&mixing)?,
        latent_variances: VARIANCES.to_vec(),
        k_means_seed: seed + 9999,
        chain,
        distance_scale,
        truth,
        output_scaling,
    })
}

/// Each column to mean 0 and deviation 1 over all points; columns follow each other in the argument.
fn standardized(columns: &[f64], n_rows: usize) -> Result<InputPoints, StudyError> {
    let mut values = vec![0.0; columns.len()];
    let dim = columns.len() / n_rows;
    for (at, column) in columns.chunks_exact(n_rows).enumerate() {
        let (mean, deviation) = mean_and_deviation(column);
        for (row, value) in column.iter().enumerate() {
            values[row * dim + at] = (value - mean) / (deviation + f64::EPSILON);
        }
    }
    Ok(InputPoints::new(n_rows, dim, values)?)
}

/// `Σ_i w(k, i)·u_i e^(−u_i/5)` with `u_i = 10/(1 + e^(−z_i))`, row-major.
fn outputs_at(inputs: &InputPoints, streams: JuliaVersion) -> Vec<f64> {
    let dim = inputs.dim();
    let mut layout = JuliaStream::with_version(streams, 42);
    let stations = layout.rand_array(dim * 2);
    let monitors = layout.rand_array(OUTPUTS * 2);
    let jitter = JuliaStream::with_version(streams, 43).randn_array(OUTPUTS * dim);
    let weight = |output: usize, input: usize| {
        let across = stations[input] - monitors[output];
        let along = stations[dim + input] - monitors[OUTPUTS + output];
        let distance_squared = across * across + along * along;
        (-distance_squared / (2.0 * 0.3 * 0.3)).exp() + 0.05 * jitter[input * OUTPUTS + output]
    };
    let weights: Vec<f64> = (0..OUTPUTS * dim).map(|at| weight(at / dim, at % dim)).collect();
    let mut outputs = Vec::with_capacity(inputs.n_rows() * OUTPUTS);
    for row in inputs.rows() {
        let responses: Vec<f64> = inputs
            .point(row)
            .iter()
            .map(|z| {
                let u = 10.0 / (1.0 + (-z).exp());
                u * (-u / 5.0).exp()
            })
            .collect();
        let output = |weights: &[f64]| weights.iter().zip(&responses).map(|(w, f)| w * f).sum::<f64>();
        outputs.extend(weights.chunks_exact(dim).map(output));
    }
    outputs
}

/// The paper's variances are absorbed in the columns of W, drawn column by column.
fn model(draws: &[f64]) -> Result<Lmc, StudyError> {
    let n_latents = LENGTH_SCALES.len();
    let weights = (0..OUTPUTS * n_latents).map(|at| {
        0.5 * draws[(at % n_latents) * OUTPUTS + at / n_latents] * VARIANCES[at % n_latents].sqrt()
    });
    let mixing = MixingMatrix::shared(OUTPUTS, n_latents, weights.collect())?;
    let mut latents = Vec::with_capacity(n_latents);
    for length_scale in LENGTH_SCALES {
        let length_scale = LengthScale::new(length_scale)?;
        let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale);
        latents.push(latent.map_err(catena::model::ModelError::from)?);
    }
    Ok(Lmc::new(latents, mixing, vec![Variance::new(NOISE)?; OUTPUTS])?)
}
