//! The dense process conditioned on its observed cells.

use catena::data::Observations;
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use rayon::prelude::*;

use super::cholesky::{Cholesky, dot};
use super::gradient::{DenseGradient, dense_gradient};
use super::{DensePrior, DoubleDouble};

/// One observed cell.
pub(super) struct ObservedCell {
    pub(super) row: usize,
    pub(super) output: usize,
    pub(super) value: f64,
    pub(super) noise: f64,
    /// Whether the noise is given for this cell, so that the output's noise parameter does not enter.
    pub(super) has_own_noise: bool,
}

/// Posterior means and covariances of states and outputs at every row, evidence and gradient; results in `f64`.
///
/// States are stacked latent by latent, as in `[g_1, g_1'/λ_1, …, g_2, …]`; matrices are row-major.
pub struct DensePosterior<'a> {
    prior: DensePrior<'a>,
    pub(super) cells: Vec<ObservedCell>,
    factor: Cholesky,
    /// K⁻¹ y.
    pub(super) weights: Vec<DoubleDouble>,
    /// `L⁻¹ Cov(y, z)` for each row and state component, as vectors over the observed cells.
    whitened: Vec<Vec<Vec<DoubleDouble>>>,
    log_evidence: f64,
}

impl<'a> DensePosterior<'a> {
    pub(super) fn new(prior: DensePrior<'a>, observations: &Observations) -> Result<Self, String> {
        let model = prior.model;
        let expected = (prior.n_rows, model.n_outputs());
        let found = (observations.n_rows(), observations.n_outputs());
        if expected != found {
            return Err(format!("the process has {expected:?} rows and outputs, the observations {found:?}"));
        }
        let cells: Vec<ObservedCell> = observations
            .cells()
            .map(|(row, cell)| ObservedCell {
                row: row.get(),
                output: cell.output.get(),
                value: cell.value,
                noise: cell.noise_variance.unwrap_or(model.noise()[cell.output.get()].get()),
                has_own_noise: cell.noise_variance.is_some(),
            })
            .collect();
        let n = cells.len();
        let mut matrix = prior.cell_covariance(&cells);
        for (at, cell) in cells.iter().enumerate() {
            matrix[at * n + at] += DoubleDouble::new(cell.noise);
        }
        let factor = Cholesky::new(n, matrix).map_err(|pivot| {
            let ObservedCell { row, output, .. } = cells[pivot];
            format!("the covariance of the observed cells is singular at row {row}, output {output}")
        })?;
        let mut weights: Vec<_> = cells.iter().map(|cell| DoubleDouble::new(cell.value)).collect();
        factor.solve_lower(&mut weights);
        let mahalanobis = dot(&weights, &weights);
        factor.solve_upper(&mut weights);
        let log_two_pi = (2.0 * std::f64::consts::PI).ln();
        let log_evidence =
            -0.5 * (mahalanobis + factor.log_determinant()).to_f64() - 0.5 * n as f64 * log_two_pi;
        let whitened = (0..prior.n_rows)
            .into_par_iter()
            .map(|row| {
                let mut columns = prior.cross_covariance(row, &cells);
                columns.iter_mut().for_each(|column| factor.solve_lower(column));
                columns
            })
            .collect();
        Ok(Self { prior, cells, factor, weights, whitened, log_evidence })
    }

    /// The log evidence of the observed cells.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The exact gradient of the log evidence.
    pub fn gradient(&self) -> DenseGradient {
        dense_gradient(&self.prior, self)
    }

    /// K⁻¹ over the observed cells, row-major.
    pub(super) fn inverse_covariance(&self) -> Vec<DoubleDouble> {
        let n = self.cells.len();
        let columns: Vec<Vec<DoubleDouble>> = (0..n)
            .into_par_iter()
            .map(|at| {
                let mut column = vec![DoubleDouble::ZERO; n];
                column[at] = DoubleDouble::ONE;
                self.factor.solve_lower(&mut column);
                self.factor.solve_upper(&mut column);
                column
            })
            .collect();
        columns.concat()
    }

    /// The posterior mean of the joint state (n).
    pub fn state_mean(&self, row: RowIndex) -> Vec<f64> {
        self.state_mean_exact(row.get()).into_iter().map(DoubleDouble::to_f64).collect()
    }

    fn state_mean_exact(&self, row: usize) -> Vec<DoubleDouble> {
        let columns = self.prior.cross_covariance(row, &self.cells);
        columns.iter().map(|column| dot(column, &self.weights)).collect()
    }

    /// The posterior covariance of the joint state (n×n).
    pub fn state_covariance(&self, row: RowIndex) -> Vec<f64> {
        self.state_cross_covariance(row, row)
    }

    /// `Cov(z_row, z_other)` (n×n).
    pub fn state_cross_covariance(&self, row: RowIndex, other: RowIndex) -> Vec<f64> {
        self.cross_exact(row.get(), other.get()).into_iter().map(DoubleDouble::to_f64).collect()
    }

    fn cross_exact(&self, row: usize, other: usize) -> Vec<DoubleDouble> {
        let mut covariance = self.prior.state_covariance(row, other);
        let n = self.whitened[row].len();
        for p in 0..n {
            for q in 0..n {
                covariance[p * n + q] -= dot(&self.whitened[row][p], &self.whitened[other][q]);
            }
        }
        covariance
    }

    /// The posterior means of the outputs (D).
    pub fn output_mean(&self, row: RowIndex) -> Vec<f64> {
        let state = self.state_mean_exact(row.get());
        self.prior.readout().iter().map(|output| dot(output, &state).to_f64()).collect()
    }

    /// The posterior covariance of the outputs, without noise (D×D).
    pub fn output_covariance(&self, row: RowIndex) -> Vec<f64> {
        self.output_cross_covariance(row, row)
    }

    /// The covariance of the outputs at `row` with those at `other`, without noise (D×D).
    pub fn output_cross_covariance(&self, row: RowIndex, other: RowIndex) -> Vec<f64> {
        let state = self.cross_exact(row.get(), other.get());
        let readout = self.prior.readout();
        let n = self.prior.state_dim();
        let mut covariance = Vec::with_capacity(readout.len().pow(2));
        for output in &readout {
            let left: Vec<DoubleDouble> =
                (0..n).map(|q| (0..n).map(|p| output[p] * state[p * n + q]).sum()).collect();
            covariance.extend(readout.iter().map(|other| dot(&left, other).to_f64()));
        }
        covariance
    }

    /// Posterior means of all cells, row-major C×D.
    pub fn means(&self) -> Vec<f64> {
        (0..self.prior.n_rows).flat_map(|row| self.output_mean(RowIndex::new(row))).collect()
    }

    /// Posterior variances of all cells without noise, row-major C×D.
    pub fn variances(&self) -> Vec<f64> {
        let n_outputs = self.prior.model.n_outputs();
        let diagonal = |row| self.output_covariance(RowIndex::new(row)).into_iter().step_by(n_outputs + 1);
        (0..self.prior.n_rows).flat_map(diagonal).collect()
    }
}

impl DensePrior<'_> {
    /// The number of components of the joint state, n.
    fn state_dim(&self) -> usize {
        self.latents.iter().map(|latent| latent.dim).sum()
    }

    pub(super) fn weight(&self, output: usize, latent: usize) -> DoubleDouble {
        let weight = self.model.mixing().weight(OutputIndex::new(output), LatentIndex::new(latent));
        DoubleDouble::new(weight)
    }

    /// H: for each output, its weights on the components of the joint state.
    fn readout(&self) -> Vec<Vec<DoubleDouble>> {
        let starts: Vec<usize> = (0..self.latents.len())
            .map(|at| self.latents[..at].iter().map(|latent| latent.dim).sum())
            .collect();
        let row = |output: usize| {
            let mut row = vec![DoubleDouble::ZERO; self.state_dim()];
            for (at, (owner, component)) in self.model.readings().enumerate() {
                row[starts[owner.get()] + component] = self.weight(output, at);
            }
            row
        };
        (0..self.model.n_outputs()).map(row).collect()
    }

    /// The covariance of the state components that columns l and m of the mixing matrix refer to, at two rows.
    pub(super) fn between(&self, (l, i): (usize, usize), (m, j): (usize, usize)) -> DoubleDouble {
        let readings: Vec<(LatentIndex, usize)> = self.model.readings().collect();
        let ((owner, p), (other, q)) = (readings[l], readings[m]);
        if owner == other { self.latents[owner.get()].get((i, p), (j, q)) } else { DoubleDouble::ZERO }
    }

    /// The columns of the mixing matrix that refer to the same latent's state as column l.
    pub(super) fn columns_with_latent_of(&self, l: usize) -> Vec<usize> {
        let owners: Vec<LatentIndex> = self.model.readings().map(|(owner, _)| owner).collect();
        (0..owners.len()).filter(|&m| owners[m] == owners[l]).collect()
    }

    /// The prior `Cov(z_row, z_other)`, block diagonal over the latents.
    fn state_covariance(&self, row: usize, other: usize) -> Vec<DoubleDouble> {
        let n = self.state_dim();
        let mut covariance = vec![DoubleDouble::ZERO; n * n];
        let mut start = 0;
        for latent in &self.latents {
            for p in 0..latent.dim {
                for q in 0..latent.dim {
                    covariance[(start + p) * n + start + q] = latent.get((row, p), (other, q));
                }
            }
            start += latent.dim;
        }
        covariance
    }

    /// The covariance of the observed cells' functions, without noise.
    fn cell_covariance(&self, cells: &[ObservedCell]) -> Vec<DoubleDouble> {
        let columns: Vec<Vec<usize>> =
            (0..self.latents.len()).map(|l| self.columns_with_latent_of(l)).collect();
        let entry = |a: &ObservedCell, b: &ObservedCell| {
            let share = |l: usize| -> DoubleDouble {
                let with = |m: usize| self.weight(b.output, m) * self.between((l, a.row), (m, b.row));
                self.weight(a.output, l) * columns[l].iter().map(|&m| with(m)).sum::<DoubleDouble>()
            };
            (0..self.latents.len()).map(share).sum()
        };
        cells.iter().flat_map(|a| cells.iter().map(|b| entry(a, b)).collect::<Vec<_>>()).collect()
    }

    /// For each component of the joint state at `row`, its prior covariance with the observed cells.
    fn cross_covariance(&self, row: usize, cells: &[ObservedCell]) -> Vec<Vec<DoubleDouble>> {
        let mut columns = vec![];
        let readings: Vec<(LatentIndex, usize)> = self.model.readings().collect();
        for (at, latent) in self.latents.iter().enumerate() {
            let columns_of_latent = self.columns_with_latent_of(at);
            for p in 0..latent.dim {
                let entry = |cell: &ObservedCell| -> DoubleDouble {
                    let read = |m: usize| {
                        self.weight(cell.output, m) * latent.get((row, p), (cell.row, readings[m].1))
                    };
                    columns_of_latent.iter().map(|&m| read(m)).sum()
                };
                columns.push(cells.iter().map(entry).collect());
            }
        }
        columns
    }
}
