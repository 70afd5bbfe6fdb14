//! The operations of the covariance form, for states of any shape.

use super::arithmetic::Arithmetic;
use super::blocks::{
    add_noise, conjugate, conjugate_transposed, transition_times_vector, transition_transposed_times_vector,
};
use super::dense::{add_scaled, copy_upper_to_lower, dot, vector_times_columns, vector_times_matrix};
use super::shape::Shape;

/// A row of weights h, by which an output reads the state.
#[derive(Clone, Copy)]
pub(crate) struct ReadoutRow<'a> {
    /// One weight per entry that can be read, zeros included.
    pub(crate) weights: &'a [f64],
    /// The entries whose weight can differ from zero; `None` if all can.
    pub(crate) touched: Option<&'a [u32]>,
}

/// The measurement update by one observation of unit noise, without its gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Update {
    /// v, the observed minus the predicted value.
    pub(crate) innovation: f64,
    /// hᵀPh, the predictive variance S without the noise, which is 1.
    pub(crate) signal: f64,
    /// 1/S.
    pub(crate) inverse: f64,
}

/// The update of the adjoint by one observation of unit noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AdjointUpdate {
    /// u, the posterior mean of the observation's noise.
    pub(crate) residual: f64,
    /// kᵀNk, the reduction by later observations of the variance of what this one observes.
    pub(crate) explained: f64,
}

/// A step's transition, and the derivatives of transition and noise in each slot's parameters, one set
/// after the other.
#[derive(Clone, Copy)]
pub(crate) struct StepDerivatives<'a> {
    pub(crate) transition: &'a [f64],
    pub(crate) transition_derivatives: &'a [f64],
    pub(crate) noise_derivatives: &'a [f64],
}

/// Operations on states of one shape. The default methods serve every shape; [`super::lanes`] and [`super::packed`] have faster ones.
pub(crate) trait StateAlgebra: Shape {
    /// How many numbers a covariance takes. Only these operations know the layouts of covariance and adjoint: for small states
    /// neither is a row-major square.
    #[inline(always)]
    fn covariance_len(self) -> usize {
        self.size() * self.size()
    }

    /// How many values are read: known at compile time for small states.
    #[inline(always)]
    fn n_values(self, n_values: usize) -> usize {
        n_values
    }

    /// Whether the list of touched slots of a readout row is used.
    #[inline(always)]
    fn skips_untouched(self) -> bool {
        true
    }

    /// Removes the rounding difference between the two triangles of a covariance.
    #[inline(always)]
    fn symmetrize_covariance(self, covariance: &mut [f64]) {
        copy_upper_to_lower(self.size(), covariance);
    }

    /// The same for the adjoint matrix N.
    #[inline(always)]
    fn symmetrize_adjoint(self, matrix: &mut [f64]) {
        copy_upper_to_lower(self.size(), matrix);
    }

    /// Writes a row-major square as a covariance.
    #[inline(always)]
    fn pack_covariance(self, square: &[f64], covariance: &mut [f64]) {
        covariance[..self.covariance_len()].copy_from_slice(square);
    }

    /// Writes a covariance as a row-major square.
    #[inline(always)]
    fn unpack_covariance(self, covariance: &[f64], square: &mut [f64]) {
        square.copy_from_slice(&covariance[..self.covariance_len()]);
    }

    /// Writes a row-major square as N.
    #[inline(always)]
    fn pack_adjoint(self, square: &[f64], matrix: &mut [f64]) {
        matrix[..self.size() * self.size()].copy_from_slice(square);
    }

    /// Writes N as a row-major square.
    #[inline(always)]
    fn unpack_adjoint(self, matrix: &[f64], square: &mut [f64]) {
        square.copy_from_slice(&matrix[..self.size() * self.size()]);
    }

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

    /// `out = A x`.
    #[inline(always)]
    fn advance<A: Arithmetic>(self, transition: &[f64], x: &[f64], out: &mut [f64]) {
        transition_times_vector::<A, Self>(self, transition, x, out);
    }

    /// `out = P h`; P is symmetric, so its rows are its columns.
    #[inline(always)]
    fn read<A: Arithmetic>(self, row: ReadoutRow<'_>, matrix: &[f64], out: &mut [f64]) {
        let size = self.size();
        let out = &mut out[..size];
        match row.touched {
            None => vector_times_matrix::<A>(&row.weights[..self.readable()], matrix, out),
            Some(slots) => {
                out.fill(0.0);
                for &slot in slots {
                    let slot = slot as usize;
                    add_scaled::<A>(row.weights[slot], &matrix[slot * size..][..size], out);
                }
            }
        }
    }

    /// `out = xᵀN`.
    #[inline(always)]
    fn product<A: Arithmetic>(self, x: &[f64], matrix: &[f64], out: &mut [f64]) {
        vector_times_matrix::<A>(&x[..self.size()], matrix, &mut out[..self.size()]);
    }

    /// `out = xᵀP`.
    #[inline(always)]
    fn covariance_times<A: Arithmetic>(self, x: &[f64], covariance: &[f64], out: &mut [f64]) {
        self.product::<A>(x, covariance, out);
    }

    /// The entries of `xᵀP` that can be read.
    #[inline(always)]
    fn product_with_values<A: Arithmetic>(self, x: &[f64], matrix: &[f64], out: &mut [f64]) {
        vector_times_columns::<A>(&x[..self.size()], matrix, self.size(), &mut out[..self.readable()]);
    }

    /// `xᵀy`.
    #[inline(always)]
    fn inner<A: Arithmetic>(self, x: &[f64], y: &[f64]) -> f64 {
        dot::<A>(&x[..self.size()], &y[..self.size()])
    }

    /// `hᵀx`.
    #[inline(always)]
    fn read_vector<A: Arithmetic>(self, row: ReadoutRow<'_>, x: &[f64]) -> f64 {
        dot::<A>(&row.weights[..self.readable()], &x[..self.readable()])
    }

    /// Conditions (m, P) on `value = hᵀz + ε` of unit noise; leaves the gain `k = P h/S` in `gain`.
    #[inline(always)]
    fn condition<A: Arithmetic>(
        self,
        row: ReadoutRow<'_>,
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        gain: &mut [f64],
    ) -> Update {
        let size = self.size();
        let gain = &mut gain[..size];
        self.read::<A>(row, covariance, gain);
        let signal = self.read_vector::<A>(row, gain);
        let innovation = value - self.read_vector::<A>(row, mean);
        let inverse = (1.0 + signal).recip();
        add_scaled::<A>(innovation * inverse, gain, &mut mean[..size]);
        for i in 0..size {
            add_scaled::<A>(-(inverse * gain[i]), gain, &mut covariance[i * size..][..size]);
        }
        for entry in gain {
            *entry *= inverse;
        }
        Update { innovation, signal, inverse }
    }

    /// Carries the adjoint (r, N) back over an observation. With gain k, `u = v/S − kᵀr` and `d = 1/S + kᵀNk`:
    ///
    /// ```text
    /// r ← r + u h,   N ← (I − hkᵀ) N (I − khᵀ) + hhᵀ/S = N − h(Nk)ᵀ − (Nk)hᵀ + d hhᵀ
    /// ```
    ///
    /// Leaves N k, with N before the update, in `projected`.
    #[inline(always)]
    fn update_adjoint<A: Arithmetic>(
        self,
        row: ReadoutRow<'_>,
        (gain, update): (&[f64], Update),
        (vector, matrix): (&mut [f64], &mut [f64]),
        projected: &mut [f64],
        scratch: &mut [f64],
    ) -> AdjointUpdate {
        let (size, width) = (self.size(), self.readable());
        let projected = &mut projected[..size];
        self.product::<A>(gain, matrix, projected);
        let explained = self.inner::<A>(gain, projected);
        let residual = update.innovation * update.inverse - self.inner::<A>(gain, vector);
        let half = -0.5 * (update.inverse + explained);
        let loss = &mut scratch[..size];
        loss.copy_from_slice(projected);
        add_scaled::<A>(half, &row.weights[..width], &mut loss[..width]);
        add_scaled::<A>(residual, &row.weights[..width], &mut vector[..width]);
        for i in 0..size {
            add_scaled::<A>(-loss[i], &row.weights[..width], &mut matrix[i * size..][..width]);
        }
        for i in 0..width {
            add_scaled::<A>(-row.weights[i], loss, &mut matrix[i * size..][..size]);
        }
        AdjointUpdate { residual, explained }
    }

    /// `r ← Aᵀr`, `N ← AᵀNA`.
    #[inline(always)]
    fn retreat<A: Arithmetic>(
        self,
        transition: &[f64],
        (vector, matrix): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) {
        let size = self.size();
        transition_transposed_times_vector::<A, Self>(self, transition, vector, scratch);
        vector[..size].copy_from_slice(&scratch[..size]);
        conjugate_transposed::<A, Self>(self, transition, matrix, scratch);
    }

    /// The same, and adds the gradient in the step to the sums of each slot: with (m, P) the
    /// filtered Gaussian before the step and `mean = m + P Aᵀr` the posterior mean there, which is left in `smoothed`,
    ///
    /// ```text
    /// ∂/∂Q = ½(rrᵀ − N),   ∂/∂A = r·meanᵀ − (P AᵀN)ᵀ
    /// ```
    #[inline(always)]
    fn retreat_with_gradient<A: Arithmetic>(
        self,
        step: StepDerivatives<'_>,
        (vector, matrix): (&mut [f64], &mut [f64]),
        (mean, covariance): (&[f64], &[f64]),
        (smoothed, sums): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) {
        let (size, width, parts) = (self.size(), self.width(), self.n_parts());
        add_noise_gradient::<A, Self>(self, step.noise_derivatives, (vector, matrix), sums);
        let (before, product) = scratch.split_at_mut(size);
        transition_transposed_times_vector::<A, Self>(self, step.transition, vector, before);
        self.product::<A>(before, covariance, smoothed);
        add_scaled::<A>(1.0, &mean[..size], &mut smoothed[..size]);
        // Entry (i, j) of N A P, for i and j of one slot: row i of N A times column j of P.
        for c in 0..parts {
            for s in 0..self.len(c) {
                let i = self.offset(c) + s;
                let row = &mut product[..size];
                transition_transposed_times_vector::<A, Self>(
                    self,
                    step.transition,
                    &matrix[i * size..][..size],
                    row,
                );
                for d in 0..parts {
                    if s < self.len(d) {
                        let j = self.offset(d) + s;
                        let loss = dot::<A>(row, &covariance[j * size..][..size]);
                        let excess = vector[i] * smoothed[j] - loss;
                        let sets = step.transition_derivatives.chunks_exact(parts * parts * width);
                        for (derivatives, sums) in sets.zip(sums.chunks_exact_mut(width)) {
                            sums[s] += derivatives[(c * parts + d) * width + s] * excess;
                        }
                    }
                }
            }
        }
        vector[..size].copy_from_slice(before);
        conjugate_transposed::<A, Self>(self, step.transition, matrix, product);
    }

    /// The posterior of the first `n_values` values: the mean `m + Xᵀr` and `V = P − XᵀNX`, in rows as long as the prefix that can be
    /// read; X is the first rows of P.
    #[inline(always)]
    fn posterior_of_values<A: Arithmetic>(
        self,
        n_values: usize,
        (mean, covariance): (&[f64], &[f64]),
        (vector, matrix): (&[f64], &[f64]),
        products: &mut [f64],
        (value_mean, value_covariance): (&mut [f64], &mut [f64]),
    ) {
        let (size, width) = (self.size(), self.readable());
        let value_mean = &mut value_mean[..width];
        vector_times_columns::<A>(&vector[..size], covariance, size, value_mean);
        for b in 0..width {
            value_mean[b] += mean[b];
        }
        let product = &mut products[..size];
        for b in 0..n_values {
            let column = &covariance[b * size..][..size];
            vector_times_matrix::<A>(column, matrix, product);
            let target = &mut value_covariance[b * width..][..width];
            vector_times_columns::<A>(product, covariance, size, target);
            for other in 0..width {
                target[other] = column[other] - target[other];
            }
        }
    }
}

/// Adds `½(rrᵀ − N)`, contracted with each set of derivatives of a step's process noise; an off-diagonal slice counts twice.
#[inline(always)]
pub(crate) fn add_noise_gradient<A: Arithmetic, S: Shape>(
    shape: S,
    derivatives: &[f64],
    (vector, matrix): (&[f64], &[f64]),
    sums: &mut [f64],
) {
    let (size, width, parts) = (shape.size(), shape.width(), shape.n_parts());
    let sets = derivatives.chunks_exact(parts * (parts + 1) / 2 * width);
    for (derivatives, sums) in sets.zip(sums.chunks_exact_mut(width)) {
        for c in 0..parts {
            for d in 0..=c {
                let share = if c == d { 0.5 } else { 1.0 };
                let derivative = &derivatives[(c * (c + 1) / 2 + d) * width..][..width];
                for s in 0..shape.len(c) {
                    let (i, j) = (shape.offset(c) + s, shape.offset(d) + s);
                    let excess = A::mul_add(vector[i], vector[j], -matrix[i * size + j]);
                    sums[s] += share * derivative[s] * excess;
                }
            }
        }
    }
}
