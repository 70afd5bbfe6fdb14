//! A table goes in, a usable model comes out: degenerate data, any number of threads, any scale, and back from its parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena_fit::scores::score;
use catena_fit::{
    Budget, Event, Fit, FitError, FitOptions, FitParts, FullScaleSize, GivenParameters, KernelPair,
    MeanChoice, MethodChoice, PowerTransform, Quantity, StructureOption, Summary, TransformOptions, fit,
};
use catena_methods::MemoryLimit;
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
            assert!(fitted.summary().warnings.iter().any(|warning| warning.contains("is constant")));
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
fn a_large_mean_hides_no_variation() {
    let x: Vec<f64> = (0..72).map(f64::from).collect();
    let wave = |x: &f64| 0.01 * (x / 9.0).sin();
    for center in [0.0, 1e12, -1e12] {
        let values: Vec<f64> = x.iter().map(|x| center + wave(x)).collect();
        for mean in [MeanChoice::Constant, MeanChoice::Linear] {
            let options = FitOptions { mean, ..quick() };
            let fitted = fit(&table(x.clone(), 1, &values), &options, &go_on).unwrap();
            assert!(!fitted.summary().warnings.iter().any(|warning| warning.contains("constant")));
            let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
            for (at, x) in x.iter().enumerate() {
                // Doubles near 1e12 are 1.2e-4 apart, which is noise of 3.5e-5.
                assert!(predictive.deviation(at) < 1e-3, "{center}: {}", predictive.deviation(at));
                assert!((predictive.mean(at) - center - wave(x)).abs() < 1e-3, "{center}");
            }
        }
    }
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
    let learned = fit(&data, &FitOptions { transforms: TransformOptions::NONE, ..quick() }, &go_on).unwrap();
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

/// What a few numbers cannot say is not said: giving them back would make another model.
#[test]
fn parameters_that_would_make_another_model_are_not_given_out() {
    let mut draws = SeededDraws::new(4);
    let x: Vec<f64> = (0..200).map(f64::from).collect();
    let skewed: Vec<f64> = x.iter().map(|x| (2.0 * (x / 20.0).sin() + 0.3 * draws.normal()).exp()).collect();
    let data = table(x, 1, &skewed);
    let logged = fit(&data, &FitOptions::default(), &go_on).unwrap();
    assert!(logged.summary().outputs[0].power == PowerTransform::Log, "{:?}", logged.summary().tried);
    assert_eq!(logged.parameters(), None);
    let linear = FitOptions { mean: MeanChoice::Linear, transforms: TransformOptions::NONE, ..quick() };
    assert_eq!(fit(&data, &linear, &go_on).unwrap().parameters(), None);
    // Two inputs of different scales; as they are, both count in the same unit.
    let places: Vec<f64> = (0..60).flat_map(|_| [draws.normal(), 9.0 * draws.normal()]).collect();
    let values: Vec<f64> =
        places.chunks_exact(2).map(|at| at[0].sin() + 0.1 * at[1] + 0.1 * draws.normal()).collect();
    let inputs = InputPoints::new(60, 2, places).unwrap();
    let data = Dataset::new(inputs, Observations::from_dense(60, 1, &values).unwrap()).unwrap();
    let options = FitOptions {
        method: MethodChoice::Catena,
        ard: Some(false),
        transforms: TransformOptions::NONE,
        ..quick()
    };
    assert_eq!(fit(&data, &options, &go_on).unwrap().parameters(), None);
    let learned = fit(&data, &FitOptions { standardize: false, ..options.clone() }, &go_on).unwrap();
    let given = fit(&data, &FitOptions { parameters: learned.parameters(), ..options }, &go_on).unwrap();
    let at = InputPoints::new(2, 2, vec![0.1, 0.2, 1.0, -4.0]).unwrap();
    let (a, b) = (
        learned.predict(&at, Quantity::Observation).unwrap(),
        given.predict(&at, Quantity::Observation).unwrap(),
    );
    for at in 0..2 {
        assert!((a.mean(at) - b.mean(at)).abs() < 1e-9 * a.deviation(at), "{} {}", a.mean(at), b.mean(at));
        assert!((a.deviation(at) / b.deviation(at) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn an_interrupted_fit_keeps_the_best_so_far() {
    let data = recipe("short-few").draw().table.dataset().unwrap();
    // From the comparison on: what was learned to compare models has then far to go.
    let stop = |event: Event| {
        let is_early = event.stage == catena_fit::Stage::Smoothness;
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
        fitted.summary().tried.iter().any(|tried| tried.name.contains("log output"))
    };
    assert!(logged(&values), "a skewed positive output is a candidate");
    for row in [0, n_rows - 1] {
        let kept = std::mem::replace(&mut values[row], 0.0);
        assert!(!logged(&values), "row {row} has no logarithm");
        values[row] = kept;
    }
}

/// Points in a plane with one smooth output.
fn plane(n_rows: usize) -> Dataset {
    let mut draws = SeededDraws::new(21);
    let places: Vec<f64> = (0..2 * n_rows).map(|_| draws.normal()).collect();
    let values: Vec<f64> =
        places.chunks_exact(2).map(|at| at[0].sin() + 0.5 * at[1] + 0.1 * draws.normal()).collect();
    let inputs = InputPoints::new(n_rows, 2, places).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 1, &values).unwrap()).unwrap()
}

/// With a handful of cells a mask may hide none of them; the model is then chosen by the others.
#[test]
fn a_mask_that_hides_nothing_decides_nothing() {
    for seed in 0..12 {
        let options = FitOptions { method: MethodChoice::Catena, seed, ..FitOptions::default() };
        let summary = fit(&plane(8), &options, &go_on).unwrap().summary().clone();
        assert!(summary.tried.iter().all(|tried| !tried.score.is_nan()), "seed {seed}: {:?}", summary.tried);
        assert!(summary.held_out.iter().all(|held_out| !held_out.log_score.is_nan()), "seed {seed}");
    }
}

#[test]
fn after_a_contest_all_are_scored_on_the_same_cells() {
    let data = recipe("plane").with_rows(150).draw().table.dataset().unwrap();
    for budget in [Budget::Quick, Budget::Default] {
        let fitted = fit(&data, &FitOptions { budget, ..FitOptions::default() }, &go_on).unwrap();
        let Summary { held_out, held_out_by_output, outputs, .. } = fitted.summary();
        assert!(held_out.len() > 1);
        assert!(held_out.iter().all(|one| one.n_cells == held_out[0].n_cells), "{held_out:?}");
        assert!(held_out_by_output.iter().map(|one| &one.name).eq(outputs.iter().map(|output| &output.name)));
        let n_cells: usize = held_out_by_output.iter().map(|one| one.n_cells).sum();
        let squares: f64 = held_out_by_output.iter().map(|one| one.n_cells as f64 * one.rmse.powi(2)).sum();
        assert_eq!(n_cells, held_out[0].n_cells);
        assert!(
            ((squares / n_cells as f64).sqrt() - held_out[0].rmse).abs() < 1e-12,
            "{held_out_by_output:?}"
        );
    }
}

/// A zero among new rows is called by its own row, and is no failure of numbers.
#[test]
fn a_new_value_without_a_logarithm_is_refused_by_its_row() {
    let mut draws = SeededDraws::new(4);
    let x: Vec<f64> = (0..200).map(f64::from).collect();
    let values: Vec<f64> = x.iter().map(|x| (2.0 * (x / 20.0).sin() + 0.3 * draws.normal()).exp()).collect();
    let fitted = fit(&table(x, 1, &values), &FitOptions::default(), &go_on).unwrap();
    assert!(fitted.summary().outputs[0].power == PowerTransform::Log);
    let more = table(vec![200.0, 201.0, 202.0], 1, &[1.5, 0.0, 2.0]);
    for refused in
        [fitted.with_more_rows(&more).unwrap_err(), fitted.relearned(&more, &quick(), &go_on).unwrap_err()]
    {
        let FitError::NotPositive { row, output, value } = refused else { panic!("{refused}") };
        assert_eq!((row.get(), output.get(), value), (1, 0, 0.0));
        assert!(!refused.is_numerical());
    }
}

#[test]
fn given_parameters_need_no_observation() {
    let given = GivenParameters {
        kernel: KernelPair { shared: Kernel::Matern32, private: Kernel::Matern32 },
        mixing: vec![vec![1.0], vec![-2.0]],
        has_private: false,
        length_scales: vec![5.0],
        noise: vec![0.01; 2],
    };
    let values: Vec<f64> = (0..40).flat_map(|row| [(f64::from(row) / 6.0).sin(), f64::NAN]).collect();
    let data = table((0..40).map(f64::from).collect(), 2, &values);
    let options = FitOptions { parameters: Some(given), ..FitOptions::default() };
    let fitted = fit(&data, &options, &go_on).unwrap();
    check(&fitted, "an output without a cell");
    let predictive = fitted.predict_rows(Quantity::Function).unwrap();
    // Both outputs are multiples of one latent; the mean of the first is its own.
    let mean = fitted.parts().preparation.outputs[0].intercept;
    for row in 0..40 {
        let (first, second) = (predictive.mean(2 * row) - mean, predictive.mean(2 * row + 1));
        assert!((second + 2.0 * first).abs() < 1e-9, "{first} {second}");
    }
    let warnings = fitted.summary().warnings.join("; ");
    assert!(warnings.contains("output 1 has no observed values"), "{warnings}");
}

#[test]
fn a_long_constant_has_one_warning() {
    let (x, values) = waves(900);
    let values: Vec<f64> =
        values.iter().enumerate().map(|(at, &value)| if at % 3 == 1 { 4.2 } else { value }).collect();
    let fitted = fit(&table(x, 3, &values), &quick(), &go_on).unwrap();
    let summary = fitted.summary();
    let of_it = summary.warnings.iter().filter(|warning| warning.contains("output 1")).count();
    assert_eq!(of_it, 1, "{:?}", summary.warnings);
    // It needs no latent, so an unused one is no news.
    assert!(!summary.warnings.iter().any(|warning| warning.contains("unused")), "{:?}", summary.warnings);
    assert!(summary.outputs.iter().all(|output| output.shared_share.is_sign_positive()));
}

#[test]
fn counts_that_nobody_asked_for_fit_the_table() {
    for method in ["svgp", "nngp"] {
        let method: MethodChoice = method.parse().unwrap();
        let options = FitOptions { method, latents: Some(1), ..quick() };
        check(&fit(&plane(12), &options, &go_on).unwrap(), "twelve rows");
    }
    let asked = FitOptions { method: MethodChoice::Svgp { n_inducing: 50 }, ..quick() };
    assert!(fit(&plane(12), &asked, &go_on).is_err(), "what was asked for is not changed");
    let none = FitOptions { latents: Some(0), ..quick() };
    assert_eq!(fit(&plane(12), &none, &go_on).unwrap_err(), FitError::NoLatents { requested: 0 });
}

#[test]
fn a_limit_of_memory_reaches_the_dense_methods() {
    // The matrix of 300 cells has 720 kB; a sweep needs less.
    let memory = MemoryLimit::bytes(600_000);
    let exact = FitOptions { method: MethodChoice::Exact, memory, ..quick() };
    let refused = fit(&plane(300), &exact, &go_on).unwrap_err();
    assert!(matches!(refused, FitError::Memory { .. }), "{refused}");
    let open = fit(&plane(300), &FitOptions { memory, ..quick() }, &go_on).unwrap();
    assert_ne!(open.parts().method, MethodChoice::Exact);
    assert_eq!(fit(&plane(60), &quick(), &go_on).unwrap().parts().method, MethodChoice::Exact);
}

#[test]
fn conditioning_and_queries_ask_for_memory_first() {
    let (x, values): (Vec<f64>, Vec<f64>) = (0..60).map(|row| (f64::from(row), f64::from(row % 7))).unzip();
    let data = table(x, 1, &values);
    let options = FitOptions { latents: Some(1), ..quick() };
    let fitted = fit(&data, &options, &go_on).unwrap();
    let needed = |error: FitError| match error {
        FitError::Memory { needed, limit } | FitError::QueryMemory { needed, limit } => {
            assert!(needed > limit);
            needed.get()
        }
        other => panic!("{other}"),
    };
    // A model that was saved, on a machine with less memory.
    let memory = MemoryLimit::bytes(3000);
    let small = FitParts { memory, ..fitted.parts().clone() };
    assert!(needed(Fit::from_parts(small).unwrap_err()) < 100_000);
    // Rows that are added to a model, with and without learning.
    let kept = FitParts { memory: MemoryLimit::bytes(20_000), ..fitted.parts().clone() };
    let kept = Fit::from_parts(kept).unwrap();
    let more = table((60..1060).map(f64::from).collect(), 1, &[1.0; 1000]);
    let added = needed(kept.with_more_rows(&more).unwrap_err());
    let learned = needed(kept.relearned(&more, &FitOptions { memory, ..quick() }, &go_on).unwrap_err());
    assert_eq!(added, learned);
    assert!(fitted.relearned(&more, &quick(), &go_on).is_ok());
    // Queries: many points, and draws beyond any memory.
    let many = InputPoints::from_column((0..1000).map(f64::from).collect()).unwrap();
    let few = InputPoints::from_column(vec![0.5, 1.5]).unwrap();
    let quantity = Quantity::Observation;
    assert!(kept.predict(&few, quantity).is_ok() && kept.draws(&few, quantity, 3, 1).is_ok());
    for refused in [
        kept.predict(&many, quantity).unwrap_err(),
        kept.covariances(&many, quantity).unwrap_err(),
        fitted.draws(&few, quantity, usize::MAX, 1).unwrap_err(),
        fitted.draws(&many, quantity, 1 << 40, 1).unwrap_err(),
    ] {
        needed(refused);
    }
}

/// Random rows may miss a sparse output; learning from them must not.
#[test]
fn learning_rows_hold_every_output() {
    let data = plane(400);
    let first: Vec<f64> = data.observations().cells().map(|(_, cell)| cell.value).collect();
    let values: Vec<f64> = first
        .iter()
        .enumerate()
        .flat_map(|(row, &value)| [value, if row % 130 == 7 { -value } else { f64::NAN }])
        .collect();
    let data =
        Dataset::new(data.inputs().clone(), Observations::from_dense(400, 2, &values).unwrap()).unwrap();
    let kernel = KernelPair { shared: Kernel::Matern32, private: Kernel::Matern32 };
    for seed in 0..3 {
        let options = FitOptions {
            method: MethodChoice::FullScale { size: Some(FullScaleSize::new(8, 4)) },
            kernel: Some(kernel),
            latents: Some(1),
            private: Some(false),
            learning_rows: Some(40),
            seed,
            ..quick()
        };
        check(&fit(&data, &options, &go_on).unwrap(), "a sparse output");
    }
}
