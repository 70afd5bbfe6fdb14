//! The operations of a covariance sweep for up to four latents, in lanes: each part of the state is one vector.
//!
//! A row of a matrix is K lanes, and a transition K·K of them; component c of slot s stands in row `4c + s`.

use super::arithmetic::Arithmetic;
use super::shape::{FourSlots, Shape};
use super::state_algebra::{StateAlgebra, add_noise_slopes};

/// The first `count` lanes of a slice.
#[inline(always)]
fn lanes(numbers: &[f64], count: usize) -> &[[f64; 4]] {
    &numbers.as_chunks::<4>().0[..count]
}

/// The first `count` lanes of a slice, to be changed.
#[inline(always)]
fn lanes_mut(numbers: &mut [f64], count: usize) -> &mut [[f64; 4]] {
    &mut numbers.as_chunks_mut::<4>().0[..count]
}

/// A lane that is 1 at one slot and 0 elsewhere.
const ONE_AT: [[f64; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

/// `Σ_i factors[i]·rows[i·stride + at]`.
#[inline(always)]
fn combine<A: Arithmetic>(factors: &[f64], rows: &[[f64; 4]], stride: usize, at: usize) -> A::Lane {
    let mut sum = A::times(A::splat(factors[0]), A::load(&rows[at]));
    for i in 1..factors.len() {
        sum = A::mul_add_lanes(A::splat(factors[i]), A::load(&rows[i * stride + at]), sum);
    }
    sum
}

impl<const K: usize> StateAlgebra for FourSlots<K> {
    #[inline(always)]
    fn predict<A: Arithmetic>(
        self,
        (transition, noise): (&[f64], &[f64]),
        covariance: &[f64],
        out: &mut [f64],
        _scratch: &mut [f64],
    ) {
        let (a, q) = (lanes(transition, K * K), lanes(noise, K * (K + 1) / 2));
        let (p, out) = (lanes(covariance, 4 * K * K), lanes_mut(out, 4 * K * K));
        for s in 0..4 {
            for c in 0..K {
                // Row (c, s) of A P, then of A P Aᵀ + Q.
                let mut row = [A::splat(0.0); K];
                for j in 0..K {
                    for from in 0..K {
                        let factor = A::splat(a[c * K + from][s]);
                        row[j] = A::mul_add_lanes(factor, A::load(&p[(4 * from + s) * K + j]), row[j]);
                    }
                }
                for d in 0..K {
                    let noise = A::load(&q[c.max(d) * (c.max(d) + 1) / 2 + c.min(d)]);
                    let mut entry = A::times(A::load(&ONE_AT[s]), noise);
                    for from in 0..K {
                        entry = A::mul_add_lanes(A::load(&a[d * K + from]), row[from], entry);
                    }
                    A::store(entry, &mut out[(4 * c + s) * K + d]);
                }
            }
        }
    }

    #[inline(always)]
    fn retreat<A: Arithmetic>(self, transition: &[f64], matrix: &mut [f64], _scratch: &mut [f64]) {
        let a = lanes(transition, K * K);
        let n = lanes_mut(matrix, 4 * K * K);
        for s in 0..4 {
            // A slot's rows of the product need only its own rows of the matrix.
            let mut rows = [[A::splat(0.0); K]; K];
            for c in 0..K {
                for j in 0..K {
                    for from in 0..K {
                        let factor = A::splat(a[from * K + c][s]);
                        rows[c][j] =
                            A::mul_add_lanes(factor, A::load(&n[(4 * from + s) * K + j]), rows[c][j]);
                    }
                }
            }
            for c in 0..K {
                for d in 0..K {
                    let mut entry = A::times(A::load(&a[d]), rows[c][0]);
                    for from in 1..K {
                        entry = A::mul_add_lanes(A::load(&a[from * K + d]), rows[c][from], entry);
                    }
                    A::store(entry, &mut n[(4 * c + s) * K + d]);
                }
            }
        }
    }

    #[inline(always)]
    fn condition<A: Arithmetic>(
        self,
        weights: &[f64],
        value: f64,
        (mean, covariance): (&mut [f64], &mut [f64]),
        scratch: &mut [f64],
    ) -> (f64, f64) {
        let weights = &lanes(weights, 1)[0];
        let (mean, p) = (lanes_mut(mean, K), lanes_mut(covariance, 4 * K * K));
        let mut gain = [A::splat(0.0); K];
        for j in 0..K {
            gain[j] = combine::<A>(weights, p, K, j);
        }
        let read = A::load(weights);
        let variance = 1.0 + A::sum(A::times(read, gain[0]));
        let surprise = value - A::sum(A::times(read, A::load(&mean[0])));
        let inverse = variance.recip();
        let scaled = lanes_mut(scratch, K);
        for j in 0..K {
            let step = A::mul_add_lanes(A::splat(surprise * inverse), gain[j], A::load(&mean[j]));
            A::store(step, &mut mean[j]);
            A::store(A::times(A::splat(-inverse), gain[j]), &mut scaled[j]);
        }
        for i in 0..4 * K {
            let factor = A::splat(scaled[i / 4][i % 4]);
            for j in 0..K {
                let entry = A::mul_add_lanes(factor, gain[j], A::load(&p[i * K + j]));
                A::store(entry, &mut p[i * K + j]);
            }
        }
        (surprise, variance)
    }

    #[inline(always)]
    fn posterior_of_values<A: Arithmetic>(
        self,
        _n_values: usize,
        (mean, covariance): (&[f64], &[f64]),
        (vector, matrix): (&[f64], &[f64]),
        products: &mut [f64],
        (value_mean, value_covariance): (&mut [f64], &mut [f64]),
    ) {
        let (p, n) = (lanes(covariance, 4 * K * K), lanes(matrix, 4 * K * K));
        let (mean, products) = (lanes(mean, 1), lanes_mut(products, 4 * K));
        let (value_mean, value_covariance) = (lanes_mut(value_mean, 1), lanes_mut(value_covariance, 4));
        let vector = &vector[..4 * K];
        let mut sum = A::load(&mean[0]);
        for i in 0..4 * K {
            sum = A::mul_add_lanes(A::splat(vector[i]), A::load(&p[i * K]), sum);
        }
        A::store(sum, &mut value_mean[0]);
        // All four slots at once, so that sums run side by side; slots without a latent hold zeros.
        let mut sums = [[A::splat(0.0); K]; 4];
        for i in 0..4 * K {
            for j in 0..K {
                let row = A::load(&n[i * K + j]);
                for b in 0..4 {
                    sums[b][j] = A::mul_add_lanes(A::splat(p[b * K + i / 4][i % 4]), row, sums[b][j]);
                }
            }
        }
        for b in 0..4 {
            for j in 0..K {
                A::store(sums[b][j], &mut products[b * K + j]);
            }
        }
        let mut explained = [A::splat(0.0); 4];
        for i in 0..4 * K {
            let row = A::load(&p[i * K]);
            for b in 0..4 {
                explained[b] = A::mul_add_lanes(A::splat(products[b * K + i / 4][i % 4]), row, explained[b]);
            }
        }
        for b in 0..4 {
            A::store(A::minus(A::load(&p[b * K]), explained[b]), &mut value_covariance[b]);
        }
    }

    #[inline(always)]
    fn absorb<A: Arithmetic>(
        self,
        _n_values: usize,
        information: &[f64],
        (products, value_covariance): (&[f64], &[f64]),
        matrix: &mut [f64],
        scratch: &mut [f64],
    ) {
        let (lambda, u, v) = (lanes(information, 4), lanes(products, 4 * K), lanes(value_covariance, 4));
        let n = lanes_mut(matrix, 4 * K * K);
        let weighted = &mut lanes_mut(scratch, 1)[0];
        let information =
            [A::load(&lambda[0]), A::load(&lambda[1]), A::load(&lambda[2]), A::load(&lambda[3])];
        // −(UΛ) in the columns of the values, row by row.
        for i in 0..4 * K {
            let mut entry = A::load(&n[i * K]);
            for b in 0..4 {
                entry = A::mul_add_lanes(A::splat(-u[b * K + i / 4][i % 4]), information[b], entry);
            }
            A::store(entry, &mut n[i * K]);
        }
        // −(UΛ)ᵀ + (Λ − ΛVΛ) in the rows of the values.
        for b in 0..4 {
            for j in 0..K {
                let mut entry = A::load(&n[b * K + j]);
                for other in 0..4 {
                    let factor = A::splat(-lambda[b][other]);
                    entry = A::mul_add_lanes(factor, A::load(&u[other * K + j]), entry);
                }
                if j == 0 {
                    A::store(combine::<A>(&lambda[b], v, 1, 0), weighted);
                    let gained = A::minus(information[b], combine::<A>(&*weighted, lambda, 1, 0));
                    entry = A::mul_add_lanes(gained, A::splat(1.0), entry);
                }
                A::store(entry, &mut n[b * K + j]);
            }
        }
    }

    #[inline(always)]
    fn add_step_slopes<A: Arithmetic>(
        self,
        (transition, slopes): (&[f64], (&[f64], &[f64])),
        (vector, matrix): (&[f64], &[f64]),
        (mean, covariance): (&[f64], &[f64]),
        sums: &mut [f64],
        _scratch: &mut [f64],
    ) {
        add_noise_slopes::<A, Self>(self, slopes.1, (vector, matrix), sums);
        let (a, da) = (lanes(transition, K * K), lanes(slopes.0, K * K));
        let (p, n) = (lanes(covariance, 4 * K * K), lanes(matrix, 4 * K * K));
        let (r, m) = (lanes(vector, K), lanes(mean, K));
        let mut by_transition = [[A::splat(0.0); K]; K];
        for c in 0..K {
            for d in 0..K {
                by_transition[c][d] = A::times(A::load(&r[c]), A::load(&m[d]));
            }
        }
        for part in 0..K {
            for s in 0..4 {
                // Row k = (part, s) of A P meets row k of rrᵀ − N, entry by entry.
                let mut row = [A::splat(0.0); K];
                let mut excess = [A::splat(0.0); K];
                for j in 0..K {
                    for from in 0..K {
                        let factor = A::splat(a[part * K + from][s]);
                        row[j] = A::mul_add_lanes(factor, A::load(&p[(4 * from + s) * K + j]), row[j]);
                    }
                    let square = A::times(A::splat(r[part][s]), A::load(&r[j]));
                    excess[j] = A::minus(square, A::load(&n[(4 * part + s) * K + j]));
                }
                for c in 0..K {
                    for d in 0..K {
                        by_transition[c][d] = A::mul_add_lanes(excess[c], row[d], by_transition[c][d]);
                    }
                }
            }
        }
        let sums = &mut lanes_mut(sums, 1)[0];
        let mut sum = A::load(sums);
        for c in 0..K {
            for d in 0..K {
                sum = A::mul_add_lanes(by_transition[c][d], A::load(&da[c * K + d]), sum);
            }
        }
        A::store(sum, sums);
    }
}

/// Every slot has K components.
impl<const K: usize> Shape for FourSlots<K> {
    #[inline(always)]
    fn n_parts(self) -> usize {
        K
    }
    #[inline(always)]
    fn offset(self, part: usize) -> usize {
        part * 4
    }
    #[inline(always)]
    fn len(self, _part: usize) -> usize {
        4
    }
    #[inline(always)]
    fn size(self) -> usize {
        4 * K
    }
}
