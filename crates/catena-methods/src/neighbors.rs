//! The nearest locations to a point.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use catena::structure::KdTree;

use crate::channel::Channels;

/// Places arranged for searching, in O(C log C). One search takes O(k log C) while the places vary in a few
/// directions, and up to O(C·M) when in many.
#[derive(Clone, Debug)]
pub(super) struct Places {
    tree: KdTree,
}

impl Places {
    /// All points, each known by its row.
    pub(super) fn new(points: &InputPoints) -> Self {
        Self { tree: KdTree::new(points) }
    }

    /// The `count` rows nearest to a point (all of them when there are fewer), ascending; ties by the lowest row.
    pub(super) fn nearest(&self, point: &[f64], count: usize) -> Vec<usize> {
        self.nearest_before(point, count, self.tree.len())
    }

    /// The same among the rows below `before`.
    pub(super) fn nearest_before(&self, point: &[f64], count: usize, before: usize) -> Vec<usize> {
        let mut neighbors = Vec::with_capacity(count + 1);
        self.tree.k_nearest_before(point, count, RowIndex::new(before), &mut neighbors);
        let mut rows: Vec<usize> = neighbors.iter().map(|neighbor| neighbor.row.get()).collect();
        rows.sort_unstable();
        rows
    }
}

/// Where the observed locations are, in their own numbering.
pub(super) fn points_of(channels: &Channels) -> Result<InputPoints, DataError> {
    let coordinates = (0..channels.n_locations()).flat_map(|location| channels.point(location));
    InputPoints::new(channels.n_locations(), channels.dim(), coordinates.copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::squared_distance;
    use proptest::prelude::*;

    /// By looking at every row.
    fn nearest_by_looking(points: &InputPoints, at: &[f64], count: usize, before: usize) -> Vec<usize> {
        let rows = points.rows().take(before);
        let mut measured: Vec<(f64, usize)> =
            rows.map(|row| (squared_distance(at, points.point(row)), row.get())).collect();
        measured.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut nearest: Vec<usize> = measured.into_iter().take(count).map(|(_, row)| row).collect();
        nearest.sort_unstable();
        nearest
    }

    /// Points on a coarse grid, so that duplicates and ties are many, with the point asked for at the end.
    fn crowd() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1_usize..6, 2_usize..120).prop_flat_map(|(dim, n_points)| {
            let coordinate = (-3_i8..4).prop_map(|step| 0.1 * f64::from(step));
            (Just(dim), prop::collection::vec(coordinate, dim * n_points))
        })
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_looking_at_every_row_finds((dim, values) in crowd(), count in 1_usize..30) {
            let (at, rest) = values.split_at(dim);
            let points = InputPoints::new(rest.len() / dim, dim, rest.to_vec()).unwrap();
            let places = Places::new(&points);
            let all = points.n_rows();
            prop_assert_eq!(places.nearest(at, count), nearest_by_looking(&points, at, count, all));
            for before in 0..all {
                let here = points.point(RowIndex::new(before));
                prop_assert_eq!(
                    places.nearest_before(here, count, before),
                    nearest_by_looking(&points, here, count, before)
                );
            }
        }
    }
}
