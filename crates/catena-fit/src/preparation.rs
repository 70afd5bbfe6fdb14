//! From the user's units to the model's, and predictions back.

use catena::data::{DataError, Dataset, InputPoints, InputScaling, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::prediction::Prediction;
use serde::{Deserialize, Serialize};

use crate::fit::FitError;
use crate::normal::{log_density, quantile};

/// What is done to one output before it is modelled: `(f(y) − intercept − slopes·x)/scale`, f the logarithm or nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputTransform {
    /// Whether the logarithm is modelled.
    pub log: bool,
    /// The constant part of the mean.
    pub intercept: f64,
    /// The slope of the mean in each scaled input; empty for a constant mean.
    pub slopes: Vec<f64>,
    /// What the rest is divided by.
    pub scale: f64,
}

impl OutputTransform {
    /// Nothing is done.
    pub fn identity() -> Self {
        Self { log: false, intercept: 0.0, slopes: vec![], scale: 1.0 }
    }

    /// The mean, before the logarithm is undone.
    pub(crate) fn center(&self, point: &[f64]) -> f64 {
        self.intercept + self.slopes.iter().zip(point).map(|(slope, x)| slope * x).sum::<f64>()
    }
}

/// Which transforms are wanted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Wanted {
    /// Outputs whose logarithm is modelled.
    pub log: Vec<OutputIndex>,
    /// Whether means are linear in the inputs.
    pub trend: bool,
    /// How much more each scaled input counts; empty if all count alike.
    pub factors: Vec<f64>,
}

/// How the inputs are brought to scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputUnits {
    /// One input: counted in median gaps from the first point, so that a regular grid stays exact. Several: each
    /// column with mean 0 and standard deviation 1.
    Scaled,
    /// As they are.
    AsGiven,
}

/// The change of units of a whole table. It is fitted to the observed cells and then fixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Shift and scale of each input.
    pub inputs: Vec<(f64, f64)>,
    /// The transform of each output.
    pub outputs: Vec<OutputTransform>,
}

impl Preparation {
    /// Units in which every output has mean 0 and variance 1, after the wanted transforms.
    ///
    /// An output that never varies has no scale of its own; it gets the size of its value.
    ///
    /// # Errors
    /// When an output was never observed, or a logarithm is wanted of a value that is not positive.
    pub fn fitted(dataset: &Dataset, units: InputUnits, wanted: &Wanted) -> Result<Self, DataError> {
        let mut inputs = input_scales(dataset.inputs(), units);
        inputs.iter_mut().zip(&wanted.factors).for_each(|((_, scale), factor)| *scale /= factor);
        let refused = |output| Err(DataError::OutputNeverObserved { output });
        Self::with_inputs(inputs, dataset, wanted, &refused)
    }

    /// The same for parameters that are given: an output that was never observed is taken as it is, for they say all of it.
    pub(crate) fn fitted_to_given(
        dataset: &Dataset,
        units: InputUnits,
        wanted: &Wanted,
    ) -> Result<Self, DataError> {
        let inputs = input_scales(dataset.inputs(), units);
        Self::with_inputs(inputs, dataset, wanted, &|_| Ok(OutputTransform::identity()))
    }

    /// Inputs as they are given here, outputs fitted; what becomes of those without a cell is `never`.
    fn with_inputs(
        inputs: Vec<(f64, f64)>,
        dataset: &Dataset,
        wanted: &Wanted,
        never: &dyn Fn(OutputIndex) -> Result<OutputTransform, DataError>,
    ) -> Result<Self, DataError> {
        let scaled = scaled_inputs(&inputs, dataset.inputs())?;
        let observations = dataset.observations();
        let mut cells: Vec<Vec<(RowIndex, f64)>> = vec![vec![]; observations.n_outputs()];
        for (row, cell) in observations.cells() {
            cells[cell.output.get()].push((row, cell.value));
        }
        let mut outputs = Vec::with_capacity(cells.len());
        for (output, mut cells) in cells.into_iter().enumerate() {
            let index = OutputIndex::new(output);
            if cells.is_empty() {
                outputs.push(never(index)?);
                continue;
            }
            let log = wanted.log.contains(&index);
            if log {
                cells.iter_mut().for_each(|(_, value)| *value = value.ln());
                if let Some(&(row, _)) = cells.iter().find(|(_, value)| !value.is_finite()) {
                    return Err(DataError::ScalingOverflow { row, column: output });
                }
            }
            outputs.push(fitted_output(&scaled, &cells, log, wanted.trend));
        }
        Ok(Self { inputs, outputs })
    }

    /// The same transforms of the same inputs, with means and scales of another table.
    ///
    /// # Errors
    /// As [`Preparation::fitted`].
    pub fn refitted(&self, dataset: &Dataset) -> Result<Self, DataError> {
        let outputs = || self.outputs.iter().enumerate();
        let wanted = Wanted {
            log: outputs().filter(|(_, found)| found.log).map(|(at, _)| OutputIndex::new(at)).collect(),
            trend: outputs().any(|(_, found)| !found.slopes.is_empty()),
            factors: vec![],
        };
        let refused = |output| Err(DataError::OutputNeverObserved { output });
        Self::with_inputs(self.inputs.clone(), dataset, &wanted, &refused)
    }

    /// Nothing is done to the outputs; inputs as asked.
    pub fn identity(inputs: &InputPoints, n_outputs: usize, units: InputUnits) -> Self {
        let outputs = vec![OutputTransform::identity(); n_outputs];
        Self { inputs: input_scales(inputs, units), outputs }
    }

    /// Inputs in the model's units.
    ///
    /// # Errors
    /// When the number of columns differs or a number overflows.
    pub fn inputs(&self, inputs: &InputPoints) -> Result<InputPoints, DataError> {
        scaled_inputs(&self.inputs, inputs)
    }

    /// Refuses a table with a value whose logarithm is modelled and that has none.
    pub(crate) fn check_positive(&self, dataset: &Dataset) -> Result<(), FitError> {
        let is_log = |output: OutputIndex| self.outputs.get(output.get()).is_some_and(|output| output.log);
        let mut cells = dataset.observations().cells();
        match cells.find(|(_, cell)| cell.value <= 0.0 && is_log(cell.output)) {
            None => Ok(()),
            Some((row, cell)) => Err(FitError::NotPositive { row, output: cell.output, value: cell.value }),
        }
    }

    /// A whole table in the model's units.
    ///
    /// # Errors
    /// When columns differ or a number leaves its range.
    pub fn dataset(&self, dataset: &Dataset) -> Result<Dataset, DataError> {
        let observations = dataset.observations();
        let (n_rows, n_outputs) = (observations.n_rows(), observations.n_outputs());
        if n_outputs != self.outputs.len() {
            let (columns, found) = (self.outputs.len(), n_rows * n_outputs);
            return Err(DataError::ShapeMismatch {
                what: "the table of outputs",
                rows: n_rows,
                columns,
                found,
            });
        }
        if self.changes_nothing() && self.inputs.len() == dataset.inputs().dim() {
            return Ok(dataset.clone());
        }
        let inputs = self.inputs(dataset.inputs())?;
        let mut values = vec![f64::NAN; n_rows * n_outputs];
        let mut noise = if observations.has_cell_noise() { values.clone() } else { vec![] };
        for (row, cell) in observations.cells() {
            let transform = &self.outputs[cell.output.get()];
            let value = if transform.log { cell.value.ln() } else { cell.value };
            let scaled = (value - transform.center(inputs.point(row))) / transform.scale;
            if !scaled.is_finite() {
                return Err(DataError::ScalingOverflow { row, column: cell.output.get() });
            }
            let place = row.get() * n_outputs + cell.output.get();
            values[place] = scaled;
            if let Some(variance) = cell.noise_variance {
                noise[place] = variance / (transform.scale * transform.scale);
            }
        }
        let mut prepared = Observations::from_dense(n_rows, n_outputs, &values)?;
        if observations.has_cell_noise() {
            prepared = prepared.with_cell_noise(&noise)?;
        }
        Dataset::new(inputs, prepared)
    }

    /// Whether the model's units are the user's.
    fn changes_nothing(&self) -> bool {
        let identity = OutputTransform::identity();
        self.inputs.iter().all(|units| *units == (0.0, 1.0))
            && self.outputs.iter().all(|transform| *transform == identity)
    }

    /// Brings values of cells back to the user's units, in place: tables over the scaled inputs, row-major, one after the
    /// other.
    ///
    /// # Errors
    /// When a value overflows on the way back.
    pub fn undo(&self, values: &mut [f64], scaled_inputs: &InputPoints) -> Result<(), DataError> {
        let n_outputs = self.outputs.len();
        for (at, value) in values.iter_mut().enumerate() {
            let transform = &self.outputs[at % n_outputs];
            let row = RowIndex::new(at / n_outputs % scaled_inputs.n_rows());
            let center = transform.center(scaled_inputs.point(row)) + *value * transform.scale;
            *value = if transform.log { center.exp() } else { center };
        }
        self.whole(values.len(), |at| values[*at].is_finite())
    }

    /// A prediction at scaled inputs, in the user's units.
    ///
    /// # Errors
    /// When a mean or a deviation overflows on the way back.
    pub fn predictive(
        &self,
        prediction: Prediction,
        scaled_inputs: &InputPoints,
    ) -> Result<Predictive, DataError> {
        let predictive = self.predictive_unchecked(prediction, scaled_inputs);
        let is_number =
            |at: &usize| predictive.mean(*at).is_finite() && predictive.deviation(*at).is_finite();
        self.whole(predictive.centers.len(), is_number)?;
        Ok(predictive)
    }

    /// The same for scores, which an overflow makes as bad as they can be.
    pub(crate) fn predictive_unchecked(
        &self,
        prediction: Prediction,
        scaled_inputs: &InputPoints,
    ) -> Predictive {
        let n_outputs = self.outputs.len();
        let (mut centers, mut deviations) = prediction.into_arrays();
        deviations.iter_mut().for_each(|variance| *variance = variance.sqrt());
        if !self.changes_nothing() {
            let rows = centers.chunks_exact_mut(n_outputs).zip(deviations.chunks_exact_mut(n_outputs));
            for ((centers, deviations), row) in rows.zip(scaled_inputs.rows()) {
                let point = scaled_inputs.point(row);
                let cells = centers.iter_mut().zip(deviations).zip(&self.outputs);
                for ((center, deviation), transform) in cells {
                    *center = transform.center(point) + *center * transform.scale;
                    *deviation *= transform.scale;
                }
            }
        }
        let log = self.outputs.iter().map(|transform| transform.log).collect();
        Predictive { n_outputs, centers, deviations, log }
    }

    /// Refuses results that are not all numbers, by the first cell that is none.
    fn whole(&self, n_cells: usize, is_number: impl Fn(&usize) -> bool) -> Result<(), DataError> {
        let n_outputs = self.outputs.len();
        match (0..n_cells).find(|at| !is_number(at)) {
            None => Ok(()),
            Some(at) => {
                let row = RowIndex::new(at / n_outputs);
                Err(DataError::UnscalingOverflow { row, output: at % n_outputs })
            }
        }
    }
}

/// The median distance of neighbors along a line that differ; `None` if all places are the same.
pub fn median_gap(places: &[f64]) -> Option<f64> {
    let mut sorted = places.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut gaps: Vec<f64> =
        sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect();
    let middle = gaps.len() / 2;
    if gaps.is_empty() { None } else { Some(*gaps.select_nth_unstable_by(middle, f64::total_cmp).1) }
}

fn input_scales(inputs: &InputPoints, units: InputUnits) -> Vec<(f64, f64)> {
    match (units, inputs.dim()) {
        (InputUnits::AsGiven, dim) => vec![(0.0, 1.0); dim],
        (InputUnits::Scaled, 1) => {
            let (first, last) = inputs
                .values()
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
            let gap = median_gap(inputs.values()).unwrap_or(1.0);
            let usable = gap.is_normal() && ((last - first) / gap).is_finite();
            vec![(first, if usable { gap } else { 1.0 })]
        }
        (InputUnits::Scaled, _) => {
            let scaling = InputScaling::standardizing(inputs);
            scaling.shifts().zip(scaling.scales()).collect()
        }
    }
}

fn scaled_inputs(scales: &[(f64, f64)], inputs: &InputPoints) -> Result<InputPoints, DataError> {
    InputScaling::with_shifts_and_scales(scales)?.apply(inputs)
}

fn fitted_output(scaled: &InputPoints, cells: &[(RowIndex, f64)], log: bool, trend: bool) -> OutputTransform {
    let count = cells.len() as f64;
    // Counted in units of the largest value, so that squares neither overflow nor vanish.
    let largest = cells.iter().fold(0.0_f64, |largest, (_, value)| largest.max(value.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let slopes = if trend && cells.len() > 3 * (scaled.dim() + 1) {
        least_squares(scaled, cells, unit)
    } else {
        vec![]
    };
    let detrended = |(row, value): &(RowIndex, f64)| {
        let along: f64 = slopes.iter().zip(scaled.point(*row)).map(|(slope, x)| slope * x).sum();
        (value - along) / unit
    };
    let mean = cells.iter().map(detrended).sum::<f64>() / count;
    let squares: f64 = cells.iter().map(|cell| (detrended(cell) - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    // A spread within the rounding of the values themselves is no spread.
    let scale = if deviation > 1e-14 { deviation } else { 1.0 };
    OutputTransform { log, intercept: mean * unit, slopes, scale: scale * unit }
}

/// Slopes of the plane through the cells, with a ridge that only matters when inputs are collinear.
fn least_squares(scaled: &InputPoints, cells: &[(RowIndex, f64)], unit: f64) -> Vec<f64> {
    let (dim, count) = (scaled.dim(), cells.len() as f64);
    let mut means = vec![0.0; dim];
    for (row, _) in cells {
        means.iter_mut().zip(scaled.point(*row)).for_each(|(mean, x)| *mean += x / count);
    }
    let mean = cells.iter().map(|(_, value)| value / unit).sum::<f64>() / count;
    let mut normal = vec![0.0; dim * dim];
    let mut right = vec![0.0; dim];
    for (row, value) in cells {
        let point: Vec<f64> = scaled.point(*row).iter().zip(&means).map(|(x, mean)| x - mean).collect();
        for i in 0..dim {
            right[i] += point[i] * (value / unit - mean);
            for j in 0..dim {
                normal[i * dim + j] += point[i] * point[j];
            }
        }
    }
    solve_with_ridge(count, normal, right).into_iter().map(|slope| slope * unit).collect()
}

/// Slopes from sums of products of `count` cells around their means: of inputs, and of inputs and values.
pub(crate) fn solve_with_ridge(count: f64, mut normal: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let dim = right.len();
    (0..dim).for_each(|i| normal[i * dim + i] += 1e-6 * count);
    // Gaussian elimination: positive definite by the ridge, so no pivoting is needed.
    for k in 0..dim {
        for i in k + 1..dim {
            let factor = normal[i * dim + k] / normal[k * dim + k];
            for j in k..dim {
                normal[i * dim + j] -= factor * normal[k * dim + j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..dim).rev() {
        let known: f64 = (k + 1..dim).map(|j| normal[k * dim + j] * right[j]).sum();
        right[k] = (right[k] - known) / normal[k * dim + k];
    }
    right
}

/// Predictive distributions of cells in the user's units: normal, or log-normal where the logarithm was modelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    n_outputs: usize,
    /// Mean and standard deviation before a logarithm is undone, row-major.
    centers: Vec<f64>,
    deviations: Vec<f64>,
    log: Vec<bool>,
}

impl Predictive {
    /// Normal distributions with these means and standard deviations, row-major.
    pub fn normal(n_outputs: usize, means: Vec<f64>, deviations: Vec<f64>) -> Self {
        Self { n_outputs, centers: means, deviations, log: vec![false; n_outputs] }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.centers.len() / self.n_outputs
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The mean of every cell, row-major.
    pub fn means(&self) -> Vec<f64> {
        (0..self.centers.len()).map(|at| self.mean(at)).collect()
    }

    /// Means and standard deviations of every cell, row-major.
    pub fn into_means_and_deviations(self) -> (Vec<f64>, Vec<f64>) {
        if self.log.contains(&true) {
            (self.means(), self.deviations())
        } else {
            (self.centers, self.deviations)
        }
    }

    /// The mean of one cell, by its row-major place.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn mean(&self, at: usize) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        if self.is_log(at) { (center + 0.5 * deviation * deviation).exp() } else { center }
    }

    /// The standard deviation of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn deviation(&self, at: usize) -> f64 {
        let deviation = self.deviations[at];
        if self.is_log(at) { self.mean(at) * (deviation * deviation).exp_m1().sqrt() } else { deviation }
    }

    /// The standard deviation of every cell, row-major.
    pub fn deviations(&self) -> Vec<f64> {
        (0..self.centers.len()).map(|at| self.deviation(at)).collect()
    }

    /// The value below which one cell lies with this probability.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn quantile(&self, at: usize, probability: f64) -> f64 {
        let value = self.centers[at] + quantile(probability) * self.deviations[at];
        if self.is_log(at) { value.exp() } else { value }
    }

    /// The log density of a value of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn log_density(&self, at: usize, value: f64) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        if self.is_log(at) {
            if value > 0.0 {
                log_density(value.ln(), center, deviation) - value.ln()
            } else {
                f64::NEG_INFINITY
            }
        } else {
            log_density(value, center, deviation)
        }
    }

    /// The probability that one cell lies below a value.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn probability_below(&self, at: usize, value: f64) -> f64 {
        let value = match self.is_log(at) {
            true if value <= 0.0 => return 0.0,
            true => value.ln(),
            false => value,
        };
        crate::normal::cumulative((value - self.centers[at]) / self.deviations[at])
    }

    fn is_log(&self, at: usize) -> bool {
        self.log[at % self.n_outputs]
    }
}
