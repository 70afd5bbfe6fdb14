//! Fits with likelihoods: parameters are learned with the bound, answers are in the terms of the outputs, mixed tables are one model,
//! and what cannot be done yet is an error that says what to type.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    Budget, CombineChoice, Fit, FitError, FitOptions, LikelihoodRequest, Quantity, TransformOptions, fit,
};
use catena_testkit::random::SeededDraws;

const N_ROWS: usize = 160;

/// A Poisson draw by counting exponential gaps.
fn count(draws: &mut SeededDraws, rate: f64) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    loop {
        sum -= (1.0 - draws.uniform(0.0, 1.0)).ln();
        if sum > rate {
            return n;
        }
        n += 1.0;
    }
}

/// The logarithm of the rate of visits, half of which the temperature shows too.
fn log_rate(time: f64) -> f64 {
    0.4 + 1.2 * (time / 7.0).sin()
}

/// Visits and temperatures; every sixth count and some temperatures are missing.
fn visits(seed: u64) -> (Dataset, Vec<(usize, f64)>) {
    let mut draws = SeededDraws::new(seed);
    let times: Vec<f64> = (0..N_ROWS).map(|row| row as f64 * 0.5).collect();
    let (mut values, mut held_out) = (vec![], vec![]);
    for (row, time) in times.iter().enumerate() {
        let visits = count(&mut draws, log_rate(*time).exp());
        let temperature = 15.0 + 4.0 * (time / 7.0).sin() + draws.normal();
        if row % 6 == 2 {
            held_out.push((row, visits));
            values.push(f64::NAN);
        } else {
            values.push(visits);
        }
        values.push(if row % 11 == 3 { f64::NAN } else { temperature });
    }
    let observations = Observations::from_dense(N_ROWS, 2, &values).unwrap();
    (Dataset::new(InputPoints::from_column(times).unwrap(), observations).unwrap(), held_out)
}

fn options(likelihood: &str) -> FitOptions {
    FitOptions {
        budget: Budget::Quick,
        combine: CombineChoice::None,
        likelihoods: likelihood.parse().unwrap(),
        output_names: vec!["visits".to_owned(), "temperature".to_owned()],
        ..FitOptions::default()
    }
}

fn fitted(table: &Dataset, options: &FitOptions) -> Fit {
    fit(table, options, &|_| std::ops::ControlFlow::Continue(())).unwrap()
}

#[test]
fn counts_beside_temperatures_are_predicted_in_their_own_terms() {
    let (mut of_counts, mut of_gaussian, mut errors) = (0.0, 0.0, 0.0);
    for seed in 0..3 {
        let (table, held_out) = visits(seed);
        let counts = fitted(&table, &options("visits=poisson"));
        let gaussian =
            fitted(&table, &FitOptions { transforms: TransformOptions::NONE, ..options("gaussian") });
        let predicted = counts.predict_rows(Quantity::Observation).unwrap();
        let compared = gaussian.predict_rows(Quantity::Observation).unwrap();
        let rates = counts.predict_rows(Quantity::Function).unwrap();
        for &(row, truth) in &held_out {
            let at = 2 * row;
            of_counts += predicted.log_density(at, truth);
            // The Gaussian's mass between the neighboring halves.
            of_gaussian += (compared.probability_below(at, truth + 0.5)
                - compared.probability_below(at, truth - 0.5))
            .ln();
            let rate = log_rate(table.inputs().values()[row]).exp();
            errors += (rates.mean(at) - rate).abs() / rate / (3.0 * held_out.len() as f64);
            for probability in [0.05, 0.5, 0.95] {
                let quantile = predicted.quantile(at, probability);
                assert!(quantile >= 0.0 && quantile.fract() == 0.0, "{quantile}");
            }
            assert!(predicted.mean(at) > 0.0 && predicted.deviation(at) > rates.deviation(at));
        }
        // The temperature is as the Gaussian model has it, to the noise of learning.
        let difference = |at: usize| (predicted.mean(at) - compared.mean(at)).abs();
        let largest = (0..N_ROWS).map(|row| difference(2 * row + 1)).fold(0.0, f64::max);
        assert!(largest < 1.0, "{largest}");
        let draws = counts.draws(table.inputs(), Quantity::Observation, 3, 1).unwrap();
        assert!(draws.iter().step_by(2).all(|draw| *draw >= 0.0 && draw.fract() == 0.0));
        assert!(draws.iter().skip(1).step_by(2).any(|draw| draw.fract() != 0.0));
        assert!(counts.log_evidence().unwrap().is_finite());
        let decisions = counts.summary().decisions.join("; ");
        assert!(decisions.contains("visits: likelihood poisson"), "{decisions}");
    }
    assert!(of_counts > of_gaussian + 3.0, "{of_counts} {of_gaussian}");
    assert!(errors < 0.35, "{errors}");
}

#[test]
fn a_fit_is_rebuilt_from_its_parts_to_the_bit_and_takes_more_rows() {
    let (table, _) = visits(3);
    let counts = fitted(&table, &options("visits=negative-binomial"));
    let again = Fit::from_parts(counts.parts().clone()).unwrap();
    let at = InputPoints::from_column(vec![0.25, 40.0, 90.0]).unwrap();
    for quantity in [Quantity::Observation, Quantity::Function] {
        assert_eq!(counts.predict(&at, quantity).unwrap(), again.predict(&at, quantity).unwrap());
        assert_eq!(counts.predict_rows(quantity).unwrap(), again.predict_rows(quantity).unwrap());
    }
    assert_eq!(counts.log_evidence().unwrap(), again.log_evidence().unwrap());
    let more = Dataset::new(
        InputPoints::from_column(vec![80.0, 80.5]).unwrap(),
        Observations::from_dense(2, 2, &[9.0, 15.0, 8.0, f64::NAN]).unwrap(),
    )
    .unwrap();
    let longer = counts.with_more_rows(&more).unwrap();
    assert_eq!(longer.table().n_rows(), N_ROWS + 2);
    let means = |fit: &Fit| fit.predict(&at, Quantity::Function).unwrap().mean(4);
    assert!(means(&longer) > means(&counts));
}

#[test]
fn outliers_are_forgiven_by_student_t_with_learned_degrees() {
    let mut draws = SeededDraws::new(8);
    let times: Vec<f64> = (0..200).map(f64::from).collect();
    let truth: Vec<f64> = times.iter().map(|time| (time / 12.0).sin()).collect();
    let value = |truth: &f64| {
        let noise = 0.1 * draws.normal();
        truth + if draws.chance(0.06) { 4.0 * draws.normal() } else { noise }
    };
    let values: Vec<f64> = truth.iter().map(value).collect();
    let table = Dataset::new(
        InputPoints::from_column(times).unwrap(),
        Observations::from_dense(200, 1, &values).unwrap(),
    )
    .unwrap();
    let error = |likelihood: &str| {
        let options = FitOptions { transforms: TransformOptions::NONE, ..options(likelihood) };
        let found = fitted(&table, &options);
        let means = found.predict_rows(Quantity::Function).unwrap().means();
        let squares: f64 = means.iter().zip(&truth).map(|(mean, truth)| (mean - truth).powi(2)).sum();
        ((squares / 200.0).sqrt(), found)
    };
    let (of_gaussian, _) = error("gaussian");
    let (of_student, student) = error("student-t");
    assert!(of_student < 0.5 * of_gaussian && of_student < 0.06, "{of_student} {of_gaussian}");
    let learned = student.likelihoods().unwrap().by_name[0].1;
    assert!(matches!(learned, LikelihoodRequest::Given(own) if !own.is_open));
    let text = learned.to_string();
    let degrees: f64 = text.trim_start_matches("student-t(").trim_end_matches(')').parse().unwrap();
    assert!(degrees < 4.0, "{text}");
}

#[test]
fn proportions_and_limits_are_kept() {
    let mut draws = SeededDraws::new(9);
    let times: Vec<f64> = (0..120).map(f64::from).collect();
    let mut values = vec![];
    for time in &times {
        let function = 1.5 * (time / 9.0).sin();
        values.push(1.0 / (1.0 + (-(function + 0.4 * draws.normal())).exp()));
        values.push((function + 0.4 * draws.normal()).max(0.0));
    }
    let table = Dataset::new(
        InputPoints::from_column(times).unwrap(),
        Observations::from_dense(120, 2, &values).unwrap(),
    )
    .unwrap();
    let found = fitted(&table, &options("visits=beta,temperature=censored"));
    let at = InputPoints::from_column(vec![-3.0, 30.5, 60.2, 140.0]).unwrap();
    let predicted = found.predict(&at, Quantity::Observation).unwrap();
    for row in 0..4 {
        for probability in [0.001, 0.025, 0.5, 0.975, 0.999] {
            let share = predicted.quantile(2 * row, probability);
            assert!(share > 0.0 && share < 1.0, "{share}");
            assert!(predicted.quantile(2 * row + 1, probability) >= 0.0);
        }
        assert!(predicted.mean(2 * row + 1) >= 0.0);
    }
}

#[test]
fn what_cannot_be_done_yet_says_what_to_type() {
    let (table, _) = visits(4);
    let attempt = |options: &FitOptions| {
        fit(&table, options, &|_| std::ops::ControlFlow::Continue(())).unwrap_err().to_string()
    };
    let error = attempt(&options("temperature=poisson"));
    assert!(error.contains("whole numbers of at least 0"), "{error}");
    let error = attempt(&options("snow=poisson"));
    assert!(error.contains("snow") && error.contains("visits, temperature"), "{error}");
    let error = attempt(&FitOptions { method: "exact".parse().unwrap(), ..options("visits=poisson") });
    assert!(error.contains("leave the method out"), "{error}");
    let error =
        attempt(&FitOptions { transforms: "visits=log".parse().unwrap(), ..options("visits=poisson") });
    assert!(error.contains("leave the transforms out"), "{error}");
    let counts = fitted(&table, &options("visits=poisson"));
    let error = counts.covariances(table.inputs(), Quantity::Observation).unwrap_err();
    assert!(
        matches!(error, FitError::WithLikelihood { .. }) && error.to_string().contains("draws"),
        "{error}"
    );
    let error = catena_fit::LiveFit::new(&counts).unwrap_err().to_string();
    assert!(error.contains("catena update"), "{error}");
    assert!(counts.parameters().is_none());
}
