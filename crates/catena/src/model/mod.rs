//! The linear model of coregionalization: latents, mixing matrix, noise (Eq. 1 and `generative_model`).

mod error;
mod latent;
mod lmc;
mod mixing;

pub use error::ModelError;
pub use latent::{Latent, Process};
pub use lmc::Lmc;
pub use mixing::MixingMatrix;
