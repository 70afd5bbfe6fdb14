//! Finds from the beginning of a text where its table begins, its decimal sign and the order of its dates.
//!
//! Only content that has one reading decides. Everything else is left to the options, and refused where they do not help.

use super::Records;
use super::dialect::{DELIMITERS, Delimiting, Dialect};
use crate::place::{Excerpt, Place};
use crate::read::{ReadNote, ReadOptions};
use crate::table::{CellRules, DateOrder, Decimal, is_header_data, looks_like_data, trimmed};
use crate::time::{parse_year_last, year_last_date};

/// The table is looked for in this many lines at the beginning.
const MOST_NOTES: usize = 100;

/// Moves the beginning of the table behind lines of notes. `text` is the beginning of the file behind its mark, `is_all` whether the
/// file ends with it. The dialect is unchanged if the first line can be a header, or no line can.
pub(super) fn skip_notes(
    text: &[u8],
    is_all: bool,
    delimiting: Delimiting,
    dialect: Dialect,
) -> (Dialect, Option<ReadNote>) {
    let starts = line_starts(text);
    let Some(first) = starts.iter().position(|(start, end)| !text[*start..*end].trim_ascii().is_empty())
    else {
        return (dialect, None);
    };
    if is_table(&text[starts[first].0..], is_all, dialect.delimiter, Strictness::FirstLine) {
        return (dialect, None);
    }
    let usual = if delimiting == Delimiting::Tab { b'\t' } else { b',' };
    let delimiters =
        || [usual].into_iter().chain(DELIMITERS.into_iter().filter(move |other| *other != usual));
    for (line, (start, end)) in starts.iter().enumerate().skip(first + 1).take(MOST_NOTES) {
        if text[*start..*end].trim_ascii().is_empty() {
            continue;
        }
        for delimiter in delimiters() {
            // Rows of numbers before the header would be lost.
            let is_row = |(start, end): &(usize, usize)| is_row(&text[*start..*end], delimiter);
            if starts[..line].iter().any(is_row) {
                continue;
            }
            if is_table(&text[*start..], is_all, delimiter, Strictness::LaterLine) {
                let skipped =
                    Dialect { delimiter, skipped_bytes: *start, skipped_lines: line as u64, ..dialect };
                let (first, last) = (Place::Line(first as u64 + 1), Place::Line(line as u64));
                return (skipped, Some(ReadNote::Skipped { first, last }));
            }
        }
    }
    (dialect, None)
}

/// How sure the header must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// A first line that is not a note is the header, unless rows have another number of cells.
    FirstLine,
    /// A later line must be names, and the row behind it must have values.
    LaterLine,
}

/// Whether a text is a header and rows of equally many cells.
fn is_table(text: &[u8], is_all: bool, delimiter: u8, strictness: Strictness) -> bool {
    let mut records = Records::new(text);
    records.set_dialect(delimiter, 0);
    let (mut n_columns, mut n_rows, mut is_note) = (0, 0, false);
    loop {
        let end = records.place().0 as usize;
        let record = match records.next() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            // A quote that is not closed is reported when the table is read.
            Err(_) => return strictness == Strictness::FirstLine && !is_note,
        };
        if record.is_blank() {
            continue;
        }
        // The last record may be cut.
        let is_cut = !is_all && end + record.text().len() + record.terminator().len() >= text.len();
        if is_cut {
            break;
        }
        let n_cells = record.n_cells();
        if n_columns == 0 {
            n_columns = n_cells;
            is_note = record.text().trim_ascii_start().starts_with(b"#");
            // One column shows no delimiter: a line of notes looks like its name.
            let may_be_header = match strictness {
                Strictness::FirstLine => n_cells > 1,
                Strictness::LaterLine => n_cells > 1 && is_header(&record),
            };
            if !may_be_header {
                return false;
            }
            continue;
        }
        if n_cells != n_columns {
            return false;
        }
        n_rows += 1;
        if n_rows == 1 && (is_note || strictness == Strictness::LaterLine) {
            let has_value = (0..n_cells).any(|cell| begins_with_digit(&record.content(cell)));
            if !has_value {
                return false;
            }
        }
    }
    strictness == Strictness::FirstLine || n_rows > 0
}

/// Whether all cells are different names.
fn is_header(record: &super::records::Record<'_>) -> bool {
    let names: Vec<_> = (0..record.n_cells()).map(|cell| record.content(cell)).collect();
    let is_name = |name: &[u8]| !trimmed(name).is_empty() && !looks_like_data(name);
    // Only the first name may lack, that of an index.
    let has_names = names.iter().enumerate().all(|(at, name)| is_name(name) || (at == 0 && name.is_empty()));
    let mut distinct: Vec<&[u8]> = names.iter().map(|name| trimmed(name)).collect();
    distinct.sort_unstable();
    has_names && distinct.windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether a cell may be a number or a date, in any way of writing them.
fn begins_with_digit(cell: &[u8]) -> bool {
    let cell = trimmed(cell);
    let unsigned = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    matches!(unsigned, [b'0'..=b'9', ..] | [b'.' | b',', b'0'..=b'9', ..])
}

/// Whether a line has several cells, all of them values.
fn is_row(line: &[u8], delimiter: u8) -> bool {
    line.contains(&delimiter) && is_header_data(line.split(|byte| *byte == delimiter))
}

/// Start and end of every line.
fn line_starts(text: &[u8]) -> Vec<(usize, usize)> {
    let ending = if text.contains(&b'\n') { b'\n' } else { b'\r' };
    let (mut lines, mut start) = (vec![], 0);
    for line in text.split_inclusive(|byte| *byte == ending).take(2 * MOST_NOTES) {
        lines.push((start, start + line.len()));
        start += line.len();
    }
    lines
}

/// A cell that has one reading, and its place.
type Evidence = Option<(Excerpt, Place)>;

/// The rules for the cells: those of the options, else what the beginning of the table shows.
pub(super) fn rules_of(
    text: &[u8],
    dialect: Dialect,
    options: &ReadOptions,
    notes: &mut Vec<ReadNote>,
) -> CellRules {
    let mut records = Records::new(&text[dialect.skipped_bytes..]);
    records.set_dialect(dialect.delimiter, 0);
    records.set_line(dialect.skipped_lines + 1);
    let (mut comma, mut day, mut month): (Evidence, Evidence, Evidence) = (None, None, None);
    let (mut has_points, mut is_header) = (false, true);
    while let Ok(Some(record)) = records.next() {
        if record.is_blank() || std::mem::take(&mut is_header) {
            continue;
        }
        let place = Place::Line(record.line());
        for cell in 0..record.n_cells() {
            let content = record.content(cell);
            let content = trimmed(&content);
            let evidence = || Some((Excerpt::new(content), place));
            has_points |= is_decimal(content, b'.');
            if comma.is_none() && has_sure_comma(content) {
                comma = evidence();
            }
            // A date in a note shows nothing.
            let order = year_last_date(content).and_then(|date| date.order());
            match order.filter(|order| parse_year_last(content, *order).is_some()) {
                Some(DateOrder::DayFirst) if day.is_none() => day = evidence(),
                Some(DateOrder::MonthFirst) if month.is_none() => month = evidence(),
                _ => {}
            }
        }
    }
    let decimal = options.cells.decimal.unwrap_or_else(|| match comma.filter(|_| !has_points) {
        Some((text, place)) => {
            notes.push(ReadNote::DecimalComma { text, place });
            Decimal::Comma
        }
        None => Decimal::Point,
    });
    let dates = options.cells.dates.or_else(|| {
        let (order, evidence) = match (day, month) {
            (Some(day), None) => (DateOrder::DayFirst, day),
            (None, Some(month)) => (DateOrder::MonthFirst, month),
            _ => return None,
        };
        let (text, place) = evidence;
        notes.push(ReadNote::Dates { order, text, place });
        Some(order)
    });
    CellRules::new(&options.cells.missing, decimal, dates)
}

/// Whether a text is digits, a decimal sign and digits.
fn is_decimal(text: &[u8], sign: u8) -> bool {
    decimals_behind(text, sign).is_some()
}

/// The digits before and behind a decimal sign.
fn decimals_behind(text: &[u8], sign: u8) -> Option<(&[u8], &[u8])> {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let at = unsigned.iter().position(|byte| *byte == sign)?;
    let (whole, decimals) = (&unsigned[..at], &unsigned[at + 1..]);
    let is_number = whole.iter().chain(decimals).all(u8::is_ascii_digit) && !decimals.is_empty();
    is_number.then_some((whole, decimals))
}

/// Whether the comma of a number can only be a decimal sign: `1,234` may be a thousand, `3,14` and `0,123` are not.
fn has_sure_comma(text: &[u8]) -> bool {
    decimals_behind(text, b',').is_some_and(|(whole, decimals)| {
        decimals.len() != 3 || whole.is_empty() || whole.starts_with(b"0") || whole.len() > 3
    })
}

#[cfg(test)]
mod tests {
    use super::super::dialect::dialect_of;
    use super::*;

    fn found(text: &str) -> (Dialect, Vec<String>, CellRules) {
        let dialect = dialect_of(text.as_bytes(), Delimiting::Comma).unwrap();
        let (dialect, note) = skip_notes(text.as_bytes(), true, Delimiting::Comma, dialect);
        let mut notes: Vec<ReadNote> = note.into_iter().collect();
        let rules = rules_of(text.as_bytes(), dialect, &ReadOptions::default(), &mut notes);
        (dialect, notes.iter().map(ToString::to_string).collect(), rules)
    }

    #[test]
    fn notes_before_a_header_are_skipped() {
        for (text, n_lines) in [
            ("t,a\n1,2\n", 0),
            ("# station 7\nt,a\n1,2\n", 1),
            ("# lat, lon\nt,a\n1,2\n", 1),
            ("Station: Berlin, Germany, 52N\n\nexported by \"x\nt;a;b\n1;2;3\n4;5;6\n", 3),
            ("station 7\nt,a\n1,2\n", 1),
            ("#t,a\n1,2\n", 0),
            // Two tables, ragged rows and rows of text are not notes.
            ("t,a,b\n1,2,3\nx,y\n4,5\n", 0),
            ("t,a\n1,2\n1,2,3\n", 0),
            ("name,city\nbob,paris,1\nann,rome,2\n", 0),
            ("station 7\nt,t\n1,2\n", 0),
        ] {
            assert_eq!(found(text).0.skipped_lines, n_lines, "{text:?}");
        }
        let (dialect, notes, _) = found("station 7\n2013\nt;a\n1;2\n");
        assert_eq!(dialect.delimiter, b';');
        assert_eq!(notes, ["skipped line 1 to line 2, which are before the header"]);
    }

    #[test]
    fn content_with_one_reading_decides() {
        for (text, decimal, dates) in [
            ("t;a\n1;2,5\n", Decimal::Comma, None),
            ("t;a\n1;0,123\n", Decimal::Comma, None),
            ("t;a\n1;1,234\n", Decimal::Point, None),
            ("t;a;b\n1;2,5;2.5\n", Decimal::Point, None),
            ("t,a\n01/02/2013,2\n15/02/2013,3\n", Decimal::Point, Some(DateOrder::DayFirst)),
            ("t,a\n2/15/2013,2\n", Decimal::Point, Some(DateOrder::MonthFirst)),
            ("t,a\n01/02/2013,2\n", Decimal::Point, None),
            ("t,a,note\n01/02/2013,2,15/02/2013 cold\n", Decimal::Point, None),
            ("t,a,b\n15/02/2013,02/15/2013,2\n", Decimal::Point, None),
        ] {
            let rules = found(text).2;
            assert_eq!((rules.decimal, rules.dates), (decimal, dates), "{text:?}");
        }
    }
}
