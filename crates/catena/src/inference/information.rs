//! The information form of the sweep, for any tree: messages (Λ, η) up from the leaves, marginals (m, P) down from the root.
//!
//! The message of a position is the likelihood of its state given its own cells and those below it. With
//! `T = (I + QΛ)⁻¹, S = TQ, G = TA, J = ΛT`:
//!
//! ```text
//! up:    parent's Λ += AᵀJA,   η += Gᵀη,   log evidence += −½ log det(I + QΛ) + ½ ηᵀSη
//! down:  m = G m_parent + S η,             P = G P_parent Gᵀ + S
//! ```
//!
//! All terms are positive semidefinite sums, so Q = 0 (duplicate inputs), Λ = 0 (empty rows) and long gaps need no special case. G is
//! computed as TA; as A − SΛA it would be a difference, 4 % off at noise 1e-8.

use super::cells::CellPrecisions;
use super::gaussian::{GaussianView, Message, PackedGaussian};
use super::gradient::GradientSums;
use super::predictions::{Order, Predictions, Statistics};
use super::readout::Values;
use super::state_space::StateSpace;
use super::steps::StepView;
use super::sweep::Sweep;
use crate::index::Position;
use crate::linalg::{
    Arithmetic, Job, Lu, Shape, StateAlgebra, conjugate_transposed, copy_upper_to_lower, dispatch_small, dot,
    noise_as_transition, times_transition, transition_times_matrix, transition_transposed_times_vector,
    vector_times_matrix,
};

/// Messages, conditionals and marginals of all positions.
#[derive(Debug, Default)]
pub(super) struct InformationSweep {
    cells: CellPrecisions,
    /// Λ and η of each position.
    precisions: Vec<f64>,
    vectors: Vec<f64>,
    /// G of the step into each position.
    gains: Vec<f64>,
    /// S of that step on the way up, P on the way down.
    covariances: Vec<f64>,
    means: Vec<f64>,
    /// Tᵀη and, for the gradient, J.
    projected: Vec<f64>,
    passed_precision: Vec<f64>,
}

impl InformationSweep {
    /// Both passes: marginals of all states, predictions and gradient if wanted. Returns the log evidence.
    pub(super) fn run(
        &mut self,
        model: StateSpace<'_>,
        predictions: Option<&mut Predictions<'_>>,
        sums: Option<&mut GradientSums>,
    ) -> Result<f64, Position> {
        self.cells.set(model.cells, model.readout);
        let up = Up::<true> { model, memory: self, with_gradient: sums.is_some() };
        let log_evidence = dispatch_small(model.layout, up)?;
        dispatch_small(model.layout, Down { model, memory: self, predictions, sums });
        Ok(log_evidence)
    }

    /// Frees what only the passes need.
    pub(super) fn forget_conditionals(&mut self) {
        for buffer in [&mut self.gains, &mut self.projected, &mut self.passed_precision] {
            *buffer = vec![];
        }
    }

    /// The marginal of a state.
    pub(super) fn state(&self, size: usize, position: Position) -> GaussianView<'_> {
        let at = position.get();
        let covariance = &self.covariances[at * size * size..][..size * size];
        GaussianView::new(&self.means[at * size..][..size], covariance)
    }

    /// The message of a position.
    pub(super) fn message(&self, size: usize, position: Position) -> Message<'_> {
        let at = position.get();
        Message {
            precision: &self.precisions[at * size * size..][..size * size],
            vector: &self.vectors[at * size..][..size],
        }
    }
}

impl Sweep for InformationSweep {
    fn log_evidence(&mut self, model: StateSpace<'_>) -> Result<f64, Position> {
        self.cells.set(model.cells, model.readout);
        dispatch_small(model.layout, Up::<false> { model, memory: self, with_gradient: false })
    }

    fn marginals(
        &mut self,
        model: StateSpace<'_>,
        numbers: (&mut [f64], &mut [f64]),
    ) -> Result<(f64, Statistics), Position> {
        let mut predictions = Predictions::new(Order::Rows(model.tree), model.readout.n_outputs(), numbers);
        let log_evidence = self.run(model, Some(&mut predictions), None)?;
        Ok((log_evidence, predictions.statistics()))
    }

    fn gradient(&mut self, model: StateSpace<'_>, sums: &mut GradientSums) -> Result<f64, Position> {
        self.run(model, None, Some(sums))
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

/// A state given its parent and all cells below: `z = G z_parent + S η + noise of covariance S`, owned or in borrowed memory.
pub(super) struct Conditioned<V> {
    pub(super) gain: V,
    pub(super) covariance: V,
    /// Tᵀη.
    pub(super) projected: V,
    /// J = ΛT, symmetric.
    pub(super) passed_precision: V,
}

/// Conditions a step on the message from below; returns its share of the log evidence, or `None` if numbers overflow.
#[inline(always)]
pub(super) fn condition<A: Arithmetic, S: Shape>(
    shape: S,
    step: StepView<'_>,
    message: Message<'_>,
    out: Conditioned<&mut [f64]>,
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
struct Up<'a, const KEEP: bool> {
    model: StateSpace<'a>,
    memory: &'a mut InformationSweep,
    with_gradient: bool,
}

impl<const KEEP: bool> Job for Up<'_, KEEP> {
    type Output = Result<f64, Position>;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> Self::Output {
        let Self { model, memory, with_gradient } = self;
        let (size, n) = (shape.size(), model.tree.len());
        let square = size * size;
        let conditionals = if KEEP { n } else { 1 };
        memory.precisions.clear();
        memory.precisions.resize(n * square, 0.0);
        memory.vectors.clear();
        memory.vectors.resize(n * size, 0.0);
        memory.gains.resize(conditionals * square, 0.0);
        memory.covariances.resize(conditionals * square, 0.0);
        memory.projected.resize(conditionals * size, 0.0);
        memory.passed_precision.resize(if with_gradient { n } else { 1 } * square, 0.0);
        let mut scratch = Scratch::new(shape);
        let mut log_evidence = 0.0;
        for position in (0..n).rev() {
            let (before, here) = memory.precisions.split_at_mut(position * square);
            let (vectors_before, vector) = memory.vectors.split_at_mut(position * size);
            let (precision, vector) = (&mut here[..square], &mut vector[..size]);
            let target = (&mut *precision, &mut *vector);
            log_evidence -= memory.cells.add_to(model.cells, model.readout, position, size, target);
            let at = if KEEP { position } else { 0 };
            let passed_at = if with_gradient { position } else { 0 };
            let projected = &mut memory.projected[at * size..][..size];
            let passed_precision = &mut memory.passed_precision[passed_at * square..][..square];
            let step = model.steps.step(model.edges.step_of(position));
            let out = Conditioned {
                gain: &mut memory.gains[at * square..][..square],
                covariance: &mut memory.covariances[at * square..][..square],
                projected: &mut *projected,
                passed_precision: &mut *passed_precision,
            };
            let message = Message { precision, vector };
            let share = condition::<A, S>(shape, step, message, out, &mut scratch);
            log_evidence += share.ok_or(Position::new(position))?;
            if let Some(parent) = model.tree.parent(Position::new(position)) {
                let parent = parent.get();
                scratch.first.copy_from_slice(passed_precision);
                conjugate_transposed::<A, S>(shape, step.transition, &mut scratch.first, &mut scratch.rows);
                let target = &mut before[parent * square..][..square];
                target.iter_mut().zip(&scratch.first).for_each(|(sum, share)| *sum += share);
                let rows = &mut scratch.rows;
                transition_transposed_times_vector::<A, S>(shape, step.transition, projected, rows);
                let target = &mut vectors_before[parent * size..][..size];
                target.iter_mut().zip(&scratch.rows).for_each(|(sum, share)| *sum += share);
            }
        }
        Ok(log_evidence)
    }
}

/// The downward pass.
struct Down<'a, 'b> {
    model: StateSpace<'a>,
    memory: &'a mut InformationSweep,
    predictions: Option<&'a mut Predictions<'b>>,
    sums: Option<&'a mut GradientSums>,
}

impl Job for Down<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        let Self { model, memory, mut predictions, mut sums } = self;
        let (size, n) = (shape.size(), model.tree.len());
        let square = size * size;
        memory.means.resize(n * size, 0.0);
        let mut scratch = Scratch::new(shape);
        let zero = (vec![0.0; size], vec![0.0; square]);
        for position in 0..n {
            let parent = model.tree.parent(Position::new(position)).map(Position::get);
            let (means_before, mean) = memory.means.split_at_mut(position * size);
            let (covariances_before, covariance) = memory.covariances.split_at_mut(position * square);
            let (mean, covariance) = (&mut mean[..size], &mut covariance[..square]);
            let above = match parent {
                Some(at) => PackedGaussian {
                    mean: &means_before[at * size..][..size],
                    covariance: &covariances_before[at * square..][..square],
                },
                None => PackedGaussian { mean: &zero.0, covariance: &zero.1 },
            };
            let gain = &memory.gains[position * square..][..square];
            let message = Message {
                precision: &memory.precisions[position * square..][..square],
                vector: &memory.vectors[position * size..][..size],
            };
            if let (Some(sums), Some(_)) = (&mut sums, parent) {
                let projected = &memory.projected[position * size..][..size];
                let passed_precision = &memory.passed_precision[position * square..][..square];
                let derivatives = model.steps.derivatives(model.edges.step_of(position));
                let conditional = (gain, projected, passed_precision);
                let states = (message, above);
                add_step_gradient::<A, S>(shape, derivatives, conditional, states, sums, &mut scratch);
                sums.end_edge(position);
            }
            descend::<A>(size, gain, message.vector, above, (mean, covariance), &mut scratch.first);
            let values = Values { mean, covariance, stride: size };
            if let Some(sums) = &mut sums {
                sums.add_cells_from_values::<A>(model.cells, model.readout, position, values);
            }
            if let Some(predictions) = &mut predictions {
                if model.readout.is_sparse() {
                    predictions.set_from_touched_values(model.readout, position, values);
                } else {
                    let n_values = model.readout.n_values();
                    predictions.set_from_values::<A>(model.readout, n_values, position, values);
                }
            }
        }
    }
}

/// `m = G m_parent + S η`, `P = G P_parent Gᵀ + S`; `gaussian.1` is S on entry and P on return.
#[inline(always)]
pub(super) fn descend<A: Arithmetic>(
    size: usize,
    gain: &[f64],
    vector: &[f64],
    above: PackedGaussian<'_>,
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
    derivatives: StepView<'_>,
    (gain, projected, passed_precision): (&[f64], &[f64], &[f64]),
    (message, above): (Message<'_>, PackedGaussian<'_>),
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
    sums.add_transition_step(shape, derivatives, (residual, above.mean), second);
    // N, by its upper triangle; it overwrites ΛG P_parent row by row, as each row needs only its own.
    for i in 0..size {
        for j in i..size {
            let product = dot::<A>(&second[i * size..][..size], &first[j * size..][..size]);
            row[j] = passed_precision[i * size + j] - product;
        }
        second[i * size + i..(i + 1) * size].copy_from_slice(&row[i..size]);
    }
    copy_upper_to_lower(size, second);
    sums.add_noise_step::<A, S>(shape, derivatives, residual, second);
}
