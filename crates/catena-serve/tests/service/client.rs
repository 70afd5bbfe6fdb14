//! A plain HTTP client on one connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The JSON of a reply that must be positive.
    pub(crate) fn good(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, String::from_utf8_lossy(&self.body));
        self.json()
    }
}

/// A connection that is kept.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    /// Lines of headers that every request has.
    pub(crate) headers: String,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: BufReader::new(stream), headers: format!("Host: {address}\r\n") }
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.request("GET", path, "", b"")
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Reply {
        self.request("POST", path, "", body.as_bytes())
    }

    /// Sends a request with further header lines and reads the reply.
    pub(crate) fn request(&mut self, method: &str, path: &str, more: &str, body: &[u8]) -> Reply {
        self.try_request(method, path, more, body).unwrap()
    }

    /// The same; `None` if the connection breaks.
    pub(crate) fn try_request(&mut self, method: &str, path: &str, more: &str, body: &[u8]) -> Option<Reply> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{}{more}Content-Length: {}\r\n\r\n",
            self.headers,
            body.len()
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat()).ok()?;
        self.reply()
    }

    fn reply(&mut self) -> Option<Reply> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(Reply { status, body })
    }
}
