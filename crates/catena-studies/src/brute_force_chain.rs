//! The paper's greedy nearest-neighbor chain by a search over all unvisited points: O(C²), the reference.

use catena::data::{InputPoints, squared_distance};
use catena::index::RowIndex;
use catena::structure::{StructureError, Tree};

/// The chain that starts at `start` and continues at the nearest unvisited row; the lowest row breaks ties.
///
/// # Errors
/// When `start` is not a row of the inputs, or a distance overflows.
pub fn brute_force_greedy_chain(inputs: &InputPoints, start: RowIndex) -> Result<Tree, StructureError> {
    let n_rows = inputs.n_rows();
    if start.get() >= n_rows {
        return Err(StructureError::UnknownRow { row: start, n_rows });
    }
    let mut is_visited = vec![false; n_rows];
    is_visited[start.get()] = true;
    let mut order = vec![start];
    let mut current = start;
    for _ in 1..n_rows {
        let here = inputs.point(current);
        let mut nearest = None;
        for row in inputs.rows() {
            if is_visited[row.get()] {
                continue;
            }
            let distance = squared_distance(here, inputs.point(row));
            if nearest.is_none_or(|(shortest, _)| distance < shortest) {
                nearest = Some((distance, row));
            }
        }
        let Some((_, row)) = nearest else { break };
        is_visited[row.get()] = true;
        order.push(row);
        current = row;
    }
    Tree::chain(inputs, order)
}
