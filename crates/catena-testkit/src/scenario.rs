//! Random models, structures and tables, with the edge cases that the library supports.
//!
//! The cases include: one row; rows and tables without observations; outputs never observed; duplicate
//! inputs; steps from 1e-9 to 1e9 length-scales; more latents than outputs and fewer; one latent, one output; private
//! latents; known noise per cell.

use crate::reference::DensePrior;
use catena::data::{InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Quality, Variance};

use crate::random::SeededDraws;

/// The structure of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One input column, sorted; every latent in a state that is exact there.
    Line,
    /// One input column, sorted; latents that are pieces for time, and kernels among them.
    Time,
    /// As `Time`, with cycles among the shared latents of which both state components are observed.
    Phases,
    /// A chain in random order over one to four input columns; derivative and value states.
    Chain,
    /// A random rooted tree over one to four input columns; value states.
    Tree,
}

/// A model, a structure and a table that fit together.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seed and sizes.
    pub label: String,
    /// The inputs of the rows.
    pub inputs: InputPoints,
    /// The structure over the rows.
    pub tree: Tree,
    /// The model.
    pub model: Lmc,
    /// The observed cells.
    pub observations: Observations,
}

/// The maximum sizes of a scenario and the range of its noise.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum number of outputs.
    pub outputs: usize,
    /// Maximum number of shared latents.
    pub shared_latents: usize,
    /// Smallest and largest noise variance.
    pub noise: (f64, f64),
}

impl Limits {
    /// Tables of moderate size with noise from 1e-3 to 1.
    pub const MODERATE: Self = Self { rows: 40, outputs: 5, shared_latents: 5, noise: (1e-3, 1.0) };
    /// As `MODERATE`, with enough noise for every form of the sweep to be accurate.
    pub const NOISY: Self = Self { rows: 40, outputs: 5, shared_latents: 5, noise: (0.3, 3.0) };
    /// Long tables with few outputs.
    pub const LONG: Self = Self { rows: 300, outputs: 2, shared_latents: 3, noise: (1e-3, 1.0) };
    /// Tables small enough to be drawn 1e5 times.
    pub const SMALL: Self = Self { rows: 5, outputs: 2, shared_latents: 2, noise: (1e-2, 1.0) };
}

impl Scenario {
    /// The scenario of this seed.
    pub fn draw(shape: Shape, limits: Limits, seed: u64) -> Self {
        let mut draws = SeededDraws::new(seed);
        let n_rows = match seed % 8 {
            0 => 1,
            1 => 2,
            2 => limits.rows,
            _ => 1 + draws.below(limits.rows),
        };
        let n_outputs = 1 + draws.below(limits.outputs);
        let dim =
            if matches!(shape, Shape::Line | Shape::Time | Shape::Phases) { 1 } else { 1 + draws.below(4) };
        let inputs = draw_inputs(&mut draws, shape, n_rows, dim);
        let tree = draw_structure(&mut draws, shape, &inputs);
        let model = draw_model(&mut draws, shape, limits, n_outputs);
        let observations = draw_observations(&mut draws, n_rows, n_outputs, limits.noise);
        let label = format!(
            "{shape:?} seed {seed} {limits:?}: C = {n_rows}, M = {dim}, D = {n_outputs}, L = {}, n = {}, {} cells",
            model.n_latents(),
            model.state_dim(),
            observations.n_observed()
        );
        Self { label, inputs, tree, model, observations }
    }

    /// The scenarios of these seeds.
    pub fn drawn(shape: Shape, limits: Limits, seeds: std::ops::Range<u64>) -> impl Iterator<Item = Self> {
        seeds.map(move |seed| Self::draw(shape, limits, seed))
    }

    /// The number of rows, C.
    pub fn n_rows(&self) -> usize {
        self.inputs.n_rows()
    }

    /// The smallest ratio of posterior to prior variance of any output at any row, by the dense reference.
    pub fn smallest_variance_ratio(&self) -> f64 {
        let dense = DensePrior::on_structure(&self.model, &self.tree).condition(&self.observations).unwrap();
        let signal = |output: usize| -> f64 {
            let weights = self.model.mixing().row_entries(OutputIndex::new(output));
            weights.map(|(_, weight)| weight * weight).sum()
        };
        let n_outputs = self.model.n_outputs();
        let ratios =
            dense.variances().into_iter().enumerate().map(|(at, left)| left / signal(at % n_outputs));
        // An output without any weight has a ratio of 0/0, which `min` ignores.
        ratios.fold(1.0, f64::min)
    }

    /// The observed table as a row-major array with NaN at missing cells.
    pub fn dense_values(&self) -> Vec<f64> {
        self.observations.to_dense()
    }
}

/// The distances between consecutive points.
#[derive(Clone, Copy)]
enum Gaps {
    Ordinary,
    Duplicates,
    Any,
    Tiny,
    Huge,
}

/// A random walk with steps of one kind of gap, in random directions, sometimes back to the origin.
fn draw_inputs(draws: &mut SeededDraws, shape: Shape, n_rows: usize, dim: usize) -> InputPoints {
    let gaps: &[Gaps] = match shape {
        // A nonstationary component is undetermined after a gap of a billion length-scales.
        Shape::Time | Shape::Phases => &[Gaps::Ordinary, Gaps::Ordinary, Gaps::Duplicates, Gaps::Tiny],
        _ => &[Gaps::Ordinary, Gaps::Ordinary, Gaps::Duplicates, Gaps::Any, Gaps::Tiny, Gaps::Huge],
    };
    let gaps = draws.pick(gaps);
    let mut place = vec![0.0; dim];
    let mut values = Vec::with_capacity(n_rows * dim);
    for _ in 0..n_rows {
        let gap = match gaps {
            Gaps::Ordinary => draws.uniform(0.01, 1.0),
            Gaps::Duplicates if draws.chance(0.4) => 0.0,
            Gaps::Duplicates => draws.uniform(0.01, 1.0),
            Gaps::Any => draws.log_uniform(1e-9, 1e9),
            Gaps::Tiny => draws.log_uniform(1e-9, 1e-6),
            Gaps::Huge => draws.log_uniform(1e3, 1e9),
        };
        // A step of 1e-9 vanishes by rounding at 1e9, but not at the origin.
        if matches!(gaps, Gaps::Any) && draws.chance(0.4) {
            place.fill(0.0);
        }
        let axis = draws.below(dim);
        place[axis] += if draws.chance(0.7) { gap } else { -gap };
        values.extend_from_slice(&place);
    }
    InputPoints::new(n_rows, dim, values).unwrap()
}

fn draw_structure(draws: &mut SeededDraws, shape: Shape, inputs: &InputPoints) -> Tree {
    let n_rows = inputs.n_rows();
    match shape {
        Shape::Line | Shape::Time | Shape::Phases => sorted_chain(inputs).unwrap(),
        Shape::Chain => {
            // In the order of the walk, steps keep their lengths; a permutation changes them.
            let mut order: Vec<usize> = (0..n_rows).collect();
            if draws.chance(0.4) {
                order = draws.permutation(n_rows);
            }
            Tree::chain(inputs, order.into_iter().map(RowIndex::new).collect()).unwrap()
        }
        Shape::Tree => {
            let order = draws.permutation(n_rows);
            let branching = draws.below(4);
            let mut parents = vec![None; n_rows];
            for at in 1..n_rows {
                let above = match branching {
                    0 => 0,
                    1 => at - 1 - draws.below(2.min(at)),
                    2 => at - 1,
                    _ => draws.below(at),
                };
                parents[order[at]] = Some(RowIndex::new(order[above]));
            }
            Tree::from_parents(inputs, &parents).unwrap()
        }
    }
}

/// A latent that the structure supports.
fn draw_latent(draws: &mut SeededDraws, shape: Shape) -> Latent {
    let materns = [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52];
    if matches!(shape, Shape::Time | Shape::Phases) && draws.chance(0.85) {
        let component = match draws.below(4) {
            0 => Component::Sho { quality: Quality::new(draws.log_uniform(0.1, 30.0)).unwrap() },
            1 => Component::Cycle { period: LengthScale::new(draws.log_uniform(0.3, 30.0)).unwrap() },
            2 => Component::RandomWalk,
            _ => Component::LocalLinearTrend,
        };
        let length_scale = LengthScale::new(draws.log_uniform(0.3, 30.0)).unwrap();
        // Half of the trends are damped, told by the last digit of their length-scale: no other draw depends on it.
        let is_damped = length_scale.get().to_bits().is_multiple_of(2);
        let component = match component {
            Component::LocalLinearTrend if is_damped => Component::DampedTrend,
            other => other,
        };
        return Latent::component(component, length_scale);
    }
    let (kernel, state) = match shape {
        Shape::Line if draws.chance(0.1) => (Kernel::Matern12, StateKind::Value),
        Shape::Line | Shape::Time | Shape::Phases => (draws.pick(&materns), StateKind::Derivative),
        Shape::Chain if draws.chance(0.5) => (draws.pick(&materns), StateKind::Derivative),
        Shape::Chain | Shape::Tree => (draws.pick(Kernel::ALL), StateKind::Value),
    };
    Latent::new(kernel, state, LengthScale::new(draws.log_uniform(0.1, 10.0)).unwrap()).unwrap()
}

fn draw_model(draws: &mut SeededDraws, shape: Shape, limits: Limits, n_outputs: usize) -> Lmc {
    let has_private = draws.chance(0.3);
    let fewest = usize::from(!has_private);
    let n_shared = fewest + draws.below(limits.shared_latents + 1 - fewest);
    let weights = |draws: &mut SeededDraws, count: usize| -> Vec<f64> {
        (0..count).map(|_| if draws.chance(0.05) { 0.0 } else { draws.normal() }).collect()
    };
    let shared = weights(draws, n_outputs * n_shared);
    let private = if has_private { weights(draws, n_outputs) } else { vec![] };
    let mixing = MixingMatrix::with_private(n_outputs, n_shared, shared, private).unwrap();
    let mut latents: Vec<Latent> = (0..mixing.n_latents()).map(|_| draw_latent(draws, shape)).collect();
    if shape == Shape::Phases {
        let mut at = 0;
        while at + 1 < n_shared {
            if draws.chance(0.6) {
                let period = LengthScale::new(draws.log_uniform(0.3, 30.0)).unwrap();
                let length_scale = LengthScale::new(draws.log_uniform(0.3, 30.0)).unwrap();
                latents[at] = Latent::component(Component::Cycle { period }, length_scale);
                latents[at + 1] = Latent::quadrature_of(&latents[at]).unwrap();
                at += 1;
            }
            at += 1;
        }
    }
    let (low, high) = limits.noise;
    let noise = (0..n_outputs).map(|_| Variance::new(draws.log_uniform(low, high)).unwrap()).collect();
    Lmc::new(latents, mixing, noise).unwrap()
}

fn draw_observations(
    draws: &mut SeededDraws,
    n_rows: usize,
    n_outputs: usize,
    noise: (f64, f64),
) -> Observations {
    let missing = draws.pick(&[0.0, 0.3, 0.3, 0.6, 0.95]);
    let empty_rows = draws.pick(&[0.0, 0.2, 0.5]);
    let never_seen = draws.chance(0.2).then(|| draws.below(n_outputs));
    let is_empty = draws.chance(0.03);
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    for cells in values.chunks_exact_mut(n_outputs) {
        let is_row_empty = is_empty || draws.chance(empty_rows);
        for (output, cell) in cells.iter_mut().enumerate() {
            let value = 1.5 * draws.normal();
            if !is_row_empty && never_seen != Some(output) && !draws.chance(missing) {
                *cell = value;
            }
        }
    }
    let observations = Observations::from_dense(n_rows, n_outputs, &values).unwrap();
    if draws.chance(0.2) {
        let known: Vec<f64> = values.iter().map(|_| draws.log_uniform(noise.0, noise.1)).collect();
        observations.with_cell_noise(&known).unwrap()
    } else {
        observations
    }
}
