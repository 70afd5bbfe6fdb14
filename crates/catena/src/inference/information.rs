//! The canonical form of the sweep, for any tree: messages (Λ, η) up from the leaves, states (m, P) down from the root.
//!
//! A position's message is what its cells and everything below it say about its state. With
//! `T = (I + QΛ)⁻¹, S = TQ, G = TA, J = ΛT`:
//!
//! ```text
//! up:    parent's Λ += AᵀJA,   η += Gᵀη,   log evidence += −½ log det(I + QΛ) + ½ ηᵀSη
//! down:  m = G m_parent + S η,             P = G P_parent Gᵀ + S
//! ```
//!
//! Only sums of positive semidefinite terms: Q = 0 (duplicate inputs), Λ = 0 (empty rows) and huge gaps need nothing
//! special. G is computed as TA; as A − SΛA it would be a difference, 4 % off at noise 1e-8.

use super::cells::CellPrecisions;
use super::gradient::{GradientSums, Values};
use super::predictions::Predictions;
use super::readout::Readout;
use super::steps::{StepTable, StepView};
use crate::graph::{Cells, FactorGraph, StepLengths};
use crate::index::Position;
use crate::linalg::{
    Arithmetic, Job, Lu, Shape, StateAlgebra, conjugate_transposed, copy_upper_to_lower, dot,
    noise_as_transition, times_transition, transition_times_matrix, transition_transposed_times_vector,
    vector_times_matrix,
};
use crate::structure::Tree;

/// What the passes need to know of the graph.
#[derive(Clone, Copy)]
pub(super) struct Branches<'a> {
    pub(super) tree: &'a Tree,
    pub(super) cells: &'a Cells,
    pub(super) edges: &'a StepLengths,
    pub(super) steps: &'a StepTable,
    pub(super) readout: &'a Readout,
    pub(super) information: &'a CellPrecisions,
    pub(super) n_values: usize,
}

impl<'a> Branches<'a> {
    /// The parts of a graph, with what was computed for its model.
    pub(super) fn new(
        graph: &'a FactorGraph<'_>,
        steps: &'a StepTable,
        readout: &'a Readout,
        information: &'a CellPrecisions,
    ) -> Self {
        let n_values = readout.n_values();
        let (tree, cells, edges) = (graph.tree(), graph.cells(), graph.step_lengths());
        Self { tree, cells, edges, steps, readout, information, n_values }
    }
}

/// Messages and states of every position, kept between sweeps.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Λ and η: what is said from below about each state.
    pub(super) precisions: Vec<f64>,
    pub(super) vectors: Vec<f64>,
    /// G of the step into each position.
    gains: Vec<f64>,
    /// S of that step on the way up, P on the way down.
    pub(super) covariances: Vec<f64>,
    pub(super) means: Vec<f64>,
    /// Tᵀη and, when slopes are wanted, J.
    projected: Vec<f64>,
    passed_precision: Vec<f64>,
}

impl Messages {
    /// Frees what only the passes themselves need.
    pub(super) fn forget_conditionals(&mut self) {
        for buffer in [&mut self.gains, &mut self.projected, &mut self.passed_precision] {
            *buffer = vec![];
        }
    }
}

/// Scratch for one position.
pub(super) struct Scratch {
    noise: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    rows: Vec<f64>,
    pivots: Vec<usize>,
}

impl Scratch {
    /// Scratch for states of this shape.
    pub(super) fn new<S: Shape>(shape: S) -> Self {
        let size = shape.size();
        Self {
            noise: vec![0.0; shape.n_parts() * shape.n_parts() * shape.width()],
            first: vec![0.0; size * size],
            second: vec![0.0; size * size],
            rows: vec![0.0; shape.n_parts().max(2) * size],
            pivots: vec![0; size],
        }
    }
}

/// A message (Λ, η) about a state.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) precision: &'a [f64],
    pub(super) vector: &'a [f64],
}

/// The conditional of a state given its parent and all that is below: `z = G z_parent + S η + noise of covariance S`.
pub(super) struct Conditional<'a> {
    pub(super) gain: &'a mut [f64],
    pub(super) covariance: &'a mut [f64],
    /// Tᵀη.
    pub(super) projected: &'a mut [f64],
    /// J = ΛT, symmetric.
    pub(super) passed_precision: &'a mut [f64],
}

/// Conditions one step on the message from below; returns the step's share of the log evidence, or `None` when
/// numbers overflowed.
#[inline(always)]
pub(super) fn condition<A: Arithmetic, S: Shape>(
    shape: S,
    step: StepView<'_>,
    message: Message<'_>,
    out: Conditional<'_>,
    scratch: &mut Scratch,
) -> Option<f64> {
    let size = shape.size();
    let Scratch { noise: full_noise, first, second, pivots, .. } = scratch;
    noise_as_transition(shape, step.noise, full_noise);
    transition_times_matrix::<A, S>(shape, full_noise, message.precision, first);
    for i in 0..size {
        first[i * size + i] += 1.0;
    }
    let factors = Lu::new::<A>(first, pivots)?;
    let log_determinant = factors.log_abs_determinant();
    let inverse = second;
    inverse.fill(0.0);
    for i in 0..size {
        inverse[i * size + i] = 1.0;
    }
    factors.solve::<A>(inverse, size);
    times_transition::<A, S>(shape, step.transition, inverse, out.gain);
    times_transition::<A, S>(shape, full_noise, inverse, out.covariance);
    copy_upper_to_lower(size, out.covariance);
    vector_times_matrix::<A>(message.vector, inverse, out.projected);
    for i in 0..size {
        let row = &message.precision[i * size..][..size];
        vector_times_matrix::<A>(row, inverse, &mut out.passed_precision[i * size..][..size]);
    }
    copy_upper_to_lower(size, out.passed_precision);
    let mut explained = 0.0;
    for i in 0..size {
        let row = &out.covariance[i * size..][..size];
        explained = A::mul_add(message.vector[i], dot::<A>(row, &message.vector[..size]), explained);
    }
    let share = 0.5 * (explained - log_determinant);
    share.is_finite().then_some(share)
}

/// The upward pass. Returns the log evidence, or the position where numbers overflowed.
pub(super) struct Up<'a, const KEEP: bool> {
    pub(super) branches: Branches<'a>,
    pub(super) messages: &'a mut Messages,
    pub(super) with_gradient: bool,
    /// `−½ Σ log 2πr` over all cells.
    pub(super) log_noise: f64,
}

impl<const KEEP: bool> Job for Up<'_, KEEP> {
    type Output = Result<f64, Position>;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> Self::Output {
        let Self { branches, messages, with_gradient, log_noise } = self;
        let (size, n) = (shape.size(), branches.tree.len());
        let square = size * size;
        let conditionals = if KEEP { n } else { 1 };
        messages.precisions.clear();
        messages.precisions.resize(n * square, 0.0);
        messages.vectors.clear();
        messages.vectors.resize(n * size, 0.0);
        messages.gains.resize(conditionals * square, 0.0);
        messages.covariances.resize(conditionals * square, 0.0);
        messages.projected.resize(conditionals * size, 0.0);
        messages.passed_precision.resize(if with_gradient { n } else { 1 } * square, 0.0);
        let mut scratch = Scratch::new(shape);
        let mut log_evidence = log_noise;
        for position in (0..n).rev() {
            let (before, here) = messages.precisions.split_at_mut(position * square);
            let (vectors_before, vector) = messages.vectors.split_at_mut(position * size);
            let (precision, vector) = (&mut here[..square], &mut vector[..size]);
            let target = (&mut *precision, &mut *vector);
            log_evidence -=
                branches.information.add_to(branches.cells, branches.readout, position, size, target);
            let at = if KEEP { position } else { 0 };
            let slopes_at = if with_gradient { position } else { 0 };
            let projected = &mut messages.projected[at * size..][..size];
            let passed_precision = &mut messages.passed_precision[slopes_at * square..][..square];
            let step = branches.steps.step(branches.edges.step_of(position));
            let out = Conditional {
                gain: &mut messages.gains[at * square..][..square],
                covariance: &mut messages.covariances[at * square..][..square],
                projected: &mut *projected,
                passed_precision: &mut *passed_precision,
            };
            let message = Message { precision, vector };
            let share = condition::<A, S>(shape, step, message, out, &mut scratch);
            log_evidence += share.ok_or(Position::new(position))?;
            if let Some(parent) = branches.tree.parent(Position::new(position)) {
                let parent = parent.get();
                scratch.first.copy_from_slice(passed_precision);
                conjugate_transposed::<A, S>(shape, step.transition, &mut scratch.first, &mut scratch.rows);
                let target = &mut before[parent * square..][..square];
                target.iter_mut().zip(&scratch.first).for_each(|(sum, share)| *sum += share);
                transition_transposed_times_vector::<A, S>(
                    shape,
                    step.transition,
                    projected,
                    &mut scratch.rows,
                );
                let target = &mut vectors_before[parent * size..][..size];
                target.iter_mut().zip(&scratch.rows).for_each(|(sum, share)| *sum += share);
            }
        }
        Ok(log_evidence)
    }
}

/// Where the downward pass delivers: predictions and slopes, each if wanted.
pub(super) struct Down<'a, 'b> {
    pub(super) branches: Branches<'a>,
    pub(super) messages: &'a mut Messages,
    pub(super) predictions: Option<&'a mut Predictions<'b>>,
    pub(super) slopes: Option<&'a mut GradientSums>,
}

impl Job for Down<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        let Self { branches, messages, mut predictions, mut slopes } = self;
        let (size, n) = (shape.size(), branches.tree.len());
        let square = size * size;
        messages.means.resize(n * size, 0.0);
        let mut scratch = Scratch::new(shape);
        let nowhere = (vec![0.0; size], vec![0.0; square]);
        for position in 0..n {
            let parent = branches.tree.parent(Position::new(position)).map(Position::get);
            let (means_before, mean) = messages.means.split_at_mut(position * size);
            let (covariances_before, covariance) = messages.covariances.split_at_mut(position * square);
            let (mean, covariance) = (&mut mean[..size], &mut covariance[..square]);
            let above = match parent {
                Some(at) => GaussianView {
                    mean: &means_before[at * size..][..size],
                    covariance: &covariances_before[at * square..][..square],
                },
                None => GaussianView { mean: &nowhere.0, covariance: &nowhere.1 },
            };
            let gain = &messages.gains[position * square..][..square];
            let message = Message {
                precision: &messages.precisions[position * square..][..square],
                vector: &messages.vectors[position * size..][..size],
            };
            if let (Some(sums), Some(_)) = (&mut slopes, parent) {
                let projected = &messages.projected[position * size..][..size];
                let passed_precision = &messages.passed_precision[position * square..][..square];
                let step = branches.steps.derivatives(branches.edges.step_of(position));
                add_step_gradient::<A, S>(
                    shape,
                    step,
                    (gain, projected, passed_precision),
                    (message, above),
                    sums,
                    &mut scratch,
                );
                sums.end_edge(position);
            }
            descend::<A>(size, gain, message.vector, above, (mean, covariance), &mut scratch.first);
            let values = Values { mean, covariance, stride: size };
            if let Some(sums) = &mut slopes {
                sums.add_cells_from_values::<A>(branches.cells, branches.readout, position, values);
            }
            if let Some(predictions) = &mut predictions {
                if branches.readout.is_sparse() {
                    predictions.set_from_touched_values(branches.readout, position, values);
                } else {
                    predictions.set_from_values::<A>(branches.readout, branches.n_values, position, values);
                }
            }
        }
    }
}

/// The mean and covariance of a state.
#[derive(Clone, Copy)]
pub(super) struct GaussianView<'a> {
    pub(super) mean: &'a [f64],
    pub(super) covariance: &'a [f64],
}

/// `m = G m_parent + S η`, `P = G P_parent Gᵀ + S`; S stands in `gaussian.1` and is overwritten by P.
#[inline(always)]
pub(super) fn descend<A: Arithmetic>(
    size: usize,
    gain: &[f64],
    vector: &[f64],
    above: GaussianView<'_>,
    gaussian: (&mut [f64], &mut [f64]),
    scratch: &mut [f64],
) {
    let (mean, covariance) = gaussian;
    for i in 0..size {
        let own = dot::<A>(&covariance[i * size..][..size], &vector[..size]);
        mean[i] = own + dot::<A>(&gain[i * size..][..size], &above.mean[..size]);
    }
    for i in 0..size {
        let row = &gain[i * size..][..size];
        vector_times_matrix::<A>(row, above.covariance, &mut scratch[i * size..][..size]);
    }
    for i in 0..size {
        for j in i..size {
            covariance[i * size + j] += dot::<A>(&scratch[i * size..][..size], &gain[j * size..][..size]);
        }
    }
    copy_upper_to_lower(size, covariance);
}

/// With `r = Tᵀη − ΛG m_parent` and `N = J − ΛG P_parent GᵀΛ`: `∂/∂Q = ½(rrᵀ − N)`, `∂/∂A = r m_parentᵀ − ΛG P_parent`.
#[inline(always)]
fn add_step_gradient<A: Arithmetic, S: Shape>(
    shape: S,
    slopes: StepView<'_>,
    (gain, projected, passed_precision): (&[f64], &[f64], &[f64]),
    (message, above): (Message<'_>, GaussianView<'_>),
    sums: &mut GradientSums,
    scratch: &mut Scratch,
) {
    let size = shape.size();
    let Scratch { first, second, rows, .. } = scratch;
    // ΛG, then ΛG P_parent.
    for i in 0..size {
        let row = &message.precision[i * size..][..size];
        vector_times_matrix::<A>(row, gain, &mut first[i * size..][..size]);
    }
    for i in 0..size {
        let row = &first[i * size..][..size];
        vector_times_matrix::<A>(row, above.covariance, &mut second[i * size..][..size]);
    }
    let (residual, row) = rows.split_at_mut(size);
    for i in 0..size {
        residual[i] = projected[i] - dot::<A>(&first[i * size..][..size], &above.mean[..size]);
    }
    sums.add_transition_step(shape, slopes, (residual, above.mean), second);
    // N, by its upper triangle; it overwrites ΛG P_parent row by row, as each row needs only its own.
    for i in 0..size {
        for j in i..size {
            let product = dot::<A>(&second[i * size..][..size], &first[j * size..][..size]);
            row[j] = passed_precision[i * size + j] - product;
        }
        second[i * size + i..(i + 1) * size].copy_from_slice(&row[i..size]);
    }
    copy_upper_to_lower(size, second);
    sums.add_noise_step::<A, S>(shape, slopes, residual, second);
}
