//! Links in the documents resolve, named files exist, and the book lists all of its pages.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::fs;
use std::path::{Component, Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All documents in a folder, sorted by path, without build output, environments and the built book.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            let is_made = name.starts_with('.') || name == "target" || path.ends_with("docs/book");
            if path.is_dir() && !is_made {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages of the book, without its table of contents.
fn pages() -> Vec<PathBuf> {
    let pages = documents(&workspace().join("docs"));
    pages.into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect()
}

fn name_of(document: &Path) -> String {
    document.strip_prefix(workspace()).unwrap_or(document).display().to_string()
}

/// The lines of a document outside code, numbered from 1, and the text after each opening fence.
#[derive(Default)]
struct Parts {
    prose: Vec<(usize, String)>,
    fences: Vec<(usize, String)>,
}

fn parts(text: &str) -> Parts {
    let mut parts = Parts::default();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_code = !is_code;
            if is_code {
                parts.fences.push((at + 1, language.trim().to_owned()));
            }
        } else if !is_code {
            parts.prose.push((at + 1, line.to_owned()));
        }
    }
    assert!(!is_code, "a code block is not closed");
    parts
}

/// The targets of `[text](target)` and `![text](target)` in a line; text in backticks is ignored.
fn links(line: &str) -> Vec<String> {
    let plain: Vec<&str> = line.split('`').step_by(2).collect();
    let plain = plain.join(" ");
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchor of a heading, as in mdBook and GitHub.
fn anchor(heading: &str) -> String {
    let lower = heading.trim().replace('`', "").to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).unwrap();
    let prose = parts(&text).prose;
    let headings = prose.iter().filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// The error in a link of a document, if any. The network is not used.
fn error_in(document: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, place) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { document.to_owned() } else { document.parent()?.join(file) };
    if !path.exists() {
        return Some(format!("the target of `{target}` does not exist"));
    }
    // The built book contains only its own files.
    let docs = workspace().join("docs");
    if document.starts_with(&docs) && !normal(&path).starts_with(&docs) {
        return Some(format!("`{target}` is outside the book; name the file in backticks instead"));
    }
    let is_known = place.is_empty() || anchors(&path).iter().any(|known| known == place);
    (!is_known).then(|| format!("`{target}`: no such heading"))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

#[test]
fn every_link_leads_somewhere() {
    let mut errors = vec![];
    let mut n_links = 0;
    for document in documents(&workspace()) {
        let text = fs::read_to_string(&document).unwrap();
        for (line, prose) in parts(&text).prose {
            for target in links(&prose) {
                n_links += 1;
                let what = error_in(&document, &target);
                errors.extend(what.map(|what| format!("{}:{line}: {what}", name_of(&document))));
            }
        }
    }
    assert!(n_links > 40, "too few links found");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn links_are_read_as_they_are_written() {
    let line = "See [one](a.md), ![two](b/c.png) and [three](#here), not `[four](d.md)`.";
    assert_eq!(links(line), ["a.md", "b/c.png", "#here"]);
    assert_eq!(anchor(" Upward: `Λ` and η, 2 × 2"), "upward-λ-and-η-2--2");
    let page = workspace().join("docs/SUMMARY.md");
    assert_eq!(error_in(&page, "extending.md"), None);
    assert_eq!(error_in(&page, "https://example.org/x"), None);
    for wrong in ["absent.md", "../README.md", "extending.md#absent"] {
        assert!(error_in(&page, wrong).is_some(), "{wrong}");
    }
}

#[test]
fn the_book_has_every_page_once() {
    let contents = workspace().join("docs/SUMMARY.md");
    let text = fs::read_to_string(&contents).unwrap();
    let mut listed: Vec<PathBuf> =
        text.lines().flat_map(links).map(|file| contents.with_file_name(file)).collect();
    listed.sort();
    assert_eq!(listed, pages(), "docs/SUMMARY.md and docs/ differ");
}

#[test]
fn the_book_says_of_every_block_of_code_what_it_is() {
    // rustdoc takes a block without a language for Rust.
    const KNOWN: &[&str] = &["rust", "python", "console", "text", "sh", "toml", "json", "csv"];
    for page in pages() {
        for (line, words) in parts(&fs::read_to_string(&page).unwrap()).fences {
            let language = words.split(',').next().unwrap();
            assert!(KNOWN.contains(&language), "{}:{line}: unknown language `{words}`", name_of(&page));
        }
    }
}

#[test]
fn the_compiler_sees_every_page_with_rust() {
    let list = fs::read_to_string(workspace().join("crates/catena-fit/src/book.rs")).unwrap();
    for page in pages() {
        let fences = parts(&fs::read_to_string(&page).unwrap()).fences;
        if fences.iter().any(|(_, words)| words.split(',').next() == Some("rust")) {
            let name = name_of(&page);
            assert!(list.contains(&format!("../../../{name}\"")), "{name} is missing in book.rs");
        }
    }
}

/// The names of the folders in a folder, without hidden and ignored ones.
fn folders_in(folder: &Path) -> Vec<String> {
    let ignored = fs::read_to_string(workspace().join(".gitignore")).unwrap();
    let is_ignored = |name: &str| ignored.lines().any(|line| line.trim_matches('/') == name);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.is_dir());
    let names = folders.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.') && !is_ignored(name)).collect()
}

#[test]
fn the_map_has_every_folder() {
    let root = workspace();
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let core = folders_in(&root.join("crates/catena/src"));
    let crates = folders_in(&root.join("crates")).into_iter().map(|name| format!("crates/{name}"));
    let others = folders_in(&root).into_iter().filter(|name| name != "crates");
    for folder in core.into_iter().chain(crates).chain(others) {
        assert!(map.contains(&format!("`{folder}/")), "ARCHITECTURE.md does not describe `{folder}/`");
    }
}

/// Documents outside the book whose paths are checked.
const OUTSIDE: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

#[test]
fn documents_name_what_exists() {
    let root = workspace();
    let mut n_paths = 0;
    let mut errors = vec![];
    for document in OUTSIDE.iter().map(|name| root.join(name)).chain(pages()) {
        let text = fs::read_to_string(&document).unwrap();
        for (line, prose) in parts(&text).prose {
            for path in prose.split('`').skip(1).step_by(2).filter(|quoted| is_path(quoted)) {
                n_paths += 1;
                // Paths may be relative to the sources of a crate.
                let places = ["", "crates/catena/src", "crates/catena-fit/src", "crates/catena"];
                if !places.iter().any(|place| root.join(place).join(path).exists()) {
                    errors.push(format!("{}:{line}: `{path}` does not exist", name_of(&document)));
                }
            }
        }
    }
    assert!(n_paths > 100, "too few paths found");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Whether a quoted text is a file or folder of the repository.
fn is_path(quoted: &str) -> bool {
    let is_plain = quoted.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
    let has_suffix = [".rs", ".md", ".toml", ".py", ".txt", ".tsv"].iter().any(|end| quoted.ends_with(end));
    is_plain && (has_suffix || quoted.ends_with('/'))
}
