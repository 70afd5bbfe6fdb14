//! Cargo's metadata of this workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The packages of the workspace, and all packages they need on this machine, without network.
pub(crate) fn packages() -> (Vec<Value>, Vec<Value>) {
    let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host]);
    let output = command.current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = all["packages"].as_array().unwrap().clone();
    let members = all["workspace_members"].as_array().unwrap();
    let ours = packages.iter().filter(|package| members.contains(&package["id"])).cloned().collect();
    (ours, packages)
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The rows of the table of a document whose first column has this title, cells trimmed and without backticks.
pub(crate) fn table(document: &str, title: &str) -> Vec<Vec<String>> {
    let mut lines = document.lines().skip_while(|line| !line.starts_with(&format!("| {title} |"))).skip(2);
    let mut rows = vec![];
    while let Some(line) = lines.next().filter(|line| line.starts_with('|')) {
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', ""));
        rows.push(cells.collect());
    }
    rows
}
