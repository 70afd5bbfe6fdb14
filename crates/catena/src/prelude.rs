//! The names that most programs need: `use catena::prelude::*`.

pub use crate::data::{Dataset, InputPoints, InputScaling, Observations, OutputScaling};
pub use crate::graph::FactorGraph;
pub use crate::index::{LatentIndex, OutputIndex, RowIndex};
pub use crate::kernel::{Component, Kernel, StateKind};
pub use crate::live::LivePosterior;
pub use crate::model::{Latent, Lmc, MixingMatrix};
pub use crate::posterior::Posterior;
pub use crate::prediction::Prediction;
pub use crate::structure::{Start, Tree, greedy_chain, sorted_chain, spanning_tree};
pub use crate::units::{LengthScale, Variance};
