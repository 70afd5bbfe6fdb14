//! Requests that change something: readings, removals, learning.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use catena_io::journal::RequestKey;
use serde_json::{Value, json};

use super::reply::Reply;
use super::{App, body, questions, routes};
use crate::owner::{Parameters, Refusal, Write, WriteRow, Written, request_key};

/// Longest key of a client.
const LONGEST_KEY: usize = 200;

/// `POST /v1/readings`: sets values.
pub(crate) async fn readings(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, headers, body) = routes::parts(request);
    let wants_answers = query.word("answer", &["none", "row"]).map_err(Reply::wrong)? == "row";
    let format = questions::Columns::of(&query)?;
    let bytes = body::read(body, app.limits).await?;
    let key = key(&headers, "readings", &bytes)?;
    let (mut rows, mut lines) = (vec![], vec![]);
    for (line, row) in body::rows(&app.about, &headers, &bytes)? {
        let cells = row.cells.iter().map(|(output, value)| (*output as u32, *value)).collect();
        rows.push(WriteRow { inputs: row.inputs, cells });
        lines.push(line);
    }
    let places: Vec<Vec<f64>> =
        if wants_answers { rows.iter().map(|row| row.inputs.clone()).collect() } else { vec![] };
    let written = write(&app, Write { rows, key }, &lines).await?;
    let mut reply = acknowledgment(&written);
    if wants_answers {
        reply["answers"] = questions::predicted(&app, places, format).await?;
    }
    Ok(Reply::ok(reply))
}

/// `POST /v1/remove`: removes values.
pub(crate) async fn remove(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (_, headers, body) = routes::parts(request);
    let bytes = body::read(body, app.limits).await?;
    let key = key(&headers, "remove", &bytes)?;
    let rows = body::removals(&app.about, &headers, &bytes)?;
    if rows.is_empty() {
        return Err(Reply::wrong("the body has no row".to_owned()));
    }
    let lines: Vec<usize> = (1..=rows.len()).collect();
    Ok(Reply::ok(acknowledgment(&write(&app, Write { rows, key }, &lines).await?)))
}

/// `POST /v1/relearn`: learns the model again, or merges the journal into its file.
pub(crate) async fn relearn(State(app): State<Arc<App>>, request: Request) -> Result<Reply, Reply> {
    let (query, _, body) = routes::parts(request);
    let word = query.word("parameters", &["learn", "keep"]).map_err(Reply::wrong)?;
    let _ = body::read(body, app.limits).await?;
    let parameters = if word == "keep" { Parameters::Keep } else { Parameters::Learn };
    let has_begun = app.owner.ask(move |service| service.relearn(parameters)).await?;
    if has_begun {
        Ok(Reply::Json(StatusCode::ACCEPTED, json!({ "learning": true })))
    } else {
        Err(Reply::Json(
            StatusCode::CONFLICT,
            json!({ "error": "the model is learned already; ask /v1/state how far it is" }),
        ))
    }
}

async fn write(app: &App, write: Write, lines: &[usize]) -> Result<Written, Reply> {
    app.owner.write(write).await?.map_err(|refusal| match refusal {
        Refusal::Row { row, output, what } => {
            let column = output.map(|output| app.about.outputs[output].as_str());
            body::problem(lines.get(row).copied().unwrap_or(row + 1), column, what)
        }
        Refusal::KeyOfOther => Reply::Json(
            StatusCode::CONFLICT,
            json!({ "error": "this key belongs to an earlier request with another body; use a new key" }),
        ),
        Refusal::Disk(what) => Reply::Json(StatusCode::INSUFFICIENT_STORAGE, json!({ "error": what })),
    })
}

fn acknowledgment(written: &Written) -> Value {
    json!({
        "rows": written.n_rows,
        "line": written.line,
        "repeated": written.is_repeated,
        "version": written.version,
    })
}

/// The key of a request, made of the client's word and of the body.
fn key(headers: &HeaderMap, kind: &str, bytes: &[u8]) -> Result<Option<RequestKey>, Reply> {
    let Some(word) = headers.get("idempotency-key") else { return Ok(None) };
    if word.is_empty() || word.len() > LONGEST_KEY {
        return Err(Reply::wrong(format!("the header Idempotency-Key has 1 to {LONGEST_KEY} letters")));
    }
    // The same word for readings and for their removal are two requests.
    Ok(Some(request_key(&[kind.as_bytes(), b" ", word.as_bytes()].concat(), bytes)))
}
