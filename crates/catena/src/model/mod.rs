//! The linear model of coregionalization: latents, mixing matrix, noise (Eq. 1 and `generative_model`).

mod latent;
mod lmc;
mod mixing;

pub use latent::{Latent, Process};
pub use lmc::{Lmc, ModelError};
pub use mixing::MixingMatrix;
