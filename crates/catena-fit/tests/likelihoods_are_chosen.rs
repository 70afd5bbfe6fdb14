//! `auto` chooses counts, limits and heavy tails where values and held-out cells speak for them, and else leaves a Gaussian fit as it
//! is, to the bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, Fit, FitOptions, Quantity, fit};
use catena_testkit::random::SeededDraws;

fn options(likelihood: &str) -> FitOptions {
    FitOptions {
        budget: Budget::Quick,
        likelihoods: likelihood.parse().unwrap(),
        output_names: vec!["a".to_owned(), "b".to_owned()],
        ..FitOptions::default()
    }
}

fn fitted(table: &Dataset, options: &FitOptions) -> Fit {
    fit(table, options, &|_| std::ops::ControlFlow::Continue(())).unwrap()
}

/// Two outputs along time; every seventh cell of the first is missing.
fn table(n_rows: usize, mut row: impl FnMut(f64) -> [f64; 2]) -> Dataset {
    let times: Vec<f64> = (0..n_rows).map(|row| row as f64 * 0.5).collect();
    let mut values: Vec<f64> = times.iter().flat_map(|time| row(*time)).collect();
    (0..n_rows).filter(|row| row % 7 == 3).for_each(|row| values[2 * row] = f64::NAN);
    let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
    Dataset::new(InputPoints::from_column(times).unwrap(), observations).unwrap()
}

fn words(fit: &Fit) -> Vec<String> {
    fit.likelihoods()
        .map_or(vec![], |own| own.by_name.iter().map(|(_, choice)| format!("{choice}")).collect())
}

/// Means, standard deviations and quantiles at the rows, as bits.
fn bits(fit: &Fit) -> Vec<u64> {
    let predictive = fit.predict_rows(Quantity::Observation).unwrap();
    let (means, deviations) = predictive.clone().into_means_and_deviations();
    let quantiles = (0..means.len()).map(|at| predictive.quantile(at, 0.05));
    let evidence = fit.log_evidence().unwrap();
    means.into_iter().chain(deviations).chain(quantiles).chain([evidence]).map(f64::to_bits).collect()
}

#[test]
fn gaussian_tables_are_as_without_a_likelihood_to_the_bit() {
    for seed in 0..3 {
        let mut draws = SeededDraws::new(seed);
        let gaussian = table(140, |time| {
            let function = (time / 6.0).sin();
            [function + 0.2 * draws.normal(), 40.0 - 3.0 * function + 0.5 * draws.normal()]
        });
        let [plain, named, chosen] = ["", "gaussian", "auto"].map(|likelihood| match likelihood {
            "" => fitted(&gaussian, &FitOptions { likelihoods: Default::default(), ..options("gaussian") }),
            likelihood => fitted(&gaussian, &options(likelihood)),
        });
        assert_eq!(bits(&plain), bits(&named), "seed {seed}");
        assert_eq!(bits(&plain), bits(&chosen), "seed {seed}");
        assert!(chosen.likelihoods().is_none());
        let reason = &chosen.summary().decisions[0];
        assert!(reason.starts_with("likelihood auto: gaussian: no values speak for another"), "{reason}");
        assert!(!plain.summary().decisions.iter().any(|decision| decision.contains("likelihood")));
    }
}

#[test]
fn counts_beside_temperatures_are_chosen_and_the_summary_says_why() {
    let mut draws = SeededDraws::new(4);
    let visits = table(160, |time| {
        let rate = (0.2 + 1.2 * (time / 7.0).sin()).exp();
        let (mut sum, mut count) = (0.0, -1.0);
        while sum <= rate {
            sum -= (1.0 - draws.uniform(0.0, 1.0)).ln();
            count += 1.0;
        }
        [count, 15.0 + 4.0 * (time / 7.0).sin() + draws.normal()]
    });
    let chosen = fitted(&visits, &options("auto"));
    assert!(["poisson", "negative-binomial"].contains(&words(&chosen)[0].as_str()), "{:?}", words(&chosen));
    let decisions = chosen.summary().decisions.join("; ");
    assert!(decisions.contains("a: its values are whole numbers from 0 to"), "{decisions}");
    assert!(decisions.contains("nats per held-out value") && decisions.contains("likelihood auto: chosen"));
    // Without the request it is proposed, and nothing else changes.
    let plain = fitted(&visits, &FitOptions { likelihoods: Default::default(), ..options("gaussian") });
    assert!(plain.likelihoods().is_none());
    let decisions = plain.summary().decisions.join("; ");
    assert!(decisions.contains("--likelihood auto"), "{decisions}");
    assert_eq!(bits(&plain), bits(&fitted(&visits, &options("gaussian"))));
    // One output is chosen, the other is given.
    let mixed = fitted(&visits, &options("a=auto,b=student-t(5)"));
    assert_eq!(words(&mixed)[1], "student-t(5)");
}

#[test]
fn limits_and_outliers_are_chosen() {
    let mut draws = SeededDraws::new(6);
    let rain = table(160, |time| {
        let function = 1.5 * (time / 5.0).sin();
        let spike = if draws.chance(0.05) { 6.0 * draws.normal() } else { 0.0 };
        [(function + 0.3 * draws.normal()).max(0.0), function + 0.1 * draws.normal() + spike]
    });
    let chosen = fitted(&rain, &options("auto"));
    let decisions = chosen.summary().decisions.join("; ");
    assert!(words(&chosen)[0].starts_with("censored(0)"), "{decisions}");
    assert!(words(&chosen)[1].starts_with("student-t("), "{decisions}");
    assert!(
        decisions.contains("% of its values are 0") && decisions.contains("farther off than"),
        "{decisions}"
    );
}
