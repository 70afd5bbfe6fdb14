//! Which family the methods take that know true distances: its smoothness, its private latents, its units.

use catena::kernel::{Kernel, StateKind};
use catena::learning::Family;
use catena::model::Lmc;
use catena_methods::fullscale::FullScaleSize;

use super::WORTHWHILE;
use super::MethodSelection;
use super::Field;
use crate::methods::message_passing::Structure;
use crate::error::FitError;
use crate::families::FamilyChoice;
use crate::learn::LearningTask;
use crate::methods::FullScaleMethod;
use crate::options::TransformChoice;
use crate::prepare::PreparedTable;
use crate::scores::is_better;

/// A family with as many shared latents as outputs is only tried up to here.
const MOST_OUTPUTS_OF_FULL: usize = 4;

/// The family, units and parameters of the methods that know true distances.
pub(super) struct EuclideanModel {
    pub(super) family: Family,
    pub(super) model: Lmc,
    pub(super) log_score: f64,
}

impl MethodSelection<'_> {
    /// The units, family and parameters of the methods that know true distances, learned by the full-scale likelihood. What
    /// message passing wants of trends and of factors on the inputs may only serve its structure: it is tried, not taken.
    pub(super) fn distance_aware(
        &self,
        of_choice: Field,
        choice: &FamilyChoice,
    ) -> Result<(Field, EuclideanModel), FitError> {
        let base = Family { state: StateKind::Value, ..choice.family };
        let kernels = match self.options.kernel {
            Some(_) => vec![base.shared_kernel],
            None => vec![Kernel::Matern12, Kernel::Matern32, Kernel::Matern52],
        };
        let smooth = |kernel: Kernel| match base.n_shared {
            0 => Family { private_kernel: base.private_kernel.map(|_| kernel), ..base },
            _ => Family { shared_kernel: kernel, ..base },
        };
        let trend = self.options.transforms().trend;
        let simple = TransformChoice { trend, factors: vec![], ..of_choice.transforms.clone() };
        let keeps_factors = self.options.relevance == Some(true);
        let (field, other) = if simple == of_choice.transforms || keeps_factors {
            (of_choice, None)
        } else {
            (self.field(&simple)?, Some(of_choice))
        };
        let mut best = None;
        self.try_families(&field, kernels.into_iter().map(smooth).collect(), &mut best)?;
        if let (Some(EuclideanModel { family, .. }), true) = (&best, self.work.tries_variants) {
            let variants = self.variants(*family);
            self.try_families(&field, variants, &mut best)?;
        }
        let Some(simple) = best else { return Err(FitError::NoStart) };
        if let Some(other) = other {
            let mut found = None;
            self.try_families(&other, vec![simple.family], &mut found)?;
            if let Some(found) = found.filter(|found| found.log_score > simple.log_score + WORTHWHILE) {
                return Ok((other, found));
            }
        }
        Ok((field, simple))
    }

    /// Other families of the same smoothness: with private latents or without, and with as many shared latents as outputs.
    fn variants(&self, family: Family) -> Vec<Family> {
        let n_outputs = self.n_outputs();
        let mut variants = vec![];
        if self.options.private.is_none() && n_outputs > 1 {
            let n_shared = family.n_shared.max(1);
            let shared_kernel = if family.n_shared == 0 {
                family.private_kernel.unwrap_or(family.shared_kernel)
            } else {
                family.shared_kernel
            };
            variants.push(match family.private_kernel {
                Some(_) => Family { n_shared, shared_kernel, private_kernel: None, ..family },
                None => Family { private_kernel: Some(Kernel::Matern12), ..family },
            });
            let is_few = (2..=MOST_OUTPUTS_OF_FULL).contains(&n_outputs);
            if self.options.latents.is_none() && is_few {
                let full = Family {
                    n_shared: n_outputs,
                    shared_kernel,
                    private_kernel: None,
                    tied: false,
                    ..family
                };
                variants.push(full);
            }
        }
        variants.retain(|variant| *variant != family);
        variants.dedup();
        variants
    }

    /// Learns families by the full-scale likelihood and keeps the best by hidden cells.
    fn try_families(
        &self,
        field: &Field,
        families: Vec<Family>,
        best: &mut Option<EuclideanModel>,
    ) -> Result<(), FitError> {
        let prepared_table = PreparedTable::new(field.few.clone(), &Structure::Automatic)?;
        let priors = self.options.priors.clone().unwrap_or_else(|| prepared_table.priors());
        let method = || {
            FullScaleMethod::new(FullScaleSize::default(), self.options.seed).with_memory(self.options.memory)
        };
        // Each keeps the arrangement of its own table.
        let (likelihood, judge) = (method(), method());
        let mut failure = None;
        for family in families {
            let task = LearningTask {
                family,
                multipliers: &[1.0],
                earlier: vec![],
                settings: self.settings(),
                priors: &priors,
                noise_floor: self.options.noise_floor,
            };
            let learned = prepared_table.learn_by(&likelihood, &task, &|_| self.go_on());
            let judged = learned.and_then(|learned| {
                let scores = self.judge(field, &judge, &learned.model)?.scores;
                Ok(EuclideanModel { family, model: learned.model, log_score: -scores.mnll })
            });
            match judged {
                Ok(euclidean) if best.as_ref().is_none_or(|best| is_better(euclidean.log_score, best.log_score, 0.0)) => {
                    *best = Some(euclidean);
                }
                Ok(_) => {}
                // A family without a likelihood here is not the best.
                Err(error) => failure = Some(error),
            }
        }
        match (best.is_none(), failure) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(()),
        }
    }
}
