//! Single outputs: cheap fits that choose the sum and start the joint model.

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Arc;

use catena::data::{Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::{GroupIndex, LatentIndex, OutputIndex, Position, RowIndex};
use catena::kernel::Component;
use catena::learning::{Extent, GraphEvidence, Learned, MultiStartSettings, Priors, multi_start};
use catena::model::{Latent, Lmc, Process};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain};
use rayon::prelude::*;

use super::one_step::one_step;
use super::sums::alone;
use crate::error::FitError;
use crate::options::TimeSpec;

/// The cells of one output on a chain.
pub(super) struct Series {
    tree: Arc<Tree>,
    observations: Observations,
    extent: Extent,
    /// Inputs of the group with the most rows, ascending, with the rows of the tree; all rows if there are no groups.
    places: Vec<(f64, RowIndex)>,
    /// The table's row of each cell.
    rows: Vec<RowIndex>,
    values: Vec<f64>,
    /// Known noise variances.
    noise: Option<Vec<f64>>,
}

impl Series {
    /// The series of an output of a scaled table, whose largest group is `largest`; `None` if it has no cells or is constant.
    pub(super) fn of(
        table: &Dataset,
        output: OutputIndex,
        largest: Option<GroupIndex>,
    ) -> Result<Option<Self>, FitError> {
        let cells = || table.observations().cells().filter(|(_, cell)| cell.output == output);
        let (rows, values): (Vec<RowIndex>, Vec<f64>) = cells().map(|(row, cell)| (row, cell.value)).unzip();
        let noise: Option<Vec<f64>> = cells().map(|(_, cell)| cell.noise_variance).collect();
        let varies = values.iter().any(|value| *value != values[0]);
        if !varies {
            return Ok(None);
        }
        let inputs = table.inputs().select_rows(&rows)?;
        let tree = sorted_chain(&inputs)?;
        let extent = Extent::of(&inputs, &tree);
        let in_order = tree.positions().map(|position| tree.row_at(position));
        let of_largest = in_order.filter(|&row| inputs.group(row) == largest);
        let places = of_largest.map(|row| (inputs.point(row)[0], row)).collect();
        let mut observations = Observations::from_dense(rows.len(), 1, &values)?;
        if let Some(noise) = &noise {
            observations = observations.with_cell_noise(noise)?;
        }
        Ok(Some(Self { tree: Arc::new(tree), observations, extent, places, rows, values, noise }))
    }

    fn graph(&self, model: Lmc) -> Result<FactorGraph<'static>, FitError> {
        let graph = FactorGraph::new(Arc::new(model), Arc::clone(&self.tree), &self.observations);
        Ok(graph.map_err(crate::error::MethodError::from)?)
    }

    /// Learns the sum from two starts with long and short length-scales, and from an earlier model if there is one.
    fn learn(
        &self,
        spec: &TimeSpec,
        earlier: Option<&Lmc>,
        settings: &SingleSettings<'_>,
    ) -> Result<Learned, FitError> {
        let (start, parameters) = alone(spec, 1.0, settings.noise_floor)?;
        let quick = alone(spec, 4.0, settings.noise_floor)?.0;
        let graph = self.graph(start.clone())?;
        let of_points = || Priors::for_points(self.extent.spacing, self.extent.span);
        let priors = settings.priors.cloned().unwrap_or_else(of_points);
        let evidence = || GraphEvidence::new(graph.clone());
        let go_on = |_| (settings.go_on)();
        let starts: Vec<Lmc> = earlier.cloned().into_iter().chain([start, quick]).collect();
        Ok(multi_start(&evidence, &parameters, &priors, &starts, settings.settings, &go_on)?)
    }

    /// The first and the last input of the largest group; `None` without a row.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        Some((self.places.first()?.0, self.places.last()?.0))
    }

    /// The posterior means of both states of a cycle times its weight, at these inputs.
    pub(super) fn cycle_states(
        &self,
        model: &Lmc,
        column: usize,
        places: &[f64],
    ) -> Result<Vec<(f64, f64)>, FitError> {
        let graph = self.graph(model.clone())?;
        let posterior = Posterior::new(&graph).map_err(crate::error::MethodError::from)?;
        let start: usize = model.latents()[..column].iter().map(Latent::state_dim).sum();
        let weight = model.mixing().weight(OutputIndex::new(0), LatentIndex::new(column));
        let Process::Component(Component::Cycle { period }) = model.latents()[column].process() else {
            return Ok(vec![(0.0, 0.0); places.len()]);
        };
        if self.places.is_empty() {
            return Ok(vec![(0.0, 0.0); places.len()]);
        }
        let state = |(place, (there, row)): (&f64, (f64, RowIndex))| {
            let mean = posterior.state_mean(row);
            let (c, s) = (weight * mean[start], weight * mean[start + 1]);
            // The rotation from the nearest row.
            let (sine, cosine) = (TAU * (place - there) / period.get()).sin_cos();
            (cosine * c + sine * s, cosine * s - sine * c)
        };
        Ok(places.iter().zip(nearest_rows(places, &self.places)).map(state).collect())
    }

    /// One-step innovations in predictive standard deviations, with the table's rows.
    pub(super) fn innovations(&self, model: &Lmc) -> Result<Vec<(RowIndex, f64)>, FitError> {
        let graph = self.graph(model.clone())?;
        let tree = &self.tree;
        let (targets, ahead) = one_step(&graph, tree)?;
        let innovation = |(at, &target): (usize, &Position)| {
            let own = tree.row_at(target).get();
            let noise = self.noise.as_ref().map_or(model.noise()[0].get(), |known| known[own]);
            let error = self.values[own] - ahead.means()[at];
            (self.rows[own], error / (ahead.variances()[at] + noise).sqrt())
        };
        Ok(targets.iter().enumerate().map(innovation).collect())
    }
}

/// Settings of the optimization of every single output.
pub(super) struct SingleSettings<'a> {
    /// As [`crate::options::FitOptions::priors`].
    pub(super) priors: Option<&'a Priors>,
    pub(super) noise_floor: f64,
    pub(super) settings: MultiStartSettings,
    /// Called at every iteration.
    pub(super) go_on: &'a (dyn Fn() -> ControlFlow<()> + Sync),
}

/// Models of all single outputs under one sum.
pub(super) struct Singles {
    /// By output; `None` for constant outputs.
    pub(super) models: Vec<Option<Lmc>>,
    /// The parsimony score, lower is better: −2 log evidence + (free parameters)·log(cells), summed over outputs.
    pub(super) score: f64,
}

/// Learns every series; `earlier` models are one per output, or empty.
pub(super) fn learn_singles(
    series: &[Option<Series>],
    spec: &TimeSpec,
    earlier: &[Lmc],
    settings: &SingleSettings<'_>,
) -> Result<Singles, FitError> {
    let n_free = alone(spec, 1.0, settings.noise_floor)?.1.n_free() as f64;
    let learned: Result<Vec<Option<Learned>>, FitError> = series
        .par_iter()
        .enumerate()
        .map(|(at, series)| {
            let learn = |series: &Series| series.learn(spec, earlier.get(at), settings);
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

/// The row of a chain nearest to each input.
fn nearest_rows(places: &[f64], sorted: &[(f64, RowIndex)]) -> Vec<(f64, RowIndex)> {
    let nearest = |place: &f64| {
        let after = sorted.partition_point(|(x, _)| x < place).min(sorted.len() - 1);
        let before = after.saturating_sub(1);
        let closer =
            if (sorted[before].0 - place).abs() <= (sorted[after].0 - place).abs() { before } else { after };
        sorted[closer]
    };
    places.iter().map(nearest).collect()
}
