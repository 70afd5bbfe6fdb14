//! Integers of a range, which have a cache of their own: 501 words of 128 bits made from 1254 doubles.

use super::JuliaStream;

/// 128-bit words in the cache; each gives two 64-bit integers.
const WORDS: usize = 501;
/// Spare words whose 104 random bits complete those of the cache, four cached words each.
const SPARE: usize = 126;

/// 64-bit integers drawn in advance, given out from the end.
#[derive(Clone, Debug, Default)]
pub(super) struct IntegerCache {
    integers: Vec<u64>,
}

impl JuliaStream {
    /// An integer of 0…n−1, drawn as Julia draws from `1:n`; n is at least 1.
    pub fn rand_below(&mut self, n: u64) -> u64 {
        loop {
            let product = u128::from(self.next_integer()) * u128::from(n);
            let low_half = product as u64;
            // Rejected, so that each integer has the same number of 64-bit draws.
            if low_half >= n || low_half >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    fn next_integer(&mut self) -> u64 {
        loop {
            if let Some(integer) = self.integer_cache.integers.pop() {
                return integer;
            }
            self.integer_cache.integers = self.integers_of_doubles();
        }
    }

    /// The cache anew. A double has 52 random bits, so that a word of two lacks 24; spare words fill them in.
    fn integers_of_doubles(&mut self) -> Vec<u64> {
        // Straight from the recursion, past the cache of doubles.
        let mut doubles = vec![0; 2 * (WORDS + SPARE)];
        super::generate(&mut self.state, &mut doubles);
        let mut words: Vec<u128> =
            doubles.chunks_exact(2).map(|pair| u128::from(pair[0]) | (u128::from(pair[1]) << 64)).collect();
        let spare = words.split_off(WORDS);
        for (word, at) in words.iter_mut().zip(0..) {
            *word ^= spare[at / 4] << (48 - 12 * (at % 4));
        }
        words.iter().flat_map(|&word| [word as u64, (word >> 64) as u64]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::julia_streams::JuliaVersion;

    #[test]
    fn known_first_draws() {
        let mut stream = JuliaStream::with_version(JuliaVersion::From1_11, 0);
        let drawn: Vec<u64> = (0..5).map(|_| 1 + stream.rand_below(20)).collect();
        assert_eq!(drawn, [3, 15, 11, 1, 9]);
    }

    #[test]
    fn every_integer_of_a_range_is_drawn_and_no_other() {
        let mut stream = JuliaStream::with_version(JuliaVersion::From1_11, 1);
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[stream.rand_below(7) as usize] += 1;
        }
        // Five standard deviations of a count are 146.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(stream.rand_below(1), 0);
    }
}
