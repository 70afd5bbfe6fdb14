//! `catena`: from a table full of holes to answers and a page to show, on the command line.
//!
//! In reading order: `arguments` (what a user may say), `source` (tables in), `learning` (a fit with progress),
//! `predictions` (tables out), `watch` (lines in and out), then `verbs`, one file each. Data goes to standard output, everything
//! else to standard error. Exit codes: 0 fine, 2 bad input or usage, 3 numbers failed, 130
//! interrupted.

mod arguments;
mod console;
mod error;
mod in_blocks;
mod interrupt;
mod learning;
mod model_table;
mod parameters;
mod plan;
mod predictions;
mod scoreboard;
mod source;
mod verbs;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Command;

/// Whether these words, the program's name first, are a command; nothing is done.
///
/// # Errors
/// What the user would be told: what is wrong, as one sentence, or `None` for help.
pub fn check_words(words: impl IntoIterator<Item = OsString>) -> Result<(), Option<String>> {
    Command::try_parse_from(words).map(drop).map_err(|error| error::usage_sentence(&error))
}

/// The program: reads the command line, does what it says, and reports how that went.
pub fn run() -> ExitCode {
    interrupt::install();
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => return error::usage_exit(&error),
    };
    match verbs::run(command) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the pipe has enough, as in `catena predict ... | head`.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            console::complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
