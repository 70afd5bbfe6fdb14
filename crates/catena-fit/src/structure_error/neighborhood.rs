//! Dense posteriors at a row, given its nearest observed rows.

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::prediction::Prediction;
use catena::structure::{KdTree, Neighbor};
use catena_methods::Problem;
use catena_methods::nngp::{Nngp, NngpOptions};

use super::error::EstimateError;

/// The observed rows in a search tree.
pub(super) struct Neighborhoods<'a> {
    problem: Problem<'a>,
    observed: KdTree,
    n_neighbors: usize,
}

impl<'a> Neighborhoods<'a> {
    pub(super) fn new(problem: Problem<'a>, n_neighbors: usize) -> Result<Self, EstimateError> {
        let (inputs, observations) = (problem.dataset().inputs(), problem.dataset().observations());
        let observed: Vec<RowIndex> = inputs.rows().filter(|&row| observations.row(row).len() > 0).collect();
        if observed.is_empty() {
            return Err(EstimateError::NothingObserved);
        }
        let n_neighbors = n_neighbors.min(observed.len());
        Ok(Self { problem, observed: KdTree::over_rows(inputs, &observed), n_neighbors })
    }

    pub(super) fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// The dense posteriors at a row given its neighborhood and given the nearer half of it; both are the same if the
    /// neighborhood is the whole table.
    pub(super) fn dense_posteriors(&self, row: RowIndex) -> Result<[Prediction; 2], EstimateError> {
        let point = self.problem.dataset().inputs().point(row);
        let mut neighbors = vec![];
        self.observed.k_nearest(point, self.n_neighbors, &mut neighbors);
        let dense = self.dense_posterior(row, &neighbors)?;
        let is_whole_table = self.n_neighbors == self.observed.len();
        let half = if is_whole_table {
            dense.clone()
        } else {
            self.dense_posterior(row, &neighbors[..neighbors.len().div_ceil(2)])?
        };
        Ok([dense, half])
    }

    /// Kriging with all of the neighbors.
    fn dense_posterior(&self, row: RowIndex, neighbors: &[Neighbor]) -> Result<Prediction, EstimateError> {
        let inputs = self.problem.dataset().inputs();
        let table = self.table_of(neighbors)?;
        let at = InputPoints::new(1, inputs.dim(), inputs.point(row).to_vec())?;
        let krige = || {
            let local = Problem::new(self.problem.model(), &table, self.problem.distance_scale())?;
            Nngp::fit(local, NngpOptions::new(neighbors.len()))?.predict(&at)
        };
        krige().map_err(|source| EstimateError::Dense { row, source })
    }

    /// The neighbors as a table, nearest first.
    fn table_of(&self, neighbors: &[Neighbor]) -> Result<Dataset, DataError> {
        let (inputs, observations) = (self.problem.dataset().inputs(), self.problem.dataset().observations());
        let (n_rows, n_outputs) = (neighbors.len(), observations.n_outputs());
        let mut places = Vec::with_capacity(n_rows * inputs.dim());
        let mut values = vec![f64::NAN; n_rows * n_outputs];
        let mut noise = values.clone();
        for (at, neighbor) in neighbors.iter().enumerate() {
            places.extend_from_slice(inputs.point(neighbor.row));
            for cell in observations.row(neighbor.row) {
                values[at * n_outputs + cell.output.get()] = cell.value;
                noise[at * n_outputs + cell.output.get()] = cell.noise_variance.unwrap_or(f64::NAN);
            }
        }
        let mut local = Observations::from_dense(n_rows, n_outputs, &values)?;
        if observations.has_cell_noise() {
            local = local.with_cell_noise(&noise)?;
        }
        Dataset::new(InputPoints::new(n_rows, inputs.dim(), places)?, local)
    }
}
