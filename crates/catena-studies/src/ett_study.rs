//! The paper's electricity study: three loads in, four temperatures and useless loads out, 30 % of cells hidden.

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};

use crate::brute_force_chain::brute_force_greedy_chain;
use crate::julia_streams::JuliaStream;
use crate::protocol::{Dealing, Protocol};
use crate::study::{Study, StudyError};
use crate::summation::Summation;

/// Columns of the file, counted from 0 after the date: HUFL, MUFL, LUFL.
const INPUT_COLUMNS: [usize; 3] = [0, 2, 4];
/// HULL, MULL, LULL, OT.
const OUTPUT_COLUMNS: [usize; 4] = [1, 3, 5, 6];
const LENGTH_SCALES: [f64; 3] = [0.5, 1.0, 2.0];
const NOISE: f64 = 0.2;

/// The study on the first 2N rows of the file's text: N train, N test.
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_study(csv: &str, n_training: usize, dropout: f64, seed: u32) -> Result<Study, StudyError> {
    ett_study_by(Protocol::MAIN, csv, n_training, dropout, seed)
}

/// The same with columns summed in the given order, which decides ties between equally near rows.
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_study_summed(
    csv: &str,
    n_training: usize,
    dropout: f64,
    seed: u32,
    summation: Summation,
) -> Result<Study, StudyError> {
    ett_study_by(Protocol { summation, ..Protocol::MAIN }, csv, n_training, dropout, seed)
}

/// The same with data drawn by a protocol.
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_study_by(
    protocol: Protocol,
    csv: &str,
    n_training: usize,
    dropout: f64,
    seed: u32,
) -> Result<Study, StudyError> {
    study_of(protocol, &numbers(csv, 2 * n_training)?, n_training, dropout, seed)
}

/// The study on a table whose first half trains.
fn study_of(
    protocol: Protocol,
    table: &[Vec<f64>],
    n_training: usize,
    dropout: f64,
    seed: u32,
) -> Result<Study, StudyError> {
    let n_rows = table.len();
    let (inputs, _) = standardized(table, &INPUT_COLUMNS, n_training, protocol.summation);
    let (outputs, output_scaling) = standardized(table, &OUTPUT_COLUMNS, n_training, protocol.summation);
    let inputs = InputPoints::new(n_rows, INPUT_COLUMNS.len(), inputs)?;
    let chain = brute_force_greedy_chain(&inputs, RowIndex::new(0))?;
    let distance_scale = chain.median_step().ok_or(StudyError::NoDistanceScale)?;

    let mut stream = JuliaStream::with_version(protocol.streams, seed);
    let n_outputs = OUTPUT_COLUMNS.len();
    let mixing = stream.randn_array(n_outputs * LENGTH_SCALES.len());
    let in_chain: Vec<RowIndex> = chain.positions().map(|position| chain.row_at(position)).collect();
    let in_training = |row: &RowIndex| row.get() < n_training;
    let dealt: Vec<RowIndex> = match protocol.dealing {
        Dealing::ByPosition => in_chain.iter().copied().filter(in_training).collect(),
        Dealing::ByRow => (0..n_training).map(RowIndex::new).collect(),
    };
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    for cell in dealt.iter().flat_map(|row| row.get() * n_outputs..(row.get() + 1) * n_outputs) {
        if stream.rand() > dropout {
            values[cell] = outputs[cell];
        }
    }
    let is_observed =
        |row: &RowIndex| values[row.get() * n_outputs..][..n_outputs].iter().any(|value| !value.is_nan());
    Ok(Study {
        dataset: Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values)?)?,
        model: model(&mixing, n_outputs, &LENGTH_SCALES)?,
        latent_variances: vec![1.0; LENGTH_SCALES.len()],
        test_rows: (n_training..n_rows).map(RowIndex::new).collect(),
        pool: in_chain.into_iter().filter(is_observed).collect(),
        k_means_seed: seed,
        truth: (0..n_rows * n_outputs)
            .map(|cell| table[cell / n_outputs][OUTPUT_COLUMNS[cell % n_outputs]])
            .collect(),
        chain,
        distance_scale,
        output_scaling,
    })
}

/// The same columns with random rows held out instead of later ones: of the first 2N rows, N train and N test. Accuracy can
/// be measured here, which drift prevents in [`ett_study`].
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_random_rows(csv: &str, n_training: usize, dropout: f64, seed: u32) -> Result<Study, StudyError> {
    let n_rows = 2 * n_training;
    let table = numbers(csv, n_rows)?;
    let permutation = JuliaStream::new(seed + 7777).randperm(n_rows);
    let mut training = permutation[..n_training].to_vec();
    let mut test = permutation[n_training..].to_vec();
    training.sort_unstable();
    test.sort_unstable();
    // Training rows first, as the study of later rows has them.
    let shuffled: Vec<Vec<f64>> = training.iter().chain(&test).map(|&row| table[row].clone()).collect();
    study_of(Protocol::MAIN, &shuffled, n_training, dropout, seed)
}

/// The first rows of the file, the header and the date left out.
pub(crate) fn numbers(csv: &str, n_rows: usize) -> Result<Vec<Vec<f64>>, StudyError> {
    let mut table = Vec::with_capacity(n_rows);
    for (line, text) in csv.lines().enumerate().skip(1).take(n_rows) {
        let mut row = Vec::with_capacity(7);
        for column in 1..8 {
            let number = text.split(',').nth(column).and_then(|field| field.trim().parse().ok());
            row.push(number.ok_or(StudyError::NotANumber { line: line + 1, column: column + 1 })?);
        }
        table.push(row);
    }
    if table.len() < n_rows {
        return Err(StudyError::TooShort { found: table.len(), needed: n_rows });
    }
    Ok(table)
}

/// Columns brought to the mean and deviation of the training rows (hidden cells included), row-major.
pub(crate) fn standardized(
    table: &[Vec<f64>],
    columns: &[usize],
    n_training: usize,
    summation: Summation,
) -> (Vec<f64>, Vec<(f64, f64)>) {
    let scaling: Vec<(f64, f64)> = columns
        .iter()
        .map(|&column| {
            let training: Vec<f64> = table[..n_training].iter().map(|row| row[column]).collect();
            let (mean, deviation) = summation.mean_and_deviation(&training);
            (mean, deviation + 1e-8)
        })
        .collect();
    let row_values = |row: &Vec<f64>| -> Vec<f64> {
        columns.iter().zip(&scaling).map(|(&column, (mean, scale))| (row[column] - mean) / scale).collect()
    };
    (table.iter().flat_map(row_values).collect(), scaling)
}

/// W drawn column by column, unit variances, the noise of both electricity studies.
pub(crate) fn model(draws: &[f64], n_outputs: usize, length_scales: &[f64]) -> Result<Lmc, StudyError> {
    let n_latents = length_scales.len();
    let weights =
        (0..n_outputs * n_latents).map(|at| 0.5 * draws[(at % n_latents) * n_outputs + at / n_latents]);
    let mixing = MixingMatrix::shared(n_outputs, n_latents, weights.collect())?;
    let mut latents = Vec::with_capacity(n_latents);
    for &length_scale in length_scales {
        let length_scale = LengthScale::new(length_scale)?;
        let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale);
        latents.push(latent.map_err(catena::model::ModelError::from)?);
    }
    Ok(Lmc::new(latents, mixing, vec![Variance::new(NOISE)?; n_outputs])?)
}
