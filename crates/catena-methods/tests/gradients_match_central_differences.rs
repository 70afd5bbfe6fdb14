//! Every derivative agrees with central differences of the value it belongs to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::{Dataset, InputPoints};
use catena::model::Lmc;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::kmeans::{Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Approximation, Inducing, Svgp, SvgpOptions};
use catena_methods::{CellReduction, Gradient, MemoryLimit, Problem};
use std::sync::Arc;
use support::{Example, Shape, example, moved, n_parameters, shapes};

/// Step h: the error of the difference is about h² (third derivative) + 1e-14·|value|/h, so 1e-8 here; the tolerance is
/// 1e-6 of the gradient's scale.
fn check(example: &Example, gradient: &Gradient, value: impl Fn(&Lmc) -> f64, what: &str) {
    let step = 1e-5;
    let derivatives: Vec<f64> =
        [&gradient.mixing[..], &gradient.length_scales[..], &gradient.noise[..]].concat();
    assert_eq!(derivatives.len(), n_parameters(&example.model));
    assert!((gradient.value - value(&example.model)).abs() < 1e-9);
    for (number, derivative) in derivatives.iter().enumerate() {
        let ahead = value(&moved(&example.model, number, step));
        let behind = value(&moved(&example.model, number, -step));
        let difference = (ahead - behind) / (2.0 * step);
        let error = (derivative - difference).abs() / difference.abs().max(1.0);
        assert!(error < 1e-6, "{what}, parameter {number}: {derivative} against {difference}");
    }
}

fn examples() -> impl Iterator<Item = Example> {
    shapes().into_iter().enumerate().map(|(number, shape)| {
        let few = Shape { n_rows: 14, ..shape };
        example(few, 3000 + number as u64)
    })
}

#[test]
fn exact() {
    for example in examples() {
        for reduction in [CellReduction::Lossless, CellReduction::AsObserved] {
            let fit = |model: &Lmc| {
                let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
                Exact::fit(problem, ExactOptions { reduction, ..ExactOptions::default() }).unwrap()
            };
            let gradient = fit(&example.model).gradient().unwrap();
            check(&example, &gradient, |model| fit(model).log_evidence(), "exact");
        }
    }
}

#[test]
fn nearest_neighbor() {
    for example in examples() {
        for n_neighbors in [3, 9] {
            for reduction in [CellReduction::Lossless, CellReduction::AsObserved] {
                let fit = |model: &Lmc| {
                    let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
                    Nngp::fit(problem, NngpOptions { reduction, ..NngpOptions::new(n_neighbors) }).unwrap()
                };
                let gradient = fit(&example.model).gradient().unwrap();
                check(&example, &gradient, |model| fit(model).log_evidence().unwrap(), "nngp");
            }
        }
    }
}

#[test]
fn sparse() {
    for example in examples() {
        for approximation in [Approximation::Fitc, Approximation::Collapsed] {
            let places =
                k_means(example.dataset.inputs(), Start::PlusPlus { n_centers: 5, seed: 2 }, 20).unwrap();
            let inducing = Inducing::Shared(places);
            let fit = |model: &Lmc| {
                let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
                let options = SvgpOptions { approximation, ..SvgpOptions::default() };
                Svgp::fit(problem, &inducing, options).unwrap()
            };
            let gradient = fit(&example.model).gradient();
            check(&example, &gradient, |model| fit(model).log_evidence(), "svgp");
        }
    }
}

#[test]
fn full_scale() {
    for example in examples() {
        for (n_inducing, n_neighbors) in [(0, 3), (5, 0), (5, 3), (4, 20)] {
            let size = FullScaleSize { n_inducing, n_neighbors };
            let arrangement = Arc::new(Arrangement::new(&example.dataset, size, 2).unwrap());
            let fit = |model: &Lmc| {
                let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
                FullScale::fit(problem, Arc::clone(&arrangement), MemoryLimit::default()).unwrap()
            };
            let gradient = fit(&example.model).gradient().unwrap();
            check(&example, &gradient, |model| fit(model).log_evidence(), &format!("full-scale {size:?}"));
        }
    }
}

/// The table with one input scaled.
fn stretched(example: &Example, input: usize, factor: f64) -> Dataset {
    let inputs = example.dataset.inputs();
    let stretch =
        |(at, value): (usize, &f64)| if at % inputs.dim() == input { factor * value } else { *value };
    let values = inputs.values().iter().enumerate().map(stretch).collect();
    let inputs = InputPoints::new(inputs.n_rows(), inputs.dim(), values).unwrap();
    Dataset::new(inputs, example.dataset.observations().clone()).unwrap()
}

/// The arrangement is recomputed: so small a factor changes no neighbor, and the inducing points scale with the inputs.
#[test]
fn full_scale_in_a_factor_on_each_input() {
    let step: f64 = 1e-5;
    for example in examples() {
        for (n_inducing, n_neighbors) in [(0, 3), (5, 0), (5, 3), (4, 20)] {
            let size = FullScaleSize { n_inducing, n_neighbors };
            let fit = |dataset: &Dataset| {
                let arrangement = Arc::new(Arrangement::new(dataset, size, 2).unwrap());
                let problem = Problem::new(&example.model, dataset, example.scale).unwrap();
                FullScale::fit(problem, arrangement, MemoryLimit::default()).unwrap()
            };
            let posterior = fit(&example.dataset);
            let (gradient, slopes) = posterior.gradient_with_inputs().unwrap();
            assert_eq!(gradient, posterior.gradient().unwrap());
            assert_eq!(slopes.len(), example.dataset.inputs().dim());
            for (input, slope) in slopes.iter().enumerate() {
                let value = |factor: f64| fit(&stretched(&example, input, factor)).log_evidence();
                let difference = (value(step.exp()) - value((-step).exp())) / (2.0 * step);
                let error = (slope - difference).abs() / difference.abs().max(1.0);
                assert!(error < 1e-6, "{size:?}, input {input}: {slope} against {difference}");
            }
        }
    }
}
