//! The nearest unvisited point by a vectorized search over all of them.

use crate::data::InputPoints;
use crate::index::RowIndex;

/// Points per block; their distances fit in the first-level cache.
const BLOCK: usize = 256;
/// Minima kept in parallel lanes.
const LANES: usize = 8;

/// The unvisited points, stored without gaps and by column.
pub(super) struct Unvisited {
    columns: Vec<Vec<f64>>,
    rows: Vec<usize>,
}

impl Unvisited {
    /// All points.
    pub(super) fn new(inputs: &InputPoints) -> Self {
        Self::except(inputs, &[])
    }

    /// All points but these.
    pub(super) fn except(inputs: &InputPoints, visited: &[RowIndex]) -> Self {
        let mut is_visited = vec![false; inputs.n_rows()];
        visited.iter().for_each(|row| is_visited[row.get()] = true);
        let rows: Vec<usize> = (0..inputs.n_rows()).filter(|&row| !is_visited[row]).collect();
        let (dim, values) = (inputs.dim(), inputs.values());
        let column = |at: usize| rows.iter().map(|row| values[row * dim + at]).collect();
        Self { columns: (0..dim).map(column).collect(), rows }
    }

    /// The number of input columns, M.
    pub(super) fn dim(&self) -> usize {
        self.columns.len()
    }

    /// The place of a row.
    pub(super) fn find(&self, row: RowIndex) -> Option<usize> {
        self.rows.iter().position(|&held| held == row.get())
    }

    /// Removes the point at place `at`, writes its coordinates to `point` and returns its row. The last point takes its place.
    pub(super) fn take(&mut self, at: usize, point: &mut [f64]) -> RowIndex {
        for (coordinate, column) in point.iter_mut().zip(&mut self.columns) {
            *coordinate = column.swap_remove(at);
        }
        RowIndex::new(self.rows.swap_remove(at))
    }

    /// The place of the nearest point; the lowest row breaks ties. `None` when none is left.
    pub(super) fn nearest(&self, point: &[f64]) -> Option<usize> {
        let mut best = (f64::INFINITY, usize::MAX);
        let mut nearest = None;
        self.for_each_block(point, |start, squared, rows| {
            if smallest(squared) > best.0 {
                return;
            }
            for (at, (&distance, &row)) in squared.iter().zip(rows).enumerate() {
                if distance < best.0 || (distance == best.0 && row < best.1) {
                    best = (distance, row);
                    nearest = Some(start + at);
                }
            }
        });
        nearest
    }

    /// Calls `look` for each block of points with its first place, the squared distances and the rows.
    #[inline(always)]
    pub(super) fn for_each_block(&self, point: &[f64], mut look: impl FnMut(usize, &[f64], &[usize])) {
        let mut squared = [0.0; BLOCK];
        for start in (0..self.rows.len()).step_by(BLOCK) {
            let rows = &self.rows[start..self.rows.len().min(start + BLOCK)];
            let squared = &mut squared[..rows.len()];
            squared.fill(0.0);
            for (column, &coordinate) in self.columns.iter().zip(point) {
                add_squared_gaps(squared, &column[start..start + rows.len()], coordinate);
            }
            look(start, squared, rows);
        }
    }
}

/// Adds one column's share of the squared distances.
fn add_squared_gaps(squared: &mut [f64], column: &[f64], coordinate: f64) {
    for (sum, &value) in squared.iter_mut().zip(column) {
        let gap = value - coordinate;
        *sum += gap * gap;
    }
}

/// The smallest of some numbers, none of which is NaN.
pub(super) fn smallest(numbers: &[f64]) -> f64 {
    let mut minima = [f64::INFINITY; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for (minimum, &number) in minima.iter_mut().zip(chunk) {
            *minimum = if number < *minimum { number } else { *minimum };
        }
    }
    minima.iter().chain(rest).fold(f64::INFINITY, |least, &number| least.min(number))
}
