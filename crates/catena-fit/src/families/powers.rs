//! Learned exponents of outputs, by the log evidence of a model plus the log Jacobian of the transforms.
//!
//! With the duals α = K⁻¹z of the scaled cells z the gradient in the exponent of an output is −Σ α ∂z/∂λ plus that of the log
//! Jacobian. One sweep gives all duals: α is a cell minus its posterior mean, over the noise variance.

use catena::data::{Cell, ColumnMoments, Dataset};
use catena::inference::{log_evidence, marginals};
use catena::model::Lmc;

use super::marginal::{cells_of, marginal_exponent, sign};
use crate::error::{FitError, MethodError};
use crate::monitor::Reporter;
use crate::options::{StructureOption, TransformChoice, TransformKind};
use crate::power::{LARGEST_EXPONENT, PowerTransform};
use crate::prepare::{InputUnits, Preparation, PreparedTable, log_volume};

/// Outputs with fewer cells keep their units.
const FEWEST_CELLS: usize = 20;
/// The most sweeps of one search.
const MOST_SWEEPS: usize = 16;
/// A search ends when a step is expected to gain less than this many nats.
const NEGLIGIBLE: f64 = 0.01;
/// The first step of a search, and the longest.
const STEPS: (f64, f64) = (0.05, 0.5);

/// A table in the user's units, for which exponents are learned.
pub(super) struct PowerTask<'a> {
    pub(super) table: &'a Dataset,
    pub(super) units: InputUnits,
    pub(super) structure: StructureOption,
    /// Ends searches.
    pub(super) reporter: Option<&'a Reporter<'a>>,
}

/// The gain in nats that a transform must have: half the logarithm of the number of cells, and as much again for an exponent.
fn cost_of(power: PowerTransform, n_cells: usize) -> f64 {
    let n_choices = match power {
        PowerTransform::None => 0.0,
        PowerTransform::Log => 1.0,
        PowerTransform::BoxCox { .. } | PowerTransform::YeoJohnson { .. } => 2.0,
    };
    n_choices * 0.5 * (n_cells.max(1) as f64).ln()
}

/// The cost of all transforms that differ from others.
pub(super) fn cost_of_change(table: &Dataset, from: &TransformChoice, to: &TransformChoice) -> f64 {
    let counts = table.observations().counts_by_output().into_iter().enumerate();
    let changed = counts.filter(|(output, _)| from.power(*output) != to.power(*output));
    changed.map(|(output, count)| cost_of(to.power(output), count)).sum()
}

/// The transform of a kind for an output, with the exponent of its marginal likelihood. `Auto` is Box–Cox if the output is
/// positive in the whole table, else Yeo–Johnson, and none if that gains too little.
pub(super) fn marginal_power(
    table: &Dataset,
    output: usize,
    kind: TransformKind,
    positive: bool,
) -> PowerTransform {
    let values = cells_of(table.observations(), output);
    let moments = ColumnMoments::of(values.iter().copied());
    let yeo_johnson = || {
        let unit = moments.deviation.filter(|unit| *unit > 0.0 && unit.is_finite()).unwrap_or(1.0);
        PowerTransform::YeoJohnson { exponent: 1.0, center: moments.mean, unit }
    };
    let start = match kind {
        TransformKind::None => return PowerTransform::None,
        TransformKind::Log => return PowerTransform::Log,
        TransformKind::Auto if values.len() < FEWEST_CELLS || moments.deviation.is_none() => {
            return PowerTransform::None;
        }
        TransformKind::Auto if positive => PowerTransform::BoxCox { exponent: 1.0 },
        TransformKind::BoxCox => PowerTransform::BoxCox { exponent: 1.0 },
        TransformKind::Auto | TransformKind::YeoJohnson => yeo_johnson(),
    };
    let (exponent, gain) = marginal_exponent(start, &values);
    match kind {
        TransformKind::Auto if gain < cost_of(PowerTransform::Log, values.len()) => PowerTransform::None,
        _ => start.with_exponent(exponent),
    }
}

impl PowerTask<'_> {
    fn is_stopped(&self) -> bool {
        self.reporter.is_some_and(|reporter| reporter.go_on().is_break())
    }

    /// The table in the model's units under these transforms, and the units.
    pub(super) fn prepared(
        &self,
        transforms: &TransformChoice,
    ) -> Result<(Preparation, PreparedTable), FitError> {
        let preparation = Preparation::fitted(self.table, self.units, transforms)?;
        let table = PreparedTable::new(preparation.dataset(self.table)?, self.structure)?;
        Ok((preparation, table))
    }

    /// Log evidence plus log Jacobian: the log density of the cells in the user's units.
    pub(super) fn value(&self, transforms: &TransformChoice, model: &Lmc) -> Result<f64, FitError> {
        let (preparation, table) = self.prepared(transforms)?;
        let evidence = log_evidence(&table.graph(model.clone())?).map_err(MethodError::from)?;
        Ok(evidence + log_volume(self.table, &preparation))
    }

    /// The same with its derivative in the exponent of every output; 0 for outputs without one.
    pub(super) fn gradient(
        &self,
        transforms: &TransformChoice,
        model: &Lmc,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let (preparation, table) = self.prepared(transforms)?;
        let found = marginals(&table.graph(model.clone())?).map_err(MethodError::from)?;
        let n_outputs = preparation.outputs.len();
        let observations = self.table.observations();
        // Derivatives of the transforms, centered as the transforms are.
        let slopes = observations.map_cells(|_, cell| {
            let power = &preparation.outputs[cell.output.get()].power;
            Ok(Cell { value: power.exponent_derivatives(cell.value).0, ..cell })
        })?;
        let slopes = Dataset::new(self.table.inputs().clone(), slopes)?;
        let plain = TransformChoice { powers: vec![], ..transforms.clone() };
        let of_slopes = Preparation::fitted(&slopes, self.units, &plain)?;
        let slopes = of_slopes.dataset(&slopes)?;
        // By output: Σ α r, Σ α z, Σ z r, the number of cells, and the sum of the log Jacobian's derivatives.
        let mut sums = vec![[0.0; 5]; n_outputs];
        let cells = table.dataset.observations().cells().zip(slopes.observations().cells());
        for (((row, cell), (_, slope)), (_, given)) in cells.zip(observations.cells()) {
            let output = cell.output.get();
            let (scale, of_slope) = (preparation.outputs[output].scale, of_slopes.outputs[output].scale);
            let mean = found.prediction.means()[row.get() * n_outputs + output];
            let dual = (cell.value - mean) / model.noise()[output].get();
            let residual = slope.value * of_slope / scale;
            let jacobian = preparation.outputs[output].power.exponent_derivatives(given.value).1;
            let terms = [dual * residual, dual * cell.value, cell.value * residual, 1.0, jacobian];
            sums[output].iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        let derivative = |(output, [duals, own, products, count, jacobian]): (usize, [f64; 5])| {
            if transforms.power(output).exponent().is_none() {
                return 0.0;
            }
            // ∂z = r − z ∂log s, where ∂log s = Σ z r / (n − 1).
            let of_scale = products / (count - 1.0).max(1.0);
            -(duals - own * of_scale) - count * of_scale + jacobian
        };
        let value = found.log_evidence + log_volume(self.table, &preparation);
        Ok((value, sums.into_iter().enumerate().map(derivative).collect()))
    }

    /// The transforms with the exponents that maximize the log density of the cells under a fixed model, from a start.
    ///
    /// Exponents of different outputs depend little on each other, so that each has its own secant.
    pub(super) fn maximized(
        &self,
        start: TransformChoice,
        model: &Lmc,
    ) -> Result<(TransformChoice, f64), FitError> {
        let with = |exponents: &[f64]| -> TransformChoice {
            let powers = exponents.iter().enumerate();
            let powers =
                powers.map(|(output, exponent)| start.power(output).with_exponent(*exponent)).collect();
            start.clone().with_powers(powers)
        };
        let n_outputs = self.table.observations().n_outputs();
        let mut point: Vec<f64> =
            (0..n_outputs).map(|output| start.power(output).exponent().unwrap_or(1.0)).collect();
        let (mut value, mut gradient) = self.gradient(&with(&point), model)?;
        let limited = |step: f64| step.clamp(-STEPS.1, STEPS.1);
        let mut steps: Vec<f64> = gradient.iter().map(|slope| STEPS.0 * sign(*slope)).collect();
        for _ in 0..MOST_SWEEPS {
            if self.is_stopped() {
                break;
            }
            let next: Vec<f64> =
                point.iter().zip(&steps).map(|(x, step)| (x + step).clamp(0.0, LARGEST_EXPONENT)).collect();
            let taken: Vec<f64> = next.iter().zip(&point).map(|(next, x)| next - x).collect();
            let expected: f64 = taken.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            if expected.is_nan() || expected < NEGLIGIBLE {
                break;
            }
            // Exponents under which a number overflows are too far.
            let (found, slopes) =
                self.gradient(&with(&next), model).unwrap_or_else(|_| (f64::NEG_INFINITY, gradient.clone()));
            let curvature = |at: usize| (slopes[at] - gradient[at]) / taken[at];
            let is_better = found > value;
            let newton = |at: usize| {
                let slope = if is_better { slopes[at] } else { gradient[at] };
                match curvature(at) {
                    curvature if curvature < 0.0 => limited(-slope / curvature),
                    _ if is_better => limited(2.0 * taken[at].abs() * sign(slope)),
                    _ => 0.5 * taken[at],
                }
            };
            let wanted: Vec<f64> = (0..n_outputs).map(newton).collect();
            // A step that lost is at most halved, so that the search ends.
            steps = match is_better {
                true => wanted,
                false => wanted
                    .iter()
                    .zip(&taken)
                    .map(|(step, taken)| step.abs().min(0.5 * taken.abs()) * sign(*step))
                    .collect(),
            };
            if is_better {
                (point, value, gradient) = (next, found, slopes);
            }
        }
        Ok((with(&point), value))
    }

    /// Replaces each learned exponent by the identity or the logarithm unless it gains what it costs more; `is_open` tells for which
    /// outputs.
    pub(super) fn simplified(
        &self,
        learned: TransformChoice,
        mut value: f64,
        model: &Lmc,
        is_open: &dyn Fn(usize) -> bool,
    ) -> Result<TransformChoice, FitError> {
        let counts = self.table.observations().counts_by_output();
        let mut powers: Vec<PowerTransform> = (0..counts.len()).map(|output| learned.power(output)).collect();
        for (output, &count) in counts.iter().enumerate().filter(|(output, _)| is_open(*output)) {
            let own = learned.power(output);
            if own.exponent().is_none() || self.is_stopped() {
                continue;
            }
            let mut best = (own, value);
            let simple = [PowerTransform::None, PowerTransform::Log];
            for other in
                simple.into_iter().filter(|other| own.needs_positive() || *other != PowerTransform::Log)
            {
                let mut with = powers.clone();
                with[output] = other;
                let found = self.value(&learned.clone().with_powers(with), model)?;
                if found - cost_of(other, count) > best.1 - cost_of(best.0, count) {
                    best = (other, found);
                }
            }
            (powers[output], value) = best;
        }
        Ok(learned.with_powers(powers))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use catena::data::{InputPoints, Observations};
    use catena::kernel::{Kernel, StateKind};
    use catena::model::{Latent, MixingMatrix};
    use catena::units::{LengthScale, Variance};
    use catena_testkit::random::SeededDraws;

    const N_ROWS: usize = 18;
    const LENGTH: f64 = 4.0;
    const WEIGHTS: [f64; 2] = [0.8, -0.5];
    const NOISE: [f64; 2] = [0.3, 0.5];

    /// A positive and a signed output along one input, with missing cells.
    fn table() -> Dataset {
        let mut draws = SeededDraws::new(3);
        let value = |at: usize, draws: &mut SeededDraws| match at % 2 {
            _ if at % 7 == 3 => f64::NAN,
            0 => (0.2 * (at / 2) as f64 + 0.3 * draws.normal()).exp(),
            _ => 10.0 * draws.normal().powi(3),
        };
        let values: Vec<f64> = (0..2 * N_ROWS).map(|at| value(at, &mut draws)).collect();
        let inputs = InputPoints::from_column((0..N_ROWS).map(|row| 0.5 * row as f64).collect()).unwrap();
        Dataset::new(inputs, Observations::from_dense(N_ROWS, 2, &values).unwrap()).unwrap()
    }

    fn task_of(table: &Dataset) -> PowerTask<'_> {
        let (units, structure) = (InputUnits::Scaled, StructureOption::Auto);
        PowerTask { table, units, structure, reporter: None }
    }

    fn model() -> Lmc {
        let length_scale = LengthScale::new(LENGTH).unwrap();
        let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, length_scale).unwrap();
        let mixing = MixingMatrix::shared(2, 1, WEIGHTS.to_vec()).unwrap();
        Lmc::new(vec![latent], mixing, NOISE.map(|noise| Variance::new(noise).unwrap()).to_vec()).unwrap()
    }

    fn choice(first: f64, second: f64, trend: bool) -> TransformChoice {
        let powers = vec![
            PowerTransform::BoxCox { exponent: first },
            PowerTransform::YeoJohnson { exponent: second, center: 2.0, unit: 5.0 },
        ];
        TransformChoice { trend, ..TransformChoice::default() }.with_powers(powers)
    }

    /// The log density of the cells by the textbook: powers, a dense covariance matrix and its elimination.
    fn dense(table: &Dataset, first: f64, second: f64) -> f64 {
        let transformed = |output: usize, y: f64| -> (f64, f64) {
            let v = (y - 2.0) / 5.0;
            match output {
                0 => ((y.powf(first) - 1.0) / first, y.powf(first - 1.0)),
                _ if v >= 0.0 => {
                    (((1.0 + v).powf(second) - 1.0) / second, (1.0 + v).powf(second - 1.0) / 5.0)
                }
                _ => {
                    let other = 2.0 - second;
                    (-((1.0 - v).powf(other) - 1.0) / other, (1.0 - v).powf(other - 1.0) / 5.0)
                }
            }
        };
        let cells: Vec<(f64, usize, f64, f64)> = table
            .observations()
            .cells()
            .map(|(row, cell)| {
                let (value, slope) = transformed(cell.output.get(), cell.value);
                (row.get() as f64, cell.output.get(), value, slope)
            })
            .collect();
        let mut log_density = 0.0;
        let (mut means, mut scales) = ([0.0; 2], [0.0; 2]);
        for output in 0..2 {
            let own: Vec<f64> = cells.iter().filter(|cell| cell.1 == output).map(|cell| cell.2).collect();
            let count = own.len() as f64;
            means[output] = own.iter().sum::<f64>() / count;
            let squares: f64 = own.iter().map(|value| (value - means[output]).powi(2)).sum();
            scales[output] = (squares / (count - 1.0)).sqrt();
            log_density -= count * scales[output].ln();
        }
        let n = cells.len();
        let mut matrix = vec![0.0; n * n];
        let mut z: Vec<f64> = cells.iter().map(|cell| (cell.2 - means[cell.1]) / scales[cell.1]).collect();
        for (i, a) in cells.iter().enumerate() {
            log_density += a.3.ln();
            for (j, b) in cells.iter().enumerate() {
                // The rows are one median gap apart, the unit of the input.
                let r = 3.0_f64.sqrt() * (a.0 - b.0).abs() / LENGTH;
                matrix[i * n + j] = WEIGHTS[a.1] * WEIGHTS[b.1] * (1.0 + r) * (-r).exp();
            }
            matrix[i * n + i] += NOISE[a.1];
        }
        for k in 0..n {
            let pivot = matrix[k * n + k];
            log_density -= 0.5 * (std::f64::consts::TAU * pivot).ln() + 0.5 * z[k] * z[k] / pivot;
            for i in k + 1..n {
                let factor = matrix[i * n + k] / pivot;
                z[i] -= factor * z[k];
                for j in k..n {
                    matrix[i * n + j] -= factor * matrix[k * n + j];
                }
            }
        }
        log_density
    }

    #[test]
    fn the_criterion_is_the_dense_log_density_of_the_cells() {
        let (table, model) = (table(), model());
        let task = task_of(&table);
        for (first, second) in [(0.3, 0.6), (1.0, 1.0), (1.7, 1.4)] {
            let found = task.value(&choice(first, second, false), &model).unwrap();
            let expected = dense(&table, first, second);
            assert!((found - expected).abs() < 1e-9 * expected.abs(), "{first} {second}: {found} {expected}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_central_differences() {
        let (table, model) = (table(), model());
        let task = task_of(&table);
        for trend in [false, true] {
            for (first, second) in [(0.2, 0.7), (1.0, 1.3)] {
                let (value, gradient) = task.gradient(&choice(first, second, trend), &model).unwrap();
                let at = |first: f64, second: f64| task.value(&choice(first, second, trend), &model).unwrap();
                assert!((value - at(first, second)).abs() < 1e-9);
                let step = 1e-4;
                let differences = [
                    (at(first + step, second) - at(first - step, second)) / (2.0 * step),
                    (at(first, second + step) - at(first, second - step)) / (2.0 * step),
                ];
                for (found, expected) in gradient.iter().zip(differences) {
                    // Truncation is step² times third derivatives, which are of the order of the gradient.
                    assert!(
                        (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                        "{gradient:?} {differences:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_exponents_found_maximize_the_dense_log_density() {
        let (table, model) = (table(), model());
        let task = task_of(&table);
        let (found, value) = task.maximized(choice(1.0, 1.0, false), &model).unwrap();
        let exponent = |output: usize| found.power(output).exponent().unwrap();
        let (first, second) = (exponent(0), exponent(1));
        for (a, b) in [(0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)] {
            let beside = [(first + a).clamp(1e-9, 2.0), (second + b).clamp(0.0, 2.0 - 1e-9)];
            assert!(dense(&table, beside[0], beside[1]) <= value + NEGLIGIBLE, "{found:?}");
        }
    }
}
