//! Vectors and symmetric matrices of several models at once: one model per vector lane.
//!
//! A symmetric matrix is its lower triangle, row by row. Entries are whole lanes, so nothing is padded, added across a register or
//! transposed, and one version serves every size.

use super::arithmetic::Arithmetic;

/// How many models are computed at once.
pub(crate) const MODELS: usize = 4;

/// One number of each model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct PerModel(pub(crate) [f64; MODELS]);

impl PerModel {
    /// Zero in every model.
    pub(crate) const ZERO: Self = Self([0.0; MODELS]);

    /// As a lane.
    #[inline(always)]
    pub(crate) fn lane<A: Arithmetic>(&self) -> A::Lane {
        A::load(&self.0)
    }

    /// Sets it from a lane.
    #[inline(always)]
    pub(crate) fn set<A: Arithmetic>(&mut self, lane: A::Lane) {
        A::store(lane, &mut self.0);
    }
}

/// The number of entries of a triangle with this many rows, which is also where the next row begins.
#[inline(always)]
pub(crate) fn triangle_len(size: usize) -> usize {
    size * (size + 1) / 2
}

/// `xᵀy`.
#[inline(always)]
pub(crate) fn inner<A: Arithmetic>(x: &[PerModel], y: &[PerModel]) -> A::Lane {
    let (mut even, mut odd) = (A::splat(0.0), A::splat(0.0));
    let (x_pairs, x_last) = x.as_chunks::<2>();
    let (y_pairs, y_last) = y.as_chunks::<2>();
    for (x, y) in x_pairs.iter().zip(y_pairs) {
        even = A::mul_add_lanes(x[0].lane::<A>(), y[0].lane::<A>(), even);
        odd = A::mul_add_lanes(x[1].lane::<A>(), y[1].lane::<A>(), odd);
    }
    for (x, y) in x_last.iter().zip(y_last) {
        even = A::mul_add_lanes(x.lane::<A>(), y.lane::<A>(), even);
    }
    A::plus(even, odd)
}

/// `y ← y + factor·x`.
#[inline(always)]
pub(crate) fn add_multiple<A: Arithmetic>(factor: A::Lane, x: &[PerModel], y: &mut [PerModel]) {
    for (x, y) in x.iter().zip(y) {
        y.set::<A>(A::mul_add_lanes(factor, x.lane::<A>(), y.lane::<A>()));
    }
}

/// A row of weights h: the entries it touches, ascending, and their weights.
#[derive(Clone, Copy)]
pub(crate) struct SparseRow<'a> {
    pub(crate) touched: &'a [usize],
    pub(crate) weights: &'a [PerModel],
}

impl SparseRow<'_> {
    /// `hᵀx`.
    #[inline(always)]
    pub(crate) fn inner<A: Arithmetic>(self, x: &[PerModel]) -> A::Lane {
        let mut sum = A::splat(0.0);
        for (&at, weight) in self.touched.iter().zip(self.weights) {
            sum = A::mul_add_lanes(weight.lane::<A>(), x[at].lane::<A>(), sum);
        }
        sum
    }

    /// `x ← x + factor·h`.
    #[inline(always)]
    pub(crate) fn add_multiple_to<A: Arithmetic>(self, factor: A::Lane, x: &mut [PerModel]) {
        for (&at, weight) in self.touched.iter().zip(self.weights) {
            x[at].set::<A>(A::mul_add_lanes(factor, weight.lane::<A>(), x[at].lane::<A>()));
        }
    }
}

/// `out = M x`.
#[inline(always)]
pub(crate) fn times_vector<A: Arithmetic>(triangle: &[PerModel], x: &[PerModel], out: &mut [PerModel]) {
    let size = x.len();
    let (out, mut rest) = (&mut out[..size], &triangle[..triangle_len(size)]);
    let mut i = 0;
    // Two rows at a time: half as many numbers are read and written per product.
    while i + 1 < size {
        let (one, tail) = rest.split_at(i + 1);
        let (two, tail) = tail.split_at(i + 2);
        rest = tail;
        let (factor_one, factor_two) = (x[i].lane::<A>(), x[i + 1].lane::<A>());
        let (mut sum_one, mut sum_two) = (A::splat(0.0), A::splat(0.0));
        for (((one, two), x), out) in one[..i].iter().zip(&two[..i]).zip(&x[..i]).zip(&mut out[..i]) {
            let (one, two, x) = (one.lane::<A>(), two.lane::<A>(), x.lane::<A>());
            sum_one = A::mul_add_lanes(one, x, sum_one);
            sum_two = A::mul_add_lanes(two, x, sum_two);
            let sum = A::mul_add_lanes(one, factor_one, out.lane::<A>());
            out.set::<A>(A::mul_add_lanes(two, factor_two, sum));
        }
        let (first, cross, last) = (one[i].lane::<A>(), two[i].lane::<A>(), two[i + 1].lane::<A>());
        sum_one = A::mul_add_lanes(first, factor_one, sum_one);
        sum_two = A::mul_add_lanes(last, factor_two, sum_two);
        out[i].set::<A>(A::mul_add_lanes(cross, factor_two, sum_one));
        out[i + 1].set::<A>(A::mul_add_lanes(cross, factor_one, sum_two));
        i += 2;
    }
    if i < size {
        let factor = x[i].lane::<A>();
        let mut sum = A::times(rest[i].lane::<A>(), factor);
        for ((entry, x), out) in rest[..i].iter().zip(&x[..i]).zip(&mut out[..i]) {
            let entry = entry.lane::<A>();
            sum = A::mul_add_lanes(entry, x.lane::<A>(), sum);
            out.set::<A>(A::mul_add_lanes(entry, factor, out.lane::<A>()));
        }
        out[i].set::<A>(sum);
    }
}

/// Calls `$function::<A, R>(arguments, t, at)` for runs of R consecutive entries of a row, beginning at its `at`-th one, which is `t`.
macro_rules! by_runs {
    ($touched:expr, $function:ident($($argument:expr),*)) => {{
        let touched: &[usize] = $touched;
        let mut at = 0;
        while let Some(&first) = touched.get(at) {
            if touched.get(at + 3) == Some(&(first + 3)) {
                $function::<A, 4>($($argument,)* first, at);
                at += 4;
            } else if touched.get(at + 1) == Some(&(first + 1)) {
                $function::<A, 2>($($argument,)* first, at);
                at += 2;
            } else {
                $function::<A, 1>($($argument,)* first, at);
                at += 1;
            }
        }
    }};
}

/// R rows of a triangle from `first` on, up to but without column `first`.
#[inline(always)]
fn rows_before<const R: usize>(triangle: &[PerModel], first: usize) -> [&[PerModel]; R] {
    std::array::from_fn(|r| &triangle[triangle_len(first + r)..][..first])
}

/// Where entries i and j of a run from `first` on meet.
#[inline(always)]
fn within(first: usize, i: usize, j: usize) -> usize {
    triangle_len(first + i.max(j)) + first + i.min(j)
}

/// `out = M h`.
#[inline(always)]
pub(crate) fn times_row<A: Arithmetic>(triangle: &[PerModel], row: SparseRow<'_>, out: &mut [PerModel]) {
    out.fill(PerModel::ZERO);
    by_runs!(row.touched, add_times_run(triangle, row.weights, out));
}

/// Adds the part of a run.
#[inline(always)]
fn add_times_run<A: Arithmetic, const R: usize>(
    triangle: &[PerModel],
    weights: &[PerModel],
    out: &mut [PerModel],
    first: usize,
    at: usize,
) {
    let mut factors = [A::splat(0.0); R];
    for r in 0..R {
        factors[r] = weights[at + r].lane::<A>();
    }
    let (before, rest) = out.split_at_mut(first);
    let (own, after) = rest.split_at_mut(R);
    let rows = rows_before::<R>(triangle, first);
    for (i, out) in before.iter_mut().enumerate() {
        let mut sum = out.lane::<A>();
        for r in 0..R {
            sum = A::mul_add_lanes(rows[r][i].lane::<A>(), factors[r], sum);
        }
        out.set::<A>(sum);
    }
    for i in 0..R {
        let mut sum = own[i].lane::<A>();
        for r in 0..R {
            sum = A::mul_add_lanes(triangle[within(first, i, r)].lane::<A>(), factors[r], sum);
        }
        own[i].set::<A>(sum);
    }
    let mut place = triangle_len(first + R) + first;
    for (i, out) in after.iter_mut().enumerate() {
        let entries = &triangle[place..place + R];
        place += first + R + i + 1;
        let mut sum = out.lane::<A>();
        for r in 0..R {
            sum = A::mul_add_lanes(entries[r].lane::<A>(), factors[r], sum);
        }
        out.set::<A>(sum);
    }
}

/// Prefetches numbers that will soon be read.
#[inline(always)]
pub(crate) fn prefetch<A: Arithmetic>(numbers: &[PerModel]) {
    for line in numbers.as_chunks::<2>().0 {
        A::prefetch(&line[0].0);
    }
}

/// The touched entries of `M x`.
#[inline(always)]
pub(crate) fn touched_entries<A: Arithmetic>(
    triangle: &[PerModel],
    touched: &[usize],
    x: &[PerModel],
    out: &mut [PerModel],
) {
    by_runs!(touched, run_of_entries(triangle, x, out));
}

/// The entries of a run.
#[inline(always)]
fn run_of_entries<A: Arithmetic, const R: usize>(
    triangle: &[PerModel],
    x: &[PerModel],
    out: &mut [PerModel],
    first: usize,
    at: usize,
) {
    let mut sums = [A::splat(0.0); R];
    let (before, rest) = x.split_at(first);
    let (own, after) = rest.split_at(R);
    let rows = rows_before::<R>(triangle, first);
    for (i, x) in before.iter().enumerate() {
        let x = x.lane::<A>();
        for r in 0..R {
            sums[r] = A::mul_add_lanes(rows[r][i].lane::<A>(), x, sums[r]);
        }
    }
    for i in 0..R {
        let x = own[i].lane::<A>();
        for r in 0..R {
            sums[r] = A::mul_add_lanes(triangle[within(first, i, r)].lane::<A>(), x, sums[r]);
        }
    }
    let mut place = triangle_len(first + R) + first;
    for (i, x) in after.iter().enumerate() {
        let entries = &triangle[place..place + R];
        place += first + R + i + 1;
        let x = x.lane::<A>();
        for r in 0..R {
            sums[r] = A::mul_add_lanes(entries[r].lane::<A>(), x, sums[r]);
        }
    }
    for r in 0..R {
        out[at + r].set::<A>(sums[r]);
    }
}

/// `M ← M − Σ x kᵀ` over pairs of vectors stored one after the other, where each `x kᵀ` is symmetric.
#[inline(always)]
pub(crate) fn subtract_outer<A: Arithmetic>(
    triangle: &mut [PerModel],
    size: usize,
    xs: &[PerModel],
    ks: &[PerModel],
) {
    let mut rest = &mut triangle[..triangle_len(size)];
    for i in (0..size).step_by(2) {
        let (one, tail) = std::mem::take(&mut rest).split_at_mut(i + 1);
        let has_two = i + 1 < size;
        let (two, tail) = tail.split_at_mut(if has_two { i + 2 } else { 0 });
        rest = tail;
        if !has_two {
            for j in 0..=i {
                subtract_products::<A, 1, 1>([&mut one[j..=j]], size, (i, j), xs, ks);
            }
            continue;
        }
        let mut j = 0;
        while j + 4 <= i + 1 {
            subtract_products::<A, 2, 4>([&mut one[j..j + 4], &mut two[j..j + 4]], size, (i, j), xs, ks);
            j += 4;
        }
        while j <= i {
            subtract_products::<A, 2, 1>([&mut one[j..=j], &mut two[j..=j]], size, (i, j), xs, ks);
            j += 1;
        }
        subtract_products::<A, 1, 1>([&mut two[i + 1..i + 2]], size, (i + 1, i + 1), xs, ks);
    }
}

/// A tile of [`subtract_outer`]: R rows from `i` and C columns from `j`.
#[inline(always)]
fn subtract_products<A: Arithmetic, const R: usize, const C: usize>(
    tile: [&mut [PerModel]; R],
    size: usize,
    (i, j): (usize, usize),
    xs: &[PerModel],
    ks: &[PerModel],
) {
    let mut sums = [[A::splat(0.0); C]; R];
    for r in 0..R {
        for c in 0..C {
            sums[r][c] = tile[r][c].lane::<A>();
        }
    }
    for (x, k) in xs.chunks_exact(size).zip(ks.chunks_exact(size)) {
        let (x, k) = (&x[i..i + R], &k[j..j + C]);
        for r in 0..R {
            let factor = x[r].lane::<A>();
            for c in 0..C {
                sums[r][c] = A::minus_product(sums[r][c], factor, k[c].lane::<A>());
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            tile[r][c].set::<A>(sums[r][c]);
        }
    }
}

/// `M ← M − h lᵀ − l hᵀ`.
#[inline(always)]
pub(crate) fn subtract_symmetric<A: Arithmetic>(
    triangle: &mut [PerModel],
    row: SparseRow<'_>,
    l: &[PerModel],
) {
    by_runs!(row.touched, subtract_run(triangle, row.weights, l));
}

/// The part of a run: `h lᵀ` in its rows and `l hᵀ` in its columns, both where they meet.
#[inline(always)]
fn subtract_run<A: Arithmetic, const R: usize>(
    triangle: &mut [PerModel],
    weights: &[PerModel],
    l: &[PerModel],
    first: usize,
    at: usize,
) {
    let mut factors = [A::splat(0.0); R];
    for r in 0..R {
        factors[r] = weights[at + r].lane::<A>();
    }
    let (before, rest) = l.split_at(first);
    let (own, after) = rest.split_at(R);
    for r in 0..R {
        let entries = &mut triangle[triangle_len(first + r)..][..first];
        for (entry, l) in entries.iter_mut().zip(before) {
            entry.set::<A>(A::minus_product(entry.lane::<A>(), factors[r], l.lane::<A>()));
        }
    }
    for i in 0..R {
        for j in 0..=i {
            let entry = &mut triangle[within(first, i, j)];
            let once = A::minus_product(entry.lane::<A>(), factors[i], own[j].lane::<A>());
            entry.set::<A>(A::minus_product(once, factors[j], own[i].lane::<A>()));
        }
    }
    let mut place = triangle_len(first + R) + first;
    for (i, l) in after.iter().enumerate() {
        let entries = &mut triangle[place..place + R];
        place += first + R + i + 1;
        let l = l.lane::<A>();
        for r in 0..R {
            entries[r].set::<A>(A::minus_product(entries[r].lane::<A>(), factors[r], l));
        }
    }
}
