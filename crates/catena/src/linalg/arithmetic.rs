//! The contract of an instruction set: arithmetic on one number, on a lane of four, and on the rows of a small state.

/// Fused or separate multiplication and addition, for one number or for a *lane* of four.
pub(crate) trait Arithmetic: Copy {
    /// Four numbers.
    type Lane: Copy;
    /// Two numbers, as a row of a small state.
    type Two: Row;
    /// Four numbers, as a row of a small state.
    type Four: Row;
    /// `a·b + c`.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;
    /// Four numbers from memory.
    fn load(numbers: &[f64; 4]) -> Self::Lane;
    /// Four numbers to memory.
    fn store(lane: Self::Lane, numbers: &mut [f64; 4]);
    /// The same number four times.
    fn splat(number: f64) -> Self::Lane;
    /// `a·b`, entry by entry.
    fn times(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// `a + b`, entry by entry.
    fn plus(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// `a − b`, entry by entry.
    fn minus(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// `a·b + c`, entry by entry.
    fn mul_add_lanes(a: Self::Lane, b: Self::Lane, c: Self::Lane) -> Self::Lane;
    /// `c − a·b`, entry by entry.
    fn minus_product(c: Self::Lane, a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// `a/b`, entry by entry.
    fn divide(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// The smaller of a and b, entry by entry.
    fn min(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// `yes` where a < b, else `no`, entry by entry.
    fn where_less(a: Self::Lane, b: Self::Lane, yes: Self::Lane, no: Self::Lane) -> Self::Lane;
    /// `a·2^n`, entry by entry, where the lowest bits of `shifted` hold n; the product must be a normal number.
    fn scale_by_bits(a: Self::Lane, shifted: Self::Lane) -> Self::Lane;
    /// Prefetches numbers that will soon be read.
    #[inline(always)]
    fn prefetch(_numbers: &[f64]) {}
    /// The sum of the four entries.
    #[inline(always)]
    fn sum(lane: Self::Lane) -> f64 {
        let mut numbers = [0.0; 4];
        Self::store(lane, &mut numbers);
        (numbers[0] + numbers[2]) + (numbers[1] + numbers[3])
    }
}

/// One number per slot of a part of a small state.
pub(crate) trait Row: Copy {
    /// The same in memory.
    type Memory: Copy + AsRef<[f64]>;
    /// A slice as whole rows.
    fn rows(numbers: &[f64]) -> &[Self::Memory];
    /// The same, mutable.
    fn rows_mut(numbers: &mut [f64]) -> &mut [Self::Memory];
    /// A row from memory.
    fn load(memory: &Self::Memory) -> Self;
    /// A row to memory.
    fn store(self, memory: &mut Self::Memory);
    /// The same number in every slot.
    fn splat(number: f64) -> Self;
    /// The number of one slot in every slot, from the register or from `memory`, which holds the same; whichever is faster.
    #[inline(always)]
    fn broadcast(self, memory: &Self::Memory, slot: usize) -> Self {
        let _ = self;
        Self::splat(memory.as_ref()[slot])
    }
    /// 1 in one slot, else 0.
    fn unit(slot: usize) -> Self;
    /// `self·other`, entry by entry.
    fn times(self, other: Self) -> Self;
    /// `self + other`, entry by entry.
    fn plus(self, other: Self) -> Self;
    /// `self·factor + addend`, entry by entry.
    fn times_plus(self, factor: Self, addend: Self) -> Self;
    /// `minuend − self·factor`, entry by entry.
    fn times_from(self, factor: Self, minuend: Self) -> Self;
    /// The sum of all entries.
    fn sum(self) -> f64;
    /// The transpose of a block of L rows; entries beyond slot L are zero.
    fn transposed<const L: usize>(block: [Self; L]) -> [Self; L];
}
