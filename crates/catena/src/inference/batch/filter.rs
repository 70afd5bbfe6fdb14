//! The Kalman filter of several models at once.
//!
//! The observations of a position are conditioned on one after the other, as in [`super::super::kalman`], but P changes only once:
//! with P⁻ the predicted covariance, `P h` of an observation is `P⁻h − Σ k xᵀh` over those before it, x being their `P h`, and
//! afterwards `P = P⁻ − Σ x kᵀ`.

use super::readout::BatchReadout;
use super::steps::BatchSteps;
use crate::graph::StepLengths;
use crate::linalg::{
    Arithmetic, Job, MODELS, PerModel, StateAlgebra, Unpadded, add_multiple, predict, prefetch,
    subtract_outer, times_row, transition_times, triangle_len,
};

/// Filtered Gaussians of all positions, with the gain and update of every observation.
#[derive(Debug, Default)]
pub(super) struct BatchMemory {
    /// The first is the state before the first position, which is zero.
    pub(super) means: Vec<PerModel>,
    pub(super) covariances: Vec<PerModel>,
    /// In the order of the sweep.
    pub(super) gains: Vec<PerModel>,
    pub(super) updates: Vec<BatchUpdate>,
    /// `P h` of the observations of one position.
    readings: Vec<PerModel>,
}

/// The measurement update by one observation of unit noise; see [`crate::linalg::Update`].
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchUpdate {
    pub(super) innovation: PerModel,
    pub(super) signal: PerModel,
    pub(super) inverse: PerModel,
}

impl BatchMemory {
    /// Prefetches the filtered Gaussian before a position, and the gains before an observation.
    #[inline(always)]
    pub(super) fn prefetch<A: Arithmetic>(&self, size: usize, position: usize, observation: usize) {
        let len = triangle_len(size);
        prefetch::<A>(&self.covariances[position * len..][..len]);
        prefetch::<A>(&self.means[position * size..][..size]);
        let gains = &self.gains[..observation * size];
        prefetch::<A>(&gains[gains.len().saturating_sub(GAINS_PREFETCHED * size)..]);
    }
}

/// How many gains are prefetched.
const GAINS_PREFETCHED: usize = 6;

/// Resizes without writing zeros over numbers that will be overwritten anyway.
fn resize(numbers: &mut Vec<PerModel>, len: usize) {
    numbers.resize(len, PerModel::ZERO);
}

/// Filters a chain. Returns the log evidence of each model without its constants.
pub(super) struct BatchForward<'a, 'b> {
    pub(super) shape: Unpadded,
    pub(super) edges: &'a StepLengths,
    pub(super) steps: &'a mut BatchSteps<'b>,
    pub(super) readout: &'a mut BatchReadout<'b>,
    pub(super) memory: &'a mut BatchMemory,
}

impl Job for BatchForward<'_, '_> {
    type Output = [f64; MODELS];

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) -> [f64; MODELS] {
        let Self { shape, edges, steps, readout, memory } = self;
        let (size, n_positions) = (shape.size(), readout.cells.n_positions());
        let len = triangle_len(size);
        let n_observations = readout.n_observations();
        resize(&mut memory.means, (n_positions + 1) * size);
        resize(&mut memory.covariances, (n_positions + 1) * len);
        resize(&mut memory.gains, n_observations * size);
        resize(&mut memory.readings, shape.n_slots().max(1) * size);
        let zero =
            BatchUpdate { innovation: PerModel::ZERO, signal: PerModel::ZERO, inverse: PerModel::ZERO };
        memory.updates.resize(n_observations, zero);
        memory.means[..size].fill(PerModel::ZERO);
        memory.covariances[..len].fill(PerModel::ZERO);
        let (mut mean_before, mut means) = memory.means.split_at_mut(size);
        let (mut covariance_before, mut covariances) = memory.covariances.split_at_mut(len);
        let (mut gains, mut updates) = (&mut memory.gains[..], &mut memory.updates[..]);
        let mut scale = LogProducts { products: PerModel([1.0; MODELS]), logs: [0.0; MODELS] };
        let mut squares = A::splat(0.0);
        for position in 0..n_positions {
            let (mean, later) = std::mem::take(&mut means).split_at_mut(size);
            means = later;
            let (covariance, later) = std::mem::take(&mut covariances).split_at_mut(len);
            covariances = later;
            let step = steps.get::<A, false>(edges.step_of(position));
            transition_times::<A, false>(shape, step.transition, mean_before, mean);
            predict::<A>(shape, (step.transition, step.noise), covariance_before, covariance);
            squares = A::plus(squares, readout.find_values::<A>(position));
            let count = readout.count(position);
            let (own_gains, later) = std::mem::take(&mut gains).split_at_mut(count * size);
            gains = later;
            let (own_updates, later) = std::mem::take(&mut updates).split_at_mut(count);
            updates = later;
            let readings = &mut memory.readings[..count * size];
            for (at, update) in own_updates.iter_mut().enumerate() {
                let row = readout.row(position, at);
                let (before, rest) = readings.split_at_mut(at * size);
                let (gains_before, rest_of_gains) = own_gains.split_at_mut(at * size);
                let (reading, gain) = (&mut rest[..size], &mut rest_of_gains[..size]);
                times_row::<A>(covariance, row, reading);
                for (before, gain) in before.chunks_exact(size).zip(gains_before.chunks_exact(size)) {
                    let shared = row.inner::<A>(before);
                    add_multiple::<A>(A::minus(A::splat(0.0), shared), gain, reading);
                }
                let signal = row.inner::<A>(reading);
                let total = A::plus(A::splat(1.0), signal);
                let inverse = A::divide(A::splat(1.0), total);
                let innovation = A::minus(readout.values[at].lane::<A>(), row.inner::<A>(mean));
                let scaled = A::times(innovation, inverse);
                squares = A::mul_add_lanes(innovation, scaled, squares);
                for ((reading, gain), mean) in reading.iter().zip(gain).zip(&mut *mean) {
                    let reading = reading.lane::<A>();
                    gain.set::<A>(A::times(reading, inverse));
                    mean.set::<A>(A::mul_add_lanes(reading, scaled, mean.lane::<A>()));
                }
                update.innovation.set::<A>(innovation);
                update.signal.set::<A>(signal);
                update.inverse.set::<A>(inverse);
                scale.multiply::<A>(total);
            }
            subtract_outer::<A>(covariance, size, readings, own_gains);
            (mean_before, covariance_before) = (mean, covariance);
        }
        let mut sums = [0.0; MODELS];
        A::store(squares, &mut sums);
        std::array::from_fn(|model| -0.5 * (scale.ln(model) + sums[model]))
    }
}

/// The logarithms of long products of numbers of at least 1.
struct LogProducts {
    products: PerModel,
    logs: [f64; MODELS],
}

impl LogProducts {
    #[inline(always)]
    fn multiply<A: Arithmetic>(&mut self, factors: A::Lane) {
        let products = A::times(self.products.lane::<A>(), factors);
        if A::sum(products) < 1e140 {
            self.products.set::<A>(products);
            return;
        }
        let mut numbers = [0.0; MODELS];
        A::store(factors, &mut numbers);
        for model in 0..MODELS {
            self.logs[model] += self.products.0[model].ln() + numbers[model].ln();
        }
        self.products = PerModel([1.0; MODELS]);
    }

    fn ln(&self, model: usize) -> f64 {
        self.logs[model] + self.products.0[model].ln()
    }
}
