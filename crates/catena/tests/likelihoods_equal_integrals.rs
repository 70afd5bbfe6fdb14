//! Every likelihood: its expected log density is the integral of the textbook density or a bound below it, its derivatives are
//! those of the expected log density, and a new observation has the moments, quantiles and draws of its distribution.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::index::{OutputIndex, RowIndex};
use catena::likelihood::{
    Bernoulli, Beta, Binomial, CellLikelihood, CellMarginal, Censored, Gamma, Gaussian, Likelihood,
    LogNormal, NegativeBinomial, ObservationScale, ObservedCell, Poisson, StudentT, ZeroInflated,
};
use catena_testkit::likelihoods::Law;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::f64::consts::TAU;

/// A likelihood with its textbook law, values it allows, its exposure, and whether it gives the integral itself.
struct Case {
    likelihood: Likelihood,
    law: Law,
    values: &'static [f64],
    exposure: f64,
    is_exact: bool,
}

fn cases() -> Vec<Case> {
    let case = |likelihood: Likelihood, law, values, exposure, is_exact| Case {
        likelihood,
        law,
        values,
        exposure,
        is_exact,
    };
    vec![
        case(Gaussian.into(), Law::Gaussian, &[-1.0, 0.0, 2.5], 1.0, true),
        case(StudentT::new(4.0).unwrap().into(), Law::StudentT(4.0), &[-1.0, 0.4, 30.0], 1.0, false),
        case(StudentT::new(1.2).unwrap().into(), Law::StudentT(1.2), &[0.4, -9.0], 1.0, false),
        case(Poisson.into(), Law::Poisson, &[0.0, 1.0, 40.0], 3.0, true),
        case(NegativeBinomial.into(), Law::NegativeBinomial, &[0.0, 2.0, 90.0], 3.0, true),
        case(Bernoulli.into(), Law::Binomial, &[0.0, 1.0], 1.0, true),
        case(Binomial.into(), Law::Binomial, &[0.0, 3.0, 9.0, 12.0], 12.0, true),
        case(Gamma.into(), Law::Gamma, &[0.01, 1.0, 12.0], 1.0, true),
        case(LogNormal.into(), Law::LogNormal, &[0.01, 1.0, 12.0], 1.0, true),
        case(Beta.into(), Law::Beta, &[0.02, 0.5, 0.99], 1.0, false),
        case(Censored::new(0.0, 3.0).unwrap().into(), Law::Censored(0.0, 3.0), &[0.0, 1.0, 3.0], 1.0, true),
        case(
            Censored::new(-0.5, f64::INFINITY).unwrap().into(),
            Law::Censored(-0.5, f64::INFINITY),
            &[-0.5, 8.0],
            1.0,
            true,
        ),
        case(
            ZeroInflated::new(0.7, 2.0).unwrap().into(),
            Law::ZeroInflated(0.7, 2.0),
            &[0.0, 0.3, -1.0],
            1.0,
            true,
        ),
        case(
            ZeroInflated::new(-0.4, 0.0).unwrap().into(),
            Law::ZeroInflated(-0.4, 0.0),
            &[0.0, 2.0],
            1.0,
            true,
        ),
    ]
}

const MARGINALS: [(f64, f64); 6] = [(0.0, 0.3), (1.0, 0.01), (-2.0, 1.5), (2.5, 0.2), (0.4, 3.0), (4.0, 1.0)];
const NOISES: [f64; 3] = [0.02, 0.3, 2.0];

fn cell(value: f64, noise: f64, exposure: f64) -> ObservedCell {
    ObservedCell { row: RowIndex::new(0), output: OutputIndex::new(0), value, noise, exposure }
}

/// `E[function(f)]` by many small steps.
fn integral(marginal: CellMarginal, function: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 2e-3;
    let deviation = marginal.variance.sqrt();
    (-4500..=4500)
        .map(|at| STEP * f64::from(at))
        .map(|z| STEP * (-0.5 * z * z).exp() / TAU.sqrt() * function(marginal.mean + deviation * z))
        .sum()
}

#[test]
fn expected_log_densities_are_integrals_or_below_them() {
    for case in cases() {
        for &value in case.values {
            for (mean, variance) in MARGINALS {
                for noise in NOISES {
                    let marginal = CellMarginal { mean, variance };
                    let found = case.likelihood.expectation(&cell(value, noise, case.exposure), marginal);
                    let exact = integral(marginal, |f| case.law.log_density(value, f, noise, case.exposure));
                    let label = format!("{:?} at {value}, {marginal:?}, noise {noise}", case.likelihood);
                    let rounding = 2e-8 * (1.0 + exact.abs());
                    assert!(found.log_density <= exact + rounding, "{label}: {found:?}, {exact}");
                    // The least precision takes up to half of 1e-8 variances over the noise.
                    let exact_to = rounding + 1e-8 * variance * (1.0 + noise.recip());
                    let is_equal = (found.log_density - exact).abs() <= exact_to;
                    assert!(is_equal || !case.is_exact, "{label}: {found:?}, {exact}");
                    assert!(found.precision > 0.0, "{label}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn bounds_in_tails_are_close_where_the_marginal_is_narrow() {
    // Half the variance times the convex part of the curvature: at most (ν + 1)/8ν, here over the noise, plus the least precision.
    let student = Likelihood::from(StudentT::new(4.0).unwrap());
    for value in [0.0, 1.5, 4.0, 60.0] {
        let marginal = CellMarginal { mean: 0.0, variance: 0.02 };
        let found = student.expectation(&cell(value, 0.3, 1.0), marginal).log_density;
        let exact = integral(marginal, |f| Law::StudentT(4.0).log_density(value, f, 0.3, 1.0));
        let most = 0.5 * 0.02 * (5.0 / 32.0 + 1e-3 / 4.0) / 0.3;
        assert!((0.0..=most).contains(&(exact - found)), "{value}: {found} {exact}");
    }
    for value in [0.02, 0.6] {
        let marginal = CellMarginal { mean: 0.3, variance: 0.02 };
        let found = Likelihood::from(Beta).expectation(&cell(value, 0.05, 1.0), marginal).log_density;
        let exact = integral(marginal, |f| Law::Beta.log_density(value, f, 0.05, 1.0));
        assert!((-1e-8..=0.1).contains(&(exact - found)), "{value}: {found} {exact}");
    }
}

#[test]
fn derivatives_are_those_of_the_expected_log_density() {
    for case in cases() {
        for &value in case.values {
            for (mean, variance) in MARGINALS {
                for noise in NOISES {
                    let at = |mean: f64, variance: f64, noise: f64| {
                        let marginal = CellMarginal { mean, variance };
                        case.likelihood.expectation(&cell(value, noise, case.exposure), marginal)
                    };
                    let found = at(mean, variance, noise);
                    // Five-point differences: off by the fourth power of the step, and by rounding over the step.
                    let difference = |h: f64, of: &dyn Fn(f64) -> f64| {
                        (8.0 * (of(h) - of(-h)) - (of(2.0 * h) - of(-2.0 * h))) / (12.0 * h)
                    };
                    let h = 2e-3 * variance.min(noise).sqrt();
                    let slope = difference(h, &|h| at(mean + h, variance, noise).log_density);
                    let h = 2e-3 * variance;
                    let precision = -2.0 * difference(h, &|h| at(mean, variance + h, noise).log_density);
                    let h = 2e-3 * noise;
                    let by_noise = difference(h, &|h| at(mean, variance, noise + h).log_density);
                    let label = format!("{:?} at {value}, {mean} {variance}, noise {noise}", case.likelihood);
                    let size = 1.0 + found.log_density.abs();
                    for (what, found, expected, unit) in [
                        ("slope", found.slope, slope, size / variance.min(noise).sqrt()),
                        ("precision", found.precision, precision, size / variance),
                        ("noise", found.noise_slope, by_noise, size / noise),
                    ] {
                        let tolerance = 1e-7 * (unit + expected.abs());
                        assert!((found - expected).abs() <= tolerance, "{what}: {found} {expected}, {label}");
                    }
                }
            }
        }
    }
}

/// The mass of an interval of values under a marginal, by integration of the textbook density; of a single value for counts.
fn mass(case: &Case, marginal: CellMarginal, scale: ObservationScale, value: f64) -> f64 {
    integral(marginal, |f| case.law.log_density(value, f, scale.noise, scale.exposure).exp())
}

#[test]
fn cumulative_probabilities_and_moments_are_sums_of_the_density() {
    for case in cases() {
        for (mean, variance) in [(0.3, 0.02), (-0.5, 0.6)] {
            for noise in [0.04, 0.5] {
                let marginal = CellMarginal { mean, variance };
                let scale = ObservationScale { noise, exposure: case.exposure };
                let likelihood = &case.likelihood;
                let label = format!("{likelihood:?}, {marginal:?}, noise {noise}");
                if likelihood.is_whole() {
                    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
                    let most = if matches!(case.law, Law::Binomial) { case.exposure as i32 } else { 400 };
                    for count in 0..=most {
                        let value = f64::from(count);
                        let mass = mass(&case, marginal, scale, value);
                        sum += mass;
                        first += value * mass;
                        second += value * value * mass;
                        let found = likelihood.cumulative(value, marginal, scale);
                        assert!((found - sum).abs() < 1e-7, "{label}: at {value} {found} {sum}");
                    }
                    let (found_mean, found_variance) = likelihood.moments(marginal, scale);
                    let spread = second - first * first;
                    assert!((found_mean / first - 1.0).abs() < 1e-4, "{label}: {found_mean} {first}");
                    assert!(
                        (found_variance / spread - 1.0).abs() < 1e-2,
                        "{label}: {found_variance} {spread}"
                    );
                } else {
                    // The density is the derivative of the cumulative probability where there is no jump.
                    for value in [-0.7, 0.2, 0.6, 0.9] {
                        if case.likelihood.refusal(value, 1.0).is_some() {
                            continue;
                        }
                        let h = 1e-4;
                        let at = |value: f64| likelihood.cumulative(value, marginal, scale);
                        let density = (8.0 * (at(value + h) - at(value - h))
                            - (at(value + 2.0 * h) - at(value - 2.0 * h)))
                            / (12.0 * h);
                        let expected = mass(&case, marginal, scale, value);
                        let tolerance = 1e-6 * (1.0 + expected);
                        assert!(
                            (density - expected).abs() < tolerance,
                            "{label}: {value} {density} {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn log_densities_of_new_observations_are_integrals() {
    for case in cases() {
        for (mean, variance) in [(0.3, 0.02), (-0.5, 0.6), (1.0, 4.0)] {
            for noise in [0.04, 0.5] {
                for &value in case.values {
                    let marginal = CellMarginal { mean, variance };
                    let scale = ObservationScale { noise, exposure: case.exposure };
                    let found = case.likelihood.log_density(value, marginal, scale);
                    let expected = mass(&case, marginal, scale, value).ln();
                    // Far tails are integrated less exactly.
                    if expected > -10.0 {
                        let label = format!("{:?}, {marginal:?}, {noise}, {value}", case.likelihood);
                        assert!((found - expected).abs() < 5e-5, "{label}: {found} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn quantiles_invert_the_cumulative_probability() {
    for case in cases() {
        for (mean, variance) in [(0.3, 0.02), (-0.5, 0.6), (2.0, 4.0)] {
            for probability in [1e-4, 0.025, 0.5, 0.9, 0.999] {
                let marginal = CellMarginal { mean, variance };
                let scale = ObservationScale { noise: 0.3, exposure: case.exposure };
                let found = case.likelihood.quantile(probability, marginal, scale);
                let at = |value: f64| case.likelihood.cumulative(value, marginal, scale);
                let label = format!("{:?}, {marginal:?}, {probability}: {found}", case.likelihood);
                let step = if case.likelihood.is_whole() { 1.0 } else { 1e-7 * (1.0 + found.abs()) };
                assert!(at(found + 1e-2 * step) >= probability - 1e-12, "{label}, {}", at(found));
                assert!(at(found - step) <= probability + 1e-12, "{label}, {}", at(found - step));
                assert!(!case.likelihood.is_whole() || found.fract() == 0.0, "{label}");
            }
        }
    }
}

#[test]
fn draws_have_the_moments_of_the_distribution() {
    const N: usize = 40_000;
    for case in cases() {
        let (function, scale) = (0.4, ObservationScale { noise: 0.1, exposure: case.exposure });
        let marginal = CellMarginal { mean: function, variance: 0.0 };
        let (mean, variance) = case.likelihood.moments(marginal, scale);
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        let draws: Vec<f64> = (0..N).map(|_| case.likelihood.draw(function, scale, &mut generator)).collect();
        let label = format!("{:?}", case.likelihood);
        if variance.is_finite() {
            let found = draws.iter().sum::<f64>() / N as f64;
            assert!((found - mean).abs() < 5.0 * (variance / N as f64).sqrt(), "{label}: {found} {mean}");
        }
        for probability in [0.1, 0.5, 0.9] {
            let value = case.likelihood.quantile(probability, marginal, scale);
            let expected = case.likelihood.cumulative(value, marginal, scale);
            let found = draws.iter().filter(|draw| **draw <= value).count() as f64 / N as f64;
            assert!((found - expected).abs() < 5.0 * (0.25 / N as f64).sqrt(), "{label}: {found} {expected}");
        }
        assert!(draws.iter().all(|draw| case.likelihood.refusal(*draw, case.exposure).is_none()), "{label}");
    }
}

#[test]
fn names_are_distinct_and_values_out_of_range_are_refused() {
    let names = Likelihood::NAMES;
    assert!((1..names.len()).all(|at| !names[..at].contains(&names[at])) && names.len() == 11);
    let refused: [(Likelihood, &[f64]); 7] = [
        (Poisson.into(), &[-1.0, 0.5]),
        (NegativeBinomial.into(), &[-1.0, 2.000_001]),
        (Bernoulli.into(), &[0.5, 2.0]),
        (Gamma.into(), &[0.0, -1.0]),
        (LogNormal.into(), &[0.0]),
        (Beta.into(), &[0.0, 1.0]),
        (Censored::new(0.0, 1.0).unwrap().into(), &[-0.1, 1.1]),
    ];
    for (likelihood, values) in refused {
        for value in values {
            assert!(likelihood.refusal(*value, 1.0).is_some(), "{likelihood:?} {value}");
        }
    }
    assert!(Likelihood::from(Binomial).refusal(3.0, 2.0).is_some());
    assert!(Likelihood::from(Binomial).refusal(2.0, 2.0).is_none());
    for (lower, upper) in [(1.0, 1.0), (2.0, 1.0), (f64::NEG_INFINITY, f64::INFINITY), (f64::NAN, 1.0)] {
        let error = Censored::new(lower, upper).unwrap_err().to_string();
        assert!(error.contains("limit"), "{error}");
    }
    assert!(ZeroInflated::new(f64::NAN, 1.0).is_err());
}
