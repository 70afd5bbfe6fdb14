//! Multiply-add, whose fast form depends on the machine.

/// Multiply-add, fused or not.
pub(super) trait MultiplyAdd {
    /// `a·b + c`.
    fn multiply_add(a: f64, b: f64, c: f64) -> f64;
}

/// Two roundings; any machine.
pub(super) struct Separate;
/// One rounding; fast only where the hardware has it.
pub(super) struct Fused;

impl MultiplyAdd for Separate {
    #[inline(always)]
    fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

impl MultiplyAdd for Fused {
    #[inline(always)]
    fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}
