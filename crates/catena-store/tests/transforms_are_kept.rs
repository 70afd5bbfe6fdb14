//! A model file keeps the transform of each output, and files of earlier versions, which have `log` only, predict the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Fit, FitOptions, FitParts, GivenParameters, PowerTransform, Quantity, fit};
use catena_io::model_file::Container;
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, from_bytes, to_bytes};
use serde_json::{Value, json};

/// A fit of two positive outputs with these transforms.
fn transformed(powers: [PowerTransform; 2]) -> Fit {
    let inputs = InputPoints::from_column((0..12).map(f64::from).collect()).unwrap();
    let values: Vec<f64> = (0..24).map(|at| 2.0 + f64::from(at).sin()).collect();
    let table = Dataset::new(inputs, Observations::from_dense(12, 2, &values).unwrap()).unwrap();
    let parameters = GivenParameters {
        kernel: "matern32".parse().unwrap(),
        mixing: vec![vec![1.0], vec![0.3]],
        has_private: false,
        length_scales: vec![3.0],
        noise: vec![0.1, 0.2],
    };
    let options = FitOptions { parameters: Some(parameters), ..FitOptions::default() };
    let plain = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
    let mut parts: FitParts = plain.parts().clone();
    for (output, power) in powers.into_iter().enumerate() {
        parts.preparation.outputs[output].power = power;
        parts.summary.outputs[output].power = power;
    }
    Fit::from_parts(parts).unwrap()
}

fn about() -> About {
    let input = Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double };
    About {
        data: "t.csv".to_owned(),
        inputs: vec![input],
        outputs: vec!["a".to_owned(), "b".to_owned()],
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    }
}

/// The bits of means, standard deviations and medians between the rows.
fn bits(fit: &Fit) -> Vec<u64> {
    let at = InputPoints::from_column(vec![0.3, 4.5, 20.0]).unwrap();
    let predictive = fit.predict(&at, Quantity::Observation).unwrap();
    let numbers = (0..6).flat_map(|at| {
        let (mean, deviation) = predictive.moments(at);
        [mean, deviation, predictive.quantile(at, 0.5)]
    });
    numbers.map(f64::to_bits).collect()
}

/// The file of a fit after a change of the entries of each output, once in the units and once in the summary.
fn changed(fit: &Fit, change: impl Fn(usize, &mut serde_json::Map<String, Value>)) -> Vec<u8> {
    let mut container = Container::from_bytes(&to_bytes(fit, &about()).unwrap()).unwrap();
    for part in ["preparation", "summary"] {
        let outputs = container.header[part]["outputs"].as_array_mut().unwrap();
        for (output, entries) in outputs.iter_mut().enumerate() {
            change(output, entries.as_object_mut().unwrap());
        }
    }
    container.to_bytes().unwrap()
}

#[test]
fn every_transform_predicts_the_same_bits_from_its_file() {
    let box_cox = PowerTransform::BoxCox { exponent: 0.1 + 0.2 };
    let yeo_johnson = PowerTransform::YeoJohnson { exponent: 1.0 / 3.0, center: 1.9, unit: 0.7 };
    for powers in [
        [PowerTransform::None, PowerTransform::Log],
        [box_cox, yeo_johnson],
        [PowerTransform::Log, PowerTransform::BoxCox { exponent: 0.0 }],
    ] {
        let fit = transformed(powers);
        let opened = from_bytes(&to_bytes(&fit, &about()).unwrap()).unwrap();
        assert_eq!(bits(&opened.fit), bits(&fit), "{powers:?}");
        let outputs = &opened.fit.summary().outputs;
        assert_eq!([outputs[0].power, outputs[1].power], powers);
    }
}

#[test]
fn files_of_earlier_versions_predict_the_same_bits() {
    let fit = transformed([PowerTransform::None, PowerTransform::Log]);
    let earlier = changed(&fit, |output, entries| {
        let kind = entries.remove("transform").unwrap();
        assert_eq!(kind, if output == 1 { "log" } else { "none" });
        entries.insert("log".to_owned(), json!(output == 1));
    });
    let opened = from_bytes(&earlier).unwrap();
    assert_eq!(bits(&opened.fit), bits(&fit));
    assert_eq!(opened.fit.summary().outputs[1].power, PowerTransform::Log);
}

#[test]
fn a_transform_out_of_range_is_refused() {
    let fit = transformed([PowerTransform::None, PowerTransform::BoxCox { exponent: 0.4 }]);
    let with = |key: &str, value: Value| {
        from_bytes(&changed(&fit, |output, entries| {
            if output == 1 {
                entries.insert(key.to_owned(), value.clone());
            }
        }))
    };
    assert!(with("exponent", json!(0.5)).is_ok());
    for (key, value) in [
        ("exponent", json!(2.5)),
        ("exponent", json!(-0.1)),
        ("exponent", Value::Null),
        ("transform", json!("cube")),
        ("transform", json!("yeo-johnson")),
        ("transform", Value::Null),
    ] {
        assert!(with(key, value.clone()).is_err(), "{key} {value}");
    }
}
