//! The Forney factor graph of the model (Fig. 2): factors are boxes, variables are edges, messages travel on edges.
//!
//! One node of the structure, with D = 3 outputs, numbered as in the paper. Squares ■ are known values; `=` copies a
//! variable; messages 1–11 are what the node's observations send, and an output that was not observed sends nothing:
//! with y₂ and y₃ missing, messages 1–4 remain.
//!
//! ```text
//!               A     Q
//!               ■     ■
//!   z_parent ──[×]───[N]───[=]──────────────────────────── z_i, to each child's [×]
//!                           │
//!                     H ■──[×]
//!                           │ 4 ↑
//!                          [=]─────── 5 ← ──[=]────────────[=]
//!                           │ 3 ↑            │ 6 ↑          │ 9 ↑
//!                   e_1 ■──[×]       e_2 ■──[×]     e_3 ■──[×]
//!                           │ 2 ↑            │ 7 ↑          │ 10 ↑
//!                   τ_1 ■──[N]       τ_2 ■──[N]     τ_3 ■──[N]
//!                           │ 1 ↑            │ 8 ↑          │ 11 ↑
//!                           ■ y_i1           ■ y_i2         ■ y_i3
//! ```
//!
//! Upward messages (toward the root) are [`Canonical`], downward ones [`Moment`]; the product of the two on an edge is
//! the marginal of its variable, and its scale the evidence. [`ExplicitGraph`] computes, lists, prints and draws them
//! for small graphs; [`FactorGraph`] holds the same graph compactly, for the sweeps. In reading order: `message.rs`, `factor/`, `edge.rs`, `explicit.rs` (the two loops), `branch.rs`
//! (one node's observations), `listing.rs`, `draw/`.

mod branch;
mod cells;
mod draw;
mod edge;
mod explicit;
pub mod factor;
mod factor_graph;
mod held;
mod listing;
mod matrix;
mod message;
mod step_lengths;

pub(crate) use cells::Cells;
pub use edge::{Edge, EdgeMessages, Node};
pub use explicit::ExplicitGraph;
pub use factor_graph::{FactorGraph, GraphError};
pub use held::Held;
pub use listing::{MessageName, NamedMessage, figure_number};
pub use matrix::Matrix;
pub use message::{Canonical, FormError, Message, Moment, Upward};
pub(crate) use step_lengths::StepLengths;
