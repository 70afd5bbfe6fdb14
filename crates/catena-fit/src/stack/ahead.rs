//! Pools for forecasts: models along time and simple rules, weighted by their densities at later cells from origins inside the table.

use super::member::PoolComponent;
use super::pool::{Pool, Split, single_widening};
use super::scales::Scale;
use crate::scores::{Densities, HeldOutScores, MixtureDensities, mean_with_error};

/// A candidate for a pool of forecasts.
pub(crate) struct AheadCandidate {
    pub(crate) name: String,
    /// At the scored cells, of one fold after the other.
    pub(crate) densities: Densities,
    /// Whether it is a model, which can predict at the rows of the table too.
    pub(crate) is_model: bool,
}

/// The cells at which forecasts are scored, of one fold after the other.
pub(crate) struct AheadCells {
    /// The number of cells of each fold.
    pub(crate) sizes: Vec<usize>,
    /// The place of each cell, row-major by pair of origin and target, and its value.
    pub(crate) cells: Vec<(usize, f64)>,
    /// The stretch of rows of an output in which each target lies: cells of one stretch fail together.
    pub(crate) gaps: Vec<usize>,
    /// The standard deviation of each output.
    pub(crate) scales: Vec<f64>,
}

/// A pool of some of the candidates.
pub(crate) struct AheadPool {
    /// The members among the candidates, by weight, with their weights.
    pub(crate) members: Vec<(usize, f64)>,
    pub(crate) components: Vec<PoolComponent>,
    pub(crate) held_out: HeldOutScores,
    /// The gain in log score over a choice of one model, with its standard error.
    pub(crate) gain: (f64, f64),
}

impl AheadCells {
    pub(crate) fn n_gaps(&self) -> usize {
        self.gaps.iter().max().map_or(0, |last| last + 1)
    }

    /// Whether densities are those of all cells, and numbers.
    pub(crate) fn are_scored(&self, densities: &Densities) -> bool {
        densities.len() == self.cells.len() && densities.is_finite()
    }

    /// The mean log density of candidates over others', with its standard error.
    pub(crate) fn gain(&self, own: &[f64], others: &[f64]) -> (f64, f64) {
        let gains: Vec<f64> = own.iter().zip(others).map(|(own, other)| own - other).collect();
        mean_with_error(&gains, &self.gaps)
    }

    /// The factor on the standard deviations of a member alone, and its scores with it.
    pub(crate) fn alone(&self, densities: &Densities) -> (f64, HeldOutScores) {
        let widening = single_widening(densities, self.n_gaps());
        (widening, MixtureDensities(vec![(1.0, widening, densities)]).scores(&self.cells, &self.scales))
    }

    /// The scores of a member with its own standard deviations.
    pub(crate) fn unwidened(&self, densities: &Densities) -> HeldOutScores {
        MixtureDensities(vec![(1.0, 1.0, densities)]).scores(&self.cells, &self.scales)
    }

    /// The log density of every cell by the model that is best on the other folds, with its factor on those. So a choice among models is
    /// judged as a pool is: on cells on which nothing was chosen.
    fn of_choice(&self, models: &[&Densities]) -> Vec<f64> {
        let mut found = Vec::with_capacity(self.cells.len());
        let per_gap = self.cells.len() as f64 / self.n_gaps().max(1) as f64;
        let mut begin = 0;
        for size in &self.sizes {
            let own = begin..begin + size;
            let is_other = |cell: &usize| self.sizes.len() == 1 || !own.contains(cell);
            let others: Vec<usize> = (0..self.cells.len()).filter(is_other).collect();
            let fitted = |model: &&Densities| {
                let n_gaps = ((others.len() as f64 / per_gap).round() as usize).max(1);
                let widening = single_widening(&model.of_cells(&others), n_gaps);
                let score: f64 = others.iter().map(|&cell| model.log_density(cell, widening)).sum();
                (score, widening)
            };
            let scored = models.iter().map(|model| (*model, fitted(model)));
            let best = scored.max_by(|a, b| a.1.0.total_cmp(&b.1.0));
            found.extend(best.iter().flat_map(|(model, (_, widening))| {
                own.clone().map(|cell| model.log_density(cell, *widening))
            }));
            begin += size;
        }
        found
    }

    /// A pool of candidates, which are complete; `best` is the best single model.
    pub(crate) fn pool(&self, candidates: &[AheadCandidate], best: usize) -> AheadPool {
        let split = Split { sizes: self.sizes.clone(), n_gaps: self.n_gaps() };
        let densities: Vec<&Densities> = candidates.iter().map(|one| &one.densities).collect();
        let pool = Pool::fitted(&densities, &split);
        let mut order: Vec<usize> = (0..candidates.len()).filter(|&at| pool.exponents[at] > 0.0).collect();
        order.sort_by(|&a, &b| pool.shares[b].total_cmp(&pool.shares[a]));
        // Rows of the table need a model.
        if !order.iter().any(|&at| candidates[at].is_model) {
            order.push(best);
        }
        let of_models: Vec<f64> =
            order.iter().map(|&at| if candidates[at].is_model { pool.exponents[at] } else { 0.0 }).collect();
        let total: f64 = of_models.iter().sum();
        let at_rows = |at: usize| match total > 0.0 {
            true => of_models[at] / total,
            false => f64::from(u8::from(candidates[order[at]].is_model)),
        };
        let component = |Scale { weight, variance }: &Scale| PoolComponent {
            weight: *weight,
            at_rows: (0..order.len()).map(at_rows).collect(),
            elsewhere: order.iter().map(|&at| pool.exponents[at] / variance).collect(),
        };
        let pooled = pool.densities(&densities, &split);
        let together = pool.mixture(&pooled);
        let models = candidates.iter().filter(|one| one.is_model).map(|one| &one.densities);
        let chosen = self.of_choice(&models.collect::<Vec<_>>());
        AheadPool {
            members: order.iter().map(|&at| (at, pool.shares[at])).collect(),
            components: pool.scales.iter().map(component).collect(),
            held_out: together.scores(&self.cells, &self.scales),
            gain: self.gain(&together.log_densities(), &chosen),
        }
    }
}
