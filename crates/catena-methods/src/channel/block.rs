//! Independent sets of channels.

use super::Channels;
use crate::correlation::Correlations;

/// Channels of one location within a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) location: usize,
    /// Index of the first channel in the block's list.
    pub(crate) start: usize,
    /// One past the last.
    pub(crate) end: usize,
}

/// Channels that are factored together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Channel numbers, ascending.
    pub(crate) channels: Vec<usize>,
    /// The channels location by location.
    pub(crate) runs: Vec<Run>,
}

/// With more kinds of channels than this, the search for independent sets is skipped: it is quadratic.
const MOST_KINDS: usize = 1024;

impl Channels {
    /// The blocks of a problem, by their first channel. Two channels are independent at all locations if
    /// `Σ_{l: κ_l = κ} a_cl a_c'l = 0` for every correlation function κ. That holds for outputs that share no latent, for
    /// orthogonal loadings, and for all channels of complete rows if there is a single κ.
    pub(crate) fn independent_blocks(&self, correlations: &Correlations) -> Vec<Block> {
        let kinds = self.kinds();
        let n_kinds: usize = self.patterns.iter().map(|pattern| pattern.n_channels).sum();
        let mut root: Vec<usize> = (0..n_kinds).collect();
        if n_kinds > MOST_KINDS {
            root.fill(0);
        } else {
            let loadings: Vec<&[f64]> = self
                .patterns
                .iter()
                .flat_map(|pattern| pattern.loadings.chunks_exact(self.n_latents))
                .collect();
            for a in 0..n_kinds {
                for b in 0..a {
                    if are_dependent(loadings[a], loadings[b], correlations.first_equal()) {
                        let (low, high) = (root[a].min(root[b]), root[a].max(root[b]));
                        root.iter_mut().filter(|root| **root == high).for_each(|root| *root = low);
                    }
                }
            }
        }
        let mut number_of = vec![None; n_kinds];
        let mut blocks: Vec<Block> = vec![];
        for location in 0..self.n_locations() {
            for channel in self.of_location(location) {
                let kind = kinds[self.pattern_of[location]] + channel - self.start[location];
                let number = *number_of[root[kind]].get_or_insert_with(|| {
                    blocks.push(Block { channels: vec![], runs: vec![] });
                    blocks.len() - 1
                });
                blocks[number].push(location, channel);
            }
        }
        blocks
    }

    /// One block with all channels of some locations.
    pub(crate) fn block_of(&self, locations: impl Iterator<Item = usize>) -> Block {
        let mut block = Block::default();
        self.refill_block(locations, &mut block);
        block
    }

    /// [`Channels::block_of`] in the memory of another block.
    pub(crate) fn refill_block(&self, locations: impl Iterator<Item = usize>, block: &mut Block) {
        block.channels.clear();
        block.runs.clear();
        for location in locations {
            for channel in self.of_location(location) {
                block.push(location, channel);
            }
        }
    }

    /// The number of the first kind of channel of each pattern.
    fn kinds(&self) -> Vec<usize> {
        let mut next = 0;
        let first = |pattern: &super::Pattern| {
            next += pattern.n_channels;
            next - pattern.n_channels
        };
        self.patterns.iter().map(first).collect()
    }
}

/// Whether two channels are dependent. Rotated loadings are orthogonal only to rounding, so products within rounding of
/// zero count as zero.
fn are_dependent(a: &[f64], b: &[f64], first_equal: &[usize]) -> bool {
    let norm = |loadings: &[f64]| loadings.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    let negligible = 8.0 * f64::EPSILON * norm(a) * norm(b);
    (0..a.len()).filter(|&latent| first_equal[latent] == latent).any(|first| {
        let equal = (first..a.len()).filter(|&latent| first_equal[latent] == first);
        equal.map(|latent| a[latent] * b[latent]).sum::<f64>().abs() > negligible
    })
}

impl Block {
    fn push(&mut self, location: usize, channel: usize) {
        match self.runs.last_mut() {
            Some(run) if run.location == location => run.end += 1,
            _ => {
                let start = self.channels.len();
                self.runs.push(Run { location, start, end: start + 1 });
            }
        }
        self.channels.push(channel);
    }

    pub(crate) fn len(&self) -> usize {
        self.channels.len()
    }
}
