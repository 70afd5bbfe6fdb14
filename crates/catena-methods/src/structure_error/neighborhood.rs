//! Dense posteriors at a row, given its nearest observed rows.

use crate::Problem;
use crate::nngp::{Nngp, NngpOptions};
use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::prediction::Prediction;
use catena::structure::{KdTree, Neighbor};

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
        let rows: Vec<RowIndex> = neighbors.iter().map(|neighbor| neighbor.row).collect();
        let table = self.problem.dataset().select_rows(&rows)?;
        let at = InputPoints::new(1, inputs.dim(), inputs.point(row).to_vec())?;
        let krige = || {
            let local = Problem::new(self.problem.model(), &table, self.problem.distance_scale())?;
            Nngp::fit(local, NngpOptions::new(neighbors.len()))?.predict(&at)
        };
        krige().map_err(|source| EstimateError::Dense { row, source })
    }
}
