//! The marginals of all states after a sweep, and the states that follow from them: at new inputs, and given the parent.

use super::gaussian::{Gaussian, GaussianView, Message, PackedGaussian};
use super::information::{Conditioned, InformationSweep, Scratch, condition, descend};
use super::square_root::{Conditional, InformationRows, SquareRootModel, SquareRootSweep, StepAt};
use super::state_space::{Prepared, StateSpace};
use super::steps::{StepTable, StepView};
use crate::graph::FactorGraph;
use crate::index::Position;
use crate::linalg::{
    Dynamic, Layout, Separate, Shape, cholesky, conjugate_transposed, dot, noise_factor, times_transition,
    transition_transposed_times_vector,
};
use crate::structure::AttachedTo;

/// The marginals and messages of all states, in the form they were computed in.
#[derive(Debug)]
pub(crate) struct States {
    prepared: Prepared,
    form: StatesForm,
}

#[derive(Debug)]
pub(super) enum StatesForm {
    Information(InformationSweep),
    SquareRoot(SquareRootSweep),
}

impl States {
    pub(super) fn new(prepared: Prepared, mut form: StatesForm) -> Self {
        match &mut form {
            StatesForm::Information(sweep) => sweep.forget_conditionals(),
            StatesForm::SquareRoot(sweep) => sweep.forget_conditionals(),
        }
        Self { prepared, form }
    }

    fn layout(&self) -> &Layout {
        &self.prepared.layout
    }

    /// Mean and variance of every output at a state.
    pub(crate) fn output_marginals(&self, state: GaussianView<'_>) -> Vec<(f64, f64)> {
        let readout = &self.prepared.readout;
        (0..readout.n_outputs()).map(|output| readout.output_marginal(output, state)).collect()
    }

    /// The covariance of all outputs at a state, D×D.
    pub(crate) fn output_covariance(&self, state: GaussianView<'_>) -> Vec<f64> {
        self.prepared.readout.output_covariance(state)
    }

    /// The value of an output at a state.
    pub(crate) fn read(&self, output: usize, state: &[f64]) -> f64 {
        self.prepared.readout.read(output, state)
    }

    /// The padded size of a state.
    pub(crate) fn size(&self) -> usize {
        self.layout().dynamic().size()
    }

    /// The marginal at a position.
    pub(crate) fn at(&self, position: Position) -> GaussianView<'_> {
        match &self.form {
            StatesForm::Information(sweep) => sweep.state(self.size(), position),
            StatesForm::SquareRoot(sweep) => sweep.state(position).gaussian(),
        }
    }

    /// The state at a position given its parent's and all cells.
    pub(crate) fn given_parent(&self, graph: &FactorGraph<'_>, position: Position) -> Conditional {
        let model = self.prepared.state_space(graph);
        match &self.form {
            StatesForm::Information(sweep) => given_parent(sweep, model, position),
            StatesForm::SquareRoot(sweep) => sweep.given_parent(model, position),
        }
    }

    /// The marginal at a new input, or the prior if it has no place; `None` if numbers overflow.
    pub(crate) fn at_new_input(
        &self,
        graph: &FactorGraph<'_>,
        place: Option<AttachedTo>,
    ) -> Option<Gaussian> {
        match &self.form {
            StatesForm::Information(sweep) => self.by_information(sweep, graph, place),
            StatesForm::SquareRoot(sweep) => Some(by_square_root(sweep, graph, place)),
        }
    }

    fn by_information(
        &self,
        sweep: &InformationSweep,
        graph: &FactorGraph<'_>,
        place: Option<AttachedTo>,
    ) -> Option<Gaussian> {
        let shape = self.layout().dynamic();
        let steps = |lengths: &[f64]| StepTable::for_lengths(lengths, graph.model(), self.layout());
        let Some(place) = place else {
            // The step into a root forgets the state before it.
            return new_state(sweep, shape, steps(&[]).step(0), self.at(Position::new(0)), None);
        };
        match place {
            AttachedTo::BeforeFirst(tie) => {
                let steps = steps(&[tie.distance]);
                let (transition, noise) = steps.step(1).backward_in_time(shape);
                let step = StepView { transition: &transition, noise: &noise };
                new_state(sweep, shape, step, self.at(tie.point), None)
            }
            AttachedTo::Between { left, right } => {
                let steps = steps(&[left.distance, right.distance]);
                let next = (right.point, steps.step(2));
                new_state(sweep, shape, steps.step(1), self.at(left.point), Some(next))
            }
            AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
                new_state(sweep, shape, steps(&[tie.distance]).step(1), self.at(tie.point), None)
            }
        }
    }

    /// Whether variances are differences, which rounding can make negative, rather than sums of squares.
    pub(crate) fn can_be_negative(&self) -> bool {
        matches!(self.form, StatesForm::Information(_))
    }

    /// A state latent by latent, without padding.
    pub(crate) fn unpadded(&self, state: &[f64]) -> Vec<f64> {
        self.places().map(|place| state[place]).collect()
    }

    /// A matrix over the state latent by latent, without padding.
    pub(crate) fn unpadded_matrix(&self, matrix: &[f64]) -> Vec<f64> {
        let size = self.size();
        self.places().flat_map(|i| self.places().map(move |j| matrix[i * size + j])).collect()
    }

    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.layout().n_slots()).flat_map(|latent| self.layout().places(latent))
    }
}

fn by_square_root(sweep: &SquareRootSweep, graph: &FactorGraph<'_>, place: Option<AttachedTo>) -> Gaussian {
    let mut model = SquareRootModel::new(graph.model());
    let state = match place {
        None => {
            let mut state = Conditional::zero(model.size());
            model.set_steps(&[]);
            model.extend(&mut state, StepAt::Root, InformationRows::default().view());
            state
        }
        Some(AttachedTo::BeforeFirst(tie)) => {
            let mut state = sweep.state(tie.point).clone();
            model.insert_before(&mut state, tie.distance);
            state
        }
        Some(AttachedTo::Between { left, right }) => {
            // The marginal on the left knows the cells on the right already: only the conditional absorbs them.
            let mut given_left = Conditional::identity(model.size());
            let rows = sweep.message(right.point).view();
            model.insert(&mut given_left, left.distance, Some((rows, right.distance)));
            let mut state = sweep.state(left.point).clone();
            model.algebra().advance(&mut state, &given_left);
            state
        }
        Some(AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie)) => {
            let mut state = sweep.state(tie.point).clone();
            model.insert(&mut state, tie.distance, None);
            state
        }
    };
    let parts = state.parts();
    Gaussian::from_factor(parts.shift.to_vec(), parts.factor.to_vec())
}

/// The marginal of a new state that follows `above` by a step and precedes a position by another; `None` if numbers overflow.
fn new_state(
    sweep: &InformationSweep,
    shape: Dynamic,
    step: StepView<'_>,
    above: GaussianView<'_>,
    next: Option<(Position, StepView<'_>)>,
) -> Option<Gaussian> {
    let size = shape.size();
    let (precision, vector) = match next {
        Some((position, step)) => {
            Conditioned::new(shape, step, sweep.message(size, position))?.into_message(shape, step.transition)
        }
        None => (vec![0.0; size * size], vec![0.0; size]),
    };
    let message = Message { precision: &precision, vector: &vector };
    let Conditioned { gain, mut covariance, .. } = Conditioned::new(shape, step, message)?;
    let above = PackedGaussian { mean: above.mean, covariance: &above.full_covariance() };
    let (mut mean, mut scratch) = (vec![0.0; size], vec![0.0; size * size]);
    descend::<Separate>(size, &gain, &vector, above, (&mut mean, &mut covariance), &mut scratch);
    Some(Gaussian::new(mean, covariance))
}

/// A state given its parent and all cells, `z = G z_parent + Sη + X ε`. With Q = L Lᵀ and `I + LᵀΛL = F Fᵀ`, `X = L F⁻ᵀ`.
fn given_parent(sweep: &InformationSweep, model: StateSpace<'_>, position: Position) -> Conditional {
    let shape = model.layout.dynamic();
    let size = shape.size();
    let step = model.steps.step(model.edges.step_of(position.get()));
    let message = sweep.message(size, position);
    let mut conditioned = Conditioned::zero(size);
    // The upward pass took this step without overflow.
    condition::<Separate, _>(shape, step, message, conditioned.borrow(), &mut Scratch::new(shape));
    let Conditioned { gain, covariance, .. } = conditioned;
    let shift: Vec<f64> =
        covariance.chunks_exact(size).map(|row| dot::<Separate>(row, message.vector)).collect();
    let mut noise = vec![0.0; step.transition.len()];
    noise_factor(shape, step.noise, &mut noise);
    let mut inner = message.precision.to_vec();
    let mut rows = vec![0.0; shape.n_parts() * size];
    conjugate_transposed::<Separate, _>(shape, &noise, &mut inner, &mut rows);
    let mut identity = vec![0.0; size * size];
    for i in 0..size {
        inner[i * size + i] += 1.0;
        identity[i * size + i] = 1.0;
    }
    let inner = cholesky(size, &inner, 0.0);
    let mut factor = vec![0.0; size * size];
    times_transition::<Separate, _>(shape, &noise, &identity, &mut factor);
    for row in factor.chunks_exact_mut(size) {
        for j in 0..size {
            let known = dot::<Separate>(&row[..j], &inner[j * size..j * size + j]);
            row[j] = (row[j] - known) / inner[j * size + j];
        }
    }
    Conditional::new(&gain, &shift, &factor)
}

impl Conditioned<Vec<f64>> {
    fn zero(size: usize) -> Self {
        let square = || vec![0.0; size * size];
        Self { gain: square(), covariance: square(), projected: vec![0.0; size], passed_precision: square() }
    }

    fn borrow(&mut self) -> Conditioned<&mut [f64]> {
        let Self { gain, covariance, projected, passed_precision } = self;
        Conditioned { gain, covariance, projected, passed_precision }
    }

    /// A step conditioned on a message; `None` if numbers overflow.
    fn new(shape: Dynamic, step: StepView<'_>, message: Message<'_>) -> Option<Self> {
        let mut conditioned = Self::zero(shape.size());
        condition::<Separate, _>(shape, step, message, conditioned.borrow(), &mut Scratch::new(shape))?;
        Some(conditioned)
    }

    /// The message (Λ, η) to the parent.
    fn into_message(mut self, shape: Dynamic, transition: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rows = vec![0.0; shape.n_parts() * shape.size()];
        conjugate_transposed::<Separate, _>(shape, transition, &mut self.passed_precision, &mut rows);
        let mut vector = vec![0.0; shape.size()];
        transition_transposed_times_vector::<Separate, _>(shape, transition, &self.projected, &mut vector);
        (self.passed_precision, vector)
    }
}
