//! A table goes in, a usable model comes out: degenerate data, any number of threads, any scale, and back from its parts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena_auto::fit::{
    Budget, Event, Fit, FitError, FitOptions, GivenParameters, KernelPair, MethodChoice, fit,
};
use catena_auto::fit::{FullScaleSize, StructureOption};
use catena_auto::method::Quantity;
use catena_auto::scores::score;
use catena_testkit::learning_tables::{RECIPES, recipe};
use catena_testkit::random::SeededDraws;
use catena_testkit::station_table::station_table;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn quick() -> FitOptions {
    FitOptions { budget: Budget::Quick, ..FitOptions::default() }
}

fn table(x: Vec<f64>, n_outputs: usize, values: &[f64]) -> Dataset {
    let observations = Observations::from_dense(x.len(), n_outputs, values).unwrap();
    Dataset::new(InputPoints::from_column(x).unwrap(), observations).unwrap()
}

/// Waves with a little noise, three outputs.
fn waves(n_rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut draws = SeededDraws::new(5);
    let x: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
    let values = x.iter().flat_map(|x| {
        let (a, b) = ((x / 9.0).sin(), (x / 23.0).cos());
        [a + 0.05 * draws.normal(), 0.5 * a + b + 0.05 * draws.normal(), b - a + 0.05 * draws.normal()]
    });
    let values = values.collect();
    (x, values)
}

fn check(fit: &Fit, what: &str) {
    let predictive = fit.predict_rows(Quantity::Observation).unwrap();
    assert!(predictive.means().iter().all(|mean| mean.is_finite()), "{what}: a mean is not finite");
    let deviations = predictive.deviations();
    assert!(
        deviations.iter().all(|deviation| deviation.is_finite() && *deviation > 0.0),
        "{what}: {deviations:?}"
    );
}

#[test]
fn degenerate_tables_give_usable_models() {
    let (x, values) = waves(120);
    let with = |change: &dyn Fn(usize, usize, f64) -> f64| -> Vec<f64> {
        values.iter().enumerate().map(|(at, &value)| change(at / 3, at % 3, value)).collect()
    };
    let constant = with(&|_, output, value| if output == 1 { 4.2 } else { value });
    let twins: Vec<f64> = values.chunks_exact(3).flat_map(|row| [row[0], row[0], row[2]]).collect();
    let lonely = with(&|row, output, value| if output == 2 && row != 60 { f64::NAN } else { value });
    let scales = with(&|_, output, value| value * [1e-12, 1.0, 1e12][output]);
    for (what, values) in
        [("constant", constant), ("twins", twins), ("one observation", lonely), ("scales", scales)]
    {
        let fitted = fit(&table(x.clone(), 3, &values), &quick(), &go_on).unwrap();
        check(&fitted, what);
        if what == "constant" {
            let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
            assert!((predictive.mean(1) - 4.2).abs() < 1e-12 && predictive.deviation(1) < 0.1);
            assert!(fitted.summary().warnings.iter().any(|warning| warning.contains("equal values")));
        }
    }
    // Every time stamp twice, with other values the second time.
    let doubled: Vec<f64> = x.iter().flat_map(|&x| [x, x]).collect();
    let conflicting: Vec<f64> = values
        .chunks_exact(3)
        .flat_map(|row| [row[0], row[1], row[2], row[0] + 0.3, row[1] - 0.2, row[2]])
        .collect();
    check(&fit(&table(doubled, 3, &conflicting), &quick(), &go_on).unwrap(), "conflicting duplicates");
    check(
        &fit(&table(vec![0.0, 1.0, 5.0], 1, &[1.0, f64::NAN, 2.0]), &quick(), &go_on).unwrap(),
        "three rows",
    );
    check(&fit(&table(vec![3.0], 2, &[1.0, 2.0]), &quick(), &go_on).unwrap(), "one row");
    check(&fit(&table(vec![3.0; 20], 1, &[1.0; 20]), &quick(), &go_on).unwrap(), "one place");
}

#[test]
fn outputs_in_other_units_give_the_same_model() {
    let (x, values) = waves(150);
    let plain = fit(&table(x.clone(), 3, &values), &quick(), &go_on).unwrap();
    let factors = [1e-12, 1.0, 1e12];
    let scaled: Vec<f64> = values.iter().enumerate().map(|(at, value)| value * factors[at % 3]).collect();
    let other = fit(&table(x, 3, &scaled), &quick(), &go_on).unwrap();
    let (a, b) = (
        plain.predict_rows(Quantity::Observation).unwrap(),
        other.predict_rows(Quantity::Observation).unwrap(),
    );
    for at in 0..values.len() {
        let (mean, deviation) = (b.mean(at) / factors[at % 3], b.deviation(at) / factors[at % 3]);
        assert!((a.mean(at) - mean).abs() < 1e-3 * a.deviation(at), "cell {at}: {} {mean}", a.mean(at));
        assert!((a.deviation(at) / deviation - 1.0).abs() < 1e-3, "cell {at}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let table = recipe("short-few").draw().table.dataset().unwrap();
    let with_threads = |count: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| fit(&table, &FitOptions::default(), &go_on).unwrap())
    };
    let (one, two) = (with_threads(1), with_threads(2));
    assert_eq!(one.parts().model, two.parts().model);
    assert_eq!(one.summary(), two.summary());
    assert_eq!(one.predict_rows(Quantity::Function).unwrap(), two.predict_rows(Quantity::Function).unwrap());
}

#[test]
fn a_fit_comes_back_from_its_parts_to_the_bit() {
    let table = recipe("plane").with_rows(200).draw().table.dataset().unwrap();
    for structure in
        [StructureOption::Auto, StructureOption::Chain, StructureOption::Ensemble { n_chains: 3 }]
    {
        let fitted = fit(&table, &FitOptions { structure, ..quick() }, &go_on).unwrap();
        let again = Fit::from_parts(fitted.parts().clone()).unwrap();
        let at = InputPoints::new(3, 2, vec![0.1, 0.2, 0.5, 0.5, 2.0, -1.0]).unwrap();
        for quantity in [Quantity::Function, Quantity::Observation] {
            assert_eq!(fitted.predict_rows(quantity).unwrap(), again.predict_rows(quantity).unwrap());
            assert_eq!(fitted.predict(&at, quantity).unwrap(), again.predict(&at, quantity).unwrap());
        }
    }
}

#[test]
fn given_parameters_are_in_the_users_units() {
    // Two points, one latent: the posterior by hand.
    let given = GivenParameters {
        kernel: KernelPair {
            shared: catena::kernel::Kernel::Matern12,
            private: catena::kernel::Kernel::Matern12,
        },
        mixing: vec![vec![3.0]],
        has_private: false,
        length_scales: vec![10.0],
        noise: vec![0.5],
    };
    let data = table(vec![0.0, 5.0], 1, &[2.0, f64::NAN]);
    let options = FitOptions { parameters: Some(given), standardize: false, ..FitOptions::default() };
    let fitted = fit(&data, &options, &go_on).unwrap();
    let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
    let correlation = (-0.5_f64).exp();
    assert!((predictive.mean(1) - 9.0 * correlation / 9.5 * 2.0).abs() < 1e-12);
    let variance = 9.0 - (9.0 * correlation).powi(2) / 9.5 + 0.5;
    assert!((predictive.deviation(1) - variance.sqrt()).abs() < 1e-12);
    let evidence = -0.5 * (4.0 / 9.5 + (std::f64::consts::TAU * 9.5).ln());
    assert!((fitted.log_evidence().unwrap() - evidence).abs() < 1e-12);
    let wrong = GivenParameters { noise: vec![0.5, 0.5], ..options.parameters.clone().unwrap() };
    let error = fit(&data, &FitOptions { parameters: Some(wrong), ..options }, &go_on).unwrap_err();
    assert_eq!(error, FitError::ParameterShape { what: "the noise", expected: 1, found: 2 });
}

#[test]
fn a_chain_of_values_is_not_called_exact() {
    let (x, values) = waves(30);
    let data = table(x, 3, &values);
    let told = |kernel, state| {
        let given = GivenParameters {
            kernel: KernelPair { shared: kernel, private: kernel },
            mixing: vec![vec![1.0]; 3],
            has_private: false,
            length_scales: vec![5.0],
            noise: vec![0.1; 3],
        };
        let options = FitOptions { parameters: Some(given), state, ..FitOptions::default() };
        fit(&data, &options, &go_on).unwrap().summary().decisions.join("\n")
    };
    // Of Matérn-1/2 the value is the whole state.
    for (kernel, state, is_exact) in [
        (Kernel::Matern32, None, true),
        (Kernel::Matern12, Some(StateKind::Value), true),
        (Kernel::Matern32, Some(StateKind::Value), false),
        (Kernel::SquaredExponential, None, false),
    ] {
        let told = told(kernel, state);
        assert_eq!(told.contains("it is exact"), is_exact, "{}: {told}", kernel.name());
        assert_eq!(told.contains("an approximation"), !is_exact, "{}: {told}", kernel.name());
    }
}

#[test]
fn learned_parameters_can_be_given_back() {
    let data = recipe("short-few").draw().table.dataset().unwrap();
    let learned = fit(&data, &FitOptions { transforms: false, ..quick() }, &go_on).unwrap();
    let options = FitOptions { parameters: learned.parameters(), ..quick() };
    let given = fit(&data, &options, &go_on).unwrap();
    let (a, b) = (
        learned.predict_rows(Quantity::Observation).unwrap(),
        given.predict_rows(Quantity::Observation).unwrap(),
    );
    for at in 0..a.means().len() {
        assert!((a.mean(at) - b.mean(at)).abs() < 1e-9 * a.deviation(at).max(1.0));
        assert!((a.deviation(at) / b.deviation(at) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn an_interrupted_fit_keeps_the_best_so_far() {
    let data = recipe("short-few").draw().table.dataset().unwrap();
    // From the comparison on: what was learned to compare models has then far to go.
    let stop = |event: Event| {
        let is_early = event.stage == catena_auto::fit::Stage::Smoothness;
        if is_early { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let fitted = fit(&data, &quick(), &stop).unwrap();
    check(&fitted, "interrupted");
    assert!(fitted.summary().warnings.iter().any(|warning| warning.contains("interrupted")));
}

#[test]
fn rivals_learn_by_their_own_evidence() {
    let data = recipe("plane").with_rows(120).draw().table.dataset().unwrap();
    for method in [
        MethodChoice::Exact,
        MethodChoice::Svgp { n_inducing: 20 },
        MethodChoice::Nngp { n_neighbors: 8 },
        MethodChoice::FullScale { size: None },
        MethodChoice::FullScale { size: Some(FullScaleSize::new(16, 5)) },
    ] {
        for learning_rows in [None, Some(60)] {
            let options = FitOptions { method, learning_rows, latents: Some(1), ..quick() };
            let fitted = fit(&data, &options, &go_on).unwrap();
            check(&fitted, &format!("{method:?}"));
            let path = &fitted.summary().path;
            // The full-scale method goes on from where its contest learned, from other rows.
            let gain = if matches!(method, MethodChoice::FullScale { .. }) { 0.0 } else { 10.0 };
            assert!(path[path.len() - 1] > path[0] + gain, "{method:?}: {path:?}");
        }
    }
}

#[test]
fn simulated_tables_are_predicted_with_honest_bands() {
    for recipe in RECIPES {
        // Long tables only add time here; the example `simulated_tables` takes them whole.
        let table = recipe.with_rows(recipe.n_rows.min(1000)).draw().table;
        let fitted = fit(&table.dataset().unwrap(), &quick(), &go_on).unwrap();
        let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
        let scores = score(&predictive, table.hidden.iter().copied(), &table.deviations);
        assert!((0.88..=0.985).contains(&scores.coverage), "{}: {scores:?}", table.name);
        assert!(scores.rmse < 1.0, "{}: {scores:?}", table.name);
    }
}

#[test]
fn a_station_table_is_filled_better_than_by_lines_and_other_channels() {
    let table = station_table(1500, 3);
    let fitted = fit(&table.dataset().unwrap(), &quick(), &go_on).unwrap();
    let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
    let scores = score(&predictive, table.hidden.iter().copied(), &table.deviations);
    for held_out in &fitted.summary().held_out[1..] {
        assert!(scores.rmse < held_out.rmse, "{}: {} against {}", held_out.name, scores.rmse, held_out.rmse);
    }
    assert!((0.90..=0.99).contains(&scores.coverage), "{scores:?}");
}

/// Models are compared on a part of a long table; a value without a logarithm may stand outside of it.
#[test]
fn a_logarithm_is_not_chosen_for_a_table_with_a_zero_elsewhere() {
    let n_rows = 5000;
    let mut draws = SeededDraws::new(11);
    let x: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
    let mut values: Vec<f64> =
        x.iter().map(|x| (1.5 * (x / 40.0).sin() + 0.8 * draws.normal()).exp()).collect();
    let options = FitOptions { budget: Budget::Default, ..quick() };
    let logged = |values: &[f64]| {
        let fitted = fit(&table(x.clone(), 1, values), &options, &go_on).unwrap();
        fitted.summary().tried.iter().any(|tried| tried.name.contains("logarithm"))
    };
    assert!(logged(&values), "a skewed positive output is a candidate");
    for row in [0, n_rows - 1] {
        let kept = std::mem::replace(&mut values[row], 0.0);
        assert!(!logged(&values), "row {row} has no logarithm");
        values[row] = kept;
    }
}
