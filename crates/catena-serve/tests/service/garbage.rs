//! Bytes that are no requests, and requests that are no readings: no reply with a status of 500 or more, and the service goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::harness::{Folder, line};

/// Numbers that look random.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

const ROUTES: [&str; 9] = [
    "POST /v1/readings",
    "POST /v1/remove",
    "POST /v1/predict",
    "POST /v1/expected",
    "GET /v1/range?from=%zz&to=",
    "GET /v1/ahead?rows=-1&step=nan",
    "GET /v1/picture?from=1e308&to=-1e308&places=999999&outputs=,,",
    "POST /v1/relearn?parameters=%00",
    "PUT /v1/state",
];

const PIECES: [&str; 22] = [
    "{",
    "}",
    "[",
    "]",
    "\"t\"",
    ":",
    "1e999",
    "-0",
    "NaN",
    "null",
    "\"\\u0000\"",
    "\n",
    ",",
    "\"a\"",
    "1e300",
    "{\"t\": 1}",
    "\"outputs\"",
    "[\"b\"]",
    "\u{fffd}",
    "9007199254740993",
    "true",
    "\"2024-01-01\"",
];

#[test]
fn garbage_gets_a_refusal_and_nothing_breaks() {
    let folder = Folder::with_model("garbage", 40);
    let service = folder.serve(&[]);
    let mut draws = Draws(7);
    for _ in 0..600 {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let body: String = (0..draws.below(30)).map(|_| PIECES[draws.below(PIECES.len())]).collect();
        let kinds = ["application/json", "text/csv", "application/x-ndjson", "\u{e9}"];
        let mut bytes = format!(
            "{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{body}",
            ROUTES[draws.below(ROUTES.len())],
            kinds[draws.below(kinds.len())],
            body.len()
        )
        .into_bytes();
        // Every third request is damaged in its bytes, anywhere.
        for _ in 0..if draws.below(3) == 0 { 1 + draws.below(8) } else { 0 } {
            let at = draws.below(bytes.len());
            match draws.below(3) {
                0 => bytes[at] = draws.below(256) as u8,
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, draws.below(256) as u8),
            }
        }
        if stream.write_all(&bytes).is_err() {
            continue;
        }
        // Nothing more comes: what waits for the rest of a request is closed.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut reply = vec![];
        let _ = stream.read_to_end(&mut reply);
        let status = String::from_utf8_lossy(&reply).split(' ').nth(1).map(str::to_owned);
        let is_orderly = status.as_deref().is_none_or(|status| status < "500");
        assert!(is_orderly, "{status:?} to {:?}", String::from_utf8_lossy(&bytes));
    }
    let mut client = service.client();
    client.post("/v1/readings", &line(77.0, &[("a", 1.0)])).good();
    assert_eq!(client.get("/healthz").status, 200);
}
