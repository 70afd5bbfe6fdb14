//! Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi rotations.

/// Eigenvalues in descending order with their unit eigenvectors. Only the upper triangle of the row-major matrix is read.
/// The first entry of largest magnitude of every vector is positive, so that equal matrices have equal signs.
pub(crate) fn symmetric_eigen(size: usize, matrix: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let mut a: Vec<f64> = (0..size * size)
        .map(|at| matrix[(at / size).min(at % size) * size + (at / size).max(at % size)])
        .collect();
    let mut vectors: Vec<f64> =
        (0..size * size).map(|at| if at / size == at % size { 1.0 } else { 0.0 }).collect();
    let scale = a.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    // Convergence is quadratic: a dozen sweeps suffice for the sizes that occur.
    for _ in 0..40 {
        let off: f64 = (0..size)
            .flat_map(|i| (i + 1..size).map(move |j| (i, j)))
            .map(|(i, j)| a[i * size + j].abs())
            .sum();
        if off <= f64::EPSILON * scale {
            break;
        }
        for i in 0..size {
            for j in i + 1..size {
                rotate(size, &mut a, &mut vectors, i, j);
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = (0..size)
        .map(|k| {
            let vector: Vec<f64> = (0..size).map(|i| vectors[i * size + k]).collect();
            (a[k * size + k], with_sign(vector))
        })
        .collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs
}

/// The vector or its negative, so that the first entry of largest magnitude is positive.
pub(super) fn with_sign(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let leading = vector.iter().find(|entry| entry.abs() >= largest * (1.0 - 1e-9));
    if leading.is_some_and(|entry| *entry < 0.0) {
        vector.iter_mut().for_each(|entry| *entry = -*entry);
    }
    vector
}

/// Rotates rows and columns i and j so that their common entry vanishes.
fn rotate(size: usize, a: &mut [f64], vectors: &mut [f64], i: usize, j: usize) {
    let common = a[i * size + j];
    if common == 0.0 {
        return;
    }
    let ratio = (a[j * size + j] - a[i * size + i]) / (2.0 * common);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    let sine = tangent * cosine;
    for k in 0..size {
        let (x, y) = (a[k * size + i], a[k * size + j]);
        (a[k * size + i], a[k * size + j]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    for k in 0..size {
        let (x, y) = (a[i * size + k], a[j * size + k]);
        (a[i * size + k], a[j * size + k]) = (cosine * x - sine * y, sine * x + cosine * y);
        let (x, y) = (vectors[k * size + i], vectors[k * size + j]);
        (vectors[k * size + i], vectors[k * size + j]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
}

#[cfg(test)]
mod tests {
    use super::symmetric_eigen;

    #[test]
    fn the_matrix_is_rebuilt_from_its_parts() {
        let size = 7;
        let entry =
            |i: usize, j: usize| ((i * j + i + j) as f64 * 0.7).sin() + if i == j { 2.0 } else { 0.0 };
        let matrix: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
        let pairs = symmetric_eigen(size, &matrix);
        assert!(pairs.is_sorted_by(|a, b| a.0 >= b.0));
        for i in 0..size {
            for j in 0..size {
                let rebuilt: f64 = pairs.iter().map(|(value, vector)| value * vector[i] * vector[j]).sum();
                assert!((rebuilt - matrix[i * size + j]).abs() < 1e-13, "({i}, {j})");
                let product: f64 = (0..size).map(|k| pairs[i].1[k] * pairs[j].1[k]).sum();
                assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn equal_eigenvalues_and_zeros_are_fine() {
        let pairs = symmetric_eigen(3, &[0.0; 9]);
        assert!(pairs.iter().all(|(value, _)| *value == 0.0));
        let ones = symmetric_eigen(2, &[1.0, 1.0, f64::NAN, 1.0]);
        assert!((ones[0].0 - 2.0).abs() < 1e-15 && ones[1].0.abs() < 1e-15);
    }
}
