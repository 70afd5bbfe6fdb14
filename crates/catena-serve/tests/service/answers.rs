//! Predictions, expected values, filled ranges and forecasts equal those of a fit of the same table.

use catena::data::InputPoints;
use catena_fit::{Fit, LiveFit, Quantity};
use serde_json::Value;

use crate::client::Client;
use crate::harness::{Folder, N_OUTPUTS, line, table, wave};

const NAMES: [&str; N_OUTPUTS] = ["a", "b", "c"];

/// Asks for predictions at places and compares them with those of a fit.
pub(crate) fn assert_equals_fit(client: &mut Client, fit: &Fit, places: &[f64]) {
    let body: String = places.iter().map(|place| line(*place, &[])).collect();
    let rows = client.post("/v1/predict?interval=0.9", &body).good();
    let points = InputPoints::from_column(places.to_vec()).unwrap();
    let expected = fit.predict(&points, Quantity::Observation).unwrap();
    for (at, row) in rows["rows"].as_array().unwrap().iter().enumerate() {
        assert_eq!(row["t"].as_f64(), Some(places[at]));
        for (output, name) in NAMES.iter().enumerate() {
            let cell = at * N_OUTPUTS + output;
            let (mean, std) = expected.moments(cell);
            let number = |end: &str| row[format!("{name}_{end}")].as_f64().unwrap();
            assert!((number("mean") - mean).abs() < 1e-10, "{row} {mean}");
            assert!((number("std") - std).abs() < 1e-10, "{row} {std}");
            assert!((number("lo") - expected.quantile(cell, 0.05)).abs() < 1e-9, "{row}");
        }
    }
}

#[test]
fn answers_equal_a_fit_of_the_acknowledged_table() {
    let folder = Folder::with_model("answers", 120);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let places = [0.0, 33.0, 35.5, 119.0, 120.0, 131.0, 150.0];
    assert_equals_fit(&mut client, &folder.fit(), &places);

    // New rows, one of them between others, and a value that is corrected.
    let mut inputs: Vec<f64> = (120..140).map(f64::from).collect();
    inputs.push(57.25);
    let values: Vec<f64> = inputs.iter().flat_map(|t| [wave(*t, 0), f64::NAN, wave(*t, 2)]).collect();
    let body: String = inputs.iter().map(|t| line(*t, &[("a", wave(*t, 0)), ("c", wave(*t, 2))])).collect();
    client.post("/v1/readings", &line(130.0, &[("a", 7.0), ("b", 8.0)])).good();
    client.post("/v1/remove", "{\"t\": 130, \"outputs\": [\"b\"]}").good();
    let reply = client.post("/v1/readings?answer=row", &body).good();
    assert_eq!((reply["rows"].as_u64(), reply["repeated"].as_bool()), (Some(21), Some(false)));
    assert_eq!(reply["answers"].as_array().unwrap().len(), 21);
    let fitted = folder.fit().with_more_rows(&table(inputs, &values)).unwrap();
    assert_equals_fit(&mut client, &fitted, &places);

    let state = client.get("/v1/state").good();
    assert_eq!(state["rows"].as_u64(), Some(141));
    assert_eq!(state["observed"].as_u64(), Some(fitted.table().observations().n_observed() as u64));
    assert_eq!(state["line"].as_u64(), Some(23));
    assert_eq!(state["last"]["t"].as_f64(), Some(139.0));
}

#[test]
fn a_reading_is_compared_with_what_all_others_say() {
    let folder = Folder::with_model("expected", 120);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let expected = |client: &mut Client, value: f64| {
        client.post("/v1/expected", &line(60.0, &[("a", value)])).good()["rows"][0].clone()
    };
    // What the other values say: a fit without the value.
    let mut live = LiveFit::new(&folder.fit()).unwrap();
    live.remove(&[60.0], catena::index::OutputIndex::new(0)).unwrap();
    let (mean, std) = live.marginals_at(&[60.0], Quantity::Observation).unwrap().moments(0);
    let said = expected(&mut client, wave(60.0, 0));
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    assert!((number(&said, "a_expected") - mean).abs() < 1e-9, "{said} {mean}");
    assert!((number(&said, "a_std") - std).abs() < 1e-9, "{said} {std}");
    assert!(number(&said, "a_deviation").abs() < 4.0);
    let far = expected(&mut client, mean + 10.0 * std);
    assert!((number(&far, "a_deviation") - 10.0).abs() < 1e-6, "{far}");
    // Nothing was observed by asking; observing it makes it a surprise, and correcting it ends that.
    assert_eq!(client.get("/v1/state").good()["line"].as_u64(), Some(0));
    client.post("/v1/readings", &line(60.0, &[("a", mean + 10.0 * std)])).good();
    // Readings are judged when nobody waits.
    let surprises = |client: &mut Client, n_judged: u64| loop {
        let state = client.get("/v1/state").good();
        if state["coverage"]["readings"].as_u64() == Some(n_judged) {
            return state["surprises"].clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let found = surprises(&mut client, 1);
    assert_eq!(
        (found[0]["output"].as_str(), found[0]["at"]["t"].as_f64()),
        (Some("a"), Some(60.0)),
        "{found}"
    );
    client.post("/v1/readings", &line(60.0, &[("a", mean)])).good();
    assert_eq!(surprises(&mut client, 2).as_array().unwrap().len(), 0);
}

#[test]
fn holes_are_filled_and_forecasts_continue_the_rows() {
    let folder = Folder::with_model("holes", 120);
    let service = folder.serve(&[]);
    let mut client = service.client();
    let rows = client.get("/v1/range?from=30&to=33").good()["rows"].clone();
    let fitted = folder.fit();
    let all =
        fitted.predict(&InputPoints::from_column(vec![31.0, 121.0]).unwrap(), Quantity::Observation).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 4);
    assert_eq!(rows[0]["b"].as_f64(), Some(wave(30.0, 1)));
    assert!(rows[0].get("b_mean").is_none() && rows[1].get("b").is_none());
    assert!((rows[1]["b_mean"].as_f64().unwrap() - all.mean(1)).abs() < 1e-10);
    let ahead = client.get("/v1/ahead?rows=3").good()["rows"].clone();
    assert_eq!(ahead.as_array().unwrap().len(), 3);
    assert_eq!(ahead[1]["t"].as_f64(), Some(121.0));
    assert!((ahead[1]["c_mean"].as_f64().unwrap() - all.mean(N_OUTPUTS + 2)).abs() < 1e-10);
    let window = client.get("/v1/picture?outputs=0,2&from=20&to=60&places=100").good();
    let names: Vec<&str> = window["bands"]["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| output["name"].as_str().unwrap())
        .collect();
    assert_eq!((names, window["points"]["n_rows"].as_u64()), (vec!["a", "c"], Some(41)));
}
