//! The steps along all edges, and their derivatives in length-scales and shapes, in the layout of the state.

use super::step_lanes::{FillAll, Law, Rates, StepRows};
use crate::kernel::{Dynamics, Step, VisitDynamics};
use crate::linalg::{Arithmetic, Job, Layout, Shape, StateAlgebra, dispatch_machine};
use crate::model::Lmc;
use crate::threads::*;

/// Transition and process noise of each step, as slices of one number per slot.
///
/// Step 0 is the step into the root: `A = 0` and `Q = P₀`, so that no sweep treats the root apart.
#[derive(Clone, Debug, Default)]
pub(super) struct StepTable {
    /// K·K slices per step.
    transitions: Vec<f64>,
    /// K(K+1)/2 slices per step.
    noises: Vec<f64>,
    /// Their derivatives, if wanted: in the logarithm of each slot's length-scale and then, if any latent has one, of its shape.
    transition_derivatives: Vec<f64>,
    noise_derivatives: Vec<f64>,
    n_derivatives: usize,
    /// The layout of the numbers.
    layout: Option<Layout>,
    transition_len: usize,
    noise_len: usize,
}

/// A step, or its derivatives: in length-scales, then in shapes.
#[derive(Clone, Copy)]
pub(super) struct StepView<'a> {
    pub(super) transition: &'a [f64],
    pub(super) noise: &'a [f64],
}

impl StepView<'_> {
    /// The same step backward in time: odd derivatives change their sign.
    pub(super) fn backward_in_time<S: Shape>(self, shape: S) -> (Vec<f64>, Vec<f64>) {
        let (parts, width) = (shape.n_parts(), shape.width());
        let (mut transition, mut noise) = (self.transition.to_vec(), self.noise.to_vec());
        for c in 0..parts {
            for d in (0..parts).filter(|d| (c + d) % 2 == 1) {
                transition[(c * parts + d) * width..][..width].iter_mut().for_each(|entry| *entry = -*entry);
                if d < c {
                    noise[(c * (c + 1) / 2 + d) * width..][..width]
                        .iter_mut()
                        .for_each(|entry| *entry = -*entry);
                }
            }
        }
        (transition, noise)
    }
}

impl StepTable {
    /// Computes the steps of these lengths for the latents of a model, the first one as the root's; more than `at_once` on several threads.
    pub(super) fn set<const DERIVATIVES: bool>(
        &mut self,
        lengths: &[f64],
        model: &Lmc,
        layout: &Layout,
        at_once: usize,
    ) {
        let shape = layout.dynamic();
        let (width, parts) = (shape.width(), shape.n_parts());
        self.transition_len = parts * parts * width;
        self.noise_len = parts * (parts + 1) / 2 * width;
        let (transitions, noises) = (lengths.len() * self.transition_len, lengths.len() * self.noise_len);
        // Padding stays zero: slots without a latent, and components beyond a latent's own. Another layout starts from zeros.
        let n_derivatives = n_derivatives(model);
        let is_as_before = self.layout.as_ref() == Some(layout) && self.n_derivatives == n_derivatives;
        if !is_as_before {
            self.layout = Some(layout.clone());
            self.n_derivatives = n_derivatives;
        }
        let kept = if DERIVATIVES { n_derivatives } else { 0 };
        for (buffer, len) in [
            (&mut self.transitions, transitions),
            (&mut self.noises, noises),
            (&mut self.transition_derivatives, kept * transitions),
            (&mut self.noise_derivatives, kept * noises),
        ] {
            if buffer.len() != len || !is_as_before {
                buffer.clear();
            }
            buffer.resize(len, 0.0);
        }
        self.fill_root(model, layout);
        let law = Law::shared_by(model).map(|law| (law, Rates::new(law, model, layout)));
        let fill = |(rows, lengths): (StepRows<'_>, &[f64])| match &law {
            // Latents with the same kernel are computed together.
            Some((law, rates)) => {
                dispatch_machine(layout, FillAll::<DERIVATIVES> { law: *law, rates, rows, lengths });
            }
            None => fill_by_latent::<DERIVATIVES>(rows, lengths, model, layout),
        };
        let lengths = lengths.get(1..).unwrap_or_default();
        let mut parts = self.rows::<DERIVATIVES>(at_once).into_iter().zip(lengths.chunks(at_once));
        if lengths.len() <= at_once {
            parts.for_each(fill);
        } else {
            parts.by_ref().collect::<Vec<_>>().into_par_iter().for_each(fill);
        }
    }

    /// Writes the step into the root.
    fn fill_root(&mut self, model: &Lmc, layout: &Layout) {
        let shape = layout.dynamic();
        for (latent, process) in model.latents().iter().enumerate() {
            let place = Place { slot: layout.slot_of(latent), width: shape.width(), parts: shape.n_parts() };
            let (transitions, noises) = (&mut self.transitions[..], &mut self.noises[..]);
            let visited = process.visit_dynamics(FillRoot { place, transitions, noises });
            // The state of a latent was checked at construction.
            debug_assert!(visited.is_ok());
        }
    }

    /// All steps but the root's, in chunks of `at_once`.
    fn rows<const DERIVATIVES: bool>(&mut self, at_once: usize) -> Vec<StepRows<'_>> {
        let Self { transition_len, noise_len, n_derivatives, .. } = *self;
        let n_steps = (self.transitions.len() / transition_len.max(1)).saturating_sub(1);
        let mut transitions = &mut self.transitions[transition_len..];
        let mut noises = &mut self.noises[noise_len..];
        let derivatives = if DERIVATIVES { n_derivatives } else { 0 };
        let mut transition_derivatives = &mut self.transition_derivatives[derivatives * transition_len..];
        let mut noise_derivatives = &mut self.noise_derivatives[derivatives * noise_len..];
        let mut rows = vec![];
        for first in (0..n_steps).step_by(at_once) {
            let count = at_once.min(n_steps - first);
            rows.push(StepRows {
                transitions: first_of(&mut transitions, count * transition_len),
                noises: first_of(&mut noises, count * noise_len),
                transition_derivatives: first_of(
                    &mut transition_derivatives,
                    count * derivatives * transition_len,
                ),
                noise_derivatives: first_of(&mut noise_derivatives, count * derivatives * noise_len),
                n_derivatives,
            });
        }
        rows
    }

    /// The root's step, then one step of each of these lengths.
    pub(super) fn for_lengths(lengths: &[f64], model: &Lmc, layout: &Layout) -> Self {
        let mut table = Self::default();
        table.set_lengths(lengths, model, layout);
        table
    }

    /// The same in the memory of this table.
    pub(super) fn set_lengths(&mut self, lengths: &[f64], model: &Lmc, layout: &Layout) {
        let with_root: Vec<f64> = std::iter::once(0.0).chain(lengths.iter().copied()).collect();
        self.set::<false>(&with_root, model, layout, usize::MAX);
    }

    /// A step.
    #[inline(always)]
    pub(super) fn step(&self, step: usize) -> StepView<'_> {
        StepView {
            transition: &self.transitions[step * self.transition_len..][..self.transition_len],
            noise: &self.noises[step * self.noise_len..][..self.noise_len],
        }
    }

    /// A step, for code compiled for the shape of the state.
    #[inline(always)]
    pub(super) fn step_of_shape<S: Shape>(&self, shape: S, step: usize) -> StepView<'_> {
        let (width, parts) = (shape.width(), shape.n_parts());
        let (transition_len, noise_len) = (parts * parts * width, parts * (parts + 1) / 2 * width);
        StepView {
            transition: &self.transitions[step * transition_len..][..transition_len],
            noise: &self.noises[step * noise_len..][..noise_len],
        }
    }

    /// How many derivatives of a step there are for each slot.
    pub(super) fn n_derivatives(&self) -> usize {
        self.n_derivatives
    }

    /// The derivatives of a step, after [`StepTable::set`] with derivatives.
    #[inline(always)]
    pub(super) fn derivatives(&self, step: usize) -> StepView<'_> {
        let (transition_len, noise_len) =
            (self.n_derivatives * self.transition_len, self.n_derivatives * self.noise_len);
        StepView {
            transition: &self.transition_derivatives[step * transition_len..][..transition_len],
            noise: &self.noise_derivatives[step * noise_len..][..noise_len],
        }
    }
}

/// How many parameters of a latent have derivatives: its length-scale and, if any latent has one, its shape.
fn n_derivatives(model: &Lmc) -> usize {
    if model.latents().iter().any(|latent| latent.shape().is_some()) { 2 } else { 1 }
}

/// Takes this many numbers from the front.
fn first_of<'a>(left: &mut &'a mut [f64], count: usize) -> &'a mut [f64] {
    let (first, rest) = std::mem::take(left).split_at_mut(count);
    *left = rest;
    first
}

/// The steps of one latent after the other, by its kernel.
fn fill_by_latent<const DERIVATIVES: bool>(
    mut rows: StepRows<'_>,
    lengths: &[f64],
    model: &Lmc,
    layout: &Layout,
) {
    let shape = layout.dynamic();
    for (latent, process) in model.latents().iter().enumerate() {
        let place = Place { slot: layout.slot_of(latent), width: shape.width(), parts: shape.n_parts() };
        let visited = process.visit_dynamics(Fill::<DERIVATIVES> { rows: &mut rows, lengths, place, layout });
        debug_assert!(visited.is_ok());
    }
}

/// Writes one latent's entries of the root's step.
struct FillRoot<'a> {
    place: Place,
    transitions: &'a mut [f64],
    noises: &'a mut [f64],
}

impl VisitDynamics for FillRoot<'_> {
    type Output = ();

    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) {
        let root = Step { transition: [[0.0; K]; K], noise: dynamics.root_covariance() };
        self.place.write(self.transitions, self.noises, 0, &root);
    }
}

/// Writes one latent's steps.
struct Fill<'a, 'b, const DERIVATIVES: bool> {
    rows: &'a mut StepRows<'b>,
    lengths: &'a [f64],
    place: Place,
    layout: &'a Layout,
}

impl<const DERIVATIVES: bool> VisitDynamics for Fill<'_, '_, DERIVATIVES> {
    type Output = ();

    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) {
        let layout = self.layout;
        dispatch_machine(layout, FillWith::<_, K, DERIVATIVES> { fill: self, dynamics });
    }
}

/// The same for known dynamics, compiled for the machine's instruction set.
struct FillWith<'a, 'b, D, const K: usize, const DERIVATIVES: bool> {
    fill: Fill<'a, 'b, DERIVATIVES>,
    dynamics: D,
}

impl<D: Dynamics<K>, const K: usize, const DERIVATIVES: bool> Job for FillWith<'_, '_, D, K, DERIVATIVES> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) {
        let Fill { rows, lengths, place, .. } = self.fill;
        for (at, &length) in lengths.iter().enumerate() {
            let step = self.dynamics.step(length);
            place.write(rows.transitions, rows.noises, at, &step);
            if DERIVATIVES {
                let (first, n_derivatives) = (at * rows.n_derivatives, rows.n_derivatives);
                let derivative = self.dynamics.length_scale_derivative(length);
                place.write(rows.transition_derivatives, rows.noise_derivatives, first, &derivative);
                if n_derivatives > 1 {
                    let derivative = self.dynamics.shape_derivative(length);
                    place.write(rows.transition_derivatives, rows.noise_derivatives, first + 1, &derivative);
                }
            }
        }
    }
}

/// The place of a slot in a step.
#[derive(Clone, Copy)]
struct Place {
    slot: usize,
    width: usize,
    parts: usize,
}

impl Place {
    #[inline(always)]
    fn write<const K: usize>(self, transitions: &mut [f64], noises: &mut [f64], at: usize, step: &Step<K>) {
        let Self { slot, width, parts } = self;
        let (transition_len, noise_len) = (parts * parts * width, parts * (parts + 1) / 2 * width);
        let transition = &mut transitions[at * transition_len..][..transition_len];
        let noise = &mut noises[at * noise_len..][..noise_len];
        for c in 0..K {
            for d in 0..K {
                transition[(c * parts + d) * width + slot] = step.transition[c][d];
            }
            for d in 0..=c {
                noise[(c * (c + 1) / 2 + d) * width + slot] = step.noise[c][d];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, StateKind};
    use crate::model::{Latent, MixingMatrix};
    use crate::units::{LengthScale, Variance};

    /// The largest relative difference, relative to at least 1e-290.
    fn difference(actual: &[f64], expected: &[f64]) -> f64 {
        assert_eq!(actual.len(), expected.len());
        let one = |(a, b): (&f64, &f64)| (a - b).abs() / b.abs().max(1e-290);
        actual.iter().zip(expected).map(one).fold(0.0, f64::max)
    }

    #[test]
    fn steps_in_lanes_equal_those_of_each_kernel() {
        let mut lengths = vec![0.0, 0.0];
        lengths.extend((0..3001).map(|at| 10.0_f64.powf(f64::from(at) * 0.006 - 14.0)));
        let kinds = [
            (Kernel::Matern12, StateKind::Derivative),
            (Kernel::Matern12, StateKind::Value),
            (Kernel::Matern32, StateKind::Derivative),
            (Kernel::Matern32, StateKind::Value),
        ];
        for (kernel, kind) in kinds {
            for n_latents in [1, 2, 3, 4, 7] {
                let scales = (0..n_latents).map(|at| LengthScale::new(0.3 + f64::from(at)).unwrap());
                let latents: Vec<Latent> =
                    scales.map(|scale| Latent::new(kernel, kind, scale).unwrap()).collect();
                let layout = Layout::new(&latents.iter().map(Latent::state_dim).collect::<Vec<_>>());
                let n = latents.len();
                let mixing = MixingMatrix::shared(1, n, vec![1.0; n]).unwrap();
                let model = Lmc::new(latents, mixing, vec![Variance::new(1.0).unwrap()]).unwrap();
                assert!(Law::shared_by(&model).is_some());
                let (mut lanes, mut plain) = (StepTable::default(), StepTable::default());
                lanes.set::<true>(&lengths, &model, &layout, 100);
                plain.set::<true>(&lengths, &model, &layout, usize::MAX);
                assert_eq!(lanes.noise_derivatives, plain.noise_derivatives, "whatever is done at once");
                for rows in plain.rows::<true>(usize::MAX) {
                    fill_by_latent::<true>(rows, &lengths[1..], &model, &layout);
                }
                // The exponential is accurate to an ulp, a difference near the switch to about fifty; 1 − u passes through 0.
                let named = format!("{kernel:?} {kind:?} {n_latents}");
                assert!(difference(&lanes.noises, &plain.noises) < 3e-14, "{named}: noises");
                let largest =
                    |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(largest(&lanes.transitions, &plain.transitions) < 1e-15, "{named}: transitions");
                let derivatives = (&lanes.transition_derivatives, &plain.transition_derivatives);
                assert!(largest(derivatives.0, derivatives.1) < 3e-15, "{named}: derivatives of transitions");
                let derivatives = (&lanes.noise_derivatives, &plain.noise_derivatives);
                assert!(largest(derivatives.0, derivatives.1) < 3e-15, "{named}: derivatives of noises");
            }
        }
    }
}
