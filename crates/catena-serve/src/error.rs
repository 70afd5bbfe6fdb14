//! Errors of the program: one sentence each, with an exit code.

use std::io;
use std::net::SocketAddr;

use catena_fit::LiveFitError;
use catena_io::FileName;
use catena_io::journal::JournalError;
use catena_io::model_file::ModelFileError;
use catena_store::StoreError;
use thiserror::Error;

/// Reason why the program ended.
#[derive(Debug, Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Model(#[from] ModelFileError),
    #[error("{file}: {cause}")]
    Live { file: FileName, cause: LiveFitError },
    #[error(
        "{file}: a model with groups cannot be served; add rows with `catena update MODEL ROWS -o MODEL`"
    )]
    Groups { file: FileName },
    #[error(
        "{file}: an earlier version began this journal, which keeps no keys of requests; merge it into a new model first: \
         catena watch MODEL --apply -o NEW_MODEL"
    )]
    OldJournal { file: FileName },
    #[error(
        "{address} can be reached from other machines; give --write-token-file or --read-token-file, or listen on 127.0.0.1"
    )]
    NeedsToken { address: SocketAddr },
    #[error("{file}: the token cannot be read ({source})")]
    TokenFile { file: FileName, source: io::Error },
    #[error(
        "{place}: a token has at least {least} letters, digits or signs and no blanks; make one with `openssl rand -hex 32`"
    )]
    WeakToken { place: String, least: usize },
    #[error("cannot listen on {address} ({source}); give another address with --listen")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the model cannot be exchanged ({0})")]
    Exchange(io::Error),
    #[error("cannot start ({0})")]
    Start(io::Error),
}

impl ServeError {
    /// 2 for bad input or usage, 3 for a numerical failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Live { cause, .. } if cause.is_numerical() => 3,
            _ => 2,
        }
    }
}
