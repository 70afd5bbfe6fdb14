//! The browser for the tests of the report page.

use std::process::Command;

use crate::audit::starts;

/// Checks for Chromium and installs Debian's package if it is missing.
///
/// # Errors
/// A message with the package to install, if the installation fails.
pub(crate) fn ensure() -> Result<(), String> {
    if std::env::var_os("CATENA_CHROMIUM").is_some() || starts("chromium", &["--version"]) {
        return Ok(());
    }
    eprintln!("\n== no chromium found: apt-get install chromium");
    let installed = apt_get(&["update", "--quiet"])
        && apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", "chromium"]);
    if installed && starts("chromium", &["--version"]) {
        return Ok(());
    }
    Err("the tests of the report page need Chromium: install it (on Debian: `apt-get install chromium`), or set \
         CATENA_CHROMIUM to its path"
        .to_owned())
}

fn apt_get(arguments: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command.status().is_ok_and(|status| status.success())
}
