//! Every output alone: cheap fits that choose the terms and start the joint model.

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Arc;

use catena::data::{Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{LatentIndex, OutputIndex, Position, RowIndex};
use catena::kernel::Component;
use catena::learning::{
    Extent, GraphEvidence, Learned, MultiStartSettings, OptimizerSettings, Priors, multi_start,
};
use catena::model::{Latent, Lmc, Process};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain};
use rayon::prelude::*;

use super::ahead::one_step;
use super::phases::nearest_rows;
use super::spec::TimeSpec;
use super::sums::alone;
use crate::fit::FitError;

/// The cells of one output on their own chain.
pub(super) struct Series {
    tree: Arc<Tree>,
    observations: Observations,
    extent: Extent,
    /// The first place.
    first: f64,
    /// The table's row of each of its own.
    rows: Vec<RowIndex>,
    values: Vec<f64>,
    /// The noise variance of each cell, where it is known.
    noise: Option<Vec<f64>>,
}

impl Series {
    /// The series of an output of a table in the model's units; `None` if it has no cell or never varies.
    pub(super) fn of(table: &Dataset, output: OutputIndex) -> Result<Option<Self>, FitError> {
        let cells = || table.observations().cells().filter(|(_, cell)| cell.output == output);
        let (rows, values): (Vec<RowIndex>, Vec<f64>) = cells().map(|(row, cell)| (row, cell.value)).unzip();
        let noise: Option<Vec<f64>> = cells().map(|(_, cell)| cell.noise_variance).collect();
        let varies = values.iter().any(|value| *value != values[0]);
        if !varies {
            return Ok(None);
        }
        let places: Vec<f64> = rows.iter().map(|&row| table.inputs().point(row)[0]).collect();
        let first = places.iter().copied().fold(f64::INFINITY, f64::min);
        let inputs = InputPoints::new(rows.len(), 1, places)?;
        let tree = sorted_chain(&inputs)?;
        let extent = Extent::of(&inputs, &tree);
        let mut observations = Observations::from_dense(rows.len(), 1, &values)?;
        if let Some(noise) = &noise {
            observations = observations.with_cell_noise(noise)?;
        }
        Ok(Some(Self { tree: Arc::new(tree), observations, extent, first, rows, values, noise }))
    }

    fn graph(&self, model: Lmc) -> Result<FactorGraph<'static>, FitError> {
        let graph = FactorGraph::new(Arc::new(model), Arc::clone(&self.tree), &self.observations);
        Ok(graph.map_err(crate::method::MethodError::from)?)
    }

    /// Learns the sum from two starts, one quicker than the other, and from a model learned before if there is one.
    fn learn(
        &self,
        spec: &TimeSpec,
        earlier: Option<&Lmc>,
        effort: Effort,
        terms: &Terms<'_>,
    ) -> Result<Learned, FitError> {
        let (start, parameters) = alone(spec, 1.0, terms.noise_floor)?;
        let quick = alone(spec, 4.0, terms.noise_floor)?.0;
        let graph = self.graph(start.clone())?;
        let of_points = || Priors::for_points(self.extent.spacing, self.extent.span);
        let priors = terms.priors.cloned().unwrap_or_else(of_points);
        let settings = MultiStartSettings {
            trial_iterations: effort.heat,
            optimizer: OptimizerSettings {
                max_iterations: effort.iterations,
                ..OptimizerSettings::default()
            },
        };
        let evidence = || GraphEvidence::new(graph.clone());
        let go_on = |_| (terms.go_on)();
        let starts: Vec<Lmc> = earlier.cloned().into_iter().chain([start, quick]).collect();
        Ok(multi_start(&evidence, &parameters, &priors, &starts, settings, &go_on)?)
    }

    /// The first and the last place.
    pub(super) fn ends(&self) -> (f64, f64) {
        let places = self.places();
        (places[0].0, places[places.len() - 1].0)
    }

    /// Its rows along the input.
    fn places(&self) -> Vec<(f64, RowIndex)> {
        let coordinates = self.tree.coordinates();
        let place = |at: usize| (self.first + coordinates[at], self.tree.row_at(Position::new(at)));
        (0..self.tree.len()).map(place).collect()
    }

    /// The posterior means of both states of a cycle, times its weight, at these places.
    pub(super) fn cycle_states(
        &self,
        model: &Lmc,
        column: usize,
        places: &[f64],
    ) -> Result<Vec<(f64, f64)>, FitError> {
        let graph = self.graph(model.clone())?;
        let posterior = Posterior::new(&graph).map_err(crate::method::MethodError::from)?;
        let start: usize = model.latents()[..column].iter().map(Latent::state_dim).sum();
        let weight = model.mixing().weight(OutputIndex::new(0), LatentIndex::new(column));
        let Process::Component(Component::Cycle { period }) = model.latents()[column].process() else {
            return Ok(vec![(0.0, 0.0); places.len()]);
        };
        let state = |(place, (there, row)): (&f64, (f64, RowIndex))| {
            let mean = posterior.state_mean(row);
            let (c, s) = (weight * mean[start], weight * mean[start + 1]);
            // From the nearest row on: a turn by the angle of the time between.
            let (sine, cosine) = (TAU * (place - there) / period.get()).sin_cos();
            (cosine * c + sine * s, cosine * s - sine * c)
        };
        Ok(places.iter().zip(nearest_rows(places, &self.places())).map(state).collect())
    }

    /// One-step-ahead errors in predictive standard deviations, with the table's row of each.
    pub(super) fn surprises(&self, model: &Lmc) -> Result<Vec<(RowIndex, f64)>, FitError> {
        let graph = self.graph(model.clone())?;
        let tree = &self.tree;
        let ahead = one_step(&graph, tree)?;
        let surprise = |at: usize| {
            let own = tree.row_at(Position::new(at)).get();
            let noise = self.noise.as_ref().map_or(model.noise()[0].get(), |known| known[own]);
            let error = self.values[own] - ahead.means()[at - 1];
            (self.rows[own], error / (ahead.variances()[at - 1] + noise).sqrt())
        };
        Ok((1..tree.len()).map(surprise).collect())
    }
}

/// How long single outputs are learned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Iterations of both starts.
    pub(super) heat: usize,
    /// Iterations of the better one.
    pub(super) iterations: usize,
}

/// What holds for every climb of a single output.
pub(super) struct Terms<'a> {
    /// As [`crate::fit::FitOptions::priors`].
    pub(super) priors: Option<&'a Priors>,
    pub(super) noise_floor: f64,
    /// Asked at every step.
    pub(super) go_on: &'a (dyn Fn() -> ControlFlow<()> + Sync),
}

/// All outputs, each alone, under one sum.
pub(super) struct Singles {
    /// By output; `None` where an output never varies.
    pub(super) models: Vec<Option<Lmc>>,
    /// The parsimony score, lower is better: −2 log evidence + (free numbers)·log(cells), summed over outputs.
    pub(super) score: f64,
}

/// Learns every series alone; `earlier` models, if there are any, are one per output.
pub(super) fn learn_singles(
    series: &[Option<Series>],
    spec: &TimeSpec,
    earlier: &[Lmc],
    effort: Effort,
    terms: &Terms<'_>,
) -> Result<Singles, FitError> {
    let n_free = alone(spec, 1.0, terms.noise_floor)?.1.n_free() as f64;
    let learned: Result<Vec<Option<Learned>>, FitError> = series
        .par_iter()
        .enumerate()
        .map(|(at, series)| {
            let learn = |series: &Series| series.learn(spec, earlier.get(at), effort, terms);
            series.as_ref().map(learn).transpose()
        })
        .collect();
    let learned = learned?;
    let mut score = 0.0;
    for (series, learned) in series.iter().zip(&learned) {
        if let (Some(series), Some(learned)) = (series, learned) {
            score += -2.0 * learned.log_evidence + n_free * (series.values.len() as f64).ln();
        }
    }
    Ok(Singles { models: learned.into_iter().map(|found| found.map(|found| found.model)).collect(), score })
}
