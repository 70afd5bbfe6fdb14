//! A Gaussian distribution of the outputs of one row, fitted by expectation–maximization.
//!
//! With the precision Λ of all outputs and the deviations d of a row from the mean, missing ones 0, the missing outputs given the
//! observed ones have covariance `Λ_mm⁻¹` and mean `−Λ_mm⁻¹ (Λd)_m`, and the observed ones have precision
//! `Λ_oo − Λ_om Λ_mm⁻¹ Λ_mo`. So a row costs the square of its outputs and the cube of its missing cells.

use std::collections::BTreeMap;

use catena::data::Observations;
use catena::index::RowIndex;

use super::RowPredictions;
use super::common_factors::with_factors;
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads, product, product_with_transposed};

/// The most iterations of the fit, and the change of the covariance, in variances, at which it ends.
const MOST_ITERATIONS: usize = 20;
const TOLERANCE: f64 = 1e-3;
/// Multiplications that a fit may take.
const MOST_OPERATIONS: f64 = 4e9;

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
    /// Whether a fit to this table is affordable: its cost grows with the square of the outputs and the cube of the missing cells
    /// of a row.
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
        let precision = self.precision()?;
        let mut deviations = self.deviations(observations);
        let weighted = product(&precision, &deviations, n_outputs);
        let mut products = vec![0.0; n_outputs * n_outputs];
        for MaskGroup { missing, rows, .. } in groups {
            let factor = factor(&precision, missing, rows)?;
            for &row in rows {
                let fills = expected(&factor, missing, &weighted[row.get() * n_outputs..][..n_outputs]);
                let deviations = &mut deviations[row.get() * n_outputs..][..n_outputs];
                missing.iter().zip(fills).for_each(|(&output, fill)| deviations[output] = fill);
            }
            let covariance = factor.to_inverse(Threads::One);
            for (a, &i) in missing.iter().enumerate() {
                for (b, &j) in missing.iter().enumerate() {
                    products[i * n_outputs + j] += rows.len() as f64 * covariance[a * missing.len() + b];
                }
            }
        }
        let of_means = product_with_transposed(&deviations, &deviations, n_outputs);
        let count = observations.n_rows().max(1) as f64;
        let mut shift = vec![0.0; n_outputs];
        for row in deviations.chunks_exact(n_outputs) {
            shift.iter_mut().zip(row).for_each(|(sum, deviation)| *sum += deviation / count);
        }
        let mean = self.mean.iter().zip(&shift).map(|(mean, shift)| mean + shift).collect();
        let mut covariance = vec![0.0; n_outputs * n_outputs];
        for i in 0..n_outputs {
            for j in 0..=i {
                let at = i * n_outputs + j;
                let shrunk = if i == j { 1.0 } else { 1.0 - settings.shrinkage };
                let entry = shrunk * ((of_means[at] + products[at]) / count - shift[i] * shift[j]);
                covariance[at] = entry;
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

    /// Observed cells minus their means, and 0 for missing cells, row-major.
    fn deviations(&self, observations: &Observations) -> Vec<f64> {
        let n_outputs = self.mean.len();
        let mut deviations = vec![0.0; observations.n_rows() * n_outputs];
        for (row, cell) in observations.cells() {
            let output = cell.output.get();
            deviations[row.get() * n_outputs + output] = cell.value - self.mean[output];
        }
        deviations
    }

    /// The inverse of the covariance.
    fn precision(&self) -> Result<Vec<f64>, DenseMethodError> {
        let all: Vec<usize> = (0..self.mean.len()).collect();
        Ok(factor(&self.covariance, &all, &[])?.to_inverse(Threads::One))
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
        let precision = self.precision()?;
        // A cell whose row is complete has this variance, and no cell has less.
        let least: Vec<f64> =
            precision.iter().step_by(n_outputs + 1).map(|precision| 1.0 / precision).collect();
        let mut deviations = self.deviations(observations);
        let weighted = product(&precision, &deviations, n_outputs);
        let mut variances = vec![0.0; observations.n_rows() * n_outputs];
        for MaskGroup { observed, missing, rows } in mask_groups(observations) {
            let factor = factor(&precision, &missing, &rows)?;
            let mut explained = block(&precision, n_outputs, (&missing, &observed));
            factor.whiten(&mut explained, Threads::One);
            let of_missing = factor.to_inverse(Threads::One);
            for &row in &rows {
                let at = row.get() * n_outputs;
                let fills = expected(&factor, &missing, &weighted[at..][..n_outputs]);
                for (place, (&output, fill)) in missing.iter().zip(fills).enumerate() {
                    deviations[at + output] = fill;
                    variances[at + output] = of_missing[place * (missing.len() + 1)];
                }
                for (place, &output) in observed.iter().enumerate() {
                    let column = &explained[place * missing.len()..][..missing.len()];
                    variances[at + output] =
                        1.0 / (precision[output * (n_outputs + 1)] - dot(column, column));
                }
            }
        }
        // With the missing outputs at their expectations, Λd is that of the observed outputs alone.
        let weighted = product(&precision, &deviations, n_outputs);
        let mut is_observed = vec![false; deviations.len()];
        observations
            .cells()
            .for_each(|(row, cell)| is_observed[row.get() * n_outputs + cell.output.get()] = true);
        let mean = |at: usize| {
            let own = if is_observed[at] { weighted[at] * variances[at] } else { 0.0 };
            self.mean[at % n_outputs] + deviations[at] - own
        };
        let excess = |at: usize| (variances[at] - least[at % n_outputs]).max(0.0);
        let cells = 0..deviations.len();
        Ok(RowPredictions { means: cells.clone().map(mean).collect(), excess: cells.map(excess).collect() })
    }
}

/// The factor of a block of the precision or covariance, for these rows.
fn factor(matrix: &[f64], outputs: &[usize], rows: &[RowIndex]) -> Result<Cholesky, DenseMethodError> {
    let n_outputs = matrix.len().isqrt();
    let row = rows.first().copied().unwrap_or(RowIndex::new(0));
    Cholesky::new(outputs.len(), block(matrix, n_outputs, (outputs, outputs)), Threads::One)
        .map_err(|_| DenseMethodError::NotPositiveDefinite { row })
}

/// A block of a symmetric matrix, column-major.
fn block(matrix: &[f64], size: usize, (rows, columns): (&[usize], &[usize])) -> Vec<f64> {
    let mut entries = Vec::with_capacity(rows.len() * columns.len());
    for column in columns {
        let column = &matrix[column * size..][..size];
        entries.extend(rows.iter().map(|&row| column[row]));
    }
    entries
}

/// The expected deviations of the missing outputs of a row, from Λd and the factor of `Λ_mm`.
fn expected(factor: &Cholesky, missing: &[usize], weighted: &[f64]) -> Vec<f64> {
    let mut fills: Vec<f64> = missing.iter().map(|&output| -weighted[output]).collect();
    factor.solve(&mut fills, Threads::One);
    fills
}

/// Multiplications of one iteration.
fn operations(groups: &[MaskGroup]) -> f64 {
    let cost = |group: &MaskGroup| {
        let (observed, missing) = (group.observed.len() as f64, group.missing.len() as f64);
        let n_outputs = observed + missing;
        missing * missing * n_outputs + 2.0 * group.rows.len() as f64 * n_outputs * n_outputs
    };
    let n_outputs = groups.first().map_or(0, |group| group.observed.len() + group.missing.len());
    groups.iter().map(cost).sum::<f64>() + (n_outputs as f64).powi(3)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[path = "row_gaussian_tests.rs"]
mod tests;
