//! Fits for forecasts: chosen and checked from origins inside the table, beside simple rules.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena_fit::{
    Budget, CombineChoice, Fit, FitOptions, HeldOut, MemberKind, PowerTransform, Quantity, Term, TimeOptions,
    TimeSpec, TransformOptions, fit, fit_ahead,
};
use catena_testkit::random::SeededDraws;

const YEAR: usize = 12;

/// Months with a season and noise that grow with the level, which goes up.
fn sales(n_rows: usize) -> Vec<f64> {
    let mut draws = SeededDraws::new(3);
    let value = |row: usize, noise: f64| {
        let angle = std::f64::consts::TAU * (row % YEAR) as f64 / YEAR as f64;
        (4.0 + 0.01 * row as f64 + 0.2 * angle.sin() + 0.1 * (2.0 * angle).cos() + 0.03 * noise).exp()
    };
    (0..n_rows).map(|row| value(row, draws.normal())).collect()
}

fn table(values: &[f64]) -> Dataset {
    let inputs = InputPoints::from_column((0..values.len()).map(|row| row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(values.len(), 1, values).unwrap()).unwrap()
}

fn first_rows(table: &Dataset, count: usize) -> Dataset {
    table.select_rows(&(0..count).map(RowIndex::new).collect::<Vec<_>>()).unwrap()
}

fn later(n_rows: usize, count: usize) -> InputPoints {
    InputPoints::from_column((n_rows..n_rows + count).map(|row| row as f64).collect()).unwrap()
}

fn ahead(table: &Dataset, options: &FitOptions, reach: f64) -> Fit {
    fit_ahead(table, options, reach, &|_| ControlFlow::Continue(())).unwrap()
}

fn scores<'a>(fit: &'a Fit, name: &str) -> &'a HeldOut {
    fit.summary().held_out.iter().find(|scores| scores.name == name).unwrap()
}

/// Pairs of an origin and a target in a table of 144 rows for forecasts of 12: the last third is forecast.
fn pairs() -> Vec<(usize, usize)> {
    (95..143)
        .flat_map(|origin| (origin + 1..=(origin + 12).min(143)).map(move |target| (origin, target)))
        .collect()
}

/// The forecast of a target from an origin.
type Rule<'a> = &'a dyn Fn(usize, usize) -> f64;

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[test]
fn growing_seasons_are_forecast_by_their_logarithm_and_beat_the_rules() {
    let values = sales(156);
    let table = table(&values);
    let options = FitOptions { calendar: vec![12.0], ..FitOptions::default() };
    let fitted = ahead(&first_rows(&table, 144), &options, 12.0);
    let power = fitted.summary().outputs[0].power;
    assert_eq!(power, PowerTransform::Log, "{:#?}", fitted.summary().decisions);
    let forecast = fitted.predict(&later(144, 12), Quantity::Observation).unwrap();
    let error = |at: usize| forecast.mean(at) / values[144 + at] - 1.0;
    let rmse = ((0..12).map(|at| error(at).powi(2)).sum::<f64>() / 12.0).sqrt();
    // The noise alone is 3 %, a season without the trend is 12 % off.
    assert!(rmse < 0.06, "{rmse}");
    let own = fitted.summary().held_out[0].rmse;
    for rule in ["last value", "last season", "drift", "mean"] {
        assert!(own < scores(&fitted, rule).rmse, "{:#?}", fitted.summary().held_out);
    }
    let coverage = fitted.summary().held_out[0].coverage;
    assert!((0.88..=1.0).contains(&coverage), "{coverage}");
}

#[test]
fn rules_have_the_errors_of_a_loop_over_all_origins() {
    let values = sales(144);
    let time = TimeOptions { periods: vec![12.0], ..TimeOptions::default() };
    let options = FitOptions {
        time: Some(time),
        transforms: TransformOptions::NONE,
        budget: Budget::Quick,
        ..FitOptions::default()
    };
    let fitted = ahead(&table(&values), &options, 12.0);
    let origins = fitted.summary().origins.unwrap();
    assert_eq!((origins.n_origins, origins.n_folds), (48, 2));
    let unit = deviation(&values);
    let rules: [(&str, Rule<'_>); 4] = [
        ("last value", &|origin, _| values[origin]),
        ("last season", &|_, target| values[target - YEAR]),
        ("drift", &|origin, target| {
            let slope = (values[origin] - values[0]) / origin as f64;
            values[origin] + slope * (target - origin) as f64
        }),
        ("mean", &|origin, _| values[..=origin].iter().sum::<f64>() / (origin + 1) as f64),
    ];
    for (name, rule) in rules {
        let squares: Vec<f64> = pairs()
            .into_iter()
            .map(|(origin, target)| ((values[target] - rule(origin, target)) / unit).powi(2))
            .collect();
        let expected = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        let found = scores(&fitted, name);
        assert_eq!(found.n_cells, squares.len(), "{name}");
        assert!((found.rmse / expected - 1.0).abs() < 1e-9, "{name}: {} instead of {expected}", found.rmse);
    }
}

/// Parameters are learned from the rows before each fold, and a forecast knows the rows up to its origin and no others.
#[test]
fn a_requested_model_has_the_errors_of_fits_to_the_rows_before() {
    let values = sales(144);
    let table = table(&values);
    let spec = TimeSpec::of(Term::Level).with(Term::Season { period: 12.0, harmonics: Some(2) });
    let time = TimeOptions { spec: Some(spec), ..TimeOptions::default() };
    let options = FitOptions {
        time: Some(time),
        transforms: TransformOptions::NONE,
        budget: Budget::Quick,
        ..FitOptions::default()
    };
    let fitted = ahead(&table, &options, 12.0);
    assert!(fitted.summary().members.is_empty() && fitted.parts().combination.is_none());
    let learned: Vec<Fit> = [96, 120]
        .map(|cut| fit(&first_rows(&table, cut), &options, &|_| ControlFlow::Continue(())).unwrap())
        .into();
    let (mut squares, mut inside) = (0.0, 0);
    for origin in 95..143 {
        let model = &learned[usize::from(origin >= 119)];
        let mut parts = model.parts().clone();
        parts.table = first_rows(&table, origin + 1);
        let known = Fit::from_parts(parts).unwrap();
        let count = 12.min(143 - origin);
        let forecast = known.predict(&later(origin + 1, count), Quantity::Observation).unwrap();
        for at in 0..count {
            let value = values[origin + 1 + at];
            squares += ((value - forecast.mean(at)) / deviation(&values)).powi(2);
            inside += usize::from(
                (value - forecast.mean(at)).abs() < 1.959_963_984_540_054 * forecast.deviation(at),
            );
        }
    }
    let own = &fitted.summary().held_out[0];
    let n_cells = pairs().len();
    assert_eq!(own.n_cells, n_cells);
    assert!((own.rmse / (squares / n_cells as f64).sqrt() - 1.0).abs() < 1e-8, "{own:?}");
    assert!((own.coverage - inside as f64 / n_cells as f64).abs() < 1e-12, "{own:?}");
}

#[test]
fn a_rule_that_does_better_is_said_and_has_weight() {
    // A season that is redrawn every ten years, hardly smooth: the last season is the best forecast.
    let mut draws = SeededDraws::new(8);
    let n_rows = 24 * 30;
    let mut profile: Vec<f64> = (0..24).map(|_| draws.normal()).collect();
    let mut values = vec![];
    for row in 0..n_rows {
        let hour = row % 24;
        profile[hour] += 0.15 * draws.normal();
        values.push(profile[hour] + 0.02 * draws.normal());
    }
    let options = FitOptions { calendar: vec![24.0], ..FitOptions::default() };
    let fitted = ahead(&table(&values), &options, 24.0);
    let summary = fitted.summary();
    assert!(
        summary.decisions.iter().any(|line| line.contains("a simple rule had smaller errors")),
        "{:#?}",
        summary.decisions
    );
    // Smoothing of a season that follows its last values is nearly the same rule.
    let is_season = |name: &str| ["last season", "seasonal smoothing"].contains(&name);
    let seasonal = summary.members.iter().filter(|member| is_season(&member.alone.name));
    assert!(seasonal.map(|member| member.weight).sum::<f64>() > 0.3, "{:#?}", summary.members);
    assert!(summary.held_out[0].rmse < 1.03 * scores(&fitted, "last season").rmse, "{:#?}", summary.held_out);
    // Rules forecast; at and between the rows the models of the pool answer.
    let components = &fitted.parts().combination.as_ref().unwrap().components;
    let members = &fitted.parts().combination.as_ref().unwrap().members;
    for (at, member) in members.iter().enumerate() {
        if matches!(member.kind, MemberKind::Ahead(_)) {
            assert!(components.iter().all(|one| one.at_rows[at] == 0.0 && one.elsewhere[at] > 0.0));
        }
    }
    let inside = fitted.predict_rows(Quantity::Observation).unwrap();
    assert!((0..n_rows).all(|row| inside.deviation(row).is_finite()));
    // Paths have the marginals of the forecast.
    let points = later(n_rows, 30);
    let forecast = fitted.predict(&points, Quantity::Observation).unwrap();
    let count = 4000;
    let paths = fitted.draws(&points, Quantity::Observation, count, 5).unwrap();
    for at in 0..30 {
        let drawn: Vec<f64> = paths.iter().skip(at).step_by(30).copied().collect();
        let mean = drawn.iter().sum::<f64>() / count as f64;
        let (center, size) = (forecast.mean(at), forecast.deviation(at));
        assert!((mean - center).abs() < 4.5 * size / (count as f64).sqrt(), "step {at}");
        // A mixture with three scales has a spread known to a few percent.
        assert!((deviation(&drawn) / size - 1.0).abs() < 0.12, "step {at}");
    }
}

#[test]
fn one_model_is_given_where_a_pool_is_not_wanted() {
    let options = FitOptions {
        calendar: vec![12.0],
        combine: CombineChoice::None,
        budget: Budget::Quick,
        ..FitOptions::default()
    };
    let fitted = ahead(&table(&sales(144)), &options, 6.0);
    assert!(fitted.summary().members.is_empty());
    let held_out: Vec<&str> = fitted.summary().held_out.iter().map(|one| one.name.as_str()).collect();
    let rules = ["last value", "last season", "drift", "mean", "exponential smoothing", "seasonal smoothing"];
    assert_eq!(held_out[1..], rules);
}

#[test]
fn odd_tables_are_borne() {
    let wave: Vec<f64> = (0..90).map(|row| (f64::from(row) * 0.3).sin() - 2.0).collect();
    let options = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    for (values, reach) in [
        (wave.clone(), 60.0),
        (wave[..6].to_vec(), 3.0),
        (wave[..14].to_vec(), 5.0),
        ([vec![1.0; 40], vec![2.0; 40]].concat(), 10.0),
        ([vec![f64::NAN; 60], wave[..30].to_vec()].concat(), 10.0),
        ((0..200).map(|row| if row % 3 == 0 { 0.0 } else { f64::from(row % 5) }).collect(), 8.0),
    ] {
        let fitted = ahead(&table(&values), &options, reach);
        let forecast = fitted.predict(&later(values.len(), 5), Quantity::Observation).unwrap();
        assert!((0..5).all(|at| forecast.mean(at).is_finite() && forecast.deviation(at) > 0.0), "{values:?}");
    }
}
