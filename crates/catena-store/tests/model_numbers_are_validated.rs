//! A complete and signed model file with a number out of range is refused by the name of that number.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{FitOptions, GivenParameters, fit};
use catena_io::model_file::{Array, Container};
use catena_io::select::Input;
use catena_io::table::NumberStyle;
use catena_store::{About, from_bytes, to_bytes};
use serde_json::{Value, json};

/// A model file of a small table with two outputs.
fn model_file() -> Vec<u8> {
    let inputs = InputPoints::from_column((0..12).map(f64::from).collect()).unwrap();
    let values: Vec<f64> = (0..24).map(|at| f64::from(at).sin()).collect();
    let table = Dataset::new(inputs, Observations::from_dense(12, 2, &values).unwrap()).unwrap();
    let parameters = GivenParameters {
        kernel: "matern32".parse().unwrap(),
        mixing: vec![vec![1.0, 0.5, 0.0], vec![0.3, 0.0, 0.5]],
        has_private: true,
        length_scales: vec![3.0, 2.0, 2.0],
        noise: vec![0.1, 0.2],
    };
    let options = FitOptions {
        parameters: Some(parameters),
        input_names: vec!["t".to_owned()],
        output_names: vec!["a".to_owned(), "b".to_owned()],
        ..FitOptions::default()
    };
    let fit = fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
    let input = Input { name: "t".to_owned(), values: vec![], time: None, style: NumberStyle::Double };
    let about = About {
        data: "t.csv".to_owned(),
        inputs: vec![input],
        outputs: vec!["a".to_owned(), "b".to_owned()],
        long: None,
        wide: None,
        groups: None,
        noise_columns: vec![],
        cells: Default::default(),
        caller: None,
    };
    to_bytes(&fit, &about).unwrap()
}

/// The message for the file after a change, signed again.
fn refused(change: impl Fn(&mut Container)) -> String {
    let mut container = Container::from_bytes(&model_file()).unwrap();
    change(&mut container);
    from_bytes(&container.to_bytes().unwrap()).unwrap_err().to_string()
}

#[test]
fn numbers_of_the_header_are_named() {
    for (pointer, value, field) in [
        ("/preparation/outputs/1/scale", json!(-1.0), "preparation.outputs[1].scale"),
        ("/preparation/outputs/0/scale", json!(0.0), "preparation.outputs[0].scale"),
        ("/preparation/inputs/0/1", json!(-2.0), "preparation.inputs[0].scale"),
        ("/summary/outputs/0/noise_deviation", json!(-0.1), "summary.outputs[0].noise_deviation"),
        ("/summary/latents/2/length_scales/0", json!(0.0), "summary.latents[2].length_scales[0]"),
        ("/summary/latents/0/share", json!(1.5), "summary.latents[0].share"),
        ("/summary/correlation/1", json!(-3.0), "summary.correlation[1]"),
    ] {
        let message = refused(|container| *container.header.pointer_mut(pointer).unwrap() = value.clone());
        let text = value.as_f64().unwrap().to_string();
        assert!(message.contains(&format!("{field} is {text}, but must be")), "{message}");
    }
    let ensemble = json!({"name": "ensemble", "count": 1_000_000_000, "neighbors": 0});
    let message = refused(|container| container.header["structure"] = ensemble.clone());
    assert!(message.contains("structure.count is 1000000000, but must be between 1 and 1000"), "{message}");
    // The unchanged file opens.
    let container = Container::from_bytes(&model_file()).unwrap();
    assert!(
        matches!(container.header, Value::Object(_)) && from_bytes(&container.to_bytes().unwrap()).is_ok()
    );
}

#[test]
fn the_log_evidence_of_an_earlier_version_is_converted_to_the_units_of_the_table() {
    let mut container = Container::from_bytes(&model_file()).unwrap();
    let summary = container.header["summary"].as_object_mut().unwrap();
    let now = summary["log_evidence"].as_f64().unwrap();
    let standardized = summary.remove("standardized_log_evidence").unwrap();
    assert_ne!(standardized, json!(now));
    summary["log_evidence"] = standardized.clone();
    let opened = from_bytes(&container.to_bytes().unwrap()).unwrap().fit;
    assert_eq!(opened.summary().log_evidence, now);
    assert_eq!(opened.summary().standardized_log_evidence, standardized.as_f64());
    assert!((opened.log_evidence().unwrap() - now).abs() < 1e-12 * now.abs());
}

#[test]
fn numbers_of_the_arrays_are_named() {
    for (name, at, value) in [
        ("noise", 1, -0.5),
        ("noise", 0, 0.0),
        ("length_scales", 2, -1.0),
        ("length_scales", 0, f64::NAN),
        ("shared_weights", 1, f64::INFINITY),
        ("private_weights", 0, f64::NAN),
        ("inputs", 3, f64::INFINITY),
        ("values", 5, f64::NEG_INFINITY),
    ] {
        let message = refused(|container| {
            let array = &container.arrays[name];
            let (shape, mut numbers) = (array.shape().to_vec(), array.as_f64().unwrap().to_vec());
            numbers[at] = value;
            let changed = Array::from_f64(numbers).with_shape(&shape).unwrap();
            container.arrays.insert(name.to_owned(), changed);
        });
        assert!(message.contains(&format!("{name}[{at}] is {value}, but must be")), "{message}");
    }
}
