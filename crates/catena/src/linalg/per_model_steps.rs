//! Steps of several models at once: `A P Aᵀ + Q`, `Aᵀ N A` and vectors, with A block diagonal over latents.

use super::arithmetic::Arithmetic;
use super::per_model::{PerModel, triangle_len};
use super::shape::{Layout, MAX_PARTS};
use std::ops::Range;

/// The layout of a state without padding: first the values of all latents, then their second components, then the third ones.
///
/// Slots are those of [`Layout`]. Steps are `K·K` numbers of A (row by row) and `K·(K + 1)/2` of Q (its lower triangle) per slot, K
/// being the largest number of components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unpadded {
    n_parts: usize,
    /// How many slots have each component.
    lens: [usize; MAX_PARTS],
    offsets: [usize; MAX_PARTS],
    size: usize,
}

impl Unpadded {
    /// The same slots without padding; `None` if outputs read more than values.
    pub(crate) fn new(layout: &Layout, state_dims: &[usize]) -> Option<Self> {
        if layout.n_values() != layout.n_slots() || state_dims.contains(&0) {
            return None;
        }
        let (mut lens, mut offsets, mut size) = ([0; MAX_PARTS], [0; MAX_PARTS], 0);
        for part in 0..MAX_PARTS {
            lens[part] = state_dims.iter().filter(|&&dim| dim > part).count();
            offsets[part] = size;
            size += lens[part];
        }
        let n_parts = lens.iter().filter(|&&len| len > 0).count();
        Some(Self { n_parts, lens, offsets, size })
    }

    /// The number of entries of a state.
    #[inline(always)]
    pub(crate) fn size(self) -> usize {
        self.size
    }

    /// The number of slots, which are the values of a state.
    #[inline(always)]
    pub(crate) fn n_slots(self) -> usize {
        self.lens[0]
    }

    /// Where a slot's entry (c, d) of A is in a step.
    #[inline(always)]
    pub(crate) fn in_transition(self, slot: usize, c: usize, d: usize) -> usize {
        (slot * self.n_parts + c) * self.n_parts + d
    }

    /// Where a slot's entry (c, d) of Q is in a step, d ≤ c.
    #[inline(always)]
    pub(crate) fn in_noise(self, slot: usize, c: usize, d: usize) -> usize {
        slot * triangle_len(self.n_parts) + triangle_len(c) + d
    }

    /// How many numbers A has.
    #[inline(always)]
    pub(crate) fn transition_len(self) -> usize {
        self.lens[0] * self.n_parts * self.n_parts
    }

    /// How many numbers Q has.
    #[inline(always)]
    pub(crate) fn noise_len(self) -> usize {
        self.lens[0] * triangle_len(self.n_parts)
    }

    /// The slots with this many components.
    #[inline(always)]
    fn slots_of(self, dim: usize) -> Range<usize> {
        let more = if dim < MAX_PARTS { self.lens[dim] } else { 0 };
        more..self.lens[dim - 1]
    }

    /// Where component c of slot `l` and d of slot `m` meet in a triangle, m ≤ l.
    #[inline(always)]
    fn in_triangle(self, (l, c): (usize, usize), (m, d): (usize, usize)) -> usize {
        let (i, j) = (self.offsets[c] + l, self.offsets[d] + m);
        if c >= d { triangle_len(i) + j } else { triangle_len(j) + i }
    }

    /// The entry of a slot's component.
    #[inline(always)]
    fn entry(self, slot: usize, component: usize) -> usize {
        self.offsets[component] + slot
    }
}

/// Calls `$function::<A, KL, KM>(shape, slots l, slots m, ...)` for all groups of slots with KL ≤ KM components.
macro_rules! by_groups {
    ($shape:expr, $function:ident($($argument:expr),*)) => {
        by_groups!(@each $shape, $function($($argument),*), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))
    };
    (@each $shape:expr, $function:ident $arguments:tt, $(($kl:literal, $km:literal)),*) => {
        $(by_groups!(@one $shape, $function, $kl, $km, $arguments);)*
    };
    (@one $shape:expr, $function:ident, $kl:literal, $km:literal, ($($argument:expr),*)) => {
        let (ls, ms) = ($shape.slots_of($kl), $shape.slots_of($km));
        if !ls.is_empty() && !ms.is_empty() {
            $function::<A, $kl, $km>($shape, (ls, ms), $($argument),*);
        }
    };
}

/// Calls `$function::<A, K>(shape, slots, ...)` for all groups of slots with K components.
macro_rules! by_dims {
    ($shape:expr, $function:ident::<$arithmetic:ident $(, $transposed:ident)?>($($argument:expr),*)) => {{
        $function::<$arithmetic, 1 $(, $transposed)?>($shape, $shape.slots_of(1), $($argument),*);
        $function::<$arithmetic, 2 $(, $transposed)?>($shape, $shape.slots_of(2), $($argument),*);
        $function::<$arithmetic, 3 $(, $transposed)?>($shape, $shape.slots_of(3), $($argument),*);
    }};
}

/// `out = A x` or, when `TRANSPOSED`, `Aᵀx`.
#[inline(always)]
pub(crate) fn transition_times<A: Arithmetic, const TRANSPOSED: bool>(
    shape: Unpadded,
    transition: &[PerModel],
    x: &[PerModel],
    out: &mut [PerModel],
) {
    by_dims!(shape, times_group::<A, TRANSPOSED>(transition, x, out));
}

#[inline(always)]
fn times_group<A: Arithmetic, const K: usize, const TRANSPOSED: bool>(
    shape: Unpadded,
    slots: Range<usize>,
    transition: &[PerModel],
    x: &[PerModel],
    out: &mut [PerModel],
) {
    for slot in slots {
        for c in 0..K {
            let mut sum = A::splat(0.0);
            for d in 0..K {
                let (i, j) = if TRANSPOSED { (d, c) } else { (c, d) };
                let factor = transition[shape.in_transition(slot, i, j)].lane::<A>();
                sum = A::mul_add_lanes(factor, x[shape.entry(slot, d)].lane::<A>(), sum);
            }
            out[shape.entry(slot, c)].set::<A>(sum);
        }
    }
}

/// Adds `½(rrᵀ − N)`, contracted with the derivative of a step's process noise, to the sum of each slot.
#[inline(always)]
pub(crate) fn add_noise_derivative<A: Arithmetic>(
    shape: Unpadded,
    derivative: &[PerModel],
    adjoint: (&[PerModel], &[PerModel]),
    sums: &mut [PerModel],
) {
    by_dims!(shape, add_noise_group::<A>(derivative, adjoint, sums));
}

#[inline(always)]
fn add_noise_group<A: Arithmetic, const K: usize>(
    shape: Unpadded,
    slots: Range<usize>,
    derivative: &[PerModel],
    (vector, matrix): (&[PerModel], &[PerModel]),
    sums: &mut [PerModel],
) {
    for slot in slots {
        let mut total = sums[slot].lane::<A>();
        for c in 0..K {
            for d in 0..=c {
                let (i, j) = (shape.entry(slot, c), shape.entry(slot, d));
                let product = A::times(vector[i].lane::<A>(), vector[j].lane::<A>());
                let excess = A::minus(product, matrix[triangle_len(i) + j].lane::<A>());
                // An off-diagonal entry counts twice.
                let share = A::splat(if c == d { 0.5 } else { 1.0 });
                let own = A::times(share, derivative[shape.in_noise(slot, c, d)].lane::<A>());
                total = A::mul_add_lanes(own, excess, total);
            }
        }
        sums[slot].set::<A>(total);
    }
}

/// Adds `r·meanᵀ − M`, contracted with the derivative of a step's transition, to the sum of each slot; M is laid out like A.
#[inline(always)]
pub(crate) fn add_transition_derivative<A: Arithmetic>(
    shape: Unpadded,
    derivative: &[PerModel],
    numbers: (&[PerModel], &[PerModel], &[PerModel]),
    sums: &mut [PerModel],
) {
    by_dims!(shape, add_transition_group::<A>(derivative, numbers, sums));
}

#[inline(always)]
fn add_transition_group<A: Arithmetic, const K: usize>(
    shape: Unpadded,
    slots: Range<usize>,
    derivative: &[PerModel],
    (vector, mean, losses): (&[PerModel], &[PerModel], &[PerModel]),
    sums: &mut [PerModel],
) {
    for slot in slots {
        let mut total = sums[slot].lane::<A>();
        for c in 0..K {
            for d in 0..K {
                let at = shape.in_transition(slot, c, d);
                let (i, j) = (shape.entry(slot, c), shape.entry(slot, d));
                let product = A::times(vector[i].lane::<A>(), mean[j].lane::<A>());
                let excess = A::minus(product, losses[at].lane::<A>());
                total = A::mul_add_lanes(derivative[at].lane::<A>(), excess, total);
            }
        }
        sums[slot].set::<A>(total);
    }
}

/// A slot's block of a transition.
#[inline(always)]
fn block_of<A: Arithmetic, const K: usize>(
    shape: Unpadded,
    transition: &[PerModel],
    slot: usize,
) -> [[A::Lane; K]; K] {
    let mut block = [[A::splat(0.0); K]; K];
    for c in 0..K {
        for d in 0..K {
            block[c][d] = transition[shape.in_transition(slot, c, d)].lane::<A>();
        }
    }
    block
}

/// The block of a symmetric matrix for two slots, m ≤ l.
#[inline(always)]
fn load_block<A: Arithmetic, const KL: usize, const KM: usize>(
    shape: Unpadded,
    triangle: &[PerModel],
    l: usize,
    m: usize,
) -> [[A::Lane; KM]; KL] {
    let mut block = [[A::splat(0.0); KM]; KL];
    for c in 0..KL {
        for d in 0..KM {
            block[c][d] = triangle[shape.in_triangle((l, c), (m, d))].lane::<A>();
        }
    }
    block
}

/// `X Y`.
#[inline(always)]
fn product<A: Arithmetic, const R: usize, const M: usize, const C: usize>(
    x: &[[A::Lane; M]; R],
    y: &[[A::Lane; C]; M],
) -> [[A::Lane; C]; R] {
    let mut out = [[A::splat(0.0); C]; R];
    for r in 0..R {
        for c in 0..C {
            let mut sum = A::times(x[r][0], y[0][c]);
            for k in 1..M {
                sum = A::mul_add_lanes(x[r][k], y[k][c], sum);
            }
            out[r][c] = sum;
        }
    }
    out
}

/// Xᵀ.
#[inline(always)]
fn transposed<A: Arithmetic, const R: usize, const C: usize>(x: &[[A::Lane; C]; R]) -> [[A::Lane; R]; C] {
    let mut out = [[A::splat(0.0); R]; C];
    for r in 0..R {
        for c in 0..C {
            out[c][r] = x[r][c];
        }
    }
    out
}

/// `out = A P Aᵀ + Q`.
#[inline(always)]
pub(crate) fn predict<A: Arithmetic>(
    shape: Unpadded,
    step: (&[PerModel], &[PerModel]),
    covariance: &[PerModel],
    out: &mut [PerModel],
) {
    by_groups!(shape, predict_group(step, covariance, out));
}

#[inline(always)]
fn predict_group<A: Arithmetic, const KL: usize, const KM: usize>(
    shape: Unpadded,
    (ls, ms): (Range<usize>, Range<usize>),
    (transition, noise): (&[PerModel], &[PerModel]),
    covariance: &[PerModel],
    out: &mut [PerModel],
) {
    for l in ls {
        let left = block_of::<A, KL>(shape, transition, l);
        for m in ms.start..ms.end.min(l + 1) {
            let right = transposed::<A, KM, KM>(&block_of::<A, KM>(shape, transition, m));
            let block = load_block::<A, KL, KM>(shape, covariance, l, m);
            let block = product::<A, KL, KM, KM>(&product::<A, KL, KL, KM>(&left, &block), &right);
            for c in 0..KL {
                for d in 0..KM {
                    if l == m && d > c {
                        continue;
                    }
                    let mut entry = block[c][d];
                    if l == m {
                        entry = A::plus(entry, noise[shape.in_noise(l, c, d)].lane::<A>());
                    }
                    out[shape.in_triangle((l, c), (m, d))].set::<A>(entry);
                }
            }
        }
    }
}

/// `N ← AᵀNA`; adds to `losses` the diagonal blocks of `N A P`, laid out like A.
#[inline(always)]
pub(crate) fn retreat<A: Arithmetic>(
    shape: Unpadded,
    transition: &[PerModel],
    adjoint: &mut [PerModel],
    covariance: &[PerModel],
    losses: &mut [PerModel],
) {
    by_groups!(shape, retreat_group(transition, adjoint, covariance, losses));
}

#[inline(always)]
fn retreat_group<A: Arithmetic, const KL: usize, const KM: usize>(
    shape: Unpadded,
    (ls, ms): (Range<usize>, Range<usize>),
    transition: &[PerModel],
    adjoint: &mut [PerModel],
    covariance: &[PerModel],
    losses: &mut [PerModel],
) {
    for l in ls {
        let own = block_of::<A, KL>(shape, transition, l);
        let own_transposed = transposed::<A, KL, KL>(&own);
        let mut loss = [[A::splat(0.0); KL]; KL];
        for m in ms.start..ms.end.min(l + 1) {
            let other = block_of::<A, KM>(shape, transition, m);
            let before = load_block::<A, KL, KM>(shape, adjoint, l, m);
            let filtered = load_block::<A, KL, KM>(shape, covariance, l, m);
            // (N A) of slot l, its loss, and AᵀNA.
            let moved = product::<A, KL, KM, KM>(&before, &other);
            let own_loss = product::<A, KL, KM, KL>(&moved, &transposed::<A, KL, KM>(&filtered));
            for c in 0..KL {
                for d in 0..KL {
                    loss[c][d] = A::plus(loss[c][d], own_loss[c][d]);
                }
            }
            let after = product::<A, KL, KL, KM>(&own_transposed, &moved);
            for c in 0..KL {
                for d in 0..KM {
                    if l > m || d <= c {
                        adjoint[shape.in_triangle((l, c), (m, d))].set::<A>(after[c][d]);
                    }
                }
            }
            if l > m {
                // (N A) of slot m.
                let moved = product::<A, KL, KL, KM>(&own_transposed, &before);
                let other_loss = product::<A, KM, KL, KM>(&transposed::<A, KL, KM>(&moved), &filtered);
                for c in 0..KM {
                    for d in 0..KM {
                        let sum = &mut losses[shape.in_transition(m, c, d)];
                        sum.set::<A>(A::plus(sum.lane::<A>(), other_loss[c][d]));
                    }
                }
            }
        }
        for c in 0..KL {
            for d in 0..KL {
                let sum = &mut losses[shape.in_transition(l, c, d)];
                sum.set::<A>(A::plus(sum.lane::<A>(), loss[c][d]));
            }
        }
    }
}
