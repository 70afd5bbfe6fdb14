//! A model converted from the units of one preparation to those of another.

use catena::index::OutputIndex;
use catena::model::{Lmc, MixingMatrix, ModelError};
use catena::units::Variance;

use super::units::Preparation;

/// Converts a model from the units of `from` to those of `to`. With several inputs, whose scales may change by different
/// factors, length-scales change by the geometric mean.
pub(crate) fn rescaled(model: &Lmc, from: &Preparation, to: &Preparation) -> Result<Lmc, ModelError> {
    let ratios: Vec<f64> =
        from.outputs.iter().zip(&to.outputs).map(|(from, to)| from.scale / to.scale).collect();
    let mut changes = from.inputs.iter().zip(&to.inputs).map(|((_, from), (_, to))| from / to);
    let factor = match from.inputs.len() {
        // Without a logarithm a day stays a day to the last digit.
        1 => changes.next().unwrap_or(1.0),
        n_inputs => (changes.map(f64::ln).sum::<f64>() / n_inputs as f64).exp(),
    };
    let noise = model.noise().iter().zip(&ratios);
    let noise = noise.map(|(noise, ratio)| Variance::new(ratio * ratio * noise.get()));
    let latents = model.latents().iter().map(|latent| latent.stretched(factor));
    Lmc::new(
        latents.collect::<Result<_, _>>()?,
        with_scaled_rows(model.mixing(), &ratios)?,
        noise.collect::<Result<_, _>>()?,
    )
}

/// The weights with the row of each output multiplied by its factor.
pub(super) fn with_scaled_rows(mixing: &MixingMatrix, factors: &[f64]) -> Result<MixingMatrix, ModelError> {
    let (mut shared, mut private) = (vec![], vec![]);
    for (output, factor) in factors.iter().enumerate() {
        let output = OutputIndex::new(output);
        shared.extend(mixing.shared_row(output).iter().map(|weight| factor * weight));
        private.extend(mixing.private_weight(output).map(|weight| factor * weight));
    }
    MixingMatrix::with_private(factors.len(), mixing.n_shared(), shared, private)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{StructureOption, TransformChoice};
    use crate::prepare::{InputUnits, PreparedTable};
    use catena::data::{Dataset, InputPoints, Observations};
    use catena::kernel::{Kernel, StateKind};
    use catena::model::Latent;
    use catena::units::LengthScale;

    /// The log densities differ by the log Jacobian of the change of units.
    #[test]
    fn a_rescaled_model_has_the_same_density() {
        let n_rows = 30;
        let place = |row: usize| 0.25 * row as f64 + 3.0;
        let value = |row: usize, output: usize| (place(row) * (1.0 + output as f64)).sin() * 10.0 + 5.0;
        let values: Vec<f64> = (0..2 * n_rows).map(|at| value(at / 2, at % 2)).collect();
        let inputs = InputPoints::from_column((0..n_rows).map(place).collect()).unwrap();
        let table = Dataset::new(inputs, Observations::from_dense(n_rows, 2, &values).unwrap()).unwrap();
        let from = Preparation::fitted(&table, InputUnits::Scaled, &TransformChoice::default()).unwrap();
        let mut to = Preparation::identity(table.inputs(), 2, InputUnits::AsGiven);
        for (to, from) in to.outputs.iter_mut().zip(&from.outputs) {
            to.intercept = from.intercept;
        }
        let latent = |length| {
            let length_scale = LengthScale::new(length).unwrap();
            Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale).unwrap()
        };
        let mixing = MixingMatrix::with_private(2, 1, vec![0.8, -0.5], vec![0.3, 0.4]).unwrap();
        let noise = vec![Variance::new(0.01).unwrap(), Variance::new(0.04).unwrap()];
        let model = Lmc::new(vec![latent(8.0), latent(3.0), latent(5.0)], mixing, noise).unwrap();
        let evidence = |model: &Lmc, units: &Preparation| {
            let prepared_table =
                PreparedTable::new(units.dataset(&table).unwrap(), StructureOption::Auto).unwrap();
            catena::inference::log_evidence(&prepared_table.graph(model.clone()).unwrap()).unwrap()
        };
        let change: f64 = from.outputs.iter().map(|output| n_rows as f64 * output.scale.ln()).sum();
        let rescaled = rescaled(&model, &from, &to).unwrap();
        let (before, after) = (evidence(&model, &from) - change, evidence(&rescaled, &to));
        assert!((before - after).abs() < 1e-9 * before.abs(), "{before} {after}");
    }
}
