//! Fields over places and time: distinct places, the table of times whose outputs are those of all places, and the model along
//! time whose mixing matrix is tied by the correlation of the places.
//!
//! A field g_l(t, s) has the correlation k_l(t, t')·c_l(s, s'). At P places with correlation matrix C Cᵀ it is a mixture of P
//! independent latents along time, g_l(t, s_p) = Σ_q C_pq h_q(t). A table of places and times is therefore a table of times with
//! P·D outputs under an ordinary [`Lmc`](catena::model::Lmc), and the sweep along time is exact.

mod fields;
mod geometry;
mod pivot;
mod places;
mod root;

pub(crate) use fields::{Fields, FieldsAtPlaces};
pub use geometry::Geometry;
pub(crate) use pivot::{Pivot, with_more_outputs};
pub(crate) use places::MOST_PLACES;
pub use places::Places;
pub(crate) use root::semidefinite_root;
