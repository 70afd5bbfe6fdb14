//! The layers of this crate, as in ARCHITECTURE.md: modules import from lower layers only, and no files import each other in a cycle.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lowest layer first. A module imports from lower layers only, never sideways.
const LAYERS: &[&[&str]] = &[
    &["error", "monitor", "normal", "student"],
    &["power", "space"],
    &["options"],
    &["cost"],
    &["prepare", "size"],
    &["learn", "scores"],
    &["folds"],
    &["families"],
    &["methods"],
    &["method_selection", "stack"],
    &["fit"],
    &["blocks", "check", "compare", "components", "forecast", "known_rows", "live", "parts", "relearn"],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All modules of the crate with their code: `families::time::sums`, and `families` for `families/mod.rs`.
fn modules() -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(source()).unwrap().with_extension("");
            let mut names: Vec<&str> = inside.iter().map(|name| name.to_str().unwrap()).collect();
            names.retain(|name| *name != "mod");
            modules.insert(names.join("::"), fs::read_to_string(&path).unwrap());
        }
    }
    modules.remove("lib");
    modules.remove("book");
    modules
}

/// The code without comments and without tests, in one line.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join(" ")
}

/// All paths in `a::{b, c::{d, e}}`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, list)) = path.split_once('{') else { return vec![path.trim().to_owned()] };
    let list = list.trim_end().trim_end_matches('}');
    let (mut entries, mut depth, mut start) = (vec![], 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                entries.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&list[start..]);
    let entries = entries.into_iter().filter(|entry| !entry.trim().is_empty());
    entries.flat_map(|entry| expanded(&format!("{}{}", before.trim(), entry.trim()))).collect()
}

/// The paths that a module imports by `use` or names by `crate::`, from the root of the crate.
fn imports(module: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let mut found = vec![];
    for (at, _) in code.match_indices("use ") {
        let Some(end) = code[at..].find(';') else { continue };
        found.extend(expanded(&code[at + "use ".len()..at + end]));
    }
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    for (at, _) in code.match_indices("crate::") {
        found.push(code[at..].chars().take_while(|&letter| is_path(letter)).collect());
    }
    let absolute = |path: String| -> Option<String> {
        let mut own: Vec<&str> = module.split("::").collect();
        if let Some(rest) = path.strip_prefix("crate::") {
            return Some(rest.to_owned());
        }
        let mut rest = path.strip_prefix("super::")?;
        own.pop();
        while let Some(further) = rest.strip_prefix("super::") {
            own.pop();
            rest = further;
        }
        own.push(rest);
        Some(own.join("::"))
    };
    found.into_iter().filter_map(absolute).collect()
}

fn layer_of(module: &str) -> Option<usize> {
    let top = module.split("::").next().unwrap_or_default();
    LAYERS.iter().position(|layer| layer.contains(&top))
}

#[test]
fn modules_import_from_lower_layers_only() {
    let modules = modules();
    let (mut complaints, mut n_imports) = (vec![], 0);
    for (module, text) in &modules {
        let Some(above) = layer_of(module) else {
            complaints.push(format!("{module} has no layer"));
            continue;
        };
        for path in imports(module, text) {
            let top = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
            n_imports += 1;
            match layer_of(&path) {
                Some(below) if below < above || top(&path) == top(module) => {}
                _ => complaints.push(format!("{module} (layer {above}) may not import {path}")),
            }
        }
    }
    assert!(n_imports > 200, "imports are no longer found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The file that a path leads to: the longest prefix that is a module.
fn file_of(path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let names: Vec<&str> = path.split("::").collect();
    (1..=names.len()).rev().map(|count| names[..count].join("::")).find(|name| modules.contains_key(name))
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    let modules = modules();
    let mut edges: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, text) in &modules {
        let files = imports(module, text).into_iter().filter_map(|path| file_of(&path, &modules));
        // A `mod.rs` names its own files.
        let own = code(text);
        let children = modules.keys().filter(|other| {
            other
                .rsplit_once("::")
                .is_some_and(|(parent, name)| parent == module && own.contains(&format!("use {name}::")))
        });
        let all = files.chain(children.cloned()).filter(|other| other != module);
        edges.insert(module, all.collect());
    }
    // Remove files without imports until none is left; what remains is on a cycle or above one.
    let mut left: BTreeSet<&str> = edges.keys().copied().collect();
    loop {
        let free: Vec<&str> = left
            .iter()
            .copied()
            .filter(|module| edges[module].iter().all(|other| !left.contains(other.as_str())))
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|module| {
            left.remove(module);
        });
    }
    let described = |module: &&str| {
        let others: Vec<&str> =
            edges[module].iter().map(String::as_str).filter(|other| left.contains(other)).collect();
        format!("{module} imports {}", others.join(", "))
    };
    let remaining: Vec<String> = left.iter().map(described).collect();
    assert!(remaining.is_empty(), "cycle among:\n{}", remaining.join("\n"));
}

#[test]
fn the_table_in_the_architecture_is_this_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(path).unwrap();
    for (layer, modules) in LAYERS.iter().enumerate() {
        let names: Vec<String> = modules.iter().map(|module| format!("`{module}`")).collect();
        let row = format!("| {layer} | {} |", names.join(", "));
        assert!(text.contains(&row), "ARCHITECTURE.md has no row {row}");
    }
}

#[test]
fn files_begin_with_a_sentence_and_are_short() {
    for (module, text) in modules() {
        assert!(text.starts_with("//! "), "{module} has no sentence of purpose");
        let n_lines = text.lines().count();
        assert!(n_lines <= 400, "{module} has {n_lines} lines");
    }
}
