//! Gaussians over a state: by mean and covariance, as an information-form message, and as the adjoint of a smoother.

use crate::linalg::{Separate, StateAlgebra, cholesky, dot};
use std::borrow::Cow;

/// A covariance P, row-major: P itself, or a factor Z with P = Z Zᵀ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Covariance<V> {
    Full(V),
    Factor(V),
}

/// A Gaussian over a padded state, owned or borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gaussian<V = Vec<f64>> {
    pub(crate) mean: V,
    pub(crate) covariance: Covariance<V>,
}

/// A borrowed Gaussian.
pub(crate) type GaussianView<'a> = Gaussian<&'a [f64]>;

impl<V: AsRef<[f64]>> Gaussian<V> {
    /// A Gaussian by its mean and covariance.
    pub(crate) fn new(mean: V, covariance: V) -> Self {
        Self { mean, covariance: Covariance::Full(covariance) }
    }

    /// A Gaussian by its mean and covariance factor.
    pub(crate) fn from_factor(mean: V, factor: V) -> Self {
        Self { mean, covariance: Covariance::Factor(factor) }
    }

    /// The same, borrowed.
    pub(crate) fn view(&self) -> GaussianView<'_> {
        let covariance = match &self.covariance {
            Covariance::Full(matrix) => Covariance::Full(matrix.as_ref()),
            Covariance::Factor(factor) => Covariance::Factor(factor.as_ref()),
        };
        Gaussian { mean: self.mean.as_ref(), covariance }
    }

    /// The size of the state.
    pub(crate) fn size(&self) -> usize {
        self.mean.as_ref().len()
    }

    /// The covariance.
    pub(crate) fn full_covariance(&self) -> Cow<'_, [f64]> {
        match &self.covariance {
            Covariance::Full(matrix) => Cow::Borrowed(matrix.as_ref()),
            Covariance::Factor(factor) => {
                let size = self.size();
                let row = |i: usize| &factor.as_ref()[i * size..][..size];
                (0..size * size).map(|at| dot::<Separate>(row(at / size), row(at % size))).collect()
            }
        }
    }

    /// A factor of the covariance.
    pub(crate) fn covariance_factor(&self) -> Cow<'_, [f64]> {
        match &self.covariance {
            Covariance::Full(matrix) => Cow::Owned(cholesky(self.size(), matrix.as_ref(), f64::EPSILON)),
            Covariance::Factor(factor) => Cow::Borrowed(factor.as_ref()),
        }
    }
}

impl Default for Gaussian {
    fn default() -> Self {
        Self::zero(0)
    }
}

impl Gaussian {
    /// A state that is exactly zero, the state before the root.
    pub(crate) fn zero(size: usize) -> Self {
        Self::new(vec![0.0; size], vec![0.0; size * size])
    }

    /// Copies a Gaussian out of the memory of a sweep.
    #[inline(always)]
    pub(super) fn set<S: StateAlgebra>(&mut self, shape: S, packed: PackedGaussian<'_>) {
        self.mean.clear();
        self.mean.extend_from_slice(packed.mean);
        let memory = std::mem::replace(&mut self.covariance, Covariance::Full(vec![]));
        let (Covariance::Full(mut square) | Covariance::Factor(mut square)) = memory;
        square.resize(shape.size() * shape.size(), 0.0);
        shape.unpack_covariance(packed.covariance, &mut square);
        self.covariance = Covariance::Full(square);
    }
}

/// Mean and covariance in the memory of a sweep, laid out by its [`StateAlgebra`].
#[derive(Clone, Copy)]
pub(super) struct PackedGaussian<'a> {
    pub(super) mean: &'a [f64],
    pub(super) covariance: &'a [f64],
}

/// A message in information form, `exp(−½ zᵀΛz + ηᵀz)`.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    /// Λ, row-major.
    pub(super) precision: &'a [f64],
    /// η.
    pub(super) vector: &'a [f64],
}

/// The adjoint (r, N) of the Bryson–Frazier smoother: with filtered moments (m, P) the posterior is `m + P r`, `P − P N P`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Adjoint {
    pub(crate) vector: Vec<f64>,
    /// Row-major.
    pub(crate) matrix: Vec<f64>,
}

impl Adjoint {
    /// The adjoint at the end of a chain: no later observations.
    pub(crate) fn zero(size: usize) -> Self {
        Self { vector: vec![0.0; size], matrix: vec![0.0; size * size] }
    }
}
