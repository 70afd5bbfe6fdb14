//! The loop of sweeps and pseudo-observations.

use super::cell::{CellLikelihood, CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::error::LikelihoodError;
use crate::data::{Cell, DataError, Observations};
use crate::graph::{FactorGraph, Held};
use crate::inference::{Gradient, Workspace};
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::Tree;

/// Stopping rules of [`approximate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApproximationSettings {
    /// At most this many rounds, a sweep each.
    pub max_rounds: usize,
    /// Converged when no cell asks for a change of its posterior mean by more than this many of its deviations, or of its
    /// variance by more than this ratio. The bound is then off by about the square of it per cell.
    pub tolerance: f64,
}

impl Default for ApproximationSettings {
    fn default() -> Self {
        Self { max_rounds: 100, tolerance: 1e-6 }
    }
}

/// Why the rounds ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApproximationStop {
    /// No cell asks for a change beyond the tolerance.
    Converged,
    /// The limit on rounds was reached first.
    RoundLimit,
    /// No step, however small, raises the bound: rounding, or a likelihood that violates its second law.
    Stalled,
}

/// The posterior given the pseudo-observations.
#[derive(Clone, Debug)]
pub struct Approximation<'a> {
    /// Model and structure with the pseudo-observations as cells. A [`Posterior`](crate::posterior::Posterior) of it has states,
    /// draws and new inputs; its log evidence is that of the pseudo-observations, not of the table.
    pub graph: FactorGraph<'a>,
    /// The pseudo-observations, each with its own noise, in place of the observed cells.
    pub pseudo_observations: Observations,
    /// Means and variances of the outputs, without noise, in row order.
    pub prediction: Prediction,
    /// A lower bound of the log evidence of the observed cells.
    pub lower_bound: f64,
    /// The bound after each round that raised it; the last one is [`Approximation::lower_bound`].
    pub bounds: Vec<f64>,
    /// The number of sweeps, those of steps that were too long included.
    pub n_sweeps: usize,
    /// Why the rounds ended.
    pub stop: ApproximationStop,
    /// The derivative of the bound in the noise of each output.
    noise_slopes: Vec<f64>,
}

impl Approximation<'_> {
    /// The number of rounds that raised the bound.
    pub fn n_rounds(&self) -> usize {
        self.bounds.len()
    }

    /// The lower bound and its gradient in every parameter of the model, by one more sweep.
    ///
    /// Where the rounds converged, the bound does not change with the pseudo-observations to first order. Its derivative in mixing
    /// and length-scales is therefore that of their evidence, and its derivative in the noise that of the cells' terms.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn gradient(&self, sweeps: &mut Workspace) -> Result<Gradient, LikelihoodError> {
        let of_pseudo = sweeps.gradient(&self.graph)?;
        Ok(Gradient { log_evidence: self.lower_bound, noise: self.noise_slopes.clone(), ..of_pseudo })
    }
}

/// The Gaussian approximation of the posterior under a likelihood, and a lower bound of the log evidence.
///
/// The first round takes every cell as the Gaussian of [`CellLikelihood::start`]. Each round is one sweep, on all threads;
/// the result does not depend on their number.
///
/// # Errors
/// When model, structure and observations do not fit together, the likelihood does not allow a value, the settings are out of
/// range, numbers overflow, or the likelihood returns a number that is not finite.
pub fn approximate<'a>(
    model: impl Into<Held<'a, Lmc>>,
    tree: impl Into<Held<'a, Tree>>,
    observations: &Observations,
    likelihood: &impl CellLikelihood,
    settings: ApproximationSettings,
) -> Result<Approximation<'a>, LikelihoodError> {
    let rounds = Rounds::new(model.into(), tree.into(), observations, likelihood, settings)?;
    let sites = rounds.cells.iter().map(|cell| Site::of(likelihood.start(cell))).collect();
    rounds.run(sites)
}

/// The same from the pseudo-observations of another model: a model that differs little needs few rounds.
///
/// # Errors
/// As [`approximate`], and when the start has other cells than the table.
pub fn approximate_from<'a>(
    start: &Observations,
    model: impl Into<Held<'a, Lmc>>,
    tree: impl Into<Held<'a, Tree>>,
    observations: &Observations,
    likelihood: &impl CellLikelihood,
    settings: ApproximationSettings,
) -> Result<Approximation<'a>, LikelihoodError> {
    let rounds = Rounds::new(model.into(), tree.into(), observations, likelihood, settings)?;
    let other = LikelihoodError::OtherStart { start: start.n_observed(), table: observations.n_observed() };
    let site = |((row, found), cell): ((_, Cell), &ObservedCell)| match found.noise_variance {
        Some(variance) if row == cell.row && found.output == cell.output => {
            Ok(Site::of(PseudoObservation { value: found.value, variance }))
        }
        _ => Err(other.clone()),
    };
    if start.n_observed() != rounds.cells.len() {
        return Err(other);
    }
    let sites: Result<Vec<Site>, _> = start.cells().zip(&rounds.cells).map(site).collect();
    rounds.run(sites?)
}

/// A pseudo-observation by its natural parameters, in which a step is an average.
#[derive(Clone, Copy)]
struct Site {
    precision: f64,
    /// The precision times the value.
    shift: f64,
}

impl Site {
    fn of(pseudo: PseudoObservation) -> Self {
        let precision = pseudo.variance.recip();
        Self { precision, shift: pseudo.value * precision }
    }

    /// The Gaussian whose expected log density has the derivatives of the cell's.
    fn asked_by(expectation: &Expectation, marginal: CellMarginal) -> Self {
        let precision = expectation.precision;
        Self { precision, shift: expectation.slope + precision * marginal.mean }
    }

    /// A share of the way to another site.
    fn toward(self, other: Self, share: f64) -> Self {
        if share == 1.0 {
            return other;
        }
        let between = |from: f64, to: f64| from + share * (to - from);
        Self { precision: between(self.precision, other.precision), shift: between(self.shift, other.shift) }
    }

    /// The change that another site asks for: of the mean in deviations of the marginal, and of the variance as a ratio.
    fn change_to(self, other: Self, marginal: CellMarginal) -> f64 {
        let precision = other.precision - self.precision;
        let slope = other.shift - self.shift - precision * marginal.mean;
        (slope.abs() * marginal.variance.abs().sqrt()).max(precision.abs() * marginal.variance.abs())
    }

    fn pseudo(self) -> PseudoObservation {
        PseudoObservation { value: self.shift / self.precision, variance: self.precision.recip() }
    }
}

/// Below this share of a step the rounds have stalled.
const SMALLEST_STEP: f64 = 1e-5;

/// How much the bound may fall by rounding, as a share of the sum of the magnitudes of its terms.
const ROUNDING: f64 = 1e-12;

/// What all rounds share.
struct Rounds<'a, 'b, L> {
    model: Held<'a, Lmc>,
    tree: Held<'a, Tree>,
    observations: &'b Observations,
    likelihood: &'b L,
    settings: ApproximationSettings,
    cells: Vec<ObservedCell>,
}

/// One sweep over pseudo-observations.
struct Round<'a> {
    graph: FactorGraph<'a>,
    pseudo_observations: Observations,
    prediction: Prediction,
    lower_bound: f64,
    /// The sum of the magnitudes of the terms of the bound.
    magnitude: f64,
    expectations: Vec<Expectation>,
}

impl<'a, 'b, L: CellLikelihood> Rounds<'a, 'b, L> {
    fn new(
        model: Held<'a, Lmc>,
        tree: Held<'a, Tree>,
        observations: &'b Observations,
        likelihood: &'b L,
        settings: ApproximationSettings,
    ) -> Result<Self, LikelihoodError> {
        if settings.max_rounds == 0 {
            return Err(LikelihoodError::NoRounds);
        }
        if !(settings.tolerance >= 0.0 && settings.tolerance.is_finite()) {
            return Err(LikelihoodError::Tolerance(settings.tolerance));
        }
        FactorGraph::new(model.clone(), tree.clone(), observations)?;
        let with_scale = |(row, cell): (_, Cell)| {
            let noise = cell.noise_variance.unwrap_or_else(|| model.noise()[cell.output.get()].get());
            ObservedCell { row, output: cell.output, value: cell.value, noise, exposure: 1.0 }
        };
        let cells: Vec<ObservedCell> = observations.cells().map(with_scale).collect();
        cells.iter().try_for_each(|cell| likelihood.check(cell))?;
        Ok(Self { model, tree, observations, likelihood, settings, cells })
    }

    /// Rounds from these sites: each asks the cells for new ones and goes as far toward them as the bound does not fall.
    fn run(self, mut sites: Vec<Site>) -> Result<Approximation<'a>, LikelihoodError> {
        let mut sweeps = Workspace::new().on_all_threads();
        let mut current = self.round(&mut sweeps, &sites)?;
        let mut bounds = vec![current.lower_bound];
        let (mut n_sweeps, mut step) = (1, 1.0);
        let stop = loop {
            let asked = self.asked(&current)?;
            let change = self.largest_change(&current, &sites, &asked);
            if change <= self.settings.tolerance {
                break ApproximationStop::Converged;
            }
            if n_sweeps >= self.settings.max_rounds {
                break ApproximationStop::RoundLimit;
            }
            let next = loop {
                let tried: Vec<Site> =
                    sites.iter().zip(&asked).map(|(site, asked)| site.toward(*asked, step)).collect();
                n_sweeps += 1;
                // Numbers that overflow are a step too far.
                if let Ok(next) = self.round(&mut sweeps, &tried)
                    && next.lower_bound
                        >= current.lower_bound - ROUNDING * (next.magnitude + current.magnitude)
                {
                    break Some((tried, next));
                }
                step *= 0.5;
                if step < SMALLEST_STEP || n_sweeps >= self.settings.max_rounds {
                    break None;
                }
            };
            let Some((tried, next)) = next else {
                let is_at_limit = n_sweeps >= self.settings.max_rounds;
                break if is_at_limit { ApproximationStop::RoundLimit } else { ApproximationStop::Stalled };
            };
            (sites, current) = (tried, next);
            bounds.push(current.lower_bound);
            step = f64::min(1.0, 2.0 * step);
        };
        let mut noise_slopes = vec![0.0; self.model.n_outputs()];
        if !self.observations.has_cell_noise() {
            for (cell, expectation) in self.cells.iter().zip(&current.expectations) {
                noise_slopes[cell.output.get()] += expectation.noise_slope;
            }
        }
        let Round { graph, pseudo_observations, prediction, lower_bound, .. } = current;
        Ok(Approximation {
            graph,
            pseudo_observations,
            prediction,
            lower_bound,
            bounds,
            n_sweeps,
            stop,
            noise_slopes,
        })
    }

    /// The sites that the cells ask for after a round.
    fn asked(&self, round: &Round<'_>) -> Result<Vec<Site>, LikelihoodError> {
        let site = |(cell, expectation): (&ObservedCell, &Expectation)| {
            let asked = Site::asked_by(expectation, marginal_of(cell, &round.prediction));
            let pseudo = asked.pseudo();
            if pseudo.is_valid() {
                return Ok(asked);
            }
            let (row, output) = (cell.row, cell.output);
            let PseudoObservation { value, variance } = pseudo;
            Err(LikelihoodError::PseudoObservation { row, output, value, variance })
        };
        self.cells.iter().zip(&round.expectations).map(site).collect()
    }

    fn largest_change(&self, round: &Round<'_>, sites: &[Site], asked: &[Site]) -> f64 {
        let change = |(cell, (site, asked)): (&ObservedCell, (&Site, &Site))| {
            site.change_to(*asked, marginal_of(cell, &round.prediction))
        };
        self.cells.iter().zip(sites.iter().zip(asked)).map(change).fold(0.0, f64::max)
    }

    /// The table with pseudo-observations as its cells.
    fn table(&self, pseudo: &[PseudoObservation]) -> Result<Observations, LikelihoodError> {
        let mut next = pseudo.iter();
        Ok(self.observations.map_cells(|_, cell| {
            let PseudoObservation { value, variance } = *next.next().ok_or(DataError::NoRows)?;
            Ok(Cell { value, noise_variance: Some(variance), ..cell })
        })?)
    }

    fn round(&self, sweeps: &mut Workspace, sites: &[Site]) -> Result<Round<'a>, LikelihoodError> {
        let pseudo: Vec<PseudoObservation> = sites.iter().map(|site| site.pseudo()).collect();
        let pseudo_observations = self.table(&pseudo)?;
        let graph = FactorGraph::new(self.model.clone(), self.tree.clone(), &pseudo_observations)?;
        let marginals = sweeps.marginals(&graph)?;
        let mut lower_bound = marginals.log_evidence;
        let mut magnitude = lower_bound.abs();
        let mut expectations = Vec::with_capacity(self.cells.len());
        for (cell, pseudo) in self.cells.iter().zip(&pseudo) {
            let marginal = marginal_of(cell, &marginals.prediction);
            let found = self.likelihood.expectation(cell, marginal);
            let replaced = pseudo.expected_log_density(marginal);
            lower_bound += found.log_density - replaced;
            magnitude += found.log_density.abs() + replaced.abs();
            if !lower_bound.is_finite() {
                let value = found.log_density;
                return Err(LikelihoodError::Density { row: cell.row, output: cell.output, value });
            }
            expectations.push(found);
        }
        let prediction = marginals.prediction;
        Ok(Round { graph, pseudo_observations, prediction, lower_bound, magnitude, expectations })
    }
}

fn marginal_of(cell: &ObservedCell, prediction: &Prediction) -> CellMarginal {
    let (mean, variance) =
        (prediction.mean(cell.row, cell.output), prediction.variance(cell.row, cell.output));
    CellMarginal { mean, variance }
}
