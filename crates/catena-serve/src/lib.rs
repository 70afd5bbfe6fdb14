//! The program `catena-serve`: a live posterior behind HTTP, with a journal, a page and metrics.
//!
//! In reading order: `arguments` (options), `model` (opens a model with its journal), `owner` (the one thread that has the posterior),
//! `http` (connections, access, routes), `page`. One thread owns the posterior; requests reach it through a channel. Readings
//! of all waiting requests are written to the journal with one flush, then applied and acknowledged.

mod arguments;
mod error;
mod http;
mod model;
mod owner;
mod readings;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::error::ServeError;

/// Parses the command line, serves until the process is told to end, and returns its exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn serve(arguments: &Arguments) -> Result<(), ServeError> {
    let settings = arguments.settings()?;
    let opened = model::open(&arguments.model, &settings.journal)?;
    for sentence in &opened.notes {
        say(sentence);
    }
    http::serve(opened, settings, arguments.quiet)
}

/// Writes a sentence to standard error.
pub(crate) fn say(sentence: impl std::fmt::Display) {
    use std::io::Write;
    // Nothing is left to tell if standard error is closed.
    let _ = writeln!(std::io::stderr(), "{sentence}");
}
