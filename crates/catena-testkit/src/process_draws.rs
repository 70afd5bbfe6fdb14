//! Exact draws of a stationary process with unit variance: along a line by its state space, anywhere by a Cholesky factor.
//!
//! No structure, graph or sweep is used: the draws are independent of the code under test.

use crate::reference::{DoubleDouble, drift, matrix_exponential, stationary_covariance};
use catena::data::InputPoints;
use catena::kernel::Kernel;
use catena::units::LengthScale;

use crate::random::SeededDraws;

/// A Matérn process at increasing coordinates: z ← A z + q with A = exp(F u) and Cov q = P∞ − A P∞ Aᵀ in 32 digits, so that
/// the difference keeps its digits for short steps.
///
/// # Panics
/// If the kernel has no state space.
pub fn draw_on_line(
    kernel: Kernel,
    length_scale: LengthScale,
    coordinates: &[f64],
    draws: &mut SeededDraws,
) -> Vec<f64> {
    let (drift, stationary) = (drift(kernel).unwrap(), stationary_covariance(kernel).unwrap());
    let dim = drift.len().isqrt();
    let rate = kernel.rate(length_scale);
    let mut normals = || -> Vec<f64> { (0..dim).map(|_| draws.normal()).collect() };
    let mut state = times(&lower_factor(dim, to_f64(&stationary)), &normals());
    let mut values = vec![state[0]];
    // Even spacing repeats the same step.
    let mut latest: Option<(f64, Vec<f64>, Vec<f64>)> = None;
    for pair in coordinates.windows(2) {
        let gap = pair[1] - pair[0];
        if latest.as_ref().is_none_or(|(of, ..)| *of != gap) {
            let transition = matrix_exponential(&drift, DoubleDouble::new(rate * gap));
            let noise = lower_factor(dim, to_f64(&process_noise(dim, &transition, &stationary)));
            latest = Some((gap, to_f64(&transition), noise));
        }
        if let Some((_, transition, noise)) = &latest {
            let pushed = times(noise, &normals());
            state = times(transition, &state).iter().zip(pushed).map(|(moved, push)| moved + push).collect();
        }
        values.push(state[0]);
    }
    values
}

/// Independent draws of one process at points of any dimension, from the Cholesky factor of κ(|x_i − x_j|).
///
/// Cost O(C³): for up to about 1500 points.
///
/// # Panics
/// If the covariance is singular to rounding, for example with duplicate points.
pub fn draw_in_space(
    kernel: Kernel,
    length_scale: LengthScale,
    points: &InputPoints,
    n_draws: usize,
    draws: &mut SeededDraws,
) -> Vec<Vec<f64>> {
    let n_rows = points.n_rows();
    let rate = kernel.rate(length_scale);
    let mut covariance = vec![0.0; n_rows * n_rows];
    for (i, a) in points.rows().enumerate() {
        for (j, b) in points.rows().enumerate().take(i + 1) {
            covariance[i * n_rows + j] = kernel.correlation(rate * points.squared_distance(a, b).sqrt());
        }
    }
    let factor = lower_factor(n_rows, covariance);
    (0..n_draws).map(|_| times(&factor, &(0..n_rows).map(|_| draws.normal()).collect::<Vec<f64>>())).collect()
}

/// P∞ − A P∞ Aᵀ.
fn process_noise(dim: usize, transition: &[DoubleDouble], stationary: &[DoubleDouble]) -> Vec<DoubleDouble> {
    let moved = |i: usize, j: usize| -> DoubleDouble {
        (0..dim * dim)
            .map(|at| transition[i * dim + at / dim] * stationary[at] * transition[j * dim + at % dim])
            .sum()
    };
    (0..dim * dim).map(|at| stationary[at] - moved(at / dim, at % dim)).collect()
}

/// The lower Cholesky factor of a row-major symmetric matrix, of which the lower triangle is read.
fn lower_factor(dim: usize, mut matrix: Vec<f64>) -> Vec<f64> {
    for i in 0..dim {
        for j in 0..i {
            let (above, row) = matrix.split_at_mut(i * dim);
            let known: f64 = row[..j].iter().zip(&above[j * dim..j * dim + j]).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - known) / above[j * dim + j];
        }
        let row = &mut matrix[i * dim..(i + 1) * dim];
        let left = row[i] - row[..i].iter().map(|entry| entry * entry).sum::<f64>();
        assert!(left >= 0.0, "the covariance of the drawn process is singular at point {i}");
        row[i] = left.sqrt();
        row[i + 1..].fill(0.0);
    }
    matrix
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len()).map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

fn to_f64(numbers: &[DoubleDouble]) -> Vec<f64> {
    numbers.iter().map(|number| number.to_f64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_DRAWS: usize = 20_000;

    /// An average of 20 000 products of unit normals has a standard error of at most √2/√20000 = 0.01; five are allowed.
    fn check(kernel: Kernel, length_scale: LengthScale, points: &InputPoints, drawn: &[Vec<f64>]) {
        let n_rows = points.n_rows();
        for (i, a) in points.rows().enumerate() {
            for (j, b) in points.rows().enumerate() {
                let sum: f64 = drawn.iter().map(|values| values[i] * values[j]).sum();
                let distance = points.squared_distance(a, b).sqrt();
                let expected = kernel.correlation(kernel.rate(length_scale) * distance);
                let found = sum / N_DRAWS as f64;
                assert!((found - expected).abs() < 0.05, "{kernel:?} {i} {j}: {found}, not {expected}");
            }
        }
        assert!(drawn.iter().all(|values| values.len() == n_rows));
    }

    #[test]
    fn a_line_has_the_covariance_of_its_kernel() {
        let coordinates = vec![0.0, 0.5, 1.0, 1.2, 4.0];
        let points = InputPoints::from_column(coordinates.clone()).unwrap();
        let length_scale = LengthScale::new(1.5).unwrap();
        for kernel in [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52] {
            let mut draws = SeededDraws::new(1);
            let drawn: Vec<Vec<f64>> =
                (0..N_DRAWS).map(|_| draw_on_line(kernel, length_scale, &coordinates, &mut draws)).collect();
            check(kernel, length_scale, &points, &drawn);
        }
    }

    #[test]
    fn space_has_the_covariance_of_its_kernel() {
        let points = InputPoints::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.3, 0.4, -1.0, 2.0]).unwrap();
        let length_scale = LengthScale::new(0.8).unwrap();
        for kernel in [Kernel::Matern12, Kernel::Matern52] {
            let drawn = draw_in_space(kernel, length_scale, &points, N_DRAWS, &mut SeededDraws::new(2));
            check(kernel, length_scale, &points, &drawn);
        }
    }
}
