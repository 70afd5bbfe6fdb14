//! The covariance of channels with each other, `K̃ = Σ_l (a_l a_lᵀ) ∘ κ_l + I`, and with the targets at a point.

use rayon::prelude::*;

use super::{Block, Channels, Run};
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::targets::{Targets, dot};

impl Channels {
    /// The Cholesky factor of K̃ over a block.
    ///
    /// # Errors
    /// If K̃ is not positive definite; the error names the row at which the factorization stopped.
    pub(crate) fn factor(
        &self,
        correlations: &Correlations,
        block: &Block,
        threads: Threads,
    ) -> Result<Cholesky, DenseMethodError> {
        let matrix = self.covariance(correlations, block, threads);
        Cholesky::new(block.len(), matrix, threads).map_err(|pivot| self.not_positive_definite(block, pivot))
    }

    /// The error that names the row of a channel of a block.
    pub(crate) fn not_positive_definite(&self, block: &Block, pivot: usize) -> DenseMethodError {
        let run = block.runs.partition_point(|run| run.end <= pivot).min(block.runs.len() - 1);
        DenseMethodError::NotPositiveDefinite { row: self.row(block.runs[run].location) }
    }

    /// The lower triangle of K̃ over a block, column-major. Columns of one location are filled together, so each distance
    /// and correlation is computed once.
    fn covariance(&self, correlations: &Correlations, block: &Block, threads: Threads) -> Vec<f64> {
        let mut matrix = vec![0.0; block.len() * block.len()];
        let mut rest = matrix.as_mut_slice();
        let mut tasks = Vec::with_capacity(block.runs.len());
        for (number, run) in block.runs.iter().enumerate() {
            let (columns, after) = rest.split_at_mut((run.end - run.start) * block.len());
            tasks.push((number, columns));
            rest = after;
        }
        let scratch = || vec![0.0; 2 * correlations.n_latents()];
        let fill = |scratch: &mut Vec<f64>, (number, columns): (usize, &mut [f64])| {
            self.fill_columns(correlations, (block, number), scratch, columns);
        };
        match threads {
            Threads::All => tasks.into_par_iter().for_each_init(scratch, fill),
            Threads::One => {
                let mut scratch = scratch();
                tasks.into_iter().for_each(|task| fill(&mut scratch, task));
            }
        }
        matrix
    }

    /// The columns of one location, from its diagonal down.
    fn fill_columns(
        &self,
        correlations: &Correlations,
        (block, number): (&Block, usize),
        scratch: &mut [f64],
        columns: &mut [f64],
    ) {
        let (values, weighted) = scratch.split_at_mut(correlations.n_latents());
        let own = block.runs[number];
        for run in &block.runs[number..] {
            correlations.fill(self.point(own.location), self.point(run.location), values);
            for (at, column) in (own.start..own.end).zip(columns.chunks_exact_mut(block.len())) {
                self.weigh(block, (own, at), values, weighted);
                for other in run.start..run.end {
                    column[other] = dot(self.loadings(run.location, block.channels[other]), weighted);
                }
            }
        }
        for (at, column) in (own.start..own.end).zip(columns.chunks_exact_mut(block.len())) {
            column[at] += 1.0;
        }
    }

    /// The covariance of a block's channels with the targets at a point, one column per target.
    pub(crate) fn covariance_with_point(
        &self,
        correlations: &Correlations,
        block: &Block,
        (point, targets): (&[f64], &Targets),
        columns: &mut [f64],
    ) {
        let n_latents = self.n_latents;
        let (mut values, mut weighted) = (vec![0.0; n_latents], vec![0.0; n_latents]);
        for &run in &block.runs {
            correlations.fill(point, self.point(run.location), &mut values);
            for at in run.start..run.end {
                self.weigh(block, (run, at), &values, &mut weighted);
                for (target, column) in columns.chunks_exact_mut(block.len()).enumerate() {
                    column[at] = targets.covariance_with(target, &weighted);
                }
            }
        }
    }

    /// `a_cl κ_l` for one channel of a block.
    fn weigh(&self, block: &Block, (run, at): (Run, usize), values: &[f64], weighted: &mut [f64]) {
        let loadings = self.loadings(run.location, block.channels[at]);
        for latent in 0..values.len() {
            weighted[latent] = loadings[latent] * values[latent];
        }
    }
}
