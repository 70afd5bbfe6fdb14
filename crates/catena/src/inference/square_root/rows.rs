//! Square-root information: rows (R, r) that stand for the likelihood `exp(−½|R z − r|²)`.

use crate::linalg::eliminate;

/// Rows (R, r), borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsView<'a> {
    pub(crate) root: &'a [f64],
    pub(crate) offset: &'a [f64],
}

impl RowsView<'_> {
    /// No information.
    pub(crate) const NONE: Self = Self { root: &[], offset: &[] };
}

/// Rows (R, r).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InformationRows {
    pub(super) root: Vec<f64>,
    pub(super) offset: Vec<f64>,
}

impl InformationRows {
    #[inline(always)]
    pub(crate) fn view(&self) -> RowsView<'_> {
        RowsView { root: &self.root, offset: &self.offset }
    }

    /// Removes all rows.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.root.clear();
        self.offset.clear();
    }

    /// Adds a row.
    #[inline(always)]
    pub(super) fn push(&mut self, row: &[f64], offset: f64) {
        self.root.extend_from_slice(row);
        self.offset.push(offset);
    }

    /// Adds the row `factor·weights`, padded by zeros to `size`.
    #[inline(always)]
    pub(super) fn push_scaled(&mut self, weights: &[f64], size: usize, factor: f64, offset: f64) {
        let end = self.root.len() + size;
        self.root.extend(weights.iter().map(|weight| weight * factor));
        self.root.resize(end, 0.0);
        self.offset.push(offset);
    }

    /// Adds rows of the same length.
    #[inline(always)]
    pub(crate) fn extend(&mut self, rows: RowsView<'_>) {
        self.root.extend_from_slice(rows.root);
        self.offset.extend_from_slice(rows.offset);
    }

    /// Replaces the rows by `size` equivalent ones, and returns the sum of squares that no state explains.
    pub(super) fn compress(&mut self, size: usize) -> f64 {
        let columns = size + 1;
        let mut tall = Vec::with_capacity(self.offset.len().max(size) * columns);
        for (row, &offset) in self.root.chunks_exact(size).zip(&self.offset) {
            tall.extend_from_slice(row);
            tall.push(offset);
        }
        eliminate(&mut tall, self.offset.len(), columns, size);
        let unexplained = tall.chunks_exact(columns).skip(size).map(|row| row[size] * row[size]).sum();
        tall.resize(size * columns, 0.0);
        self.clear();
        tall.chunks_exact(columns).for_each(|row| self.push(&row[..size], row[size]));
        unexplained
    }
}
