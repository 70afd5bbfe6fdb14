//! What the tests do to a corpus: small seeded damage, without any tool and without knowledge of coverage.

/// Inputs near those of a corpus, without end.
#[derive(Clone, Debug)]
pub struct Mutations<'a> {
    corpus: &'a [Vec<u8>],
    state: u64,
}

/// Longer inputs only cost time.
const MOST_BYTES: usize = 1 << 14;

/// Bytes that mean something somewhere.
const TELLING: &[u8] = b"\0\x01\x7f\x80\xff0129-+.eE,;\t\n\r\"'{}[]():/ aNTZ";

/// Inputs near those of a corpus; the same seed gives the same ones.
pub fn mutations(corpus: &[Vec<u8>], seed: u64) -> Mutations<'_> {
    Mutations { corpus, state: seed }
}

impl Mutations<'_> {
    /// SplitMix64.
    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.word() % count.max(1) as u64) as usize
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let length = 1 + self.below(16);
        let end = (at + length).min(bytes.len());
        match self.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = TELLING[self.below(TELLING.len())],
            2 if at < bytes.len() => bytes[at] = self.word() as u8,
            3 => bytes.insert(at, TELLING[self.below(TELLING.len())]),
            4 => drop(bytes.drain(at..end)),
            // A piece once more, there or elsewhere.
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            6 => bytes.truncate(at),
            // The end of another input.
            _ => {
                let other = &self.corpus[self.below(self.corpus.len())];
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
        bytes.truncate(MOST_BYTES);
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.corpus.is_empty() {
            return None;
        }
        let mut bytes = self.corpus[self.below(self.corpus.len())].clone();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes);
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let corpus = vec![b"a,b\n1,2\n".to_vec(), vec![]];
        let some = |seed| mutations(&corpus, seed).take(200).collect::<Vec<_>>();
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
        assert!(mutations(&[], 1).next().is_none());
    }
}
