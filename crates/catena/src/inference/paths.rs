//! Joint draws of a forecast after the last row of a chain.

use super::error::InferenceError;
use super::gaussian::{Gaussian, GaussianView};
use super::new_inputs::check_ahead;
use super::square_root::SquareRootChain;
use super::state_space::StateSpace;
use super::steps::StepTable;
use super::workspace::Workspace;
use crate::graph::FactorGraph;
use crate::index::Position;
use crate::linalg::{Separate, Shape, noise_factor, transition_times_vector};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

impl Workspace {
    /// Joint draws of all outputs, without noise, at these distances after the last row: each row-major H×D. Where the variances
    /// of the last row lose their digits to tiny noise (see [`Form`](super::Form)), its state is computed in square-root form.
    ///
    /// # Errors
    /// When the structure is not a chain, a distance is negative, or numbers overflow.
    pub fn paths_ahead(
        &mut self,
        graph: &FactorGraph<'_>,
        distances: &[f64],
        n_paths: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, InferenceError> {
        check_ahead(distances.iter().copied())?;
        let (model, kalman, smallest) = self.chain(graph)?;
        let last = kalman.filter_once(model, ());
        let is_accurate = |smallest: Vec<f64>| {
            let mut smallest = smallest.into_iter().enumerate();
            smallest
                .all(|(output, smallest)| model.readout.output_marginal(output, last.view()).1 >= smallest)
        };
        let paths = if smallest.is_none_or(is_accurate) {
            let factor = last.covariance_factor().into_owned();
            let last = Gaussian::from_factor(last.mean.clone(), factor);
            draw(last.view(), graph, model, distances, (n_paths, seed))
        } else {
            draw(
                SquareRootChain::new(graph).last_state().gaussian(),
                graph,
                model,
                distances,
                (n_paths, seed),
            )
        };
        match paths.iter().flatten().all(|value| value.is_finite()) {
            true => Ok(paths),
            false => Err(InferenceError::overflow_at(graph, Position::new(graph.tree().len() - 1))),
        }
    }
}

/// Draws of the last state, carried from one distance to the next.
fn draw(
    last: GaussianView<'_>,
    graph: &FactorGraph<'_>,
    model: StateSpace<'_>,
    distances: &[f64],
    (n_paths, seed): (usize, u64),
) -> Vec<Vec<f64>> {
    let shape = model.layout.dynamic();
    let (size, n_outputs, root) = (shape.size(), model.readout.n_outputs(), last.covariance_factor());
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    let mut lengths = vec![];
    let mut reached = 0.0;
    for &at in &order {
        lengths.push(distances[at] - reached);
        reached = distances[at];
    }
    let steps = StepTable::for_lengths(&lengths, graph.model(), model.layout);
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut normals =
        |count: usize| -> Vec<f64> { (0..count).map(|_| StandardNormal.sample(&mut generator)).collect() };
    let mut states: Vec<Vec<f64>> = (0..n_paths)
        .map(|_| {
            let noise = normals(size);
            let entry = |i: usize| -> f64 { (0..size).map(|k| root[i * size + k] * noise[k]).sum() };
            (0..size).map(|i| last.mean[i] + entry(i)).collect()
        })
        .collect();
    let mut paths = vec![vec![0.0; distances.len() * n_outputs]; n_paths];
    let (mut moved, mut shaken) = (vec![0.0; size], vec![0.0; size]);
    let mut factor = vec![0.0; shape.n_parts() * shape.n_parts() * shape.width()];
    for (step, &at) in order.iter().enumerate() {
        let step = steps.step(step + 1);
        noise_factor(shape, step.noise, &mut factor);
        for (state, path) in states.iter_mut().zip(&mut paths) {
            transition_times_vector::<Separate, _>(shape, step.transition, state, &mut moved);
            transition_times_vector::<Separate, _>(shape, &factor, &normals(size), &mut shaken);
            state.iter_mut().zip(moved.iter().zip(&shaken)).for_each(|(entry, (a, b))| *entry = a + b);
            for output in 0..n_outputs {
                path[at * n_outputs + output] = model.readout.read(output, state);
            }
        }
    }
    paths
}
