//! Least-squares planes through the cells of an output.

use catena::data::InputPoints;
use catena::index::RowIndex;

/// Slopes of the least-squares plane, with a ridge that matters only for collinear inputs. The values have this mean and are in
/// the order of `unit`.
pub(super) fn least_squares(
    scaled: &InputPoints,
    cells: &[(RowIndex, f64)],
    mean: f64,
    unit: f64,
) -> Vec<f64> {
    let (dim, count) = (scaled.dim(), cells.len() as f64);
    let mut means = vec![0.0; dim];
    for (row, _) in cells {
        means.iter_mut().zip(scaled.point(*row)).for_each(|(mean, x)| *mean += x / count);
    }
    let mut normal = vec![0.0; dim * dim];
    let mut right = vec![0.0; dim];
    for (row, value) in cells {
        let point: Vec<f64> = scaled.point(*row).iter().zip(&means).map(|(x, mean)| x - mean).collect();
        for i in 0..dim {
            right[i] += point[i] * ((value - mean) / unit);
            for j in 0..dim {
                normal[i * dim + j] += point[i] * point[j];
            }
        }
    }
    solve_with_ridge(count, normal, right).into_iter().map(|slope| slope * unit).collect()
}

/// Slopes from the centered sums of products of `count` cells: inputs with inputs, and inputs with values.
pub(crate) fn solve_with_ridge(count: f64, mut normal: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let dim = right.len();
    (0..dim).for_each(|i| normal[i * dim + i] += 1e-6 * count);
    // Gaussian elimination without pivoting: the ridge makes the matrix positive definite.
    for k in 0..dim {
        for i in k + 1..dim {
            let factor = normal[i * dim + k] / normal[k * dim + k];
            for j in k..dim {
                normal[i * dim + j] -= factor * normal[k * dim + j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..dim).rev() {
        let known: f64 = (k + 1..dim).map(|j| normal[k * dim + j] * right[j]).sum();
        right[k] = (right[k] - known) / normal[k * dim + k];
    }
    right
}
