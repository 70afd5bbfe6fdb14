//! The maxmin order: each point is as far as possible from all points before it.

use catena::data::{InputPoints, squared_distance};
use catena::index::RowIndex;

/// The rows from coarse to fine: first the one nearest to the mean of all, then always the one farthest from those
/// already taken; ties by the lowest row. O(C²) time, O(C) memory.
pub fn maxmin_order(points: &InputPoints) -> Vec<RowIndex> {
    let (n_rows, dim) = (points.n_rows(), points.dim());
    let mut middle = vec![0.0; dim];
    for point in points.values().chunks_exact(dim) {
        for (sum, coordinate) in middle.iter_mut().zip(point) {
            *sum += coordinate / n_rows as f64;
        }
    }
    let to_middle = points.rows().map(|row| squared_distance(points.point(row), &middle));
    let mut next = lowest(to_middle);
    let mut order = Vec::with_capacity(n_rows);
    let mut nearest = vec![f64::INFINITY; n_rows];
    loop {
        order.push(RowIndex::new(next));
        if order.len() == n_rows {
            return order;
        }
        // Rows already taken are at distance −1: never the farthest.
        nearest[next] = -1.0;
        let taken = points.point(RowIndex::new(next));
        for (point, nearest) in points.values().chunks_exact(dim).zip(&mut nearest) {
            if *nearest >= 0.0 {
                *nearest = nearest.min(squared_distance(point, taken));
            }
        }
        next = lowest(nearest.iter().map(|distance| -distance));
    }
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
