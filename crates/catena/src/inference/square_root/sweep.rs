//! The square-root form of the sweep, for any tree and for tiny noise.
//!
//! A message is rows (R, c) with likelihood `exp(−½|Rz − c|²)`, so Λ = RᵀR and η = Rᵀc are never formed. On the way up each state is
//! conditioned on z̃ = A z_parent and on the rows at and below it: `z = z̃ + L ε` with Q = L Lᵀ [absorbs](super::conditional) these rows,
//! which leaves rows (R', c') about z̃, hence (R'A, c') about the parent. On the way down the marginal of z̃ advances over that
//! conditional. Variances are sums of squares |hᵀZ|², never differences.

use super::super::gradient::GradientSums;
use super::super::predictions::{Order, Predictions, Statistics};
use super::super::state_space::StateSpace;
use super::super::sweep::Sweep;
use super::algebra::Algebra;
use super::conditional::Conditional;
use super::rows::InformationRows;
use crate::index::Position;
use crate::linalg::{
    Separate, Shape, dot, times_transition, transition_times_matrix, transition_times_vector,
    vector_times_matrix,
};

/// Messages, conditionals and marginals of all positions.
#[derive(Debug, Default)]
pub(in super::super) struct SquareRootSweep {
    /// Rows about each state from the cells at and below it.
    messages: Vec<InformationRows>,
    /// Each state given z̃ and its message.
    conditionals: Vec<Conditional>,
    /// The marginal of each state.
    states: Vec<Conditional>,
}

impl SquareRootSweep {
    /// The upward pass. Returns the log evidence.
    pub(in super::super) fn up(&mut self, model: StateSpace<'_>) -> Result<f64, Position> {
        let (shape, n) = (model.layout.dynamic(), model.tree.len());
        let size = shape.size();
        let mut algebra = Algebra::new(model.layout.clone());
        self.conditionals.clear();
        self.messages.clear();
        self.messages.resize(n, InformationRows::default());
        let mut log_evidence = 0.0;
        for position in (0..n).rev() {
            add_cells(model, position, &mut self.messages[position]);
            log_evidence -= 0.5 * self.messages[position].compress(size);
            let step = model.steps.step(model.edges.step_of(position));
            let mut conditional = Conditional::from_noise(shape, step.noise);
            algebra.absorb(&mut conditional, self.messages[position].view());
            if !conditional.log_normalizer().is_finite() {
                return Err(Position::new(position));
            }
            log_evidence += conditional.log_normalizer();
            let rows = conditional.rows();
            match model.tree.parent(Position::new(position)) {
                Some(parent) => {
                    let mut carried = vec![0.0; size * size];
                    times_transition::<Separate, _>(shape, step.transition, rows.root, &mut carried);
                    for (row, &offset) in carried.chunks_exact(size).zip(rows.offset) {
                        self.messages[parent.get()].push(row, offset);
                    }
                }
                // At the root z̃ is zero.
                None => log_evidence -= 0.5 * rows.offset.iter().map(|c| c * c).sum::<f64>(),
            }
            self.conditionals.push(conditional);
        }
        self.conditionals.reverse();
        Ok(log_evidence)
    }

    /// The downward pass; adds the gradient if `sums` are given.
    pub(in super::super) fn down(&mut self, model: StateSpace<'_>, mut sums: Option<&mut GradientSums>) {
        let (shape, size) = (model.layout.dynamic(), model.layout.dynamic().size());
        let mut algebra = Algebra::new(model.layout.clone());
        self.states.clear();
        for (position, conditional) in self.conditionals.iter().enumerate() {
            let parent = model.tree.parent(Position::new(position)).map(|parent| &self.states[parent.get()]);
            let mut state = Conditional::zero(size);
            if let Some(parent) = parent {
                let transition = model.steps.step(model.edges.step_of(position)).transition;
                let above = parent.parts();
                state.set_gaussian(|mean, factor| {
                    transition_times_vector::<Separate, _>(shape, transition, above.shift, mean);
                    transition_times_matrix::<Separate, _>(shape, transition, above.factor, factor);
                });
                if let Some(sums) = &mut sums {
                    add_step_gradient(model, position, (conditional, &state, parent), sums);
                    sums.end_edge(position);
                }
            }
            algebra.advance(&mut state, conditional);
            if let Some(sums) = &mut sums {
                add_cell_gradient(model, position, &state, sums);
            }
            self.states.push(state);
        }
    }

    /// Frees what only the passes need.
    pub(in super::super) fn forget_conditionals(&mut self) {
        self.conditionals = vec![];
    }

    /// The marginal of a state, as a conditional without a state before it.
    pub(in super::super) fn state(&self, position: Position) -> &Conditional {
        &self.states[position.get()]
    }

    /// The rows about a state from the cells at and below it.
    pub(in super::super) fn message(&self, position: Position) -> &InformationRows {
        &self.messages[position.get()]
    }

    /// A state given its parent and all cells: `z = G z_parent + b + X ε`.
    pub(in super::super) fn given_parent(&self, model: StateSpace<'_>, position: Position) -> Conditional {
        let shape = model.layout.dynamic();
        let step = model.steps.step(model.edges.step_of(position.get()));
        let mut conditional = Conditional::from_noise(shape, step.noise);
        Algebra::new(model.layout.clone()).absorb(&mut conditional, self.message(position).view());
        let from_here = conditional.parts().gain.to_vec();
        times_transition::<Separate, _>(shape, step.transition, &from_here, conditional.gain_mut());
        conditional
    }
}

impl Sweep for SquareRootSweep {
    fn log_evidence(&mut self, model: StateSpace<'_>) -> Result<f64, Position> {
        self.up(model)
    }

    fn marginals(
        &mut self,
        model: StateSpace<'_>,
        numbers: (&mut [f64], &mut [f64]),
    ) -> Result<(f64, Statistics), Position> {
        let log_evidence = self.up(model)?;
        self.down(model, None);
        let mut predictions = Predictions::new(Order::Rows(model.tree), model.readout.n_outputs(), numbers);
        for (position, state) in self.states.iter().enumerate() {
            for output in 0..model.readout.n_outputs() {
                let (mean, variance) = model.readout.output_marginal(output, state.gaussian());
                predictions.set(position, output, mean, variance);
            }
        }
        Ok((log_evidence, predictions.statistics()))
    }

    fn gradient(&mut self, model: StateSpace<'_>, sums: &mut GradientSums) -> Result<f64, Position> {
        let log_evidence = self.up(model)?;
        self.down(model, Some(sums));
        Ok(log_evidence)
    }
}

/// Adds the rows `(h, y)/√r` of a position's cells.
fn add_cells(model: StateSpace<'_>, position: usize, rows: &mut InformationRows) {
    let size = model.layout.dynamic().size();
    let mask = model.cells.outputs(position);
    for (at, (&output, &value)) in mask.iter().zip(model.cells.values(position)).enumerate() {
        let whitening = model.readout.cell_noise(model.cells, position, at, output).sqrt().recip();
        rows.push_scaled(model.readout.row(output).weights, size, whitening, value * whitening);
    }
}

/// Adds the gradient of a position's cells in weights and noises.
fn add_cell_gradient(model: StateSpace<'_>, position: usize, state: &Conditional, sums: &mut GradientSums) {
    let (parts, size) = (state.parts(), state.size());
    let mut projected = vec![0.0; size];
    let mask = model.cells.outputs(position);
    for (at, (&output, &value)) in mask.iter().zip(model.cells.values(position)).enumerate() {
        let noise = model.readout.cell_noise(model.cells, position, at, output);
        let (mean, variance) = model.readout.read_factor(output, (parts.shift, parts.factor), &mut projected);
        let residual = value - mean;
        sums.add_noise_gradient(model.cells, output, residual, variance, noise);
        for slot in 0..model.readout.width() {
            let with_output = dot::<Separate>(&parts.factor[slot * size..][..size], &projected);
            sums.add_weight_gradient(output, slot, (residual * parts.shift[slot] - with_output) / noise);
        }
    }
}

/// Adds the gradient in a step. With (m̃, Z̃) the marginal of z̃ before the step's noise and `E = R'Z̃`: `r = R'ᵀ(c' − R'm̃)`,
/// `N = R'ᵀ(I − E Eᵀ)R'`, `∂/∂Q = ½(rrᵀ − N)`, `∂/∂A = r m_parentᵀ − R'ᵀE Z_parentᵀ`.
fn add_step_gradient(
    model: StateSpace<'_>,
    position: usize,
    (conditional, moved, parent): (&Conditional, &Conditional, &Conditional),
    sums: &mut GradientSums,
) {
    let shape = model.layout.dynamic();
    let size = shape.size();
    let derivatives = model.steps.derivatives(model.edges.step_of(position));
    let (rows, moved, parent) = (conditional.rows(), moved.parts(), parent.parts());
    let explained = multiply(size, rows.root, moved.factor);
    let gap: Vec<f64> = (0..size)
        .map(|i| rows.offset[i] - dot::<Separate>(&rows.root[i * size..][..size], moved.shift))
        .collect();
    let mut vector = vec![0.0; size];
    vector_times_matrix::<Separate>(&gap, rows.root, &mut vector);
    let mut inner = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..size {
            let product = dot::<Separate>(&explained[i * size..][..size], &explained[j * size..][..size]);
            inner[i * size + j] = if i == j { 1.0 - product } else { -product };
        }
    }
    let transposed_root = transposed(size, rows.root);
    let precision = multiply(size, &multiply(size, &transposed_root, &inner), rows.root);
    let lifted = multiply(size, &transposed_root, &explained);
    let loss = multiply(size, &lifted, &transposed(size, parent.factor));
    sums.add_noise_step::<Separate, _>(shape, derivatives, &vector, &precision);
    sums.add_transition_step(shape, derivatives, (&vector, parent.shift), &loss);
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
