//! The position of a new point in a structure: at its nearest point, or between two neighbors on a line.

use super::Tree;
use super::kd_tree::KdTree;
use crate::data::{InputPoints, distance, squared_distance};
use crate::index::{GroupIndex, Position, RowIndex};
use std::collections::BTreeMap;
use std::ops::Range;

/// A point of the structure to which a new point is attached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie<P = Position> {
    /// The point: by its position in the structure, or by its row.
    pub point: P,
    /// Its distance, in units of the structure's distance scale.
    pub distance: f64,
}

/// How a new point is attached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttachedTo<P = Position> {
    /// On a line, beyond the first position of its group.
    BeforeFirst(Tie<P>),
    /// On a line, between two consecutive positions. If the point coincides with points of the structure, the last of them is
    /// on its left, at distance 0.
    Between {
        /// The earlier position.
        left: Tie<P>,
        /// The later position.
        right: Tie<P>,
    },
    /// On a line, at or beyond the last position of its group.
    AfterLast(Tie<P>),
    /// As a leaf below the nearest point; the lowest row breaks ties.
    Leaf(Tie<P>),
}

impl<P: Copy> AttachedTo<P> {
    /// The point it is attached to, and the second one if it lies between two.
    pub fn ties(self) -> (Tie<P>, Option<Tie<P>>) {
        match self {
            Self::BeforeFirst(tie) | Self::AfterLast(tie) | Self::Leaf(tie) => (tie, None),
            Self::Between { left, right } => (left, Some(right)),
        }
    }
}

/// Attaches new points to a structure, in O(log C) each.
///
/// On a chain sorted by its only input a new point lies between two others and depends on both. Elsewhere it is a leaf below
/// its nearest point, so new points do not affect one another. Over rows in groups, a new point joins its own group alone.
#[derive(Clone, Debug)]
pub struct Attachment {
    positions_by_row: Vec<Position>,
    distance_scale: f64,
    search: Search,
    /// The consecutive positions of each group, if rows have groups.
    groups: Option<BTreeMap<GroupIndex, Range<usize>>>,
}

#[derive(Clone, Debug)]
enum Search {
    /// The only input along the chain, times the sign that makes it ascend.
    Line {
        ascending: Vec<f64>,
        sign: f64,
    },
    Space {
        tree: KdTree,
        inputs: InputPoints,
    },
}

impl Attachment {
    /// Prepares a structure over these inputs for new points. O(C log C); O(C) on a line.
    ///
    /// # Panics
    /// When the structure is over another number of rows.
    pub fn new(inputs: &InputPoints, tree: &Tree) -> Self {
        assert_eq!(inputs.n_rows(), tree.len(), "a structure over these inputs");
        let search = match along_line(inputs, tree) {
            Some(line) => line,
            None => Search::Space { tree: KdTree::new(inputs), inputs: inputs.clone() },
        };
        Self {
            positions_by_row: inputs.rows().map(|row| tree.position_of(row)).collect(),
            distance_scale: tree.distance_scale().get(),
            search,
            groups: inputs.groups().map(|groups| positions_by_group(groups, tree)),
        }
    }

    /// Whether the rows of the structure have groups.
    pub fn has_groups(&self) -> bool {
        self.groups.is_some()
    }

    /// The number of coordinates of a point, M.
    pub(crate) fn dim(&self) -> usize {
        match &self.search {
            Search::Line { .. } => 1,
            Search::Space { inputs, .. } => inputs.dim(),
        }
    }

    /// The attachment of a new point to a table without groups.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn attach(&self, point: &[f64]) -> AttachedTo {
        self.attach_among(0..self.positions_by_row.len(), point)
    }

    /// The attachment of a new point to the rows of its group. `None` if the group has no rows, or just one of table and point has a
    /// group: the state there has its prior.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn attach_in(&self, group: Option<GroupIndex>, point: &[f64]) -> Option<AttachedTo> {
        match (&self.groups, group) {
            (None, None) => Some(self.attach(point)),
            (Some(groups), Some(group)) => {
                groups.get(&group).map(|positions| self.attach_among(positions.clone(), point))
            }
            _ => None,
        }
    }

    /// The attachment to one of these consecutive positions, of which there is at least one.
    fn attach_among(&self, positions: Range<usize>, point: &[f64]) -> AttachedTo {
        match &self.search {
            Search::Line { ascending, sign } => {
                assert_eq!(point.len(), 1, "a point of the structure's dimension");
                self.attach_on_line(ascending, positions, sign * point[0])
            }
            Search::Space { tree, inputs } => {
                // The structure has at least one point, and none is removed from this tree.
                let row = match self.groups {
                    None => tree.nearest(point).map_or(RowIndex::new(0), |nearest| nearest.row),
                    Some(_) => self.nearest_among(positions, inputs, point),
                };
                AttachedTo::Leaf(Tie {
                    point: self.positions_by_row[row.get()],
                    distance: distance(point, inputs.point(row)) / self.distance_scale,
                })
            }
        }
    }

    /// The nearest of the rows at these positions; the lowest row in a tie.
    fn nearest_among(&self, positions: Range<usize>, inputs: &InputPoints, point: &[f64]) -> RowIndex {
        let rows = inputs.rows().filter(|row| positions.contains(&self.positions_by_row[row.get()].get()));
        let squared = |row: &RowIndex| squared_distance(point, inputs.point(*row));
        rows.min_by(|a, b| squared(a).total_cmp(&squared(b))).unwrap_or(RowIndex::new(0))
    }

    fn attach_on_line(&self, ascending: &[f64], positions: Range<usize>, place: f64) -> AttachedTo {
        let tie = |at: usize| Tie {
            point: Position::new(at),
            distance: (ascending[at] - place).abs() / self.distance_scale,
        };
        let n_before = ascending[positions.clone()].partition_point(|&other| other <= place);
        match positions.start + n_before {
            first if first == positions.start => AttachedTo::BeforeFirst(tie(first)),
            after if after == positions.end => AttachedTo::AfterLast(tie(after - 1)),
            after => AttachedTo::Between { left: tie(after - 1), right: tie(after) },
        }
    }
}

/// The consecutive positions of each group; a structure visits the rows of a group one after another.
fn positions_by_group(groups: &[GroupIndex], tree: &Tree) -> BTreeMap<GroupIndex, Range<usize>> {
    let mut found: BTreeMap<GroupIndex, Range<usize>> = BTreeMap::new();
    for position in tree.positions() {
        let at = position.get();
        found.entry(groups[tree.row_at(position).get()]).or_insert(at..at).end = at + 1;
    }
    found
}

/// The search along a chain that is sorted by its only input within each group.
fn along_line(inputs: &InputPoints, tree: &Tree) -> Option<Search> {
    if inputs.dim() != 1 || !tree.is_chain() {
        return None;
    }
    let along: Vec<f64> = tree.positions().map(|position| inputs.point(tree.row_at(position))[0]).collect();
    let is_sorted = |sign: f64| {
        tree.positions().skip(1).all(|position| {
            let at = position.get();
            tree.parent(position).is_none() || sign * along[at - 1] <= sign * along[at]
        })
    };
    let sign = if is_sorted(1.0) {
        1.0
    } else if is_sorted(-1.0) {
        -1.0
    } else {
        return None;
    };
    Some(Search::Line { ascending: along.iter().map(|place| sign * place).collect(), sign })
}
