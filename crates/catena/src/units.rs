//! Numbers whose unit and sign were checked when they were made.

use thiserror::Error;

/// A number that cannot be what it is meant to be.
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
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

/// A kernel's length-scale, in the units of the (scaled) distances of the structure.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct LengthScale(f64);

impl LengthScale {
    /// A checked length-scale.
    ///
    /// # Errors
    /// When `value` is zero, negative or not finite.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if is_positive(value) { Ok(Self(value)) } else { Err(UnitError::LengthScale(value)) }
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// How often an oscillator swings before it is forgotten: ½ for one that just does not, larger for one that does.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Quality(f64);

impl Quality {
    /// A checked quality.
    ///
    /// # Errors
    /// When `value` is zero, negative or not finite.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if is_positive(value) { Ok(Self(value)) } else { Err(UnitError::Quality(value)) }
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A variance of observation noise: the paper's `1/τ_d`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Variance(f64);

impl Variance {
    /// A checked variance.
    ///
    /// # Errors
    /// When `value` is zero, negative or not finite.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if is_positive(value) { Ok(Self(value)) } else { Err(UnitError::Variance(value)) }
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// The unit in which distances between points are counted before length-scales apply.
///
/// The paper's studies use the median gap of the chain and share it with every rival, so that a length-scale
/// means the same everywhere; carrying it as a value keeps that division visible.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct DistanceScale(f64);

impl DistanceScale {
    /// Distances as they are.
    pub const ONE: Self = Self(1.0);

    /// A checked scale.
    ///
    /// # Errors
    /// When `value` is zero, negative or not finite.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if is_positive(value) { Ok(Self(value)) } else { Err(UnitError::DistanceScale(value)) }
    }

    /// The bare number.
    pub const fn get(self) -> f64 {
        self.0
    }
}
