//! e^x for four numbers at once, and the Poisson tails in the process noise of Matérn kernels.

use super::arithmetic::Arithmetic;

/// ln 2 in two parts; products of the first with integers up to 2²⁰ are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Added to a number below 2⁵¹ and subtracted again, it rounds to an integer; in between, the lowest bits hold it.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
/// Below this the result is 0.
const VANISHING: f64 = -700.0;

/// 1/j! at index j.
const INVERSE_FACTORIALS: [f64; 20] = {
    let mut table = [1.0; 20];
    let mut factorial = 1.0;
    let mut j = 1;
    while j < table.len() {
        factorial *= j as f64;
        table[j] = 1.0 / factorial;
        j += 1;
    }
    table
};

/// Horner's rule in x², for even and odd terms in parallel.
#[inline(always)]
fn polynomial<A: Arithmetic, const TERMS: usize>(x: A::Lane, coefficients: &[f64; TERMS]) -> A::Lane {
    let square = A::times(x, x);
    let mut sums = [A::splat(coefficients[TERMS - 2]), A::splat(coefficients[TERMS - 1])];
    // Starts with the last two terms.
    for j in (0..TERMS - 2).rev() {
        let sum = (TERMS - 2 - j) % 2;
        sums[sum] = A::mul_add_lanes(sums[sum], square, A::splat(coefficients[j]));
    }
    // The sum of the last index handled, 0, holds the even terms.
    let even = TERMS % 2;
    A::mul_add_lanes(sums[1 - even], x, sums[even])
}

/// e^x for x ≤ 0, to about one unit in the last place, and 0 below −700.
#[inline(always)]
pub(crate) fn exp_of_negative<A: Arithmetic>(x: A::Lane) -> A::Lane {
    // x = n·ln 2 + rest; an x below the limit is replaced, so that 2^n is a normal number.
    let vanishing = A::splat(VANISHING);
    let kept = A::where_less(x, vanishing, vanishing, x);
    let shifted = A::mul_add_lanes(kept, A::splat(std::f64::consts::LOG2_E), A::splat(ROUNDING));
    let whole = A::minus(shifted, A::splat(ROUNDING));
    let rest = A::mul_add_lanes(whole, A::splat(-LN_2_HIGH), kept);
    let rest = A::mul_add_lanes(whole, A::splat(-LN_2_LOW), rest);
    // |rest| ≤ ½ ln 2: the term of order 14 is below 1e-17. e^rest = 1 + rest·(…), so that the last addition rounds once.
    let mut tail = [0.0; 13];
    tail.copy_from_slice(&INVERSE_FACTORIALS[1..14]);
    let series = A::mul_add_lanes(polynomial::<A, 13>(rest, &tail), rest, A::splat(1.0));
    A::where_less(x, vanishing, A::splat(0.0), A::scale_by_bits(series, shifted))
}

/// `1 − e^−v Σ_{j≤ORDER} v^j/j!` for 0 ≤ v < 1e5, with `decay = e^−v` given; ORDER is 0, 1 or 2.
///
/// For small v the tail is summed, because subtracting from 1 would cancel.
#[inline(always)]
pub(crate) fn poisson_tail<A: Arithmetic, const ORDER: usize>(v: A::Lane, decay: A::Lane) -> A::Lane {
    // e^−v v^(ORDER+1) Σ_j v^j/(ORDER+1+j)!; at ½ the fourteenth term is below 1e-16 of the first.
    let mut summed = [0.0; 14];
    for j in 0..14 {
        summed[j] = INVERSE_FACTORIALS[ORDER + 1 + j];
    }
    let mut leading = A::times(decay, v);
    for _ in 0..ORDER {
        leading = A::times(leading, v);
    }
    let small = A::times(leading, polynomial::<A, 14>(v, &summed));
    let mut head = A::splat(INVERSE_FACTORIALS[ORDER]);
    for j in (0..ORDER).rev() {
        head = A::mul_add_lanes(head, v, A::splat(INVERSE_FACTORIALS[j]));
    }
    let large = A::minus(A::splat(1.0), A::times(decay, head));
    A::where_less(v, A::splat(0.5), small, large)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Job, Layout, Separate, StateAlgebra, dispatch_machine};

    /// e^x of many numbers, for the machine's own arithmetic.
    struct Exponentials<'a>(&'a [f64]);

    impl Job for Exponentials<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) -> Vec<f64> {
            let mut out = vec![];
            for four in self.0.as_chunks::<4>().0 {
                let mut lane = [0.0; 4];
                A::store(exp_of_negative::<A>(A::load(four)), &mut lane);
                out.extend(lane);
            }
            out
        }
    }

    #[test]
    fn exponentials_are_those_of_the_standard_library() {
        let mut numbers: Vec<f64> = (0..200_000).map(|at| -0.0035 * f64::from(at)).collect();
        numbers.extend((0..4000).map(|at| -(2.0_f64.powf(-f64::from(at) / 60.0))));
        numbers.extend([0.0, -0.0, -1e-300, -700.0]);
        let layout = Layout::new(&[1; 4]);
        for found in [
            Exponentials(&numbers).run::<Separate, _>(layout.dynamic()),
            dispatch_machine(&layout, Exponentials(&numbers)),
        ] {
            assert_eq!(found.len(), numbers.len());
            for (x, found) in numbers.iter().zip(found) {
                let expected = x.exp();
                assert!((found - expected).abs() <= 4e-16 * expected, "e^{x}: {found} instead of {expected}");
            }
        }
        let vanished = dispatch_machine(&layout, Exponentials(&[-701.0, -1e10, -1e300, f64::NEG_INFINITY]));
        assert_eq!(vanished, [0.0; 4]);
    }
}
