//! A table with holes whose truth is known: what gap filling is scored on.

use catena::data::{Dataset, InputPoints, Observations};
use catena::prediction::Prediction;

use crate::julia_streams::JuliaStream;
use crate::study::{StudyError, mean_and_deviation};

/// A table in its own units, and what was hidden in it.
#[derive(Clone, Debug)]
pub struct GapTable {
    /// What it is called in reports.
    pub name: String,
    /// Where the rows are.
    pub inputs: InputPoints,
    /// The number of outputs, D.
    pub n_outputs: usize,
    /// Row-major values; NaN where missing, or hidden to be scored.
    pub values: Vec<f64>,
    /// Cells that were hidden: their place in `values`, and what stood there.
    pub hidden: Vec<(usize, f64)>,
    /// The standard deviation of each output over the cells that were there before hiding.
    pub deviations: Vec<f64>,
}

/// How well hidden cells were predicted, noise included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapScore {
    /// Root mean squared error in standard deviations of the output.
    pub rmse: f64,
    /// Mean negative log density per cell, outputs in standard deviations.
    pub mnll: f64,
    /// The share of cells inside the central 95 % interval.
    pub coverage: f64,
}

impl GapTable {
    /// Hides cells of a complete or incomplete table.
    ///
    /// # Errors
    /// When sizes do not match.
    pub fn new(
        name: impl Into<String>,
        inputs: InputPoints,
        n_outputs: usize,
        mut values: Vec<f64>,
        hide: impl IntoIterator<Item = usize>,
    ) -> Result<Self, StudyError> {
        let deviation = |output: usize| {
            let present: Vec<f64> = values
                .iter()
                .skip(output)
                .step_by(n_outputs)
                .copied()
                .filter(|value| !value.is_nan())
                .collect();
            mean_and_deviation(&present).1
        };
        let deviations = (0..n_outputs).map(deviation).collect();
        let mut hidden = vec![];
        for at in hide {
            if !values[at].is_nan() {
                hidden.push((at, std::mem::replace(&mut values[at], f64::NAN)));
            }
        }
        Ok(Self { name: name.into(), inputs, n_outputs, values, hidden, deviations })
    }

    /// The table as a method sees it.
    ///
    /// # Errors
    /// When there is nothing in it.
    pub fn dataset(&self) -> Result<Dataset, StudyError> {
        let observations = Observations::from_dense(self.inputs.n_rows(), self.n_outputs, &self.values)?;
        Ok(Dataset::new(self.inputs.clone(), observations)?)
    }

    /// Scores a prediction of observations at the table's rows.
    pub fn score(&self, prediction: &Prediction) -> GapScore {
        let (mut squares, mut nll, mut inside) = (0.0, 0.0, 0.0);
        for &(at, truth) in &self.hidden {
            let deviation = self.deviations[at % self.n_outputs];
            let error = (prediction.means()[at] - truth) / deviation;
            let variance = prediction.variances()[at] / (deviation * deviation);
            squares += error * error;
            nll += 0.5 * ((std::f64::consts::TAU * variance).ln() + error * error / variance);
            inside += f64::from(u8::from(error.abs() <= 1.959_963_984_540_054 * variance.sqrt()));
        }
        let count = self.hidden.len() as f64;
        GapScore { rmse: (squares / count).sqrt(), mnll: nll / count, coverage: inside / count }
    }
}

/// ETTh1 over time: seven channels of the first rows of the file's text, one row an hour, 30 % of cells hidden by the
/// authors' stream, row by row and output by output.
///
/// # Errors
/// When the text is too short or holds something other than numbers.
pub fn ett_over_time(csv: &str, n_rows: usize, seed: u32) -> Result<GapTable, StudyError> {
    let table = crate::ett_study::numbers(csv, n_rows)?;
    let mut stream = JuliaStream::new(seed);
    let hide: Vec<usize> = (0..n_rows * 7).filter(|_| stream.rand() < 0.3).collect();
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect())?;
    GapTable::new(format!("ETTh1 over time, {n_rows} rows"), inputs, 7, table.concat(), hide)
}
