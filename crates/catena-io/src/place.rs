//! The location of an error: a file, a line or row, and a short excerpt.

use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A file, or one of the standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileName {
    /// A file on disk.
    Path(PathBuf),
    /// Standard input.
    StandardInput,
    /// Standard output.
    StandardOutput,
    /// A table made in memory.
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

/// The number of a file on its device: a renamed file keeps it, another file of the same name has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    /// The device; 0 on systems without such numbers.
    pub device: u64,
    /// The file on the device; 0 on systems without such numbers.
    pub file: u64,
}

impl FileId {
    /// The number of an opened or named file.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Self { device: metadata.dev(), file: metadata.ino() }
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            Self { device: 0, file: 0 }
        }
    }

    /// Whether the system numbers its files.
    pub fn is_known(self) -> bool {
        self.file != 0
    }
}

/// A row, as the line of a text file or the row of a binary file. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file; the header is usually line 1.
    Line(u64),
    /// Row of a binary file.
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

/// An excerpt of the user's text, short enough for a message of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    const MOST_LETTERS: usize = 40;

    /// The first letters of `text`; invalid UTF-8 and control characters become `�`.
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

    /// The excerpt.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.0)
    }
}
