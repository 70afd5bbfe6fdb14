//! A model to try, and how one that was tried did.

use catena::learning::Family;
use serde::{Deserialize, Serialize};

use crate::options::{FitOptions, TransformChoice};

/// A model that was tried, and how it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateSummary {
    /// What it is.
    pub name: String,
    /// Its score; see [`CandidateSummary::score_name`]. Larger is better.
    pub score: f64,
    /// What the score is.
    pub score_name: String,
    /// Root mean squared error on hidden cells, in standard deviations, if cells were hidden.
    pub rmse: Option<f64>,
    /// The share of hidden cells inside 95 % intervals, if cells were hidden.
    pub coverage: Option<f64>,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// A model to try.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FamilyCandidate {
    pub(super) family: Family,
    pub(super) transforms: TransformChoice,
}

impl FamilyCandidate {
    /// What it is, in words.
    pub(super) fn name(&self, options: &FitOptions) -> String {
        let Family { n_shared, shared_kernel, private_kernel, tied, .. } = self.family;
        let plural = if n_shared == 1 { "" } else { "s" };
        let mut name = format!("{n_shared} shared latent{plural}");
        if n_shared > 0 {
            name += &format!(" ({})", shared_kernel.name());
        }
        if tied {
            name += " of one length-scale";
        }
        if let Some(kernel) = private_kernel {
            name += &format!(" + private ({})", kernel.name());
        }
        if !self.transforms.log.is_empty() {
            let logs: Vec<String> =
                self.transforms.log.iter().map(|output| options.output_name(output.get())).collect();
            name += &format!(", logarithm of {}", logs.join(", "));
        }
        if self.transforms.trend {
            name += ", linear trend";
        }
        if !self.transforms.factors.is_empty() {
            let factors: Vec<String> =
                self.transforms.factors.iter().map(|factor| format!("{factor:.2}")).collect();
            name += &format!(", inputs counted {} times", factors.join(", "));
        }
        name
    }
}
