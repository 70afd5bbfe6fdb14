//! The options of the program, and the settings they make.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catena_io::FileName;
use catena_io::journal::Journal;
use clap::Parser;

use crate::error::ServeError;
use crate::http::{Limits, Tokens};

const EXAMPLES: &str = "\
Examples:
  catena-serve sensors.catena                                       http://127.0.0.1:8080, for this machine only
  catena-serve sensors.catena --listen 0.0.0.0:8080 --write-token-file write.txt --read-token-file read.txt
  curl -X POST --data-binary '{\"time\": \"2024-05-01 12:00\", \"temp\": 21.5}' http://127.0.0.1:8080/v1/readings

The page is at /, the description of all requests at /openapi.json, metrics at /metrics.

Journal: every reading is written to the journal and flushed to disk before it is acknowledged. The journal is that of `catena watch`; \
a restart applies it again. If the disk is full, readings are refused with status 507 and questions are answered.

Access: without tokens the program listens on loopback addresses only. A request sends its token as `Authorization: Bearer TOKEN`. The \
write token also reads. Tokens can be given as CATENA_WRITE_TOKEN and CATENA_READ_TOKEN. For TLS, put a proxy in front.";

/// Serves a saved model over HTTP: takes readings, answers questions, and shows a page.
#[derive(Debug, Parser)]
#[command(name = "catena-serve", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file; it is replaced only when the model is learned again.
    pub(crate) model: PathBuf,
    /// Address and port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Journal file [default: MODEL.journal].
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// File whose first line is the token that writes and reads.
    #[arg(long, value_name = "FILE")]
    write_token_file: Option<PathBuf>,
    /// File whose first line is the token that only reads.
    #[arg(long, value_name = "FILE")]
    read_token_file: Option<PathBuf>,
    /// Web page that may send requests from another address, such as https://example.org; may be repeated [default: none].
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Largest body of a request, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20)]
    max_body: usize,
    /// Most requests per second, of all clients together.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    max_rate: u32,
    /// Most connections at once.
    #[arg(long, value_name = "COUNT", default_value_t = 512)]
    max_connections: usize,
    /// Most seconds that a request may take to arrive.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What the options say.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) journal: PathBuf,
    pub(crate) tokens: Tokens,
    pub(crate) origins: Vec<String>,
    pub(crate) limits: Limits,
}

impl Arguments {
    /// The settings; reads the tokens.
    pub(crate) fn settings(&self) -> Result<Settings, ServeError> {
        let write = token(self.write_token_file.as_deref(), "CATENA_WRITE_TOKEN")?;
        let read = token(self.read_token_file.as_deref(), "CATENA_READ_TOKEN")?;
        if write.is_none() && read.is_none() && !self.listen.ip().is_loopback() {
            return Err(ServeError::NeedsToken { address: self.listen });
        }
        Ok(Settings {
            listen: self.listen,
            journal: self.journal.clone().unwrap_or_else(|| Journal::beside(&self.model)),
            tokens: Tokens::new(write.as_deref(), read.as_deref()),
            origins: self.allow_origin.clone(),
            limits: Limits {
                body: self.max_body,
                rate: self.max_rate.max(1),
                connections: self.max_connections.max(1),
                timeout: Duration::from_secs(self.timeout.max(1)),
            },
        })
    }
}

/// Shorter tokens could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// A token from a file, else from the environment.
fn token(path: Option<&Path>, variable: &str) -> Result<Option<String>, ServeError> {
    let (text, place) = match (path, std::env::var(variable)) {
        (Some(path), _) => {
            let file = FileName::from(path);
            let text = std::fs::read_to_string(path)
                .map_err(|source| ServeError::TokenFile { file: file.clone(), source })?;
            (text, file.to_string())
        }
        (None, Ok(text)) => (text, variable.to_owned()),
        (None, Err(_)) => return Ok(None),
    };
    let token = text.lines().next().unwrap_or_default().trim();
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.len() < SHORTEST_TOKEN || !is_plain {
        return Err(ServeError::WeakToken { place, least: SHORTEST_TOKEN });
    }
    Ok(Some(token.to_owned()))
}
