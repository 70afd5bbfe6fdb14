//! Decides between points at equal distances, so that the order of a table's rows does not matter.

use catena::data::InputPoints;
use catena::index::{Position, RowIndex};
use catena::structure::{StructureError, Tree};

/// What decides between points at equal distances, and where a greedy chain starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ties {
    /// The inputs: the structure does not depend on the order of the rows.
    #[default]
    ByInputs,
    /// The lowest row, as in the paper's studies and in model files of earlier versions.
    ByRow,
}

impl Ties {
    /// Builds structures with a builder that breaks ties by the lowest row.
    pub(crate) fn build(
        self,
        inputs: &InputPoints,
        build: impl Fn(&InputPoints) -> Result<Vec<Tree>, StructureError>,
    ) -> Result<Vec<Tree>, StructureError> {
        // Along one input the chain has the order of the inputs anyway.
        if self == Self::ByRow || inputs.dim() == 1 {
            return build(inputs);
        }
        let rows = rows_by_inputs(inputs);
        if rows.is_sorted() {
            return build(inputs);
        }
        let ordered = inputs.select_rows(&rows).map(|ordered| build(&ordered));
        // An error names rows of the table.
        let Ok(Ok(trees)) = ordered else { return build(inputs) };
        trees.iter().map(|tree| with_rows(tree, inputs, &rows)).collect()
    }
}

/// The structure in which row i is row `rows[i]` of the inputs.
fn with_rows(tree: &Tree, inputs: &InputPoints, rows: &[RowIndex]) -> Result<Tree, StructureError> {
    let row_at = |position: Position| rows[tree.row_at(position).get()];
    if tree.is_chain() {
        return Tree::chain(inputs, tree.positions().map(row_at).collect());
    }
    let mut parents = vec![None; rows.len()];
    for position in tree.positions() {
        parents[row_at(position).get()] = tree.parent(position).map(row_at);
    }
    Tree::from_parents(inputs, &parents)
}

/// The rows in the order of their groups and inputs: by the smallest coordinate, then by the next, and so on, whichever column has it; points
/// whose coordinates are exchanged by the first column. Equal points stay in the order of the rows.
pub(crate) fn rows_by_inputs(inputs: &InputPoints) -> Vec<RowIndex> {
    let dim = inputs.dim();
    let mut keys = Vec::with_capacity(2 * inputs.values().len());
    for row in inputs.rows() {
        let begin = keys.len();
        // `total_cmp` alone would order −0 before 0.
        keys.extend(inputs.point(row).iter().map(|x| x + 0.0));
        keys[begin..].sort_unstable_by(f64::total_cmp);
        keys.extend(inputs.point(row).iter().map(|x| x + 0.0));
    }
    let key = |row: RowIndex| &keys[2 * dim * row.get()..][..2 * dim];
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    rows.sort_by(|&a, &b| {
        let mut compared = key(a).iter().zip(key(b)).map(|(a, b)| a.total_cmp(b));
        let by_inputs = compared.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal);
        inputs.group(a).cmp(&inputs.group(b)).then(by_inputs)
    });
    rows
}
