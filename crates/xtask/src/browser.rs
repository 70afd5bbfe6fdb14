//! The browser that the tests of the report page drive.

use std::process::{Command, Stdio};

/// Makes sure that a Chromium is there: installs Debian's if it can.
///
/// # Errors
/// A sentence that says what to install, when there is none and it cannot be installed from here.
pub(crate) fn ensure() -> Result<(), String> {
    if std::env::var_os("CATENA_CHROMIUM").is_some() || runs("chromium", &["--version"]) {
        return Ok(());
    }
    eprintln!("\n== no chromium found: apt-get install chromium");
    let environment = [("DEBIAN_FRONTEND", "noninteractive")];
    let installed = run("apt-get", &["update", "--quiet"], &environment)
        && run(
            "apt-get",
            &["install", "--yes", "--quiet", "--no-install-recommends", "chromium"],
            &environment,
        );
    if installed && runs("chromium", &["--version"]) {
        return Ok(());
    }
    Err("the tests of the report page need Chromium: install it (on Debian: `apt-get install chromium`), or name one in \
         the variable CATENA_CHROMIUM"
        .to_owned())
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied());
    command.status().is_ok_and(|status| status.success())
}
