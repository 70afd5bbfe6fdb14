//! One likelihood for each output of a table.

use super::cell::{CellLikelihood, CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::error::LikelihoodError;
use super::named::Likelihood;
use crate::data::check_shape;
use crate::index::{OutputIndex, RowIndex};

/// The likelihood of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputNoise {
    /// The distribution of its observations.
    pub likelihood: Likelihood,
    /// The constant that is added to the function, such as the logarithm of a typical rate.
    pub offset: f64,
    /// The factor of the function before that. The likelihood sees the noise of the output times its square.
    pub scale: f64,
}

impl<L: Into<Likelihood>> From<L> for OutputNoise {
    fn from(likelihood: L) -> Self {
        Self { likelihood: likelihood.into(), offset: 0.0, scale: 1.0 }
    }
}

impl OutputNoise {
    /// The marginal of the function in the units of the likelihood.
    fn shifted(&self, marginal: CellMarginal) -> CellMarginal {
        CellMarginal {
            mean: self.scale * marginal.mean + self.offset,
            variance: self.scale * self.scale * marginal.variance,
        }
    }
}

/// A likelihood for every output, with the exposures of cells: counts beside temperatures.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputLikelihoods {
    outputs: Vec<OutputNoise>,
    /// Row-major, if cells have exposures.
    exposures: Option<Vec<f64>>,
}

impl OutputLikelihoods {
    /// The likelihoods of the outputs, in their order.
    pub fn new(outputs: impl IntoIterator<Item = impl Into<OutputNoise>>) -> Self {
        Self { outputs: outputs.into_iter().map(Into::into).collect(), exposures: None }
    }

    /// The same with an exposure for every cell, row-major over the full table. Entries of missing cells are not looked at.
    ///
    /// # Errors
    /// When the size does not match.
    pub fn with_exposures(self, n_rows: usize, exposures: Vec<f64>) -> Result<Self, LikelihoodError> {
        check_shape("the table of exposures", n_rows, self.outputs.len(), exposures.len())?;
        Ok(Self { exposures: Some(exposures), ..self })
    }

    /// The likelihoods of the outputs.
    pub fn outputs(&self) -> &[OutputNoise] {
        &self.outputs
    }

    /// The exposure of a cell: 1 unless it is given.
    pub fn exposure(&self, row: RowIndex, output: OutputIndex) -> f64 {
        let at = row.get() * self.outputs.len() + output.get();
        self.exposures.as_ref().and_then(|all| all.get(at)).copied().unwrap_or(1.0)
    }

    /// A cell in the units of its likelihood.
    fn in_units(&self, cell: &ObservedCell) -> ObservedCell {
        let scale = self.outputs[cell.output.get()].scale;
        ObservedCell {
            exposure: self.exposure(cell.row, cell.output),
            noise: scale * scale * cell.noise,
            ..*cell
        }
    }
}

impl CellLikelihood for OutputLikelihoods {
    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let own = &self.outputs[cell.output.get()];
        let found = own.likelihood.expectation(&self.in_units(cell), own.shifted(marginal));
        let square = own.scale * own.scale;
        Expectation {
            log_density: found.log_density,
            slope: own.scale * found.slope,
            precision: square * found.precision,
            noise_slope: square * found.noise_slope,
        }
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        let own = &self.outputs[cell.output.get()];
        let start = own.likelihood.start(&self.in_units(cell));
        PseudoObservation {
            value: (start.value - own.offset) / own.scale,
            variance: start.variance / (own.scale * own.scale),
        }
    }

    fn check(&self, cell: &ObservedCell) -> Result<(), LikelihoodError> {
        let output = cell.output;
        let Some(own) = self.outputs.get(output.get()) else {
            return Err(LikelihoodError::NoLikelihood { output, n_likelihoods: self.outputs.len() });
        };
        own.likelihood.check(&self.in_units(cell))
    }
}
