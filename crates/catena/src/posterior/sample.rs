//! Exact joint draws from the posterior, root to leaves, in O(C).

use super::Posterior;
use crate::index::Position;
use crate::inference::{Conditional, Parts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// An endless stream of joint draws of all outputs at all rows, the same for the same seed.
#[derive(Debug)]
pub struct Draws<'a> {
    posterior: &'a Posterior<'a>,
    /// The state at each position given its parent's.
    conditionals: Vec<Conditional>,
    generator: ChaCha8Rng,
}

impl Posterior<'_> {
    /// Joint draws of the function, without noise: each is row-major C×D, in row order.
    ///
    /// The conditionals of all edges are computed first, in O(C n³); each draw then costs O(C n²).
    pub fn draws(&self, seed: u64) -> Draws<'_> {
        let positions = self.graph.tree().positions();
        let conditionals = positions.map(|at| self.states.given_parent(&self.graph, at)).collect();
        Draws { posterior: self, conditionals, generator: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Iterator for Draws<'_> {
    type Item = Vec<f64>;

    /// `z = G z_parent + shift + X ξ` along every edge, with fresh standard normals ξ.
    fn next(&mut self) -> Option<Vec<f64>> {
        let Posterior { graph, states, .. } = self.posterior;
        let (size, tree) = (states.size(), graph.tree());
        let n_outputs = graph.model().n_outputs();
        let mut draws = vec![0.0; tree.len() * size];
        let mut draw = vec![0.0; tree.len() * n_outputs];
        for (position, conditional) in self.conditionals.iter().enumerate() {
            let Parts { gain, shift, factor, .. } = conditional.parts();
            let (before, state) = draws.split_at_mut(position * size);
            let state = &mut state[..size];
            let noise: Vec<f64> = (0..size).map(|_| StandardNormal.sample(&mut self.generator)).collect();
            let product = |matrix: &[f64], i: usize, vector: &[f64]| {
                matrix[i * size..(i + 1) * size].iter().zip(vector).map(|(a, x)| a * x).sum::<f64>()
            };
            for i in 0..size {
                state[i] = shift[i] + product(factor, i, &noise);
            }
            if let Some(parent) = tree.parent(Position::new(position)) {
                let above = &before[parent.get() * size..(parent.get() + 1) * size];
                for i in 0..size {
                    state[i] += product(gain, i, above);
                }
            }
            let place = tree.row_at(Position::new(position)).get() * n_outputs;
            for output in 0..n_outputs {
                draw[place + output] = states.read(output, state);
            }
        }
        Some(draw)
    }
}
