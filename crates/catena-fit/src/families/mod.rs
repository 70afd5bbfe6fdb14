//! The choice of the model family: smoothness, number of latents, private latents, transforms and factors on the inputs.

mod candidate;
mod marginal;
mod plan;
mod power_candidate;
mod powers;
mod relevance;
mod requested;
mod selection;
mod skew;
mod smoothness;
pub(crate) mod time;
mod trials;
mod trying;
mod variant_base;

pub use candidate::CandidateSummary;
pub(crate) use candidate::family_name;
pub(crate) use plan::{is_wide, plan_for, selection_rows};
pub(crate) use requested::{check_requested, requested_transforms};
pub(crate) use selection::{FamilyChoice, choose, choose_on};
pub(crate) use trials::{Comparison, FamilyTrial};
