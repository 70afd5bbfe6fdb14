//! The crates depend on each other as ARCHITECTURE.md states, and do not use what is reserved for others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod metadata;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use metadata::{packages, table, text, workspace};

/// For each crate, the crates of the workspace it depends on.
type Graph = BTreeMap<String, Vec<String>>;

/// Names that the code of a folder must not contain, and why.
const FORBIDDEN: &[(&str, &[&str], &str)] = &[
    (
        "crates/catena/src",
        &["std::fs", "std::net", "std::env", "std::time", "std::process", "std::io"],
        "the core does no input or output",
    ),
    (
        "crates/catena-methods/src",
        &["catena::graph", "catena::inference", "catena::posterior", "catena::live"],
        "the dense methods share no code with the sweep",
    ),
    (
        "crates/catena-testkit/src/reference",
        &[
            "catena::graph",
            "catena::inference",
            "catena::posterior",
            "catena::live",
            "catena_methods",
            "faer",
        ],
        "the reference shares no code with what is compared with it",
    ),
    (
        "crates/catena-store/src/report",
        &["std::fs", "std::net", "crate::", "catena::", "catena_fit", "catena_io"],
        "a report knows no model, no file and no network",
    ),
    (
        "crates/catena-io/src",
        &["println!", "eprintln!", "std::net"],
        "it neither prints nor uses the network",
    ),
    (
        "crates/catena-store/src",
        &["std::net", "println!", "eprintln!"],
        "it saves, loads and reports, and prints nothing",
    ),
];

/// Dependencies for a format, a device or a language, and the crates that may use them.
const RESERVED: &[(&str, &[&str])] = &[
    ("faer", &["catena-methods"]),
    ("arrow-array", &["catena-io"]),
    ("arrow-ipc", &["catena-io"]),
    ("parquet", &["catena-io"]),
    ("jiff", &["catena-io"]),
    ("axum", &["catena-serve"]),
    ("clap", &["catena-gp", "catena-experiments", "catena-serve"]),
    ("hyper", &["catena-serve"]),
    ("indicatif", &["catena-gp", "catena-experiments"]),
    ("tokio", &["catena-serve"]),
    ("resvg", &["catena-experiments"]),
    ("pyo3", &["catena-python"]),
    ("libfuzzer-sys", &["catena-fuzz"]),
];

/// The actual graph, without dependencies of tests.
fn found() -> Graph {
    let (ours, _) = packages();
    let names: Vec<String> = ours.iter().map(|package| text(package, "name").to_owned()).collect();
    let stands_on = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let used = dependencies.filter(|dependency| text(dependency, "kind") != "dev");
        let mut used: Vec<String> = used.map(|dependency| text(dependency, "name").to_owned()).collect();
        used.retain(|name| names.contains(name));
        used.sort();
        used.dedup();
        used
    };
    ours.iter().map(|package| (text(package, "name").to_owned(), stands_on(package))).collect()
}

/// The graph in ARCHITECTURE.md.
fn stated() -> Graph {
    let document = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let crates = |cell: &str| {
        let mut names: Vec<String> = cell.split(", ").map(str::to_owned).collect();
        names.retain(|name| name != "nothing");
        names.sort();
        names
    };
    table(&document, "crate").into_iter().map(|row| (row[0].clone(), crates(&row[1]))).collect()
}

/// The differences.
fn differences(stated: &Graph, found: &Graph) -> Vec<String> {
    let mut differences = vec![];
    for (name, used) in found {
        match stated.get(name) {
            None => differences.push(format!("ARCHITECTURE.md does not list {name}")),
            Some(allowed) => {
                let unknown = used.iter().filter(|one| !allowed.contains(one));
                differences.extend(
                    unknown.map(|one| format!("{name} uses {one}, which ARCHITECTURE.md does not list")),
                );
                let gone = allowed.iter().filter(|one| !used.contains(one));
                differences.extend(
                    gone.map(|one| format!("{name} does not use {one}, which ARCHITECTURE.md lists")),
                );
            }
        }
    }
    differences.extend(
        stated
            .keys()
            .filter(|name| !found.contains_key(*name))
            .map(|name| format!("there is no crate {name}")),
    );
    differences
}

#[test]
fn crates_depend_on_what_the_document_lists() {
    let differences = differences(&stated(), &found());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_violation_is_seen() {
    let graph = |edges: &[(&str, &[&str])]| -> Graph {
        edges
            .iter()
            .map(|(name, used)| ((*name).to_owned(), used.iter().map(|one| (*one).to_owned()).collect()))
            .collect()
    };
    let stated = graph(&[("core", &[]), ("dense", &["core"]), ("gone", &[])]);
    let found = graph(&[("core", &["dense"]), ("dense", &[]), ("new", &[])]);
    let expected = [
        "core uses dense, which ARCHITECTURE.md does not list",
        "dense does not use core, which ARCHITECTURE.md lists",
        "ARCHITECTURE.md does not list new",
        "there is no crate gone",
    ];
    assert_eq!(differences(&stated, &found), expected);
    assert_eq!(
        forbidden_in(
            "use std::fs; // std::net\n//! std::env\nlet x = 1;",
            &["std::fs", "std::net", "std::env"]
        ),
        ["std::fs"]
    );
}

/// The words that a text contains outside comments.
fn forbidden_in<'a>(text: &str, words: &[&'a str]) -> Vec<&'a str> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    words.iter().copied().filter(|word| code.iter().any(|line| line.contains(word))).collect()
}

#[test]
fn no_crate_uses_what_is_forbidden() {
    let mut n_files = 0;
    for (folder, words, why) in FORBIDDEN {
        let mut folders = vec![workspace().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") && !is_test(&path) {
                    n_files += 1;
                    let text = fs::read_to_string(&path).unwrap();
                    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                    let found = forbidden_in(code, words);
                    assert!(found.is_empty(), "{} names {found:?}: {why}", path.display());
                }
            }
        }
    }
    assert!(n_files > 150, "too few sources found");
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("tests"))
}

#[test]
fn formats_devices_and_languages_have_one_crate() {
    let (ours, _) = packages();
    for package in &ours {
        for dependency in package["dependencies"].as_array().unwrap() {
            let (name, used) = (text(package, "name"), text(dependency, "name"));
            let home = RESERVED.iter().find(|(reserved, _)| *reserved == used);
            assert!(
                home.is_none_or(|(_, homes)| homes.contains(&name)),
                "{name} uses {used}, which is reserved for another crate"
            );
        }
    }
}
