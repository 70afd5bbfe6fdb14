//! Rows of one, two or four numbers as arrays, and the width of a row as a type.

use super::arithmetic::{Arithmetic, Row};

/// An array of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Plain<A, const W: usize>([f64; W], std::marker::PhantomData<A>);

impl<A: Arithmetic, const W: usize> Plain<A, W> {
    #[inline(always)]
    fn each(entry: impl FnMut(usize) -> f64) -> Self {
        Self(std::array::from_fn(entry), std::marker::PhantomData)
    }
}

impl<A: Arithmetic, const W: usize> Row for Plain<A, W> {
    type Memory = [f64; W];

    #[inline(always)]
    fn rows(numbers: &[f64]) -> &[[f64; W]] {
        numbers.as_chunks::<W>().0
    }
    #[inline(always)]
    fn rows_mut(numbers: &mut [f64]) -> &mut [[f64; W]] {
        numbers.as_chunks_mut::<W>().0
    }
    #[inline(always)]
    fn load(memory: &[f64; W]) -> Self {
        Self(*memory, std::marker::PhantomData)
    }
    #[inline(always)]
    fn store(self, memory: &mut [f64; W]) {
        *memory = self.0;
    }
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Self::each(|_| number)
    }
    #[inline(always)]
    fn broadcast(self, _memory: &[f64; W], slot: usize) -> Self {
        Self::splat(self.0[slot])
    }
    #[inline(always)]
    fn unit(slot: usize) -> Self {
        Self::each(|i| if i == slot { 1.0 } else { 0.0 })
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self::each(|i| self.0[i] * other.0[i])
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::each(|i| self.0[i] + other.0[i])
    }
    #[inline(always)]
    fn times_plus(self, factor: Self, addend: Self) -> Self {
        Self::each(|i| A::mul_add(self.0[i], factor.0[i], addend.0[i]))
    }
    #[inline(always)]
    fn times_from(self, factor: Self, minuend: Self) -> Self {
        Self::each(|i| A::mul_add(-self.0[i], factor.0[i], minuend.0[i]))
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        let mut sum = self.0[0];
        for i in 1..W {
            sum += self.0[i];
        }
        sum
    }
    #[inline(always)]
    fn transposed<const L: usize>(block: [Self; L]) -> [Self; L] {
        std::array::from_fn(|i| Self::each(|j| if j < L { block[j].0[i] } else { 0.0 }))
    }
}

/// The width of a row, as a type.
pub(crate) trait Width: Copy {
    /// How many numbers a row has.
    const WIDTH: usize;
    /// The row for an arithmetic.
    type Row<A: Arithmetic>: Row;
}

/// One latent.
#[derive(Clone, Copy)]
pub(crate) struct One;
/// Two latents.
#[derive(Clone, Copy)]
pub(crate) struct Two;
/// Three or four latents.
#[derive(Clone, Copy)]
pub(crate) struct Four;

impl Width for One {
    const WIDTH: usize = 1;
    type Row<A: Arithmetic> = Plain<A, 1>;
}
impl Width for Two {
    const WIDTH: usize = 2;
    type Row<A: Arithmetic> = A::Two;
}
impl Width for Four {
    const WIDTH: usize = 4;
    type Row<A: Arithmetic> = A::Four;
}
