//! The program `catena`; everything it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    catena_cli::run()
}
