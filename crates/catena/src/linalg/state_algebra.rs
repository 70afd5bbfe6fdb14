//! The operations that a covariance sweep is made of, for states of any shape.

use super::arithmetic::Arithmetic;
use super::blocks::{add_noise, conjugate, conjugate_transposed};
use super::dense::{add_scaled, dot, vector_times_columns, vector_times_matrix};
use super::shape::Shape;

/// Operations on states of one shape. What is written here serves every shape; shapes of whole lanes have their own
/// version of it ([`super::lanes`]).
pub(crate) trait StateAlgebra: Shape {
    /// `out = A P Aᵀ + Q`.
    #[inline(always)]
    fn predict<A: Arithmetic>(
        self,
        (transition, noise): (&[f64], &[f64]),
        covariance: &[f64],
        out: &mut [f64],
        scratch: &mut [f64],
    ) {
        conjugate::<A, Self>(self, transition, covariance, out, scratch);
        add_noise(self, noise, out);
    }

    /// `N ← Aᵀ N A`.
    #[inline(always)]
    fn retreat<A: Arithmetic>(self, transition: &[f64], matrix: &mut [f64], scratch: &mut [f64]) {
        conjugate_transposed::<A, Self>(self, transition, matrix, scratch);
    }

    /// Conditions (m, P) on `value = hᵀz + ε` of unit noise, where h reads the values by `weights`; returns the
    /// surprise and the predictive variance.
    #[inline(always)]
    fn condition<A: Arithmetic>(
        self,
        weights: &[f64],
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) -> (f64, f64) {
        vector_times_matrix::<A>(&weights[..self.width()], covariance, &mut scratch[..self.size()]);
        self.condition_on_gain::<A>(weights, value, (mean, covariance), scratch)
    }

    /// The same, with `P h` in `gain` already.
    #[inline(always)]
    fn condition_on_gain<A: Arithmetic>(
        self,
        weights: &[f64],
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        gain: &[f64],
    ) -> (f64, f64) {
        let (size, width) = (self.size(), self.width());
        let gain = &gain[..size];
        let variance = 1.0 + dot::<A>(&weights[..width], &gain[..width]);
        let surprise = value - dot::<A>(&weights[..width], &mean[..width]);
        let inverse = variance.recip();
        add_scaled::<A>(surprise * inverse, gain, &mut mean[..size]);
        for i in 0..size {
            add_scaled::<A>(-(inverse * gain[i]), gain, &mut covariance[i * size..][..size]);
        }
        (surprise, variance)
    }

    /// The posterior of the first `n_values` values from filtered moments (m, P) and the dual (r, N): U = N X in
    /// `products`, the mean `m + Xᵀr`, and `V = P − XᵀU` in rows of `width`; X is the first rows of P.
    #[inline(always)]
    fn posterior_of_values<A: Arithmetic>(
        self,
        n_values: usize,
        (mean, covariance): (&[f64], &[f64]),
        (vector, matrix): (&[f64], &[f64]),
        products: &mut [f64],
        (value_mean, value_covariance): (&mut [f64], &mut [f64]),
    ) {
        let (size, width) = (self.size(), self.width());
        let value_mean = &mut value_mean[..width];
        vector_times_columns::<A>(&vector[..size], covariance, size, value_mean);
        for b in 0..width {
            value_mean[b] += mean[b];
        }
        for b in 0..n_values {
            let column = &covariance[b * size..][..size];
            let product = &mut products[b * size..][..size];
            vector_times_matrix::<A>(column, matrix, product);
            let target = &mut value_covariance[b * width..][..width];
            vector_times_columns::<A>(product, covariance, size, target);
            for other in 0..width {
                target[other] = column[other] - target[other];
            }
        }
    }

    /// `N ← N − (UΛ)Bᵀ − B(UΛ)ᵀ + B(Λ − ΛVΛ)Bᵀ`, with B the columns of the identity that belong to the values.
    #[inline(always)]
    fn absorb<A: Arithmetic>(
        self,
        n_values: usize,
        information: &[f64],
        (products, value_covariance): (&[f64], &[f64]),
        matrix: &mut [f64],
        scratch: &mut [f64],
    ) {
        let (size, width) = (self.size(), self.width());
        let (combined, rest) = scratch.split_at_mut(size);
        let (weighted, rest) = rest.split_at_mut(width);
        let second = &mut rest[..width];
        for b in 0..n_values {
            let lambda = &information[b * width..][..n_values];
            // Row b of (UΛ)ᵀ leaves row b of N, and column b.
            vector_times_matrix::<A>(lambda, products, combined);
            for j in 0..size {
                matrix[b * size + j] -= combined[j];
            }
            for j in 0..size {
                matrix[j * size + b] -= combined[j];
            }
            // Row b of ΛV, then of Λ − ΛVΛ.
            vector_times_matrix::<A>(lambda, value_covariance, weighted);
            vector_times_matrix::<A>(&weighted[..n_values], information, second);
            for other in 0..width {
                matrix[b * size + other] += information[b * width + other] - second[other];
            }
        }
    }

    /// Adds to each slot's sum the slope of the evidence in its step: with (r, N) the dual at the far end and (m, P) the
    /// filtered moments at the near end, `∂/∂Q = ½(rrᵀ − N)` and `∂/∂A = r mᵀ + (rrᵀ − N) A P`, met with the slopes
    /// (dA, dQ).
    #[inline(always)]
    fn add_step_slopes<A: Arithmetic>(
        self,
        (transition, slopes): (&[f64], (&[f64], &[f64])),
        (vector, matrix): (&[f64], &[f64]),
        (mean, covariance): (&[f64], &[f64]),
        sums: &mut [f64],
        scratch: &mut [f64],
    ) {
        let (size, width, parts) = (self.size(), self.width(), self.n_parts());
        add_noise_slopes::<A, Self>(self, slopes.1, (vector, matrix), sums);
        let (row, excess) = scratch.split_at_mut(size);
        let excess = &mut excess[..size];
        let mut add = |c: usize, d: usize, left: &[f64], right: &[f64]| {
            let slope = &slopes.0[(c * parts + d) * width..][..width];
            for s in 0..self.len(c).min(self.len(d)) {
                let product = left[self.offset(c) + s] * right[self.offset(d) + s];
                sums[s] = A::mul_add(product, slope[s], sums[s]);
            }
        };
        for at in 0..parts * parts {
            add(at / parts, at % parts, vector, mean);
        }
        // Row k of A P combines rows of P; entry by entry over the slots it meets row k of rrᵀ − N.
        for part in 0..parts {
            for slot in 0..self.len(part) {
                let k = self.offset(part) + slot;
                row.fill(0.0);
                for from in 0..parts {
                    if slot < self.len(from) {
                        let a = transition[(part * parts + from) * width + slot];
                        add_scaled::<A>(a, &covariance[(self.offset(from) + slot) * size..][..size], row);
                    }
                }
                let dual_row = &matrix[k * size..][..size];
                for j in 0..size {
                    excess[j] = A::mul_add(vector[k], vector[j], -dual_row[j]);
                }
                for at in 0..parts * parts {
                    add(at / parts, at % parts, excess, row);
                }
            }
        }
    }
}

/// Adds `½(rrᵀ − N)`, met with the slope of a step's process noise; an off-diagonal slice stands for both its places.
#[inline(always)]
pub(crate) fn add_noise_slopes<A: Arithmetic, S: Shape>(
    shape: S,
    slopes: &[f64],
    (vector, matrix): (&[f64], &[f64]),
    sums: &mut [f64],
) {
    let (size, width) = (shape.size(), shape.width());
    for c in 0..shape.n_parts() {
        for d in 0..=c {
            let share = if c == d { 0.5 } else { 1.0 };
            let slope = &slopes[(c * (c + 1) / 2 + d) * width..][..width];
            for s in 0..shape.len(c) {
                let (i, j) = (shape.offset(c) + s, shape.offset(d) + s);
                let excess = A::mul_add(vector[i], vector[j], -matrix[i * size + j]);
                sums[s] += share * slope[s] * excess;
            }
        }
    }
}
