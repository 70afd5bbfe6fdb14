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
//! [`CellLikelihood`] defines B_i(m, v), with m and v the mean and variance of f_i under q. The maximum over q satisfies
//!
//! ```text
//! 1/r_i = −2 ∂B_i/∂v,    (ỹ_i − m)/r_i = ∂B_i/∂m.
//! ```
//!
//! [`approximate`] alternates: sweep, bound, and a step of the natural parameters `(1/r_i, ỹ_i/r_i)` toward these equations. It is the
//! natural gradient of the bound, so that a step that is short enough raises it; a step that does not is halved. The result is a
//! *lower bound* of the log evidence; the two are equal for [`struct@Gaussian`] and [`struct@LogNormal`] noise.
//!
//! [`Likelihood`] lists the distributions of an output, one file each, and [`OutputLikelihoods`] has one for every output of a
//! table. They also answer for a new observation: its moments, quantiles and draws under a Gaussian marginal of the function.

mod approximation;
mod bernoulli;
mod beta;
mod binomial;
mod cell;
mod censored;
mod error;
mod gamma;
mod gaussian;
mod log_normal;
mod named;
mod negative_binomial;
mod observation;
mod outputs;
mod poisson;
mod quadrature;
mod special;
mod straight_tails;
mod student_t;
mod zero_inflated;

pub use approximation::{
    Approximation, ApproximationSettings, ApproximationStop, approximate, approximate_from,
};
pub use bernoulli::Bernoulli;
pub use beta::Beta;
pub use binomial::Binomial;
pub use cell::{CellLikelihood, CellMarginal, Expectation, ObservedCell, PseudoObservation};
pub use censored::Censored;
pub use error::LikelihoodError;
pub use gamma::Gamma;
pub use gaussian::Gaussian;
pub use log_normal::LogNormal;
pub use named::Likelihood;
pub use negative_binomial::NegativeBinomial;
pub use observation::ObservationScale;
pub use outputs::{OutputLikelihoods, OutputNoise};
pub use poisson::Poisson;
pub use student_t::StudentT;
pub use zero_inflated::ZeroInflated;
