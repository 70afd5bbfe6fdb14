//! Transforms of the outputs as a candidate: the logarithm or a learned exponent for each output that the options leave open.

use catena::data::Dataset;

use super::candidate::{FamilyCandidate, TrialResult};
use super::powers::{PowerTask, cost_of_change, marginal_power};
use super::selection::FamilySelection;
use super::skew::skewed_outputs;
use crate::error::FitError;
use crate::folds::representative_rows;
use crate::learn::LearningTask;
use crate::options::{TransformChoice, TransformKind};
use crate::power::PowerTransform;
use crate::prepare::rescaled;

impl FamilySelection<'_> {
    /// Whether the transform of an output is chosen by held-out cells.
    fn is_open(&self, output: usize) -> bool {
        self.kinds[output] == TransformKind::Auto
    }

    /// The transforms to compare with those of the best candidate so far, which has none of open outputs: the logarithm of skewed
    /// outputs, and exponents that gain more log evidence than they cost.
    pub(super) fn other_transforms(
        &self,
        best: &(FamilyCandidate, TrialResult),
    ) -> Result<Vec<TransformChoice>, FitError> {
        let n_outputs = self.kinds.len();
        if self.sample.observations().has_cell_noise() || !(0..n_outputs).any(|output| self.is_open(output)) {
            return Ok(vec![]);
        }
        if self.reporter.is_stopped() {
            return Ok(vec![]);
        }
        let requested = &best.0.transforms;
        let mut powers: Vec<PowerTransform> = (0..n_outputs).map(|output| requested.power(output)).collect();
        for output in skewed_outputs(self.sample.observations()) {
            if self.positive[output.get()] && self.is_open(output.get()) {
                powers[output.get()] = PowerTransform::Log;
            }
        }
        let logarithms = requested.clone().with_powers(powers);
        let mut found: Vec<TransformChoice> = vec![];
        // Without a finite log evidence under its exponents a table has no candidate.
        let learned = self.learned_powers(best).unwrap_or_default();
        for transforms in [Some(logarithms), learned].into_iter().flatten() {
            if transforms != *requested && !found.contains(&transforms) {
                found.push(transforms);
            }
        }
        Ok(found)
    }

    /// The exponents learned with the family of the best candidate on the training cells of the first fold.
    fn learned_powers(
        &self,
        (best, result): &(FamilyCandidate, TrialResult),
    ) -> Result<Option<TransformChoice>, FitError> {
        let mut table = Dataset::new(self.sample.inputs().clone(), self.folds[0].training.clone())?;
        if table.inputs().dim() == 1 && table.n_rows() > self.plan.n_rows {
            let rows = representative_rows(&table, self.plan.n_rows, self.options.seed);
            table = table.select_rows(&rows)?;
        }
        // Exponents are learned with means and scales of all groups.
        if table.observations().counts_by_output().contains(&0) || best.transforms.own_of_groups {
            return Ok(None);
        }
        let start = |output: usize| match self.is_open(output) {
            true => marginal_power(&table, output, TransformKind::Auto, self.positive[output]),
            false => best.transforms.power(output),
        };
        let powers = (0..self.kinds.len()).map(start).collect();
        let start = best.transforms.clone().with_powers(powers);
        if start == best.transforms || self.reporter.is_stopped() {
            return Ok(None);
        }
        let reporter = Some(&self.reporter);
        let task =
            PowerTask { table: &table, units: self.units, structure: self.options.structure, reporter };
        let prepared = task.prepared(&start)?.1;
        let learning = match result.fold_models.first() {
            // The plain model of the same fold is near: both tables have the same scales.
            Some(model) => {
                let start = prepared.statistics.silenced(model.clone())?;
                LearningTask::new(best.family, self.plan.variant, &prepared.statistics, self.options)
                    .with_starts(vec![start], &[])
            }
            None => self.task(best, &prepared),
        };
        let learned = learning.learn_reported(&prepared, &self.reporter)?;
        let (found, value) = task.maximized(start, &learned.model)?;
        let found = task.simplified(found, value, &learned.model, &|output| self.is_open(output))?;
        let before = self.prepared(&best.transforms)?.0;
        let after = task.prepared(&best.transforms)?.0;
        let plain = task.value(&best.transforms, &rescaled(&result.learned.model, &before, &after)?)?;
        let gain = task.value(&found, &learned.model)? - plain;
        Ok((gain > cost_of_change(&table, &best.transforms, &found)).then_some(found))
    }
}
