//! The sums of components from which a forecast chooses.

use catena::kernel::Kernel;

use crate::options::{Budget, Term, TimeSpec};

/// Tables with at most this many outputs compare all sums in several folds; with at most so many, some sums.
const FEW_OUTPUTS: usize = 3;
const SOME_OUTPUTS: usize = 8;

/// What a budget buys for the choice of a forecast.
pub(super) struct ChoicePlan {
    /// The sums, with seasons, in the user's units.
    pub(super) sums: Vec<TimeSpec>,
    pub(super) n_folds: usize,
}

impl ChoicePlan {
    /// The plan for a table with these seasons.
    pub(super) fn new(seasons: &[Term], n_outputs: usize, budget: Budget) -> Self {
        let rough = Term::Kernel(Kernel::Matern12);
        // A level with an oscillator, a damped trend, a rough residual, a trend that is not damped, or rough and damped; the last
        // without seasons.
        let level_and_trend = vec![Term::Level, Term::DampedTrend];
        let mut sums = vec![
            vec![Term::Oscillator, Term::Level],
            level_and_trend.clone(),
            vec![rough, Term::Level],
            vec![Term::Level, Term::Trend],
            vec![rough, Term::Level, Term::DampedTrend],
        ];
        sums.iter_mut().for_each(|sum| sum.extend(seasons));
        if !seasons.is_empty() {
            sums.push(level_and_trend);
        }
        let (n_sums, n_folds) = match (n_outputs, budget) {
            (..=FEW_OUTPUTS, Budget::Quick) => (3, 2),
            (..=FEW_OUTPUTS, _) => (sums.len(), 4),
            (_, Budget::Quick) => (2, 1),
            (..=SOME_OUTPUTS, _) => (3, 2),
            _ => (3, 1),
        };
        sums.truncate(n_sums);
        Self { sums: sums.into_iter().map(TimeSpec::from_terms).collect(), n_folds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_has_a_trend_and_a_level_that_returns() {
        let season = Term::Season { period: 12.0, harmonics: Some(6) };
        for (n_outputs, budget) in
            [(1, Budget::Quick), (1, Budget::Default), (7, Budget::Quick), (30, Budget::Thorough)]
        {
            let plan = ChoicePlan::new(&[season], n_outputs, budget);
            let names: Vec<String> = plan.sums.iter().map(ToString::to_string).collect();
            assert_eq!(names[..2], ["sho+rw+qp(12,6)", "rw+dt+qp(12,6)"]);
        }
        assert_eq!(ChoicePlan::new(&[season], 1, Budget::Default).sums[5].to_string(), "rw+dt");
        assert_eq!(ChoicePlan::new(&[], 1, Budget::Default).sums.len(), 5);
    }
}
