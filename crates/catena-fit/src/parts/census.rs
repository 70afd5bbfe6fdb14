//! Counts, ranges and moments of the partitions of a table, which merge to those of the whole.

use std::collections::BTreeMap;

use catena::data::{DataError, Dataset};
use catena::index::{OutputIndex, RowIndex};
use serde::{Deserialize, Serialize};

use super::cell_moments::{CellMoments, merged, push};
use crate::error::FitError;
use crate::options::TransformChoice;
use crate::power::PowerTransform;
use crate::prepare::{InputUnits, OutputTransform, Preparation, without_copies};

/// Counts, ranges and moments of some rows in the user's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Census {
    /// The number of rows.
    pub n_rows: usize,
    /// The number of copied cells, which are not part of the moments.
    pub n_copies: usize,
    /// The number of observed cells of each output, with copies.
    pub n_observed: Vec<usize>,
    inputs: Vec<Column>,
    outputs: Vec<Output>,
    /// The transforms of the outputs of a second census; empty in the first.
    #[serde(default)]
    powers: Vec<PowerTransform>,
}

/// The values of an input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    low: f64,
    high: f64,
    /// The first value. Means are relative to it, so that values that differ in their last digits only keep these digits.
    origin: f64,
    /// The mean, minus the origin.
    mean: f64,
    /// The sum of squares around the mean.
    squares: f64,
}

/// Moments of an output, of its logarithm if all values are positive, and of its transform if it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Output {
    values: Option<CellMoments>,
    logarithms: Option<CellMoments>,
    #[serde(default)]
    transformed: Option<CellMoments>,
}

impl Census {
    /// The census of some rows.
    ///
    /// # Errors
    /// When rows have groups.
    pub fn of(table: &Dataset) -> Result<Self, FitError> {
        Self::of_transformed(table, &[])
    }

    /// The census of some rows, with moments of outputs transformed by learned exponents: see [`Outline::powers`].
    ///
    /// [`Outline::powers`]: super::Outline::powers
    ///
    /// # Errors
    /// When rows have groups.
    pub fn of_transformed(table: &Dataset, powers: &[PowerTransform]) -> Result<Self, FitError> {
        if table.inputs().groups().is_some() {
            return Err(FitError::Groups { what: "is not fitted in partitions; fit it on one machine" });
        }
        let (learned_from, n_copies) = without_copies(table)?;
        let (inputs, dim) = (table.inputs(), table.inputs().dim());
        let column = |at: usize| {
            let mut entries = inputs.values().iter().skip(at).step_by(dim).copied();
            let first = entries.next().unwrap_or(f64::NAN);
            let mut found = Column { low: first, high: first, origin: first, mean: 0.0, squares: 0.0 };
            for (count, entry) in entries.enumerate() {
                let distance = entry - first;
                let change = distance - found.mean;
                found.mean += change / (count + 2) as f64;
                found.squares += change * (distance - found.mean);
                (found.low, found.high) = (found.low.min(entry), found.high.max(entry));
            }
            found
        };
        let n_outputs = table.observations().n_outputs();
        let mut outputs = vec![Output { values: None, logarithms: None, transformed: None }; n_outputs];
        let mut has_logarithms = vec![true; n_outputs];
        for (row, cell) in learned_from.observations().cells() {
            let (at, point) = (cell.output.get(), inputs.point(row));
            push(&mut outputs[at].values, cell.value, point);
            if let Some(power) = powers.get(at).filter(|power| power.exponent().is_some()) {
                push(&mut outputs[at].transformed, power.forward(cell.value), point);
            }
            has_logarithms[at] &= cell.value > 0.0;
            if has_logarithms[at] {
                push(&mut outputs[at].logarithms, cell.value.ln(), point);
            }
        }
        for (output, has_logarithms) in outputs.iter_mut().zip(has_logarithms) {
            output.logarithms = output.logarithms.take().filter(|_| has_logarithms);
        }
        Ok(Self {
            n_rows: table.n_rows(),
            n_copies,
            n_observed: table.observations().counts_by_output(),
            inputs: (0..dim).map(column).collect(),
            outputs,
            powers: powers.to_vec(),
        })
    }

    /// The census of these rows and other rows of the same table.
    ///
    /// # Errors
    /// When the columns differ.
    pub fn merge(&self, other: &Self) -> Result<Self, FitError> {
        let shape = |census: &Self| census.inputs.len() + census.outputs.len();
        let is_other = self.powers != other.powers;
        if is_other || self.inputs.len() != other.inputs.len() || self.outputs.len() != other.outputs.len() {
            let (expected, found) = (shape(self), shape(other));
            return Err(FitError::ParameterShape { what: "a part of the table", expected, found });
        }
        let (own, more) = (self.n_rows as f64, other.n_rows as f64);
        let column = |(a, b): (&Column, &Column)| {
            let change = (b.origin - a.origin) + (b.mean - a.mean);
            Column {
                low: a.low.min(b.low),
                high: a.high.max(b.high),
                origin: a.origin,
                mean: a.mean + change * (more / (own + more)),
                squares: a.squares + b.squares + change * change * (own * more / (own + more)),
            }
        };
        let output = |(a, b): (&Output, &Output)| {
            // If one partition has values without logarithms, so has the whole.
            let lacks = |output: &Output| output.values.is_some() && output.logarithms.is_none();
            let logarithms = merged(a.logarithms.clone(), b.logarithms.as_ref());
            Output {
                values: merged(a.values.clone(), b.values.as_ref()),
                logarithms: logarithms.filter(|_| !lacks(a) && !lacks(b)),
                transformed: merged(a.transformed.clone(), b.transformed.as_ref()),
            }
        };
        Ok(Self {
            n_rows: self.n_rows + other.n_rows,
            n_copies: self.n_copies + other.n_copies,
            n_observed: self.n_observed.iter().zip(&other.n_observed).map(|(a, b)| a + b).collect(),
            inputs: self.inputs.iter().zip(&other.inputs).map(column).collect(),
            outputs: self.outputs.iter().zip(&other.outputs).map(output).collect(),
            powers: self.powers.clone(),
        })
    }

    /// The lowest and highest value of each input.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        self.inputs.iter().map(|column| (column.low, column.high)).collect()
    }

    /// Whether all values of each output are positive.
    pub fn is_positive(&self) -> Vec<bool> {
        self.outputs.iter().map(|output| output.values.is_none() || output.logarithms.is_some()).collect()
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The diagonal of the bounding box of all points, in the units of `preparation`.
    pub(super) fn span(&self, preparation: &Preparation) -> f64 {
        let sides = self.inputs.iter().zip(&preparation.inputs);
        sides.map(|(column, (_, unit))| ((column.high - column.low) / unit).powi(2)).sum::<f64>().sqrt()
    }

    /// The units of the whole table; `gap` is the median gap along a single input.
    ///
    /// # Errors
    /// As [`Preparation::fitted`].
    pub(super) fn preparation(
        &self,
        gap: Option<f64>,
        units: InputUnits,
        transforms: &TransformChoice,
    ) -> Result<Preparation, DataError> {
        let mut inputs = self.input_scales(gap, units);
        inputs.iter_mut().zip(&transforms.factors).for_each(|((_, scale), factor)| *scale /= factor);
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (at, output) in self.outputs.iter().enumerate() {
            let index = OutputIndex::new(at);
            let power = transforms.power(at);
            if output.values.is_none() {
                return Err(DataError::OutputNeverObserved { output: index });
            }
            let cells = match power {
                PowerTransform::None => &output.values,
                PowerTransform::Log => &output.logarithms,
                _ => &output.transformed,
            };
            let Some(cells) = cells else {
                return Err(DataError::ScalingOverflow { row: RowIndex::new(0), column: at });
            };
            let transform = cells.transform(power, transforms.trend, &inputs);
            if !(transform.scale.is_finite() && transform.intercept.is_finite()) {
                let (shift, scale) = (transform.intercept, transform.scale);
                return Err(DataError::InvalidScaling { column: at, shift, scale });
            }
            outputs.push(transform);
        }
        Ok(Preparation { inputs, outputs, groups: BTreeMap::new() })
    }

    /// Whether this census has the moments that these transforms need.
    pub(super) fn has_moments_of(&self, transforms: &TransformChoice) -> bool {
        let has = |at: usize| {
            transforms.power(at).exponent().is_none() || self.powers.get(at) == Some(&transforms.power(at))
        };
        (0..self.outputs.len()).all(has)
    }

    fn input_scales(&self, gap: Option<f64>, units: InputUnits) -> Vec<(f64, f64)> {
        match (units, self.inputs.as_slice()) {
            (InputUnits::AsGiven, columns) => vec![(0.0, 1.0); columns.len()],
            (InputUnits::Scaled, [Column { low, high, .. }]) => {
                let gap = gap.unwrap_or(1.0);
                let usable = ((high - low) / gap).is_finite();
                vec![(*low, if usable { gap } else { 1.0 })]
            }
            (InputUnits::Scaled, columns) => {
                let standardized = |column: &Column| {
                    let deviation = (column.squares / (self.n_rows as f64 - 1.0).max(1.0)).sqrt();
                    let varies = deviation > 0.0 && deviation.is_finite();
                    (column.origin + column.mean, if varies { deviation } else { 1.0 })
                };
                columns.iter().map(standardized).collect()
            }
        }
    }

    /// Units with outputs as they are.
    pub(super) fn identity(&self, gap: Option<f64>, units: InputUnits) -> Preparation {
        let outputs = vec![OutputTransform::identity(); self.outputs.len()];
        Preparation { inputs: self.input_scales(gap, units), outputs, groups: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};
    use catena_testkit::compare::{Tolerance, assert_close};
    use catena_testkit::random::SeededDraws;

    fn table(dim: usize, n_rows: usize) -> Dataset {
        let mut random = SeededDraws::new(8);
        let inputs: Vec<f64> = (0..n_rows * dim).map(|_| 1e6 + random.uniform(0.0, 300.0)).collect();
        let cell = |at: usize, random: &mut SeededDraws| match at % 3 {
            _ if random.chance(0.3) => f64::NAN,
            0 => 1e4 + inputs[at / 3 * dim] + random.normal(),
            1 => random.normal().exp(),
            _ => 7.25,
        };
        let values: Vec<f64> = (0..3 * n_rows).map(|at| cell(at, &mut random)).collect();
        let inputs = InputPoints::new(n_rows, dim, inputs.clone()).unwrap();
        Dataset::new(inputs, Observations::from_dense(n_rows, 3, &values).unwrap()).unwrap()
    }

    fn numbers(preparation: &Preparation) -> Vec<f64> {
        let inputs = preparation.inputs.iter().flat_map(|(shift, scale)| [*shift, *scale]);
        let output = |output: &OutputTransform| {
            [vec![output.intercept, output.scale, output.power.forward(2.5)], output.slopes.clone()].concat()
        };
        inputs.chain(preparation.outputs.iter().flat_map(output)).collect()
    }

    #[test]
    fn digits_after_a_large_mean_count_in_parts() {
        let values: Vec<f64> = (0..72).map(|row| 1e12 + 0.01 * f64::from(row).sin()).collect();
        let inputs: Vec<f64> = (0..144).map(|at| 1e12 + f64::from(at % 7) * 2.0_f64.powi(-13)).collect();
        let inputs = InputPoints::new(72, 2, inputs).unwrap();
        let whole = Dataset::new(inputs, Observations::from_dense(72, 1, &values).unwrap()).unwrap();
        let rows: Vec<RowIndex> = whole.inputs().rows().collect();
        let part = |rows: &[RowIndex]| Census::of(&whole.select_rows(rows).unwrap()).unwrap();
        let census = part(&rows[..1]).merge(&part(&rows[1..30])).unwrap().merge(&part(&rows[30..])).unwrap();
        for trend in [false, true] {
            let transforms = TransformChoice { trend, ..TransformChoice::default() };
            let found = census.preparation(None, InputUnits::Scaled, &transforms).unwrap();
            let expected = Preparation::fitted(&whole, InputUnits::Scaled, &transforms).unwrap();
            let deviation = 0.01 / 2.0_f64.sqrt();
            assert!((expected.outputs[0].scale / deviation - 1.0).abs() < 0.2, "{expected:?}");
            // Sums of 72 terms, and their differences.
            let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
            assert!(close(found.outputs[0].scale, expected.outputs[0].scale), "{found:?} {expected:?}");
            assert!(close(found.outputs[0].intercept, expected.outputs[0].intercept));
            assert!(found.inputs.iter().zip(&expected.inputs).all(|(a, b)| close(a.1, b.1)), "{found:?}");
            assert!(found.inputs.iter().all(|(_, scale)| *scale < 1e-3), "{found:?}");
        }
    }

    #[test]
    fn parts_have_the_units_of_the_whole() {
        for dim in [1, 2] {
            let whole = table(dim, 200);
            let rows: Vec<RowIndex> = whole.inputs().rows().collect();
            let part = |range: std::ops::Range<usize>| {
                Census::of(&whole.select_rows(&rows[range]).unwrap()).unwrap()
            };
            let parts = [part(0..1), part(1..60), part(60..61), part(61..200)];
            let whole_of = |parts: &[Census]| {
                parts.iter().skip(1).fold(parts[0].clone(), |all, part| all.merge(part).unwrap())
            };
            let census = whole_of(&parts);
            let learned = [
                PowerTransform::YeoJohnson { exponent: 0.4, center: 1e4, unit: 100.0 },
                PowerTransform::BoxCox { exponent: 0.3 },
                PowerTransform::None,
            ];
            let part = |range: std::ops::Range<usize>| {
                Census::of_transformed(&whole.select_rows(&rows[range]).unwrap(), &learned).unwrap()
            };
            let second = whole_of(&[part(0..1), part(1..60), part(60..61), part(61..200)]);
            assert_eq!(census.n_observed, whole.observations().counts_by_output());
            assert_eq!(census.is_positive(), [true, true, true]);
            let gap = (dim == 1).then(|| crate::prepare::median_gap(whole.inputs().values()).unwrap());
            for transforms in
                [
                    TransformChoice::default(),
                    TransformChoice { trend: true, ..TransformChoice::default() },
                    TransformChoice { factors: vec![2.0; dim], ..TransformChoice::default() }
                        .with_powers(vec![PowerTransform::None, PowerTransform::Log, PowerTransform::None]),
                    TransformChoice { trend: true, ..TransformChoice::default() }
                        .with_powers(learned.to_vec()),
                ]
            {
                let expected = Preparation::fitted(&whole, InputUnits::Scaled, &transforms).unwrap();
                let has_moments = census.has_moments_of(&transforms);
                assert_eq!(has_moments, transforms.powers != learned);
                let census = if has_moments { &census } else { &second };
                assert!(census.has_moments_of(&transforms));
                let found = census.preparation(gap, InputUnits::Scaled, &transforms).unwrap();
                let named = format!("{dim} inputs, {transforms:?}");
                assert_close(&named, 1, &numbers(&found), &numbers(&expected), Tolerance::relative(1e-11));
            }
        }
    }
}
