//! The operations of the covariance form on states of up to four latents, entirely in registers.
//!
//! A part of the state is one [`Row`]. A covariance is symmetric: of its K×K blocks of L rows only those on and above the
//! diagonal are kept, `K(K+1)/2·L` rows, and lower blocks are transposed on demand. The adjoint matrix N keeps all `K²·L` rows. Only this
//! file knows these layouts. For such states they are faster than whole lanes.

use super::arithmetic::{Arithmetic, Row};
use super::packed_blocks::{
    Blocks, anywhere, broadcast, combined_rows, inner, load_covariance, load_vector, noise_slice, rows,
    rows_mut, store_vector, transition_times, upper, vector_times,
};
use super::registers::Width;
use super::shape::Shape;
use super::state_algebra::{AdjointUpdate, ReadoutRow, StateAlgebra, StepDerivatives, Update};
use std::marker::PhantomData;

/// L latents of K components each; `W` is the row that holds L numbers.
#[derive(Clone, Copy)]
pub(crate) struct Packed<W, const L: usize, const K: usize>(PhantomData<W>);

impl<W, const L: usize, const K: usize> Packed<W, L, K> {
    pub(super) const SHAPE: Self = Self(PhantomData);
}

impl<W: Width, const L: usize, const K: usize> Packed<W, L, K> {
    /// The index of row i of block (c, d) in a row-major square.
    #[inline(always)]
    const fn in_square(c: usize, d: usize, i: usize) -> usize {
        ((c * W::WIDTH + i) * K + d) * W::WIDTH
    }

    /// All blocks of N.
    #[inline(always)]
    fn load_adjoint<R: Row>(numbers: &[f64]) -> Blocks<R, L, K> {
        let memory = rows::<R>(numbers, K * K * L);
        let mut blocks = [[[R::splat(0.0); L]; K]; K];
        for c in 0..K {
            for d in 0..K {
                for i in 0..L {
                    blocks[c][d][i] = R::load(&memory[anywhere::<L, K>(c, d, i)]);
                }
            }
        }
        blocks
    }

    /// P h.
    #[inline(always)]
    fn with_output<R: Row>(row: ReadoutRow<'_>, covariance: &[f64]) -> [R; K] {
        let weights = &rows::<R>(row.weights, 1)[0];
        let p = rows::<R>(covariance, K * (K + 1) / 2 * L);
        let mut out = [R::splat(0.0); K];
        for i in 0..L {
            let weight = broadcast::<R>(weights, i);
            for d in 0..K {
                let entry = R::load(&p[upper::<L, K>(0, d, i)]);
                out[d] = if i == 0 { weight.times(entry) } else { weight.times_plus(entry, out[d]) };
            }
        }
        out
    }

    /// Writes row i of `M A`, from row i of every block of M.
    #[inline(always)]
    fn store_row_times<R: Row>(a: &[R::Memory], rows: [[R; K]; K], i: usize, out: &mut [R::Memory]) {
        for c in 0..K {
            for d in 0..K {
                let mut entry = R::load(&a[d]).times(rows[c][0]);
                for from in 1..K {
                    entry = R::load(&a[from * K + d]).times_plus(rows[c][from], entry);
                }
                entry.store(&mut out[anywhere::<L, K>(c, d, i)]);
            }
        }
    }
}

impl<W: Width, const L: usize, const K: usize> Shape for Packed<W, L, K> {
    #[inline(always)]
    fn n_parts(self) -> usize {
        K
    }
    #[inline(always)]
    fn offset(self, part: usize) -> usize {
        part * W::WIDTH
    }
    #[inline(always)]
    fn len(self, _part: usize) -> usize {
        W::WIDTH
    }
    #[inline(always)]
    fn size(self) -> usize {
        K * W::WIDTH
    }
}

impl<W: Width, const L: usize, const K: usize> StateAlgebra for Packed<W, L, K> {
    #[inline(always)]
    fn covariance_len(self) -> usize {
        K * (K + 1) / 2 * L * W::WIDTH
    }

    #[inline(always)]
    fn n_values(self, _n_values: usize) -> usize {
        L
    }

    #[inline(always)]
    fn skips_untouched(self) -> bool {
        false
    }

    #[inline(always)]
    fn pack_covariance(self, square: &[f64], covariance: &mut [f64]) {
        for c in 0..K {
            for d in c..K {
                for i in 0..L {
                    let row = &square[Self::in_square(c, d, i)..][..W::WIDTH];
                    covariance[upper::<L, K>(c, d, i) * W::WIDTH..][..W::WIDTH].copy_from_slice(row);
                }
            }
        }
    }

    #[inline(always)]
    fn unpack_covariance(self, covariance: &[f64], square: &mut [f64]) {
        square.fill(0.0);
        for c in 0..K {
            for d in c..K {
                for i in 0..L {
                    let row = &covariance[upper::<L, K>(c, d, i) * W::WIDTH..][..W::WIDTH];
                    square[Self::in_square(c, d, i)..][..W::WIDTH].copy_from_slice(row);
                    if d > c {
                        (0..L).for_each(|j| square[Self::in_square(d, c, j) + i] = row[j]);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn pack_adjoint(self, square: &[f64], matrix: &mut [f64]) {
        for (c, d) in (0..K * K).map(|block| (block / K, block % K)) {
            for i in 0..L {
                let row = &square[Self::in_square(c, d, i)..][..W::WIDTH];
                matrix[anywhere::<L, K>(c, d, i) * W::WIDTH..][..W::WIDTH].copy_from_slice(row);
            }
        }
    }

    #[inline(always)]
    fn unpack_adjoint(self, matrix: &[f64], square: &mut [f64]) {
        square.fill(0.0);
        for (c, d) in (0..K * K).map(|block| (block / K, block % K)) {
            for i in 0..L {
                let row = &matrix[anywhere::<L, K>(c, d, i) * W::WIDTH..][..W::WIDTH];
                square[Self::in_square(c, d, i)..][..W::WIDTH].copy_from_slice(row);
            }
        }
    }

    #[inline(always)]
    fn predict<A: Arithmetic>(
        self,
        (transition, noise): (&[f64], &[f64]),
        covariance: &[f64],
        out: &mut [f64],
        _scratch: &mut [f64],
    ) {
        let (a, q) = (rows::<W::Row<A>>(transition, K * K), rows::<W::Row<A>>(noise, K * (K + 1) / 2));
        let p = load_covariance::<W::Row<A>, L, K>(covariance);
        let out = rows_mut::<W::Row<A>>(out, K * (K + 1) / 2 * L);
        for i in 0..L {
            let rows = combined_rows::<W::Row<A>, L, K, false>(a, &p, i);
            let unit = W::Row::<A>::unit(i);
            for c in 0..K {
                for d in c..K {
                    let mut entry = W::Row::<A>::load(&q[noise_slice(c, d)]).times(unit);
                    for from in 0..K {
                        entry = W::Row::<A>::load(&a[d * K + from]).times_plus(rows[c][from], entry);
                    }
                    entry.store(&mut out[upper::<L, K>(c, d, i)]);
                }
            }
        }
    }

    #[inline(always)]
    fn advance<A: Arithmetic>(self, transition: &[f64], x: &[f64], out: &mut [f64]) {
        let a = rows::<W::Row<A>>(transition, K * K);
        store_vector(transition_times::<W::Row<A>, K, false>(a, load_vector(x)), out);
    }

    #[inline(always)]
    fn read<A: Arithmetic>(self, row: ReadoutRow<'_>, covariance: &[f64], out: &mut [f64]) {
        store_vector(Self::with_output::<W::Row<A>>(row, covariance), out);
    }

    #[inline(always)]
    fn product<A: Arithmetic>(self, x: &[f64], adjoint: &[f64], out: &mut [f64]) {
        let n = Self::load_adjoint::<W::Row<A>>(adjoint);
        store_vector(vector_times(rows::<W::Row<A>>(x, K), &n), out);
    }

    #[inline(always)]
    fn covariance_times<A: Arithmetic>(self, x: &[f64], covariance: &[f64], out: &mut [f64]) {
        let p = load_covariance::<W::Row<A>, L, K>(covariance);
        store_vector(vector_times(rows::<W::Row<A>>(x, K), &p), out);
    }

    #[inline(always)]
    fn product_with_values<A: Arithmetic>(self, x: &[f64], covariance: &[f64], out: &mut [f64]) {
        let p = load_covariance::<W::Row<A>, L, K>(covariance);
        let product = vector_times(rows::<W::Row<A>>(x, K), &p);
        product[0].store(&mut rows_mut::<W::Row<A>>(out, 1)[0]);
    }

    #[inline(always)]
    fn inner<A: Arithmetic>(self, x: &[f64], y: &[f64]) -> f64 {
        inner::<W::Row<A>, K>(load_vector(x), load_vector(y))
    }

    #[inline(always)]
    fn read_vector<A: Arithmetic>(self, row: ReadoutRow<'_>, x: &[f64]) -> f64 {
        inner::<W::Row<A>, 1>(load_vector(row.weights), load_vector(x))
    }

    #[inline(always)]
    fn condition<A: Arithmetic>(
        self,
        row: ReadoutRow<'_>,
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        gain: &mut [f64],
    ) -> Update {
        let with_output = Self::with_output::<W::Row<A>>(row, covariance);
        let weights = W::Row::<A>::load(&rows::<W::Row<A>>(row.weights, 1)[0]);
        let mut state = load_vector::<W::Row<A>, K>(mean);
        let signal = weights.times(with_output[0]).sum();
        let innovation = value - weights.times(state[0]).sum();
        let inverse = (1.0 + signal).recip();
        let (step, scale) = (W::Row::<A>::splat(innovation * inverse), W::Row::<A>::splat(inverse));
        let memory = rows_mut::<W::Row<A>>(gain, K);
        let mut gain = with_output;
        for c in 0..K {
            state[c] = step.times_plus(with_output[c], state[c]);
            gain[c] = scale.times(with_output[c]);
            gain[c].store(&mut memory[c]);
        }
        store_vector(state, mean);
        let p = rows_mut::<W::Row<A>>(covariance, K * (K + 1) / 2 * L);
        for c in 0..K {
            for i in 0..L {
                let gain = gain[c].broadcast(&memory[c], i);
                for d in c..K {
                    let entry = &mut p[upper::<L, K>(c, d, i)];
                    gain.times_from(with_output[d], W::Row::<A>::load(entry)).store(entry);
                }
            }
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
        let weights_memory = &rows::<W::Row<A>>(row.weights, 1)[0];
        let weights = W::Row::<A>::load(weights_memory);
        let n = Self::load_adjoint::<W::Row<A>>(matrix);
        let mut loss = vector_times(rows::<W::Row<A>>(gain, K), &n);
        store_vector(loss, projected);
        let (gain, r) = (load_vector::<W::Row<A>, K>(gain), load_vector::<W::Row<A>, K>(vector));
        let explained = inner(gain, loss);
        let residual = update.innovation * update.inverse - inner(gain, r);
        let half = W::Row::<A>::splat(-0.5 * (update.inverse + explained));
        loss[0] = half.times_plus(weights, loss[0]);
        store_vector(loss, scratch);
        let lost = rows::<W::Row<A>>(scratch, K);
        W::Row::<A>::splat(residual)
            .times_plus(weights, r[0])
            .store(&mut rows_mut::<W::Row<A>>(vector, 1)[0]);
        let memory = rows_mut::<W::Row<A>>(matrix, K * K * L);
        for i in 0..L {
            let weight = broadcast::<W::Row<A>>(weights_memory, i);
            for c in 0..K {
                let mut entry = n[c][0][i];
                if c == 0 {
                    entry = weight.times_from(loss[0], entry);
                } else {
                    let above = weight.times_from(loss[c], n[0][c][i]);
                    above.store(&mut memory[anywhere::<L, K>(0, c, i)]);
                }
                entry = loss[c].broadcast(&lost[c], i).times_from(weights, entry);
                entry.store(&mut memory[anywhere::<L, K>(c, 0, i)]);
            }
        }
        AdjointUpdate { residual, explained }
    }

    #[inline(always)]
    fn retreat<A: Arithmetic>(
        self,
        transition: &[f64],
        (vector, matrix): (&mut [f64], &mut [f64]),
        _scratch: &mut [f64],
    ) {
        let a = rows::<W::Row<A>>(transition, K * K);
        store_vector(transition_times::<W::Row<A>, K, true>(a, load_vector(vector)), vector);
        let n = Self::load_adjoint::<W::Row<A>>(matrix);
        let memory = rows_mut::<W::Row<A>>(matrix, K * K * L);
        for i in 0..L {
            let rows = combined_rows::<W::Row<A>, L, K, true>(a, &n, i);
            Self::store_row_times(a, rows, i, memory);
        }
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
        let a = rows::<W::Row<A>>(step.transition, K * K);
        let n = Self::load_adjoint::<W::Row<A>>(matrix);
        let p = load_covariance::<W::Row<A>, L, K>(covariance);
        let far = load_vector::<W::Row<A>, K>(vector);
        let before = transition_times::<W::Row<A>, K, true>(a, far);
        store_vector(before, vector);
        store_vector(before, scratch);
        let (filtered, mut near) =
            (load_vector::<W::Row<A>, K>(mean), vector_times(rows::<W::Row<A>>(scratch, K), &p));
        // ∂/∂A by component, and twice ∂/∂Q, for each slot.
        let mut by_transition = [[W::Row::<A>::splat(0.0); K]; K];
        let mut by_noise = [[W::Row::<A>::splat(0.0); K]; K];
        for c in 0..K {
            near[c] = near[c].plus(filtered[c]);
        }
        for c in 0..K {
            for d in 0..K {
                by_transition[c][d] = far[c].times(near[d]);
                by_noise[c][d] = far[c].times(far[d]);
                for i in 0..L {
                    by_noise[c][d] = W::Row::<A>::unit(i).times_from(n[c][d][i], by_noise[c][d]);
                }
            }
        }
        store_vector(near, smoothed);
        let memory = rows_mut::<W::Row<A>>(matrix, K * K * L);
        for i in 0..L {
            let rows = combined_rows::<W::Row<A>, L, K, true>(a, &n, i);
            for c in 0..K {
                for other in 0..K {
                    for d in 0..K {
                        by_transition[other][d] =
                            rows[c][other].times_from(p[c][d][i], by_transition[other][d]);
                    }
                }
            }
            Self::store_row_times(a, rows, i, memory);
        }
        let half = W::Row::<A>::splat(0.5);
        let transition_derivatives = W::Row::<A>::rows(step.transition_derivatives).chunks_exact(K * K);
        let noise_derivatives = W::Row::<A>::rows(step.noise_derivatives).chunks_exact(K * (K + 1) / 2);
        let sets = transition_derivatives.zip(noise_derivatives).zip(W::Row::<A>::rows_mut(sums));
        for ((transition_derivatives, noise_derivatives), sums) in sets {
            let mut sum = W::Row::<A>::load(sums);
            for c in 0..K {
                for d in 0..K {
                    let derivative = W::Row::<A>::load(&transition_derivatives[c * K + d]);
                    sum = derivative.times_plus(by_transition[c][d], sum);
                }
                // An off-diagonal slice counts twice.
                for d in 0..=c {
                    let derivative = W::Row::<A>::load(&noise_derivatives[noise_slice(c, d)]);
                    let derivative = if c == d { derivative.times(half) } else { derivative };
                    sum = derivative.times_plus(by_noise[c][d], sum);
                }
            }
            sum.store(sums);
        }
    }

    #[inline(always)]
    fn posterior_of_values<A: Arithmetic>(
        self,
        _n_values: usize,
        (mean, covariance): (&[f64], &[f64]),
        (vector, matrix): (&[f64], &[f64]),
        _products: &mut [f64],
        (value_mean, value_covariance): (&mut [f64], &mut [f64]),
    ) {
        let p = load_covariance::<W::Row<A>, L, K>(covariance);
        let (kept, n) =
            (rows::<W::Row<A>>(covariance, K * (K + 1) / 2 * L), rows::<W::Row<A>>(matrix, K * K * L));
        let r = rows::<W::Row<A>>(vector, K);
        let mut m = W::Row::<A>::load(&rows::<W::Row<A>>(mean, 1)[0]);
        for d in 0..K {
            for i in 0..L {
                m = broadcast::<W::Row<A>>(&r[d], i).times_plus(p[d][0][i], m);
            }
        }
        m.store(&mut rows_mut::<W::Row<A>>(value_mean, 1)[0]);
        let v = rows_mut::<W::Row<A>>(value_covariance, L);
        let mut left = p[0][0];
        // Row j of N X, then its part in Xᵀ N X; broadcast numbers are always read from memory.
        for c in 0..K {
            for j in 0..L {
                let mut product = W::Row::<A>::splat(0.0);
                for d in 0..K {
                    for i in 0..L {
                        let factor = broadcast::<W::Row<A>>(&n[anywhere::<L, K>(c, d, j)], i);
                        product = factor.times_plus(p[d][0][i], product);
                    }
                }
                for b in 0..L {
                    let factor = broadcast::<W::Row<A>>(&kept[upper::<L, K>(0, c, b)], j);
                    left[b] = factor.times_from(product, left[b]);
                }
            }
        }
        for b in 0..L {
            left[b].store(&mut v[b]);
        }
    }

    #[inline(always)]
    fn symmetrize_covariance(self, covariance: &mut [f64]) {
        let len = L * W::WIDTH;
        for c in 0..K {
            let block = &mut covariance[upper::<L, K>(c, c, 0) * W::WIDTH..][..len];
            for i in 1..L {
                for j in 0..i {
                    block[i * W::WIDTH + j] = block[j * W::WIDTH + i];
                }
            }
        }
    }

    #[inline(always)]
    fn symmetrize_adjoint(self, matrix: &mut [f64]) {
        let matrix = &mut matrix[..K * K * L * W::WIDTH];
        for c in 0..K {
            for d in 0..=c {
                for i in 0..L {
                    for j in 0..if c == d { i } else { L } {
                        matrix[anywhere::<L, K>(c, d, i) * W::WIDTH + j] =
                            matrix[anywhere::<L, K>(d, c, j) * W::WIDTH + i];
                    }
                }
            }
        }
    }
}
