//! The random streams of the paper's studies, bit for bit: Julia's `MersenneTwister` (dSFMT-19937) with `rand`, the ziggurat
//! `randn`, `randperm` and integers of a range.
//!
//! Julia 1.11 changed the seeding and the tail of `randn`, so a stream has a version ([`JuliaVersion`]). Arrays fill column by
//! column. Long arrays bypass the generator's cache of 1002 numbers, so the order and the sizes of the draws matter: a
//! stream must be asked for exactly what the authors asked.

mod integers;
mod seeding;
mod ziggurat;

use integers::IntegerCache;
pub use seeding::JuliaVersion;
use ziggurat::{TAIL, Ziggurat};

/// 128-bit words of the generator's state.
const WORDS: usize = 191;
/// How far ahead the recursion reaches.
const REACH: usize = 117;
/// Numbers cached for scalar draws.
const CACHE: usize = 1002;
/// Arrays with fewer numbers than this (after two are set aside) come from the cache.
const SHORTEST_BULK: usize = 382;
/// Arrays of normals with fewer numbers than this are drawn one by one.
const SHORTEST_NORMAL_ARRAY: usize = 13;

/// A stream of numbers from one seed.
#[derive(Clone, Debug)]
pub struct JuliaStream {
    /// WORDS 128-bit words as pairs, then the lung.
    state: Vec<u64>,
    cache: Vec<u64>,
    used: usize,
    integer_cache: IntegerCache,
    ziggurat: Ziggurat,
    version: JuliaVersion,
}

impl JuliaStream {
    /// The stream of this seed in Julia up to 1.10.
    pub fn new(seed: u32) -> Self {
        Self::with_version(JuliaVersion::UpTo1_10, seed)
    }

    /// The stream of this seed in a version of Julia.
    pub fn with_version(version: JuliaVersion, seed: u32) -> Self {
        Self {
            state: seeding::seeded_state(version, seed),
            cache: vec![0; CACHE],
            used: CACHE,
            integer_cache: IntegerCache::default(),
            ziggurat: Ziggurat::new(),
            version,
        }
    }

    /// The next number in [0, 1).
    pub fn rand(&mut self) -> f64 {
        f64::from_bits(self.next_bits()) - 1.0
    }

    /// `n` numbers in [0, 1) drawn as one array.
    pub fn rand_array(&mut self, n: usize) -> Vec<f64> {
        self.bits_array(n).into_iter().map(|bits| f64::from_bits(bits) - 1.0).collect()
    }

    /// The next standard normal number.
    pub fn randn(&mut self) -> f64 {
        let bits = self.next_bits();
        self.normal_from(bits)
    }

    /// `n` standard normal numbers drawn as one array.
    pub fn randn_array(&mut self, n: usize) -> Vec<f64> {
        if n < SHORTEST_NORMAL_ARRAY {
            return (0..n).map(|_| self.randn()).collect();
        }
        let bits = self.bits_array(n);
        bits.into_iter().map(|bits| self.normal_from(bits)).collect()
    }

    /// A permutation of 0…n−1.
    pub fn randperm(&mut self, n: usize) -> Vec<usize> {
        let mut permutation = vec![0; n];
        let mut mask = 3;
        for i in 1..n {
            let j = loop {
                let draw = (self.next_bits() & mask) as usize;
                if draw <= i {
                    break draw;
                }
            };
            permutation[i] = permutation[j];
            permutation[j] = i;
            if i as u64 == mask {
                mask = 2 * mask + 1;
            }
        }
        permutation
    }

    /// The next double in [1, 2), as bits.
    fn next_bits(&mut self) -> u64 {
        if self.used == CACHE {
            generate(&mut self.state, &mut self.cache);
            self.used = 0;
        }
        self.used += 1;
        self.cache[self.used - 1]
    }

    fn bits_array(&mut self, n: usize) -> Vec<u64> {
        let bulk = n.saturating_sub(2) / 2 * 2;
        if bulk < SHORTEST_BULK {
            return (0..n).map(|_| self.next_bits()).collect();
        }
        let mut bits = vec![0; bulk];
        generate(&mut self.state, &mut bits);
        bits.extend((bulk..n).map(|_| self.next_bits()));
        bits
    }

    fn normal_from(&mut self, bits: u64) -> f64 {
        let mut bits = bits;
        loop {
            let mantissa = bits & 0x000f_ffff_ffff_ffff;
            let (magnitude, is_negative) = ((mantissa >> 1) as i64, mantissa & 1 == 1);
            let strip = (magnitude & 0xff) as usize;
            let signed = if is_negative { -magnitude } else { magnitude };
            let x = signed as f64 * self.ziggurat.width[strip];
            if magnitude < self.ziggurat.inside[strip] {
                return x;
            }
            if strip == 0 {
                return self.normal_tail((magnitude >> 8) & 1 == 1);
            }
            let (low, high) = (self.ziggurat.height[strip], self.ziggurat.height[strip - 1]);
            if (high - low) * self.rand() + low < (-0.5 * x * x).exp() {
                return x;
            }
            bits = self.next_bits();
        }
    }

    fn normal_tail(&mut self, is_negative: bool) -> f64 {
        loop {
            let x = -self.log_of_uniform() / TAIL;
            let y = -self.log_of_uniform();
            if y + y > x * x {
                return if is_negative { -TAIL - x } else { TAIL + x };
            }
        }
    }

    /// The logarithm of a uniform number: of the draw itself up to Julia 1.10, of its complement, which is never 0, from 1.11 on.
    fn log_of_uniform(&mut self) -> f64 {
        let draw = self.rand();
        match self.version {
            JuliaVersion::UpTo1_10 => draw.ln(),
            JuliaVersion::From1_11 => (-draw).ln_1p(),
        }
    }
}

/// Runs the recursion to fill `out` (an even number of words), leaving the state as if the oldest word came first.
fn generate(state: &mut [u64], out: &mut [u64]) {
    let (mut lung0, mut lung1) = (state[2 * WORDS], state[2 * WORDS + 1]);
    let steps = out.len() / 2;
    for step in 0..steps {
        let (here, ahead) = (step % WORDS, (step + REACH) % WORDS);
        let (word0, word1) = (state[2 * here], state[2 * here + 1]);
        let next0 = (word0 << 19) ^ lung1.rotate_left(32) ^ state[2 * ahead];
        let next1 = (word1 << 19) ^ lung0.rotate_left(32) ^ state[2 * ahead + 1];
        (lung0, lung1) = (next0, next1);
        state[2 * here] = (next0 >> 12) ^ (next0 & 0x000f_faff_ffff_fb3f) ^ word0;
        state[2 * here + 1] = (next1 >> 12) ^ (next1 & 0x000f_fdff_fc90_fffd) ^ word1;
        out[2 * step..2 * step + 2].copy_from_slice(&state[2 * here..2 * here + 2]);
    }
    state[..2 * WORDS].rotate_left(2 * (steps % WORDS));
    (state[2 * WORDS], state[2 * WORDS + 1]) = (lung0, lung1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_first_draws() {
        assert_eq!(JuliaStream::new(42).rand(), 0.533_183_016_043_861_3);
        assert_eq!(JuliaStream::new(0).rand(), 0.823_647_507_977_412_4);
        assert!((JuliaStream::new(42).randn() + 0.556_026_876_146_386_1).abs() < 1e-15);
    }

    #[test]
    fn known_first_draws_of_julia_1_11() {
        let stream = |seed| JuliaStream::with_version(JuliaVersion::From1_11, seed);
        assert_eq!(stream(42).rand(), 0.710_823_867_343_446_4);
        assert_eq!(stream(0).rand(), 0.443_730_844_947_549_44);
        assert!((stream(42).randn() - 1.210_282_022_049_036_2).abs() < 1e-15);
        assert_eq!(stream(7777).randperm(5), [2, 3, 1, 4, 0]);
    }

    /// Bulk arrays, the cache after them, and (in the second) the tail of the ziggurat.
    #[test]
    fn arrays_then_scalars() {
        let mut stream = JuliaStream::new(0);
        let long = stream.randn_array(4000);
        let short = stream.randn_array(6);
        let found = [long[0], long[3999], short[0], short[5]];
        let expected = [
            0.679_107_426_035_776_6,
            1.968_993_172_749_082_4,
            -0.411_832_402_209_118_04,
            -0.454_542_825_440_259_26,
        ];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
        let mut stream = JuliaStream::new(5);
        let long = stream.randn_array(64_000);
        let farthest = long.iter().fold(0.0_f64, |farthest, x| farthest.max(x.abs()));
        let found = [long[63_999], stream.randn_array(6)[5], farthest];
        let expected = [-1.055_112_396_398_541_2, -0.354_756_076_115_704_9, 4.658_251_335_567_824];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn permutations() {
        assert_eq!(JuliaStream::new(7777).randperm(10), [4, 2, 0, 3, 8, 7, 6, 9, 1, 5]);
        assert_eq!(JuliaStream::new(7777).randperm(2000)[..8], [1384, 379, 15, 182, 910, 1682, 1572, 800]);
    }
}
