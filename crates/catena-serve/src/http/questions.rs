//! Requests that change nothing: predictions, holes of a range, expected values, the state, metrics.

use std::sync::Arc;

use axum::extract::{Request, State};
use catena_fit::Quantity;
use catena_io::stream::StreamRow;
use catena_store::{About, axis};
use serde_json::{Map, Value, json};

use super::metrics::OwnNumbers;
use super::picture::to_axis;
use super::query::Query;
use super::reply::{Reply, place_of};
use super::{App, body, routes};
use crate::owner::{Ahead, Answer, MOST_ROWS_OF_RANGE, SURPRISING, Service};

/// Places that the owner is asked for at once, so that others need not wait.
pub(crate) const PLACES_AT_ONCE: usize = 16;
/// Most places of one request.
const MOST_PLACES: usize = 10_000;
const LARGEST: f64 = f64::MAX;

/// What is said of every output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) quantity: Quantity,
    /// The probability of the interval.
    pub(crate) interval: Option<f64>,
}

impl Columns {
    pub(crate) fn of(query: &Query) -> Result<Self, Reply> {
        let with_noise = query.word("noise", &["yes", "no"]).map_err(Reply::wrong)? == "yes";
        let quantity = if with_noise { Quantity::Observation } else { Quantity::Function };
        let interval = query.number("interval", [1e-6, 1.0 - 1e-6]).map_err(Reply::wrong)?;
        Ok(Self { quantity, interval })
    }

    fn push_to(self, row: &mut Map<String, Value>, about: &About, answer: &Answer, output: usize) {
        let name = &about.outputs[output];
        let (mean, std) = answer.predictive.moments(output);
        row.insert(format!("{name}_mean"), mean.into());
        row.insert(format!("{name}_std"), std.into());
        if let Some(interval) = self.interval {
            for (end, share) in [("lo", 0.5 - 0.5 * interval), ("hi", 0.5 + 0.5 * interval)] {
                row.insert(format!("{name}_{end}"), answer.predictive.quantile(output, share).into());
            }
        }
    }
}

/// Predictions at places, as rows. Places are asked for in parts, between which readings may arrive.
pub(crate) async fn predicted(app: &App, places: Vec<Vec<f64>>, columns: Columns) -> Result<Value, Reply> {
    let mut rows = vec![];
    for answer in answers(app, places, columns.quantity).await? {
        let mut row = place_of(&app.about.inputs, &answer.inputs);
        (0..app.about.outputs.len())
            .for_each(|output| columns.push_to(&mut row, &app.about, &answer, output));
        rows.push(Value::Object(row));
    }
    Ok(Value::Array(rows))
}

/// Predictions at places.
pub(crate) async fn answers(
    app: &App,
    places: Vec<Vec<f64>>,
    quantity: Quantity,
) -> Result<Vec<Answer>, Reply> {
    let mut answers = Vec::with_capacity(places.len());
    for part in places.chunks(PLACES_AT_ONCE) {
        let part = part.to_vec();
        answers.extend(app.owner.ask(move |service| service.predict(&part, quantity)).await??);
    }
    Ok(answers)
}

/// `POST /v1/predict`: predictions at places.
pub(crate) async fn predict(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, headers, body) = routes::parts(request);
    let columns = Columns::of(&query)?;
    let bytes = body::read(body, app.limits).await?;
    let rows = body::rows(&app.about, &headers, &bytes)?;
    check_count(rows.len())?;
    let mut places = vec![];
    for (line, row) in rows {
        if !row.cells.is_empty() {
            let what = "has values; a place has only inputs, and POST /v1/expected compares values";
            return Err(body::problem(line, None, what.to_owned()));
        }
        places.push(row.inputs);
    }
    Ok(Reply::ok(json!({ "rows": predicted(&app, places, columns).await? })))
}

/// `POST /v1/expected`: what all other values say of some, which are not observed.
pub(crate) async fn expected(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (_, headers, body) = routes::parts(request);
    let bytes = body::read(body, app.limits).await?;
    let rows = body::rows(&app.about, &headers, &bytes)?;
    check_count(rows.len())?;
    let mut replies = vec![];
    for (line, StreamRow { inputs, cells, .. }) in rows {
        if cells.is_empty() {
            let at = inputs.clone();
            let deviations = app.owner.ask(move |service| service.live.deviations_at(&at)).await??;
            let mut reply = place_of(&app.about.inputs, &inputs);
            for (name, deviation) in app.about.outputs.iter().zip(deviations) {
                if let Some(deviation) = deviation {
                    reply.insert(format!("{name}_deviation"), deviation.into());
                }
            }
            replies.push(Value::Object(reply));
            continue;
        }
        let own = (inputs.clone(), cells.clone());
        let expected = app.owner.ask(move |service| service.expected(&own.0, &own.1)).await?;
        let expected = expected.map_err(|error| match Reply::from(error) {
            Reply::Json(_, value) => {
                body::problem(line, None, value["error"].as_str().unwrap_or_default().to_owned())
            }
            other => other,
        })?;
        let mut reply = place_of(&app.about.inputs, &inputs);
        for ((output, value), deviation) in cells.into_iter().zip(expected.deviations) {
            let name = &app.about.outputs[output];
            let (mean, std) = expected.predictive.moments(output);
            reply.insert(name.clone(), value.into());
            reply.insert(format!("{name}_expected"), mean.into());
            reply.insert(format!("{name}_std"), std.into());
            reply.insert(format!("{name}_deviation"), deviation.into());
        }
        replies.push(Value::Object(reply));
    }
    Ok(Reply::ok(json!({ "rows": replies, "surprising": SURPRISING })))
}

/// `GET /v1/ahead`: forecasts at regular steps after the last row.
pub(crate) async fn ahead(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, _, _) = routes::parts(request);
    let columns = Columns::of(&query)?;
    let count = query.count("rows", (24, 1, MOST_PLACES)).map_err(Reply::wrong)?;
    let step = query.number("step", [1e-9, LARGEST]).map_err(Reply::wrong)?;
    let places = app.owner.ask(move |service| service.places_ahead(Ahead { count, step })).await?;
    let places = places.ok_or_else(|| {
        Reply::wrong("the table has no step to continue; give step, or ask with POST /v1/predict".to_owned())
    })?;
    Ok(Reply::ok(json!({ "rows": predicted(&app, places, columns).await? })))
}

/// `GET /v1/range`: the rows between two places with their missing values filled.
pub(crate) async fn range(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, _, _) = routes::parts(request);
    let columns = Columns::of(&query)?;
    let end = |name: &str, default: f64| match query.get(name) {
        Some(text) => body::place(&app.about, name, text),
        None => Ok(default),
    };
    let (from, to) = (end("from", f64::NEG_INFINITY)?, end("to", f64::INFINITY)?);
    let rows = app.owner.ask(move |service| service.rows_between(from, to)).await?;
    let rows = rows.ok_or_else(|| {
        Reply::wrong(format!("the range has more than {MOST_ROWS_OF_RANGE} rows; ask for shorter ranges"))
    })?;
    let holes = rows.iter().filter(|row| row.values.iter().any(|value| value.is_nan()));
    let answers = answers(&app, holes.map(|row| vec![row.input]).collect(), columns.quantity).await?;
    let mut answers = answers.into_iter();
    let mut replies = vec![];
    for row in rows {
        let mut reply = place_of(&app.about.inputs, &[row.input]);
        let answer = if row.values.iter().any(|value| value.is_nan()) { answers.next() } else { None };
        for (output, value) in row.values.iter().enumerate() {
            match &answer {
                Some(answer) if value.is_nan() => columns.push_to(&mut reply, &app.about, answer, output),
                _ => {
                    reply.insert(app.about.outputs[output].clone(), (*value).into());
                }
            }
        }
        replies.push(Value::Object(reply));
    }
    Ok(Reply::ok(json!({ "rows": replies })))
}

/// `GET /v1/state`: the table, the journal, the last surprises, learning.
pub(crate) async fn state(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, _, _) = routes::parts(request);
    let mut state = app.owner.ask(state_of).await?;
    if query.word("evidence", &["no", "yes"]).map_err(Reply::wrong)? == "yes" {
        state["log_evidence"] = app.owner.ask(|service| service.live.log_evidence()).await??.into();
    }
    Ok(Reply::ok(state))
}

/// The state of a service.
pub(crate) fn state_of(service: &mut Service) -> Value {
    let about = &service.about;
    let input = |values: &[f64]| Value::Object(place_of(&about.inputs, values));
    let first = &about.inputs[0];
    let is_line = about.inputs.len() == 1;
    let surprises = service.surprises.kept().map(|surprise| {
        json!({
            "x": is_line.then(|| to_axis(first, surprise.inputs[0])),
            "at": input(&surprise.inputs),
            "output": about.outputs[surprise.output],
            "value": surprise.value,
            "expected": surprise.expected,
            "std": surprise.std,
            "deviation": surprise.deviation,
        })
    });
    let ([half, most], n_judged) = service.surprises.coverage();
    let ends = service.readings.ends();
    let last = |output: usize| {
        let (at, value, silent) = service.readings.last_of(output)?;
        Some(json!({ "at": input(&[at]), "value": value, "silent": silent }))
    };
    json!({
        "catena": env!("CARGO_PKG_VERSION"),
        "data": about.data,
        "inputs": about.inputs.iter().map(|own| json!({ "name": own.name, "is_time": own.time.is_some() })).collect::<Vec<_>>(),
        "outputs": about.outputs,
        "version": service.version,
        "rows": service.live.n_rows(),
        "observed": service.live.n_observed(),
        "line": service.journal.lines(),
        "readings": (0..about.outputs.len()).map(last).collect::<Vec<_>>(),
        "axis": axis(first),
        "ends": ends.map(|ends| ends.map(|end| to_axis(first, end))),
        "step": service.readings.step(),
        "first": ends.map(|[first, _]| input(&[first])),
        "last": ends.map(|[_, last]| input(&[last])),
        "surprises": surprises.collect::<Vec<_>>(),
        "coverage": { "50": half, "95": most, "readings": n_judged },
        "learning": service.relearning.is_running,
        "learned": { "count": service.relearning.n_done, "last": service.relearning.last },
    })
}

/// `GET /healthz`: whether the posterior answers.
pub(crate) async fn health(State(app): State<Arc<App>>) -> Result<Reply, Reply> {
    app.owner.ask(|_| ()).await?;
    Ok(Reply::Text("text/plain; charset=utf-8", "ok\n".to_owned()))
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Reply, Reply> {
    let own = app.owner.ask(|service| OwnNumbers {
        n_rows: service.live.n_rows(),
        n_observed: service.live.n_observed(),
        journal_bytes: service.journal.length(),
        surprises: service.surprises.counts().to_vec(),
        n_skipped: service.surprises.n_skipped(),
        coverage: service.surprises.coverage(),
        relearned: service.relearning.n_done,
        is_learning: service.relearning.is_running,
    });
    let own = own.await?;
    Ok(Reply::Text("text/plain; version=0.0.4", app.metrics.text(&own, &app.about.outputs)))
}

fn check_count(count: usize) -> Result<(), Reply> {
    if count <= MOST_PLACES {
        return Ok(());
    }
    Err(Reply::wrong(format!("the body has {count} rows; send at most {MOST_PLACES}")))
}
