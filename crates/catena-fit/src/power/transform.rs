//! The transform of one output before it is centered and scaled: forward, inverse, and derivatives.
//!
//! Box–Cox of a positive value is (y^λ − 1)/λ, and log y at λ = 0. Yeo–Johnson is Box–Cox of 1 + v with the exponent λ for
//! v = (y − center)/unit ≥ 0, and minus Box–Cox of 1 − v with the exponent 2 − λ below. Both are increasing.
//!
//! Exponents are between 0 and 2. Then Yeo–Johnson maps onto all numbers, and Box–Cox with λ > 0 onto those above −1/λ; the inverse
//! of a lower number is 0, so that a predictive distribution has its probability below −1/λ at 0. With a negative exponent the
//! predictive mean would be infinite.

use serde::{Deserialize, Serialize};

/// The largest exponent; the smallest is 0.
pub const LARGEST_EXPONENT: f64 = 2.0;

/// The increasing function of an output that is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedPower", into = "SavedPower")]
pub enum PowerTransform {
    /// The output itself.
    #[default]
    None,
    /// Its logarithm.
    Log,
    /// Its Box–Cox transform.
    BoxCox {
        /// The exponent λ, from 0 (logarithm) to 2.
        exponent: f64,
    },
    /// Its Yeo–Johnson transform.
    YeoJohnson {
        /// The exponent λ, from 0 to 2; 1 is the identity.
        exponent: f64,
        /// The value at which both branches meet.
        center: f64,
        /// The unit of the value, so that results do not depend on the user's units.
        unit: f64,
    },
}

/// A transform in a model file or a summary. Files of earlier versions have `log` only.
#[derive(Serialize, Deserialize)]
struct SavedPower {
    #[serde(default, skip_serializing)]
    log: Option<bool>,
    #[serde(default)]
    transform: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exponent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    center: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<f64>,
}

impl From<PowerTransform> for SavedPower {
    fn from(power: PowerTransform) -> Self {
        let (center, unit) = match power {
            PowerTransform::YeoJohnson { center, unit, .. } => (Some(center), Some(unit)),
            _ => (None, None),
        };
        let transform = Some(power.kind().to_owned());
        Self { log: None, transform, exponent: power.exponent(), center, unit }
    }
}

impl TryFrom<SavedPower> for PowerTransform {
    type Error = String;

    fn try_from(saved: SavedPower) -> Result<Self, String> {
        let SavedPower { log, transform, exponent, center, unit } = saved;
        let exponent = || {
            let found = exponent.filter(|exponent| (0.0..=LARGEST_EXPONENT).contains(exponent));
            found.ok_or("the exponent of a transform is missing or not between 0 and 2")
        };
        match (transform.as_deref(), log) {
            (Some("none"), _) | (None, Some(false)) => Ok(Self::None),
            (Some("log"), _) | (None, Some(true)) => Ok(Self::Log),
            (Some("box-cox"), _) => Ok(Self::BoxCox { exponent: exponent()? }),
            (Some("yeo-johnson"), _) => {
                let unit = unit.filter(|unit| *unit > 0.0 && unit.is_finite());
                match (center.filter(|center| center.is_finite()), unit) {
                    (Some(center), Some(unit)) => {
                        Ok(Self::YeoJohnson { exponent: exponent()?, center, unit })
                    }
                    _ => Err("the center or unit of a transform is missing or out of range".to_owned()),
                }
            }
            (Some(other), _) => Err(format!("the transform `{other}` is unknown")),
            (None, None) => Err("missing field `transform`".to_owned()),
        }
    }
}

impl PowerTransform {
    /// The word for the transform on the command line and in Python.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::BoxCox { .. } => "box-cox",
            Self::YeoJohnson { .. } => "yeo-johnson",
        }
    }

    /// The learned exponent; `None` for the identity and the logarithm.
    pub fn exponent(&self) -> Option<f64> {
        match self {
            Self::None | Self::Log => None,
            Self::BoxCox { exponent } | Self::YeoJohnson { exponent, .. } => Some(*exponent),
        }
    }

    /// The same kind with another exponent, if it has one.
    #[must_use]
    pub(crate) fn with_exponent(self, exponent: f64) -> Self {
        match self {
            Self::None | Self::Log => self,
            Self::BoxCox { .. } => Self::BoxCox { exponent },
            Self::YeoJohnson { center, unit, .. } => Self::YeoJohnson { exponent, center, unit },
        }
    }

    /// The name of a transformed output, such as `log rain` or `box-cox(0.31) flow`.
    pub fn label(&self, output: &str) -> String {
        match self.exponent() {
            None if *self == Self::Log => format!("log {output}"),
            None => output.to_owned(),
            Some(exponent) => format!("{}({exponent:.2}) {output}", self.kind()),
        }
    }

    /// Whether values must be positive.
    pub fn needs_positive(&self) -> bool {
        matches!(self, Self::Log | Self::BoxCox { .. })
    }

    /// The transform of a value; not finite for a value that must be positive and is not.
    pub fn forward(&self, value: f64) -> f64 {
        match *self {
            Self::None => value,
            Self::Log => value.ln(),
            Self::BoxCox { exponent } => raised(value.ln(), exponent),
            Self::YeoJohnson { exponent, center, unit } => {
                let v = (value - center) / unit;
                if v >= 0.0 { raised(v.ln_1p(), exponent) } else { -raised((-v).ln_1p(), 2.0 - exponent) }
            }
        }
    }

    /// The value with a given transform. Below the range of Box–Cox it is 0.
    pub fn inverse(&self, transformed: f64) -> f64 {
        match *self {
            Self::None => transformed,
            Self::Log => transformed.exp(),
            Self::BoxCox { exponent } => lowered(transformed, exponent).exp(),
            Self::YeoJohnson { exponent, center, unit } => {
                let v = if transformed >= 0.0 {
                    lowered(transformed, exponent).exp_m1()
                } else {
                    -lowered(-transformed, 2.0 - exponent).exp_m1()
                };
                center + unit * v
            }
        }
    }

    /// The logarithm of the derivative of [`PowerTransform::forward`].
    pub fn log_derivative(&self, value: f64) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Log => -value.ln(),
            Self::BoxCox { exponent } => (exponent - 1.0) * value.ln(),
            Self::YeoJohnson { exponent, center, unit } => {
                (exponent - 1.0) * signed_log((value - center) / unit) - unit.ln()
            }
        }
    }

    /// The derivatives of the transform and of its log derivative in the exponent; 0 without an exponent.
    pub(crate) fn exponent_derivatives(&self, value: f64) -> (f64, f64) {
        match *self {
            Self::None | Self::Log => (0.0, 0.0),
            Self::BoxCox { exponent } => {
                let log = value.ln();
                (raised_derivative(log, exponent), log)
            }
            Self::YeoJohnson { exponent, center, unit } => {
                let log = signed_log((value - center) / unit);
                let own = if log >= 0.0 { exponent } else { 2.0 - exponent };
                (raised_derivative(log.abs(), own), log)
            }
        }
    }
}

/// (e^{λu} − 1)/λ, and u at λ = 0.
fn raised(u: f64, exponent: f64) -> f64 {
    if exponent == 0.0 { u } else { (exponent * u).exp_m1() / exponent }
}

/// The inverse of [`raised`]: log(1 + λz)/λ, and −∞ below its range.
fn lowered(z: f64, exponent: f64) -> f64 {
    let product = exponent * z;
    if exponent == 0.0 {
        z
    } else if product <= -1.0 {
        f64::NEG_INFINITY
    } else {
        product.ln_1p() / exponent
    }
}

/// The derivative of [`raised`] in the exponent: u² ∫₀¹ s e^{λus} ds.
fn raised_derivative(u: f64, exponent: f64) -> f64 {
    let x = exponent * u;
    let integral = if x.abs() < 1.0 {
        // Σ xᵏ/(k! (k + 2)); the closed form cancels.
        let (mut sum, mut term) = (0.0, 1.0);
        for k in 0..20 {
            sum += term / f64::from(k + 2);
            term *= x / f64::from(k + 1);
        }
        sum
    } else {
        ((x - 1.0) * x.exp() + 1.0) / (x * x)
    };
    u * u * integral
}

/// log(1 + v) for v ≥ 0, and −log(1 − v) below.
fn signed_log(v: f64) -> f64 {
    v.abs().ln_1p().copysign(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPONENTS: [f64; 16] = [
        0.0,
        1e-300,
        1e-16,
        1e-9,
        1e-4,
        0.3,
        0.5,
        0.999_999_999,
        1.0,
        1.000_000_001,
        1.5,
        1.999,
        1.999_999_9,
        1.999_999_999_999,
        2.0 - 1e-15,
        2.0,
    ];

    fn yeo_johnson(exponent: f64) -> PowerTransform {
        PowerTransform::YeoJohnson { exponent, center: 0.0, unit: 1.0 }
    }

    /// Tiny and huge values, and values around 1.
    fn values() -> Vec<f64> {
        (-30..=30).flat_map(|power| [1.0, 1.37, 9.2].map(|digits| digits * 10.0_f64.powi(power))).collect()
    }

    /// An error of the transform of a few units in the last place, relative to the larger of the value's transform and its own
    /// argument log y, moves log y by this much.
    fn round_trip_error(log: f64, exponent: f64) -> f64 {
        // z = (e^{λu} − 1)/λ has relative error (4 + |λu|)ε, and du/dz = e^{−λu}.
        let product = exponent * log;
        let slope = if product == 0.0 { 1.0 } else { (-(-product).exp_m1() / product).abs().max(1e-300) };
        f64::EPSILON * (8.0 + 4.0 * product.abs()) * (1.0 + slope) * (1.0 + log.abs())
    }

    #[test]
    fn box_cox_inverts_over_the_whole_range() {
        for exponent in EXPONENTS {
            let power = PowerTransform::BoxCox { exponent };
            for value in values() {
                let log = value.ln();
                // Below, the transform is −1/λ to rounding: a small value has lost its digits, and the inverse is still small.
                if exponent * log < -30.0 {
                    let limit = (-30.0 / exponent).exp();
                    assert!(power.inverse(power.forward(value)) <= limit, "{exponent} {value}");
                    continue;
                }
                let back = power.inverse(power.forward(value)).ln();
                let amplified = (-exponent * log).exp().max(1.0) / exponent.max(1e-300);
                let bound = round_trip_error(log, exponent)
                    + 4.0 * f64::EPSILON * if exponent * log < -1e-3 { amplified } else { 0.0 };
                assert!((back - log).abs() <= bound, "{exponent} {value:e}: {back} {log} {bound:e}");
            }
        }
    }

    #[test]
    fn yeo_johnson_inverts_over_the_whole_range() {
        for exponent in EXPONENTS {
            let power = yeo_johnson(exponent);
            for value in values().into_iter().flat_map(|value| [value, -value]).chain([0.0]) {
                let back = power.inverse(power.forward(value));
                let log = value.abs().ln_1p();
                let own = if value >= 0.0 { exponent } else { 2.0 - exponent };
                let bound = 2.0
                    * round_trip_error(log, own)
                    * (1.0 + value.abs()).min(value.abs() * (1.0 + 1.0 / log.max(1e-300)));
                assert!((back - value).abs() <= bound, "{exponent} {value:e}: {back:e} {bound:e}");
            }
        }
    }

    #[test]
    fn special_exponents_are_the_known_functions() {
        for value in [1e-12, 0.03, 0.9, 1.0, 4.0, 1e9] {
            let close = |found: f64, expected: f64| {
                assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{found} {expected}");
            };
            close(PowerTransform::BoxCox { exponent: 0.0 }.forward(value), value.ln());
            close(
                PowerTransform::BoxCox { exponent: 1.0 }.forward(value) / (1.0 + value),
                (value - 1.0) / (1.0 + value),
            );
            close(PowerTransform::BoxCox { exponent: 0.5 }.forward(value), 2.0 * (value.sqrt() - 1.0));
            for signed in [value, -value] {
                close(yeo_johnson(1.0).forward(signed) / (1.0 + value), signed / (1.0 + value));
            }
            close(yeo_johnson(0.0).forward(value), value.ln_1p());
            close(yeo_johnson(2.0).forward(-value), -value.ln_1p());
        }
        // Exponents beside the special ones differ by their distance, without cancellation.
        for (near, at) in [(1e-12, 0.0), (2.0 - 1e-12, 2.0)] {
            for value in [-3.0, 0.5, 40.0] {
                let (found, expected) = (yeo_johnson(near).forward(value), yeo_johnson(at).forward(value));
                assert!((found / expected - 1.0).abs() < 1e-10, "{near} {value}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_central_differences() {
        let centered = |exponent| PowerTransform::YeoJohnson { exponent, center: 1.3, unit: 2.5 };
        for exponent in [1e-3, 0.2, 0.7, 1.0, 1.4, 1.8, 1.999] {
            for value in [-40.0, -3.0, -0.4, 0.02, 0.8, 1.31, 2.7, 55.0] {
                let mut powers = vec![centered(exponent)];
                if value > 0.0 {
                    powers.push(PowerTransform::BoxCox { exponent });
                    powers.push(PowerTransform::Log);
                }
                for power in powers {
                    let step = 1e-5 * f64::abs(value);
                    let slope = (power.forward(value + step) - power.forward(value - step)) / (2.0 * step);
                    // Truncation is step² times the third derivative, rounding ε/step.
                    assert!((slope.ln() - power.log_derivative(value)).abs() < 1e-7, "{power:?} {value}");
                    let step = 1e-5;
                    let (low, high) =
                        (power.with_exponent(exponent - step), power.with_exponent(exponent + step));
                    let (of_value, of_log) = power.exponent_derivatives(value);
                    let slope = (high.forward(value) - low.forward(value)) / (2.0 * step);
                    let log = (high.log_derivative(value) - low.log_derivative(value)) / (2.0 * step);
                    let scale = power.forward(value).abs().max(of_value.abs()).max(1.0);
                    assert!((slope - of_value).abs() < 1e-8 * scale, "{power:?} {value}: {slope} {of_value}");
                    assert!((log - of_log).abs() < 1e-8 * of_log.abs().max(1.0), "{power:?} {value}");
                }
            }
        }
    }

    #[test]
    fn values_below_the_range_of_box_cox_are_zero() {
        for exponent in [0.2, 1.0, 2.0] {
            let power = PowerTransform::BoxCox { exponent };
            for below in [-1.0 / exponent, -1.0 / exponent - 3.0, f64::NEG_INFINITY] {
                assert_eq!(power.inverse(below), 0.0);
            }
        }
    }
}
