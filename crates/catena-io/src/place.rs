//! Where something is, in the words of the user: a file, a line or a row, and a short piece of text.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or one of the standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileName {
    /// A file on disk.
    Path(PathBuf),
    /// What is piped in.
    StandardInput,
    /// What is piped out.
    StandardOutput,
    /// A table that was made in memory.
    Memory,
}

impl From<&Path> for FileName {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(formatter, "{}", path.display()),
            Self::StandardInput => formatter.write_str("standard input"),
            Self::StandardOutput => formatter.write_str("standard output"),
            Self::Memory => formatter.write_str("table in memory"),
        }
    }
}

/// A row, by what a user can look up: the line of a text file, or the row of a binary one. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file; the header is usually line 1.
    Line(u64),
    /// Row of a table without lines; the first is row 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "line {line}"),
            Self::Row(row) => write!(formatter, "row {row}"),
        }
    }
}

/// A piece of the user's text, shortened so that a message stays one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    const MOST_LETTERS: usize = 40;

    /// Keeps the first letters of `text`; bytes that are no UTF-8 and control letters are shown as `�`.
    pub fn new(text: &[u8]) -> Self {
        let head = &text[..text.len().min(4 * Self::MOST_LETTERS)];
        let shown = String::from_utf8_lossy(head);
        let mut letters = shown.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter });
        let mut kept: String = letters.by_ref().take(Self::MOST_LETTERS).collect();
        if letters.next().is_some() || head.len() < text.len() {
            kept.push('…');
        }
        Self(kept)
    }

    /// The text as it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.0)
    }
}
