//! Borůvka's rounds on the kd-tree: every part of the forest takes its shortest edge to another part, until there is
//! one part.
//!
//! What makes it fast:
//! - a node whose points are all of one part is passed over by that part's searches;
//! - a point's nearest foreign point only moves away as parts grow: what an earlier round found stays right while it is
//!   foreign, and stays a lower bound when it is not;
//! - a part's points search no farther than the shortest edge the part has found so far;
//! - of equal points only the lowest row searches after the first round: no other has a shorter or earlier edge;
//! - the largest part does not search: all others do, so at least half of the parts still vanish in each round.

use super::Edge;
use crate::data::InputPoints;
use crate::index::RowIndex;
use crate::structure::kd_tree::{BUCKET, Candidate, KdTree, NO_ROW, Search, Width};

/// Points between two comparisons of the tree's work with that of all pairs, in the first round.
const POINTS_BETWEEN_CHECKS: usize = 64;
/// A leaf of the first round's searches, with its share of later rounds, in points of Prim's algorithm.
const LEAF_COST_IN_POINTS: usize = 100;
/// The part of a node whose points are of several parts.
const SEVERAL: usize = usize::MAX;
/// The part of a node without points.
const NONE: usize = usize::MAX - 1;

/// What is known about a point's nearest point of another part.
#[derive(Clone, Copy)]
struct Known {
    /// No foreign point is nearer than this.
    squared_distance: f64,
    /// A foreign point at just this distance, when it was found; [`NO_ROW`] if none is known.
    slot: usize,
}

struct Forest<'a> {
    tree: &'a KdTree,
    /// For each slot the slot above it in its part; a part is named by its topmost slot.
    above: Vec<usize>,
    /// For each slot its part in this round.
    part: Vec<usize>,
    /// For each node the part of all its points.
    node_part: Vec<usize>,
    known: Vec<Known>,
    /// Whether a slot holds a copy of a point with a lower row, and is joined to it.
    is_copy: Vec<bool>,
    /// For each part, by its name, the shortest edge out of it found in this round, and its foreign slot.
    shortest: Vec<Option<(Edge, usize)>>,
}

/// The edges of the tree; `None` when `gives_up` and all pairs would be faster.
pub(super) fn edges<W: Width>(width: W, inputs: &InputPoints, gives_up: bool) -> Option<Vec<Edge>> {
    let tree = KdTree::new(inputs);
    let mut forest = Forest::new(&tree);
    let mut edges = Vec::with_capacity(inputs.n_rows() - 1);
    let mut is_first_round = true;
    while edges.len() + 1 < inputs.n_rows() {
        let largest = forest.name_parts();
        forest.use_what_is_known(largest);
        forest.search(width, largest, gives_up && is_first_round)?;
        if is_first_round {
            forest.mark_copies(inputs);
        }
        forest.join(&mut edges);
        is_first_round = false;
    }
    Some(edges)
}

impl<'a> Forest<'a> {
    fn new(tree: &'a KdTree) -> Self {
        let n_slots = tree.n_slots();
        Self {
            tree,
            above: (0..n_slots).collect(),
            part: vec![NONE; n_slots],
            node_part: vec![NONE; 2 * tree.n_leaves()],
            known: vec![Known { squared_distance: 0.0, slot: NO_ROW }; n_slots],
            is_copy: vec![false; n_slots],
            shortest: vec![None; n_slots],
        }
    }

    fn find(&mut self, mut slot: usize) -> usize {
        while self.above[slot] != slot {
            self.above[slot] = self.above[self.above[slot]];
            slot = self.above[slot];
        }
        slot
    }

    /// Names every slot's and node's part; gives the name of the part with the most points.
    fn name_parts(&mut self) -> usize {
        let mut sizes = vec![0_usize; self.part.len()];
        for slot in 0..self.part.len() {
            if self.tree.row_in(slot) != NO_ROW {
                self.part[slot] = self.find(slot);
                sizes[self.part[slot]] += 1;
            }
        }
        let n_leaves = self.tree.n_leaves();
        let common = |a: usize, b: usize| match (a, b) {
            (NONE, part) | (part, NONE) => part,
            (a, b) if a == b => a,
            _ => SEVERAL,
        };
        for (leaf, parts) in self.part.chunks_exact(BUCKET).enumerate() {
            self.node_part[n_leaves + leaf] = parts.iter().copied().fold(NONE, common);
        }
        for node in (1..n_leaves).rev() {
            self.node_part[node] = common(self.node_part[2 * node], self.node_part[2 * node + 1]);
        }
        (0..sizes.len()).max_by_key(|&part| sizes[part]).unwrap_or(0)
    }

    /// Offers each part the edges that earlier rounds found and that still leave it.
    fn use_what_is_known(&mut self, largest: usize) {
        self.shortest.fill(None);
        for slot in 0..self.part.len() {
            let known = self.known[slot];
            if self.part[slot] == NONE || self.part[slot] == largest || known.slot == NO_ROW {
                continue;
            }
            if self.part[known.slot] == self.part[slot] {
                self.known[slot].slot = NO_ROW;
            } else {
                self.offer(slot, known.squared_distance, known.slot);
            }
        }
    }

    fn offer(&mut self, slot: usize, squared_distance: f64, foreign: usize) {
        let edge = Edge::new(squared_distance, self.tree.row_in(slot), self.tree.row_in(foreign));
        let shortest = &mut self.shortest[self.part[slot]];
        if shortest.is_none_or(|(shortest, _)| edge < shortest) {
            *shortest = Some((edge, foreign));
        }
    }

    /// Searches for the points about which too little is known; `None` when all pairs would be faster.
    fn search<W: Width>(&mut self, width: W, largest: usize, may_give_up: bool) -> Option<()> {
        let mut point = vec![0.0; self.tree.dim()];
        let (mut n_leaves, mut n_points) = (0, 0);
        for slot in 0..self.part.len() {
            let (part, known) = (self.part[slot], self.known[slot]);
            if part == NONE || part == largest || known.slot != NO_ROW || self.is_copy[slot] {
                continue;
            }
            let limit = self.shortest[part].map_or(f64::INFINITY, |(edge, _)| edge.squared_distance);
            if known.squared_distance > limit {
                continue;
            }
            self.tree.copy_point(width, slot, &mut point);
            let found = Candidate { squared_distance: limit, row: NO_ROW, slot: NO_ROW };
            let (node_part, slot_part) = (&self.node_part, &self.part);
            let mut search = NearestForeign { part, node_part, slot_part, found, n_leaves: 0 };
            self.tree.search_from_leaf(width, &point, slot / BUCKET, &mut search);
            let found = search.found;
            n_leaves += search.n_leaves;
            n_points += 1;
            self.known[slot] = Known { squared_distance: found.squared_distance, slot: found.slot };
            if found.slot != NO_ROW {
                self.offer(slot, found.squared_distance, found.slot);
            }
            let is_check = may_give_up && n_points % POINTS_BETWEEN_CHECKS == 0;
            if is_check && n_leaves * LEAF_COST_IN_POINTS > n_points * self.tree.len() {
                return None;
            }
        }
        Some(())
    }

    /// Marks the copies. In the first round each point is a part of its own, so a copy's shortest edge, about to be
    /// joined, is the one to its lowest row. The coordinates decide, as a distance may also vanish by underflow.
    fn mark_copies(&mut self, inputs: &InputPoints) {
        let point = |slot: usize| inputs.point(RowIndex::new(self.tree.row_in(slot)));
        for slot in 0..self.known.len() {
            let nearest = self.known[slot].slot;
            self.is_copy[slot] = nearest != NO_ROW
                && self.tree.row_in(nearest) < self.tree.row_in(slot)
                && point(nearest) == point(slot);
        }
    }

    /// Joins every part with the one its shortest edge leads to.
    fn join(&mut self, edges: &mut Vec<Edge>) {
        for part in 0..self.shortest.len() {
            let Some((edge, foreign)) = self.shortest[part] else { continue };
            let (a, b) = (self.find(part), self.find(foreign));
            // Two parts may have chosen the same edge; no other circle is possible, as no two edges are equal.
            if a != b {
                self.above[a.max(b)] = a.min(b);
                edges.push(edge);
            }
        }
    }
}

/// The nearest point of another part.
struct NearestForeign<'a> {
    part: usize,
    node_part: &'a [usize],
    slot_part: &'a [usize],
    found: Candidate,
    n_leaves: usize,
}

impl Search for NearestForeign<'_> {
    #[inline(always)]
    fn limit(&self) -> (f64, usize) {
        (self.found.squared_distance, self.found.row)
    }

    #[inline(always)]
    fn passes_over(&self, node: usize, _: usize) -> bool {
        self.node_part[node] == self.part
    }

    #[inline(always)]
    fn enter_leaf(&mut self) {
        self.n_leaves += 1;
    }

    #[inline(always)]
    fn meet(&mut self, candidate: Candidate) {
        if self.slot_part[candidate.slot] != self.part {
            self.found = candidate;
        }
    }
}
