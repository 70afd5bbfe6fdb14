//! The stream of events: the state whenever something changed, a few times a second at most.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::App;
use super::questions::state_of;

/// The shortest time between two events, and the longest without a sign of life.
const PAUSE: Duration = Duration::from_millis(150);
const SILENCE: Duration = Duration::from_secs(15);

/// A body whose pieces arrive over time.
struct Pieces(mpsc::Receiver<Bytes>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// `GET /v1/events`: server-sent events named `state`.
pub(crate) async fn events(State(app): State<Arc<App>>) -> Response {
    // One piece waits: a slow page gets the newest state, and nothing piles up.
    let (sender, receiver) = mpsc::channel(1);
    let mut changes = app.changes.subscribe();
    let owner = app.owner.clone();
    tokio::spawn(async move {
        loop {
            drop(changes.borrow_and_update());
            let piece = match owner.ask(state_of).await {
                Ok(state) => format!("event: state\ndata: {state}\n\n"),
                // The owner is busy; the next change is told.
                Err(_) => ": busy\n\n".to_owned(),
            };
            if sender.send(Bytes::from(piece)).await.is_err() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
            loop {
                match tokio::time::timeout(SILENCE, changes.changed()).await {
                    Ok(Ok(())) => break,
                    Ok(Err(_)) => return,
                    Err(_) => {
                        if sender.send(Bytes::from_static(b": quiet\n\n")).await.is_err() {
                            return;
                        }
                    }
                }
            }
        }
    });
    let mut response = Response::new(Body::new(Pieces(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
