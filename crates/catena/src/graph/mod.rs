//! Model, structure and observed cells joined to one factor graph, in the compact form that the sweeps read.
//!
//! Every edge of the structure is a transition `p(z_i | z_p) = N(z_i; A z_p, Q)`, every observed cell a factor
//! `p(y_id | z_i) = N(y_id; (H z_i)_d, r_d)`; a missing cell has none. The crate `catena-explain` has the same graph with every
//! message of Fig. 2 of the paper spelled out.

mod cells;
mod factor_graph;
mod held;
mod step_lengths;

pub(crate) use cells::Cells;
pub use factor_graph::{FactorGraph, GraphError};
pub use held::Held;
pub(crate) use step_lengths::StepLengths;
