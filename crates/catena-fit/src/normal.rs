//! The normal distribution: density, cumulative probability, quantiles, and a value given all but itself.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The smallest difference of noise and posterior variance, in prior variances, with digits enough.
const LEAST_REST: f64 = 1e-13;

/// The log density of a value.
pub fn log_density(value: f64, mean: f64, deviation: f64) -> f64 {
    let error = (value - mean) / deviation;
    -0.5 * error * error - deviation.ln() - 0.5 * TAU.ln()
}

/// The density of a standard normal.
pub fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// The probability that a standard normal is below z.
pub fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Mean and variance of a value given everything but itself, if the posterior of its function, itself included, has this mean and
/// variance; `noise` is its own. `None` where noise and variance are so close that fewer than three digits are left: posterior
/// variances have rounding errors of about 10⁻¹⁶ of the `prior` variance.
///
/// Without its own message, which has precision 1/r and mean y, the function has precision 1/v − 1/r. So
///
/// ```text
/// y − E[y | others] = (y − m) r/(r − v),    var[y | others] = r²/(r − v).
/// ```
pub(crate) fn left_out(
    value: f64,
    noise: f64,
    (mean, variance): (f64, f64),
    prior: f64,
) -> Option<(f64, f64)> {
    let rest = noise - variance;
    let factor = noise / rest;
    (rest > LEAST_REST * prior).then_some((value - (value - mean) * factor, noise * factor))
}

/// The z below which a standard normal lies with this probability; infinite at 0 and 1, NaN outside.
pub fn quantile(probability: f64) -> f64 {
    if probability == 0.0 {
        return f64::NEG_INFINITY;
    }
    if probability == 1.0 {
        return f64::INFINITY;
    }
    if !(probability > 0.0 && probability < 1.0) {
        return f64::NAN;
    }
    if probability > 0.5 {
        return -quantile(1.0 - probability);
    }
    // The tail's leading term as a start, then Halley's method on log Φ, which is nearly a parabola.
    let mut z = -(-2.0 * (2.0 * probability).ln()).sqrt();
    for _ in 0..60 {
        let below = cumulative(z);
        let slope = density(z) / below;
        let error = (below / probability).ln();
        let curvature = -slope * (z + slope);
        let step = error / slope / (1.0 - 0.5 * error * curvature / (slope * slope));
        z -= step;
        if step.abs() <= 1e-15 * z.abs().max(1.0) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_probabilities() {
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((quantile(0.75) - 0.674_489_750_196_081_7).abs() < 1e-14);
        assert_eq!(quantile(0.5), 0.0);
        for exponent in 1..300 {
            let probability = 10.0_f64.powi(-exponent);
            let back = cumulative(quantile(probability));
            assert!((back / probability - 1.0).abs() < 1e-11, "{probability}: {back}");
        }
        for share in 1..1000 {
            let probability = f64::from(share) / 1000.0;
            assert!((cumulative(quantile(probability)) - probability).abs() < 1e-15);
        }
        assert!(
            quantile(-0.1).is_nan() && quantile(0.0) == f64::NEG_INFINITY && quantile(1.0) == f64::INFINITY
        );
    }
}
