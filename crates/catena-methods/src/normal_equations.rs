//! The normal equations `A w = t` of a low-rank part, summed over chunks of locations.

use std::ops::Range;

use rayon::prelude::*;

use crate::cholesky::{Cholesky, Threads};
use crate::targets::dot;

/// Chunks processed at once; fixed, so that sums do not depend on the number of threads.
pub(crate) const CHUNKS_IN_FLIGHT: usize = 8;

/// Ranges of `chunk` locations, in order.
pub(crate) fn chunks_of(n_locations: usize, chunk: usize) -> Vec<Range<usize>> {
    (0..n_locations).step_by(chunk).map(|start| start..(start + chunk).min(n_locations)).collect()
}

/// Sums over locations.
pub(crate) struct NormalEquations {
    /// The lower triangle of A, column-major.
    pub(crate) matrix: Vec<f64>,
    /// t.
    pub(crate) right: Vec<f64>,
    /// The terms of the log evidence that are sums over locations.
    pub(crate) evidence: f64,
}

/// The solution of the normal equations.
pub(crate) struct Solution {
    /// The Cholesky factor of A.
    pub(crate) factor: Cholesky,
    /// w.
    pub(crate) weights: Vec<f64>,
    /// `½ (tᵀw − log det A)`.
    pub(crate) evidence: f64,
}

impl NormalEquations {
    pub(crate) fn zero(total: usize) -> Self {
        Self { matrix: vec![0.0; total * total], right: vec![0.0; total], evidence: 0.0 }
    }

    /// The identity plus the terms of all chunks.
    ///
    /// # Errors
    /// The first error of a chunk.
    pub(crate) fn sum<E: Send>(
        total: usize,
        chunks: &[Range<usize>],
        of_chunk: impl Fn(Range<usize>) -> Result<Self, E> + Sync,
    ) -> Result<Self, E> {
        let mut sums = Self::zero(total);
        sums.matrix.iter_mut().step_by(total + 1).for_each(|diagonal| *diagonal = 1.0);
        for chunks in chunks.chunks(CHUNKS_IN_FLIGHT) {
            let terms: Vec<Result<Self, E>> =
                chunks.par_iter().map(|chunk| of_chunk(chunk.clone())).collect();
            for term in terms {
                let term = term?;
                sums.evidence += term.evidence;
                sums.right.iter_mut().zip(term.right).for_each(|(sum, term)| *sum += term);
                sums.matrix.iter_mut().zip(term.matrix).for_each(|(sum, term)| *sum += term);
            }
        }
        Ok(sums)
    }

    /// Solves the equations.
    ///
    /// # Errors
    /// The index of the pivot that was not positive.
    pub(crate) fn solve(self) -> Result<Solution, usize> {
        let factor = Cholesky::new(self.right.len(), self.matrix, Threads::All)?;
        let mut weights = self.right;
        factor.whiten(&mut weights, Threads::All);
        let explained = dot(&weights, &weights);
        factor.whiten_transposed(&mut weights, Threads::All);
        let evidence = 0.5 * (explained - factor.log_determinant());
        Ok(Solution { factor, weights, evidence })
    }
}
