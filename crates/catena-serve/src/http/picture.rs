//! What a chart of a window shows: bands on a grid, and observed values or their extremes. Nothing else travels to the page.

use std::sync::Arc;

use axum::extract::{Request, State};
use catena_fit::Quantity;
use catena_io::select::Input;
use catena_io::time::{Instant, TimeAxis};
use catena_store::report::{Bands, InputColumn, OutputSeries, Table, packed};
use catena_store::{About, axis};
use serde_json::json;

use super::questions::answers;
use super::reply::Reply;
use super::{App, routes};
use crate::owner::{Answer, Window};

/// Most outputs of a picture: those on the screen.
const MOST_OUTPUTS: usize = 50;
const DAY: f64 = 86_400.0;

/// `GET /v1/picture`: a window of some outputs, packed as on the report page.
pub(crate) async fn picture(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, _, _) = routes::parts(request);
    let [input] = app.about.inputs.as_slice() else {
        return Err(Reply::wrong("a model with several inputs has no charts along one of them".to_owned()));
    };
    let n_places = query.count("places", (400, 20, 2000)).map_err(Reply::wrong)?;
    let end = |name: &str| {
        let number = query.number(name, [-1e18, 1e18]).map_err(Reply::wrong)?;
        Ok::<_, Reply>(number.map(|number| from_axis(input, number)))
    };
    let (from, to) = (end("from")?, end("to")?);
    let outputs = outputs(&app.about, query.get("outputs"))?;
    let window = app.owner.ask(move |service| service.window(from, to, n_places)).await?;
    let window = window.ok_or_else(|| Reply::wrong("the window is empty; from is before to".to_owned()))?;
    let places = window.places.iter().map(|place| vec![*place]).collect();
    let answers = answers(&app, places, Quantity::Observation).await?;
    let on_axis = |value: f64| to_axis(input, value);
    let head = json!({
        "version": window.version,
        "from": on_axis(window.from),
        "to": on_axis(window.to),
        "ends": window.ends.map(|ends| ends.map(on_axis)),
        "binned": window.is_binned,
    });
    let (bands, points) = (bands(&app.about, &answers, &outputs), points(&app.about, &window, &outputs));
    let head = head.to_string();
    let text =
        format!("{},\"bands\":{},\"points\":{}}}", &head[..head.len() - 1], packed(&bands), packed(&points));
    Ok(Reply::Text("application/json", text))
}

/// The outputs that are asked for, by their numbers; all without any.
fn outputs(about: &About, text: Option<&str>) -> Result<Vec<usize>, Reply> {
    let n_outputs = about.outputs.len();
    let Some(text) = text else { return Ok((0..n_outputs.min(MOST_OUTPUTS)).collect()) };
    let number = |word: &str| {
        let number = word.parse::<usize>().ok().filter(|number| *number < n_outputs);
        number.ok_or_else(|| {
            Reply::wrong(format!("outputs has {word:?}; give numbers from 0 to {}", n_outputs - 1))
        })
    };
    let numbers: Vec<usize> = text.split(',').map(number).collect::<Result<_, _>>()?;
    if numbers.len() > MOST_OUTPUTS {
        return Err(Reply::wrong(format!(
            "outputs has {} numbers; give at most {MOST_OUTPUTS}",
            numbers.len()
        )));
    }
    Ok(numbers)
}

fn column(input: &Input, values: impl Iterator<Item = f64>) -> Vec<InputColumn> {
    vec![InputColumn { axis: axis(input), values: values.map(|value| to_axis(input, value)).collect() }]
}

fn bands(about: &About, answers: &[Answer], outputs: &[usize]) -> Table {
    let series = |output: &usize| {
        let quantiles =
            |share: f64| answers.iter().map(|own| own.predictive.quantile(*output, share)).collect();
        OutputSeries {
            name: about.outputs[*output].clone(),
            observed: vec![None; answers.len()],
            mean: answers.iter().map(|own| own.predictive.mean(*output)).collect(),
            bands: Bands::Quantiles {
                lo50: quantiles(0.25),
                hi50: quantiles(0.75),
                lo95: quantiles(0.025),
                hi95: quantiles(0.975),
            },
            ..OutputSeries::default()
        }
    };
    Table {
        inputs: column(&about.inputs[0], answers.iter().map(|own| own.inputs[0])),
        outputs: outputs.iter().map(series).collect(),
        ..Table::default()
    }
}

fn points(about: &About, window: &Window, outputs: &[usize]) -> Table {
    let series = |output: &usize| {
        let values = window.points.iter().map(|row| row.values[*output]);
        OutputSeries {
            name: about.outputs[*output].clone(),
            observed: values.clone().map(|value| (!value.is_nan()).then_some(value)).collect(),
            // The differences of packed columns are from the center of the means.
            mean: values.collect(),
            bands: Bands::Gaussian { std: vec![0.0; window.points.len()] },
            ..OutputSeries::default()
        }
    };
    Table {
        inputs: column(&about.inputs[0], window.points.iter().map(|row| row.input)),
        outputs: outputs.iter().map(series).collect(),
        ..Table::default()
    }
}

/// A number of the model on the axis of a chart: seconds since 1970 for times.
pub(crate) fn to_axis(input: &Input, value: f64) -> f64 {
    input.time.as_ref().map_or(value, |axis| axis.unix_seconds(value))
}

fn from_axis(input: &Input, value: f64) -> f64 {
    let Some(axis) = &input.time else { return value };
    // A calendar has no weekends: the next day that it has.
    let days = (0..4).map(|day| value + f64::from(day) * DAY);
    days.filter_map(|seconds| number_of(axis, seconds)).next().unwrap_or(value - axis.origin_seconds as f64)
}

fn number_of(axis: &TimeAxis, seconds: f64) -> Option<f64> {
    if axis.calendar.is_none() {
        return Some(seconds - axis.origin_seconds as f64);
    }
    axis.number_of(Instant::from_nanoseconds((seconds * 1e9) as i128))
}
