//! The largest eigenvalues of a symmetric matrix with their eigenvectors, by subspace iteration.

use super::dense::{add_scaled, dot};
use super::eigen::{symmetric_eigen, with_sign};
use super::instruction_sets::Separate;

/// Matrices up to this size are decomposed completely.
const SMALL: usize = 32;
/// Vectors that are iterated beside those that are wanted; they carry the next eigenvalues and speed up convergence.
const EXTRA: usize = 8;
/// The iteration ends when the sum of the wanted eigenvalues grows by less than this share of the trace. Where eigenvalues differ
/// little, so that it would grow for long, any vectors of their space serve as well.
const NEGLIGIBLE: f64 = 1e-10;
const MOST_ITERATIONS: usize = 30;

/// The `count` largest eigenvalues of a symmetric matrix, largest first, with unit eigenvectors whose signs are those of
/// [`symmetric_eigen`]. One iteration takes O(`size²` · `count`) operations; small matrices are decomposed completely. Vectors
/// of eigenvalues that differ little span their common space.
pub(crate) fn leading_eigenpairs(size: usize, count: usize, matrix: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let n_vectors = count.saturating_add(EXTRA);
    if size <= SMALL || 2 * n_vectors >= size {
        let mut pairs = symmetric_eigen(size, matrix);
        pairs.truncate(count);
        return pairs;
    }
    let trace: f64 = (0..size).map(|at| matrix[at * (size + 1)].abs()).sum();
    // Waves of different frequencies: each eigenvector has a share of them.
    let wave = |vector: usize, at: usize| (1.7 * (1 + at) as f64 * (2.0 + vector as f64).sqrt()).sin();
    let mut basis: Vec<Vec<f64>> =
        (0..n_vectors).map(|vector| (0..size).map(|at| wave(vector, at)).collect()).collect();
    let mut before = f64::NEG_INFINITY;
    let (mut iteration, mut shift) = (0, 0.0_f64);
    loop {
        orthonormalize(&mut basis);
        let images = products(size, matrix, &basis);
        // The matrix within the space of the basis.
        let projected: Vec<f64> =
            basis.iter().flat_map(|one| images.iter().map(|image| dot::<Separate>(one, image))).collect();
        let pairs = symmetric_eigen(n_vectors, &projected);
        let total: f64 = pairs[..count].iter().map(|(value, _)| value).sum();
        iteration += 1;
        let is_growing = total - before > NEGLIGIBLE * trace;
        if !is_growing || iteration == MOST_ITERATIONS {
            let wanted = pairs.into_iter().take(count);
            return wanted.map(|(value, weights)| (value, with_sign(combined(&basis, &weights)))).collect();
        }
        before = total;
        // Large negative eigenvalues would attract the basis; those of the matrix plus the shift are not large.
        shift = pairs.last().map_or(shift, |(value, _)| shift.max(-value));
        let shifted = |weights: &[f64]| {
            let mut image = combined(&images, weights);
            add_scaled::<Separate>(shift, &combined(&basis, weights), &mut image);
            image
        };
        basis = pairs.iter().map(|(_, weights)| shifted(weights)).collect();
    }
}

/// The sum of the vectors times their weights.
fn combined(vectors: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors[0].len()];
    vectors
        .iter()
        .zip(weights)
        .for_each(|(vector, &weight)| add_scaled::<Separate>(weight, vector, &mut sum));
    sum
}

/// Replaces vectors by orthonormal vectors of the same space, by Gram–Schmidt, twice for orthogonality to rounding. A vector in
/// the space of those before it becomes zeros.
fn orthonormalize(vectors: &mut [Vec<f64>]) {
    for at in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(at);
        let vector = &mut rest[0];
        for _ in 0..2 {
            let size = dot::<Separate>(vector, vector).sqrt();
            for other in before.iter() {
                let share = dot::<Separate>(other, vector);
                add_scaled::<Separate>(-share, other, vector);
            }
            let left = dot::<Separate>(vector, vector).sqrt();
            let scale = if left > 1e-13 * size { left.recip() } else { 0.0 };
            vector.iter_mut().for_each(|entry| *entry *= scale);
        }
    }
}

/// The matrix times every vector; each row of the matrix is read once.
fn products(size: usize, matrix: &[f64], vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut products = vec![Vec::with_capacity(size); vectors.len()];
    for row in matrix.chunks_exact(size) {
        for (product, vector) in products.iter_mut().zip(vectors) {
            product.push(dot::<Separate>(row, vector));
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a table with five strong directions, and their covariance.
    fn covariance(size: usize, n_rows: usize, noise: f64) -> Vec<f64> {
        let wave = |seed: usize, at: usize| (1.3 * (seed * seed + 1) as f64 * (at + 1) as f64).sin();
        let entry = |row: usize, at: usize| {
            let shared: f64 = (0..5).map(|k| wave(k, row) * wave(7 + k, at) / (1 + k) as f64).sum();
            shared + noise * wave(30 + at, row)
        };
        let rows: Vec<Vec<f64>> =
            (0..n_rows).map(|row| (0..size).map(|at| entry(row, at)).collect()).collect();
        let product = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
        (0..size * size).map(|at| product(at / size, at % size) / n_rows as f64).collect()
    }

    #[test]
    fn the_leading_pairs_are_those_of_a_complete_decomposition() {
        for (size, n_rows, noise) in [(40, 3, 0.0), (60, 200, 0.3), (90, 12, 0.1), (20, 30, 0.2)] {
            let matrix = covariance(size, n_rows, noise);
            let (all, found) = (symmetric_eigen(size, &matrix), leading_eigenpairs(size, 6, &matrix));
            assert_eq!(found.len(), 6);
            for (number, ((value, vector), (expected, _))) in found.iter().zip(&all).enumerate() {
                assert!((value - expected).abs() < 1e-9 * all[0].0, "{size} {number}: {value} {expected}");
                // Gaps between eigenvalues are far larger than the tolerance.
                let image = &products(size, &matrix, std::slice::from_ref(vector))[0];
                let miss: f64 = image.iter().zip(vector).map(|(a, b)| (a - value * b).powi(2)).sum();
                assert!(miss.sqrt() < 1e-5 * all[0].0, "{size} {number}: {miss}");
            }
            for (number, (value, vector)) in found.iter().enumerate().filter(|(_, pair)| pair.0 > 1e-9) {
                for (other, (_, earlier)) in found[..number].iter().enumerate() {
                    let inner = dot::<Separate>(vector, earlier);
                    assert!(inner.abs() < 1e-10, "{size}: {number} and {other} ({value}): {inner}");
                }
                assert!((dot::<Separate>(vector, vector) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_matrix_of_zeros_and_one_that_is_indefinite_are_fine() {
        assert!(leading_eigenpairs(50, 3, &[0.0; 2500]).iter().all(|(value, _)| *value == 0.0));
        // Half of the eigenvalues are near −5, the others between 3 and 3.1.
        let alternating: Vec<f64> = (0..2500)
            .map(|at| if at % 51 == 0 { [3.0, -5.0][at / 51 % 2] + 0.1 * at as f64 / 2500.0 } else { 0.0 })
            .collect();
        let found = leading_eigenpairs(50, 3, &alternating);
        let all = symmetric_eigen(50, &alternating);
        for ((value, _), (expected, _)) in found.iter().zip(&all) {
            assert!((value - expected).abs() < 0.05, "{value} {expected}");
        }
    }
}
