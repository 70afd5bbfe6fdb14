//! Products with transitions in vector lanes, compiled for at most K components.

use super::arithmetic::Arithmetic;
use super::shape::Shape;

/// Lanes of numbers in memory.
pub(super) type Lanes = [[f64; 4]];

/// A lane that is 1 at one slot and 0 elsewhere.
const ONE_AT: [[f64; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// The first lane in the row of a slot's component, if the slot has that component.
#[inline(always)]
fn row_of<S: Shape>(shape: S, part: usize, slot: usize, stride: usize) -> Option<usize> {
    (slot < shape.len(part)).then(|| (shape.offset(part) + slot) * stride)
}

/// `A P Aᵀ + Q` for states of at most K parts.
#[inline(always)]
pub(super) fn predict_parts<A: Arithmetic, S: Shape, const K: usize>(
    shape: S,
    (a, q): (&Lanes, &Lanes),
    p: &Lanes,
    out: &mut Lanes,
) {
    let (stride, width) = (shape.size() / 4, shape.width() / 4);
    for slot in 0..shape.width() {
        for t in 0..width {
            let mut rows = [[A::splat(0.0); K]; K];
            for from in 0..K {
                let Some(at) = row_of(shape, from, slot, stride) else { break };
                for d in 0..K {
                    if 4 * t >= shape.len(d) {
                        break;
                    }
                    let source = A::load(&p[at + shape.offset(d) / 4 + t]);
                    for c in 0..K {
                        let factor = A::splat(a[(c * K + from) * width + slot / 4][slot % 4]);
                        rows[c][d] = A::mul_add_lanes(factor, source, rows[c][d]);
                    }
                }
            }
            for c in 0..K {
                let Some(at) = row_of(shape, c, slot, stride) else { break };
                for d in 0..K {
                    if 4 * t >= shape.len(d) {
                        break;
                    }
                    let mut entry = A::times(A::load(&a[d * K * width + t]), rows[c][0]);
                    for from in 1..K {
                        entry =
                            A::mul_add_lanes(A::load(&a[(d * K + from) * width + t]), rows[c][from], entry);
                    }
                    if t == slot / 4 {
                        let noise = A::load(&q[(c.max(d) * (c.max(d) + 1) / 2 + c.min(d)) * width + t]);
                        entry = A::mul_add_lanes(A::load(&ONE_AT[slot % 4]), noise, entry);
                    }
                    A::store(entry, &mut out[at + shape.offset(d) / 4 + t]);
                }
            }
        }
    }
}

/// `N ← AᵀNA` for states of at most K parts; if `DERIVATIVES`, subtracts from each set's `sums` the diagonals of `P AᵀN` within each
/// slot, component d of P with component c of N, times derivative (c, d) of that set.
#[inline(always)]
pub(super) fn retreat_parts<A: Arithmetic, S: Shape, const K: usize, const DERIVATIVES: bool>(
    shape: S,
    a: &Lanes,
    n: &mut Lanes,
    (p, derivatives, sums): (&Lanes, &Lanes, &mut Lanes),
) {
    let (stride, width) = (shape.size() / 4, shape.width() / 4);
    for t in 0..width {
        let mut losses = [[A::splat(0.0); K]; K];
        for slot in 0..shape.width() {
            // Rows of AᵀN, lane t of every part.
            let mut rows = [[A::splat(0.0); K]; K];
            for from in 0..K {
                let Some(at) = row_of(shape, from, slot, stride) else { break };
                for d in 0..K {
                    if 4 * t >= shape.len(d) {
                        break;
                    }
                    let source = A::load(&n[at + shape.offset(d) / 4 + t]);
                    for c in 0..K {
                        let factor = A::splat(a[(from * K + c) * width + slot / 4][slot % 4]);
                        rows[c][d] = A::mul_add_lanes(factor, source, rows[c][d]);
                    }
                }
            }
            for c in 0..K {
                let Some(at) = row_of(shape, c, slot, stride) else { break };
                for d in 0..K {
                    if 4 * t >= shape.len(d) {
                        break;
                    }
                    let place = at + shape.offset(d) / 4 + t;
                    if DERIVATIVES {
                        let filtered = A::load(&p[place]);
                        for other in 0..K {
                            losses[other][d] = A::mul_add_lanes(rows[c][other], filtered, losses[other][d]);
                        }
                    }
                    let mut entry = A::times(A::load(&a[d * width + t]), rows[c][0]);
                    for from in 1..K {
                        entry =
                            A::mul_add_lanes(A::load(&a[(from * K + d) * width + t]), rows[c][from], entry);
                    }
                    A::store(entry, &mut n[place]);
                }
            }
        }
        if DERIVATIVES {
            let sets = derivatives.chunks_exact(K * K * width);
            for (derivatives, sums) in sets.zip(sums.chunks_exact_mut(width)) {
                let mut sum = A::load(&sums[t]);
                for c in 0..K {
                    for d in 0..K {
                        let derivative = A::load(&derivatives[(c * K + d) * width + t]);
                        sum = A::minus(sum, A::times(losses[c][d], derivative));
                    }
                }
                A::store(sum, &mut sums[t]);
            }
        }
    }
}

/// `A x` or, when `TRANSPOSED`, `Aᵀx`, for states of at most K parts.
#[inline(always)]
pub(super) fn transition_times<A: Arithmetic, S: Shape, const K: usize, const TRANSPOSED: bool>(
    shape: S,
    a: &Lanes,
    x: &Lanes,
    out: &mut Lanes,
) {
    let width = shape.width() / 4;
    for c in 0..K {
        for t in 0..shape.len(c) / 4 {
            let mut entry = A::splat(0.0);
            for from in 0..K {
                if 4 * t < shape.len(from) {
                    let slice = if TRANSPOSED { from * K + c } else { c * K + from };
                    let factor = A::load(&a[slice * width + t]);
                    entry = A::mul_add_lanes(factor, A::load(&x[shape.offset(from) / 4 + t]), entry);
                }
            }
            A::store(entry, &mut out[shape.offset(c) / 4 + t]);
        }
    }
}
