//! The factored form of the sweep, for tiny noise: messages and states as square roots, by orthogonal elimination.
//!
//! A message is rows (R, c) meaning `exp(−½|Rz − c|²)`, so Λ = RᵀR and η = Rᵀc are never formed. With Q = L Lᵀ, the
//! step `z = A z_parent + L ε` and `z̃ = A z_parent`, an orthogonal transformation of the rows
//!
//! ```text
//! [ I    0   0 ]        [ U   V   a  ]     →  ε given z_parent:  U ε + V z̃ = a + unit noise
//! [ RL   R   c ]   =    [ 0   R'  c' ]     →  message about z̃:   (R', c'), hence (R'A, c') for the parent
//! ```
//!
//! gives, with X = L U⁻¹: G = (I − XV)A, S = X Xᵀ, `m = G m_parent + X a`, and P = Z Zᵀ with Z from an elimination of
//! [G Z_parent, X]. The variance of an output is |hᵀZ|²: nothing small is ever the difference of two large numbers.

use super::gradient::GradientSums;
use super::predictions::Predictions;
use super::readout::Readout;
use super::steps::{StepTable, StepView};
use crate::graph::{Cells, StepLengths};
use crate::index::Position;
use crate::linalg::{
    Dynamic, Separate, Shape, dot, eliminate, noise_factor, times_transition, transition_times_vector,
    vector_times_matrix,
};
use crate::structure::Tree;

/// What the passes need to know of the graph.
#[derive(Clone, Copy)]
pub(super) struct Rooted<'a> {
    pub(super) tree: &'a Tree,
    pub(super) cells: &'a Cells,
    pub(super) edges: &'a StepLengths,
    pub(super) steps: &'a StepTable,
    pub(super) readout: &'a Readout,
    pub(super) shape: Dynamic,
}

/// Messages, conditionals and states of every position, as factors; kept between sweeps.
#[derive(Debug, Default)]
pub(super) struct Factors {
    /// (R, c): what is said from below about each state.
    pub(super) roots: Vec<f64>,
    pub(super) offsets: Vec<f64>,
    conditionals: Vec<SquareRootConditional>,
    /// States: the mean, and Z with P = Z Zᵀ.
    pub(super) means: Vec<f64>,
    pub(super) covariance_factors: Vec<f64>,
}

impl Factors {
    /// Frees what only the passes themselves need.
    pub(super) fn forget_conditionals(&mut self) {
        self.conditionals = vec![];
    }
}

/// A state given its parent and all that is below: `z = G z_parent + X(a + unit noise)`; and the message about
/// z̃ = A z_parent, rows (R', c').
#[derive(Clone, Debug, Default)]
pub(super) struct SquareRootConditional {
    pub(super) gain: Vec<f64>,
    pub(super) covariance_factor: Vec<f64>,
    pub(super) offset: Vec<f64>,
    passed_root: Vec<f64>,
    passed_offset: Vec<f64>,
    /// `−log |det U|`, and −½ of the squares that no state can explain.
    log_normalizer: f64,
}

/// Conditions one step on the message (R, c) from below.
pub(super) fn condition(
    shape: Dynamic,
    step: StepView<'_>,
    (root, offset): (&[f64], &[f64]),
) -> SquareRootConditional {
    let size = shape.size();
    let mut factor = vec![0.0; step.transition.len()];
    noise_factor(shape, step.noise, &mut factor);
    let columns = 2 * size + 1;
    let mut tall = vec![0.0; 2 * size * columns];
    let mut factor_rows = vec![0.0; size * size];
    times_transition::<Separate, _>(shape, &factor, root, &mut factor_rows);
    for i in 0..size {
        tall[i * columns + i] = 1.0;
        let row = &mut tall[(size + i) * columns..(size + i + 1) * columns];
        row[..size].copy_from_slice(&factor_rows[i * size..][..size]);
        row[size..2 * size].copy_from_slice(&root[i * size..][..size]);
        row[2 * size] = offset[i];
    }
    eliminate(&mut tall, 2 * size, columns, size);
    let passed = tall.split_off(size * columns);
    let mut below = Vec::with_capacity(size * (size + 1));
    passed.chunks_exact(columns).for_each(|row| below.extend_from_slice(&row[size..]));
    let unexplained = compress(size, &mut below);
    let mut conditional = SquareRootConditional { log_normalizer: -0.5 * unexplained, ..Default::default() };
    for row in below.chunks_exact(size + 1) {
        conditional.passed_root.extend_from_slice(&row[..size]);
        conditional.passed_offset.push(row[size]);
    }
    for k in 0..size {
        conditional.log_normalizer -= tall[k * columns + k].abs().ln();
    }
    conditional.solve(shape, step.transition, &factor, &tall);
    conditional
}

impl SquareRootConditional {
    /// X = L U⁻¹, the offset a, and G = (I − XV)A, from the upper rows [U, V, a].
    fn solve(&mut self, shape: Dynamic, transition: &[f64], factor: &[f64], upper: &[f64]) {
        let size = shape.size();
        let columns = 2 * size + 1;
        let mut identity = vec![0.0; size * size];
        (0..size).for_each(|i| identity[i * size + i] = 1.0);
        // The rows of L: the identity times L.
        self.covariance_factor = vec![0.0; size * size];
        times_transition::<Separate, _>(shape, factor, &identity, &mut self.covariance_factor);
        let mut remaining = identity;
        for i in 0..size {
            let row = &mut self.covariance_factor[i * size..][..size];
            for k in 0..size {
                if row[k] != 0.0 {
                    row[k] /= upper[k * columns + k];
                    let solved = row[k];
                    for j in k + 1..size {
                        row[j] -= solved * upper[k * columns + j];
                    }
                    for j in 0..size {
                        remaining[i * size + j] -= solved * upper[k * columns + size + j];
                    }
                }
            }
        }
        self.offset = (0..size).map(|k| upper[k * columns + 2 * size]).collect();
        self.gain = vec![0.0; size * size];
        times_transition::<Separate, _>(shape, transition, &remaining, &mut self.gain);
    }
}

impl SquareRootConditional {
    /// The message this step passes on to its parent: (R'A, c').
    pub(super) fn passed(self, shape: Dynamic, transition: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut carried = vec![0.0; self.passed_root.len()];
        times_transition::<Separate, _>(shape, transition, &self.passed_root, &mut carried);
        (carried, self.passed_offset)
    }
}

/// Brings rows [R, c] to at most `size` of them, in place, and returns the sum of squares of what is left over.
fn compress(size: usize, rows: &mut Vec<f64>) -> f64 {
    let columns = size + 1;
    let count = rows.len() / columns;
    eliminate(rows, count, columns, size);
    let left_over = rows.chunks_exact(columns).skip(size).map(|row| row[size] * row[size]).sum();
    rows.resize(size * columns, 0.0);
    left_over
}

/// The gaussian of a state from that of its parent: mean and Z.
pub(super) fn descend(
    size: usize,
    conditional: &SquareRootConditional,
    (above_mean, above_factor): (&[f64], &[f64]),
    (mean, covariance_factor): (&mut [f64], &mut [f64]),
) {
    let SquareRootConditional { gain, covariance_factor: own, offset, .. } = conditional;
    for i in 0..size {
        mean[i] = dot::<Separate>(&gain[i * size..][..size], above_mean)
            + dot::<Separate>(&own[i * size..][..size], offset);
    }
    // Elimination works on rows, so the transpose [G Z_parent, X]ᵀ becomes upper triangular: Zᵀ.
    let mut tall = vec![0.0; 2 * size * size];
    let mut carried = vec![0.0; size];
    for i in 0..size {
        vector_times_matrix::<Separate>(&gain[i * size..][..size], above_factor, &mut carried);
        for k in 0..size {
            tall[k * size + i] = carried[k];
            tall[(size + k) * size + i] = own[i * size + k];
        }
    }
    eliminate(&mut tall, 2 * size, size, size);
    for i in 0..size {
        for k in 0..size {
            covariance_factor[i * size + k] = tall[k * size + i];
        }
    }
}

/// The upward pass. Returns the log evidence, or the position where numbers overflowed.
pub(super) fn up(rooted: Rooted<'_>, log_noise: f64, factors: &mut Factors) -> Result<f64, Position> {
    let (size, n) = (rooted.shape.size(), rooted.tree.len());
    factors.roots.resize(n * size * size, 0.0);
    factors.offsets.resize(n * size, 0.0);
    factors.conditionals.clear();
    factors.conditionals.resize(n, SquareRootConditional::default());
    let mut below: Vec<Vec<f64>> = vec![vec![]; n];
    let mut log_evidence = log_noise;
    for position in (0..n).rev() {
        let mut rows = std::mem::take(&mut below[position]);
        add_cell_rows(rooted, position, &mut rows);
        log_evidence -= 0.5 * compress(size, &mut rows);
        let root = &mut factors.roots[position * size * size..][..size * size];
        let offset = &mut factors.offsets[position * size..][..size];
        for (i, row) in rows.chunks_exact(size + 1).enumerate() {
            root[i * size..][..size].copy_from_slice(&row[..size]);
            offset[i] = row[size];
        }
        let step = rooted.steps.step(rooted.edges.step_of(position));
        let conditional = condition(rooted.shape, step, (root, offset));
        if !conditional.log_normalizer.is_finite() {
            return Err(Position::new(position));
        }
        log_evidence += conditional.log_normalizer;
        match rooted.tree.parent(Position::new(position)) {
            Some(parent) => {
                let mut carried = vec![0.0; size * size];
                let passed = &conditional.passed_root;
                times_transition::<Separate, _>(rooted.shape, step.transition, passed, &mut carried);
                for (row, offset) in carried.chunks_exact(size).zip(&conditional.passed_offset) {
                    below[parent.get()].extend_from_slice(row);
                    below[parent.get()].push(*offset);
                }
            }
            // At the root z̃ is zero, so what is left says how badly the model explains the data.
            None => log_evidence -= 0.5 * conditional.passed_offset.iter().map(|c| c * c).sum::<f64>(),
        }
        factors.conditionals[position] = conditional;
    }
    Ok(log_evidence)
}

/// The rows `(h, y)/√r` of a position's cells.
fn add_cell_rows(rooted: Rooted<'_>, position: usize, rows: &mut Vec<f64>) {
    let size = rooted.shape.size();
    let mask = rooted.cells.outputs(position);
    for (at, (&output, &value)) in mask.iter().zip(rooted.cells.values(position)).enumerate() {
        let whitening = rooted.readout.cell_noise(rooted.cells, position, at, output).sqrt().recip();
        let end = rows.len() + size;
        rows.extend(rooted.readout.row(output).weights.iter().map(|weight| weight * whitening));
        rows.resize(end, 0.0);
        rows.push(value * whitening);
    }
}

/// The downward pass; slopes are added if wanted.
pub(super) fn down(rooted: Rooted<'_>, factors: &mut Factors, mut slopes: Option<&mut GradientSums>) {
    let (size, n) = (rooted.shape.size(), rooted.tree.len());
    let square = size * size;
    factors.means.resize(n * size, 0.0);
    factors.covariance_factors.resize(n * square, 0.0);
    let nowhere = (vec![0.0; size], vec![0.0; square]);
    for position in 0..n {
        let (means_before, mean) = factors.means.split_at_mut(position * size);
        let (factors_before, covariance_factor) = factors.covariance_factors.split_at_mut(position * square);
        let (mean, covariance_factor) = (&mut mean[..size], &mut covariance_factor[..square]);
        let conditional = &factors.conditionals[position];
        let above = match rooted.tree.parent(Position::new(position)).map(Position::get) {
            Some(at) => {
                let above = (&means_before[at * size..][..size], &factors_before[at * square..][..square]);
                if let Some(sums) = &mut slopes {
                    add_step_gradient(rooted, position, conditional, above, sums);
                    sums.end_edge(position);
                }
                above
            }
            None => (&nowhere.0[..], &nowhere.1[..]),
        };
        descend(size, conditional, above, (mean, covariance_factor));
        if let Some(sums) = &mut slopes {
            add_cell_gradient(rooted, position, (mean, covariance_factor), sums);
        }
    }
}

/// Delivers the mean and variance of every output at every position.
pub(super) fn predict(rooted: Rooted<'_>, factors: &Factors, predictions: &mut Predictions<'_>) {
    let size = rooted.shape.size();
    let mut projected = vec![0.0; size];
    for position in 0..rooted.tree.len() {
        let gaussian = (
            &factors.means[position * size..][..size],
            &factors.covariance_factors[position * size * size..][..size * size],
        );
        for output in 0..rooted.readout.n_outputs() {
            let (mean, variance) = read_output(rooted.readout, output, gaussian, &mut projected);
            predictions.set(position, output, mean, variance);
        }
    }
}

/// The mean and variance of an output, `hᵀm` and `|hᵀZ|²`; leaves Zᵀh in `projected`.
pub(super) fn read_output(
    readout: &Readout,
    output: usize,
    (mean, covariance_factor): (&[f64], &[f64]),
    projected: &mut [f64],
) -> (f64, f64) {
    let weights = readout.row(output).weights;
    let size = projected.len();
    vector_times_matrix::<Separate>(weights, &covariance_factor[..weights.len() * size], projected);
    (dot::<Separate>(weights, &mean[..weights.len()]), dot::<Separate>(projected, projected))
}

/// What the cells of a position say about weights and noises.
fn add_cell_gradient(
    rooted: Rooted<'_>,
    position: usize,
    gaussian: (&[f64], &[f64]),
    sums: &mut GradientSums,
) {
    let size = rooted.shape.size();
    let mut projected = vec![0.0; size];
    let mask = rooted.cells.outputs(position);
    for (at, (&output, &value)) in mask.iter().zip(rooted.cells.values(position)).enumerate() {
        let noise = rooted.readout.cell_noise(rooted.cells, position, at, output);
        let (mean, variance) = read_output(rooted.readout, output, gaussian, &mut projected);
        let residual = value - mean;
        sums.add_noise_gradient(rooted.cells, output, residual, variance, noise);
        for slot in 0..rooted.shape.readable() {
            let with_output = dot::<Separate>(&gaussian.1[slot * size..][..size], &projected);
            sums.add_weight_gradient(output, slot, (residual * gaussian.0[slot] - with_output) / noise);
        }
    }
}

/// With `E = R'A Z_parent`: `r = R'ᵀ(c' − R'A m_parent)`, `N = R'ᵀ(I − E Eᵀ)R'`, `∂/∂Q = ½(rrᵀ − N)`,
/// `∂/∂A = r m_parentᵀ − R'ᵀE Z_parentᵀ`.
fn add_step_gradient(
    rooted: Rooted<'_>,
    position: usize,
    conditional: &SquareRootConditional,
    (above_mean, above_factor): (&[f64], &[f64]),
    sums: &mut GradientSums,
) {
    let shape = rooted.shape;
    let size = shape.size();
    let step = rooted.edges.step_of(position);
    let (transition, slopes) = (rooted.steps.step(step).transition, rooted.steps.derivatives(step));
    let root = &conditional.passed_root;
    let mut carried = vec![0.0; size * size];
    times_transition::<Separate, _>(shape, transition, root, &mut carried);
    let explained = multiply(size, &carried, above_factor);
    let mut moved = vec![0.0; size];
    transition_times_vector::<Separate, _>(shape, transition, above_mean, &mut moved);
    let gap: Vec<f64> = (0..size)
        .map(|i| conditional.passed_offset[i] - dot::<Separate>(&root[i * size..][..size], &moved))
        .collect();
    let mut vector = vec![0.0; size];
    vector_times_matrix::<Separate>(&gap, root, &mut vector);
    // I − E Eᵀ, then R'ᵀ(·)R'.
    let mut inner = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..size {
            let product = dot::<Separate>(&explained[i * size..][..size], &explained[j * size..][..size]);
            inner[i * size + j] = if i == j { 1.0 - product } else { -product };
        }
    }
    let root_transposed = transposed(size, root);
    let precision = multiply(size, &multiply(size, &root_transposed, &inner), root);
    let lifted = multiply(size, &root_transposed, &explained);
    let loss = multiply(size, &lifted, &transposed(size, above_factor));
    sums.add_noise_step::<Separate, _>(shape, slopes, &vector, &precision);
    sums.add_transition_step(shape, slopes, (&vector, above_mean), &loss);
}

fn multiply(size: usize, left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for (row, target) in left.chunks_exact(size).zip(product.chunks_exact_mut(size)) {
        vector_times_matrix::<Separate>(row, right, target);
    }
    product
}

fn transposed(size: usize, matrix: &[f64]) -> Vec<f64> {
    (0..size * size).map(|at| matrix[at % size * size + at / size]).collect()
}
