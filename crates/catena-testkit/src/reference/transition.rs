//! Kernels in 32 digits, from their definitions: drift of the companion form, matrix exponential, ρ and P∞.

use catena::kernel::Kernel;

use super::DoubleDouble;

/// A square matrix, row-major.
pub(super) type Square = Vec<DoubleDouble>;

/// The exponent p of a Matérn-(p + 1/2) kernel, `None` for other kernels.
fn matern_order(kernel: Kernel) -> Option<usize> {
    match kernel {
        Kernel::Matern12 => Some(0),
        Kernel::Matern32 => Some(1),
        Kernel::Matern52 => Some(2),
        Kernel::SquaredExponential => None,
    }
}

/// The factor from distance to `u`: √(2p + 1)/ℓ for Matérn-(p + 1/2), 1/ℓ for the squared exponential.
pub fn rate(kernel: Kernel, length_scale: DoubleDouble) -> DoubleDouble {
    let degrees = matern_order(kernel).map_or(1, |order| 2 * order + 1);
    DoubleDouble::new(degrees as f64).sqrt() / length_scale
}

/// The correlation ρ(u) by its definition.
pub fn correlation(kernel: Kernel, u: DoubleDouble) -> DoubleDouble {
    let one = DoubleDouble::ONE;
    match kernel {
        Kernel::Matern12 => (-u).exp(),
        Kernel::Matern32 => (-u).exp() * (one + u),
        Kernel::Matern52 => (-u).exp() * (one + u + u * u / DoubleDouble::new(3.0)),
        Kernel::SquaredExponential => (-(u * u).times_power_of_two(-1)).exp(),
    }
}

/// The drift of (g, g', …, g^(p)) in the normalized time: the companion matrix of (s + 1)^(p+1). `None` for kernels
/// without derivative states.
pub fn drift(kernel: Kernel) -> Option<Vec<f64>> {
    let dim = matern_order(kernel)? + 1;
    let mut drift = vec![0.0; dim * dim];
    for row in 1..dim {
        drift[(row - 1) * dim + row] = 1.0;
    }
    let mut binomial = 1.0;
    for power in 0..dim {
        drift[(dim - 1) * dim + power] = -binomial;
        binomial *= (dim - power) as f64 / (power + 1) as f64;
    }
    Some(drift)
}

/// P∞ of (g, g', …): `Cov(g^(i), g^(j)) = (−1)^j ρ^(i+j)(0)`, from the Taylor series of ρ.
pub fn stationary_covariance(kernel: Kernel) -> Option<Vec<DoubleDouble>> {
    let dim = matern_order(kernel)? + 1;
    let third = DoubleDouble::ONE / DoubleDouble::new(3.0);
    // e^−u (1 + u) = 1 − u²/2 + …, and e^−u (1 + u + u²/3) = 1 − u²/6 + u⁴/24 + …
    let derivatives = match dim {
        1 => vec![DoubleDouble::ONE],
        2 => vec![DoubleDouble::ONE, DoubleDouble::ZERO, -DoubleDouble::ONE],
        _ => vec![DoubleDouble::ONE, DoubleDouble::ZERO, -third, DoubleDouble::ZERO, DoubleDouble::ONE],
    };
    let entry = |i: usize, j: usize| if j % 2 == 1 { -derivatives[i + j] } else { derivatives[i + j] };
    Some((0..dim * dim).map(|at| entry(at / dim, at % dim)).collect())
}

/// exp(F u), row-major, for a drift that decays.
pub fn matrix_exponential(drift: &[f64], u: DoubleDouble) -> Vec<DoubleDouble> {
    let drift: Square = drift.iter().map(|&entry| DoubleDouble::new(entry)).collect();
    // Every drift here decays like e^−u times a power of u: beyond 800 the result underflows.
    if u.to_f64() > 800.0 {
        return vec![DoubleDouble::ZERO; drift.len()];
    }
    exponential_series(&drift, u)
}

/// exp(F u), row-major, by a Taylor series of F u/2^k and k squarings.
pub(super) fn exponential_series(drift: &[DoubleDouble], u: DoubleDouble) -> Square {
    let dim = drift.len().isqrt();
    let size =
        drift.iter().map(|entry| entry.to_f64().abs()).fold(0.0, f64::max) * dim as f64 * u.to_f64().abs();
    let squarings = if size > 0.01 { (size / 0.01).log2().ceil() as i32 } else { 0 };
    let small: Square = drift.iter().map(|&f| (f * u).times_power_of_two(-squarings)).collect();
    let mut term = small.clone();
    let mut exponential = small.clone();
    for component in 0..dim {
        exponential[component * dim + component] += DoubleDouble::ONE;
    }
    for degree in 2..=16 {
        let divisor = DoubleDouble::new(f64::from(degree));
        term = product(&term, &small, dim).into_iter().map(|entry| entry / divisor).collect();
        exponential.iter_mut().zip(&term).for_each(|(entry, &more)| *entry += more);
    }
    for _ in 0..squarings {
        exponential = product(&exponential, &exponential, dim);
    }
    exponential
}

/// The product of two square matrices.
pub(super) fn product(a: &[DoubleDouble], b: &[DoubleDouble], dim: usize) -> Square {
    let entry = |i: usize, j: usize| (0..dim).map(|k| a[i * dim + k] * b[k * dim + j]).sum();
    (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
}
