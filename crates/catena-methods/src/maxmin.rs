//! The maxmin order: each point is as far as possible from all points before it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use catena::data::{InputPoints, squared_distance};
use catena::index::RowIndex;
use catena::structure::KdTree;

/// The rows from coarse to fine: first the row nearest to the mean of all, then always the row farthest from those already
/// taken; ties go to the lowest row.
///
/// A row taken at distance r from the others can only change the distances of rows within r of it, so each step is a ball
/// query: O(C log C) time while points vary in a few directions, up to O(C²) when in many.
pub(crate) fn maxmin_order(points: &InputPoints) -> Vec<RowIndex> {
    let first = lowest(distances_to_middle(points).into_iter());
    let mut nearest = vec![f64::INFINITY; points.n_rows()];
    let mut tree = KdTree::new(points);
    // May hold outdated distances; the entry equal to `nearest` is the current one.
    let mut farthest: BinaryHeap<Farness> = BinaryHeap::new();
    let mut order = Vec::with_capacity(points.n_rows());
    let (mut next, mut radius) = (first, f64::INFINITY);
    let mut around = vec![];
    loop {
        order.push(RowIndex::new(next));
        tree.remove(RowIndex::new(next));
        // Taken rows are at distance −1: never the farthest.
        nearest[next] = -1.0;
        tree.within(points.point(RowIndex::new(next)), radius, &mut around);
        for neighbor in &around {
            let row = neighbor.row.get();
            if neighbor.squared_distance < nearest[row] {
                nearest[row] = neighbor.squared_distance;
                farthest.push(Farness { squared_distance: neighbor.squared_distance, row });
            }
        }
        loop {
            let Some(candidate) = farthest.pop() else { return order };
            if candidate.squared_distance == nearest[candidate.row] {
                (next, radius) = (candidate.row, candidate.squared_distance);
                break;
            }
        }
    }
}

/// The distance of a row from those taken; the farthest is the greatest, the lowest row among equals.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Farness {
    squared_distance: f64,
    row: usize,
}

impl Eq for Farness {}

impl Ord for Farness {
    fn cmp(&self, other: &Self) -> Ordering {
        self.squared_distance.total_cmp(&other.squared_distance).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Farness {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn distances_to_middle(points: &InputPoints) -> Vec<f64> {
    let (n_rows, dim) = (points.n_rows(), points.dim());
    let mut middle = vec![0.0; dim];
    for point in points.values().chunks_exact(dim) {
        for (sum, coordinate) in middle.iter_mut().zip(point) {
            *sum += coordinate / n_rows as f64;
        }
    }
    points.rows().map(|row| squared_distance(points.point(row), &middle)).collect()
}

/// The position of the smallest number, the first among equals.
fn lowest(numbers: impl Iterator<Item = f64>) -> usize {
    let mut lowest = (0, f64::INFINITY);
    for (at, number) in numbers.enumerate() {
        if number < lowest.1 {
            lowest = (at, number);
        }
    }
    lowest.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By brute force.
    fn by_brute_force(points: &InputPoints) -> Vec<RowIndex> {
        let mut order = vec![RowIndex::new(lowest(distances_to_middle(points).into_iter()))];
        while order.len() < points.n_rows() {
            let nearness = points.rows().map(|row| {
                let distances = order.iter().map(|&taken| points.squared_distance(taken, row));
                let is_taken = order.contains(&row);
                if is_taken { f64::INFINITY } else { -distances.fold(f64::INFINITY, f64::min) }
            });
            let next = lowest(nearness);
            order.push(RowIndex::new(next));
        }
        order
    }

    proptest! {
        /// On a coarse grid, so that duplicates and ties are frequent.
        #[test]
        fn equals_brute_force(dim in 1_usize..6, steps in prop::collection::vec(-3_i8..4, 6..300)) {
            let n_rows = steps.len() / dim;
            let values = steps[..n_rows * dim].iter().map(|&step| 0.1 * f64::from(step)).collect();
            let points = InputPoints::new(n_rows, dim, values).unwrap();
            prop_assert_eq!(maxmin_order(&points), by_brute_force(&points));
        }
    }

    #[test]
    fn a_line_is_refined_from_its_middle() {
        let points = InputPoints::from_column(vec![0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        let order: Vec<usize> = maxmin_order(&points).iter().map(|row| row.get()).collect();
        assert_eq!(order, [2, 0, 4, 1, 3]);
    }

    #[test]
    fn duplicates_come_last_and_once() {
        let points = InputPoints::from_column(vec![1.0, 1.0, 1.0, 5.0]).unwrap();
        let order: Vec<usize> = maxmin_order(&points).iter().map(|row| row.get()).collect();
        assert_eq!(order, [0, 3, 1, 2]);
    }
}
