//! The posterior of every state, kept whole: for states, covariances, samples and new inputs.

use super::information::{self, Conditional, GaussianView, Message, Messages, Scratch};
use super::readout::Readout;
use super::square_root::{self, Factors, SquareRootConditional};
use super::steps::{StepTable, StepView};
use crate::graph::FactorGraph;
use crate::index::{OutputIndex, Position};
use crate::linalg::{
    Dynamic, Layout, Separate, Shape, cholesky, conjugate_transposed, dot, noise_factor, times_transition,
    transition_transposed_times_vector, vector_times_matrix,
};

/// Messages from below and states of every position, in the form they were computed in.
#[derive(Debug)]
pub(crate) struct States {
    pub(super) layout: Layout,
    pub(super) readout: Readout,
    pub(super) kind: Kind,
}

/// The form of messages and states.
#[derive(Debug)]
pub(super) enum Kind {
    Information(Messages),
    SquareRoot(Factors),
}

/// The gaussian of one state, padded as its layout says.
pub(crate) struct StateGaussian {
    mean: Vec<f64>,
    covariance_factor: Spread,
}

/// The covariance of a state, or a factor Z with P = Z Zᵀ.
enum Spread {
    Covariance(Vec<f64>),
    Root(Vec<f64>),
}

/// How a state follows from its parent's: `z = gain·z_parent + shift + covariance_factor·(standard normals)`.
#[derive(Debug)]
pub(crate) struct Transition {
    pub(crate) gain: Vec<f64>,
    pub(crate) shift: Vec<f64>,
    pub(crate) covariance_factor: Vec<f64>,
}

/// The transitions of steps that are not edges of the structure.
pub(crate) struct NewSteps(StepTable);

impl NewSteps {
    /// Steps of these lengths under the model of a graph.
    pub(crate) fn new(graph: &FactorGraph<'_>, states: &States, lengths: &[f64]) -> Self {
        Self(StepTable::for_lengths(lengths, graph.model(), &states.layout))
    }

    fn step(&self, step: usize) -> StepView<'_> {
        // Step 0 of a table is the root's.
        self.0.step(step + 1)
    }
}

impl States {
    fn shape(&self) -> Dynamic {
        self.layout.dynamic()
    }

    /// The padded size of a state.
    pub(crate) fn size(&self) -> usize {
        self.shape().size()
    }

    /// The gaussian at a position.
    pub(crate) fn at(&self, position: Position) -> StateGaussian {
        let size = self.size();
        let vector = |all: &[f64]| all[position.get() * size..][..size].to_vec();
        let matrix = |all: &[f64]| all[position.get() * size * size..][..size * size].to_vec();
        match &self.kind {
            Kind::Information(messages) => StateGaussian {
                mean: vector(&messages.means),
                covariance_factor: Spread::Covariance(matrix(&messages.covariances)),
            },
            Kind::SquareRoot(factors) => StateGaussian {
                mean: vector(&factors.means),
                covariance_factor: Spread::Root(matrix(&factors.covariance_factors)),
            },
        }
    }

    /// How the state at a position follows from its parent's, given everything observed.
    pub(crate) fn transition_into(&self, graph: &FactorGraph<'_>, position: Position) -> Transition {
        let steps = StepTable::for_lengths(&[graph.tree().step_into(position)], graph.model(), &self.layout);
        // The root's step comes first in every table.
        let step = steps.step(usize::from(position.get() > 0));
        match &self.kind {
            Kind::Information(messages) => {
                let message = message_at(messages, self.size(), position);
                // The upward pass went over this very step without overflow.
                let (conditioned, _share) = Step::with_share(self.shape(), step, message);
                conditioned.into_transition(self.shape(), step, message)
            }
            Kind::SquareRoot(factors) => {
                let conditional = square_root_at(factors, self.shape(), step, position);
                let SquareRootConditional { gain, covariance_factor, offset, .. } = conditional;
                let shift = covariance_factor
                    .chunks_exact(self.size())
                    .map(|row| dot::<Separate>(row, &offset))
                    .collect();
                Transition { gain, shift, covariance_factor }
            }
        }
    }

    /// The gaussian of a new state that hangs below `parent` by a step, and above `child` by another if there is one; `None` when
    /// numbers overflow on a step so long.
    pub(crate) fn attached(
        &self,
        steps: &NewSteps,
        (parent, step): (Position, usize),
        child: Option<(Position, usize)>,
    ) -> Option<StateGaussian> {
        self.attached_by(steps.step(step), steps, parent, child)
    }

    /// The gaussian of a new state that lies before the root by a step: the step taken backward in time, under which
    /// odd derivatives change their sign. `None` when numbers overflow.
    pub(crate) fn before_root(&self, steps: &NewSteps, step: usize) -> Option<StateGaussian> {
        let (transition, noise) = steps.step(step).backward_in_time(self.shape());
        let step = StepView { transition: &transition, noise: &noise };
        self.attached_by(step, steps, Position::new(0), None)
    }

    fn attached_by(
        &self,
        step: StepView<'_>,
        steps: &NewSteps,
        parent: Position,
        child: Option<(Position, usize)>,
    ) -> Option<StateGaussian> {
        let (shape, size) = (self.shape(), self.size());
        let mut mean = vec![0.0; size];
        Some(match (&self.kind, self.at(parent)) {
            (
                Kind::Information(messages),
                StateGaussian { mean: above, covariance_factor: Spread::Covariance(covariance) },
            ) => {
                let (precision, vector) = match child {
                    Some((child, below)) => {
                        let below = steps.step(below);
                        let message = message_at(messages, size, child);
                        Step::conditioned(shape, below, message)?.passed(shape, below.transition)
                    }
                    None => (vec![0.0; size * size], vec![0.0; size]),
                };
                let message = Message { precision: &precision, vector: &vector };
                let mut step = Step::conditioned(shape, step, message)?;
                let above = GaussianView { mean: &above, covariance: &covariance };
                let mut scratch = vec![0.0; size * size];
                let gaussian = (&mut mean[..], &mut step.covariance[..]);
                information::descend::<Separate>(size, &step.gain, &vector, above, gaussian, &mut scratch);
                StateGaussian { mean, covariance_factor: Spread::Covariance(step.covariance) }
            }
            (
                Kind::SquareRoot(factors),
                StateGaussian { mean: above, covariance_factor: Spread::Root(root) },
            ) => {
                let (rows, offset) = match child {
                    Some((child, below)) => {
                        let below = steps.step(below);
                        square_root_at(factors, shape, below, child).passed(shape, below.transition)
                    }
                    None => (vec![0.0; size * size], vec![0.0; size]),
                };
                let conditional = square_root::condition(shape, step, (&rows, &offset));
                let mut covariance_factor = vec![0.0; size * size];
                square_root::descend(
                    size,
                    &conditional,
                    (&above, &root),
                    (&mut mean, &mut covariance_factor),
                );
                StateGaussian { mean, covariance_factor: Spread::Root(covariance_factor) }
            }
            // A gaussian has the form of the states it is taken from.
            (_, other) => other,
        })
    }

    /// Whether variances are differences, which rounding can bring below zero, and not squares.
    pub(crate) fn can_be_below_zero(&self) -> bool {
        matches!(self.kind, Kind::Information(_))
    }

    /// The state latent by latent, without padding.
    pub(crate) fn unpadded(&self, state: &[f64]) -> Vec<f64> {
        self.places().map(|place| state[place]).collect()
    }

    /// A matrix over the state, latent by latent, without padding.
    pub(crate) fn unpadded_matrix(&self, matrix: &[f64]) -> Vec<f64> {
        let size = self.size();
        self.places().flat_map(|i| self.places().map(move |j| matrix[i * size + j])).collect()
    }

    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.layout.n_slots()).flat_map(|latent| self.layout.places(latent))
    }

    /// What an output reads from a state.
    pub(crate) fn read(&self, output: OutputIndex, state: &[f64]) -> f64 {
        let weights = self.readout.row(output.get()).weights;
        dot::<Separate>(weights, &state[..weights.len()])
    }

    /// The mean and variance of an output.
    pub(crate) fn read_output(&self, output: OutputIndex, gaussian: &StateGaussian) -> (f64, f64) {
        let size = self.size();
        match &gaussian.covariance_factor {
            Spread::Covariance(covariance) => {
                let values = super::gradient::Values { mean: &gaussian.mean, covariance, stride: size };
                self.readout.read_output(output.get(), values)
            }
            Spread::Root(root) => {
                let mut projected = vec![0.0; size];
                square_root::read_output(&self.readout, output.get(), (&gaussian.mean, root), &mut projected)
            }
        }
    }

    /// The covariance of all outputs, D×D.
    pub(crate) fn output_covariance(&self, gaussian: &StateGaussian) -> Vec<f64> {
        let (size, n_outputs) = (self.size(), self.readout.n_outputs());
        let mut projected = vec![0.0; n_outputs * size];
        let (Spread::Covariance(matrix) | Spread::Root(matrix)) = &gaussian.covariance_factor;
        for (output, row) in projected.chunks_exact_mut(size).enumerate() {
            let weights = self.readout.row(output).weights;
            vector_times_matrix::<Separate>(weights, &matrix[..weights.len() * size], row);
        }
        let entry = |d: usize, e: usize| {
            let row = &projected[d * size..][..size];
            match &gaussian.covariance_factor {
                Spread::Covariance(_) => self.read(OutputIndex::new(e), row),
                Spread::Root(_) => dot::<Separate>(row, &projected[e * size..][..size]),
            }
        };
        // One triangle serves both, so that the matrix is symmetric to the bit.
        (0..n_outputs * n_outputs)
            .map(|at| entry((at / n_outputs).min(at % n_outputs), (at / n_outputs).max(at % n_outputs)))
            .collect()
    }
}

impl StateGaussian {
    /// The mean, padded.
    pub(crate) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance, padded.
    pub(crate) fn covariance(&self) -> Vec<f64> {
        match &self.covariance_factor {
            Spread::Covariance(covariance) => covariance.clone(),
            Spread::Root(root) => {
                let size = self.mean.len();
                let row = |i: usize| &root[i * size..][..size];
                (0..size * size).map(|at| dot::<Separate>(row(at / size), row(at % size))).collect()
            }
        }
    }
}

fn message_at(messages: &Messages, size: usize, position: Position) -> Message<'_> {
    let at = position.get();
    Message {
        precision: &messages.precisions[at * size * size..][..size * size],
        vector: &messages.vectors[at * size..][..size],
    }
}

fn square_root_at(
    factors: &Factors,
    shape: Dynamic,
    step: StepView<'_>,
    position: Position,
) -> SquareRootConditional {
    let (at, size) = (position.get(), shape.size());
    let root = &factors.roots[at * size * size..][..size * size];
    square_root::condition(shape, step, (root, &factors.offsets[at * size..][..size]))
}

/// One step in canonical form, conditioned on what is below it.
struct Step {
    gain: Vec<f64>,
    covariance: Vec<f64>,
    projected: Vec<f64>,
    passed_precision: Vec<f64>,
}

impl Step {
    /// `None` when numbers overflow.
    fn conditioned(shape: Dynamic, step: StepView<'_>, message: Message<'_>) -> Option<Self> {
        let (conditioned, share) = Self::with_share(shape, step, message);
        share.map(|_| conditioned)
    }

    /// The same with its share of the log evidence; without one, the step is of no use.
    fn with_share(shape: Dynamic, step: StepView<'_>, message: Message<'_>) -> (Self, Option<f64>) {
        let size = shape.size();
        let square = || vec![0.0; size * size];
        let mut conditioned = Self {
            gain: square(),
            covariance: square(),
            projected: vec![0.0; size],
            passed_precision: square(),
        };
        let Self { gain, covariance, projected, passed_precision } = &mut conditioned;
        let out = Conditional { gain, covariance, projected, passed_precision };
        let share =
            information::condition::<Separate, _>(shape, step, message, out, &mut Scratch::new(shape));
        (conditioned, share)
    }

    /// The message this step passes on to its parent.
    fn passed(mut self, shape: Dynamic, transition: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rows = vec![0.0; shape.n_parts() * shape.size()];
        conjugate_transposed::<Separate, _>(shape, transition, &mut self.passed_precision, &mut rows);
        let mut vector = vec![0.0; shape.size()];
        transition_transposed_times_vector::<Separate, _>(shape, transition, &self.projected, &mut vector);
        (self.passed_precision, vector)
    }

    /// The step as a transition, with a factor of its covariance: with Q = L Lᵀ and `I + LᵀΛL = F Fᵀ`, `X = L F⁻ᵀ`.
    fn into_transition(self, shape: Dynamic, step: StepView<'_>, message: Message<'_>) -> Transition {
        let size = shape.size();
        let shift = (0..size)
            .map(|i| dot::<Separate>(&self.covariance[i * size..][..size], message.vector))
            .collect();
        let mut factor = vec![0.0; step.transition.len()];
        noise_factor(shape, step.noise, &mut factor);
        let mut inner = message.precision.to_vec();
        let mut rows = vec![0.0; shape.n_parts() * size];
        conjugate_transposed::<Separate, _>(shape, &factor, &mut inner, &mut rows);
        let mut identity = vec![0.0; size * size];
        for i in 0..size {
            inner[i * size + i] += 1.0;
            identity[i * size + i] = 1.0;
        }
        cholesky(size, &mut inner);
        let mut covariance_factor = vec![0.0; size * size];
        times_transition::<Separate, _>(shape, &factor, &identity, &mut covariance_factor);
        for row in covariance_factor.chunks_exact_mut(size) {
            for j in 0..size {
                let known = dot::<Separate>(&row[..j], &inner[j * size..j * size + j]);
                row[j] = (row[j] - known) / inner[j * size + j];
            }
        }
        Transition { gain: self.gain, shift, covariance_factor }
    }
}
