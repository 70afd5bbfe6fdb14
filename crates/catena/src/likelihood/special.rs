//! Special functions of the likelihoods: gamma, beta and normal integrals.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

/// From here on the asymptotic series of the digamma and trigamma functions are exact to rounding.
const ENOUGH_FOR_SERIES: f64 = 12.0;

/// The logarithm of the gamma function at a positive number.
pub(super) fn log_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivative of [`log_gamma`].
pub(super) fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ENOUGH_FOR_SERIES {
        sum -= x.recip();
        x += 1.0;
    }
    let square = (x * x).recip();
    let series =
        [-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32760.0, -1.0 / 12.0];
    sum + x.ln() - 0.5 / x + square * polynomial(&series, square)
}

/// The second derivative of [`log_gamma`].
pub(super) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ENOUGH_FOR_SERIES {
        sum += (x * x).recip();
        x += 1.0;
    }
    let square = (x * x).recip();
    let series = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    sum + x.recip() + 0.5 * square + square / x * polynomial(&series, square)
}

fn polynomial(coefficients: &[f64], at: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |rest, term| term + at * rest)
}

/// `log Γ(x + y) − log Γ(x) − y log x` and its derivative in x, without cancellation for large x.
pub(super) fn rising_step(x: f64, y: f64) -> (f64, f64) {
    if x < ENOUGH_FOR_SERIES {
        let value = log_gamma(x + y) - log_gamma(x) - y * x.ln();
        return (value, digamma(x + y) - digamma(x) - y / x);
    }
    // Stirling's formula for both, in terms of log(1 + y/x).
    let logarithm = (y / x).ln_1p();
    let value = (x + y - 0.5) * logarithm - y + remainder(x + y) - remainder(x);
    // The derivative of (x + y − ½) log(1 + y/x) − y in x.
    let slope = logarithm - (x + y - 0.5) * y / (x * (x + y));
    (value, slope + remainder_slope(x + y) - remainder_slope(x))
}

/// What Stirling's formula leaves out of `log Γ(x)`, for x of at least [`ENOUGH_FOR_SERIES`].
fn remainder(x: f64) -> f64 {
    let square = (x * x).recip();
    polynomial(&[1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0], square) / x
}

fn remainder_slope(x: f64) -> f64 {
    let square = (x * x).recip();
    square * polynomial(&[-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0], square)
}

/// `log(1 + eˣ)`.
pub(super) fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// `1/(1 + e^−x)`.
pub(super) fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        (1.0 + (-x).exp()).recip()
    } else {
        let power = x.exp();
        power / (1.0 + power)
    }
}

/// The density of a standard normal.
pub(super) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// The probability that a standard normal is below z.
pub(super) fn normal_cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// `log Φ(z)` and its derivative φ(z)/Φ(z).
pub(super) fn log_normal_cumulative(z: f64) -> (f64, f64) {
    if z > -20.0 {
        let below = normal_cumulative(z);
        return (below.ln(), normal_density(z) / below);
    }
    // φ(z)/Φ(z) by the continued fraction of Mills' ratio.
    let x = -z;
    let mut ratio = x;
    for term in (1..=20).rev() {
        ratio = x + f64::from(term) / ratio;
    }
    (-0.5 * z * z - 0.5 * TAU.ln() - ratio.ln(), ratio)
}

/// The z below which a standard normal lies with this probability.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    if probability == 0.5 {
        return 0.0;
    }
    // The tail's leading term as a start, then Newton's method on log Φ, which is concave: it does not overshoot twice.
    let mut z = -(-2.0 * (2.0 * probability).ln()).sqrt();
    for _ in 0..60 {
        let (log_below, slope) = log_normal_cumulative(z);
        let step = (log_below - probability.ln()) / slope;
        z -= step;
        if step.abs() <= 1e-15 * z.abs().max(1.0) {
            break;
        }
    }
    z
}

/// The regularized lower incomplete gamma function P(a, x): the probability that a gamma variable of shape a is below x.
pub(super) fn gamma_cumulative(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x == f64::INFINITY {
        return 1.0;
    }
    let n_terms = 200 + (8.0 * a.sqrt()).min(1e6) as usize;
    let log_front = a * x.ln() - x - log_gamma(a);
    if x < a + 1.0 {
        let (mut term, mut sum, mut shape) = (a.recip(), a.recip(), a);
        for _ in 0..n_terms {
            shape += 1.0;
            term *= x / shape;
            sum += term;
            if term < sum * 1e-16 {
                break;
            }
        }
        (log_front + sum.ln()).exp().min(1.0)
    } else {
        // Lentz's method on the continued fraction of the upper function.
        let tiny = f64::MIN_POSITIVE / f64::EPSILON;
        let mut b = x + 1.0 - a;
        let (mut c, mut d) = (tiny.recip(), b.recip());
        let mut product = d;
        for term in 1..n_terms {
            let term = term as f64;
            let coefficient = -term * (term - a);
            b += 2.0;
            d = nonzero(coefficient * d + b, tiny).recip();
            c = nonzero(b + coefficient / c, tiny);
            product *= c * d;
            if (c * d - 1.0).abs() < 1e-15 {
                break;
            }
        }
        1.0 - (log_front + product.ln()).exp().min(1.0)
    }
}

/// The regularized incomplete beta function I(x; a, b): the probability that a beta variable is below x.
pub(super) fn beta_cumulative(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - lower_beta(b, a, 1.0 - x);
    }
    lower_beta(a, b, x)
}

fn lower_beta(a: f64, b: f64, x: f64) -> f64 {
    let log_front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let n_terms = 200 + (4.0 * a.max(b).sqrt()).min(1e6) as usize;
    let (mut c, mut d) = (1.0, nonzero(1.0 - (a + b) * x / (a + 1.0), tiny).recip());
    let mut product = d;
    for term in 1..n_terms {
        let m = term as f64;
        for coefficient in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = nonzero(1.0 + coefficient * d, tiny).recip();
            c = nonzero(1.0 + coefficient / c, tiny);
            product *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    ((log_front + product.ln()).exp() / a).min(1.0)
}

fn nonzero(number: f64, tiny: f64) -> f64 {
    if number.abs() < tiny { tiny } else { number }
}

/// Nodes and weights of the Gauss–Legendre rule on [−1, 1].
pub(super) fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let at = |index: usize| {
        let mut x = (PI * (index as f64 + 0.75) / (n as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut value) = (1.0, x);
            for degree in 2..=n {
                let degree = degree as f64;
                (before, value) =
                    (value, ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree);
            }
            slope = n as f64 * (x * value - before) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(at).collect()
}

/// Nodes and weights of the Gauss–Hermite rule for a standard normal; the weights add up to 1.
pub(super) fn gauss_hermite(n: usize) -> Vec<(f64, f64)> {
    // Orthonormal polynomials stay in range. Roots from the largest inwards, each removed from the search of the next.
    let value_and_slope = |x: f64| {
        let (mut before, mut value) = (0.0, 1.0);
        for degree in 1..=n {
            let degree = degree as f64;
            (before, value) = (value, (x * value - (degree - 1.0).sqrt() * before) / degree.sqrt());
        }
        (value, (n as f64).sqrt() * before, before)
    };
    let mut nodes: Vec<(f64, f64)> = vec![];
    let mut x = 2.0 * (n as f64).sqrt();
    for _ in 0..n {
        for _ in 0..200 {
            let (value, slope, _) = value_and_slope(x);
            let removed: f64 = nodes.iter().map(|(root, _)| (x - root).recip()).sum();
            let step = value / (slope - value * removed);
            x -= step;
            if step.abs() < 1e-15 * x.abs().max(1.0) {
                break;
            }
        }
        let (_, _, before) = value_and_slope(x);
        nodes.push((x, (n as f64 * before * before).recip()));
        x -= 1e-3;
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_functions_obey_their_recurrences_and_known_values() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-14);
        for x in [1e-3, 0.3, 2.0, 11.9, 12.1, 300.0] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-12 * (1.0 + 1.0 / x), "{x}");
            assert!((trigamma(x) - trigamma(x + 1.0) - 1.0 / (x * x)).abs() < 1e-12 * (1.0 + 1.0 / (x * x)));
        }
        // Γ(x + y)/Γ(x) xʸ is the product of 1 + j/x below y.
        for x in [0.2, 5.0, 11.9, 12.1, 1e3, 1e9] {
            for y in [0.0, 1.0, 7.0, 60.0] {
                let steps = 0..y as usize;
                let value: f64 = steps.clone().map(|j| (j as f64 / x).ln_1p()).sum();
                let slope: f64 = steps.map(|j| -(j as f64) / (x * (x + j as f64))).sum();
                let found = rising_step(x, y);
                assert!((found.0 - value).abs() < 1e-12 * (1.0 + value.abs()), "{x} {y} {found:?} {value}");
                assert!((found.1 - slope).abs() < 1e-12 * (1.0 + slope.abs()), "{x} {y} {found:?} {slope}");
            }
        }
    }

    #[test]
    fn integrals_equal_sums_and_each_other() {
        // Poisson: P(Y ≤ n) = 1 − P(n + 1, λ). Binomial: P(Y ≤ n) = I(1 − p; N − n, n + 1).
        for rate in [0.1, 1.0, 9.0, 200.0, 5000.0] {
            let (mut term, mut sum) = (-rate, 0.0);
            for n in 0..(rate as usize + 60) {
                sum += f64::exp(term);
                term += rate.ln() - ((n + 1) as f64).ln();
                let found = 1.0 - gamma_cumulative(n as f64 + 1.0, rate);
                assert!((found - sum).abs() < 1e-10, "{rate} {n}: {found} {sum}");
            }
        }
        for (trials, p) in [(5, 0.3), (40, 0.9), (200, 0.01)] {
            let (mut mass, mut sum) = ((1.0_f64 - p).powi(trials), 0.0);
            for n in 0..trials {
                sum += mass;
                mass *= f64::from(trials - n) / f64::from(n + 1) * p / (1.0 - p);
                let found = beta_cumulative(f64::from(trials - n), f64::from(n) + 1.0, 1.0 - p);
                assert!((found - sum).abs() < 1e-11, "{trials} {n}: {found} {sum}");
            }
        }
    }

    #[test]
    fn the_normal_tail_continues_where_the_integral_underflows() {
        let (near, far) = (log_normal_cumulative(-19.999_999), log_normal_cumulative(-20.000_001));
        assert!((near.0 - far.0 - 2e-6 * near.1).abs() < 1e-9 && (near.1 - far.1 + 2e-6).abs() < 1e-7);
        assert!(log_normal_cumulative(-1e3).0 < -5e5);
        for share in 1..400 {
            let probability = f64::from(share) / 400.0;
            assert!((normal_cumulative(normal_quantile(probability)) - probability).abs() < 1e-14);
        }
        assert!((normal_quantile(1e-200) + 30.205_6).abs() < 1e-3);
    }

    #[test]
    fn rules_integrate_polynomials() {
        for (x, w) in gauss_hermite(32) {
            assert!(x.is_finite() && w > 0.0);
        }
        let moment = |power: i32| gauss_hermite(32).iter().map(|(x, w)| w * x.powi(power)).sum::<f64>();
        let moments = [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0), (12, 10395.0)];
        for (power, expected) in moments {
            assert!(
                (moment(power) / f64::max(expected, 1.0) - f64::min(expected, 1.0)).abs() < 1e-12,
                "{power}"
            );
        }
        let integral: f64 = gauss_legendre(32).iter().map(|(x, w)| w * x.powi(62)).sum();
        assert!((integral * 63.0 / 2.0 - 1.0).abs() < 1e-12);
    }
}
