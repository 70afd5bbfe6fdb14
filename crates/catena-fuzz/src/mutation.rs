//! Seeded mutations of a corpus for the tests: no tool, no coverage feedback.

use catena_testkit::random::SplitMix64;

/// An endless stream of mutated inputs.
#[derive(Clone, Debug)]
pub struct Mutations<'a> {
    corpus: &'a [Vec<u8>],
    random: SplitMix64,
}

/// Longer inputs are truncated.
const MOST_BYTES: usize = 1 << 14;

/// Bytes with a meaning in some format.
const SPECIAL: &[u8] = b"\0\x01\x7f\x80\xff0129-+.eE,;\t\n\r\"'{}[]():/ aNTZ";

/// Mutations of the inputs of a corpus; equal seeds give equal inputs.
pub fn mutations(corpus: &[Vec<u8>], seed: u64) -> Mutations<'_> {
    Mutations { corpus, random: SplitMix64::new(seed) }
}

impl Mutations<'_> {
    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.below(bytes.len() + 1);
        let length = 1 + self.random.below(16);
        let end = (at + length).min(bytes.len());
        match self.random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.random.below(8),
            1 if at < bytes.len() => bytes[at] = SPECIAL[self.random.below(SPECIAL.len())],
            2 if at < bytes.len() => bytes[at] = self.random.bits() as u8,
            3 => bytes.insert(at, SPECIAL[self.random.below(SPECIAL.len())]),
            4 => drop(bytes.drain(at..end)),
            // Copies a range.
            5 => {
                let range = bytes[at..end].to_vec();
                let to = self.random.below(bytes.len() + 1);
                bytes.splice(to..to, range);
            }
            6 => bytes.truncate(at),
            // Appends the end of another input.
            _ => {
                let other = &self.corpus[self.random.below(self.corpus.len())];
                let from = self.random.below(other.len() + 1);
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
        let mut bytes = self.corpus[self.random.below(self.corpus.len())].clone();
        for _ in 0..=self.random.below(6) {
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
