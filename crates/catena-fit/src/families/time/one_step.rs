//! One-step predictions along a chain.

use catena::graph::FactorGraph;
use catena::index::Position;
use catena::inference::{Outlook, Workspace};
use catena::prediction::Prediction;
use catena::structure::Tree;

use crate::error::{FitError, MethodError};

/// Predictions of all rows but the first, by position along the chain.
pub(super) fn one_step(graph: &FactorGraph<'_>, tree: &Tree) -> Result<Prediction, FitError> {
    let outlook = |at: usize| Outlook {
        origin: tree.row_at(Position::new(at - 1)),
        distance: tree.step_into(Position::new(at)),
    };
    let outlooks: Vec<Outlook> = (1..tree.len()).map(outlook).collect();
    Ok(Workspace::new().predict_ahead(graph, &outlooks).map_err(MethodError::from)?)
}
