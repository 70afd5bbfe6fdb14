//! Where a new point joins a structure that grows.

use super::paths::{NodeKind, Paths};
use crate::data::{DataError, InputPoints, distance, squared_distance};
use crate::index::RowIndex;
use crate::structure::{AttachedTo, KdTree, Tie, Tree};

/// A search index over the inputs of all points.
#[derive(Clone, Debug)]
pub(super) enum InputIndex {
    /// A chain along its only input: the inputs times the sign that makes them ascend, by row.
    Line { ascending: Vec<f64>, sign: f64, scale: f64 },
    /// Otherwise: a kd-tree over the first rows, and all inputs.
    Space { tree: KdTree, n_in_tree: usize, values: Vec<f64>, dim: usize, scale: f64 },
}

/// Points outside the kd-tree are searched one by one; from this many on, or from an eighth of all, the tree is rebuilt.
const MOST_OUTSIDE: usize = 256;

impl InputIndex {
    /// The index of a structure over these inputs.
    pub(super) fn new(inputs: &InputPoints, tree: &Tree) -> Self {
        let scale = tree.distance_scale().get();
        let along = || tree.positions().map(|position| inputs.point(tree.row_at(position))[0]);
        if inputs.dim() == 1 && tree.is_chain() {
            let sign = if along().is_sorted() { 1.0 } else { -1.0 };
            if along().map(|place| sign * place).is_sorted() {
                return Self::Line {
                    ascending: inputs.values().iter().map(|x| sign * x).collect(),
                    sign,
                    scale,
                };
            }
        }
        Self::Space {
            tree: KdTree::new(inputs),
            n_in_tree: inputs.n_rows(),
            values: inputs.values().to_vec(),
            dim: inputs.dim(),
            scale,
        }
    }

    /// The number of inputs, M.
    pub(super) fn dim(&self) -> usize {
        match self {
            Self::Line { .. } => 1,
            Self::Space { dim, .. } => *dim,
        }
    }

    /// The inputs of all points, and the distance scale.
    pub(super) fn inputs(&self, n_rows: usize) -> Result<(InputPoints, f64), DataError> {
        match self {
            Self::Line { ascending, sign, scale } => {
                let values = ascending.iter().map(|place| sign * place).collect();
                Ok((InputPoints::new(n_rows, 1, values)?, *scale))
            }
            Self::Space { values, dim, scale, .. } => {
                Ok((InputPoints::new(n_rows, *dim, values.clone())?, *scale))
            }
        }
    }

    /// Where a point joins: on a line after all points that are not beyond it, elsewhere at its nearest one, the lowest row in a tie.
    pub(super) fn find(&self, paths: &Paths, point: &[f64]) -> AttachedTo<RowIndex> {
        match self {
            Self::Line { ascending, sign, scale } => find_on_line(paths, ascending, sign * point[0], *scale),
            Self::Space { tree, n_in_tree, values, dim, scale } => {
                let mut nearest = tree
                    .nearest(point)
                    .map_or((f64::INFINITY, 0), |near| (near.squared_distance, near.row.get()));
                for (row, other) in values.chunks_exact(*dim).enumerate().skip(*n_in_tree) {
                    let squared = squared_distance(point, other);
                    if squared < nearest.0 {
                        nearest = (squared, row);
                    }
                }
                let there = &values[nearest.1 * dim..][..*dim];
                AttachedTo::Leaf(Tie {
                    point: RowIndex::new(nearest.1),
                    distance: distance(point, there) / scale,
                })
            }
        }
    }

    /// Adds a point.
    pub(super) fn push(&mut self, point: &[f64]) -> Result<(), DataError> {
        match self {
            Self::Line { ascending, sign, .. } => ascending.push(*sign * point[0]),
            Self::Space { tree, n_in_tree, values, dim, .. } => {
                values.extend_from_slice(point);
                let n_rows = values.len() / *dim;
                if n_rows - *n_in_tree > MOST_OUTSIDE.max(n_rows / 8) {
                    *tree = KdTree::new(&InputPoints::new(n_rows, *dim, values.clone())?);
                    *n_in_tree = n_rows;
                }
            }
        }
        Ok(())
    }
}

fn find_on_line(paths: &Paths, ascending: &[f64], place: f64, scale: f64) -> AttachedTo<RowIndex> {
    let coordinate = |row: RowIndex| ascending[row.get()];
    let tie = |row: RowIndex| Tie { point: row, distance: (coordinate(row) - place).abs() / scale };
    let mut node = paths.all()[0].node;
    while let NodeKind::Pair(left, right) = paths.nodes()[node].kind {
        node = if coordinate(paths.end_of(right, true)) <= place { right } else { left };
    }
    let rows = match paths.nodes()[node].kind {
        NodeKind::Block(block) => paths.block_rows(block),
        NodeKind::Pair(..) => &[],
    };
    match rows.iter().rposition(|&row| coordinate(row) <= place) {
        None => AttachedTo::BeforeFirst(tie(paths.root())),
        Some(at) => match paths.next_on_path(rows[at]) {
            Some(right) => AttachedTo::Between { left: tie(rows[at]), right: tie(right) },
            None => AttachedTo::AfterLast(tie(rows[at])),
        },
    }
}
