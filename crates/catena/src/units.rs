//! Positive numbers whose meaning and range were checked when they were made.

use thiserror::Error;

/// A number out of range.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A length-scale must be positive and finite.
    #[error("length-scale {0} is not a positive finite number")]
    LengthScale(f64),
    /// A noise variance must be positive and finite.
    #[error("noise variance {0} is not a positive finite number")]
    Variance(f64),
    /// A quality factor must be positive and finite.
    #[error("quality {0} is not a positive finite number")]
    Quality(f64),
    /// A distance scale must be positive and finite.
    #[error("distance scale {0} is not a positive finite number")]
    DistanceScale(f64),
    /// Degrees of freedom must be positive and finite.
    #[error("{0} degrees of freedom are not a positive finite number; for Gaussian noise use `Gaussian`")]
    DegreesOfFreedom(f64),
    /// Limits must be in order, and one of them finite.
    #[error(
        "the limits {lower} and {upper} do not cut anything off; give a finite lower limit below the upper one"
    )]
    Limits {
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// The log odds of zeros must be finite.
    #[error("log odds of {offset} with slope {slope} are not finite numbers")]
    LogOdds {
        /// The log odds where the function is 0.
        offset: f64,
        /// Their slope.
        slope: f64,
    },
}

pub(crate) fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

macro_rules! positive_number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
        pub struct $name(f64);

        impl $name {
            /// A checked value.
            ///
            /// # Errors
            /// When `value` is zero, negative or not finite.
            pub fn new(value: f64) -> Result<Self, UnitError> {
                if is_positive(value) { Ok(Self(value)) } else { Err(UnitError::$name(value)) }
            }

            /// The plain number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }
    };
}

positive_number! {
    /// A kernel's length-scale, in the units of the (scaled) distances of the structure.
    LengthScale
}
positive_number! {
    /// The quality factor of an oscillator: ½ at critical damping, larger for oscillations that last longer.
    Quality
}
positive_number! {
    /// A variance of observation noise: the paper's `1/τ_d`.
    Variance
}
positive_number! {
    /// The unit of distances between points, before length-scales apply.
    ///
    /// The paper's studies use the median gap of the chain and share it with every method, so that a length-scale
    /// means the same everywhere.
    DistanceScale
}

impl DistanceScale {
    /// Distances as they are.
    pub const ONE: Self = Self(1.0);
}
