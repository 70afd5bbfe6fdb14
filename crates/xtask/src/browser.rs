//! The browser for the tests of the report page.

use std::process::{Command, Stdio};

/// Checks for Chromium and installs Debian's package if it is missing.
///
/// # Errors
/// A message with the package to install, if the installation fails.
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
    Err("the tests of the report page need Chromium: install it (on Debian: `apt-get install chromium`), or set \
         CATENA_CHROMIUM to its path"
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
