//! From what came before alone: forecasts from any row, and joint paths after the last one.
//!
//! The filtered moments (m, P) of a row know that row and those before it. A time ahead they have become `A m` and
//! `A P Aᵀ + Q`: no data are filtered twice, however many forecasts are asked for.

use super::InferenceError;
use super::careful::Careful;
use super::kalman::{Chain, FilterObserver};
use super::kalman_memory::GaussianView;
use super::readout::Readout;
use super::steps::StepTable;
use super::workspace::overflow;
use crate::graph::FactorGraph;
use crate::index::{Position, RowIndex};
use crate::linalg::{
    Arithmetic, Layout, Separate, Shape, StateAlgebra, noise_factor, transition_times_vector,
};
use crate::prediction::Prediction;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// A place to look at and a place to look from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The last row that is known.
    pub origin: RowIndex,
    /// How far beyond it, in units of the structure's distance scale.
    pub distance: f64,
}

/// Answers outlooks as the filter passes their origins.
pub(super) struct Ahead {
    /// By origin: its position, its place among the outlooks, its step.
    asked: Vec<(usize, usize, usize)>,
    /// How many have been answered.
    done: usize,
    steps: StepTable,
    n_outputs: usize,
    means: Vec<f64>,
    variances: Vec<f64>,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    scratch: Vec<f64>,
}

impl Ahead {
    pub(super) fn new(graph: &FactorGraph<'_>, layout: &Layout, outlooks: &[Outlook]) -> Self {
        let mut lengths: Vec<f64> = outlooks.iter().map(|outlook| outlook.distance).collect();
        lengths.sort_by(f64::total_cmp);
        // By the order they are looked up in: −0 is not 0.
        lengths.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let step_of = |length: f64| 1 + lengths.partition_point(|other| other.total_cmp(&length).is_lt());
        let ask = |(place, outlook): (usize, &Outlook)| {
            (graph.tree().position_of(outlook.origin).get(), place, step_of(outlook.distance))
        };
        let mut asked: Vec<_> = outlooks.iter().enumerate().map(ask).collect();
        asked.sort_unstable();
        let (size, n_outputs) = (layout.dynamic().size(), graph.model().n_outputs());
        Self {
            asked,
            done: 0,
            steps: StepTable::for_lengths(&lengths, graph.model(), layout),
            n_outputs,
            means: vec![0.0; outlooks.len() * n_outputs],
            variances: vec![0.0; outlooks.len() * n_outputs],
            mean: vec![0.0; size],
            covariance: vec![0.0; size * size],
            scratch: vec![0.0; (layout.dynamic().n_parts() + 2) * size],
        }
    }

    /// Answers again, by square roots, where a variance is smaller than the smallest to be trusted, or no number.
    pub(super) fn answer_carefully(
        &mut self,
        careful: &mut Careful<'_>,
        outlooks: &[Outlook],
        smallest: &[f64],
    ) {
        let n_outputs = self.n_outputs;
        let is_accurate = |place: usize| {
            let range = place * n_outputs..(place + 1) * n_outputs;
            let mut variances = self.variances[range.clone()].iter().zip(smallest);
            variances.all(|(variance, smallest)| variance >= smallest)
                && self.means[range].iter().all(|mean| mean.is_finite())
        };
        let inaccurate: Vec<(usize, usize)> =
            self.asked.iter().filter(|asked| !is_accurate(asked.1)).map(|asked| (asked.0, asked.1)).collect();
        let distances = inaccurate.iter().map(|&(position, place)| (position, outlooks[place].distance));
        let answers = careful.ahead(&distances.collect::<Vec<_>>());
        for (&(_, place), answer) in inaccurate.iter().zip(answers) {
            for (output, (mean, variance)) in answer.into_iter().enumerate() {
                self.means[place * n_outputs + output] = mean;
                self.variances[place * n_outputs + output] = variance;
            }
        }
    }

    /// The answers, in the order of the outlooks.
    pub(super) fn finish(self, graph: &FactorGraph<'_>) -> Result<Prediction, InferenceError> {
        let finite = |place: usize| self.means[place].is_finite() && self.variances[place].is_finite();
        if let Some(&(position, ..)) = self
            .asked
            .iter()
            .find(|(_, place, _)| !(place * self.n_outputs..(place + 1) * self.n_outputs).all(finite))
        {
            return Err(overflow(graph, Position::new(position)));
        }
        Ok(Prediction::from_checked(self.n_outputs, self.means, self.variances))
    }
}

impl FilterObserver for &mut Ahead {
    #[inline(always)]
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: GaussianView<'_>,
    ) {
        while let Some(&(_, place, step)) = self.asked.get(self.done).filter(|asked| asked.0 == position) {
            self.done += 1;
            let step = self.steps.step(step);
            let (mean, covariance) = (&mut self.mean, &mut self.covariance);
            shape.advance::<A>(step.transition, moments.mean, mean);
            let dynamics = (step.transition, step.noise);
            shape.predict::<A>(dynamics, moments.covariance, covariance, &mut self.scratch);
            for output in 0..self.n_outputs {
                let row = chain.readout.row(output);
                shape.read::<A>(row, covariance, &mut self.scratch);
                self.means[place * self.n_outputs + output] = shape.read_vector::<A>(row, mean);
                self.variances[place * self.n_outputs + output] = shape.read_vector::<A>(row, &self.scratch);
            }
        }
    }
}

/// Keeps the moments of the last position.
#[derive(Default)]
pub(super) struct LastMoments {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl FilterObserver for &mut LastMoments {
    #[inline(always)]
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: GaussianView<'_>,
    ) {
        if position + 1 == chain.cells.n_positions() {
            self.mean = moments.mean.to_vec();
            self.covariance = moments.covariance.to_vec();
        }
    }
}

impl LastMoments {
    /// Whether the variances of all outputs are no smaller than the smallest to be trusted.
    pub(super) fn variances_are_accurate(
        &self,
        layout: &Layout,
        readout: &Readout,
        smallest: &[f64],
    ) -> bool {
        let size = layout.dynamic().size();
        let variance = |output: usize| -> f64 {
            let weights = readout.row(output).weights;
            let row = |i: usize| -> f64 {
                weights.iter().zip(&self.covariance[i * size..]).map(|(w, p)| w * p).sum()
            };
            weights.iter().enumerate().map(|(i, weight)| weight * row(i)).sum()
        };
        smallest.iter().enumerate().all(|(output, smallest)| variance(output) >= *smallest)
    }

    /// The state, with a root of its covariance.
    pub(super) fn state(self, layout: &Layout) -> LastState {
        LastState {
            covariance_factor: semidefinite_root(layout.dynamic().size(), &self.covariance),
            mean: self.mean,
        }
    }
}

/// The state of the last position: its mean, and X with X Xᵀ its covariance.
pub(super) struct LastState {
    pub(super) mean: Vec<f64>,
    pub(super) covariance_factor: Vec<f64>,
}

impl LastState {
    /// Draws of the last state, carried on step by step.
    pub(super) fn paths(
        &self,
        graph: &FactorGraph<'_>,
        layout: &Layout,
        (distances, readout): (&[f64], &Readout),
        n_paths: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, InferenceError> {
        let shape = layout.dynamic();
        let (size, width, n_outputs) = (shape.size(), shape.width(), graph.model().n_outputs());
        // From one distance to the next, in ascending order.
        let mut order: Vec<usize> = (0..distances.len()).collect();
        order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let mut lengths = vec![];
        let mut reached = 0.0;
        for &at in &order {
            lengths.push(distances[at] - reached);
            reached = distances[at];
        }
        let steps = StepTable::for_lengths(&lengths, graph.model(), layout);
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut normals = |count: usize| -> Vec<f64> {
            (0..count).map(|_| StandardNormal.sample(&mut generator)).collect()
        };
        let mut factor = vec![0.0; shape.n_parts() * shape.n_parts() * width];
        let mut states: Vec<Vec<f64>> = (0..n_paths)
            .map(|_| {
                let noise = normals(size);
                let entry = |i: usize| -> f64 {
                    (0..size).map(|k| self.covariance_factor[i * size + k] * noise[k]).sum()
                };
                (0..size).map(|i| self.mean[i] + entry(i)).collect()
            })
            .collect();
        let mut paths = vec![vec![0.0; distances.len() * n_outputs]; n_paths];
        let (mut moved, mut shaken) = (vec![0.0; size], vec![0.0; size]);
        for (step, &at) in order.iter().enumerate() {
            let step = steps.step(step + 1);
            noise_factor(shape, step.noise, &mut factor);
            for (state, path) in states.iter_mut().zip(&mut paths) {
                transition_times_vector::<Separate, _>(shape, step.transition, state, &mut moved);
                transition_times_vector::<Separate, _>(shape, &factor, &normals(size), &mut shaken);
                state.iter_mut().zip(moved.iter().zip(&shaken)).for_each(|(entry, (a, b))| *entry = a + b);
                for output in 0..n_outputs {
                    let value = shape.read_vector::<Separate>(readout.row(output), state);
                    path[at * n_outputs + output] = value;
                }
            }
        }
        match paths.iter().flatten().all(|value| value.is_finite()) {
            true => Ok(paths),
            false => Err(overflow(graph, Position::new(graph.tree().len() - 1))),
        }
    }
}

/// A lower-triangular L with `LLᵀ` the matrix; a direction without variance has the column zero.
fn semidefinite_root(size: usize, matrix: &[f64]) -> Vec<f64> {
    let mut root = vec![0.0; size * size];
    for j in 0..size {
        let inner =
            |root: &[f64], i: usize| -> f64 { (0..j).map(|k| root[i * size + k] * root[j * size + k]).sum() };
        let square = matrix[j * size + j] - inner(&root, j);
        if square <= 0.0 {
            continue;
        }
        root[j * size + j] = square.sqrt();
        for i in j + 1..size {
            root[i * size + j] = (matrix[i * size + j] - inner(&root, i)) / root[j * size + j];
        }
    }
    root
}
