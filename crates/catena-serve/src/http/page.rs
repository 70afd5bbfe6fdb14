//! The page at `/`, with the drawing code and the style sheet of the report page.

use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::response::{IntoResponse, Response};
use catena_store::report::{DRAWING, STYLE};

use super::reply::Reply;

const FRAME: &str = include_str!("live/page.html");
const LIVE_STYLE: &str = include_str!("live/live.css");

/// In the order they run, after the drawing code. Only the last runs what it declares.
const SCRIPTS: &[&str] = &[
    include_str!("live/connection.js"),
    include_str!("live/chart.js"),
    include_str!("live/form.js"),
    include_str!("live/main.js"),
];

/// Nothing comes from elsewhere, and no other page shows this one inside itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
                      frame-ancestors 'none'; form-action 'none'; base-uri 'none'";

/// `GET /`: the page, which knows nothing of the table.
pub(crate) async fn page() -> Response {
    let scripts = [DRAWING, SCRIPTS].concat().join("\n");
    let style = [STYLE, LIVE_STYLE].join("\n");
    let html = FRAME.replace("{{style}}", &style).replace("{{scripts}}", &scripts);
    let mut response = Reply::Text("text/html; charset=utf-8", html).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
