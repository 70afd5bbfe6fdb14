//! The steps of several models along the same edges, computed when they are needed.

use super::super::step_lanes::{
    Law, Matern12Steps, Matern32Steps, Matern32ValueSteps, Motion, StepLanes, VANISHED,
};
use crate::graph::FactorGraph;
use crate::kernel::{Dynamics, Step, VisitDynamics};
use crate::linalg::{Arithmetic, Layout, MODELS, PerModel, Unpadded};
use crate::model::Latent;

/// Up to this many different steps are kept; if there are more, only the last one.
const MOST_KEPT: usize = 64;

/// Steps, and their derivatives in the logarithms of the length-scales.
#[derive(Debug)]
pub(super) struct BatchSteps<'a> {
    shape: Unpadded,
    lengths: &'a [f64],
    slots: Vec<Slot>,
    /// The step in each place; `usize::MAX` for none.
    kept: Vec<usize>,
    numbers: Vec<PerModel>,
}

/// A latent of each model.
#[derive(Clone, Debug)]
struct Slot {
    slot: usize,
    /// The kernel, if it is written for lanes.
    law: Option<Law>,
    rates: PerModel,
    latents: [Latent; MODELS],
}

/// A step of all models; derivatives are arbitrary if they were not computed, else Q is.
#[derive(Clone, Copy)]
pub(super) struct BatchStep<'a> {
    pub(super) transition: &'a [PerModel],
    pub(super) noise: &'a [PerModel],
    pub(super) transition_derivative: &'a [PerModel],
    pub(super) noise_derivative: &'a [PerModel],
}

impl<'a> BatchSteps<'a> {
    /// The steps of these models, which have the same kernels.
    pub(super) fn new(graphs: [&'a FactorGraph<'_>; MODELS], layout: &Layout, shape: Unpadded) -> Self {
        let lengths = graphs[0].step_lengths().lengths();
        let slot = |latent: usize| {
            let latents = graphs.map(|graph| graph.model().latents()[latent]);
            let law = Law::of(&latents[0]);
            let rates =
                PerModel(latents.map(|latent| law.map_or(0.0, |law| law.rate(latent.length_scale()))));
            Slot { slot: layout.slot_of(latent), law, rates, latents }
        };
        let slots = (0..graphs[0].model().n_latents()).map(slot).collect();
        let places = if lengths.len() <= MOST_KEPT { lengths.len() } else { 1 };
        let len = 2 * (shape.transition_len() + shape.noise_len());
        let numbers = vec![PerModel::ZERO; places * len];
        Self { shape, lengths, slots, kept: vec![usize::MAX; places], numbers }
    }

    /// Forgets all steps, before a pass with or without derivatives.
    pub(super) fn forget(&mut self) {
        self.kept.fill(usize::MAX);
    }

    /// A step; with its derivatives if `DERIVATIVES`.
    #[inline(always)]
    pub(super) fn get<A: Arithmetic, const DERIVATIVES: bool>(&mut self, step: usize) -> BatchStep<'_> {
        let (transition_len, noise_len) = (self.shape.transition_len(), self.shape.noise_len());
        let len = 2 * (transition_len + noise_len);
        let place = if self.kept.len() == 1 { 0 } else { step };
        if self.kept[place] != step {
            self.kept[place] = step;
            let numbers = &mut self.numbers[place * len..][..len];
            let target = Target { shape: self.shape, numbers };
            compute::<A, DERIVATIVES>(&self.slots, step, self.lengths[step], target);
        }
        let numbers = &self.numbers[place * len..][..len];
        let (transition, rest) = numbers.split_at(transition_len);
        let (noise, rest) = rest.split_at(noise_len);
        let (transition_derivative, noise_derivative) = rest.split_at(transition_len);
        BatchStep { transition, noise, transition_derivative, noise_derivative }
    }
}

/// The numbers of a step, to be written.
struct Target<'a> {
    shape: Unpadded,
    numbers: &'a mut [PerModel],
}

impl Target<'_> {
    /// Entry (c, d) of A of a slot, or of its derivative.
    #[inline(always)]
    fn transition(&mut self, is_derivative: bool, slot: usize, c: usize, d: usize) -> &mut PerModel {
        let first = if is_derivative { self.shape.transition_len() + self.shape.noise_len() } else { 0 };
        &mut self.numbers[first + self.shape.in_transition(slot, c, d)]
    }

    /// Entry (c, d) of Q of a slot, or of its derivative.
    #[inline(always)]
    fn noise(&mut self, is_derivative: bool, slot: usize, c: usize, d: usize) -> &mut PerModel {
        let (transition_len, noise_len) = (self.shape.transition_len(), self.shape.noise_len());
        let first = if is_derivative { 2 * transition_len + noise_len } else { transition_len };
        &mut self.numbers[first + self.shape.in_noise(slot, c, d)]
    }

    /// Writes a slot's entries of all models, of Q only if `NOISE`.
    #[inline(always)]
    fn put<A: Arithmetic, const K: usize, const NOISE: bool>(
        &mut self,
        is_derivative: bool,
        slot: usize,
        step: &StepLanes<A, K>,
    ) {
        for c in 0..K {
            for d in 0..K {
                self.transition(is_derivative, slot, c, d).set::<A>(step.transition[c][d]);
            }
            for d in 0..if NOISE { c + 1 } else { 0 } {
                self.noise(is_derivative, slot, c, d).set::<A>(step.noise[c][d]);
            }
        }
    }

    /// Writes a slot's entries of one model.
    fn put_one<const K: usize>(&mut self, is_derivative: bool, slot: usize, model: usize, step: &Step<K>) {
        for c in 0..K {
            for d in 0..K {
                self.transition(is_derivative, slot, c, d).0[model] = step.transition[c][d];
            }
            for d in 0..=c {
                self.noise(is_derivative, slot, c, d).0[model] = step.noise[c][d];
            }
        }
    }
}

#[inline(always)]
fn compute<A: Arithmetic, const DERIVATIVES: bool>(
    slots: &[Slot],
    step: usize,
    length: f64,
    mut target: Target<'_>,
) {
    for slot in slots {
        // Step 0 is the one into roots.
        match slot.law.filter(|_| step > 0) {
            Some(Law::Matern12) => in_lanes::<A, Matern12Steps, 1, DERIVATIVES>(slot, length, &mut target),
            Some(Law::Matern32) => in_lanes::<A, Matern32Steps, 2, DERIVATIVES>(slot, length, &mut target),
            Some(Law::Matern32Value) => {
                in_lanes::<A, Matern32ValueSteps, 1, DERIVATIVES>(slot, length, &mut target);
            }
            None => one_by_one(slot, (step > 0).then_some(length), DERIVATIVES, &mut target),
        }
    }
}

#[inline(always)]
fn in_lanes<A: Arithmetic, M: Motion<K>, const K: usize, const DERIVATIVES: bool>(
    slot: &Slot,
    length: f64,
    target: &mut Target<'_>,
) {
    let u = A::min(A::times(slot.rates.lane::<A>(), A::splat(length)), A::splat(VANISHED));
    let (values, derivatives) = M::step::<A, DERIVATIVES>(u, A::splat(1.0));
    if DERIVATIVES {
        // The backward pass does not need Q.
        target.put::<A, K, false>(false, slot.slot, &values);
        target.put::<A, K, true>(true, slot.slot, &derivatives);
    } else {
        target.put::<A, K, true>(false, slot.slot, &values);
    }
}

/// Computes the step of one model after the other; a root's without a length.
fn one_by_one(slot: &Slot, length: Option<f64>, derivatives: bool, target: &mut Target<'_>) {
    for (model, latent) in slot.latents.iter().enumerate() {
        let one = OneModel { slot: slot.slot, model, length, derivatives, target: &mut *target };
        let visited = latent.visit_dynamics(one);
        // The state of a latent was checked at construction.
        debug_assert!(visited.is_ok());
    }
}

struct OneModel<'a, 'b> {
    slot: usize,
    model: usize,
    length: Option<f64>,
    derivatives: bool,
    target: &'a mut Target<'b>,
}

impl VisitDynamics for OneModel<'_, '_> {
    type Output = ();

    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) {
        let Self { slot, model, length, derivatives, target } = self;
        let step = match length {
            Some(length) => dynamics.step(length),
            None => Step { transition: [[0.0; K]; K], noise: dynamics.root_covariance() },
        };
        target.put_one(false, slot, model, &step);
        if derivatives {
            let derivative = length.map_or(Step::ZERO, |length| dynamics.length_scale_derivative(length));
            target.put_one(true, slot, model, &derivative);
        }
    }
}
