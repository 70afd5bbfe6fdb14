//! The architecture, executable: who may import whom, how files begin and how long they are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod source;

use source::{cycles, imports, module_path, names};
use std::fs;
use std::path::{Path, PathBuf};

/// The table of ARCHITECTURE.md, lowest layer first. A module imports from lower layers only, never sideways.
const LAYERS: &[&[&str]] = &[
    &["index", "units", "threads"],
    &["linalg"],
    &["data", "kernel"],
    &["prediction", "structure", "model"],
    &["graph"],
    &["inference"],
    &["posterior", "live", "likelihood"],
    &["learning", "diagnostics"],
    &["error", "prelude"],
];

/// What a module may not import although it lies lower: diagnostics judge structures, not sweeps.
const FORBIDDEN: &[(&str, &[&str])] = &[("diagnostics", &["graph", "inference", "posterior", "linalg"])];

const MOST_LINES: usize = 500;

/// The public names of the library, each likelihood one of them; the prelude repeats some.
const MOST_NAMES: usize = 140;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust files below a folder, in order of their paths.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().unwrap() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "no Rust files below {}", folder.display());
    files
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The top-level modules that a file names through `crate::`, in code or in a list of imports; comments do not count.
fn imported_modules(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join(" ");
    let mut modules = vec![];
    for (at, _) in code.match_indices("crate::") {
        let rest = code[at + "crate::".len()..].trim_start();
        match rest.strip_prefix('{') {
            None => modules.push(leading_word(rest)),
            Some(list) => modules.extend(heads_of_list(list)),
        }
    }
    modules
}

fn leading_word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// The first word of each entry of `{a::b, c::{d, e}}`, given from behind its opening brace.
fn heads_of_list(list: &str) -> Vec<String> {
    let (mut depth, mut heads, mut entry_begins) = (1, vec![], true);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => entry_begins = true,
            _ if entry_begins && !letter.is_whitespace() => {
                heads.push(leading_word(&list[at..]));
                entry_begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// What is wrong with a module that imports another, if anything.
fn complaint(module: &str, imported: &str) -> Option<String> {
    let (Some(above), Some(below)) = (layer_of(module), layer_of(imported)) else {
        return Some(format!("`{module}` imports `{imported}`, and one of them has no layer"));
    };
    let is_forbidden = FORBIDDEN.iter().any(|(who, whom)| *who == module && whom.contains(&imported));
    let is_allowed = module == imported || (below < above && !is_forbidden);
    (!is_allowed).then(|| format!("`{module}` (layer {above}) may not import `{imported}` (layer {below})"))
}

#[test]
fn modules_import_from_lower_layers_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut complaints = vec![];
    let mut n_imports = 0;
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        for imported in imported_modules(&fs::read_to_string(&file).unwrap()) {
            n_imports += 1;
            complaints
                .extend(complaint(module, &imported).map(|what| format!("{}: {what}", inside.display())));
        }
    }
    assert!(n_imports > 50, "imports are no longer found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn imports_are_read_as_they_are_written() {
    let text = "use crate::data::X;\n// use crate::graph::Y;\nuse crate::{index::{A, B}, model::C};\nfn f() { crate::units::g() }";
    assert_eq!(imported_modules(text), ["data", "index", "model", "units"]);
    assert_eq!(complaint("graph", "model"), None);
    for (module, imported) in
        [("data", "graph"), ("model", "structure"), ("diagnostics", "inference"), ("data", "x")]
    {
        assert!(complaint(module, imported).is_some(), "{module} → {imported}");
    }
}

#[test]
fn every_module_has_a_layer() {
    let library = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let declared = library.lines().filter_map(|line| {
        line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "))?.strip_suffix(';')
    });
    let mut declared: Vec<&str> = declared.collect();
    let mut known: Vec<&str> = LAYERS.concat();
    declared.sort_unstable();
    known.sort_unstable();
    assert_eq!(declared, known);
}

#[test]
fn the_layer_table_of_the_document_is_the_one_tested() {
    let document = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    for (layer, modules) in LAYERS.iter().enumerate() {
        let names: Vec<String> = modules.iter().map(|module| format!("`{module}`")).collect();
        let row = format!("| {layer} | {} |", names.join(", "));
        assert!(document.contains(&row), "ARCHITECTURE.md lacks the row {row}");
    }
}

#[test]
fn files_do_not_import_one_another_in_a_circle() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: Vec<(Vec<String>, String)> = rust_files(&source)
        .iter()
        .map(|file| (module_path(file.strip_prefix(&source).unwrap()), fs::read_to_string(file).unwrap()))
        .collect();
    let found: Vec<String> = cycles(&imports(&files)).iter().map(|cycle| cycle.join(" → ")).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn cycles_are_found_through_re_exports() {
    let file = |path: &[&str], text: &str| -> (Vec<String>, String) {
        (path.iter().map(|&part| part.to_owned()).collect(), text.to_owned())
    };
    let files = |c: &str| {
        vec![
            file(&["a"], "mod b;\nmod c;\npub use b::B;\npub use c::C;"),
            file(&["a", "b"], "use super::C;\npub struct B(C);"),
            file(&["a", "c"], c),
        ]
    };
    assert_eq!(cycles(&imports(&files("pub struct C;"))), Vec::<Vec<String>>::new());
    assert_eq!(cycles(&imports(&files("pub struct C;\nfn f(_: crate::a::B) {}"))), [["a::b", "a::c"]]);
    assert!(cycles(&imports(&files("pub struct C;\n#[cfg(test)]\nuse super::B;"))).is_empty());
}

#[test]
fn every_file_begins_with_its_purpose_and_stays_short() {
    for file in rust_files(&workspace().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not begin with a //! sentence", file.display());
        let is_test = file.iter().any(|part| part == "tests");
        let n_lines = text.lines().count();
        assert!(is_test || n_lines <= MOST_LINES, "{} has {n_lines} lines", file.display());
    }
}

#[test]
fn the_library_has_few_public_names() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names = names(&source);
    assert!(names.iter().any(|name| name == "kernel::Kernel"), "names are no longer found");
    assert!(names.iter().any(|name| name == "index::RowIndex"), "names are no longer found");
    assert!(names.len() <= MOST_NAMES, "{} public names: {}", names.len(), names.join(", "));
}
