//! Models along time: forecasts that beat the rules, honest bands, joint paths, and clear refusals.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::learning::Priors;
use catena_fit::forecast::{Horizon, Rolling, rolling};
use catena_fit::{
    Budget, Event, Fit, FitError, FitOptions, MethodChoice, PowerTransform, Quantity, Stage, Term,
    TimeOptions, TimeSpec, fit,
};
use catena_testkit::random::SeededDraws;
use catena_testkit::weather_table::weather_table;

const DAY: usize = 24;

/// Two outputs with a common level that wanders and a daily cycle of their own phase, a fifth of the cells missing.
fn seasonal_table(n_rows: usize) -> Dataset {
    let mut draws = SeededDraws::new(11);
    let mut level = 0.0;
    let mut values = vec![];
    for row in 0..n_rows {
        level += 0.05 * draws.normal();
        for phase in [0.0, 1.3] {
            let angle = std::f64::consts::TAU * (row % DAY) as f64 / DAY as f64 + phase;
            let value =
                10.0 + 3.0 * level + 2.0 * angle.sin() + 0.7 * (2.0 * angle).cos() + 0.3 * draws.normal();
            values.push(if draws.chance(0.2) { f64::NAN } else { value });
        }
    }
    let inputs = InputPoints::from_column((0..n_rows).map(|row| 3600.0 * row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 2, &values).unwrap()).unwrap()
}

fn first_rows(table: &Dataset, count: usize) -> Dataset {
    table.select_rows(&(0..count).map(RowIndex::new).collect::<Vec<_>>()).unwrap()
}

fn learned(table: &Dataset, time: TimeOptions) -> Result<Fit, FitError> {
    let options = FitOptions { time: Some(time), budget: Budget::Quick, ..FitOptions::default() };
    fit(table, &options, &|_| ControlFlow::Continue(()))
}

fn daily() -> TimeOptions {
    TimeOptions { periods: vec![86_400.0], ..TimeOptions::default() }
}

#[test]
fn a_season_is_found_and_forecasts_beat_the_rules() {
    let table = seasonal_table(1000);
    let fitted = learned(&first_rows(&table, 700), TimeOptions::default()).unwrap();
    let decisions = fitted.summary().decisions.join("; ");
    assert!(decisions.contains("a season of 86400 is kept"), "{decisions}");
    let horizons = vec![3600.0, 6.0 * 3600.0, 86_400.0, 3.0 * 86_400.0];
    let asked =
        Rolling { first: 700, every: 1, origins: 1000, horizons, season: Some(86_400.0), interval: 0.9 };
    let scores = rolling(&fitted, &table, &asked).unwrap();
    for score in scores.iter().filter(|score| score.name == "catena") {
        let rules = || scores.iter().filter(|other| other.horizon == score.horizon && other.name != "catena");
        assert!(rules().all(|rule| score.rmse < rule.rmse), "{scores:#?}");
        // Three hundred rows hold fifty independent forecasts of six hours, but only four of three days: of bands so far ahead
        // they tell nothing.
        if score.horizon <= 21_600.0 {
            assert!(rules().all(|rule| score.log_score > rule.log_score), "{scores:#?}");
            assert!((0.82..=0.97).contains(&score.coverage), "{score:?}");
        }
    }
    assert_eq!(scores.len(), 16);
}

/// The demo's weather, learned quickly: near ahead better than the last value, a day ahead better than the day before.
#[test]
fn weather_is_forecast_better_than_by_rules() {
    let whole = weather_table(["temp_EWR", "pressure_JFK"]);
    let n_rows = 2400;
    let values = whole.values[..n_rows * whole.n_outputs].to_vec();
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    let table =
        Dataset::new(inputs, Observations::from_dense(n_rows, whole.n_outputs, &values).unwrap()).unwrap();
    let time = TimeOptions { periods: vec![24.0], ..TimeOptions::default() };
    let fitted = learned(&first_rows(&table, 1200), time).unwrap();
    let horizons = vec![1.0, 6.0, 24.0];
    let asked = Rolling { first: 1200, every: 11, origins: 100, horizons, season: Some(24.0), interval: 0.9 };
    let scores = rolling(&fitted, &table, &asked).unwrap();
    for score in scores.iter().filter(|score| score.name == "catena") {
        let rules = || scores.iter().filter(|other| other.horizon == score.horizon && other.name != "catena");
        assert!(rules().all(|rule| score.rmse < rule.rmse), "{scores:#?}");
        assert!((0.8..=0.98).contains(&score.coverage), "{score:?}");
    }
}

#[test]
fn paths_are_joint_and_have_the_forecasts_marginals() {
    let table = first_rows(&seasonal_table(400), 400);
    let fitted = learned(&table, daily()).unwrap();
    let ahead = InputPoints::from_column((400..424).map(|row| 3600.0 * f64::from(row)).collect()).unwrap();
    let forecast = fitted.predict(&ahead, Quantity::Observation).unwrap();
    let count = 4000;
    let paths = fitted.draws(&ahead, Quantity::Observation, count, 5).unwrap();
    assert_eq!(paths, fitted.draws(&ahead, Quantity::Observation, count, 5).unwrap());
    let n_cells = 48;
    for at in 0..n_cells {
        let values: Vec<f64> = paths.iter().skip(at).step_by(n_cells).copied().collect();
        let mean = values.iter().sum::<f64>() / count as f64;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
        let deviation = forecast.deviation(at);
        assert!((mean - forecast.mean(at)).abs() < 4.5 * deviation / (count as f64).sqrt(), "cell {at}");
        assert!((spread / deviation - 1.0).abs() < 0.06, "cell {at}: {spread} instead of {deviation}");
    }
    // A forecast does not depend on what else is asked for.
    let one = InputPoints::from_column(vec![3600.0 * 410.0]).unwrap();
    let alone = fitted.predict(&one, Quantity::Observation).unwrap();
    assert_eq!((alone.mean(1), alone.deviation(1)), (forecast.mean(21), forecast.deviation(21)));
}

#[test]
fn what_models_along_time_cannot_do_is_said() {
    let table = first_rows(&seasonal_table(60), 60);
    let inputs = InputPoints::new(60, 2, (0..120).map(f64::from).collect()).unwrap();
    let plane = Dataset::new(inputs, table.observations().clone()).unwrap();
    assert_eq!(learned(&plane, daily()).unwrap_err(), FitError::TimeNeedsOneInput { found: 2 });
    let refused = |change: fn(&mut FitOptions)| {
        let mut options = FitOptions { time: Some(daily()), budget: Budget::Quick, ..FitOptions::default() };
        change(&mut options);
        fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap_err().to_string()
    };
    assert!(refused(|options| options.method = MethodChoice::Exact).contains("message passing"));
    assert!(refused(|options| options.latents = Some(1)).contains("one shared latent per output"));
    assert!(refused(|options| options.private = Some(true)).contains("no private latents"));
}

/// One output, a constant output, a trend asked for, a table of few rows.
#[test]
fn odd_tables_are_borne() {
    let table = first_rows(&seasonal_table(80), 80);
    let values: Vec<f64> = (0..80).flat_map(|row| [4.0, (f64::from(row) * 0.3).sin()]).collect();
    let constant =
        Dataset::new(table.inputs().clone(), Observations::from_dense(80, 2, &values).unwrap()).unwrap();
    let trend = TimeSpec::of(Term::Trend).with(Term::Oscillator);
    for (table, time) in [
        (constant, daily()),
        (table.clone(), TimeOptions { spec: Some(trend), ..TimeOptions::default() }),
        (first_rows(&table, 5), TimeOptions::default()),
        (first_rows(&table, 30), daily()),
    ] {
        let fitted = learned(&table, time).unwrap();
        let later = InputPoints::from_column(vec![3600.0 * 90.0]).unwrap();
        let forecast = fitted.predict(&later, Quantity::Observation).unwrap();
        assert!((0..2).all(|at| forecast.mean(at).is_finite() && forecast.deviation(at) > 0.0));
    }
}

/// A sensor that has been dead for longer than models are learned from is still part of the table.
#[test]
fn an_output_that_is_silent_in_the_latest_rows_is_learned_from_earlier_ones() {
    let table = seasonal_table(2600);
    let mut values = vec![f64::NAN; 2600 * 2];
    for (row, cell) in table.observations().cells() {
        if cell.output.get() == 0 || row.get() < 500 {
            values[row.get() * 2 + cell.output.get()] = cell.value;
        }
    }
    let observations = Observations::from_dense(2600, 2, &values).unwrap();
    let fitted =
        learned(&Dataset::new(table.inputs().clone(), observations).unwrap(), TimeOptions::default())
            .unwrap();
    let decisions = fitted.summary().decisions.join("; ");
    assert!(decisions.contains("200 earlier rows were added for output 1"), "{decisions}");
    let noise = fitted.parts().model.noise()[1].get();
    assert!(noise < 0.5 && fitted.summary().outputs[1].shared_share > 0.5, "{noise}");
}

fn motion(fit: &Fit) -> Vec<f64> {
    fit.parts().model.latents().iter().map(|latent| latent.length_scale().get()).collect()
}

#[test]
fn known_noise_of_cells_counts_while_motion_is_learned() {
    let table = seasonal_table(300);
    let spec: TimeSpec = TimeSpec::of(Term::Oscillator).with(Term::Level);
    let with_noise = |variance: f64| {
        let observations = table.observations().clone().with_cell_noise(&[variance; 600]).unwrap();
        let table = Dataset::new(table.inputs().clone(), observations).unwrap();
        motion(&learned(&table, TimeOptions { spec: Some(spec.clone()), ..TimeOptions::default() }).unwrap())
    };
    assert_ne!(with_noise(0.05), with_noise(1.0));
}

#[test]
fn priors_that_are_asked_for_hold_for_single_outputs() {
    let table = seasonal_table(300);
    let spec = Some(TimeSpec::of(Term::Oscillator).with(Term::Level));
    let with_priors = |priors: Option<Priors>| {
        let time = Some(TimeOptions { spec: spec.clone(), ..TimeOptions::default() });
        let options = FitOptions { time, priors, budget: Budget::Quick, ..FitOptions::default() };
        motion(&fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap())
    };
    assert_ne!(with_priors(None), with_priors(Some(Priors::FLAT)));
}

#[test]
fn a_comparison_that_is_interrupted_ends() {
    let time = Some(TimeOptions::default());
    let options = FitOptions { time, budget: Budget::Quick, ..FitOptions::default() };
    let stop = |event: Event| match event.stage {
        Stage::Candidates => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let fitted = fit(&seasonal_table(300), &options, &stop).unwrap();
    let warnings = fitted.summary().warnings.join("; ");
    assert!(warnings.contains("interrupted"), "{warnings}");
}

#[test]
fn models_along_time_count_in_gaps_whatever_is_asked() {
    let table = seasonal_table(400);
    let with = |standardize: bool| {
        let options =
            FitOptions { time: Some(daily()), standardize, budget: Budget::Quick, ..FitOptions::default() };
        fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap().parts().model.clone()
    };
    assert_eq!(with(true), with(false));
}

/// A log-normal forecast is scored as one: the same intervals hold the same targets, and densities differ by the change of units.
#[test]
fn forecasts_of_a_logarithm_are_scored_as_log_normal() {
    let table = seasonal_table(500);
    let exponential = |table: &Dataset| {
        let mut values = vec![f64::NAN; table.n_rows() * 2];
        for (row, cell) in table.observations().cells() {
            values[row.get() * 2 + cell.output.get()] = cell.value.exp();
        }
        let observations = Observations::from_dense(table.n_rows(), 2, &values).unwrap();
        Dataset::new(table.inputs().clone(), observations).unwrap()
    };
    let plain = learned(&first_rows(&table, 400), daily()).unwrap();
    let mut parts = plain.parts().clone();
    parts.table = exponential(&parts.table);
    parts.preparation.outputs.iter_mut().for_each(|output| output.power = PowerTransform::Log);
    let logged = Fit::from_parts(parts).unwrap();
    let horizons = vec![3600.0, 86_400.0];
    let asked = Rolling { first: 400, every: 3, origins: 100, horizons, season: None, interval: 0.8 };
    let (a, b) =
        (rolling(&plain, &table, &asked).unwrap(), rolling(&logged, &exponential(&table), &asked).unwrap());
    let catena = |scores: &[Horizon], at: usize| {
        scores.iter().filter(|one| one.name == "catena").nth(at).cloned().unwrap()
    };
    for at in 0..2 {
        let (a, b) = (catena(&a, at), catena(&b, at));
        assert_eq!((a.n_cells, a.coverage), (b.n_cells, b.coverage));
        assert!(b.log_score.is_finite() && a.log_score.is_finite());
    }
}
