//! The random streams of the paper's studies, bit for bit: Julia's `MersenneTwister` (dSFMT-19937, seeding of Julia up to
//! 1.10), its ziggurat `randn` and its `randperm`.
//!
//! Arrays fill column by column. Long arrays bypass the generator's cache of 1002 numbers, so the order and the sizes of
//! the draws matter: a stream must be asked for exactly what the authors asked.

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
    ziggurat: Ziggurat,
}

impl JuliaStream {
    /// The stream of this seed.
    pub fn new(seed: u32) -> Self {
        Self { state: seeded_state(seed), cache: vec![0; CACHE], used: CACHE, ziggurat: Ziggurat::new() }
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
            let x = -self.rand().ln() / TAIL;
            let y = -self.rand().ln();
            if y + y > x * x {
                return if is_negative { -TAIL - x } else { TAIL + x };
            }
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

/// `init_by_array([seed])` of dSFMT: mixing, doubles in [1, 2), and the period certification.
fn seeded_state(seed: u32) -> Vec<u64> {
    const SIZE: usize = 768;
    const LAG: usize = 11;
    const MID: usize = (SIZE - LAG) / 2;
    let mix = |x: u32, factor: u32| (x ^ (x >> 27)).wrapping_mul(factor);
    let mut words = [0x8b8b_8b8b_u32; SIZE];
    let mut draw = mix(words[0] ^ words[MID] ^ words[SIZE - 1], 1_664_525);
    words[MID] = words[MID].wrapping_add(draw);
    draw = draw.wrapping_add(1);
    words[MID + LAG] = words[MID + LAG].wrapping_add(draw);
    words[0] = draw;
    let mut i = 1;
    for j in 0..SIZE - 1 {
        let (mid, lag) = ((i + MID) % SIZE, (i + MID + LAG) % SIZE);
        draw = mix(words[i] ^ words[mid] ^ words[(i + SIZE - 1) % SIZE], 1_664_525);
        words[mid] = words[mid].wrapping_add(draw);
        let key = if j == 0 { seed } else { 0 };
        draw = draw.wrapping_add(key).wrapping_add(i as u32);
        words[lag] = words[lag].wrapping_add(draw);
        words[i] = draw;
        i = (i + 1) % SIZE;
    }
    for _ in 0..SIZE {
        let (mid, lag) = ((i + MID) % SIZE, (i + MID + LAG) % SIZE);
        let sum = words[i].wrapping_add(words[mid]).wrapping_add(words[(i + SIZE - 1) % SIZE]);
        draw = mix(sum, 1_566_083_941);
        words[mid] ^= draw;
        draw = draw.wrapping_sub(i as u32);
        words[lag] ^= draw;
        words[i] = draw;
        i = (i + 1) % SIZE;
    }
    let mut state: Vec<u64> =
        words.chunks_exact(2).map(|pair| u64::from(pair[0]) | (u64::from(pair[1]) << 32)).collect();
    for word in &mut state[..2 * WORDS] {
        *word = (*word & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000;
    }
    let lung0 = state[2 * WORDS] ^ 0x9001_4964_b32f_4329;
    let lung1 = state[2 * WORDS + 1] ^ 0x3b8d_12ac_548a_7c7a;
    let parity = (lung0 & 0x3d84_e1ac_0dc8_2880) ^ (lung1 & 1);
    if parity.count_ones().is_multiple_of(2) {
        state[2 * WORDS + 1] ^= 1;
    }
    state
}

/// Where the tail of the normal density begins.
const TAIL: f64 = 3.654_152_885_361_008_796_351_947_251_856_046_648_127_333_159_209_644_888;
/// The area of each strip: TAIL·e^(−TAIL²/2) plus the tail beyond it.
const AREA: f64 = 0.004_928_673_233_974_658;

/// Tables of the ziggurat: strips of equal area under the normal density.
#[derive(Clone, Debug)]
struct Ziggurat {
    inside: Vec<i64>,
    width: Vec<f64>,
    height: Vec<f64>,
}

impl Ziggurat {
    fn new() -> Self {
        let scale = (1_u64 << 51) as f64;
        let (mut inside, mut width, mut height) = (vec![0; 256], vec![0.0; 256], vec![0.0; 256]);
        let mut outer = TAIL;
        width[255] = outer / scale;
        height[255] = (-0.5 * outer * outer).exp();
        inside[0] = (outer * height[255] / AREA * scale) as i64;
        width[0] = AREA / height[255] / scale;
        height[0] = 1.0;
        for strip in (1..255).rev() {
            let x = (-2.0 * (AREA / outer + height[strip + 1]).ln()).sqrt();
            inside[strip + 1] = (x / outer * scale) as i64;
            width[strip] = x / scale;
            height[strip] = (-0.5 * x * x).exp();
            outer = x;
        }
        Self { inside, width, height }
    }
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
