//! A Gaussian distribution of the outputs of one row, fitted by expectation–maximization.

use std::collections::BTreeMap;

use catena::data::Observations;
use catena::index::RowIndex;

use super::RowPredictions;
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};

/// The most iterations of the fit, and the change of the covariance, in variances, at which it ends.
const MOST_ITERATIONS: usize = 20;
const TOLERANCE: f64 = 1e-3;
/// Multiplications that a fit may take.
const MOST_OPERATIONS: f64 = 4e9;
/// The smallest fraction of an output's variance that the factors of a low-rank covariance leave.
const LEAST_UNIQUE: f64 = 0.02;
/// Iterations of the subspace iteration for the leading axes.
const AXIS_ITERATIONS: usize = 30;

/// The distribution of a row: all outputs jointly Gaussian, rows independent. A missing cell is predicted from the observed
/// cells of its row, an observed cell from the *other* observed cells.
///
/// Outputs are expected in comparable units (mean 0, variance 1).
#[derive(Clone, Debug, PartialEq)]
pub struct RowGaussian {
    mean: Vec<f64>,
    /// Row-major D×D.
    covariance: Vec<f64>,
}

/// How the covariance of a [`RowGaussian`] is regularized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowCovariance {
    /// The fraction by which correlations shrink, in [0, 1].
    pub shrinkage: f64,
    /// The number of common factors; `None` for a covariance without such a structure.
    pub n_factors: Option<usize>,
}

/// Rows with the same observed outputs.
struct MaskGroup {
    observed: Vec<usize>,
    missing: Vec<usize>,
    rows: Vec<RowIndex>,
}

fn mask_groups(observations: &Observations) -> Vec<MaskGroup> {
    let n_outputs = observations.n_outputs();
    let mut by_mask: BTreeMap<Vec<usize>, Vec<RowIndex>> = BTreeMap::new();
    for row in (0..observations.n_rows()).map(RowIndex::new) {
        let observed = observations.row(row).map(|cell| cell.output.get()).collect();
        by_mask.entry(observed).or_default().push(row);
    }
    let group = |(observed, rows): (Vec<usize>, Vec<RowIndex>)| {
        let missing = (0..n_outputs).filter(|output| observed.binary_search(output).is_err()).collect();
        MaskGroup { observed, missing, rows }
    };
    by_mask.into_iter().map(group).collect()
}

impl RowGaussian {
    /// Whether a fit to this table is affordable: its cost grows with the number of masks and the cube of the outputs.
    pub fn is_affordable(observations: &Observations) -> bool {
        operations(&mask_groups(observations)) * 3.0 <= MOST_OPERATIONS
    }

    /// Fits mean and covariance to the rows.
    ///
    /// # Errors
    /// If the covariance of the observed outputs of a row is singular.
    pub fn fit(observations: &Observations, settings: RowCovariance) -> Result<Self, DenseMethodError> {
        let n_outputs = observations.n_outputs();
        let groups = mask_groups(observations);
        let affordable = (MOST_OPERATIONS / operations(&groups).max(1.0)) as usize;
        let mut covariance = vec![0.0; n_outputs * n_outputs];
        covariance.iter_mut().step_by(n_outputs + 1).for_each(|diagonal| *diagonal = 1.0);
        let mut fitted = Self { mean: vec![0.0; n_outputs], covariance };
        for _ in 0..affordable.clamp(1, MOST_ITERATIONS) {
            let next = fitted.iterated(observations, &groups, settings)?;
            let change = |(one, other): (&f64, &f64)| (one - other).abs();
            let largest = fitted.covariance.iter().zip(&next.covariance).map(change).fold(0.0_f64, f64::max);
            fitted = next;
            if largest < TOLERANCE {
                break;
            }
        }
        Ok(fitted)
    }

    /// One iteration: expected products of all cells, then mean and regularized covariance.
    fn iterated(
        &self,
        observations: &Observations,
        groups: &[MaskGroup],
        settings: RowCovariance,
    ) -> Result<Self, DenseMethodError> {
        let n_outputs = self.mean.len();
        let n_rows: usize = groups.iter().map(|group| group.rows.len()).sum();
        let mut sums = vec![0.0; n_outputs];
        let mut products = vec![0.0; n_outputs * n_outputs];
        let mut filled = vec![0.0; n_outputs];
        for group in groups {
            let MaskGroup { observed, missing, rows } = group;
            let cholesky = self.factor(observed, rows)?;
            // The coefficients of the missing outputs on the observed ones, one column per missing output.
            let mut coefficients = self.block(observed, missing);
            cholesky.solve(&mut coefficients, Threads::One);
            for &row in rows {
                let mut deviations = Vec::with_capacity(observed.len());
                for cell in observations.row(row) {
                    filled[cell.output.get()] = cell.value;
                    deviations.push(cell.value - self.mean[cell.output.get()]);
                }
                for (at, &output) in missing.iter().enumerate() {
                    let column = &coefficients[at * observed.len()..][..observed.len()];
                    filled[output] = self.mean[output] + dot(column, &deviations);
                }
                for (i, &value) in filled.iter().enumerate() {
                    sums[i] += value;
                    let row = &mut products[i * n_outputs..][..=i];
                    row.iter_mut().zip(&filled).for_each(|(sum, other)| *sum += value * other);
                }
            }
            let across = self.block(observed, missing);
            for (a, &i) in missing.iter().enumerate() {
                for (b, &j) in missing.iter().enumerate().filter(|(_, j)| **j <= i) {
                    let explained = dot(
                        &across[a * observed.len()..][..observed.len()],
                        &coefficients[b * observed.len()..][..observed.len()],
                    );
                    products[i * n_outputs + j] +=
                        rows.len() as f64 * (self.covariance[i * n_outputs + j] - explained);
                }
            }
        }
        let count = n_rows.max(1) as f64;
        let mean: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let mut covariance = vec![0.0; n_outputs * n_outputs];
        for i in 0..n_outputs {
            for j in 0..=i {
                let shrunk = if i == j { 1.0 } else { 1.0 - settings.shrinkage };
                let entry = shrunk * (products[i * n_outputs + j] / count - mean[i] * mean[j]);
                covariance[i * n_outputs + j] = entry;
                covariance[j * n_outputs + i] = entry;
            }
            // An output without variation is independent of the others.
            let diagonal = &mut covariance[i * (n_outputs + 1)];
            if *diagonal <= 0.0 {
                *diagonal = 1.0;
            }
        }
        if let Some(n_factors) = settings.n_factors.filter(|count| *count < n_outputs) {
            covariance = with_factors(n_outputs, &covariance, n_factors);
        }
        Ok(Self { mean, covariance })
    }

    /// The factor of the covariance of some outputs.
    fn factor(&self, outputs: &[usize], rows: &[RowIndex]) -> Result<Cholesky, DenseMethodError> {
        let row = rows.first().copied().unwrap_or(RowIndex::new(0));
        Cholesky::new(outputs.len(), self.block(outputs, outputs), Threads::One)
            .map_err(|_| DenseMethodError::NotPositiveDefinite { row })
    }

    /// A block of the covariance, column-major.
    fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        let n_outputs = self.mean.len();
        let column = |&column: &usize| rows.iter().map(move |&row| self.covariance[row * n_outputs + column]);
        columns.iter().flat_map(column).collect()
    }

    /// Every cell given the *other* observed cells of its row.
    ///
    /// # Errors
    /// If the table has another number of outputs.
    pub fn predict(&self, observations: &Observations) -> Result<RowPredictions, DenseMethodError> {
        let (n_outputs, table) = (self.mean.len(), observations.n_outputs());
        if n_outputs != table {
            return Err(DenseMethodError::OutputCount { model: n_outputs, table });
        }
        let all: Vec<usize> = (0..n_outputs).collect();
        let complete = self.factor(&all, &[])?.to_inverse(Threads::One);
        // A cell whose row is complete has this variance, and no cell has less.
        let least: Vec<f64> =
            complete.iter().step_by(n_outputs + 1).map(|precision| 1.0 / precision).collect();
        let excess_of = |output: usize, variance: f64| (variance - least[output]).max(0.0);
        let mut means = vec![0.0; observations.n_rows() * n_outputs];
        let mut excess = means.clone();
        for MaskGroup { observed, missing, rows } in mask_groups(observations) {
            let cholesky = self.factor(&observed, &rows)?;
            let precision = cholesky.to_inverse(Threads::One);
            let across = self.block(&observed, &missing);
            let mut coefficients = across.clone();
            cholesky.solve(&mut coefficients, Threads::One);
            let count = observed.len();
            for &row in &rows {
                let deviations: Vec<f64> =
                    observations.row(row).map(|cell| cell.value - self.mean[cell.output.get()]).collect();
                let weighted: Vec<f64> =
                    (0..count).map(|at| dot(&precision[at * count..][..count], &deviations)).collect();
                let out = &mut means[row.get() * n_outputs..][..n_outputs];
                let excess = &mut excess[row.get() * n_outputs..][..n_outputs];
                for (at, cell) in observations.row(row).enumerate() {
                    let variance = 1.0 / precision[at * (count + 1)];
                    out[cell.output.get()] = cell.value - weighted[at] * variance;
                    excess[cell.output.get()] = excess_of(cell.output.get(), variance);
                }
                for (at, &output) in missing.iter().enumerate() {
                    let (across, own) =
                        (&across[at * count..][..count], &coefficients[at * count..][..count]);
                    out[output] = self.mean[output] + dot(across, &weighted);
                    let variance = self.covariance[output * (n_outputs + 1)] - dot(across, own);
                    excess[output] = excess_of(output, variance);
                }
            }
        }
        Ok(RowPredictions { means, excess })
    }
}

/// Multiplications of one iteration.
fn operations(groups: &[MaskGroup]) -> f64 {
    let cost = |group: &MaskGroup| {
        let (observed, missing) = (group.observed.len() as f64, group.missing.len() as f64);
        let n_outputs = observed + missing;
        observed * observed * (observed / 3.0 + missing)
            + group.rows.len() as f64 * (observed * missing + 0.5 * n_outputs * n_outputs)
    };
    groups.iter().map(cost).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The covariance of the leading axes plus what they leave of each variance.
fn with_factors(size: usize, covariance: &[f64], n_factors: usize) -> Vec<f64> {
    let axes = leading_axes(size, covariance, n_factors);
    let mut common = vec![0.0; size * size];
    for axis in &axes {
        let image: Vec<f64> = (0..size).map(|row| dot(&covariance[row * size..][..size], axis)).collect();
        let variance = dot(axis, &image).max(0.0);
        for (at, entry) in common.iter_mut().enumerate() {
            *entry += variance * axis[at / size] * axis[at % size];
        }
    }
    for output in 0..size {
        let diagonal = output * (size + 1);
        let unique = (covariance[diagonal] - common[diagonal]).max(LEAST_UNIQUE * covariance[diagonal]);
        common[diagonal] += unique;
    }
    common
}

/// Orthonormal vectors of the leading eigenspace, by subspace iteration.
fn leading_axes(size: usize, covariance: &[f64], count: usize) -> Vec<Vec<f64>> {
    // The starts are columns of the covariance, so that the result depends on the table only.
    let mut by_size: Vec<usize> = (0..size).collect();
    let norm =
        |column: usize| dot(&covariance[column * size..][..size], &covariance[column * size..][..size]);
    by_size.sort_by(|&a, &b| norm(b).total_cmp(&norm(a)));
    let mut axes: Vec<Vec<f64>> = by_size[..count.min(size)]
        .iter()
        .map(|&column| covariance[column * size..][..size].to_vec())
        .collect();
    for _ in 0..AXIS_ITERATIONS {
        for at in 0..axes.len() {
            let (before, rest) = axes.split_at_mut(at);
            let Some(axis) = rest.first_mut() else { continue };
            let mut image: Vec<f64> =
                (0..size).map(|row| dot(&covariance[row * size..][..size], axis)).collect();
            for other in before.iter() {
                let along = dot(other, &image);
                image.iter_mut().zip(other).for_each(|(entry, other)| *entry -= along * other);
            }
            let length = dot(&image, &image).sqrt();
            if length > 0.0 {
                image.iter_mut().for_each(|entry| *entry /= length);
            }
            *axis = image;
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: RowCovariance = RowCovariance { shrinkage: 0.0, n_factors: None };

    /// Three outputs that are sums of two waves of the row number.
    fn table(n_rows: usize, is_missing: impl Fn(usize, usize) -> bool) -> Observations {
        let value = |at: usize| {
            let (row, output) = (at / 3, at % 3);
            let (one, two) = ((row as f64 * 0.7).sin(), (row as f64 * 1.9).cos());
            let values = [one, two, 0.6 * one - 0.8 * two + 0.01 * (row as f64 * 5.3).sin()];
            if is_missing(row, output) { f64::NAN } else { values[output] }
        };
        Observations::from_dense(n_rows, 3, &(0..3 * n_rows).map(value).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_complete_table_gives_its_sample_moments() {
        let complete = table(200, |_, _| false);
        let fitted = RowGaussian::fit(&complete, PLAIN).unwrap();
        let values = complete.to_dense();
        for i in 0..3 {
            for j in 0..3 {
                let mean = |output: usize| values.iter().skip(output).step_by(3).sum::<f64>() / 200.0;
                let product: f64 =
                    values.chunks_exact(3).map(|row| (row[i] - mean(i)) * (row[j] - mean(j))).sum();
                assert!((fitted.covariance[i * 3 + j] - product / 200.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_linear_relation_fills_missing_cells_and_no_cell_uses_its_own_value() {
        let holes = table(300, |row, output| row % 4 == output);
        let fitted = RowGaussian::fit(&holes, PLAIN).unwrap();
        let (means, truth) = (fitted.predict(&holes).unwrap().means, table(300, |_, _| false).to_dense());
        for row in (2..300).step_by(4) {
            let error = (means[row * 3 + 2] - truth[row * 3 + 2]).abs();
            assert!(error < 0.05, "row {row}: {error}");
        }
        // Changing an observed value does not change its own prediction.
        let row = RowIndex::new(7);
        let changed = holes
            .map_cells(|at, cell| {
                let value = if at == row && cell.output.get() == 1 { 9.0 } else { cell.value };
                Ok(catena::data::Cell { value, ..cell })
            })
            .unwrap();
        let other = fitted.predict(&changed).unwrap().means;
        assert!((means[7 * 3 + 1] - other[7 * 3 + 1]).abs() < 1e-9);
        assert!((means[7 * 3 + 2] - other[7 * 3 + 2]).abs() > 1.0);
    }

    #[test]
    fn the_excess_is_the_variance_that_missing_outputs_of_a_row_cost() {
        // Unit variances with correlation ½ of the first two outputs; the third is independent.
        let covariance = vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0];
        let fitted = RowGaussian { mean: vec![0.0; 3], covariance };
        let none = f64::NAN;
        let rows = [[0.2, 0.4, 1.0], [none, 0.4, 1.0], [none, none, 1.0]];
        let found = fitted.predict(&Observations::from_dense(3, 3, rows.as_flattened()).unwrap()).unwrap();
        // Given the second output the first has variance ¾; without it 1.
        let expected = [[0.0, 0.0, 0.0], [0.0, 0.25, 0.0], [0.25, 0.25, 0.0]];
        for (found, expected) in found.excess.iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        }
    }

    #[test]
    fn factors_leave_the_variances_and_keep_the_leading_axis() {
        // One common factor exactly.
        let weights = [1.0, -0.5, 0.8, 0.2];
        let covariance: Vec<f64> = (0..16)
            .map(|at| weights[at / 4] * weights[at % 4] + if at / 4 == at % 4 { 0.3 } else { 0.0 })
            .collect();
        let found = with_factors(4, &covariance, 1);
        for at in 0..4 {
            assert!((found[at * 5] - covariance[at * 5]).abs() < 1e-9);
        }
        assert!((found[1] / found[2] - covariance[1] / covariance[2]).abs() < 1e-6);
    }

    #[test]
    fn a_row_without_cells_gets_the_means() {
        let holes = table(50, |row, _| row == 3);
        let fitted = RowGaussian::fit(&holes, PLAIN).unwrap();
        assert_eq!(fitted.predict(&holes).unwrap().means[9..12], fitted.mean[..]);
    }
}
