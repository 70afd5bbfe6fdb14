//! Random small models, structures and tables.

use catena::data::{InputPoints, Observations};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use catena_testkit::random::SplitMix64;

/// Seeded random numbers.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    pub(crate) fn is_heads(&mut self) -> bool {
        self.0.bits() & 1 == 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    SortedChain,
    GreedyChain,
    Tree,
}

pub(crate) struct Case {
    pub(crate) model: Lmc,
    pub(crate) tree: Tree,
    pub(crate) observations: Observations,
    /// The row whose mask was asked for.
    pub(crate) row: RowIndex,
}

/// A case in which one row has exactly this mask (bit d set: output d is observed).
pub(crate) fn random_case(random: &mut Random, shape: Shape, n_outputs: usize, mask: usize) -> Case {
    let n_rows = 1 + random.below(6);
    let (tree, dim) = random_tree(random, shape, n_rows);
    assert_eq!(dim > 1, shape != Shape::SortedChain);
    let row = random.below(n_rows);
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    for (at, value) in values.iter_mut().enumerate() {
        let (this_row, output) = (at / n_outputs, at % n_outputs);
        let is_observed = if this_row == row { mask >> output & 1 == 1 } else { random.below(3) > 0 };
        if is_observed {
            *value = random.uniform(-2.0, 2.0);
        }
    }
    let mut observations = Observations::from_dense(n_rows, n_outputs, &values).unwrap();
    if random.below(4) == 0 {
        let noise: Vec<f64> = values.iter().map(|_| random.uniform(0.01, 1.0)).collect();
        observations = observations.with_cell_noise(&noise).unwrap();
    }
    let model = random_model(random, shape, n_outputs);
    Case { model, tree, observations, row: RowIndex::new(row) }
}

/// Points with duplicates and far ones; chains or a tree over them.
fn random_tree(random: &mut Random, shape: Shape, n_rows: usize) -> (Tree, usize) {
    let dim = if shape == Shape::SortedChain { 1 } else { 2 };
    let mut points: Vec<f64> = vec![];
    for row in 0..n_rows {
        if row > 0 && random.below(4) == 0 {
            let twin = random.below(row);
            points.extend_from_within(twin * dim..(twin + 1) * dim);
        } else {
            let spread = if random.below(6) == 0 { 100.0 } else { 2.0 };
            points.extend((0..dim).map(|_| random.uniform(-spread, spread)));
        }
    }
    let inputs = InputPoints::new(n_rows, dim, points).unwrap();
    let tree = match shape {
        Shape::SortedChain => sorted_chain(&inputs).unwrap(),
        Shape::GreedyChain => brute_force_greedy_chain(&inputs, RowIndex::new(random.below(n_rows))).unwrap(),
        Shape::Tree => {
            let root = random.below(n_rows);
            // The root, then rows in their order, each below one that is already there.
            let mut placed = vec![RowIndex::new(root)];
            let mut parents = vec![None; n_rows];
            for row in (0..n_rows).filter(|&row| row != root) {
                parents[row] = Some(placed[random.below(placed.len())]);
                placed.push(RowIndex::new(row));
            }
            Tree::from_parents(&inputs, &parents).unwrap()
        }
    };
    (tree, dim)
}

fn random_model(random: &mut Random, shape: Shape, n_outputs: usize) -> Lmc {
    let n_shared = 1 + random.below(n_outputs + 2);
    let shared: Vec<f64> = (0..n_outputs * n_shared).map(|_| random.uniform(-1.0, 1.0)).collect();
    let n_private = if random.below(3) == 0 { n_outputs } else { 0 };
    let private: Vec<f64> = (0..n_private).map(|_| random.uniform(0.2, 1.0)).collect();
    let latents: Vec<Latent> = (0..n_shared + n_private)
        .map(|_| {
            let kernel = Kernel::ALL[random.below(Kernel::ALL.len())];
            let is_value = shape == Shape::Tree || kernel == Kernel::SquaredExponential || random.is_heads();
            let state = if is_value { StateKind::Value } else { StateKind::Derivative };
            Latent::new(kernel, state, LengthScale::new(random.uniform(0.3, 3.0)).unwrap()).unwrap()
        })
        .collect();
    let mixing = MixingMatrix::with_private(n_outputs, n_shared, shared, private).unwrap();
    let noise = (0..n_outputs).map(|_| Variance::new(random.uniform(0.003, 1.0)).unwrap()).collect();
    Lmc::new(latents, mixing, noise).unwrap()
}
