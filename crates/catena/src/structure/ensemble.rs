//! Several random greedy chains, whose combined posteriors use more neighbors of each point than one chain.

use super::kd_tree::{BUCKET, Candidate, KdTree, NO_ROW, Search, Width, with_width};
use super::{StructureError, Tree};
use crate::data::InputPoints;
use crate::index::RowIndex;
use crate::threads::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The number of nearest unvisited points from which a step is drawn.
const N_CANDIDATES: usize = 3;
/// The largest squared distance of a candidate relative to that of the nearest point: 1.5².
const SLACK_SQUARED: f64 = 2.25;

/// `n_chains` random greedy chains. The k-th depends on the seed and k alone, not on the number of chains or threads.
///
/// A chain starts at a random row. Each step draws with equal probability from the three nearest unvisited points, without
/// those more than 1.5 times as far as the nearest. Chains differ where several points are about equally near: everywhere
/// in high dimension, at branchings in low dimension, never among duplicates of one point. The draws of chain k are the ChaCha8
/// stream k of `seed`, the same on every machine.
///
/// # Errors
/// When rows have groups, or a distance overflows.
pub fn chain_ensemble(inputs: &InputPoints, n_chains: usize, seed: u64) -> Result<Vec<Tree>, StructureError> {
    if inputs.groups().is_some() {
        return Err(StructureError::NoGroups { structure: "chain ensemble" });
    }
    let tree = KdTree::new(inputs);
    let chain = |stream: usize| walk(inputs, tree.clone(), seed, stream as u64);
    (0..n_chains).into_par_iter().map(chain).collect()
}

fn walk(inputs: &InputPoints, unvisited: KdTree, seed: u64, stream: u64) -> Result<Tree, StructureError> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    generator.set_stream(stream);
    let order = with_width!(inputs.dim(), width => walk_by_kd_tree(width, inputs, unvisited, &mut generator));
    Tree::chain(inputs, order)
}

fn walk_by_kd_tree<W: Width>(
    width: W,
    inputs: &InputPoints,
    mut unvisited: KdTree,
    generator: &mut ChaCha8Rng,
) -> Vec<RowIndex> {
    let mut order = Vec::with_capacity(inputs.n_rows());
    let mut here = vec![0.0; inputs.dim()];
    let mut next = unvisited.slot_of(RowIndex::new(draw_below(generator, inputs.n_rows())));
    while let Some(slot) = next {
        order.push(RowIndex::new(unvisited.row_in(slot)));
        unvisited.copy_point(width, slot, &mut here);
        unvisited.remove_slot(width, slot);
        let mut nearest = FewNearest::default();
        unvisited.search_from_leaf(width, &here, slot / BUCKET, &mut nearest);
        next = match nearest.n_choices() {
            0 => None,
            1 => Some(nearest.found[0].slot),
            n_choices => Some(nearest.found[draw_below(generator, n_choices)].slot),
        };
    }
    order
}

/// A uniform random number below `limit`; probabilities are equal to within 2⁻⁶⁴·limit.
fn draw_below(generator: &mut ChaCha8Rng, limit: usize) -> usize {
    ((u128::from(generator.next_u64()) * limit as u128) >> 64) as usize
}

/// A few nearest points, in order.
struct FewNearest {
    found: [Candidate; N_CANDIDATES],
}

impl Default for FewNearest {
    fn default() -> Self {
        let none = Candidate { squared_distance: f64::INFINITY, row: NO_ROW, slot: 0 };
        Self { found: [none; N_CANDIDATES] }
    }
}

impl FewNearest {
    /// How many are near enough to be chosen.
    fn n_choices(&self) -> usize {
        let farthest = SLACK_SQUARED * self.found[0].squared_distance;
        let is_choice = |found: &&Candidate| found.row != NO_ROW && found.squared_distance <= farthest;
        self.found.iter().take_while(is_choice).count()
    }
}

impl Search for FewNearest {
    #[inline(always)]
    fn limit(&self) -> (f64, usize) {
        let last = &self.found[N_CANDIDATES - 1];
        (last.squared_distance, last.row)
    }

    #[inline(always)]
    fn passes_over(&self, _: usize, _: usize) -> bool {
        false
    }

    #[inline(always)]
    fn meet(&mut self, candidate: Candidate) {
        let mut at = N_CANDIDATES - 1;
        while at > 0 && candidate.is_before(&self.found[at - 1]) {
            self.found[at] = self.found[at - 1];
            at -= 1;
        }
        self.found[at] = candidate;
    }
}
