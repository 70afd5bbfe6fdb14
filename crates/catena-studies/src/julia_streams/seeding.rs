//! The state of the generator from a seed, by version of Julia.

use sha2::{Digest as _, Sha256};

use super::WORDS;

/// The version of Julia, which decides how a seed becomes a state and how the tail of the normal density is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum JuliaVersion {
    /// Up to 1.10: the seed itself is the key of the generator. All of the paper's studies but the one on chain starts.
    #[default]
    UpTo1_10,
    /// From 1.11 on: the SHA-256 digest of the seed is the key. The study on chain starts.
    From1_11,
}

/// The generator's state for a seed.
pub(super) fn seeded_state(version: JuliaVersion, seed: u32) -> Vec<u64> {
    match version {
        JuliaVersion::UpTo1_10 => state_from_key(&[seed]),
        JuliaVersion::From1_11 => {
            let digest = Sha256::digest(seed.to_le_bytes());
            let words = digest
                .chunks_exact(4)
                .map(|bytes| bytes.iter().rev().fold(0_u32, |word, &byte| (word << 8) | u32::from(byte)));
            state_from_key(&words.collect::<Vec<u32>>())
        }
    }
}

/// `init_by_array` of dSFMT: mixing of the key, doubles in [1, 2), and the period certification.
fn state_from_key(key: &[u32]) -> Vec<u64> {
    const SIZE: usize = 768;
    const LAG: usize = 11;
    const MID: usize = (SIZE - LAG) / 2;
    let mix = |x: u32, factor: u32| (x ^ (x >> 27)).wrapping_mul(factor);
    let mut words = [0x8b8b_8b8b_u32; SIZE];
    let mut draw = mix(words[0] ^ words[MID] ^ words[SIZE - 1], 1_664_525);
    words[MID] = words[MID].wrapping_add(draw);
    draw = draw.wrapping_add(key.len() as u32);
    words[MID + LAG] = words[MID + LAG].wrapping_add(draw);
    words[0] = draw;
    let mut i = 1;
    for j in 0..SIZE - 1 {
        let (mid, lag) = ((i + MID) % SIZE, (i + MID + LAG) % SIZE);
        draw = mix(words[i] ^ words[mid] ^ words[(i + SIZE - 1) % SIZE], 1_664_525);
        words[mid] = words[mid].wrapping_add(draw);
        let key_word = key.get(j).copied().unwrap_or(0);
        draw = draw.wrapping_add(key_word).wrapping_add(i as u32);
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
