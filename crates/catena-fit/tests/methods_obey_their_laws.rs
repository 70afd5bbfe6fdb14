//! Every method behind the common interface obeys the interface's laws.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::methods::{
    Differentiable, ExactMethod, FullScaleMethod, MessagePassing, Method, NngpMethod, SvgpMethod,
};
use catena_fit::{Quantity, StructureOption};
use catena_methods::Problem;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;
use catena_methods::nngp::NngpOptions;

fn model() -> Lmc {
    let latent = |length_scale| {
        Latent::new(Kernel::Matern32, StateKind::Value, LengthScale::new(length_scale).unwrap()).unwrap()
    };
    let mixing = MixingMatrix::with_private(2, 1, vec![1.0, -0.7], vec![0.5, 0.4]).unwrap();
    let noise = vec![Variance::new(0.1).unwrap(), Variance::new(0.2).unwrap()];
    Lmc::new(vec![latent(2.0), latent(1.0), latent(0.5)], mixing, noise).unwrap()
}

/// 30 rows on a line, every third cell hidden.
fn dataset() -> Dataset {
    let places: Vec<f64> = (0..30).map(|row| 0.3 * f64::from(row)).collect();
    let values: Vec<f64> =
        (0..60).map(|cell| if cell % 3 == 1 { f64::NAN } else { (0.2 * f64::from(cell)).sin() }).collect();
    let inputs = InputPoints::from_column(places).unwrap();
    Dataset::new(inputs, Observations::from_dense(30, 2, &values).unwrap()).unwrap()
}

fn on_a_tree() -> MessagePassing {
    MessagePassing { structure: StructureOption::Tree, ..MessagePassing::default() }
}

fn with_gradients() -> Vec<Box<dyn Differentiable>> {
    vec![
        Box::new(MessagePassing::default()),
        Box::new(MessagePassing::paper()),
        Box::new(on_a_tree()),
        Box::new(ExactMethod(ExactOptions::default())),
        Box::new(SvgpMethod::new(8)),
        Box::new(NngpMethod(NngpOptions::new(5))),
        Box::new(FullScaleMethod::new(FullScaleSize::new(8, 4), 0)),
    ]
}

fn all() -> Vec<Box<dyn Method>> {
    with_gradients().into_iter().map(|method| method as Box<dyn Method>).collect()
}

#[test]
fn predictions() {
    let (model, dataset) = (model(), dataset());
    let problem = Problem::new(&model, &dataset, DistanceScale::ONE).unwrap();
    let at = InputPoints::from_column(vec![-1.0, 0.3, 0.35, 4.0, 20.0]).unwrap();
    for method in all() {
        let name = method.name();
        let fitted = method.fit(problem).unwrap();
        let function = fitted.predict(&at, Quantity::Function).unwrap();
        let observation = fitted.predict(&at, Quantity::Observation).unwrap();
        assert_eq!((function.n_rows(), function.n_outputs()), (5, 2), "{name}");
        assert_eq!(function.means(), observation.means(), "{name}");
        let pairs = function.variances().iter().zip(observation.variances());
        assert!(
            pairs.clone().all(|(function, observation)| 0.0 <= *function && function <= observation),
            "{name}"
        );
        assert_eq!(fitted.predict_rows(Quantity::Observation).unwrap().n_rows(), 30, "{name}");
        let alone = InputPoints::from_column(vec![4.0]).unwrap();
        let alone = fitted.predict(&alone, Quantity::Function).unwrap();
        for (alone, together) in alone.means().iter().zip(&function.means()[6..8]) {
            assert!((alone - together).abs() < 1e-13, "{name}: {alone} {together}");
        }
        let again = method.fit(problem).unwrap().predict(&at, Quantity::Function).unwrap();
        assert_eq!(again, function, "{name}");
    }
}

#[test]
fn the_gradient_belongs_to_the_evidence() {
    let (model, dataset) = (model(), dataset());
    let problem = Problem::new(&model, &dataset, DistanceScale::ONE).unwrap();
    for method in with_gradients() {
        let evidence = method.fit(problem).unwrap().evidence().unwrap().unwrap().get();
        let gradient = method.gradient(problem).unwrap();
        assert!((gradient.value - evidence).abs() < 1e-12 * evidence.abs().max(1.0), "{}", method.name());
    }
}

#[test]
fn observations_add_the_models_noise() {
    let (model, dataset) = (model(), dataset());
    let problem = Problem::new(&model, &dataset, DistanceScale::ONE).unwrap();
    let at = InputPoints::from_column(vec![1.0]).unwrap();
    let fitted = ExactMethod::default().fit(problem).unwrap();
    let function = fitted.predict(&at, Quantity::Function).unwrap();
    let observation = fitted.predict(&at, Quantity::Observation).unwrap();
    for (output, noise) in [0.1, 0.2].into_iter().enumerate() {
        let added = observation.variances()[output] - function.variances()[output];
        assert!((added - noise).abs() < 1e-15);
    }
}
