//! Borůvka's algorithm on the kd-tree: in each round every connected component of the forest adds its shortest edge to another
//! component, until one is left.
//!
//! What makes it fast:
//! - searches skip nodes whose points are all of the searching component;
//! - the nearest foreign point of a point only moves away as components grow: the result of an earlier round remains valid
//!   while that point is foreign, and remains a lower bound afterwards;
//! - a search goes no farther than the shortest edge that its component has found so far;
//! - of equal points only the lowest row searches after the first round: no other has a shorter or earlier edge;
//! - the largest component does not search: all others do, so at least half of them still vanish in each round.

use super::Edge;
use crate::data::InputPoints;
use crate::index::RowIndex;
use crate::structure::kd_tree::{BUCKET, Candidate, KdTree, NO_ROW, Search, Width};

/// Points between two comparisons of the cost of the tree with that of all pairs, in the first round.
const POINTS_BETWEEN_CHECKS: usize = 64;
/// The cost of searching one leaf, later rounds included, in points of Prim's algorithm.
const LEAF_COST_IN_POINTS: usize = 100;
/// The component of a node whose points are of several components.
const SEVERAL: usize = usize::MAX;
/// The component of a node without points.
const NONE: usize = usize::MAX - 1;

/// The latest result for a point's nearest point in another component.
#[derive(Clone, Copy)]
struct Known {
    /// No foreign point is nearer than this.
    squared_distance: f64,
    /// A foreign point at just this distance, when it was found; [`NO_ROW`] if none is known.
    slot: usize,
}

struct Forest<'a> {
    tree: &'a KdTree,
    /// Union-find: for each slot its parent; a component is named by its root.
    above: Vec<usize>,
    /// For each slot its component in this round.
    component: Vec<usize>,
    /// For each node the component of all its points.
    node_component: Vec<usize>,
    known: Vec<Known>,
    /// Whether a slot holds a duplicate of a point with a lower row, and is joined to it.
    is_copy: Vec<bool>,
    /// For each component the shortest edge out of it found in this round, with its foreign slot.
    shortest: Vec<Option<(Edge, usize)>>,
}

/// The edges of the tree; `None` when `gives_up` and all pairs would be faster.
pub(super) fn edges<W: Width>(width: W, inputs: &InputPoints, gives_up: bool) -> Option<Vec<Edge>> {
    let tree = KdTree::new(inputs);
    let mut forest = Forest::new(&tree);
    let mut edges = Vec::with_capacity(inputs.n_rows() - 1);
    let mut is_first_round = true;
    while edges.len() + 1 < inputs.n_rows() {
        let largest = forest.name_components();
        forest.reuse_known_edges(largest);
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
            component: vec![NONE; n_slots],
            node_component: vec![NONE; 2 * tree.n_leaves()],
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

    /// Sets the component of every slot and node; returns the component with the most points.
    fn name_components(&mut self) -> usize {
        let mut sizes = vec![0_usize; self.component.len()];
        for slot in 0..self.component.len() {
            if self.tree.row_in(slot) != NO_ROW {
                self.component[slot] = self.find(slot);
                sizes[self.component[slot]] += 1;
            }
        }
        let n_leaves = self.tree.n_leaves();
        let common = |a: usize, b: usize| match (a, b) {
            (NONE, component) | (component, NONE) => component,
            (a, b) if a == b => a,
            _ => SEVERAL,
        };
        for (leaf, components) in self.component.chunks_exact(BUCKET).enumerate() {
            self.node_component[n_leaves + leaf] = components.iter().copied().fold(NONE, common);
        }
        for node in (1..n_leaves).rev() {
            self.node_component[node] =
                common(self.node_component[2 * node], self.node_component[2 * node + 1]);
        }
        (0..sizes.len()).max_by_key(|&component| sizes[component]).unwrap_or(0)
    }

    /// Reuses the edges of earlier rounds that still leave their component.
    fn reuse_known_edges(&mut self, largest: usize) {
        self.shortest.fill(None);
        for slot in 0..self.component.len() {
            let known = self.known[slot];
            if self.component[slot] == NONE || self.component[slot] == largest || known.slot == NO_ROW {
                continue;
            }
            if self.component[known.slot] == self.component[slot] {
                self.known[slot].slot = NO_ROW;
            } else {
                self.offer(slot, known.squared_distance, known.slot);
            }
        }
    }

    fn offer(&mut self, slot: usize, squared_distance: f64, foreign: usize) {
        let edge = Edge::new(squared_distance, self.tree.row_in(slot), self.tree.row_in(foreign));
        let shortest = &mut self.shortest[self.component[slot]];
        if shortest.is_none_or(|(shortest, _)| edge < shortest) {
            *shortest = Some((edge, foreign));
        }
    }

    /// Searches for every point without a valid earlier result; `None` when all pairs would be faster.
    fn search<W: Width>(&mut self, width: W, largest: usize, may_give_up: bool) -> Option<()> {
        let mut point = vec![0.0; self.tree.dim()];
        let (mut n_leaves, mut n_points) = (0, 0);
        for slot in 0..self.component.len() {
            let (component, known) = (self.component[slot], self.known[slot]);
            if component == NONE || component == largest || known.slot != NO_ROW || self.is_copy[slot] {
                continue;
            }
            let limit = self.shortest[component].map_or(f64::INFINITY, |(edge, _)| edge.squared_distance);
            if known.squared_distance > limit {
                continue;
            }
            self.tree.copy_point(width, slot, &mut point);
            let found = Candidate { squared_distance: limit, row: NO_ROW, slot: NO_ROW };
            let (node_component, slot_component) = (&self.node_component, &self.component);
            let mut search = NearestForeign { component, node_component, slot_component, found, n_leaves: 0 };
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

    /// Marks duplicates. In the first round each point is a component of its own, so the shortest edge of a duplicate leads to
    /// its lowest row. Coordinates are compared, since a distance may vanish by underflow.
    fn mark_copies(&mut self, inputs: &InputPoints) {
        let point = |slot: usize| inputs.point(RowIndex::new(self.tree.row_in(slot)));
        for slot in 0..self.known.len() {
            let nearest = self.known[slot].slot;
            self.is_copy[slot] = nearest != NO_ROW
                && self.tree.row_in(nearest) < self.tree.row_in(slot)
                && point(nearest) == point(slot);
        }
    }

    /// Joins every component with the one at the end of its shortest edge.
    fn join(&mut self, edges: &mut Vec<Edge>) {
        for component in 0..self.shortest.len() {
            let Some((edge, foreign)) = self.shortest[component] else { continue };
            let (a, b) = (self.find(component), self.find(foreign));
            // Two components may choose the same edge; no other cycle is possible, as no two edges are equal.
            if a != b {
                self.above[a.max(b)] = a.min(b);
                edges.push(edge);
            }
        }
    }
}

/// The search for the nearest point of another component.
struct NearestForeign<'a> {
    component: usize,
    node_component: &'a [usize],
    slot_component: &'a [usize],
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
        self.node_component[node] == self.component
    }

    #[inline(always)]
    fn enter_leaf(&mut self) {
        self.n_leaves += 1;
    }

    #[inline(always)]
    fn meet(&mut self, candidate: Candidate) {
        if self.slot_component[candidate.slot] != self.component {
            self.found = candidate;
        }
    }
}
