//! Prim's algorithm over all pairs. O(C²·M) time, O(C·M) memory.

use super::Edge;
use crate::data::InputPoints;
use crate::index::RowIndex;
use crate::structure::all_pairs::Unvisited;

/// The points outside the tree, each with its shortest edge into it.
struct Outside {
    points: Unvisited,
    squared: Vec<f64>,
    inside: Vec<usize>,
}

pub(super) fn edges(inputs: &InputPoints) -> Vec<Edge> {
    let n_rows = inputs.n_rows();
    let mut here = vec![0.0; inputs.dim()];
    let mut outside = Outside {
        points: Unvisited::new(inputs),
        squared: vec![f64::INFINITY; n_rows],
        inside: vec![usize::MAX; n_rows],
    };
    let mut edges = Vec::with_capacity(n_rows - 1);
    let (mut newest, _) = outside.take(0, &mut here);
    while let Some(at) = outside.nearest_after(newest, &here) {
        let (row, edge) = outside.take(at, &mut here);
        newest = row;
        edges.push(edge);
    }
    edges
}

impl Outside {
    /// Adds the point at place `at` to the tree; returns its row and its edge.
    fn take(&mut self, at: usize, point: &mut [f64]) -> (RowIndex, Edge) {
        let row = self.points.take(at, point);
        (row, Edge::new(self.squared.swap_remove(at), row.get(), self.inside.swap_remove(at)))
    }

    /// The place of the next point to add, after `newest` was added.
    fn nearest_after(&mut self, newest: RowIndex, place: &[f64]) -> Option<usize> {
        let (mut best, mut nearest) = (None, None);
        let (squared, inside, newest) = (&mut self.squared, &mut self.inside, newest.get());
        self.points.for_each_block(place, |start, distances, rows| {
            let squared = &mut squared[start..][..rows.len()];
            let inside = &mut inside[start..][..rows.len()];
            for at in 0..rows.len() {
                // Of two equally long edges from one point, the one to the lower row comes first.
                let is_shorter =
                    (distances[at] < squared[at]) | ((distances[at] == squared[at]) & (newest < inside[at]));
                squared[at] = if is_shorter { distances[at] } else { squared[at] };
                inside[at] = if is_shorter { newest } else { inside[at] };
            }
            let shortest = crate::structure::all_pairs::smallest(squared);
            if best.is_some_and(|best: Edge| shortest > best.squared_distance) {
                return;
            }
            for at in 0..rows.len() {
                let edge = Edge::new(squared[at], rows[at], inside[at]);
                if squared[at] == shortest && best.is_none_or(|best| edge < best) {
                    best = Some(edge);
                    nearest = Some(start + at);
                }
            }
        });
        nearest
    }
}
