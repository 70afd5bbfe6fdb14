//! Finds the delimiter and the byte order mark from the beginning of a text, and rejects binary files.

use crate::read::{Content, Packing};

/// How the delimiter of a text is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiting {
    /// A comma, if the header has one; else the most frequent delimiter of the header.
    Comma,
    /// A tab, if the header has one; else the most frequent delimiter of the header.
    Tab,
    /// The most frequent delimiter of the header.
    FromHeader,
}

/// The delimiter, the length of the byte order mark, and the notes between the mark and the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) mark_length: usize,
    pub(crate) skipped_bytes: usize,
    pub(crate) skipped_lines: u64,
}

/// The possible delimiters.
pub(crate) const DELIMITERS: [u8; 3] = *b",\t;";

/// The byte order mark that some programs write before the header.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The dialect of a text, from its beginning.
pub(crate) fn dialect_of(head: &[u8], delimiting: Delimiting) -> Result<Dialect, Content> {
    check_content(head)?;
    let mark_length = if head.starts_with(MARK) { MARK.len() } else { 0 };
    let delimiter = delimiter_of(&head[mark_length..], delimiting);
    Ok(Dialect { delimiter, mark_length, skipped_bytes: 0, skipped_lines: 0 })
}

fn check_content(head: &[u8]) -> Result<(), Content> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Content::Utf16);
    }
    // An archive in an archive.
    if Packing::of_head(head).is_some() || head.starts_with(b"BZh") || head.starts_with(b"\xfd7zXZ") {
        return Err(Content::Archive);
    }
    if head.starts_with(b"PK\x03\x04") {
        return Err(Content::Zip);
    }
    let head = &head[..head.len().min(8192)];
    let n_zeros = head.iter().filter(|byte| **byte == 0).count();
    if n_zeros == 0 {
        return Ok(());
    }
    // A column of a text file may have such a name, but text has no zero bytes.
    for (magic, content) in [(&b"PAR1"[..], Content::Parquet), (b"ARROW1", Content::Arrow)] {
        if head.starts_with(magic) {
            return Err(content);
        }
    }
    // ASCII in UTF-16 has a zero in every second byte, always on the same side.
    let n_even = head.iter().step_by(2).filter(|byte| **byte == 0).count();
    let is_one_sided = n_even == 0 || n_even == n_zeros;
    Err(if is_one_sided && n_zeros * 5 >= head.len() * 2 { Content::Utf16 } else { Content::Binary })
}

fn delimiter_of(text: &[u8], delimiting: Delimiting) -> u8 {
    let counts = DELIMITERS.map(|delimiter| (delimiter, count_outside_quotes(text, delimiter)));
    let usual = if delimiting == Delimiting::Tab { b'\t' } else { b',' };
    let n_usual = counts.iter().find(|(delimiter, _)| *delimiter == usual).map_or(0, |(_, count)| *count);
    if n_usual > 0 && delimiting != Delimiting::FromHeader {
        return usual;
    }
    // The first of the most frequent.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 0).map_or(usual, |(delimiter, _)| *delimiter)
}

/// Occurrences of a delimiter outside quotes in the first line that is not blank.
fn count_outside_quotes(text: &[u8], delimiter: u8) -> usize {
    let (mut count, mut is_quoted, mut is_blank) = (0, false, true);
    for byte in text {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted && !is_blank => break,
            byte if *byte == delimiter && !is_quoted => count += 1,
            _ => {}
        }
        is_blank &= byte.is_ascii_whitespace();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_may_be_called_like_a_format() {
        for (text, delimiting) in
            [("PAR1,PAR2\n1,2\n", Delimiting::Comma), ("ARROW1\n1\n", Delimiting::Comma)]
        {
            assert_eq!(
                dialect_of(text.as_bytes(), delimiting).map(|dialect| dialect.delimiter),
                Ok(b','),
                "{text:?}"
            );
        }
        assert_eq!(dialect_of(b"PAR1\x15\x00\x15", Delimiting::Comma), Err(Content::Parquet));
        assert_eq!(dialect_of(b"ARROW1\x00\x00", Delimiting::Comma), Err(Content::Arrow));
    }

    #[test]
    fn the_header_shows_the_separator() {
        for (text, delimiting, delimiter) in [
            ("a,b;c\n1,2\n", Delimiting::Comma, b','),
            ("a;b;c\n1;2;3\n", Delimiting::Comma, b';'),
            ("a\tb\n", Delimiting::Comma, b'\t'),
            ("a\n1\n", Delimiting::Comma, b','),
            ("a,b\n", Delimiting::Tab, b','),
            ("a,x\tb,y\n", Delimiting::Tab, b'\t'),
            ("\"a,b\";c\n", Delimiting::Comma, b';'),
            ("a\tb\tc,d\n", Delimiting::FromHeader, b'\t'),
        ] {
            assert_eq!(dialect_of(text.as_bytes(), delimiting).unwrap().delimiter, delimiter, "{text:?}");
        }
    }
}
