//! Nearest rows in standardized inputs.

use catena::data::InputPoints;
use catena::index::RowIndex;

/// Rows in the order of a fold with standardized inputs.
pub(super) struct Neighborhoods {
    dim: usize,
    /// Row-major.
    points: Vec<f64>,
}

impl Neighborhoods {
    pub(super) fn new(inputs: &InputPoints, rows: &[RowIndex]) -> Self {
        let (dim, count) = (inputs.dim(), rows.len() as f64);
        let mut points: Vec<f64> = rows.iter().flat_map(|&row| inputs.point(row).to_vec()).collect();
        for column in 0..dim {
            let entries = || points.iter().skip(column).step_by(dim);
            let mean = entries().sum::<f64>() / count;
            let scale = (entries().map(|entry| (entry - mean).powi(2)).sum::<f64>() / count).sqrt();
            let scale = if scale > 0.0 { scale } else { 1.0 };
            points.iter_mut().skip(column).step_by(dim).for_each(|entry| *entry = (*entry - mean) / scale);
        }
        Self { dim, points }
    }

    /// The `count` rows nearest to a row, itself included, by ascending distance; ties in the order of the rows.
    pub(super) fn nearest(&self, place: usize, count: usize) -> Vec<usize> {
        let center = &self.points[place * self.dim..][..self.dim];
        let distance =
            |point: &[f64]| -> f64 { point.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum() };
        let mut all: Vec<(f64, usize)> = self
            .points
            .chunks_exact(self.dim)
            .enumerate()
            .map(|(at, point)| (if at == place { -1.0 } else { distance(point) }, at))
            .collect();
        let count = count.clamp(1, all.len());
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        all.select_nth_unstable_by(count - 1, order);
        all.truncate(count);
        all.sort_by(order);
        all.into_iter().map(|(_, at)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_count_in_their_own_spread() {
        // The second input has a thousand times the spread of the first.
        let inputs = InputPoints::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 300.0, 3.0, 3000.0]).unwrap();
        let rows: Vec<RowIndex> = inputs.rows().collect();
        let found = Neighborhoods::new(&inputs, &rows);
        assert_eq!(found.nearest(0, 3), [0, 2, 1]);
        assert_eq!(found.nearest(3, 1), [3]);
    }
}
