//! The Forney factor graph of the model (Fig. 2) with every message computed, listed and drawn.
//!
//! Factors are boxes, variables are edges, and messages travel along edges. The graph serves small tables: it is a reference for the
//! sweeps of [`catena`] and an illustration of what they compute.
//!
//! One node of the structure, with D = 3 outputs, numbered as in the paper. Squares ■ are known values; `=` copies a
//! variable; messages 1–11 are those of the node's observations. A missing output sends none:
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
//! Upward messages (toward the root) are [`Canonical`], downward ones [`Moment`]. The product of the two messages on an edge is
//! the marginal of its variable, and its scale is the evidence. [`ExplicitGraph`] computes, lists, prints and draws them.
//!
//! In reading order: `message.rs`, `factor/`, `edge.rs`, `explicit.rs` (the two loops), `branch.rs` (the observations of one node),
//! `listing.rs`, `draw/`.

mod branch;
mod draw;
mod edge;
mod error;
mod explicit;
pub mod factor;
mod listing;
mod matrix;
mod message;
mod topology;

pub use edge::{Edge, EdgeMessages, Node};
pub use error::ExplainError;
pub use explicit::ExplicitGraph;
pub use listing::{MessageName, NamedMessage, figure_number};
pub use matrix::Matrix;
pub use message::{Canonical, FormError, Message, Moment, Upward};
