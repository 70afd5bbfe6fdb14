//! A bucket kd-tree over input points of any dimension, with removal, duplicates and deterministic ties.
//!
//! The tree is balanced by count, so a million equal points are as deep as a million different ones, and lies in an
//! array: node i has the children 2i and 2i + 1, the root is 1. A node keeps the smallest box around its points and
//! the lowest of their rows; both shrink as points are removed. Results are ordered by (squared distance, row), exactly as
//! a search over all points in row order:
//! - distances are summed in the order of [`squared_distance`](crate::data::squared_distance);
//! - a box's distance is summed in that same order from gaps that are no larger, and rounding is monotone, so it never
//!   exceeds the computed distance of a point inside;
//! - a box at exactly the best distance is opened only if it holds a lower row.

mod build;
mod nodes;
mod queries;
mod removal;
mod search;

pub(super) use nodes::{Any, BUCKET, Fixed, NO_ROW, Width, with_width};
pub use nodes::{KdTree, Neighbor};
pub(super) use search::{Candidate, Nearest, Search};
