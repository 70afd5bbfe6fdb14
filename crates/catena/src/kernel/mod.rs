//! Stationary kernels and the states that carry them along an edge.
//!
//! A kernel is a correlation function ρ of the scaled distance `u = rate·Δ` ([`Correlation`]); its variance is in the mixing
//! matrix. Its state along an edge is one of two:
//! - as a **derivative state** ([`DerivativeState`]): the process and its derivatives, exact on a line;
//! - as a **value state**: the value alone, with `A = ρ` and `Q = 1 − ρ²`, for any correlation function.
//!
//! Both are [`Dynamics`]: a transition `A(Δ)` and a process noise `Q(Δ)` (Eq. `discrete_transition`) in forms that do
//! not cancel, their derivatives in the logarithm of the length-scale, and a covariance at the root. A new kernel is one
//! file and one line in the list at the end of this one. Processes along time that are not functions of distance over length-scale are [`Component`]s.

mod component;
mod dynamics;
mod incomplete_gamma;
mod matern12;
mod matern32;
mod matern52;
mod squared_exponential;

pub use component::Component;
pub(crate) use dynamics::Block;
pub use dynamics::{Correlation, DerivativeState, Dynamics, Step, VisitDynamics};
use dynamics::{DerivativeDynamics, ValueDynamics};
pub use matern12::Matern12;
pub use matern32::Matern32;
pub use matern52::Matern52;
pub use squared_exponential::SquaredExponential;

use crate::units::LengthScale;
use thiserror::Error;

/// The state of a latent process along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StateKind {
    /// The process and its derivatives: exact on a line, and the paper's model on any chain.
    Derivative,
    /// The value alone: for trees, and for several inputs, where a derivative has no direction.
    Value,
}

/// A kernel without the requested state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// Infinitely smooth processes have no finite derivative state.
    #[error("{} has no derivative state; use a value state or a Matérn kernel", .0.name())]
    NoDerivativeState(Kernel),
}

/// Declares the closed set of kernels: derivative states first, value-only kernels after them.
macro_rules! kernels {
    (derivative: $($matern:ident = $dim:literal),*; value only: $($value:ident),*) => {
        /// A stationary correlation function.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kernel {
            $(#[doc = concat!("See [`struct@", stringify!($matern), "`].")] $matern,)*
            $(#[doc = concat!("See [`struct@", stringify!($value), "`].")] $value,)*
        }

        impl Kernel {
            /// Every kernel, in the order they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$matern,)* $(Self::$value,)*];

            /// The name used in specifications, such as `matern32`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$matern => $matern::NAME,)* $(Self::$value => $value::NAME,)* }
            }

            /// The factor from a distance to `u`.
            pub fn rate(self, length_scale: LengthScale) -> f64 {
                match self {
                    $(Self::$matern => $matern::rate(length_scale),)*
                    $(Self::$value => $value::rate(length_scale),)*
                }
            }

            /// The correlation ρ(u) at the scaled distance `u = rate·Δ`.
            pub fn correlation(self, u: f64) -> f64 {
                match self { $(Self::$matern => $matern::correlation(u),)* $(Self::$value => $value::correlation(u),)* }
            }

            /// The derivative dρ/du.
            pub fn correlation_derivative(self, u: f64) -> f64 {
                match self {
                    $(Self::$matern => $matern::correlation_derivative(u),)*
                    $(Self::$value => $value::correlation_derivative(u),)*
                }
            }

            /// The largest |dρ/du|: times the rate and the variance, the Lipschitz constant α of Lemma 1.
            pub fn lipschitz_constant(self) -> f64 {
                match self { $(Self::$matern => $matern::LIPSCHITZ_CONSTANT,)* $(Self::$value => $value::LIPSCHITZ_CONSTANT,)* }
            }

            /// The number of state components this kernel needs.
            ///
            /// # Errors
            /// When the kernel has no state of that kind.
            pub fn state_dim(self, kind: StateKind) -> Result<usize, KernelError> {
                match (kind, self) {
                    (StateKind::Value, _) => Ok(1),
                    $((StateKind::Derivative, Self::$matern) => Ok($dim),)*
                    $((StateKind::Derivative, Self::$value) => Err(KernelError::NoDerivativeState(self)),)*
                }
            }

            /// Passes the dynamics of this kernel to `visitor`, so that inner loops are compiled for each kernel.
            ///
            /// # Errors
            /// When the kernel has no state of that kind.
            pub fn visit_dynamics<V: VisitDynamics>(
                self,
                kind: StateKind,
                length_scale: LengthScale,
                visitor: V,
            ) -> Result<V::Output, KernelError> {
                match (kind, self) {
                    $((StateKind::Derivative, Self::$matern) =>
                        Ok(visitor.visit(DerivativeDynamics::<$matern, $dim>::new(length_scale))),)*
                    $((StateKind::Value, Self::$matern) =>
                        Ok(visitor.visit(ValueDynamics::<$matern>::new(length_scale))),)*
                    $((StateKind::Derivative, Self::$value) => Err(KernelError::NoDerivativeState(self)),)*
                    $((StateKind::Value, Self::$value) =>
                        Ok(visitor.visit(ValueDynamics::<$value>::new(length_scale))),)*
                }
            }
        }
    };
}

kernels! {
    derivative: Matern12 = 1, Matern32 = 2, Matern52 = 3;
    value only: SquaredExponential
}
