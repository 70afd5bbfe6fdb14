//! The sorted chain of one input column, on which inference is exact.

use super::{StructureError, Tree};
use crate::data::InputPoints;
use crate::index::RowIndex;

/// The rows in ascending order of their only input, group by group; equal inputs in row order.
///
/// # Errors
/// When there is more than one input column, or two inputs are infinitely far apart.
pub fn sorted_chain(inputs: &InputPoints) -> Result<Tree, StructureError> {
    if inputs.dim() != 1 {
        return Err(StructureError::NotOneDimensional { dim: inputs.dim() });
    }
    let mut order: Vec<RowIndex> = inputs.rows().collect();
    // `total_cmp` alone would order −0 before 0.
    let key = |row: &RowIndex| inputs.point(*row)[0] + 0.0;
    let compare =
        |a: &RowIndex, b: &RowIndex| inputs.group(*a).cmp(&inputs.group(*b)).then(key(a).total_cmp(&key(b)));
    if !order.is_sorted_by(|a, b| compare(a, b).is_le()) {
        order.sort_by(compare);
    }
    Tree::chain(inputs, order)
}
