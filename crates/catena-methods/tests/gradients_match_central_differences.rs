//! Every derivative agrees with central differences of the value it belongs to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::model::Lmc;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::kmeans::{Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Approximation, Svgp, SvgpOptions};
use catena_methods::{Gradient, MemoryLimit, Problem};
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
        let fit = |model: &Lmc| {
            let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
            Exact::fit(problem, ExactOptions::default()).unwrap()
        };
        let gradient = fit(&example.model).gradient().unwrap();
        check(&example, &gradient, |model| fit(model).log_evidence(), "exact");
    }
}

#[test]
fn nearest_neighbor() {
    for example in examples() {
        for n_neighbors in [3, 9] {
            let fit = |model: &Lmc| {
                let problem = Problem::new(model, &example.dataset, example.scale).unwrap();
                Nngp::fit(problem, NngpOptions::new(n_neighbors)).unwrap()
            };
            let gradient = fit(&example.model).gradient().unwrap();
            check(&example, &gradient, |model| fit(model).log_evidence().unwrap(), "nngp");
        }
    }
}

#[test]
fn sparse() {
    for example in examples() {
        for approximation in [Approximation::Fitc, Approximation::Collapsed] {
            let places =
                k_means(example.dataset.inputs(), Start::PlusPlus { n_centers: 5, seed: 2 }, 20).unwrap();
            let inducing = places;
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
