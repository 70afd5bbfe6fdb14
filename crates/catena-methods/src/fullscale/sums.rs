//! A, t and the likelihood, summed over chunks of locations.

use std::ops::Range;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::innovation::Innovation;
use super::{CHUNKS_IN_FLIGHT, FullScale, chunks_of};
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};
use crate::targets::dot;

/// Sums over locations.
struct Sums {
    /// The lower triangle of `Σ b bᵀ`, column-major.
    system: Vec<f64>,
    /// `Σ b z`.
    right: Vec<f64>,
    /// `−½ Σ z² − Σ log(pivot)`.
    evidence: f64,
}

impl FullScale {
    /// Computes A, w and the likelihood.
    pub(super) fn condition(&mut self) -> Result<(), DenseMethodError> {
        let total = self.features.total();
        let mut sums = Sums { system: vec![0.0; total * total], right: vec![0.0; total], evidence: 0.0 };
        sums.system.iter_mut().step_by(total + 1).for_each(|diagonal| *diagonal = 1.0);
        for chunks in chunks_of(self.channels.n_locations()).chunks(CHUNKS_IN_FLIGHT) {
            let parts: Vec<Result<Sums, DenseMethodError>> =
                chunks.par_iter().map(|chunk| self.of_chunk(chunk.clone())).collect();
            for part in parts {
                let part = part?;
                sums.evidence += part.evidence;
                sums.right.iter_mut().zip(part.right).for_each(|(sum, term)| *sum += term);
                sums.system.iter_mut().zip(part.system).for_each(|(sum, term)| *sum += term);
            }
        }
        // A ≥ I: a pivot below 1 can only come from overflow.
        let system = Cholesky::new(total, sums.system, Threads::All)
            .map_err(|_| DenseMethodError::NotPositiveDefinite { row: self.channels.row(0) })?;
        let mut weights = sums.right;
        system.whiten(&mut weights, Threads::All);
        let explained = dot(&weights, &weights);
        system.whiten_transposed(&mut weights, Threads::All);
        self.log_evidence = self.channels.log_constant()
            - 0.5 * self.channels.n_channels() as f64 * std::f64::consts::TAU.ln()
            + sums.evidence
            + 0.5 * (explained - system.log_determinant());
        self.weights = weights;
        self.system = system;
        self.fit_locations();
        Ok(())
    }

    fn of_chunk(&self, chunk: Range<usize>) -> Result<Sums, DenseMethodError> {
        let total = self.features.total();
        let (mut columns, mut values, mut evidence) = (vec![], vec![], 0.0);
        let mut innovation = Innovation::default();
        for location in chunk {
            self.innovation(location, &mut innovation)?;
            evidence -= 0.5 * dot(&innovation.values, &innovation.values) + innovation.log_diagonal;
            columns.extend_from_slice(&innovation.features);
            values.extend_from_slice(&innovation.values);
        }
        let mut sums = Sums { system: vec![0.0; total * total], right: vec![0.0; total], evidence };
        if total > 0 {
            for (column, value) in columns.chunks_exact(total).zip(&values) {
                sums.right.iter_mut().zip(column).for_each(|(sum, feature)| *sum += value * feature);
            }
            let columns = MatRef::from_column_major_slice(&columns, total, values.len());
            triangular::matmul(
                MatMut::from_column_major_slice_mut(&mut sums.system, total, total),
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
