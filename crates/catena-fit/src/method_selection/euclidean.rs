//! The family for methods that use Euclidean distances: smoothness, private latents, trend and factors on the inputs.

use catena::kernel::{Kernel, StateKind};
use catena::learning::Family;
use catena_methods::fullscale::FullScaleSize;

use super::candidate::WORTHWHILE;
use super::selection::{EuclideanModel, MethodSelection, PreparedFold};
use crate::error::FitError;
use crate::families::FamilyChoice;
use crate::learn::LearningTask;
use crate::methods::{FullScaleMethod, MethodEvidence};
use crate::monitor::Pace;
use crate::options::{StructureOption, TransformChoice};
use crate::prepare::PreparedTable;
use crate::scores::is_better;

/// The family with as many shared latents as outputs is tried up to this many outputs.
const MOST_OUTPUTS_OF_FULL: usize = 4;

impl MethodSelection<'_> {
    /// Chooses units, family and parameters by the full-scale likelihood. Trend and factors chosen for message passing may suit
    /// its structure only, so they are compared with none.
    pub(super) fn euclidean_model(
        &self,
        of_choice: PreparedFold,
        choice: &FamilyChoice,
    ) -> Result<(PreparedFold, EuclideanModel), FitError> {
        let base = Family { state: StateKind::Value, ..choice.family };
        let kernels = match self.options.kernel {
            Some(_) => vec![base.shared_kernel],
            None => vec![Kernel::Matern12, Kernel::Matern32, Kernel::Matern52],
        };
        let with_kernel = |kernel: Kernel| match base.n_shared {
            0 => Family { private_kernel: base.private_kernel.map(|_| kernel), ..base },
            _ => Family { shared_kernel: kernel, ..base },
        };
        let trend = self.options.transform_choice().trend;
        let simple = TransformChoice { trend, factors: vec![], ..of_choice.transforms.clone() };
        let keeps_factors = self.options.ard == Some(true);
        let (fold, other) = if simple == of_choice.transforms || keeps_factors {
            (of_choice, None)
        } else {
            (self.prepared_fold(&simple)?, Some(of_choice))
        };
        let mut best = None;
        self.try_families(&fold, kernels.into_iter().map(with_kernel).collect(), &mut best)?;
        if let (Some(EuclideanModel { family, .. }), true) = (&best, self.plan.tries_variants) {
            let variants = self.variants(*family);
            self.try_families(&fold, variants, &mut best)?;
        }
        let Some(simple) = best else { return Err(FitError::NoStart) };
        if let Some(other) = other {
            let mut found = None;
            self.try_families(&other, vec![simple.family], &mut found)?;
            if let Some(found) = found.filter(|found| found.log_score > simple.log_score + WORTHWHILE) {
                return Ok((other, found));
            }
        }
        Ok((fold, simple))
    }

    /// Families of the same smoothness: with or without private latents, and with as many shared latents as outputs.
    fn variants(&self, family: Family) -> Vec<Family> {
        let n_outputs = self.n_outputs();
        let mut variants = vec![];
        if self.options.private.is_none() && n_outputs > 1 {
            let n_shared = family.n_shared.max(1);
            let shared_kernel = match family.n_shared {
                0 => family.private_kernel.unwrap_or(family.shared_kernel),
                _ => family.shared_kernel,
            };
            variants.push(match family.private_kernel {
                Some(_) => Family { n_shared, shared_kernel, private_kernel: None, ..family },
                None => Family { private_kernel: Some(Kernel::Matern12), ..family },
            });
            if self.options.latents.is_none() && (2..=MOST_OUTPUTS_OF_FULL).contains(&n_outputs) {
                let n_shared = n_outputs;
                variants.push(Family {
                    n_shared,
                    shared_kernel,
                    private_kernel: None,
                    tied: false,
                    ..family
                });
            }
        }
        variants.retain(|variant| *variant != family);
        variants.dedup();
        variants
    }

    /// Learns families by the full-scale likelihood and keeps the best by held-out cells.
    fn try_families(
        &self,
        fold: &PreparedFold,
        families: Vec<Family>,
        best: &mut Option<EuclideanModel>,
    ) -> Result<(), FitError> {
        let table = PreparedTable::new(fold.learning.clone(), StructureOption::Auto)?;
        let method = || {
            FullScaleMethod::new(FullScaleSize::default(), self.options.seed).with_memory(self.options.memory)
        };
        // Each keeps the arrangement of its own table.
        let (likelihood, predictor) = (method(), method());
        let mut failure = None;
        for family in families {
            if best.is_some() && self.reporter.is_stopped() {
                break;
            }
            let task = LearningTask::new(family, self.plan.settings, &table.statistics, self.options);
            let evidence = || MethodEvidence { method: &likelihood, dataset: &table.dataset };
            let pace = Pace::new(&self.reporter, 0.0);
            let learned = task.learn_by(&table.statistics, || table.moments(), &evidence, &|progress| {
                self.reporter.go_on()?;
                pace.step(progress)
            });
            let result = learned.and_then(|learned| {
                let scores = self.score(fold, &predictor, &learned.model)?.scores;
                Ok(EuclideanModel { family, model: learned.model, log_score: scores.log_score })
            });
            match result {
                Ok(found)
                    if best.as_ref().is_none_or(|best| is_better(found.log_score, best.log_score, 0.0)) =>
                {
                    *best = Some(found);
                }
                Ok(_) => {}
                // A family without a likelihood on this table is skipped.
                Err(error) => failure = Some(error),
            }
        }
        match (best.is_none(), failure) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(()),
        }
    }
}
