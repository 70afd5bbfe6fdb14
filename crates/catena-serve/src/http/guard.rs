//! Who may do what: tokens, web pages of other addresses, and the rate of requests.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

/// Limits of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of a body.
    pub(crate) body: usize,
    /// Requests per second.
    pub(crate) rate: u32,
    pub(crate) connections: usize,
    /// How long a request may take to arrive.
    pub(crate) timeout: Duration,
}

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it tells nothing of the table.
    Open,
    Read,
    Write,
}

/// Digests of the tokens.
#[derive(Clone)]
pub(crate) struct Tokens {
    write: Option<[u8; 32]>,
    read: Option<[u8; 32]>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tokens")
    }
}

impl Tokens {
    pub(crate) fn new(write: Option<&str>, read: Option<&str>) -> Self {
        let digest = |token: &str| Sha256::digest(token).into();
        Self { write: write.map(digest), read: read.map(digest) }
    }

    fn are_none(&self) -> bool {
        self.write.is_none() && self.read.is_none()
    }

    fn allow(&self, access: Access, given: Option<&HeaderValue>) -> bool {
        if access == Access::Open || self.are_none() {
            return true;
        }
        let token = given.and_then(|header| header.as_bytes().strip_prefix(b"Bearer ")).unwrap_or_default();
        let digest: [u8; 32] = Sha256::digest(token).into();
        let equals = |known: &Option<[u8; 32]>| known.is_some_and(|known| is_equal(&known, &digest));
        // Both are compared, whatever the first says.
        let (writes, reads) = (equals(&self.write), equals(&self.read));
        writes | (reads & (access == Access::Read))
    }
}

/// Compares digests in a time that does not depend on where they differ.
fn is_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let difference = one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b));
    std::hint::black_box(difference) == 0
}

/// Decides whether a request may pass.
#[derive(Debug)]
pub(crate) struct Guard {
    tokens: Tokens,
    origins: Vec<String>,
    rate: f64,
    /// Requests that may come now, and when that was counted.
    bucket: Mutex<(f64, Instant)>,
}

impl Guard {
    pub(crate) fn new(tokens: Tokens, origins: Vec<String>, limits: Limits) -> Self {
        let rate = f64::from(limits.rate);
        Self { tokens, origins, rate, bucket: Mutex::new((rate, Instant::now())) }
    }

    /// The status of a request that is refused.
    pub(crate) fn check(&self, access: Access, headers: &HeaderMap) -> Result<(), StatusCode> {
        if !self.has_room() {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        let host = text(HOST).unwrap_or_default();
        // Without a token, a web page could reach this machine under a name of its own that leads here.
        if self.tokens.are_none() && !is_loopback(host) {
            return Err(StatusCode::FORBIDDEN);
        }
        if let Some(origin) = text(ORIGIN)
            && !self.is_own(origin, host)
            && self.allowed_origin(headers).is_none()
        {
            return Err(StatusCode::FORBIDDEN);
        }
        if self.tokens.allow(access, headers.get(AUTHORIZATION)) {
            Ok(())
        } else {
            Err(StatusCode::UNAUTHORIZED)
        }
    }

    /// The origin of a request, if pages there may send requests.
    pub(crate) fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        self.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
    }

    fn is_own(&self, origin: &str, host: &str) -> bool {
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        name == Some(host)
    }

    fn has_room(&self) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *bucket;
        let left = (left + since.elapsed().as_secs_f64() * self.rate).min(self.rate);
        let has_room = left >= 1.0;
        *bucket = (if has_room { left - 1.0 } else { left }, Instant::now());
        has_room
    }
}

/// Whether a host, with or without a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_write_token_reads_and_the_read_token_does_not_write() {
        let tokens = Tokens::new(Some("one-long-write-token"), Some("one-long-read-token"));
        let bearer = |token: &str| HeaderValue::from_str(&format!("Bearer {token}")).ok();
        let allows = |access, token: &str| tokens.allow(access, bearer(token).as_ref());
        assert!(
            allows(Access::Write, "one-long-write-token") && allows(Access::Read, "one-long-write-token")
        );
        assert!(allows(Access::Read, "one-long-read-token") && !allows(Access::Write, "one-long-read-token"));
        for wrong in ["", "one-long-write-toke", "one-long-write-tokens", "Bearer one-long-write-token"] {
            assert!(
                !allows(Access::Read, wrong) && !allows(Access::Write, wrong) && allows(Access::Open, wrong)
            );
        }
        assert!(!tokens.allow(Access::Read, None) && tokens.allow(Access::Open, None));
        let read_only = Tokens::new(None, Some("one-long-read-token"));
        assert!(!read_only.allow(Access::Write, bearer("one-long-read-token").as_ref()));
        assert!(!read_only.allow(Access::Write, None));
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:80", "127.3.2.1", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "example.org", "example.org:8080", "127.0.0.1.example.org:80", "10.0.0.1:8080", "[::2]:1"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn requests_beyond_the_rate_are_refused() {
        let limits = Limits { body: 1, rate: 5, connections: 1, timeout: Duration::from_secs(1) };
        let guard = Guard::new(Tokens::new(None, None), vec![], limits);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        let statuses: Vec<_> = (0..7).map(|_| guard.check(Access::Read, &headers)).collect();
        assert_eq!(statuses[..5], [Ok(()); 5]);
        assert!(statuses[5..].iter().all(|status| *status == Err(StatusCode::TOO_MANY_REQUESTS)));
    }
}
