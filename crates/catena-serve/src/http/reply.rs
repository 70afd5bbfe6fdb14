//! Replies: a status, JSON, or text.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use catena_fit::LiveFitError;
use catena_io::select::Input;
use serde_json::{Map, Value, json};

use crate::owner::Busy;

/// A reply.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Nothing but a status.
    Status(StatusCode),
    Json(StatusCode, Value),
    /// Text of a type.
    Text(&'static str, String),
}

impl Reply {
    pub(crate) fn ok(value: Value) -> Self {
        Self::Json(StatusCode::OK, value)
    }

    /// A request that is understood but wrong.
    pub(crate) fn wrong(what: String) -> Self {
        Self::Json(StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": what }))
    }
}

impl From<Busy> for Reply {
    fn from(_: Busy) -> Self {
        Self::Status(StatusCode::TOO_MANY_REQUESTS)
    }
}

impl From<LiveFitError> for Reply {
    fn from(error: LiveFitError) -> Self {
        Self::wrong(match error.is_numerical() {
            true => "the prediction overflows; look for values of the wrong unit, and remove them".to_owned(),
            false => error.to_string(),
        })
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let (status, kind, text) = match self {
            Self::Status(status) => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = status;
                return response;
            }
            Self::Json(status, value) => (status, "application/json", value.to_string()),
            Self::Text(kind, text) => (StatusCode::OK, kind, text),
        };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}

/// The inputs of a row, written as in the table.
pub(crate) fn place_of(inputs: &[Input], values: &[f64]) -> Map<String, Value> {
    let entry = |(input, value): (&Input, &f64)| {
        let written = match &input.time {
            Some(axis) => Value::from(axis.print(*value)),
            None => Value::from(*value),
        };
        (input.name.clone(), written)
    };
    inputs.iter().zip(values).map(entry).collect()
}
