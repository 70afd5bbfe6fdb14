//! Components of models along time: damped oscillator, cycle, random walk, local linear trend, damped trend.
//!
//! Forecasts under a [`Kernel`](super::Kernel) return to the mean. Components oscillate, repeat, keep a level or keep a slope
//! instead. They need a chain along a single input. Their states have one or two numbers, with transitions that are exact for
//! any spacing. A sum of components is several latents with proportional columns of the mixing matrix. A new component is one
//! file and its lines here.

mod cycle;
mod damped_trend;
mod local_linear_trend;
mod random_walk;
mod sho;

use cycle::Cycle;
use damped_trend::DampedTrend;
use local_linear_trend::LocalLinearTrend;
use random_walk::RandomWalk;
use sho::Sho;

use super::VisitDynamics;
use crate::units::{LengthScale, Quality, UnitError};

/// A component along time, of unit variance if it is stationary; otherwise its prior variance is set at the root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Component {
    /// The damped oscillator x'' + x'/quality + x = white noise, in time Δ/ℓ; Matérn-3/2 at quality ½.
    Sho {
        /// Its quality factor: how slowly its oscillations decay.
        quality: Quality,
    },
    /// One harmonic of a slowly changing season: correlation e^(−Δ/ℓ) cos(2πΔ/period).
    Cycle {
        /// Its period.
        period: LengthScale,
    },
    /// A level without mean reversion: its variance grows by Δ/ℓ.
    RandomWalk,
    /// A level whose slope is a random walk.
    LocalLinearTrend,
    /// A level whose slope returns to zero within a length-scale.
    DampedTrend,
}

impl Component {
    /// The name used in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sho { .. } => "sho",
            Self::Cycle { .. } => "qp",
            Self::RandomWalk => "rw",
            Self::LocalLinearTrend => "llt",
            Self::DampedTrend => "dt",
        }
    }

    /// The component with this name and shape, if it exists; components without a shape ignore it.
    pub fn named(name: &str, shape: f64) -> Option<Self> {
        let (quality, period) = (Quality::new(1.0).ok()?, LengthScale::new(1.0).ok()?);
        let all = [
            Self::Sho { quality },
            Self::Cycle { period },
            Self::RandomWalk,
            Self::LocalLinearTrend,
            Self::DampedTrend,
        ];
        let found = all.into_iter().find(|component| component.name() == name)?;
        found.with_shape(shape).ok()
    }

    /// The number of state components.
    pub fn state_dim(self) -> usize {
        match self {
            Self::RandomWalk => 1,
            Self::Sho { .. } | Self::Cycle { .. } | Self::LocalLinearTrend | Self::DampedTrend => 2,
        }
    }

    /// Whether its variance is constant.
    pub fn is_stationary(self) -> bool {
        matches!(self, Self::Sho { .. } | Self::Cycle { .. })
    }

    /// The second parameter, beside the length-scale: the quality of an oscillator, the period of a cycle.
    pub fn shape(self) -> Option<f64> {
        match self {
            Self::Sho { quality } => Some(quality.get()),
            Self::Cycle { period } => Some(period.get()),
            Self::RandomWalk | Self::LocalLinearTrend | Self::DampedTrend => None,
        }
    }

    /// The same component with another shape; components without one are unchanged.
    ///
    /// # Errors
    /// When the number is not positive and finite.
    pub fn with_shape(self, shape: f64) -> Result<Self, UnitError> {
        Ok(match self {
            Self::Sho { .. } => Self::Sho { quality: Quality::new(shape)? },
            Self::Cycle { .. } => Self::Cycle { period: LengthScale::new(shape)? },
            Self::RandomWalk | Self::LocalLinearTrend | Self::DampedTrend => self,
        })
    }

    /// Passes the dynamics of this component to `visitor`, so that inner loops are compiled for each.
    pub fn visit_dynamics<V: VisitDynamics>(self, length_scale: LengthScale, visitor: V) -> V::Output {
        match self {
            Self::Sho { quality } => visitor.visit(Sho::new(length_scale, quality)),
            Self::Cycle { period } => visitor.visit(Cycle::new(length_scale, period)),
            Self::RandomWalk => visitor.visit(RandomWalk::new(length_scale)),
            Self::LocalLinearTrend => visitor.visit(LocalLinearTrend::new(length_scale)),
            Self::DampedTrend => visitor.visit(DampedTrend::new(length_scale)),
        }
    }
}
