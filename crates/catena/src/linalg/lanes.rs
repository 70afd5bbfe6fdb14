//! The operations of the covariance form on whole vector lanes, for states whose parts are padded to them.
//!
//! A row of a matrix is `size/4` lanes. Sums over rows run over a few columns of lanes at a time, which stay in
//! registers. The generic version in `state_algebra` is slower on these shapes, so both are kept.

use super::arithmetic::Arithmetic;
use super::lane_steps::{Lanes, predict_parts, retreat_parts, transition_times};
use super::shape::{InLanes, Shape};
use super::state_algebra::{
    AdjointUpdate, ReadoutRow, StateAlgebra, StepDerivatives, Update, add_noise_gradient,
};

/// The first `count` lanes of a slice.
#[inline(always)]
fn lanes(numbers: &[f64], count: usize) -> &Lanes {
    &numbers.as_chunks::<4>().0[..count]
}

/// The same, mutable.
#[inline(always)]
fn lanes_mut(numbers: &mut [f64], count: usize) -> &mut Lanes {
    &mut numbers.as_chunks_mut::<4>().0[..count]
}

/// Calls `$function::<A, C>(arguments, first)` for columns of lanes `first..first + C` until all `$count` are done.
macro_rules! by_columns {
    ($count:expr, $function:ident::<$arithmetic:ident>($($argument:expr),*)) => {{
        let count = $count;
        let mut first = 0;
        while count - first >= 4 {
            $function::<$arithmetic, 4>($($argument,)* first);
            first += 4;
        }
        match count - first {
            1 => $function::<$arithmetic, 1>($($argument,)* first),
            2 => $function::<$arithmetic, 2>($($argument,)* first),
            3 => $function::<$arithmetic, 3>($($argument,)* first),
            _ => {}
        }
    }};
}

/// Columns `first..first + C` of `out = Σ_i x_i·(row i)`, rows of `stride` lanes; an even number of them.
#[inline(always)]
fn sum_rows<A: Arithmetic, const C: usize>(
    x: &[f64],
    rows: &Lanes,
    stride: usize,
    out: &mut Lanes,
    first: usize,
) {
    // Two sums per lane, so that additions overlap.
    let mut even = [A::splat(0.0); C];
    let mut odd = [A::splat(0.0); C];
    for (factors, pair) in x.as_chunks::<2>().0.iter().zip(rows.chunks_exact(2 * stride)) {
        let (top, bottom) = pair.split_at(stride);
        let (Some(top), Some(bottom)) = (top[first..].first_chunk::<C>(), bottom[first..].first_chunk::<C>())
        else {
            continue;
        };
        let (a, b) = (A::splat(factors[0]), A::splat(factors[1]));
        for j in 0..C {
            even[j] = A::mul_add_lanes(a, A::load(&top[j]), even[j]);
            odd[j] = A::mul_add_lanes(b, A::load(&bottom[j]), odd[j]);
        }
    }
    for j in 0..C {
        A::store(A::plus(even[j], odd[j]), &mut out[first + j]);
    }
}

/// The same over the rows of some slots.
#[inline(always)]
fn sum_some_rows<A: Arithmetic, const C: usize>(
    (weights, slots): (&[f64], &[u32]),
    rows: &Lanes,
    stride: usize,
    out: &mut Lanes,
    first: usize,
) {
    let mut sums = [A::splat(0.0); C];
    for &slot in slots {
        let slot = slot as usize;
        let Some(row) = rows[slot * stride + first..].first_chunk::<C>() else { continue };
        let factor = A::splat(weights[slot]);
        for j in 0..C {
            sums[j] = A::mul_add_lanes(factor, A::load(&row[j]), sums[j]);
        }
    }
    for j in 0..C {
        A::store(sums[j], &mut out[first + j]);
    }
}

/// Columns `first..first + C` of `row i −= factor·x_i·y`, rows of `stride` lanes.
#[inline(always)]
fn subtract_outer<A: Arithmetic, const C: usize>(
    factor: f64,
    x: &[f64],
    y: &Lanes,
    rows: &mut Lanes,
    stride: usize,
    first: usize,
) {
    let mut scaled = [A::splat(0.0); C];
    for j in 0..C {
        scaled[j] = A::times(A::splat(-factor), A::load(&y[first + j]));
    }
    for (&entry, row) in x.iter().zip(rows.chunks_exact_mut(stride)) {
        let Some(row) = row[first..].first_chunk_mut::<C>() else { continue };
        let entry = A::splat(entry);
        for j in 0..C {
            A::store(A::mul_add_lanes(entry, scaled[j], A::load(&row[j])), &mut row[j]);
        }
    }
}

/// `y += factor·x`, lane by lane.
#[inline(always)]
fn add_lanes<A: Arithmetic>(factor: f64, x: &Lanes, y: &mut Lanes) {
    let factor = A::splat(factor);
    for (x, y) in x.iter().zip(y) {
        A::store(A::mul_add_lanes(factor, A::load(x), A::load(y)), y);
    }
}

/// `Σ x·y`.
#[inline(always)]
fn inner_lanes<A: Arithmetic>(x: &Lanes, y: &Lanes) -> f64 {
    let mut even = A::splat(0.0);
    let mut odd = A::splat(0.0);
    let (x_pairs, x_rest) = x.as_chunks::<2>();
    let (y_pairs, y_rest) = y.as_chunks::<2>();
    for (x, y) in x_pairs.iter().zip(y_pairs) {
        even = A::mul_add_lanes(A::load(&x[0]), A::load(&y[0]), even);
        odd = A::mul_add_lanes(A::load(&x[1]), A::load(&y[1]), odd);
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        even = A::mul_add_lanes(A::load(x), A::load(y), even);
    }
    A::sum(A::plus(even, odd))
}

/// Calls a function compiled for the number of parts.
macro_rules! for_parts {
    ($shape:expr, $function:ident::<$arithmetic:ident, $shape_type:ident, _ $(, $flag:literal)?>($($argument:expr),*)) => {
        match $shape.n_parts() {
            1 => $function::<$arithmetic, $shape_type, 1 $(, $flag)?>($($argument),*),
            2 => $function::<$arithmetic, $shape_type, 2 $(, $flag)?>($($argument),*),
            _ => $function::<$arithmetic, $shape_type, 3 $(, $flag)?>($($argument),*),
        }
    };
}

impl<S: Shape> StateAlgebra for InLanes<S> {
    #[inline(always)]
    fn predict<A: Arithmetic>(
        self,
        (transition, noise): (&[f64], &[f64]),
        covariance: &[f64],
        out: &mut [f64],
        _scratch: &mut [f64],
    ) {
        let (size, width, parts) = (self.size(), self.width() / 4, self.n_parts());
        let step = (lanes(transition, parts * parts * width), lanes(noise, parts * (parts + 1) / 2 * width));
        let (p, out) = (lanes(covariance, size * size / 4), lanes_mut(out, size * size / 4));
        for_parts!(self, predict_parts::<A, Self, _>(self, step, p, out));
    }

    #[inline(always)]
    fn advance<A: Arithmetic>(self, transition: &[f64], x: &[f64], out: &mut [f64]) {
        let (size, width, parts) = (self.size() / 4, self.width() / 4, self.n_parts());
        let (a, x, out) = (lanes(transition, parts * parts * width), lanes(x, size), lanes_mut(out, size));
        for_parts!(self, transition_times::<A, Self, _, false>(self, a, x, out));
    }

    #[inline(always)]
    fn read<A: Arithmetic>(self, row: ReadoutRow<'_>, matrix: &[f64], out: &mut [f64]) {
        let (size, stride) = (self.size(), self.size() / 4);
        let (rows, out) = (lanes(matrix, size * stride), lanes_mut(out, stride));
        let weights = &row.weights[..self.readable()];
        match row.touched {
            None => by_columns!(stride, sum_rows::<A>(weights, rows, stride, out)),
            Some(slots) => by_columns!(stride, sum_some_rows::<A>((weights, slots), rows, stride, out)),
        }
    }

    #[inline(always)]
    fn product<A: Arithmetic>(self, x: &[f64], matrix: &[f64], out: &mut [f64]) {
        let (size, stride) = (self.size(), self.size() / 4);
        let (rows, out, x) = (lanes(matrix, size * stride), lanes_mut(out, stride), &x[..size]);
        by_columns!(stride, sum_rows::<A>(x, rows, stride, out));
    }

    #[inline(always)]
    fn product_with_values<A: Arithmetic>(self, x: &[f64], matrix: &[f64], out: &mut [f64]) {
        let (size, stride, width) = (self.size(), self.size() / 4, self.readable() / 4);
        let (rows, out, x) = (lanes(matrix, size * stride), lanes_mut(out, width), &x[..size]);
        by_columns!(width, sum_rows::<A>(x, rows, stride, out));
    }

    #[inline(always)]
    fn inner<A: Arithmetic>(self, x: &[f64], y: &[f64]) -> f64 {
        inner_lanes::<A>(lanes(x, self.size() / 4), lanes(y, self.size() / 4))
    }

    #[inline(always)]
    fn read_vector<A: Arithmetic>(self, row: ReadoutRow<'_>, x: &[f64]) -> f64 {
        inner_lanes::<A>(lanes(row.weights, self.readable() / 4), lanes(x, self.readable() / 4))
    }

    #[inline(always)]
    fn condition<A: Arithmetic>(
        self,
        row: ReadoutRow<'_>,
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        gain: &mut [f64],
    ) -> Update {
        let (size, stride) = (self.size(), self.size() / 4);
        self.read::<A>(row, covariance, gain);
        let signal = self.read_vector::<A>(row, gain);
        let innovation = value - self.read_vector::<A>(row, mean);
        let inverse = (1.0 + signal).recip();
        let p = lanes_mut(covariance, size * stride);
        let gain_lanes = lanes(gain, stride);
        add_lanes::<A>(innovation * inverse, gain_lanes, lanes_mut(mean, stride));
        by_columns!(stride, subtract_outer::<A>(inverse, &gain[..size], gain_lanes, p, stride));
        for entry in lanes_mut(gain, stride) {
            A::store(A::times(A::splat(inverse), A::load(entry)), entry);
        }
        Update { innovation, signal, inverse }
    }

    #[inline(always)]
    fn update_adjoint<A: Arithmetic>(
        self,
        row: ReadoutRow<'_>,
        (gain, update): (&[f64], Update),
        (vector, matrix): (&mut [f64], &mut [f64]),
        projected: &mut [f64],
        scratch: &mut [f64],
    ) -> AdjointUpdate {
        let (size, stride) = (self.size(), self.size() / 4);
        let (slots, width) = (self.readable(), self.readable() / 4);
        self.product::<A>(gain, matrix, projected);
        let explained = self.inner::<A>(gain, projected);
        let residual = update.innovation * update.inverse - self.inner::<A>(gain, vector);
        let half = -0.5 * (update.inverse + explained);
        let (weights, projected) = (lanes(row.weights, width), lanes(projected, stride));
        let loss = lanes_mut(scratch, stride);
        for (target, source) in loss.iter_mut().zip(projected) {
            *target = *source;
        }
        add_lanes::<A>(half, weights, &mut loss[..width]);
        add_lanes::<A>(residual, weights, lanes_mut(vector, width));
        let loss = lanes(scratch, stride);
        let n = lanes_mut(matrix, size * stride);
        by_columns!(width, subtract_outer::<A>(1.0, &scratch[..size], weights, n, stride));
        match row.touched {
            None => by_columns!(stride, subtract_outer::<A>(1.0, &row.weights[..slots], loss, n, stride)),
            Some(touched) => {
                for &slot in touched {
                    let slot = slot as usize;
                    add_lanes::<A>(-row.weights[slot], loss, &mut n[slot * stride..][..stride]);
                }
            }
        }
        AdjointUpdate { residual, explained }
    }

    #[inline(always)]
    fn retreat<A: Arithmetic>(
        self,
        transition: &[f64],
        (vector, matrix): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) {
        let (size, stride) = (self.size(), self.size() / 4);
        let (width, parts) = (self.width() / 4, self.n_parts());
        let (a, n) = (lanes(transition, parts * parts * width), lanes_mut(matrix, size * stride));
        let before = lanes_mut(scratch, stride);
        for_parts!(self, transition_times::<A, Self, _, true>(self, a, lanes(vector, stride), before));
        lanes_mut(vector, stride).copy_from_slice(before);
        for_parts!(self, retreat_parts::<A, Self, _, false>(self, a, n, (&[], &[], &mut [])));
    }

    #[inline(always)]
    fn retreat_with_gradient<A: Arithmetic>(
        self,
        step: StepDerivatives<'_>,
        (vector, matrix): (&mut [f64], &mut [f64]),
        (mean, covariance): (&[f64], &[f64]),
        (smoothed, sums): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) {
        let (size, stride) = (self.size(), self.size() / 4);
        let (width, parts) = (self.width() / 4, self.n_parts());
        add_noise_gradient::<A, Self>(self, step.noise_derivatives, (vector, matrix), sums);
        let a = lanes(step.transition, parts * parts * width);
        let n_sets = step.transition_derivatives.len() / (4 * parts * parts * width);
        let derivatives = lanes(step.transition_derivatives, n_sets * parts * parts * width);
        let before = lanes_mut(scratch, stride);
        for_parts!(self, transition_times::<A, Self, _, true>(self, a, lanes(vector, stride), before));
        self.product::<A>(scratch, covariance, smoothed);
        add_lanes::<A>(1.0, lanes(mean, stride), lanes_mut(smoothed, stride));
        let sums = lanes_mut(sums, n_sets * width);
        let sets = derivatives.chunks_exact(parts * parts * width);
        for (derivatives, sums) in sets.zip(sums.chunks_exact_mut(width)) {
            for c in 0..parts {
                for d in 0..parts {
                    for t in 0..self.len(c).min(self.len(d)) / 4 {
                        let far = A::load(&lanes(vector, stride)[self.offset(c) / 4 + t]);
                        let near = A::load(&lanes(smoothed, stride)[self.offset(d) / 4 + t]);
                        let derivative = A::load(&derivatives[(c * parts + d) * width + t]);
                        let product = A::times(far, near);
                        A::store(A::mul_add_lanes(product, derivative, A::load(&sums[t])), &mut sums[t]);
                    }
                }
            }
        }
        lanes_mut(vector, stride).copy_from_slice(lanes(scratch, stride));
        let (n, p) = (lanes_mut(matrix, size * stride), lanes(covariance, size * stride));
        for_parts!(self, retreat_parts::<A, Self, _, true>(self, a, n, (p, derivatives, sums)));
    }

    #[inline(always)]
    fn posterior_of_values<A: Arithmetic>(
        self,
        n_values: usize,
        (mean, covariance): (&[f64], &[f64]),
        (vector, matrix): (&[f64], &[f64]),
        products: &mut [f64],
        (value_mean, value_covariance): (&mut [f64], &mut [f64]),
    ) {
        let (size, stride, width) = (self.size(), self.size() / 4, self.readable() / 4);
        self.product_with_values::<A>(vector, covariance, value_mean);
        add_lanes::<A>(1.0, lanes(mean, width), lanes_mut(value_mean, width));
        let (p, n) = (lanes(covariance, size * stride), lanes(matrix, size * stride));
        let v = lanes_mut(value_covariance, self.readable() * width);
        // Four values at a time; slots without a latent hold zeros.
        for first in (0..n_values).step_by(4) {
            let columns = &covariance[first * size..][..4 * size];
            let products = lanes_mut(products, 4 * stride);
            by_pairs::<A>(stride, columns, n, stride, products);
            let products = products.as_flattened();
            let v = &mut v[first * width..][..4 * width];
            by_pairs::<A>(width, products, p, stride, v);
            for b in 0..4 {
                for t in 0..width {
                    let prior = A::load(&p[(first + b) * stride + t]);
                    A::store(A::minus(prior, A::load(&v[b * width + t])), &mut v[b * width + t]);
                }
            }
        }
    }
}

/// The first `count` lanes of X M, for four rows X, two columns of lanes at a time.
#[inline(always)]
fn by_pairs<A: Arithmetic>(count: usize, four: &[f64], rows: &Lanes, stride: usize, out: &mut Lanes) {
    let mut first = 0;
    while count - first >= 2 {
        four_sums::<A, 2>(four, rows, (stride, count), out, first);
        first += 2;
    }
    if count > first {
        four_sums::<A, 1>(four, rows, (stride, count), out, first);
    }
}

/// Columns `first..first + C` of X M, for four rows X of as many numbers as M has rows.
#[inline(always)]
fn four_sums<A: Arithmetic, const C: usize>(
    four: &[f64],
    rows: &Lanes,
    (stride, out_stride): (usize, usize),
    out: &mut Lanes,
    first: usize,
) {
    let size = 4 * stride;
    let (top, bottom) = four[..4 * size].split_at(2 * size);
    let (x0, x1) = top.split_at(size);
    let (x2, x3) = bottom.split_at(size);
    let mut sums = [[A::splat(0.0); C]; 4];
    for (i, row) in rows.chunks_exact(stride).enumerate().take(size) {
        let Some(row) = row[first..].first_chunk::<C>() else { continue };
        let factors = [A::splat(x0[i]), A::splat(x1[i]), A::splat(x2[i]), A::splat(x3[i])];
        for j in 0..C {
            let entry = A::load(&row[j]);
            for b in 0..4 {
                sums[b][j] = A::mul_add_lanes(factors[b], entry, sums[b][j]);
            }
        }
    }
    for b in 0..4 {
        for j in 0..C {
            A::store(sums[b][j], &mut out[b * out_stride + first + j]);
        }
    }
}
