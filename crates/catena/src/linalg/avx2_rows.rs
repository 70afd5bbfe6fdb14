//! Rows of two and four numbers in the registers of AVX2, with FMA.
//!
//! Only [`super::instruction_sets::Avx2`] names these types, and only `dispatch` selects it, after it has detected both instruction
//! sets. [`Plain`](super::registers::Plain) is the safe equivalent; a test in `dispatch` compares the two.
#![expect(
    unsafe_code,
    reason = "vector instructions; without them a small state's sweep takes twice as long"
)]

use super::arithmetic::Row;
use std::arch::x86_64::{
    __m128d, __m256d, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_fmadd_pd, _mm_fnmadd_pd, _mm_loadu_pd,
    _mm_mul_pd, _mm_set1_pd, _mm_storeu_pd, _mm_unpackhi_pd, _mm_unpacklo_pd, _mm256_add_pd,
    _mm256_castpd256_pd128, _mm256_extractf128_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_loadu_pd,
    _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_storeu_pd, _mm256_unpackhi_pd,
    _mm256_unpacklo_pd,
};

/// Two numbers.
#[derive(Clone, Copy)]
pub(crate) struct TwoInRegister(__m128d);

/// Four numbers.
#[derive(Clone, Copy)]
pub(crate) struct FourInRegister(__m256d);

/// The methods of both, given the names of the instructions.
macro_rules! rows_in_registers {
    ($width:literal, $load:ident, $store:ident, $splat:ident, $times:ident, $plus:ident,
     $times_plus:ident, $times_from:ident) => {
        type Memory = [f64; $width];

        #[inline(always)]
        fn rows(numbers: &[f64]) -> &[[f64; $width]] {
            numbers.as_chunks().0
        }
        #[inline(always)]
        fn rows_mut(numbers: &mut [f64]) -> &mut [[f64; $width]] {
            numbers.as_chunks_mut().0
        }
        #[inline(always)]
        fn load(memory: &[f64; $width]) -> Self {
            // SAFETY: AVX2 was found (see above); the array holds the numbers that are read.
            Self(unsafe { $load(memory.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, memory: &mut [f64; $width]) {
            // SAFETY: AVX2 was found (see above); the array has room for the numbers that are written.
            unsafe { $store(memory.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn splat(number: f64) -> Self {
            // SAFETY: AVX2 was found (see above).
            Self(unsafe { $splat(number) })
        }
        #[inline(always)]
        fn unit(slot: usize) -> Self {
            let mut numbers = [0.0; $width];
            numbers[slot] = 1.0;
            Self::load(&numbers)
        }
        #[inline(always)]
        fn times(self, other: Self) -> Self {
            // SAFETY: AVX2 was found (see above).
            Self(unsafe { $times(self.0, other.0) })
        }
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            // SAFETY: AVX2 was found (see above).
            Self(unsafe { $plus(self.0, other.0) })
        }
        #[inline(always)]
        fn times_plus(self, factor: Self, addend: Self) -> Self {
            // SAFETY: AVX2 and FMA were found (see above).
            Self(unsafe { $times_plus(self.0, factor.0, addend.0) })
        }
        #[inline(always)]
        fn times_from(self, factor: Self, minuend: Self) -> Self {
            // SAFETY: AVX2 and FMA were found (see above).
            Self(unsafe { $times_from(self.0, factor.0, minuend.0) })
        }
    };
}

impl Row for TwoInRegister {
    rows_in_registers!(
        2,
        _mm_loadu_pd,
        _mm_storeu_pd,
        _mm_set1_pd,
        _mm_mul_pd,
        _mm_add_pd,
        _mm_fmadd_pd,
        _mm_fnmadd_pd
    );

    #[inline(always)]
    fn broadcast(self, _memory: &[f64; 2], slot: usize) -> Self {
        // SAFETY: AVX2 was found (see above).
        Self(unsafe {
            if slot == 0 { _mm_unpacklo_pd(self.0, self.0) } else { _mm_unpackhi_pd(self.0, self.0) }
        })
    }

    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: AVX2 was found (see above).
        unsafe { _mm_cvtsd_f64(_mm_add_sd(self.0, _mm_unpackhi_pd(self.0, self.0))) }
    }

    #[inline(always)]
    fn transposed<const L: usize>(mut block: [Self; L]) -> [Self; L] {
        if let [a, b] = &mut block[..] {
            // SAFETY: AVX2 was found (see above).
            (a.0, b.0) = unsafe { (_mm_unpacklo_pd(a.0, b.0), _mm_unpackhi_pd(a.0, b.0)) };
        }
        block
    }
}

impl Row for FourInRegister {
    rows_in_registers!(
        4,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_mul_pd,
        _mm256_add_pd,
        _mm256_fmadd_pd,
        _mm256_fnmadd_pd
    );

    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: AVX2 was found (see above).
        unsafe {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        }
    }

    #[inline(always)]
    fn transposed<const L: usize>(block: [Self; L]) -> [Self; L] {
        let row = |i: usize| if i < L { block[i].0 } else { Self::splat(0.0).0 };
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        // SAFETY: AVX2 was found (see above).
        let columns = unsafe {
            let (low_ab, high_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (low_cd, high_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                _mm256_permute2f128_pd::<0x20>(low_ab, low_cd),
                _mm256_permute2f128_pd::<0x20>(high_ab, high_cd),
                _mm256_permute2f128_pd::<0x31>(low_ab, low_cd),
                _mm256_permute2f128_pd::<0x31>(high_ab, high_cd),
            ]
        };
        std::array::from_fn(|i| Self(columns[i]))
    }
}
