//! The sorted chain of one input column: no approximation at all.

use super::{StructureError, Tree};
use crate::data::InputPoints;
use crate::index::RowIndex;

/// The rows in ascending order of their only input, equal inputs by row.
///
/// # Errors
/// When there is more than one input column, or two inputs are infinitely far apart.
pub fn sorted_chain(inputs: &InputPoints) -> Result<Tree, StructureError> {
    if inputs.dim() != 1 {
        return Err(StructureError::NotOneDimensional { dim: inputs.dim() });
    }
    let mut order: Vec<RowIndex> = inputs.rows().collect();
    // −0 and 0 are the same place, so `total_cmp` alone would order equal inputs by their sign.
    let key = |row: &RowIndex| inputs.point(*row)[0] + 0.0;
    if !order.is_sorted_by(|a, b| key(a) <= key(b)) {
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
    Tree::chain(inputs, order)
}
