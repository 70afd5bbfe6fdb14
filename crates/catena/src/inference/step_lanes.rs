//! The steps of latents that share a Matérn-1/2 or Matérn-3/2 kernel, four at a time in vector lanes.
//!
//! The closed forms are those of `kernel/`, whose own code computes one latent at a time and is slower; a test compares the two.

use crate::kernel::{Correlation, Kernel, Matern12, Matern32, StateKind};
use crate::linalg::{Arithmetic, Job, Layout, Shape, StateAlgebra, exp_of_negative, poisson_tail};
use crate::model::{Latent, Lmc};
use crate::units::LengthScale;
use std::slice::ChunksExactMut;

/// From this u on every transition is exactly 0.
pub(super) const VANISHED: f64 = 1e4;

/// The kernels that are written for lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Matérn-1/2, whose state is its value.
    Matern12,
    /// Matérn-3/2 with its derivative.
    Matern32,
    /// The value of a Matérn-3/2 alone.
    Matern32Value,
}

impl Law {
    /// The kernel of a latent, if it is one of these.
    pub(super) fn of(latent: &Latent) -> Option<Self> {
        match (latent.kernel()?, latent.state()) {
            (Kernel::Matern12, _) => Some(Self::Matern12),
            (Kernel::Matern32, StateKind::Derivative) => Some(Self::Matern32),
            (Kernel::Matern32, StateKind::Value) => Some(Self::Matern32Value),
            _ => None,
        }
    }

    /// The kernel of all latents, if they share one of these.
    pub(super) fn shared_by(model: &Lmc) -> Option<Self> {
        let first = model.latents().first()?;
        let kind = (first.kernel(), first.state());
        let is_shared = model.latents().iter().all(|latent| (latent.kernel(), latent.state()) == kind);
        if is_shared { Self::of(first) } else { None }
    }

    /// The factor of a length.
    pub(super) fn rate(self, length_scale: LengthScale) -> f64 {
        match self {
            Self::Matern12 => Matern12::rate(length_scale),
            Self::Matern32 | Self::Matern32Value => Matern32::rate(length_scale),
        }
    }
}

/// Computes steps of these lengths for latents that share a kernel.
pub(super) struct FillAll<'a, const DERIVATIVES: bool> {
    pub(super) law: Law,
    pub(super) rates: &'a Rates,
    pub(super) rows: StepRows<'a>,
    pub(super) lengths: &'a [f64],
}

/// Consecutive steps of a table, to be written.
pub(super) struct StepRows<'a> {
    pub(super) transitions: &'a mut [f64],
    pub(super) noises: &'a mut [f64],
    /// Empty unless derivatives are wanted.
    pub(super) transition_derivatives: &'a mut [f64],
    pub(super) noise_derivatives: &'a mut [f64],
    pub(super) n_derivatives: usize,
}

/// By slot, the factor of a length; and 1 if the slot has a latent, else 0.
pub(super) struct Rates {
    rates: Vec<f64>,
    present: Vec<f64>,
}

impl Rates {
    /// The rates of the latents of a model.
    pub(super) fn new(law: Law, model: &Lmc, layout: &Layout) -> Self {
        let width = layout.dynamic().width();
        let (mut rates, mut present) = (vec![0.0; width], vec![0.0; width]);
        for (latent, process) in model.latents().iter().enumerate() {
            let slot = layout.slot_of(latent);
            present[slot] = 1.0;
            rates[slot] = law.rate(process.length_scale());
        }
        Self { rates, present }
    }
}

/// Transition and noise (its lower triangle) of four slots, or the derivatives of both.
pub(super) struct StepLanes<A: Arithmetic, const K: usize> {
    pub(super) transition: [[A::Lane; K]; K],
    pub(super) noise: [[A::Lane; K]; K],
}

impl<A: Arithmetic, const K: usize> StepLanes<A, K> {
    /// Writes the step of four slots.
    #[inline(always)]
    fn store(&self, transition: &mut [[f64; 4]], noise: &mut [[f64; 4]]) {
        let (transition, noise) = (&mut transition[..K * K], &mut noise[..K * (K + 1) / 2]);
        for c in 0..K {
            for d in 0..K {
                A::store(self.transition[c][d], &mut transition[c * K + d]);
            }
            for d in 0..=c {
                A::store(self.noise[c][d], &mut noise[c * (c + 1) / 2 + d]);
            }
        }
    }
}

/// The steps of a kernel with K components.
pub(super) trait Motion<const K: usize> {
    /// The step over u, and its derivatives in the logarithm of the length-scale if `DERIVATIVES`; zero where `present` is zero.
    fn step<A: Arithmetic, const DERIVATIVES: bool>(
        u: A::Lane,
        present: A::Lane,
    ) -> (StepLanes<A, K>, StepLanes<A, K>);
}

/// Matérn-1/2.
pub(super) struct Matern12Steps;
/// Matérn-3/2 with its derivative.
pub(super) struct Matern32Steps;
/// The value of a Matérn-3/2 alone.
pub(super) struct Matern32ValueSteps;

impl Motion<1> for Matern12Steps {
    #[inline(always)]
    fn step<A: Arithmetic, const DERIVATIVES: bool>(
        u: A::Lane,
        present: A::Lane,
    ) -> (StepLanes<A, 1>, StepLanes<A, 1>) {
        let decay = A::times(present, exp_of_negative::<A>(A::minus(A::splat(0.0), u)));
        let noise = poisson_tail::<A, 0>(A::plus(u, u), A::times(decay, decay));
        let derivative = A::times(u, decay);
        let noise_derivative = A::times(A::splat(-2.0), A::times(derivative, decay));
        (
            StepLanes { transition: [[decay]], noise: [[A::times(present, noise)]] },
            StepLanes { transition: [[derivative]], noise: [[noise_derivative]] },
        )
    }
}

impl Motion<2> for Matern32Steps {
    #[inline(always)]
    fn step<A: Arithmetic, const DERIVATIVES: bool>(
        u: A::Lane,
        present: A::Lane,
    ) -> (StepLanes<A, 2>, StepLanes<A, 2>) {
        let zero = A::splat(0.0);
        let decay = A::times(present, exp_of_negative::<A>(A::minus(zero, u)));
        let (v, squared) = (A::plus(u, u), A::times(decay, decay));
        // Either u or the decay is small: their products do not overflow.
        let along = A::times(u, decay);
        let transition = [[A::plus(decay, along), along], [A::minus(zero, along), A::minus(decay, along)]];
        let first = A::times(present, poisson_tail::<A, 2>(v, squared));
        let cross = A::times(A::plus(along, along), along);
        let last = A::mul_add_lanes(A::plus(v, v), squared, first);
        // −u·F A with F = [[0, 1], [−1, −2]], and −4u·c cᵀ with c the last column of A.
        let derivatives = if DERIVATIVES {
            let below = [transition[1][0], transition[1][1]];
            let drift = |j: usize| A::plus(transition[0][j], A::plus(below[j], below[j]));
            let minus_u = A::minus(zero, u);
            let density = A::times(A::splat(4.0), minus_u);
            let (top, bottom) = (transition[0][1], transition[1][1]);
            StepLanes {
                transition: [
                    [A::times(minus_u, below[0]), A::times(minus_u, below[1])],
                    [A::times(u, drift(0)), A::times(u, drift(1))],
                ],
                noise: [
                    [A::times(density, A::times(top, top)), zero],
                    [A::times(density, A::times(top, bottom)), A::times(density, A::times(bottom, bottom))],
                ],
            }
        } else {
            StepLanes { transition: [[zero; 2]; 2], noise: [[zero; 2]; 2] }
        };
        (StepLanes { transition, noise: [[first, zero], [cross, last]] }, derivatives)
    }
}

impl Motion<1> for Matern32ValueSteps {
    #[inline(always)]
    fn step<A: Arithmetic, const DERIVATIVES: bool>(
        u: A::Lane,
        present: A::Lane,
    ) -> (StepLanes<A, 1>, StepLanes<A, 1>) {
        let decay = A::times(present, exp_of_negative::<A>(A::minus(A::splat(0.0), u)));
        let along = A::times(u, decay);
        let correlation = A::plus(decay, along);
        // With v = 2u, e^−v (1 + v/2)² differs from the Poisson head of order 2 by e^−v v²/4.
        let tail = poisson_tail::<A, 2>(A::plus(u, u), A::times(decay, decay));
        let noise = A::mul_add_lanes(along, along, A::times(present, tail));
        let derivative = A::times(u, along);
        let noise_derivative = A::times(A::splat(-2.0), A::times(correlation, derivative));
        (
            StepLanes { transition: [[correlation]], noise: [[noise]] },
            StepLanes { transition: [[derivative]], noise: [[noise_derivative]] },
        )
    }
}

impl<const DERIVATIVES: bool> Job for FillAll<'_, DERIVATIVES> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) {
        match self.law {
            Law::Matern12 => fill::<A, Matern12Steps, 1, DERIVATIVES>(self),
            Law::Matern32 => fill::<A, Matern32Steps, 2, DERIVATIVES>(self),
            Law::Matern32Value => fill::<A, Matern32ValueSteps, 1, DERIVATIVES>(self),
        }
    }
}

/// Computes four slots of a step at a time, or several steps of fewer slots.
#[inline(always)]
fn fill<A: Arithmetic, M: Motion<K>, const K: usize, const DERIVATIVES: bool>(job: FillAll<'_, DERIVATIVES>) {
    let FillAll { rates: Rates { rates, present }, mut rows, lengths, .. } = job;
    let width = rates.len();
    let vanished = A::splat(VANISHED);
    if width == 4 {
        fill_lane::<A, M, K, DERIVATIVES>(rows, lengths, first_lane::<A>(rates), first_lane::<A>(present));
        return;
    }
    if width.is_multiple_of(4) {
        for (step, &length) in lengths.iter().enumerate() {
            let length = A::splat(length);
            for (lane, (rate, present)) in
                rates.as_chunks::<4>().0.iter().zip(present.as_chunks::<4>().0).enumerate()
            {
                let u = A::min(A::times(A::load(rate), length), vanished);
                let (values, derivatives) = M::step::<A, DERIVATIVES>(u, A::load(present));
                let place = Place { step, width, slot: 4 * lane };
                place.store::<A, K>(rows.transitions, rows.noises, &values);
                if DERIVATIVES {
                    place.store::<A, K>(rows.transition_derivatives, rows.noise_derivatives, &derivatives);
                }
            }
        }
        return;
    }
    if width == 1 {
        fill_few::<A, M, K, 1, DERIVATIVES>(&mut rows, lengths, rates);
    } else {
        fill_few::<A, M, K, 2, DERIVATIVES>(&mut rows, lengths, rates);
    }
}

/// The first four numbers.
#[inline(always)]
fn first_lane<A: Arithmetic>(numbers: &[f64]) -> A::Lane {
    numbers.first_chunk().map_or(A::splat(0.0), A::load)
}

/// Steps of up to four latents, one after the other.
#[inline(always)]
fn fill_lane<A: Arithmetic, M: Motion<K>, const K: usize, const DERIVATIVES: bool>(
    rows: StepRows<'_>,
    lengths: &[f64],
    rates: A::Lane,
    present: A::Lane,
) {
    let triangle = K * (K + 1) / 2;
    let mut steps = in_lanes(rows.transitions, K * K).zip(in_lanes(rows.noises, triangle));
    let mut derivatives =
        in_lanes(rows.transition_derivatives, K * K).zip(in_lanes(rows.noise_derivatives, triangle));
    for &length in lengths {
        let u = A::min(A::times(rates, A::splat(length)), A::splat(VANISHED));
        let (values, derivative) = M::step::<A, DERIVATIVES>(u, present);
        if let Some((transition, noise)) = steps.next() {
            values.store(transition, noise);
        }
        if DERIVATIVES && let Some((transition, noise)) = derivatives.next() {
            derivative.store(transition, noise);
        }
    }
}

/// Steps of `len` lanes each.
#[inline(always)]
fn in_lanes(numbers: &mut [f64], len: usize) -> ChunksExactMut<'_, [f64; 4]> {
    numbers.as_chunks_mut::<4>().0.chunks_exact_mut(len)
}

/// Several steps at a time of W latents, one or two, without empty slots.
#[inline(always)]
fn fill_few<A: Arithmetic, M: Motion<K>, const K: usize, const W: usize, const DERIVATIVES: bool>(
    rows: &mut StepRows<'_>,
    lengths: &[f64],
    rates: &[f64],
) {
    let at_once = 4 / W;
    let rates = &rates[..W];
    for (group, lengths) in lengths.chunks(at_once).enumerate() {
        let mut u = [0.0; 4];
        for (i, &length) in lengths.iter().enumerate() {
            for slot in 0..W {
                u[i * W + slot] = rates[slot] * length;
            }
        }
        let (values, derivatives) =
            M::step::<A, DERIVATIVES>(A::min(A::load(&u), A::splat(VANISHED)), A::splat(1.0));
        let place = (group * at_once, lengths.len());
        scatter::<A, K, W>(place, rows.transitions, rows.noises, &values);
        if DERIVATIVES {
            scatter::<A, K, W>(place, rows.transition_derivatives, rows.noise_derivatives, &derivatives);
        }
    }
}

/// Writes `count` steps of W slots each, beginning at `first`.
#[inline(always)]
fn scatter<A: Arithmetic, const K: usize, const W: usize>(
    (first, count): (usize, usize),
    transitions: &mut [f64],
    noises: &mut [f64],
    lanes: &StepLanes<A, K>,
) {
    let triangle = K * (K + 1) / 2;
    let (mut transition, mut noise) = ([[[0.0; 4]; K]; K], [[[0.0; 4]; K]; K]);
    for c in 0..K {
        for d in 0..K {
            A::store(lanes.transition[c][d], &mut transition[c][d]);
            A::store(lanes.noise[c][d], &mut noise[c][d]);
        }
    }
    let steps = transitions[first * K * K * W..].chunks_exact_mut(K * K * W);
    let steps = steps.zip(noises[first * triangle * W..].chunks_exact_mut(triangle * W));
    for (i, (transitions, noises)) in steps.take(count).enumerate() {
        for slot in 0..W {
            for c in 0..K {
                for d in 0..K {
                    transitions[(c * K + d) * W + slot] = transition[c][d][i * W + slot];
                }
                for d in 0..=c {
                    noises[(c * (c + 1) / 2 + d) * W + slot] = noise[c][d][i * W + slot];
                }
            }
        }
    }
}

/// The place of four slots in the table.
#[derive(Clone, Copy)]
struct Place {
    step: usize,
    width: usize,
    slot: usize,
}

impl Place {
    /// Writes four slots of one step.
    #[inline(always)]
    fn store<A: Arithmetic, const K: usize>(
        self,
        transitions: &mut [f64],
        noises: &mut [f64],
        lanes: &StepLanes<A, K>,
    ) {
        let Self { step, width, slot } = self;
        let triangle = K * (K + 1) / 2;
        let transition = &mut transitions[step * K * K * width..][..K * K * width].as_chunks_mut::<4>().0;
        let noise = &mut noises[step * triangle * width..][..triangle * width].as_chunks_mut::<4>().0;
        for c in 0..K {
            for d in 0..K {
                A::store(lanes.transition[c][d], &mut transition[((c * K + d) * width + slot) / 4]);
            }
            for d in 0..=c {
                A::store(lanes.noise[c][d], &mut noise[((c * (c + 1) / 2 + d) * width + slot) / 4]);
            }
        }
    }
}
