//! Memory of the covariance form, kept between sweeps.

use crate::linalg::{Arithmetic, Innovation};

/// Filtered moments of every position, and what each observation brought.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    means: Vec<f64>,
    covariances: Vec<f64>,
    /// The gain of every observation, in the order of the sweep.
    gains: Vec<f64>,
    innovations: Vec<Innovation>,
    scratch: Vec<f64>,
}

/// The mean and covariance of a state.
#[derive(Clone, Copy)]
pub(super) struct Moments<'a> {
    pub(super) mean: &'a [f64],
    pub(super) covariance: &'a [f64],
}

/// The mean and covariance of a state, to be changed.
pub(super) struct MomentsMut<'a> {
    pub(super) mean: &'a mut [f64],
    pub(super) covariance: &'a mut [f64],
}

impl Filtered {
    /// Room for so many states of this size, and for so many observations; the first state is exactly zero.
    pub(super) fn reset(&mut self, size: usize, (states, observations): (usize, usize), n_parts: usize) {
        self.means.resize(states * size, 0.0);
        self.covariances.resize(states * size * size, 0.0);
        self.means[..size].fill(0.0);
        self.covariances[..size * size].fill(0.0);
        self.gains.resize(observations * size, 0.0);
        self.innovations.resize(observations, Innovation { surprise: 0.0, signal: 0.0, inverse: 1.0 });
        self.scratch.clear();
        self.scratch.resize(n_parts.max(2) * size, 0.0);
    }

    /// The filtered moments of a position.
    #[inline(always)]
    pub(super) fn at(&self, size: usize, position: usize) -> Moments<'_> {
        Moments {
            mean: &self.means[position * size..][..size],
            covariance: &self.covariances[position * size * size..][..size * size],
        }
    }

    /// The gains of `count` observations, beginning with the `first`, and the rest of what they brought.
    #[inline(always)]
    pub(super) fn observations(&self, size: usize, first: usize, count: usize) -> (&[f64], &[Innovation]) {
        (&self.gains[first * size..][..count * size], &self.innovations[first..][..count])
    }

    /// Says that a state, and the `count` observations before the `first`, will soon be read: on the way back the machine
    /// does not guess that by itself.
    #[inline(always)]
    pub(super) fn prefetch<A: Arithmetic>(&self, size: usize, state: usize, first: usize, count: usize) {
        if size >= 8 {
            A::prefetch(self.at(size, state).covariance);
            A::prefetch(&self.gains[first.saturating_sub(count) * size..first * size]);
        }
    }

    /// The moments kept at `from`, to be read, those at `to`, to be written, room for observations from `first` on, and
    /// scratch.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "four parts of one structure, borrowed apart from each other")]
    pub(super) fn pair(
        &mut self,
        size: usize,
        (from, to): (usize, usize),
        first: usize,
    ) -> (Moments<'_>, MomentsMut<'_>, (&mut [f64], &mut [Innovation]), &mut [f64]) {
        let (mean_before, mean) = two_of(&mut self.means, size, from, to);
        let (covariance_before, covariance) = two_of(&mut self.covariances, size * size, from, to);
        let before = Moments { mean: mean_before, covariance: covariance_before };
        let after = MomentsMut { mean, covariance };
        let observations = (&mut self.gains[first * size..], &mut self.innovations[first..]);
        (before, after, observations, &mut self.scratch)
    }
}

/// Two different pieces of `len` numbers each: one to be read, one to be written.
#[inline(always)]
fn two_of(numbers: &mut [f64], len: usize, from: usize, to: usize) -> (&[f64], &mut [f64]) {
    if from < to {
        let (low, high) = numbers.split_at_mut(to * len);
        (&low[from * len..][..len], &mut high[..len])
    } else {
        let (low, high) = numbers.split_at_mut(from * len);
        (&high[..len], &mut low[to * len..][..len])
    }
}

/// The dual of what lies after a position, and scratch for the position itself.
#[derive(Debug, Default)]
pub(super) struct Dual {
    /// r, the dual mean.
    pub(super) vector: Vec<f64>,
    /// N, the dual precision.
    pub(super) matrix: Vec<f64>,
    /// N k of the last observation, or another product with N.
    pub(super) pulled: Vec<f64>,
    /// The posterior mean of the whole state, when slopes are wanted.
    pub(super) smoothed: Vec<f64>,
    /// The posterior mean and covariance of the latents' values, and scratch to find them.
    pub(super) value_mean: Vec<f64>,
    pub(super) value_covariance: Vec<f64>,
    pub(super) products: Vec<f64>,
    pub(super) scratch: Vec<f64>,
}

impl Dual {
    /// A dual that says nothing.
    pub(super) fn reset(&mut self, size: usize, width: usize, n_parts: usize) {
        for (buffer, len) in [
            (&mut self.vector, size),
            (&mut self.matrix, size * size),
            (&mut self.pulled, size),
            (&mut self.smoothed, size),
            (&mut self.value_mean, width),
            (&mut self.value_covariance, width * width),
            (&mut self.products, 4 * size),
            (&mut self.scratch, (n_parts + 2) * size),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
    }
}
