//! The program `catena-serve`; everything is in the library.

fn main() -> std::process::ExitCode {
    catena_serve::run(std::env::args_os())
}
