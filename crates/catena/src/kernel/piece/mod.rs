//! Processes for time: what a [`Kernel`](super::Kernel) cannot say on a line of its own.
//!
//! A kernel is a correlation that falls with distance; forecasts under it return to the mean. These four do something
//! else: swing, repeat, wander, and go on. They live on chains along a single input, in states of one or two numbers
//! with transitions that are exact for any spacing. A latent of several pieces is several latents whose columns of the
//! mixing matrix are proportional. To add a piece, add its file and its lines here.

mod cycle;
mod local_linear_trend;
mod random_walk;
mod sho;

use cycle::Cycle;
use local_linear_trend::LocalLinearTrend;
use random_walk::RandomWalk;
use sho::Sho;

use super::VisitDynamics;
use crate::units::{LengthScale, Quality, UnitError};

/// A process for time, of unit variance where it is stationary, and at the root where it is not.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Piece {
    /// A damped oscillator; see [`struct@Sho`].
    Sho {
        /// How slowly its swings die out.
        quality: Quality,
    },
    /// One harmonic of a season that slowly changes; see [`struct@Cycle`].
    Cycle {
        /// The time after which it repeats.
        period: LengthScale,
    },
    /// A level without a mean to return to; see [`struct@RandomWalk`].
    RandomWalk,
    /// A level with a slope that wanders; see [`struct@LocalLinearTrend`].
    LocalLinearTrend,
}

impl Piece {
    /// The name used in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sho { .. } => "sho",
            Self::Cycle { .. } => "qp",
            Self::RandomWalk => "rw",
            Self::LocalLinearTrend => "llt",
        }
    }

    /// The piece of this name and shape, if there is one; pieces without a shape ignore it.
    pub fn named(name: &str, shape: f64) -> Option<Self> {
        let (quality, period) = (Quality::new(1.0).ok()?, LengthScale::new(1.0).ok()?);
        let all = [Self::Sho { quality }, Self::Cycle { period }, Self::RandomWalk, Self::LocalLinearTrend];
        let found = all.into_iter().find(|piece| piece.name() == name)?;
        found.with_shape(shape).ok()
    }

    /// The number of state components.
    pub fn state_dim(self) -> usize {
        match self {
            Self::RandomWalk => 1,
            Self::Sho { .. } | Self::Cycle { .. } | Self::LocalLinearTrend => 2,
        }
    }

    /// Whether its variance is the same everywhere.
    pub fn is_stationary(self) -> bool {
        matches!(self, Self::Sho { .. } | Self::Cycle { .. })
    }

    /// What shapes it beside its length-scale: the quality of an oscillator, the period of a cycle.
    pub fn shape(self) -> Option<f64> {
        match self {
            Self::Sho { quality } => Some(quality.get()),
            Self::Cycle { period } => Some(period.get()),
            Self::RandomWalk | Self::LocalLinearTrend => None,
        }
    }

    /// The same piece in another shape; pieces without one stay as they are.
    ///
    /// # Errors
    /// When the number is not positive and finite.
    pub fn with_shape(self, shape: f64) -> Result<Self, UnitError> {
        Ok(match self {
            Self::Sho { .. } => Self::Sho { quality: Quality::new(shape)? },
            Self::Cycle { .. } => Self::Cycle { period: LengthScale::new(shape)? },
            Self::RandomWalk | Self::LocalLinearTrend => self,
        })
    }

    /// Hands the dynamics of this piece to `visitor`, so that inner loops are compiled for each.
    pub fn visit_dynamics<V: VisitDynamics>(self, length_scale: LengthScale, visitor: V) -> V::Output {
        match self {
            Self::Sho { quality } => visitor.visit(Sho::new(length_scale, quality)),
            Self::Cycle { period } => visitor.visit(Cycle::new(length_scale, period)),
            Self::RandomWalk => visitor.visit(RandomWalk::new(length_scale)),
            Self::LocalLinearTrend => visitor.visit(LocalLinearTrend::new(length_scale)),
        }
    }
}
