//! Looks at the beginning of a text: is it text, does it have a mark, and what separates its cells.

use super::super::{Content, Format};

/// What stands between cells, and how many bytes of mark stand before the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) mark_length: usize,
}

/// What can separate cells.
pub(crate) const SEPARATORS: [u8; 3] = *b",\t;";

/// What some programs write before the header.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// What the beginning of a file shows, unless it is no text.
pub(crate) fn dialect_of(head: &[u8], format: Format) -> Result<Dialect, Content> {
    check_content(head)?;
    let mark_length = if head.starts_with(MARK) { MARK.len() } else { 0 };
    Ok(Dialect { delimiter: delimiter_of(&head[mark_length..], format), mark_length })
}

fn check_content(head: &[u8]) -> Result<(), Content> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Content::Utf16);
    }
    for (magic, content) in [(&b"\x1f\x8b"[..], Content::Gzip), (b"PK\x03\x04", Content::Zip)] {
        if head.starts_with(magic) {
            return Err(content);
        }
    }
    let head = &head[..head.len().min(8192)];
    let n_zeros = head.iter().filter(|byte| **byte == 0).count();
    if n_zeros == 0 {
        return Ok(());
    }
    // Of a text the first column may have such a name; these files have zeros.
    for (magic, content) in [(&b"PAR1"[..], Content::Parquet), (b"ARROW1", Content::Arrow)] {
        if head.starts_with(magic) {
            return Err(content);
        }
    }
    // Plain letters in UTF-16 have a zero in every second byte, always on the same side.
    let n_even = head.iter().step_by(2).filter(|byte| **byte == 0).count();
    let is_one_sided = n_even == 0 || n_even == n_zeros;
    Err(if is_one_sided && n_zeros * 5 >= head.len() * 2 { Content::Utf16 } else { Content::Binary })
}

/// The separator: by the format, unless the header plainly has another one.
fn delimiter_of(text: &[u8], format: Format) -> u8 {
    let counts = SEPARATORS.map(|delimiter| (delimiter, count_outside_quotes(text, delimiter)));
    let usual = match format {
        Format::Tsv => b'\t',
        _ => b',',
    };
    let n_usual = counts.iter().find(|(delimiter, _)| *delimiter == usual).map_or(0, |(_, count)| *count);
    if n_usual > 0 && format != Format::Text {
        return usual;
    }
    // The first of the most frequent.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 0).map_or(usual, |(delimiter, _)| *delimiter)
}

/// How often a separator stands in the first line that is not blank, outside quotes.
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
        for (text, format) in [("PAR1,PAR2\n1,2\n", Format::Csv), ("ARROW1\n1\n", Format::Csv)] {
            assert_eq!(
                dialect_of(text.as_bytes(), format).map(|dialect| dialect.delimiter),
                Ok(b','),
                "{text:?}"
            );
        }
        assert_eq!(dialect_of(b"PAR1\x15\x00\x15", Format::Csv), Err(Content::Parquet));
        assert_eq!(dialect_of(b"ARROW1\x00\x00", Format::Csv), Err(Content::Arrow));
    }

    #[test]
    fn the_header_shows_the_separator() {
        for (text, format, delimiter) in [
            ("a,b;c\n1,2\n", Format::Csv, b','),
            ("a;b;c\n1;2;3\n", Format::Csv, b';'),
            ("a\tb\n", Format::Csv, b'\t'),
            ("a\n1\n", Format::Csv, b','),
            ("a,b\n", Format::Tsv, b','),
            ("a,x\tb,y\n", Format::Tsv, b'\t'),
            ("\"a,b\";c\n", Format::Csv, b';'),
            ("a\tb\tc,d\n", Format::Text, b'\t'),
        ] {
            assert_eq!(dialect_of(text.as_bytes(), format).unwrap().delimiter, delimiter, "{text:?}");
        }
    }
}
