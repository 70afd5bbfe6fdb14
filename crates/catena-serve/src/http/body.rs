//! Bodies of requests: one JSON object per line, one JSON value, or CSV, read by the rules of the model's table.

use axum::body::{Body, to_bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use catena_io::stream::{LineError, LineReader, StreamFormat, StreamRow};
use catena_store::About;
use serde_json::{Value, json};

use super::guard::Limits;
use super::reply::Reply;
use crate::owner::WriteRow;

/// Reads a whole body, if it is short enough and arrives in time.
pub(crate) async fn read(body: Body, limits: Limits) -> Result<Vec<u8>, Reply> {
    match tokio::time::timeout(limits.timeout, to_bytes(body, limits.body)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        // Too long, or broken off; nobody reads the reply of the latter.
        Ok(Err(_)) => Err(Reply::Status(StatusCode::PAYLOAD_TOO_LARGE)),
        Err(_) => Err(Reply::Status(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// The rows of a body with the number of their line, from 1.
pub(crate) fn rows(
    about: &About,
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<Vec<(usize, StreamRow)>, Reply> {
    let reader = |format| LineReader::new(format, &about.inputs, &about.outputs).with_cells(&about.cells);
    let lines = || bytes.split(|byte| *byte == b'\n').enumerate().map(|(at, line)| (at + 1, line));
    match kind(headers) {
        Kind::Csv => {
            let mut reader = reader(StreamFormat::Csv);
            let mut lines = lines();
            let (_, header) = lines.next().unwrap_or((1, b""));
            reader.read_header(header).map_err(|error| wrong(1, &error))?;
            gathered(&reader, lines)
        }
        Kind::Lines => gathered(&reader(StreamFormat::Json), lines()),
        Kind::Json => {
            let objects: Vec<Vec<u8>> =
                objects(bytes)?.iter().map(|value| value.to_string().into_bytes()).collect();
            let lines = objects.iter().enumerate().map(|(at, line)| (at + 1, line.as_slice()));
            gathered(&reader(StreamFormat::Json), lines)
        }
    }
}

/// The rows of a body whose objects name a place and the outputs whose values are removed there.
pub(crate) fn removals(about: &About, headers: &HeaderMap, bytes: &[u8]) -> Result<Vec<WriteRow>, Reply> {
    let values = match kind(headers) {
        Kind::Json => objects(bytes)?,
        _ => {
            let lines = bytes.split(|byte| *byte == b'\n').enumerate();
            let filled = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
            let value = |(at, line): (usize, &[u8])| {
                serde_json::from_slice(line)
                    .map_err(|error| problem(at + 1, None, format!("is not a JSON object ({error})")))
            };
            filled.map(value).collect::<Result<_, _>>()?
        }
    };
    let reader = LineReader::new(StreamFormat::Json, &about.inputs, &about.outputs).with_cells(&about.cells);
    let row = |(at, value): (usize, Value)| {
        let Value::Object(mut place) = value else {
            return Err(problem(at + 1, None, "is not a JSON object".to_owned()));
        };
        let names = place.remove("outputs");
        let names = names.as_ref().and_then(Value::as_array).filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| {
            problem(
                at + 1,
                Some("outputs"),
                "is missing; name the outputs whose values are removed".to_owned(),
            )
        })?;
        let mut cells = vec![];
        for name in names {
            let output = about.outputs.iter().position(|output| Some(output.as_str()) == name.as_str());
            let output = output.ok_or_else(|| {
                problem(at + 1, Some("outputs"), format!("{name} is not an output of the model"))
            })?;
            cells.push((output as u32, f64::NAN));
        }
        cells.sort_unstable_by_key(|(output, _)| *output);
        cells.dedup_by_key(|(output, _)| *output);
        let line = Value::Object(place).to_string();
        let read = reader.read(line.as_bytes()).map_err(|error| wrong(at + 1, &error))?;
        match read {
            Some(StreamRow { inputs, cells: values, .. }) if values.is_empty() => {
                Ok(WriteRow { inputs, cells })
            }
            _ => Err(problem(at + 1, None, "has values; name only the inputs and the outputs".to_owned())),
        }
    };
    values.into_iter().enumerate().map(row).collect()
}

/// A place along the only input, written as in the table.
pub(crate) fn place(about: &About, name: &str, text: &str) -> Result<f64, Reply> {
    let [input] = about.inputs.as_slice() else {
        return Err(Reply::wrong("the model has several inputs; ask with POST /v1/predict".to_owned()));
    };
    let value = match (&input.time, text.parse::<f64>()) {
        (None, Ok(number)) if number.is_finite() => return Ok(number),
        _ => json!({ input.name.clone(): text }),
    };
    let reader = LineReader::new(StreamFormat::Json, &about.inputs, &about.outputs).with_cells(&about.cells);
    let read = reader.read(value.to_string().as_bytes());
    match read {
        Ok(Some(row)) => Ok(row.inputs[0]),
        Ok(None) => Err(Reply::wrong(format!("{name} is empty"))),
        Err(error) => Err(Reply::wrong(format!("{name}: {error}"))),
    }
}

enum Kind {
    Lines,
    Json,
    Csv,
}

fn kind(headers: &HeaderMap) -> Kind {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match text.split(';').next().unwrap_or_default().trim() {
        "application/json" => Kind::Json,
        "text/csv" => Kind::Csv,
        _ => Kind::Lines,
    }
}

/// One object, or those of an array.
fn objects(bytes: &[u8]) -> Result<Vec<Value>, Reply> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Array(values)) => Ok(values),
        Ok(value) => Ok(vec![value]),
        Err(error) => Err(Reply::wrong(format!("the body is not JSON ({error})"))),
    }
}

fn gathered<'a>(
    reader: &LineReader,
    lines: impl Iterator<Item = (usize, &'a [u8])>,
) -> Result<Vec<(usize, StreamRow)>, Reply> {
    let mut rows = vec![];
    for (number, line) in lines {
        if let Some(row) = reader.read(line).map_err(|error| wrong(number, &error))? {
            rows.push((number, row));
        }
    }
    if rows.is_empty() {
        return Err(Reply::wrong("the body has no row".to_owned()));
    }
    Ok(rows)
}

fn wrong(line: usize, error: &LineError) -> Reply {
    problem(line, error.column.as_deref(), error.what.clone())
}

/// A refused row.
pub(crate) fn problem(line: usize, column: Option<&str>, what: String) -> Reply {
    let place = column.map(|name| format!("column {name}: ")).unwrap_or_default();
    let error = format!("line {line}: {place}{what}");
    Reply::Json(StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": error, "line": line, "column": column }))
}
