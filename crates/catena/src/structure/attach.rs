//! The position of a new point in a structure: at its nearest point, or between two neighbors on a line.

use super::Tree;
use super::kd_tree::KdTree;
use crate::data::{InputPoints, distance};
use crate::index::Position;

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
    /// On a line, beyond the first position.
    BeforeFirst(Tie<P>),
    /// On a line, between two consecutive positions. If the point coincides with points of the structure, the last of them is
    /// on its left, at distance 0.
    Between {
        /// The earlier position.
        left: Tie<P>,
        /// The later position.
        right: Tie<P>,
    },
    /// On a line, at or beyond the last position.
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
/// its nearest point, so new points do not affect one another.
#[derive(Clone, Debug)]
pub struct Attachment {
    positions_by_row: Vec<Position>,
    distance_scale: f64,
    search: Search,
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
        }
    }

    /// The number of coordinates of a point, M.
    pub(crate) fn dim(&self) -> usize {
        match &self.search {
            Search::Line { .. } => 1,
            Search::Space { inputs, .. } => inputs.dim(),
        }
    }

    /// The attachment of a new point.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn attach(&self, point: &[f64]) -> AttachedTo {
        match &self.search {
            Search::Line { ascending, sign } => {
                assert_eq!(point.len(), 1, "a point of the structure's dimension");
                self.attach_on_line(ascending, sign * point[0])
            }
            Search::Space { tree, inputs } => {
                // The structure has at least one point, and none is removed from this tree.
                let row = tree.nearest(point).map_or(crate::index::RowIndex::new(0), |nearest| nearest.row);
                AttachedTo::Leaf(Tie {
                    point: self.positions_by_row[row.get()],
                    distance: distance(point, inputs.point(row)) / self.distance_scale,
                })
            }
        }
    }

    fn attach_on_line(&self, ascending: &[f64], place: f64) -> AttachedTo {
        let tie = |at: usize| Tie {
            point: Position::new(at),
            distance: (ascending[at] - place).abs() / self.distance_scale,
        };
        match ascending.partition_point(|&other| other <= place) {
            0 => AttachedTo::BeforeFirst(tie(0)),
            after if after == ascending.len() => AttachedTo::AfterLast(tie(after - 1)),
            after => AttachedTo::Between { left: tie(after - 1), right: tie(after) },
        }
    }
}

/// The search along a chain that is sorted by its only input.
fn along_line(inputs: &InputPoints, tree: &Tree) -> Option<Search> {
    if inputs.dim() != 1 || !tree.is_chain() {
        return None;
    }
    let along: Vec<f64> = tree.positions().map(|position| inputs.point(tree.row_at(position))[0]).collect();
    let sign = if along.is_sorted() {
        1.0
    } else if along.is_sorted_by(|a, b| a >= b) {
        -1.0
    } else {
        return None;
    };
    Some(Search::Line { ascending: along.iter().map(|place| sign * place).collect(), sign })
}
