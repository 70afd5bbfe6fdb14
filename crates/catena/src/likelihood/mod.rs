//! Noise that is not Gaussian, by Gaussian pseudo-observations that are improved sweep by sweep.
//!
//! The sweep is exact for Gaussian cells. For any Gaussian posterior q of the latents, and any B_i(q) that is at most
//! `E_q[log p(y_i | f_i)]`, with f_i the noise-free value of cell i,
//!
//! ```text
//! log p(Y) ≥ Σ_i B_i(q) − KL(q ‖ prior).
//! ```
//!
//! A sweep over pseudo-observations `N(ỹ_i; f_i, r_i)` finds the q that maximizes `Σ_i E_q[log N(ỹ_i; f_i, r_i)] − KL(q ‖ prior)`.
//! The maximum is its log evidence log Z, so the divergence need not be computed, and the bound is
//!
//! ```text
//! log Z + Σ_i (B_i(q) − E_q[log N(ỹ_i; f_i, r_i)]).
//! ```
//!
//! [`CellLikelihood`] defines B_i and the pseudo-observation of a cell. [`approximate`] alternates: sweep, bound, new
//! pseudo-observations. The result is a *lower bound* of the log evidence; the two are equal for [`Gaussian`] noise alone.
//!
//! A new likelihood is one file beside `gaussian.rs`, and its two lines here.

mod approximation;
mod cell;
mod error;
mod gaussian;
mod student_t;

pub use approximation::{Approximation, ApproximationSettings, ApproximationStop, approximate};
pub use cell::{CellLikelihood, CellMarginal, PseudoObservation};
pub use error::LikelihoodError;
pub use gaussian::Gaussian;
pub use student_t::StudentT;
