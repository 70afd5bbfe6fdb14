//! `serve`: runs the program `catena-serve`, which is installed on its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::error::CliError;

/// The name of the program.
const PROGRAM: &str = "catena-serve";

const EXAMPLES: &str = "\
Examples:
  catena serve sensors.catena                         a page and a service on http://127.0.0.1:8080
  catena-serve --help                                 all options

The service is a program of its own, catena-serve, which this verb runs with the same words. It is installed by \
`cargo install catena-serve`, and is looked for beside this program and then in the path.";

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file and options of `catena-serve`.
    #[arg(value_name = "MODEL", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// Becomes the program.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let mut command = Command::new(program());
    command.args(&arguments.words);
    Err(match become_it(command) {
        Ok(code) => std::process::exit(code),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => CliError::NoService,
        Err(error) => CliError::Service(error),
    })
}

/// The program beside this one, or its name.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&name));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(name))
}

#[cfg(unix)]
fn become_it(mut command: Command) -> std::io::Result<i32> {
    use std::os::unix::process::CommandExt;
    // Returns only if it fails.
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> std::io::Result<i32> {
    Ok(command.status()?.code().unwrap_or(1))
}
