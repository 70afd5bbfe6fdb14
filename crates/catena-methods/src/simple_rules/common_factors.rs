//! A covariance of few common factors and what they leave of each variance.

/// The smallest fraction of an output's variance that the factors leave.
const LEAST_UNIQUE: f64 = 0.02;
/// Iterations of the subspace iteration for the leading axes.
const AXIS_ITERATIONS: usize = 30;

/// The covariance of the leading axes plus what they leave of each variance.
pub(super) fn with_factors(size: usize, covariance: &[f64], n_factors: usize) -> Vec<f64> {
    let axes = leading_axes(size, covariance, n_factors);
    let mut common = vec![0.0; size * size];
    for axis in &axes {
        let image: Vec<f64> = (0..size).map(|row| dot(&covariance[row * size..][..size], axis)).collect();
        let variance = dot(axis, &image).max(0.0);
        for (at, entry) in common.iter_mut().enumerate() {
            *entry += variance * axis[at / size] * axis[at % size];
        }
    }
    for output in 0..size {
        let diagonal = output * (size + 1);
        let unique = (covariance[diagonal] - common[diagonal]).max(LEAST_UNIQUE * covariance[diagonal]);
        common[diagonal] += unique;
    }
    common
}

/// Orthonormal vectors of the leading eigenspace, by subspace iteration.
fn leading_axes(size: usize, covariance: &[f64], count: usize) -> Vec<Vec<f64>> {
    // The starts are columns of the covariance, so that the result depends on the table only.
    let mut by_size: Vec<usize> = (0..size).collect();
    let norm =
        |column: usize| dot(&covariance[column * size..][..size], &covariance[column * size..][..size]);
    by_size.sort_by(|&a, &b| norm(b).total_cmp(&norm(a)));
    let mut axes: Vec<Vec<f64>> = by_size[..count.min(size)]
        .iter()
        .map(|&column| covariance[column * size..][..size].to_vec())
        .collect();
    for _ in 0..AXIS_ITERATIONS {
        for at in 0..axes.len() {
            let (before, rest) = axes.split_at_mut(at);
            let Some(axis) = rest.first_mut() else { continue };
            let mut image: Vec<f64> =
                (0..size).map(|row| dot(&covariance[row * size..][..size], axis)).collect();
            for other in before.iter() {
                let along = dot(other, &image);
                image.iter_mut().zip(other).for_each(|(entry, other)| *entry -= along * other);
            }
            let length = dot(&image, &image).sqrt();
            if length > 0.0 {
                image.iter_mut().for_each(|entry| *entry /= length);
            }
            *axis = image;
        }
    }
    axes
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_leave_the_variances_and_keep_the_leading_axis() {
        // One common factor exactly.
        let weights = [1.0, -0.5, 0.8, 0.2];
        let covariance: Vec<f64> = (0..16)
            .map(|at| weights[at / 4] * weights[at % 4] + if at / 4 == at % 4 { 0.3 } else { 0.0 })
            .collect();
        let found = with_factors(4, &covariance, 1);
        for at in 0..4 {
            assert!((found[at * 5] - covariance[at * 5]).abs() < 1e-9);
        }
        assert!((found[1] / found[2] - covariance[1] / covariance[2]).abs() < 1e-6);
    }
}
