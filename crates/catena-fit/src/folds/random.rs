//! Random numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A number in 0..bound; the bias of at most bound/2⁶⁴ is negligible.
pub(crate) fn below(generator: &mut ChaCha8Rng, bound: usize) -> usize {
    (generator.next_u64() % bound.max(1) as u64) as usize
}

/// A number in [0, 1).
pub(super) fn uniform(generator: &mut ChaCha8Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
}
