//! The routes, and what every request passes before and after its route.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_LENGTH,
    HeaderName, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::guard::Access;
use super::reply::Reply;
use super::{App, events, page, picture, questions, writes};

/// A method and a path, and what they need.
type Route = (Method, &'static str, Access);

/// All routes. The description in `openapi.json` has the same (a test).
pub(crate) const ROUTES: &[Route] = &[
    (Method::GET, "/", Access::Open),
    (Method::GET, "/healthz", Access::Open),
    (Method::GET, "/openapi.json", Access::Open),
    (Method::GET, "/metrics", Access::Read),
    (Method::GET, "/v1/state", Access::Read),
    (Method::POST, "/v1/readings", Access::Write),
    (Method::POST, "/v1/remove", Access::Write),
    (Method::POST, "/v1/predict", Access::Read),
    (Method::POST, "/v1/expected", Access::Read),
    (Method::GET, "/v1/ahead", Access::Read),
    (Method::GET, "/v1/range", Access::Read),
    (Method::GET, "/v1/picture", Access::Read),
    (Method::GET, "/v1/events", Access::Read),
    (Method::POST, "/v1/relearn", Access::Write),
];

/// The description of all requests.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/healthz", get(questions::health))
        .route("/openapi.json", get(|| async { Reply::Text("application/json", OPENAPI.to_owned()) }))
        .route("/metrics", get(questions::metrics))
        .route("/v1/state", get(questions::state))
        .route("/v1/readings", post(writes::readings))
        .route("/v1/remove", post(writes::remove))
        .route("/v1/predict", post(questions::predict))
        .route("/v1/expected", post(questions::expected))
        .route("/v1/ahead", get(questions::ahead))
        .route("/v1/range", get(questions::range))
        .route("/v1/picture", get(picture::picture))
        .route("/v1/events", get(events::events))
        .route("/v1/relearn", post(writes::relearn))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(from_fn_with_state(Arc::clone(&app), pass))
        .with_state(app)
}

/// Lets a request pass, or answers with a status alone.
async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let headers = request.headers();
    let (method, path) = (request.method().clone(), request.uri().path());
    let origin = app.guard.allowed_origin(headers);
    let is_stream = path == "/v1/events";
    let access = ROUTES.iter().find(|(own, place, _)| *own == method && *place == path);
    // Another method of a route has no access of its own: its reply is a status.
    let access = access.map_or(Access::Open, |(_, _, access)| *access);
    app.metrics.requests.add(1);
    let refused = app.guard.check(access, headers).err().or_else(|| too_long(headers, app.limits.body));
    let is_preflight = method == Method::OPTIONS && origin.is_some();
    let mut response = match refused {
        Some(status) => {
            app.metrics.requests_refused.add(1);
            Reply::Status(status).into_response()
        }
        None if is_preflight => Reply::Status(StatusCode::NO_CONTENT).into_response(),
        None => next.run(request).await,
    };
    if let Some(origin) = origin {
        allow(response.headers_mut(), origin);
    }
    if !is_stream {
        app.metrics.latency.record(began.elapsed());
    }
    response
}

/// Before any byte of a body that says it is too long is read.
fn too_long(headers: &HeaderMap, most: usize) -> Option<StatusCode> {
    let length = headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse::<u64>().ok()?;
    (length > most as u64).then_some(StatusCode::PAYLOAD_TOO_LARGE)
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    let values = [
        (ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST")),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static("authorization, content-type, idempotency-key"),
        ),
        (VARY, HeaderValue::from_static("origin")),
    ];
    for (name, value) in values {
        headers.insert::<HeaderName>(name, value);
    }
}

/// The parts of a request that a route uses.
pub(crate) fn parts(request: Request) -> (super::query::Query, HeaderMap, Body) {
    let (parts, body) = request.into_parts();
    (super::query::Query::of(&parts.uri), parts.headers, body)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_description_has_the_routes() {
        let description: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let mut described = BTreeSet::new();
        for (path, methods) in description["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let scopes = &operation["security"];
                let access = match (scopes.as_array().unwrap().is_empty(), operation["x-access"].as_str()) {
                    (true, _) => "Open".to_owned(),
                    (false, access) => access.unwrap().to_owned(),
                };
                described.insert((method.to_uppercase(), path.clone(), access));
            }
        }
        let routes = ROUTES
            .iter()
            .map(|(method, path, access)| (method.to_string(), (*path).to_owned(), format!("{access:?}")));
        assert_eq!(described, routes.collect());
    }
}
