//! Nearest points by a kd-tree, and nearest predecessors in maxmin order.
//!
//! Building takes O(C log C). One search takes O(k log C) while the points vary in a few directions, and up to O(C·M) when
//! in many.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use catena::structure::{KdTree, Neighbor};
use rayon::prelude::*;

use crate::maxmin::maxmin_order;

/// The `count` rows nearest to a point (all rows if there are fewer), ascending; ties go to the lowest row.
pub(crate) fn nearest(tree: &KdTree, point: &[f64], count: usize) -> Vec<usize> {
    let mut neighbors = Vec::with_capacity(count + 1);
    tree.k_nearest(point, count, &mut neighbors);
    ascending(&neighbors, RowIndex::get)
}

/// Every point in maxmin order with its `count` nearest predecessors, ascending; ties go to the earlier one in that order.
pub(crate) fn predecessors(
    points: &InputPoints,
    count: usize,
) -> Result<Vec<(usize, Vec<usize>)>, DataError> {
    let order = maxmin_order(points);
    // The tree numbers points by their position in the order, so predecessors have lower numbers.
    let in_order: Vec<f64> = order.iter().flat_map(|&row| points.point(row)).copied().collect();
    let tree = KdTree::new(&InputPoints::new(points.n_rows(), points.dim(), in_order)?);
    let with_predecessors = |position: usize| {
        let mut neighbors = Vec::with_capacity(count + 1);
        tree.k_nearest_before(points.point(order[position]), count, RowIndex::new(position), &mut neighbors);
        (order[position].get(), ascending(&neighbors, |position| order[position.get()].get()))
    };
    Ok((0..order.len()).into_par_iter().map(with_predecessors).collect())
}

fn ascending(neighbors: &[Neighbor], number: impl Fn(RowIndex) -> usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = neighbors.iter().map(|neighbor| number(neighbor.row)).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::squared_distance;
    use proptest::prelude::*;

    /// By brute force over candidates in order of preference.
    fn by_brute_force(points: &InputPoints, at: &[f64], count: usize, candidates: &[usize]) -> Vec<usize> {
        let distance = |row: &usize| squared_distance(at, points.point(RowIndex::new(*row)));
        let mut sorted = candidates.to_vec();
        // The sort is stable: ties keep the order of the candidates.
        sorted.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        sorted.truncate(count);
        sorted.sort_unstable();
        sorted
    }

    /// Points on a coarse grid, so that duplicates and ties are frequent; the first is the query point.
    fn points_on_a_grid() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1_usize..6, 2_usize..120).prop_flat_map(|(dim, n_points)| {
            let coordinate = (-3_i8..4).prop_map(|step| 0.1 * f64::from(step));
            (Just(dim), prop::collection::vec(coordinate, dim * n_points))
        })
    }

    proptest! {
        #[test]
        fn the_tree_equals_brute_force((dim, values) in points_on_a_grid(), count in 1_usize..30) {
            let (at, rest) = values.split_at(dim);
            let points = InputPoints::new(rest.len() / dim, dim, rest.to_vec()).unwrap();
            let all: Vec<usize> = (0..points.n_rows()).collect();
            prop_assert_eq!(nearest(&KdTree::new(&points), at, count), by_brute_force(&points, at, count, &all));
            let order: Vec<usize> = maxmin_order(&points).iter().map(|row| row.get()).collect();
            for (position, (row, found)) in predecessors(&points, count).unwrap().into_iter().enumerate() {
                prop_assert_eq!(row, order[position]);
                let here = points.point(RowIndex::new(row));
                prop_assert_eq!(found, by_brute_force(&points, here, count, &order[..position]));
            }
        }
    }
}
