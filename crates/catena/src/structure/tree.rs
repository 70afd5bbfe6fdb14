//! A rooted tree over the rows, or one per group: parents, edge lengths and visiting order.

use crate::data::{InputPoints, distance};
use crate::index::{Position, RowIndex};
use crate::units::{DistanceScale, UnitError};
use std::collections::HashSet;
use thiserror::Error;

/// A structure that cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StructureError {
    /// A sorted chain needs a single input column.
    #[error("a sorted chain needs one input column, not {dim}; use a spanning tree or a greedy chain")]
    NotOneDimensional {
        /// The number of input columns.
        dim: usize,
    },
    /// An order or parent list has another number of entries than there are rows.
    #[error("the structure has {found} entries for {n_rows} rows")]
    RowCountMismatch {
        /// Rows of the inputs.
        n_rows: usize,
        /// Entries given.
        found: usize,
    },
    /// A row number is out of range.
    #[error("row {row} is not one of the {n_rows} rows")]
    UnknownRow {
        /// The row.
        row: RowIndex,
        /// Rows of the inputs.
        n_rows: usize,
    },
    /// A chain visits every row once.
    #[error("row {row} is visited twice")]
    RowVisitedTwice {
        /// The row.
        row: RowIndex,
    },
    /// A tree has one root, a table of groups one root per group.
    #[error(
        "a structure needs one row without a parent in each group; {found} were given for {n_groups} group(s)"
    )]
    NotOneRoot {
        /// Rows without a parent.
        found: usize,
        /// The number of groups; 1 if the rows have none.
        n_groups: usize,
    },
    /// An edge joins rows of one group.
    #[error("row {row} and its parent are of different groups")]
    ParentInOtherGroup {
        /// The row.
        row: RowIndex,
    },
    /// A chain visits the rows of a group one after another.
    #[error("row {row} is visited after its group was left; visit the rows of a group one after another")]
    GroupVisitedTwice {
        /// The row.
        row: RowIndex,
    },
    /// This structure does not know groups.
    #[error("a {structure} does not know groups of rows; use a sorted chain of one input column")]
    NoGroups {
        /// The name of the structure.
        structure: &'static str,
    },
    /// Following parents from this row never reaches the root.
    #[error("row {row} is not connected to the root")]
    NotConnected {
        /// The row.
        row: RowIndex,
    },
    /// The distance between two rows overflows.
    #[error("the edge to row {row} has length {distance}; rescale the inputs")]
    DistanceNotFinite {
        /// The row.
        row: RowIndex,
        /// The distance found.
        distance: f64,
    },
    /// A scale is not positive and finite.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

/// A rooted tree over the rows, in visiting order: every parent comes before its children.
///
/// The order is a pre-order, so a child mostly follows its parent in memory. In a chain the parent of every position is the
/// position before it. Over rows in groups the structure is a forest, with one root per group; at a root the state starts from
/// its prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    row_at: Vec<RowIndex>,
    position_of: Vec<Position>,
    /// The parent's position; a root's entry is its own.
    parent: Vec<Position>,
    /// The distance to the parent, in units of `distance_scale`; 0 at a root.
    step: Vec<f64>,
    distance_scale: DistanceScale,
    is_chain: bool,
    n_roots: usize,
}

impl Tree {
    /// The chain that visits the rows in this order (the paper's π); over rows in groups, one chain per group.
    ///
    /// # Errors
    /// When `order` is not a permutation of the rows, it leaves a group and returns to it, or a distance overflows.
    pub fn chain(inputs: &InputPoints, order: Vec<RowIndex>) -> Result<Self, StructureError> {
        if order.len() != inputs.n_rows() {
            return Err(StructureError::RowCountMismatch { n_rows: inputs.n_rows(), found: order.len() });
        }
        check_groups_are_contiguous(inputs, &order)?;
        let group =
            |at: usize| order.get(at).filter(|row| row.get() < inputs.n_rows()).map(|row| inputs.group(*row));
        let above = |at: usize| if at > 0 && group(at - 1) == group(at) { at - 1 } else { at };
        let parent = (0..order.len()).map(|at| Position::new(above(at))).collect();
        Self::from_order(inputs, order, parent)
    }

    /// The tree in which `parent[row]` is each row's parent, `None` for the root, or for the root of each group.
    ///
    /// Children are visited in ascending row order, deepest first along each branch.
    ///
    /// # Errors
    /// When there is not exactly one root per group, a parent is of another group, a parent is unknown, rows are not connected, or a distance overflows.
    pub fn from_parents(inputs: &InputPoints, parent: &[Option<RowIndex>]) -> Result<Self, StructureError> {
        let n_rows = inputs.n_rows();
        if parent.len() != n_rows {
            return Err(StructureError::RowCountMismatch { n_rows, found: parent.len() });
        }
        let n_roots = parent.iter().filter(|above| above.is_none()).count();
        let n_groups = inputs.n_groups();
        if n_roots != n_groups {
            return Err(StructureError::NotOneRoot { found: n_roots, n_groups });
        }
        // Children of each row as linked lists. Rows are inserted at the head in ascending order, and the stack below
        // reverses them again.
        let mut first_child = vec![usize::MAX; n_rows];
        let mut next_sibling = vec![usize::MAX; n_rows];
        let mut stack = vec![];
        for (row, above) in parent.iter().enumerate() {
            match above {
                Some(above) if above.get() >= n_rows => {
                    return Err(StructureError::UnknownRow { row: *above, n_rows });
                }
                Some(above) if inputs.group(*above) != inputs.group(RowIndex::new(row)) => {
                    return Err(StructureError::ParentInOtherGroup { row: RowIndex::new(row) });
                }
                Some(above) => {
                    next_sibling[row] = first_child[above.get()];
                    first_child[above.get()] = row;
                }
                None => stack.push((row, None)),
            }
        }
        // The root of the lowest row comes first.
        stack.reverse();
        let mut order = Vec::with_capacity(n_rows);
        let mut parent_position = Vec::with_capacity(n_rows);
        while let Some((row, above)) = stack.pop() {
            let position = order.len();
            order.push(RowIndex::new(row));
            parent_position.push(Position::new(above.unwrap_or(position)));
            let mut child = first_child[row];
            while child != usize::MAX {
                stack.push((child, Some(position)));
                child = next_sibling[child];
            }
        }
        if order.len() < n_rows {
            let mut reached = vec![false; n_rows];
            order.iter().for_each(|row| reached[row.get()] = true);
            let row = reached.iter().position(|&seen| !seen).unwrap_or(0);
            return Err(StructureError::NotConnected { row: RowIndex::new(row) });
        }
        Self::from_order(inputs, order, parent_position)
    }

    /// The same parents and order over other points: only the edge lengths change.
    ///
    /// # Errors
    /// When there is another number of points, or a distance overflows.
    pub fn with_points(&self, inputs: &InputPoints) -> Result<Self, StructureError> {
        if inputs.n_rows() != self.len() {
            return Err(StructureError::RowCountMismatch { n_rows: inputs.n_rows(), found: self.len() });
        }
        Self::from_order(inputs, self.row_at.clone(), self.parent.clone())?
            .with_distance_scale(self.distance_scale)
    }

    /// Whether another structure visits the same rows in the same order.
    pub fn has_order_of(&self, other: &Self) -> bool {
        self.row_at == other.row_at
    }

    /// Checks the rows and computes edge lengths.
    fn from_order(
        inputs: &InputPoints,
        row_at: Vec<RowIndex>,
        parent: Vec<Position>,
    ) -> Result<Self, StructureError> {
        let n_rows = inputs.n_rows();
        let mut position_of = vec![None; n_rows];
        for (position, &row) in row_at.iter().enumerate() {
            match position_of.get_mut(row.get()) {
                None => return Err(StructureError::UnknownRow { row, n_rows }),
                Some(Some(_)) => return Err(StructureError::RowVisitedTwice { row }),
                Some(slot) => *slot = Some(Position::new(position)),
            }
        }
        let mut step = Vec::with_capacity(n_rows);
        for (&row, &above) in row_at.iter().zip(&parent) {
            let distance = distance(inputs.point(row), inputs.point(row_at[above.get()]));
            if !distance.is_finite() {
                return Err(StructureError::DistanceNotFinite { row, distance });
            }
            step.push(distance);
        }
        let is_root = |(at, above): (usize, &Position)| above.get() == at;
        let n_roots = parent.iter().enumerate().filter(|&entry| is_root(entry)).count();
        let is_chain =
            parent.iter().enumerate().all(|(at, above)| is_root((at, above)) || above.get() + 1 == at);
        Ok(Self {
            row_at,
            position_of: position_of.into_iter().flatten().collect(),
            parent,
            step,
            distance_scale: DistanceScale::ONE,
            is_chain,
            n_roots,
        })
    }

    /// The same structure with distances divided by `scale`; the scales multiply.
    ///
    /// # Errors
    /// When a scaled distance overflows.
    pub fn with_distance_scale(mut self, scale: DistanceScale) -> Result<Self, StructureError> {
        for (at, step) in self.step.iter_mut().enumerate() {
            *step /= scale.get();
            if !step.is_finite() {
                return Err(StructureError::DistanceNotFinite { row: self.row_at[at], distance: *step });
            }
        }
        self.distance_scale = DistanceScale::new(self.distance_scale.get() * scale.get())?;
        Ok(self)
    }

    /// The lengths of all edges, by position; roots have none.
    pub fn edge_lengths(&self) -> impl Iterator<Item = f64> + '_ {
        self.positions()
            .filter(|&position| self.parent(position).is_some())
            .map(|position| self.step_into(position))
    }

    /// The median of the edge lengths: the paper's distance scale. `None` for a single point, or when half of
    /// the edges have length zero.
    pub fn median_step(&self) -> Option<DistanceScale> {
        let mut steps: Vec<f64> = self.edge_lengths().collect();
        steps.sort_by(f64::total_cmp);
        let middle = steps.len() / 2;
        let median = match steps.len() {
            0 => return None,
            odd if odd % 2 == 1 => steps[middle],
            _ => 0.5 * (steps[middle - 1] + steps[middle]),
        };
        DistanceScale::new(median).ok()
    }

    /// The unit of all distances of this structure.
    pub fn distance_scale(&self) -> DistanceScale {
        self.distance_scale
    }

    /// The number of points, C.
    pub fn len(&self) -> usize {
        self.row_at.len()
    }

    /// Whether there are no points; never true.
    pub fn is_empty(&self) -> bool {
        self.row_at.is_empty()
    }

    /// The number of roots: 1, or the number of groups.
    pub fn n_roots(&self) -> usize {
        self.n_roots
    }

    /// Whether every position's parent is the position before it, except at roots.
    pub fn is_chain(&self) -> bool {
        self.is_chain
    }

    /// All positions, a root first.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = Position> + ExactSizeIterator + use<> {
        (0..self.len()).map(Position::new)
    }

    /// The row visited at this position: π.
    ///
    /// # Panics
    /// When `position` is of another structure and out of range.
    pub fn row_at(&self, position: Position) -> RowIndex {
        self.row_at[position.get()]
    }

    /// The position of this row: π⁻¹.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn position_of(&self, row: RowIndex) -> Position {
        self.position_of[row.get()]
    }

    /// The parent's position, `None` for a root.
    ///
    /// # Panics
    /// When `position` is of another structure and out of range.
    pub fn parent(&self, position: Position) -> Option<Position> {
        let above = self.parent[position.get()];
        (above != position).then_some(above)
    }

    /// The distance to the parent, Δ_i, in units of the distance scale; 0 at a root.
    ///
    /// # Panics
    /// When `position` is of another structure and out of range.
    pub fn step_into(&self, position: Position) -> f64 {
        self.step[position.get()]
    }

    /// All distances to the parent, by position.
    pub fn steps(&self) -> &[f64] {
        &self.step
    }

    /// The sum of all edge lengths; for a chain the paper's T(π).
    pub fn total_length(&self) -> f64 {
        self.step.iter().sum()
    }

    /// The distance from its root along the edges; for a chain the paper's coordinate s_π.
    pub fn coordinates(&self) -> Vec<f64> {
        let mut coordinate = vec![0.0; self.len()];
        for position in 1..self.len() {
            coordinate[position] = coordinate[self.parent[position].get()] + self.step[position];
        }
        coordinate
    }
}

/// Checks that an order visits the rows of each group one after another; rows out of range are reported elsewhere.
fn check_groups_are_contiguous(inputs: &InputPoints, order: &[RowIndex]) -> Result<(), StructureError> {
    let Some(groups) = inputs.groups() else { return Ok(()) };
    let mut left = HashSet::new();
    let mut current = None;
    for &row in order {
        let group = groups.get(row.get()).copied();
        if group != current {
            left.extend(current);
            current = group;
            if group.is_some_and(|group| left.contains(&group)) {
                return Err(StructureError::GroupVisitedTwice { row });
            }
        }
    }
    Ok(())
}
