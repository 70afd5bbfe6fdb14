//! The command-line program `catena`: fills, predicts, forecasts and reports on tables with missing values.
//!
//! In reading order: `arguments` (options), `source` (reads tables), `learning` (a fit with progress), `predictions` (writes
//! tables), `watch` (streams), then `verbs`, one file each. Data goes to standard output, everything else to standard error.
//! Exit codes: 0 success, 2 bad input or usage, 3 numerical failure, 130 interrupted.

mod arguments;
mod console;
mod error;
mod findings;
mod in_blocks;
mod interrupt;
mod known_ahead;
mod learning;
mod limits;
mod model_table;
mod old_words;
mod parameters;
mod plan;
mod predictions;
mod rows_ahead;
mod scoreboard;
mod source;
mod verbs;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Command;

/// Parses command-line words, the program's name first, without running the command.
///
/// # Errors
/// The message that the user would see, or `None` if help was requested.
pub fn check_words(words: impl IntoIterator<Item = OsString>) -> Result<(), Option<String>> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    old_words::replace(&mut words);
    Command::try_parse_from(&words).map(drop).map_err(|error| error::usage_sentence(&error, &words))
}

/// Parses the command line, runs the command and returns its exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::install();
    let mut words: Vec<OsString> = words.into_iter().collect();
    let notes = old_words::replace(&mut words);
    let command = match Command::try_parse_from(&words) {
        Ok(command) => command,
        Err(error) => return error::usage_exit(&error, &words),
    };
    if !words.iter().any(|word| word == "-q" || word == "--quiet") {
        notes.iter().for_each(|note| console::complain(note));
    }
    match verbs::run(command) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe, as in `catena predict ... | head`.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
