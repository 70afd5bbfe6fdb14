//! The paper's electricity study over time: seven channels out, the hour in, the second half forecast from the first.

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::structure::sorted_chain;
use catena::units::DistanceScale;

use crate::ett_study::{model, numbers, standardized};
use crate::julia_streams::JuliaStream;
use crate::study::{Study, StudyError};
use crate::summation::Summation;

const OUTPUT_COLUMNS: [usize; 7] = [0, 1, 2, 3, 4, 5, 6];
/// In hours.
const LENGTH_SCALES: [f64; 4] = [4.0, 12.0, 24.0, 48.0];

/// The study on the first C rows of the file's text: the first half trains, each of its cells hidden with chance
/// `dropout`.
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_time_study(csv: &str, n_rows: usize, dropout: f64, seed: u32) -> Result<Study, StudyError> {
    let table = numbers(csv, n_rows)?;
    let (n_training, n_outputs) = (n_rows / 2, OUTPUT_COLUMNS.len());
    let (outputs, output_scaling) = standardized(&table, &OUTPUT_COLUMNS, n_training, Summation::Authors);
    let mut stream = JuliaStream::new(seed);
    let mixing = stream.randn_array(n_outputs * LENGTH_SCALES.len());
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    for cell in 0..n_training * n_outputs {
        if stream.rand() > dropout {
            values[cell] = outputs[cell];
        }
    }
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect())?;
    let is_observed =
        |row: &usize| values[row * n_outputs..][..n_outputs].iter().any(|value| !value.is_nan());
    Ok(Study {
        pool: (0..n_training).filter(is_observed).map(RowIndex::new).collect(),
        chain: sorted_chain(&inputs)?,
        distance_scale: DistanceScale::ONE,
        model: model(&mixing, n_outputs, &LENGTH_SCALES)?,
        latent_variances: vec![1.0; LENGTH_SCALES.len()],
        dataset: Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values)?)?,
        test_rows: (n_training..n_rows).map(RowIndex::new).collect(),
        k_means_seed: seed,
        truth: table.concat(),
        output_scaling,
    })
}
