//! Student's t distribution: tails and quantiles.

use std::f64::consts::PI;

/// Iterations of the continued fraction, which converges in about the root of the degrees of freedom.
const FRACTIONS: usize = 500;

/// The logarithm of the density at 0.
pub(crate) fn log_constant(degrees: f64) -> f64 {
    libm::lgamma(0.5 * (degrees + 1.0)) - libm::lgamma(0.5 * degrees) - 0.5 * (degrees * PI).ln()
}

/// The probability that a standard t is farther from 0 than `t`, to small relative errors in the far tail.
pub(crate) fn two_sided_tail(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    if square == f64::INFINITY {
        return 0.0;
    }
    // The regularized incomplete beta function at ν/(ν + t²), whose complement t²/(ν + t²) loses no digits.
    let (x, rest) = (degrees / (degrees + square), square / (degrees + square));
    if rest == 0.0 {
        return 1.0;
    }
    let (a, b) = (0.5 * degrees, 0.5);
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * rest.ln();
    if x < (a + 1.0) / (a + b + 2.0) {
        log_front.exp() * continued_fraction(a, b, x) / a
    } else {
        1.0 - log_front.exp() * continued_fraction(b, a, rest) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let (mut c, mut d) = (1.0, nonzero(1.0 - (a + b) * x / (a + 1.0)).recip());
    let mut fraction = d;
    for number in 1..FRACTIONS {
        let m = number as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = nonzero(1.0 + step * d).recip();
            c = nonzero(1.0 + step / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The t that is exceeded in absolute value with this probability, between 0 and 1.
pub(crate) fn two_sided_quantile(probability: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_tail(high, degrees) > probability && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if two_sided_tail(middle, degrees) > probability { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_closed_forms() {
        for t in [0.0, 1e-3, 0.5, 1.0, 3.0, 20.0, 1e3] {
            // One degree of freedom is Cauchy; two and four have algebraic tails.
            let cauchy = 2.0 / PI * (1.0_f64).atan2(t);
            assert!((two_sided_tail(t, 1.0) / cauchy - 1.0).abs() < 1e-12, "{t}");
            let root = (2.0 + t * t).sqrt();
            let two = 2.0 / (root * (root + t));
            assert!((two_sided_tail(t, 2.0) / two - 1.0).abs() < 1e-11, "{t}");
        }
        assert_eq!(two_sided_tail(f64::INFINITY, 3.0), 0.0);
    }

    #[test]
    fn many_degrees_of_freedom_are_normal() {
        for t in [0.1, 1.0, 3.0, 5.0] {
            let normal = libm::erfc(t / 2.0_f64.sqrt());
            assert!((two_sided_tail(t, 1e7) / normal - 1.0).abs() < 1e-4, "{t}");
        }
    }

    #[test]
    fn the_density_integrates_to_the_tail() {
        for degrees in [2.0, 4.5, 30.0] {
            let (width, begin) = (1e-3, 1.3);
            let log_density =
                |t: f64| log_constant(degrees) - 0.5 * (degrees + 1.0) * (t * t / degrees).ln_1p();
            let density = |at: i32| log_density(begin + width * (f64::from(at) + 0.5)).exp();
            let sum: f64 = (0..20_000).map(density).sum::<f64>() * width;
            let expected = 0.5 * (two_sided_tail(begin, degrees) - two_sided_tail(begin + 20.0, degrees));
            assert!((sum / expected - 1.0).abs() < 1e-6, "{degrees}: {sum} {expected}");
        }
    }

    #[test]
    fn quantiles_invert_tails() {
        for degrees in [2.0, 5.0, 30.0] {
            for probability in [0.9, 0.5, 0.05, 1e-6, 1e-12] {
                let back = two_sided_tail(two_sided_quantile(probability, degrees), degrees);
                assert!((back / probability - 1.0).abs() < 1e-9, "{degrees} {probability}: {back}");
            }
        }
        assert!((two_sided_quantile(0.05, 4.0) - 2.776_445_105).abs() < 1e-6);
    }
}
