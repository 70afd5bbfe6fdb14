//! One-step predictions along a chain.

use catena::graph::FactorGraph;
use catena::index::Position;
use catena::inference::{Outlook, Workspace};
use catena::prediction::Prediction;
use catena::structure::Tree;

use crate::error::{FitError, MethodError};

/// The rows of a chain with a row before them, and their predictions from that row and those before it.
pub(super) fn one_step(
    graph: &FactorGraph<'_>,
    tree: &Tree,
) -> Result<(Vec<Position>, Prediction), FitError> {
    let has_row_before = |&position: &Position| tree.parent(position).is_some();
    let targets: Vec<Position> = tree.positions().filter(has_row_before).collect();
    let outlook = |&target: &Position| Outlook {
        origin: tree.row_at(tree.parent(target).unwrap_or(target)),
        distance: tree.step_into(target),
    };
    let outlooks: Vec<Outlook> = targets.iter().map(outlook).collect();
    let ahead = Workspace::new().predict_ahead(graph, &outlooks).map_err(MethodError::from)?;
    Ok((targets, ahead))
}
