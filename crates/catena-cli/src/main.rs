//! The program `catena`, a thin wrapper around the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    catena_cli::run(std::env::args_os())
}
