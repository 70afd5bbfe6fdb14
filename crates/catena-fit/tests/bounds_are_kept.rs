//! Answers of outputs with bounds lie within them, are unchanged where no bound is near, and values beyond bounds are refused by place.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::OutputIndex;
use catena_fit::{Budget, Fit, FitError, FitOptions, LiveFit, Point, Quantity, fit};
use catena_testkit::random::SeededDraws;

const N_ROWS: usize = 120;

/// Humidity that reaches 100, and rain that reaches 0; every fifth row of both is missing.
fn weather() -> Dataset {
    let mut draws = SeededDraws::new(3);
    let times: Vec<f64> = (0..N_ROWS).map(|row| row as f64).collect();
    let row = |time: &f64| {
        let wave = (time / 6.0).sin();
        let both =
            [(95.0 + 12.0 * wave + 2.0 * draws.normal()).min(100.0), (wave + 0.3 * draws.normal()).max(0.0)];
        if (*time as usize) % 5 == 2 { [f64::NAN; 2] } else { both }
    };
    let values: Vec<f64> = times.iter().flat_map(row).collect();
    let observations = Observations::from_dense(N_ROWS, 2, &values).unwrap();
    Dataset::new(InputPoints::from_column(times).unwrap(), observations).unwrap()
}

fn options(bounds: &str) -> FitOptions {
    FitOptions {
        budget: Budget::Quick,
        bounds: if bounds.is_empty() { Default::default() } else { bounds.parse().unwrap() },
        output_names: vec!["humidity".to_owned(), "rain".to_owned()],
        ..FitOptions::default()
    }
}

fn attempt(table: &Dataset, options: &FitOptions) -> Result<Fit, FitError> {
    fit(table, options, &|_| std::ops::ControlFlow::Continue(()))
}

#[test]
fn nothing_lies_beyond_bounds_and_what_is_far_from_them_is_unchanged() {
    let table = weather();
    let bounded = attempt(&table, &options("humidity=..100,rain=0..")).unwrap();
    let plain = attempt(&table, &options("")).unwrap();
    let at = InputPoints::from_column((0..400).map(|at| 0.37 * f64::from(at)).collect()).unwrap();
    let mut n_moved = 0;
    for quantity in [Quantity::Observation, Quantity::Function] {
        let predictions = [
            (bounded.predict(&at, quantity).unwrap(), plain.predict(&at, quantity).unwrap()),
            (bounded.predict_rows(quantity).unwrap(), plain.predict_rows(quantity).unwrap()),
        ];
        for (within, without) in predictions {
            for place in 0..within.n_rows() * 2 {
                let is_inside = |value: f64| if place % 2 == 0 { value <= 100.0 } else { value >= 0.0 };
                assert!(is_inside(within.mean(place)) && within.deviation(place) >= 0.0);
                for probability in [0.01, 0.025, 0.5, 0.975, 0.99] {
                    let (quantile, open) =
                        (within.quantile(place, probability), without.quantile(place, probability));
                    let nearest = if place % 2 == 0 { open.min(100.0) } else { open.max(0.0) };
                    assert_eq!(quantile.to_bits(), nearest.to_bits());
                    n_moved += usize::from(!is_inside(open));
                }
                let far = if place % 2 == 0 { 100.0 - without.mean(place) } else { without.mean(place) };
                if far > 9.0 * without.deviation(place) {
                    let change = (within.mean(place) - without.mean(place)).abs();
                    assert!(change <= 1e-12 * without.mean(place).abs());
                }
                // The density is that without bounds.
                let value = without.mean(place);
                assert_eq!(
                    within.log_density(place, value).to_bits(),
                    without.log_density(place, value).to_bits()
                );
            }
        }
    }
    assert!(n_moved > 100, "{n_moved}");
    let draws = bounded.draws(&at, Quantity::Observation, 5, 1).unwrap();
    assert!(draws.iter().step_by(2).all(|draw| *draw <= 100.0));
    assert!(draws.iter().skip(1).step_by(2).all(|draw| *draw >= 0.0));
    assert!(draws.contains(&100.0) && draws.contains(&0.0));
    assert_eq!(plain.log_evidence().unwrap().to_bits(), bounded.log_evidence().unwrap().to_bits());
    assert!(bounded.summary().decisions.iter().any(|decision| decision.contains("rain: bounds 0..;")));
}

#[test]
fn a_fit_keeps_its_bounds_when_rebuilt_continued_and_streamed() {
    let fit = attempt(&weather(), &options("humidity=0..100,rain=0..")).unwrap();
    let again = Fit::from_parts(fit.parts().clone()).unwrap();
    let at = InputPoints::from_column(vec![9.5, 130.0]).unwrap();
    assert_eq!(
        fit.predict(&at, Quantity::Observation).unwrap(),
        again.predict(&at, Quantity::Observation).unwrap()
    );
    assert_eq!(fit.bounds().to_string(), "humidity=0..100,rain=0..");
    let more = |humidity: f64| {
        let observations = Observations::from_dense(1, 2, &[humidity, 0.0]).unwrap();
        Dataset::new(InputPoints::from_column(vec![120.0]).unwrap(), observations).unwrap()
    };
    let longer = fit.with_more_rows(&more(99.0)).unwrap();
    assert_eq!(longer.bounds(), fit.bounds());
    let beyond = fit.with_more_rows(&more(101.0)).unwrap_err();
    assert!(matches!(beyond, FitError::BeyondBounds { value: 101.0, .. }), "{beyond}");
    let no_limits = |_| std::ops::ControlFlow::Continue(());
    assert_eq!(fit.relearned(&more(99.0), &options(""), &no_limits).unwrap().bounds(), fit.bounds());
    let mut live = LiveFit::new(&fit).unwrap();
    live.observe(&[120.0], OutputIndex::new(0), 100.0).unwrap();
    assert!(live.marginals_at(&[121.0], Quantity::Observation).unwrap().quantile(0, 0.999) <= 100.0);
    let refused = live.observe(&[121.0], OutputIndex::new(0), 100.5).unwrap_err().to_string();
    assert!(refused.contains("beyond the bounds"), "{refused}");
}

#[test]
fn what_does_not_fit_is_refused_and_filled_values_beyond_limits_are_named() {
    let table = weather();
    let error = |options: &FitOptions| attempt(&table, options).unwrap_err().to_string();
    let beyond = error(&options("humidity=0..99"));
    assert!(beyond.contains("beyond its bounds 0..99"), "{beyond}");
    let unknown = error(&options("snow=0.."));
    assert!(
        unknown.contains("bounds names the output snow") && unknown.contains("humidity, rain"),
        "{unknown}"
    );
    let both = FitOptions { likelihoods: "rain=student-t".parse().unwrap(), ..options("rain=0..") };
    assert!(error(&both).contains("student-t can lie beyond them"), "{}", error(&both));
    let kept = FitOptions { likelihoods: "rain=censored".parse().unwrap(), ..options("rain=0..") };
    assert!(attempt(&table, &kept).is_ok());
    let fit = attempt(&table, &options("rain=0..")).unwrap();
    let refused = fit.covariances(table.inputs(), Quantity::Observation).unwrap_err().to_string();
    assert!(refused.contains("take draws"), "{refused}");
    // Without bounds, filled values beyond 0 and 100 are named.
    let plain = attempt(&table, &options("")).unwrap();
    let predictive = plain.predict_rows(Quantity::Observation).unwrap();
    let named = plain.beyond_limits(&predictive, Point::Mean).join("; ");
    let means = predictive.means();
    let missing = (0..N_ROWS).filter(|row| row % 5 == 2);
    let n_below = missing.clone().filter(|row| means[2 * row + 1] < 0.0).count();
    let n_above = missing.filter(|row| means[2 * row] > 100.0).count();
    assert!(n_below > 0 && n_above > 0, "{n_below} {n_above}");
    assert!(
        named.contains(&format!("rain: {n_below} filled value")) && named.contains("--bounds rain=0.."),
        "{named}"
    );
    assert!(
        named.contains(&format!("humidity: {n_above} filled value")) && named.contains("humidity=0..100"),
        "{named}"
    );
    let within = fit.predict_rows(Quantity::Observation).unwrap();
    assert!(!fit.beyond_limits(&within, Point::Mean).join("").contains("rain"));
}
