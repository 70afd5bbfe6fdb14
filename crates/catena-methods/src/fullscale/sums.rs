//! A, t and the likelihood, summed over chunks of locations.

use std::ops::Range;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::innovation::Innovation;
use super::{CHUNK, FullScale};
use crate::DenseMethodError;
use crate::normal_equations::{NormalEquations, chunks_of};
use crate::targets::dot;

impl FullScale {
    /// Computes A, w and the likelihood.
    pub(super) fn condition(&mut self) -> Result<(), DenseMethodError> {
        let chunks = chunks_of(self.channels.n_locations(), CHUNK);
        let equations = NormalEquations::sum(self.features.total(), &chunks, |chunk| self.of_chunk(chunk))?;
        let evidence = self.channels.log_normalizer() + equations.evidence;
        // A ≥ I: a pivot below 1 can only come from overflow.
        let solution = equations
            .solve()
            .map_err(|_| DenseMethodError::NotPositiveDefinite { row: self.channels.row(0) })?;
        self.log_evidence = evidence + solution.evidence;
        self.weights = solution.weights;
        self.system = solution.factor;
        self.fit_locations();
        Ok(())
    }

    /// The terms `Σ b bᵀ` (lower triangle), `Σ b z` and `−½ Σ z² − Σ log(pivot)` of a chunk of locations.
    fn of_chunk(&self, chunk: Range<usize>) -> Result<NormalEquations, DenseMethodError> {
        let total = self.features.total();
        let (mut columns, mut values, mut evidence) = (vec![], vec![], 0.0);
        let mut innovation = Innovation::default();
        for location in chunk {
            self.innovation(location, &mut innovation)?;
            evidence -= 0.5 * dot(&innovation.values, &innovation.values) + innovation.log_diagonal;
            columns.extend_from_slice(&innovation.features);
            values.extend_from_slice(&innovation.values);
        }
        let mut sums = NormalEquations { evidence, ..NormalEquations::zero(total) };
        if total > 0 {
            for (column, value) in columns.chunks_exact(total).zip(&values) {
                sums.right.iter_mut().zip(column).for_each(|(sum, feature)| *sum += value * feature);
            }
            let columns = MatRef::from_column_major_slice(&columns, total, values.len());
            triangular::matmul(
                MatMut::from_column_major_slice_mut(&mut sums.matrix, total, total),
                BlockStructure::TriangularLower,
                Accum::Add,
                columns,
                BlockStructure::Rectangular,
                columns.transpose(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        Ok(sums)
    }

    /// `u_lᵀw_l` of every location.
    fn fit_locations(&mut self) {
        let (features, weights) = (&self.features, &self.weights);
        let n_latents = self.model.n_latents();
        self.fitted.par_chunks_mut(n_latents).enumerate().for_each(|(location, fitted)| {
            for (latent, basis, start) in features.latents() {
                fitted[latent] = dot(basis.of_location(location), &weights[start..][..basis.count()]);
            }
        });
    }
}
