//! The choice of the smoothness of shared and private latents.

use std::sync::atomic::AtomicUsize;

use catena::kernel::{Kernel, StateKind};
use catena::learning::{Family, Learned};
use rayon::prelude::*;

use super::plan::is_wide;
use super::selection::FamilySelection;
use crate::error::FitError;
use crate::learn::LearningTask;
use crate::monitor::Stage;
use crate::options::KernelPair;
use crate::prepare::PreparedTable;

impl FamilySelection<'_> {
    /// Chooses shared and private smoothness by the log evidence with few latents.
    pub(super) fn smoothness(
        &self,
        table: &PreparedTable,
        ladder: &[usize],
        private: bool,
        state: StateKind,
        reasons: &mut Vec<String>,
    ) -> Result<KernelPair, FitError> {
        use Kernel::{Matern12, Matern32, Matern52};
        let n_outputs = self.sample.observations().n_outputs();
        let pairs: &[(Kernel, Kernel)] = if private {
            &[(Matern12, Matern12), (Matern32, Matern12), (Matern32, Matern32)]
        } else if is_wide(n_outputs, private) {
            // Many latents with three states each would cost more than they gain.
            &[(Matern12, Matern12), (Matern32, Matern32)]
        } else {
            &[(Matern12, Matern12), (Matern32, Matern32), (Matern52, Matern52)]
        };
        // Without private latents, shared ones must describe all that is not noise.
        let most = if private { 2 } else { (n_outputs / 12).clamp(2, 8) };
        let n_shared = ladder.iter().copied().filter(|&count| count <= most).max().unwrap_or(ladder[0]);
        let done = AtomicUsize::new(0);
        let learned: Result<Vec<Option<Learned>>, FitError> = pairs
            .par_iter()
            .enumerate()
            .map(|(at, &(shared_kernel, private_kernel))| {
                if at > 0 && self.reporter.is_stopped() {
                    return Ok(None);
                }
                let private_kernel = private.then_some(private_kernel);
                let family = Family { n_shared, shared_kernel, private_kernel, state, tied: false };
                let task = LearningTask::new(family, self.plan.smoothness, &table.statistics, self.options);
                let learned = task.learn_reported(table, &self.reporter)?;
                self.report(Stage::Smoothness, &done, pairs.len());
                Ok(Some(learned))
            })
            .collect();
        let tried = pairs.iter().zip(learned?);
        let tried: Vec<_> = tried.filter_map(|(pair, learned)| Some((pair, learned?.log_evidence))).collect();
        if tried.len() < pairs.len() {
            let n_tried = tried.len();
            self.reporter.watch.cut(format!("{n_tried} of {} kinds of smoothness were tried", pairs.len()));
        }
        let Some(&first) = tried.first() else { return Err(FitError::NoStart) };
        let chosen = tried.iter().skip(1).fold(first, |best, &one| if one.1 > best.1 { one } else { best });
        let (shared, private_kernel) = *chosen.0;
        let name = |&(shared, own): &(Kernel, Kernel)| match private {
            true => format!("{}/{}", shared.name(), own.name()),
            false => shared.name().to_owned(),
        };
        let all: Vec<String> =
            tried.iter().map(|(pair, evidence)| format!("{} {evidence:.0}", name(pair))).collect();
        let plural = if n_shared == 1 { "" } else { "s" };
        reasons.push(format!(
            "smoothness by log evidence with {n_shared} shared latent{plural}: {}",
            all.join(", ")
        ));
        Ok(KernelPair { shared, private: private_kernel })
    }
}
