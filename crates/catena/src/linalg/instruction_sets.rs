//! The instruction sets: fused arithmetic in vector registers where the machine has them, else on arrays.

use super::arithmetic::Arithmetic;
use super::registers::Plain;

/// Lanes as arrays, for arithmetic without registers of its own.
macro_rules! lanes_as_arrays {
    () => {
        type Lane = [f64; 4];
        type Two = Plain<Self, 2>;
        type Four = Plain<Self, 4>;
        #[inline(always)]
        fn load(numbers: &[f64; 4]) -> [f64; 4] {
            *numbers
        }
        #[inline(always)]
        fn store(lane: [f64; 4], numbers: &mut [f64; 4]) {
            *numbers = lane;
        }
        #[inline(always)]
        fn splat(number: f64) -> [f64; 4] {
            [number; 4]
        }
        #[inline(always)]
        fn times(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
        }
        #[inline(always)]
        fn plus(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
        }
        #[inline(always)]
        fn minus(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
        }
        #[inline(always)]
        fn minus_product(c: [f64; 4], a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            let entry = |i: usize| Self::mul_add(-a[i], b[i], c[i]);
            [entry(0), entry(1), entry(2), entry(3)]
        }
        #[inline(always)]
        fn divide(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            [a[0] / b[0], a[1] / b[1], a[2] / b[2], a[3] / b[3]]
        }
        #[inline(always)]
        fn min(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
            std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
        }
        #[inline(always)]
        fn where_less(a: [f64; 4], b: [f64; 4], yes: [f64; 4], no: [f64; 4]) -> [f64; 4] {
            std::array::from_fn(|i| if a[i] < b[i] { yes[i] } else { no[i] })
        }
        #[inline(always)]
        fn scale_by_bits(a: [f64; 4], shifted: [f64; 4]) -> [f64; 4] {
            std::array::from_fn(|i| {
                f64::from_bits(a[i].to_bits().wrapping_add(shifted[i].to_bits().wrapping_shl(52)))
            })
        }
        #[inline(always)]
        fn mul_add_lanes(a: [f64; 4], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
            let entry = |i: usize| Self::mul_add(a[i], b[i], c[i]);
            [entry(0), entry(1), entry(2), entry(3)]
        }
    };
}

/// Two roundings per product and sum, on any machine.
#[derive(Clone, Copy)]
pub(crate) struct Separate;

impl Arithmetic for Separate {
    lanes_as_arrays!();
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

/// One rounding, for machines whose base instruction set has a fused instruction.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub(crate) struct Fused;

#[cfg(target_arch = "aarch64")]
impl Arithmetic for Fused {
    lanes_as_arrays!();
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

/// Lanes in the registers of AVX2, with FMA.
///
/// The compiler alone keeps arrays of four in scalar registers; named registers make a whole sweep 2–3 times
/// faster (`catena-bench sweep`). [`Separate`] is the safe equivalent; a test in `dispatch` compares the two.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; a whole sweep is 2–3 times faster")]
mod avx2 {
    use super::super::avx2_rows::{FourInRegister, TwoInRegister};
    use super::Arithmetic;
    use std::arch::x86_64::{
        __m256d, _CMP_LT_OQ, _MM_HINT_T0, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_prefetch,
        _mm_unpackhi_pd, _mm256_add_epi64, _mm256_add_pd, _mm256_blendv_pd, _mm256_castpd_si256,
        _mm256_castpd256_pd128, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_div_pd, _mm256_extractf128_pd,
        _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_loadu_pd, _mm256_min_pd, _mm256_mul_pd, _mm256_set1_pd,
        _mm256_slli_epi64, _mm256_storeu_pd, _mm256_sub_pd,
    };

    /// One rounding per product and sum, four at a time. Only `dispatch` selects it, after it has detected
    /// AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2;

    impl Arithmetic for Avx2 {
        type Lane = __m256d;
        type Two = TwoInRegister;
        type Four = FourInRegister;

        #[inline(always)]
        fn mul_add(a: f64, b: f64, c: f64) -> f64 {
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn load(numbers: &[f64; 4]) -> __m256d {
            // SAFETY: AVX2 was found (see the type); the array holds the four numbers that are read.
            unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
        }
        #[inline(always)]
        fn store(lane: __m256d, numbers: &mut [f64; 4]) {
            // SAFETY: AVX2 was found (see the type); the array has room for the four numbers that are written.
            unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), lane) }
        }
        #[inline(always)]
        fn splat(number: f64) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_set1_pd(number) }
        }
        #[inline(always)]
        fn times(a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_mul_pd(a, b) }
        }
        #[inline(always)]
        fn plus(a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_add_pd(a, b) }
        }
        #[inline(always)]
        fn minus(a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_sub_pd(a, b) }
        }
        #[inline(always)]
        fn minus_product(c: __m256d, a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 and FMA were found (see the type).
            unsafe { _mm256_fnmadd_pd(a, b, c) }
        }
        #[inline(always)]
        fn divide(a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_div_pd(a, b) }
        }
        #[inline(always)]
        fn min(a: __m256d, b: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_min_pd(a, b) }
        }
        #[inline(always)]
        fn where_less(a: __m256d, b: __m256d, yes: __m256d, no: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe { _mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) }
        }
        #[inline(always)]
        fn scale_by_bits(a: __m256d, shifted: __m256d) -> __m256d {
            // SAFETY: AVX2 was found (see the type).
            unsafe {
                let exponents = _mm256_slli_epi64::<52>(_mm256_castpd_si256(shifted));
                _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), exponents))
            }
        }
        #[inline(always)]
        fn prefetch(numbers: &[f64]) {
            for line in numbers.chunks(8) {
                // SAFETY: prefetching reads nothing; the address is inside the slice all the same.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
            }
        }
        #[inline(always)]
        fn sum(lane: __m256d) -> f64 {
            // SAFETY: AVX2 was found (see the type).
            unsafe {
                let halves = _mm_add_pd(_mm256_castpd256_pd128(lane), _mm256_extractf128_pd::<1>(lane));
                _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
            }
        }
        #[inline(always)]
        fn mul_add_lanes(a: __m256d, b: __m256d, c: __m256d) -> __m256d {
            // SAFETY: AVX2 and FMA were found (see the type).
            unsafe { _mm256_fmadd_pd(a, b, c) }
        }
    }
}
