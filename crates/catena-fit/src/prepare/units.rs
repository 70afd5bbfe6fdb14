//! Conversion of tables to the model's units, and of predictions back.

use std::collections::BTreeMap;

use catena::data::{Cell, ColumnMoments, DataError, Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};
use catena::likelihood::{LikelihoodError, ObservationScale, OutputLikelihoods, OutputNoise};
use catena::model::Lmc;
use catena::prediction::Prediction;
use serde::{Deserialize, Serialize};

use super::group_units::add_own_of_groups;
use super::input_units::{InputUnits, input_scales, scaled_inputs};
use super::least_squares::least_squares;
use super::observed::Law;
use super::output_transform::{OutputTransform, dot};
use super::predictive::Predictive;
use crate::error::FitError;
use crate::options::{LikelihoodChoice, TransformChoice};
use crate::power::PowerTransform;

/// Whether a value in the model's units can be observed under fixed parameters: the sweep adds up squares of values over their
/// noise, and 10⁸ squares of 10¹⁵⁰ are still representable.
pub(crate) fn is_in_range(model: &Lmc, output: OutputIndex, value: f64) -> bool {
    const LARGEST: f64 = 1e150;
    let noise = model.noise().get(output.get()).map_or(1.0, |noise| noise.get());
    value.abs() <= LARGEST * noise.sqrt().min(1.0)
}

/// The change of units of a table, fitted to its observed cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Shift and scale of each input.
    pub inputs: Vec<(f64, f64)>,
    /// The transform of each output.
    pub outputs: Vec<OutputTransform>,
    /// The transforms of groups with means and scales of their own, by the number of the group; others have those of all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<usize, Vec<OutputTransform>>,
}

impl Preparation {
    /// Units in which every output has mean 0 and variance 1 after its transform.
    ///
    /// The scale of a constant output is its absolute value.
    ///
    /// # Errors
    /// When an output was never observed, or a value has no transform.
    pub fn fitted(
        dataset: &Dataset,
        units: InputUnits,
        transforms: &TransformChoice,
    ) -> Result<Self, DataError> {
        let mut inputs = input_scales(dataset.inputs(), units);
        inputs.iter_mut().zip(&transforms.factors).for_each(|((_, scale), factor)| *scale /= factor);
        let refused = |output| Err(DataError::OutputNeverObserved { output });
        Self::with_inputs(inputs, dataset, transforms, &refused)
    }

    /// The same in these units of the inputs.
    pub(crate) fn with_input_units(
        inputs: Vec<(f64, f64)>,
        dataset: &Dataset,
        transforms: &TransformChoice,
    ) -> Result<Self, DataError> {
        Self::with_inputs(inputs, dataset, transforms, &|output| {
            Err(DataError::OutputNeverObserved { output })
        })
    }

    /// The same for given parameters; an output that was never observed is not scaled.
    pub(crate) fn fitted_to_given(
        dataset: &Dataset,
        units: InputUnits,
        transforms: &TransformChoice,
    ) -> Result<Self, DataError> {
        let inputs = input_scales(dataset.inputs(), units);
        Self::with_inputs(inputs, dataset, transforms, &|_| Ok(OutputTransform::identity()))
    }

    /// Fits the outputs for given scales of the inputs; `never` handles outputs without cells.
    fn with_inputs(
        inputs: Vec<(f64, f64)>,
        dataset: &Dataset,
        transforms: &TransformChoice,
        never: &dyn Fn(OutputIndex) -> Result<OutputTransform, DataError>,
    ) -> Result<Self, DataError> {
        let scaled = scaled_inputs(&inputs, dataset.inputs())?;
        let observations = dataset.observations();
        let mut cells: Vec<Vec<(RowIndex, f64)>> = vec![vec![]; observations.n_outputs()];
        for (row, cell) in observations.cells() {
            cells[cell.output.get()].push((row, cell.value));
        }
        let mut outputs = Vec::with_capacity(cells.len());
        let mut own: BTreeMap<usize, BTreeMap<usize, OutputTransform>> = BTreeMap::new();
        for (output, mut cells) in cells.into_iter().enumerate() {
            let index = OutputIndex::new(output);
            if cells.is_empty() {
                outputs.push(never(index)?);
                continue;
            }
            let power = transforms.power(output);
            if power != PowerTransform::None {
                cells.iter_mut().for_each(|(_, value)| *value = power.forward(*value));
                if let Some(&(row, _)) = cells.iter().find(|(_, value)| !value.is_finite()) {
                    return Err(DataError::ScalingOverflow { row, column: output });
                }
            }
            let fitted = fitted_output(&scaled, &cells, power, transforms.trend);
            if transforms.own_of_groups {
                add_own_of_groups(&mut own, &scaled, output, &fitted, &cells);
            }
            outputs.push(fitted);
        }
        let whole = |own: BTreeMap<usize, OutputTransform>| -> Vec<OutputTransform> {
            outputs.iter().enumerate().map(|(at, shared)| own.get(&at).unwrap_or(shared).clone()).collect()
        };
        let groups = own.into_iter().map(|(group, own)| (group, whole(own))).collect();
        Ok(Self { inputs, outputs, groups })
    }

    /// The transforms of the outputs in a group.
    pub(crate) fn outputs_in(&self, group: Option<GroupIndex>) -> &[OutputTransform] {
        group.and_then(|group| self.groups.get(&group.get())).unwrap_or(&self.outputs)
    }

    /// The same units fitted to other cells in the same rows.
    pub(crate) fn refitted_to(&self, table: &Dataset, cells: &Observations) -> Result<Self, DataError> {
        self.refitted(&Dataset::new(table.inputs().clone(), cells.clone())?)
    }

    /// The same scales of the inputs and kinds of transforms, fitted to the outputs of another table.
    ///
    /// # Errors
    /// As [`Preparation::fitted`].
    pub fn refitted(&self, dataset: &Dataset) -> Result<Self, DataError> {
        let trend = self.outputs.iter().any(|found| !found.slopes.is_empty());
        let powers = self.outputs.iter().map(|found| found.power).collect();
        let own_of_groups = !self.groups.is_empty();
        let transforms = TransformChoice { trend, own_of_groups, ..TransformChoice::default() };
        let transforms = transforms.with_powers(powers);
        let refused = |output| Err(DataError::OutputNeverObserved { output });
        let found = Self::with_inputs(self.inputs.clone(), dataset, &transforms, &refused)?;
        Ok(found.with_bounds(&self.bounds()))
    }

    /// Units with outputs as they are.
    pub fn identity(inputs: &InputPoints, n_outputs: usize, units: InputUnits) -> Self {
        let outputs = vec![OutputTransform::identity(); n_outputs];
        Self { inputs: input_scales(inputs, units), outputs, groups: BTreeMap::new() }
    }

    /// Inputs in the model's units.
    ///
    /// # Errors
    /// When the number of columns differs or a number overflows.
    pub fn inputs(&self, inputs: &InputPoints) -> Result<InputPoints, DataError> {
        scaled_inputs(&self.inputs, inputs)
    }

    /// Checks that no value is too large for a model whose parameters stay, in a table in the model's units.
    pub(crate) fn check_size(prepared: &Dataset, model: &Lmc) -> Result<(), FitError> {
        let mut cells = prepared.observations().cells();
        match cells.find(|(_, cell)| !is_in_range(model, cell.output, cell.value)) {
            None => Ok(()),
            Some((row, cell)) => Err(FitError::TooLarge { row, output: cell.output }),
        }
    }

    /// A table in the model's units.
    ///
    /// # Errors
    /// When columns differ or a number overflows.
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
        let prepared = observations.map_cells(|row, cell| {
            let transform = &self.outputs_in(inputs.group(row))[cell.output.get()];
            let value = transform.apply(cell.value, inputs.point(row));
            if !value.is_finite() {
                return Err(DataError::ScalingOverflow { row, column: cell.output.get() });
            }
            let square = transform.scale * transform.scale;
            let noise_variance = cell.noise_variance.map(|variance| variance / square);
            Ok(Cell { value, noise_variance, ..cell })
        })?;
        Dataset::new(inputs, prepared)
    }

    /// Whether this is the identity.
    fn changes_nothing(&self) -> bool {
        let identity = OutputTransform::identity();
        self.inputs.iter().all(|units| *units == (0.0, 1.0))
            && self.outputs.iter().all(|transform| *transform == identity)
            && self.groups.is_empty()
    }

    /// Converts values to those of the transformed outputs, in place. They are row-major tables over the scaled inputs, one after
    /// the other.
    pub(crate) fn unscale(&self, values: &mut [f64], scaled_inputs: &InputPoints) {
        let n_outputs = self.outputs.len();
        for (at, value) in values.iter_mut().enumerate() {
            let row = RowIndex::new(at / n_outputs % scaled_inputs.n_rows());
            let transform = &self.outputs_in(scaled_inputs.group(row))[at % n_outputs];
            *value = transform.unscaled(*value, scaled_inputs.point(row));
        }
    }

    /// Inverts the transforms of unscaled values, in place.
    ///
    /// # Errors
    /// When a value overflows.
    pub(crate) fn invert(&self, values: &mut [f64]) -> Result<(), DataError> {
        let n_outputs = self.outputs.len();
        for (at, value) in values.iter_mut().enumerate() {
            *value = self.outputs[at % n_outputs].power.inverse(*value);
        }
        self.whole(values.len(), |at| values[*at].is_finite())
    }

    /// A prediction at scaled inputs, in the user's units.
    ///
    /// # Errors
    /// When a mean or a standard deviation overflows.
    pub fn predictive(
        &self,
        prediction: Prediction,
        scaled_inputs: &InputPoints,
    ) -> Result<Predictive, DataError> {
        let predictive = self.predictive_unchecked(prediction, scaled_inputs);
        let is_number = |at: &usize| {
            let (mean, deviation) = predictive.moments(*at);
            mean.is_finite() && deviation.is_finite()
        };
        self.whole(predictive.n_cells(), is_number)?;
        Ok(predictive)
    }

    /// Whether an output has a likelihood other than Gaussian.
    pub(crate) fn has_likelihoods(&self) -> bool {
        self.outputs.iter().any(|output| output.likelihood.is_some())
    }

    /// The same with these likelihoods: cells stay in the user's units.
    pub(crate) fn with_likelihoods(mut self, choices: &[LikelihoodChoice]) -> Self {
        for (output, choice) in self.outputs.iter_mut().zip(choices) {
            output.likelihood = Some(*choice);
        }
        self
    }

    /// The likelihoods of the outputs for a table of so many rows.
    pub(crate) fn likelihoods(&self, n_rows: usize) -> Result<OutputLikelihoods, LikelihoodError> {
        let choice = |output: &OutputTransform| output.likelihood.unwrap_or_else(LikelihoodChoice::gaussian);
        let noise = |output: &OutputTransform| OutputNoise {
            likelihood: choice(output).likelihood,
            offset: output.intercept,
            scale: output.scale,
        };
        let trials: Vec<f64> = self.outputs.iter().map(|output| choice(output).trials).collect();
        OutputLikelihoods::new(self.outputs.iter().map(noise)).with_exposures(n_rows, trials.repeat(n_rows))
    }

    /// The likelihood of each output in the user's units, under a model with these noise variances.
    pub(crate) fn laws(&self, noise: &[f64], is_observation: bool) -> Vec<Law> {
        let law = |(output, noise): (&OutputTransform, &f64)| {
            let choice = output.likelihood.unwrap_or_else(LikelihoodChoice::gaussian);
            let scale =
                ObservationScale { noise: noise * output.scale * output.scale, exposure: choice.trials };
            Law { likelihood: choice.likelihood, scale, is_observation }
        };
        self.outputs.iter().zip(noise).map(law).collect()
    }

    /// A prediction of the function at scaled inputs, in terms of the outputs by their likelihoods.
    ///
    /// # Errors
    /// When a mean overflows.
    pub(crate) fn observed(
        &self,
        function: Prediction,
        scaled_inputs: &InputPoints,
        laws: Vec<Law>,
    ) -> Result<Predictive, DataError> {
        let predictive = self.predictive_unchecked(function, scaled_inputs).with_laws(laws);
        // The standard deviation of heavy tails is infinite.
        self.whole(predictive.n_cells(), |at| predictive.mean(*at).is_finite())?;
        Ok(predictive)
    }

    /// The same without a check for overflow, for scores.
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
                let transforms = self.outputs_in(scaled_inputs.group(row));
                let cells = centers.iter_mut().zip(deviations).zip(transforms);
                for ((center, deviation), transform) in cells {
                    *center = transform.unscaled(*center, point);
                    *deviation *= transform.scale;
                }
            }
        }
        let powers = self.outputs.iter().map(|transform| transform.power).collect();
        Predictive::new(centers, deviations, powers).with_bounds(self.bounds())
    }

    /// An error for the first cell that is not finite.
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

fn fitted_output(
    scaled: &InputPoints,
    cells: &[(RowIndex, f64)],
    power: PowerTransform,
    trend: bool,
) -> OutputTransform {
    let values = cells.iter().map(|(_, value)| *value);
    let plain = ColumnMoments::of(values.clone());
    let slopes = match plain.deviation {
        Some(unit) if trend && cells.len() > 3 * (scaled.dim() + 1) => {
            least_squares(scaled, cells, plain.mean, unit)
        }
        _ => vec![],
    };
    // Relative to the mean, so that slopes are subtracted from small numbers.
    let ColumnMoments { mean, deviation } = match slopes.is_empty() {
        true => plain,
        false => {
            let residuals =
                cells.iter().map(|(row, value)| (value - plain.mean) - dot(&slopes, scaled.point(*row)));
            let residual = ColumnMoments::of(residuals);
            ColumnMoments { mean: plain.mean + residual.mean, ..residual }
        }
    };
    let largest = values.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let varies = deviation.filter(|deviation| deviation.is_finite());
    let scale = varies.unwrap_or(if largest > 0.0 { largest } else { 1.0 });
    OutputTransform { power, intercept: mean, slopes, scale, likelihood: None, bounds: None }
}

/// The log Jacobian of the change of units, summed over all cells: added to the log evidence it gives the log density of the
/// cells in the user's units.
pub(crate) fn log_volume(table: &Dataset, preparation: &Preparation) -> f64 {
    let transform = |row, cell: &Cell| &preparation.outputs_in(table.inputs().group(row))[cell.output.get()];
    table.observations().cells().map(|(row, cell)| transform(row, &cell).log_volume(cell.value)).sum()
}
