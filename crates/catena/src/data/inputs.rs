//! The inputs X of the rows: a C×M table of finite numbers, and the group of each row.

use super::error::{DataError, check_shape};
use crate::index::{GroupIndex, RowIndex};
use std::sync::Arc;

/// Points in R^M, one per row of the table; row-major.
///
/// Rows can belong to groups: independent tables with one model. Points of different groups are infinitely far apart, and a
/// structure has a root of its own for each group. Without groups, all rows are one table.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPoints {
    values: Vec<f64>,
    n_rows: usize,
    dim: usize,
    groups: Option<Arc<[GroupIndex]>>,
}

impl InputPoints {
    /// Points from a row-major `n_rows`×`dim` array.
    ///
    /// # Errors
    /// When there are no rows or no columns, the size does not match, or a number is not finite.
    pub fn new(n_rows: usize, dim: usize, values: Vec<f64>) -> Result<Self, DataError> {
        if dim == 0 {
            return Err(DataError::NoInputs);
        }
        if n_rows == 0 {
            return Err(DataError::NoRows);
        }
        check_shape("the input table", n_rows, dim, values.len())?;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let row = RowIndex::new(at / dim);
            return Err(DataError::InputNotFinite { row, column: at % dim, value: values[at] });
        }
        Ok(Self { values, n_rows, dim, groups: None })
    }

    /// The same points, with the group of each row.
    ///
    /// # Errors
    /// When there is not one group per row.
    pub fn with_groups(self, groups: Vec<GroupIndex>) -> Result<Self, DataError> {
        check_shape("the list of groups", self.n_rows, 1, groups.len())?;
        Ok(Self { groups: Some(groups.into()), ..self })
    }

    /// The same rows and groups at other points, row-major with any number of columns.
    ///
    /// # Errors
    /// As [`InputPoints::new`].
    pub fn with_values(&self, dim: usize, values: Vec<f64>) -> Result<Self, DataError> {
        Ok(Self { groups: self.groups.clone(), ..Self::new(self.n_rows, dim, values)? })
    }

    /// Points on a line, such as times.
    ///
    /// # Errors
    /// As [`InputPoints::new`].
    pub fn from_column(values: Vec<f64>) -> Result<Self, DataError> {
        Self::new(values.len(), 1, values)
    }

    /// The number of points, C.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of input columns, M.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The coordinates of one row.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn point(&self, row: RowIndex) -> &[f64] {
        &self.values[row.get() * self.dim..][..self.dim]
    }

    /// The group of each row; `None` if all rows are one table.
    pub fn groups(&self) -> Option<&[GroupIndex]> {
        self.groups.as_deref()
    }

    /// The group of one row; `None` if all rows are one table.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn group(&self, row: RowIndex) -> Option<GroupIndex> {
        self.groups.as_ref().map(|groups| groups[row.get()])
    }

    /// The number of groups that have rows; 1 if all rows are one table.
    pub fn n_groups(&self) -> usize {
        let Some(groups) = &self.groups else { return 1 };
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    }

    /// All coordinates, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The rows in file order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowIndex> + use<> {
        (0..self.n_rows).map(RowIndex::new)
    }

    /// These rows, in this order.
    ///
    /// # Errors
    /// When `rows` is empty.
    ///
    /// # Panics
    /// When a row is of another table and out of range.
    pub fn select_rows(&self, rows: &[RowIndex]) -> Result<Self, DataError> {
        let values = rows.iter().flat_map(|&row| self.point(row)).copied().collect();
        let groups = self.groups.as_ref().map(|groups| rows.iter().map(|row| groups[row.get()]).collect());
        Ok(Self { groups, ..Self::new(rows.len(), self.dim, values)? })
    }

    /// Squared Euclidean distance between two rows, summed column by column.
    ///
    /// # Panics
    /// When a row is of another table and out of range.
    pub fn squared_distance(&self, a: RowIndex, b: RowIndex) -> f64 {
        squared_distance(self.point(a), self.point(b))
    }
}

/// Squared Euclidean distance, summed column by column.
///
/// Every structure, method and reference uses this order of operations, so that all agree on ties.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Euclidean distance, by a scaled sum where the plain one would overflow or underflow. Edges have this length.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squared = squared_distance(a, b);
    if squared.is_normal() {
        return squared.sqrt();
    }
    let largest = a.iter().zip(b).fold(0.0_f64, |largest, (x, y)| largest.max((x - y).abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let scaled: f64 = a.iter().zip(b).map(|(x, y)| ((x - y) / largest).powi(2)).sum();
    scaled.sqrt() * largest
}
