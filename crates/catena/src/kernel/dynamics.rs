//! The traits of a kernel, and the transition of a latent's state along an edge.

use crate::units::LengthScale;
use std::marker::PhantomData;

/// A small square matrix over the components of one latent's state.
pub(crate) type Block<const K: usize> = [[f64; K]; K];

/// A stationary correlation function of `u = rate·Δ ≥ 0`.
///
/// # Laws
/// - `correlation(0) = 1`, and it decreases to 0.
/// - `correlation_derivative` is its derivative, at most `LIPSCHITZ_CONSTANT` in magnitude.
/// - `decorrelation(u) = 1 − correlation(u)²` to relative rounding, also where the difference would cancel.
pub trait Correlation {
    /// The name used in specifications.
    const NAME: &'static str;
    /// The largest |dρ/du|.
    const LIPSCHITZ_CONSTANT: f64;
    /// The factor from a distance to `u`.
    fn rate(length_scale: LengthScale) -> f64;
    /// ρ(u).
    fn correlation(u: f64) -> f64;
    /// dρ/du.
    fn correlation_derivative(u: f64) -> f64;
    /// 1 − ρ(u)².
    fn decorrelation(u: f64) -> f64;
}

/// A kernel whose process is the first component of a linear SDE in K components, in the normalized time `u`:
/// `dz = F z du + e_K dw` with white noise of density `DIFFUSION`.
///
/// # Laws
/// - `transition(u) = exp(F u)`, so `transition(s + t) = transition(s)·transition(t)` and `transition(0) = I`.
/// - `noise(u) = P∞ − A P∞ Aᵀ`, without forming that difference: as written it is 17 % off at `u = 1e-5`, and often
///   negative below.
/// - `P∞` solves `F P∞ + P∞ Fᵀ + DIFFUSION·e_K e_Kᵀ = 0`, and `(A(u) P∞)₁₁ = correlation(u)`.
pub trait DerivativeState<const K: usize>: Correlation {
    /// The drift F of the normalized state.
    const DRIFT: Block<K>;
    /// The density of the white noise that drives the last component.
    const DIFFUSION: f64;
    /// The stationary covariance P∞ of the normalized state.
    const STATIONARY_COVARIANCE: Block<K>;
    /// A(u) and Q(u).
    fn step(u: f64) -> Step<K>;
}

/// One step along an edge: `z_child = A z_parent + q`, `q ~ N(0, Q)`; or the derivatives of A and Q.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<const K: usize> {
    /// The transition matrix A.
    pub transition: Block<K>,
    /// The process noise Q.
    pub noise: Block<K>,
}

impl<const K: usize> Step<K> {
    /// All zeros.
    pub const ZERO: Self = Self { transition: [[0.0; K]; K], noise: [[0.0; K]; K] };
}

/// The transition of one latent's state along an edge of length Δ.
///
/// # Laws
/// - `step(0)` is the identity without noise.
/// - Of derivative states and components: two steps compose, `A(s + t) = A(s)·A(t)` and
///   `Q(s + t) = A(t) Q(s) A(t)ᵀ + Q(t)`.
/// - Of stationary processes: `A P₀ Aᵀ + Q = P₀`.
/// - `length_scale_derivative` is the derivative of `step` in the logarithm of the length-scale, `shape_derivative` in that of the shape, if there
///   is one. P₀ depends on neither.
pub trait Dynamics<const K: usize>: Copy {
    /// A(Δ) and Q(Δ).
    fn step(self, distance: f64) -> Step<K>;
    /// dA/dlog ℓ and dQ/dlog ℓ at Δ.
    fn length_scale_derivative(self, distance: f64) -> Step<K>;
    /// dA/dlog s and dQ/dlog s at Δ, where s is the shape of a component; zero without a shape.
    #[inline(always)]
    fn shape_derivative(self, _distance: f64) -> Step<K> {
        Step::ZERO
    }
    /// The covariance P₀ of the state at the root.
    fn root_covariance(self) -> Block<K>;
}

/// At this u every A and its derivative are exactly 0. Products with them use at most this u, since an infinite one would
/// give ∞·0.
const VANISHED: f64 = 1e4;

/// A computation with the dynamics of any kernel or component.
pub trait VisitDynamics {
    /// The result.
    type Output;
    /// Runs the computation.
    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> Self::Output;
}

/// A process together with its derivatives.
#[derive(Debug)]
pub(super) struct DerivativeDynamics<C, const K: usize> {
    rate: f64,
    kernel: PhantomData<C>,
}

impl<C: DerivativeState<K>, const K: usize> DerivativeDynamics<C, K> {
    /// The dynamics at this length-scale.
    pub(super) fn new(length_scale: LengthScale) -> Self {
        Self { rate: C::rate(length_scale), kernel: PhantomData }
    }
}

impl<C, const K: usize> Clone for DerivativeDynamics<C, K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C, const K: usize> Copy for DerivativeDynamics<C, K> {}

impl<C: DerivativeState<K>, const K: usize> Dynamics<K> for DerivativeDynamics<C, K> {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<K> {
        C::step(self.rate * distance)
    }

    /// With `dA/du = F A` and, from `Q(u) = DIFFUSION·∫₀ᵘ c cᵀ`, `dQ/du = DIFFUSION·c cᵀ`, where c is the last column
    /// of A; `u` is inversely proportional to ℓ.
    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<K> {
        let u = self.rate * distance;
        let a = C::step(u).transition;
        let u = u.min(VANISHED);
        let mut derivative = Step::ZERO;
        for i in 0..K {
            for j in 0..K {
                let drift: f64 = (0..K).map(|k| C::DRIFT[i][k] * a[k][j]).sum();
                derivative.transition[i][j] = -u * drift;
                derivative.noise[i][j] = -u * C::DIFFUSION * a[i][K - 1] * a[j][K - 1];
            }
        }
        derivative
    }

    fn root_covariance(self) -> Block<K> {
        C::STATIONARY_COVARIANCE
    }
}

/// The value of a process alone: `A = ρ(u)`, `Q = 1 − ρ(u)²`.
#[derive(Debug)]
pub(super) struct ValueDynamics<C> {
    rate: f64,
    kernel: PhantomData<C>,
}

impl<C: Correlation> ValueDynamics<C> {
    /// The dynamics at this length-scale.
    pub(super) fn new(length_scale: LengthScale) -> Self {
        Self { rate: C::rate(length_scale), kernel: PhantomData }
    }
}

impl<C> Clone for ValueDynamics<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for ValueDynamics<C> {}

impl<C: Correlation> Dynamics<1> for ValueDynamics<C> {
    #[inline(always)]
    fn step(self, distance: f64) -> Step<1> {
        let u = self.rate * distance;
        Step { transition: [[C::correlation(u)]], noise: [[C::decorrelation(u)]] }
    }

    #[inline(always)]
    fn length_scale_derivative(self, distance: f64) -> Step<1> {
        let u = self.rate * distance;
        let derivative = -u.min(VANISHED) * C::correlation_derivative(u);
        Step { transition: [[derivative]], noise: [[-2.0 * C::correlation(u) * derivative]] }
    }

    fn root_covariance(self) -> Block<1> {
        [[1.0]]
    }
}
