//! `docs/dependencies.md` lists every direct dependency as in cargo's metadata, and no crate has an unused one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

mod metadata;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use metadata::{packages, table, text, workspace};
use serde_json::Value;

/// A direct dependency.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    requirement: String,
    /// Empty if the package is not on this machine.
    licence: String,
    features: Vec<String>,
    users: Vec<String>,
}

/// External direct dependencies by name.
fn found() -> BTreeMap<String, Known> {
    let (ours, all) = packages();
    let names: Vec<&str> = ours.iter().map(|package| text(package, "name")).collect();
    let mut found: BTreeMap<String, Known> = BTreeMap::new();
    for package in &ours {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = text(dependency, "name");
            if names.contains(&name) || is_for_its_features(package, name) {
                continue;
            }
            let known = found.entry(name.to_owned()).or_default();
            known.requirement = text(dependency, "req").trim_start_matches('^').to_owned();
            let licence =
                all.iter().find(|other| text(other, "name") == name).map(|other| text(other, "license"));
            known.licence = licence.unwrap_or_default().replace('/', " OR ");
            known.features.extend(features(dependency));
            known.features.sort();
            known.features.dedup();
            let mark = if text(dependency, "kind") == "dev" { " (tests)" } else { "" };
            known.users.push(format!("{}{mark}", text(package, "name")));
            known.users.sort();
        }
    }
    found
}

/// The feature of the Python package that enables the features of the workspace.
const FOR_FEATURES: &str = "as-in-workspace";

fn is_for_its_features(package: &Value, dependency: &str) -> bool {
    let asked = package["features"][FOR_FEATURES].as_array();
    asked.is_some_and(|asked| asked.iter().any(|word| *word == format!("dep:{dependency}")))
}

fn features(dependency: &Value) -> Vec<String> {
    let default = dependency["uses_default_features"].as_bool().unwrap().then(|| "default".to_owned());
    let asked =
        dependency["features"].as_array().unwrap().iter().map(|feature| feature.as_str().unwrap().to_owned());
    default.into_iter().chain(asked).collect()
}

#[test]
fn the_page_agrees_with_cargo() {
    let page = fs::read_to_string(workspace().join("docs/dependencies.md")).unwrap();
    let rows = table(&page, "dependency");
    let listed = |cell: &str| -> Vec<String> {
        let mut words: Vec<String> =
            cell.split(", ").filter(|word| *word != "none").map(str::to_owned).collect();
        words.sort();
        words
    };
    let mut found = found();
    for row in &rows {
        let [name, requirement, licence, features, users, why, instead] = &row[..] else {
            panic!("a row of {} cells: {row:?}", row.len());
        };
        let Some(known) = found.remove(name) else { panic!("{name} is on the page but not a dependency") };
        assert_eq!((requirement, &listed(features)), (&known.requirement, &known.features), "{name}");
        assert_eq!(listed(users), known.users, "{name}");
        assert!(
            known.licence.is_empty() || *licence == known.licence,
            "{name}: {licence}, not {}",
            known.licence
        );
        assert!(!why.is_empty() && !instead.is_empty(), "{name}: reason or alternative missing");
    }
    assert!(found.is_empty(), "not on the page: {:?}", found.keys());
    let names: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
    assert!(names.is_sorted(), "the rows must be sorted by name");
}

#[test]
fn every_dependency_is_used_where_it_is_asked_for() {
    let (ours, _) = packages();
    for package in &ours {
        let folder = Path::new(text(package, "manifest_path")).parent().unwrap();
        let mut sources = String::new();
        for place in ["src", "tests", "examples", "benches"] {
            collect(&folder.join(place), &mut sources);
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let name =
                dependency["rename"].as_str().unwrap_or_else(|| text(dependency, "name")).replace('-', "_");
            if is_for_its_features(package, text(dependency, "name")) {
                continue;
            }
            let is_used = [format!("{name}::"), format!("use {name}"), format!("{name} as ")];
            let is_used = is_used.iter().any(|use_of| sources.contains(use_of));
            assert!(is_used, "{} does not use its dependency {name}", text(package, "name"));
        }
    }
}

/// Otherwise the tests of the wheel would compile everything a second time.
#[test]
fn a_wheel_for_tests_has_the_features_of_the_workspace() {
    let tree = |options: &[&str]| -> BTreeSet<String> {
        let mut command = Command::new(env!("CARGO"));
        command.args(["tree", "--offline", "--prefix", "none", "--format", "{p} [{f}]"]).args(options);
        let output = command.current_dir(workspace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    };
    let everything = tree(&["--workspace", "--edges", "normal,build,dev"]);
    let wheel = tree(&["--package", "catena-python", "--features", FOR_FEATURES, "--edges", "normal,build"]);
    let other: Vec<&String> =
        wheel.difference(&everything).filter(|line| !line.starts_with("catena-python ")).collect();
    assert!(wheel.len() > 50, "cargo tree lists {} packages", wheel.len());
    assert!(other.is_empty(), "`{FOR_FEATURES}` of python/Cargo.toml lacks: {other:?}");
}

/// Appends all Rust files below a folder.
fn collect(folder: &Path, sources: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}
