//! `cargo xtask strings`: every text that users can read, collected from the source into one sorted list.
//!
//! The list has the error messages, the help of the command line, and every other literal of at least three words: warnings,
//! summaries, examples, the words on the report page, Python exceptions and public docstrings. It is committed, so that a
//! person can read all texts in one place and a review shows every change of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where the list is kept.
pub(crate) const LIST: &str = "crates/xtask/tests/user_strings.txt";

/// Crates whose texts only developers read.
const FOR_DEVELOPERS: &[&str] =
    &["catena-bench", "catena-experiments", "catena-fuzz", "catena-studies", "catena-testkit", "xtask"];

/// Words that make a literal a text.
const FEWEST_WORDS: usize = 3;

/// Writes the list, or compares it with the committed one.
///
/// # Errors
/// A file that cannot be read or written, or a committed list that differs.
pub(crate) fn strings(workspace: &Path, is_check: bool) -> Result<(), String> {
    let list = list(workspace).map_err(|error| error.to_string())?;
    let path = workspace.join(LIST);
    if !is_check {
        return fs::write(&path, list).map_err(|error| format!("{LIST}: {error}"));
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    match list.lines().zip(committed.lines().chain(std::iter::repeat(""))).find(|(new, old)| new != old) {
        None if list.len() == committed.len() => Ok(()),
        difference => Err(format!(
            "{LIST} differs from the source{}; run `cargo xtask strings` and commit the list",
            difference.map(|(new, _)| format!(", first at {new:?}")).unwrap_or_default()
        )),
    }
}

fn list(workspace: &Path) -> std::io::Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let crates = fs::read_dir(workspace.join("crates"))?.collect::<Result<Vec<_>, _>>()?;
    let crates = crates.into_iter().map(|entry| entry.path());
    for folder in crates.chain([workspace.join("python")]) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if FOR_DEVELOPERS.contains(&name.as_str()) {
            continue;
        }
        let found = texts.entry(name).or_default();
        for path in sources(&[folder.join("src"), folder.join("catena")])? {
            found.extend(texts_of(&path, &fs::read_to_string(&path)?));
        }
    }
    let mut list = String::new();
    for (name, texts) in texts.iter().filter(|(_, texts)| !texts.is_empty()) {
        list += &format!("== {name}\n");
        for text in texts {
            let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
            list += &format!("- {}\n", lines.join("\n  ").replace("\n  \n", "\n\n"));
        }
        list += "\n";
    }
    Ok(list)
}

fn sources(folders: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    let mut folders: Vec<PathBuf> = folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
    let mut files = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_source(&path) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn is_source(path: &Path) -> bool {
    let is_test = path.to_string_lossy().ends_with("tests.rs");
    path.extension().is_some_and(|end| end == "rs" || end == "py" || end == "js") && !is_test
}

fn texts_of(path: &Path, source: &str) -> Vec<String> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => rust_texts(source),
        Some("py") => python_texts(path, source),
        _ => {
            let literals = literals(source, Language::JavaScript);
            literals.into_iter().map(|found| found.text).filter(|text| is_text(text)).collect()
        }
    }
}

fn is_text(literal: &str) -> bool {
    let is_word = |word: &&str| {
        let letters = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        !letters.is_empty() && letters.chars().all(|letter| letter.is_alphabetic() || "'-".contains(letter))
    };
    !literal.starts_with('<') && literal.split_whitespace().filter(is_word).count() >= FEWEST_WORDS
}

fn rust_texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut texts = help_texts(source);
    for Literal { text, place } in literals(source, Language::Rust) {
        let before = source[..place.start].trim_end();
        let is_reason = before.ends_with("reason =") || before.ends_with("must_use =");
        if before.ends_with("#[error(") || (is_text(&text) && !is_reason) {
            texts.push(text);
        }
    }
    texts
}

/// Doc comments inside items from which clap makes help.
fn help_texts(source: &str) -> Vec<String> {
    const DERIVES: &[&str] = &["Parser", "Args", "Subcommand", "ValueEnum"];
    let (mut texts, mut text, mut is_help) = (vec![], vec![], false);
    for line in source.lines() {
        if line.starts_with("#[derive(") {
            is_help =
                line.split(|letter: char| !letter.is_alphanumeric()).any(|word| DERIVES.contains(&word));
        } else if line == "}" {
            is_help = false;
        }
        match line.trim_start().strip_prefix("///") {
            Some(comment) if is_help => text.push(comment.trim()),
            _ if !text.is_empty() => texts.push(std::mem::take(&mut text).join(" ")),
            _ => {}
        }
    }
    texts
}

fn python_texts(path: &Path, source: &str) -> Vec<String> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let is_text = |found: &Literal| {
        let before = &source[..found.place.start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_docstring = line.trim().is_empty() && source[found.place.start..].starts_with("\"\"\"");
        let definitions = before.lines().rev().map(str::trim_start);
        let owner =
            definitions.filter_map(|line| line.strip_prefix("def ").or(line.strip_prefix("class "))).next();
        let is_private = owner.unwrap_or(&file).starts_with('_');
        is_text(&found.text) && !(is_docstring && is_private)
    };
    literals(source, Language::Python)
        .into_iter()
        .filter(is_text)
        .map(|found| unindented(&found.text))
        .collect()
}

/// A docstring without the indentation of its function.
fn unindented(text: &str) -> String {
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = lines.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { line } else { line.get(indent..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Python,
    JavaScript,
}

/// A string literal and its bytes in the source.
struct Literal {
    text: String,
    place: Range<usize>,
}

/// The string literals of a source, adjacent ones of Python joined.
fn literals(source: &str, language: Language) -> Vec<Literal> {
    let mut found: Vec<Literal> = vec![];
    let mut at = 0;
    while let Some(letter) = source[at..].chars().next() {
        let rest = &source[at..];
        if let Some(length) = comment(rest, language) {
            at += length;
        } else if let Some((close, open)) = opening(source, at, language) {
            let begin = at + open;
            let is_raw = close.ends_with('#');
            let inside = &source[begin..begin + closing(&source[begin..], &close, is_raw)];
            let text = if is_raw { inside.to_owned() } else { unescaped(inside) };
            let end = (begin + inside.len() + close.len()).min(source.len());
            match found.last_mut() {
                Some(last) if language == Language::Python && is_gap(&source[last.place.end..at]) => {
                    last.text += &text;
                    last.place.end = end;
                }
                _ => found.push(Literal { text, place: at..end }),
            }
            at = end;
        } else if language == Language::Rust && letter == '\'' {
            at += character(rest);
        } else {
            at += letter.len_utf8();
        }
    }
    found
}

fn comment(rest: &str, language: Language) -> Option<usize> {
    let line = if language == Language::Python { "#" } else { "//" };
    if rest.starts_with(line) {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let is_block = language != Language::Python && rest.starts_with("/*");
    is_block.then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

/// What closes the literal that begins at a place, and the length of what opens it.
fn opening(source: &str, at: usize, language: Language) -> Option<(String, usize)> {
    let rest = &source[at..];
    match language {
        Language::Rust => {
            let is_start = !source[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
            let hashes = rest
                .strip_prefix('r')
                .filter(|_| is_start)
                .map(|rest| rest.len() - rest.trim_start_matches('#').len());
            match hashes {
                Some(n) if rest[1 + n..].starts_with('"') => Some((format!("\"{}", "#".repeat(n)), n + 2)),
                _ => rest.starts_with('"').then(|| ("\"".to_owned(), 1)),
            }
        }
        Language::Python => {
            let quotes = ["\"\"\"", "'''", "\"", "'"];
            quotes
                .iter()
                .find(|quote| rest.starts_with(**quote))
                .map(|quote| ((*quote).to_owned(), quote.len()))
        }
        Language::JavaScript => {
            let quotes = ["\"", "'", "`"];
            quotes.iter().find(|quote| rest.starts_with(**quote)).map(|quote| ((*quote).to_owned(), 1))
        }
    }
}

fn closing(rest: &str, close: &str, is_raw: bool) -> usize {
    let mut at = 0;
    while let Some(letter) = rest[at..].chars().next() {
        if rest[at..].starts_with(close) {
            return at;
        }
        let escaped = if letter == '\\' && !is_raw { rest[at + 1..].chars().next() } else { None };
        at += letter.len_utf8() + escaped.map_or(0, char::len_utf8);
    }
    at
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => rest[3.min(rest.len())..].find('\'').map_or(1, |end| end + 4),
        Some((at, letter)) if rest[at + letter.len_utf8()..].starts_with('\'') => at + letter.len_utf8() + 1,
        _ => 1,
    }
}

fn is_gap(between: &str) -> bool {
    between.trim().chars().all(|letter| "frb".contains(letter))
}

/// A literal as it is printed: continued lines joined, quotes and line breaks as themselves.
fn unescaped(literal: &str) -> String {
    let mut text = String::new();
    let mut letters = literal.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
            Some(letter @ ('"' | '\'' | '\\' | '`')) => text.push(letter),
            Some('u') => {
                letters.next_if_eq(&'{');
                let digits = std::iter::from_fn(|| letters.next_if(char::is_ascii_hexdigit));
                let code = u32::from_str_radix(&digits.take(6).collect::<String>(), 16);
                letters.next_if_eq(&'}');
                text.extend(code.ok().and_then(char::from_u32));
            }
            Some(other) => text.extend(['\\', other]),
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_literals_are_found_and_comments_are_not() {
        let source = r##"
            // "not this one at all"
            #[error("short {0}")] x; '"'; '\''; a<'a>; "joined \
                over two lines"; r#"a "raw" one here"#; #[allow(x, reason = "not a text either")]
            #[derive(Args)]
            "##;
        assert_eq!(rust_texts(source), ["short {0}", "joined over two lines", "a \"raw\" one here"]);
    }

    #[test]
    fn help_is_found_inside_items_of_clap() {
        let source = "/// Not help.\n#[derive(Debug, Args)]\nstruct A {\n    /// The\n    /// shell.\n    shell: X,\n}\n/// Nor this.\n";
        assert_eq!(rust_texts(source), ["The shell."]);
    }

    #[test]
    fn python_literals_are_joined_and_private_docstrings_left_out() {
        let source = "def _one():\n    \"\"\"Not this docstring here.\"\"\"\n    raise X(f\"a text \"\n 'of {n} words')\n\ndef two():\n    \"\"\"This docstring is shown.\n\n    And this.\"\"\"\n";
        let texts = python_texts(Path::new("_file.py"), source);
        assert_eq!(texts, ["a text of {n} words", "This docstring is shown.\n\nAnd this."]);
    }
}
