//! The factors of the graph, one file each, with one pure message rule per edge, named by where the message goes.
//!
//! In the order in which they meet the state: [`Prior`], [`Transition`], [`Mixing`], [`Selection`], [`Observation`]. The
//! equality nodes of Fig. 2 need no file: they send on the product of what comes in at their other edges
//! ([`Canonical::times`](crate::Canonical::times), [`Moment::times`](crate::Moment::times)).

mod mixing;
mod observation;
mod prior;
mod selection;
mod transition;

pub use mixing::Mixing;
pub use observation::Observation;
pub use prior::Prior;
pub use selection::Selection;
pub use transition::Transition;
