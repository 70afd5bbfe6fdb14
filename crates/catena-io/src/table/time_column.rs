//! A column of instants: exact, eight bytes each, with the form they were written in.

use crate::time::{Instant, ParsedTime, ParsedZone, TimeStyle, ZoneStyle};

/// Instants by row. Microseconds where that is exact, which covers every year; nanoseconds where a cell needs them.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    ticks: Vec<i64>,
    nanoseconds_per_tick: i64,
    style: TimeStyle,
    /// Seconds east of UTC by row, only if rows differ.
    offsets: Option<Vec<i32>>,
}

impl PartialEq for TimeColumn {
    /// The same instants; how they are written does not count.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.instant(row) == other.instant(row))
    }
}

/// No instant: outside what microseconds of the calendar or nanoseconds can reach.
const HOLE: i64 = i64::MIN;
const MICROSECOND: i64 = 1000;

impl TimeColumn {
    /// Instants by row, printed in one style. An instant that 64 bits cannot hold becomes a hole; the calendar's years up
    /// to 9999 all fit unless others need nanoseconds.
    pub fn new(instants: impl IntoIterator<Item = Option<Instant>>, style: TimeStyle) -> Self {
        let mut builder = TimeColumnBuilder::new(style);
        for instant in instants {
            match instant {
                Some(instant) => {
                    if !builder.push(instant) {
                        builder.push_hole();
                    }
                }
                None => builder.push_hole(),
            }
        }
        builder.finish()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ticks.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    /// The instant of a row, or `None` for a hole.
    pub fn instant(&self, row: usize) -> Option<Instant> {
        let ticks = self.ticks.get(row).copied().filter(|ticks| *ticks != HOLE)?;
        Some(Instant::from_nanoseconds(i128::from(ticks) * i128::from(self.nanoseconds_per_tick)))
    }

    /// How the times are written.
    pub fn style(&self) -> &TimeStyle {
        &self.style
    }

    /// Whether some instant is finer than a microsecond.
    pub fn needs_nanoseconds(&self) -> bool {
        self.nanoseconds_per_tick < MICROSECOND
    }

    /// Every time several times in a row.
    pub(crate) fn repeated(&self, times: usize) -> Self {
        fn repeat<T: Copy>(cells: &[T], times: usize) -> Vec<T> {
            cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, times)).collect()
        }
        Self {
            ticks: repeat(&self.ticks, times),
            offsets: self.offsets.as_ref().map(|offsets| repeat(offsets, times)),
            style: self.style.clone(),
            ..*self
        }
    }

    /// The time of a row as it is written; empty for a hole.
    pub fn print(&self, row: usize) -> String {
        let mut text = String::new();
        self.print_to(&mut text, row);
        text
    }

    pub(crate) fn print_to(&self, text: &mut String, row: usize) {
        if let Some(instant) = self.instant(row) {
            let offset = self.offsets.as_ref().map(|offsets| offsets[row]);
            self.style.print_to(text, instant, offset);
        }
    }
}

/// Collects instants, and widens what it keeps only when a cell needs it.
#[derive(Debug)]
pub(crate) struct TimeColumnBuilder {
    column: TimeColumn,
}

impl TimeColumnBuilder {
    pub(crate) fn new(style: TimeStyle) -> Self {
        Self { column: TimeColumn { ticks: vec![], nanoseconds_per_tick: MICROSECOND, style, offsets: None } }
    }

    pub(crate) fn len(&self) -> usize {
        self.column.ticks.len()
    }

    pub(crate) fn push_hole(&mut self) {
        self.column.ticks.push(HOLE);
        if let Some(offsets) = &mut self.column.offsets {
            offsets.push(0);
        }
    }

    /// Adds an instant; `false`, and nothing added, if it cannot be kept.
    pub(crate) fn push(&mut self, instant: Instant) -> bool {
        let nanoseconds = instant.nanoseconds();
        if nanoseconds % i128::from(self.column.nanoseconds_per_tick) != 0 && !self.refine() {
            return false;
        }
        let ticks = nanoseconds / i128::from(self.column.nanoseconds_per_tick);
        let Some(ticks) = i64::try_from(ticks).ok().filter(|ticks| *ticks != HOLE) else { return false };
        self.column.ticks.push(ticks);
        if let Some(offsets) = &mut self.column.offsets {
            offsets.push(0);
        }
        true
    }

    /// Goes from microseconds to nanoseconds, if all instants allow it.
    fn refine(&mut self) -> bool {
        let refined = |ticks: &i64| if *ticks == HOLE { Some(HOLE) } else { ticks.checked_mul(MICROSECOND) };
        let Some(ticks) = self.column.ticks.iter().map(refined).collect() else { return false };
        self.column.ticks = ticks;
        self.column.nanoseconds_per_tick = 1;
        true
    }

    /// Adds a time that was read from text, and lets the style follow what is written; `false` if its zone is of another
    /// kind than the column's, or if it cannot be kept.
    pub(crate) fn push_parsed(&mut self, time: &ParsedTime<'_>) -> bool {
        if !self.accepts_zone(time.zone) || !self.push(time.instant) {
            return false;
        }
        self.note_offset(time.zone);
        let style = &mut self.column.style;
        if time.shape >= crate::time::TimeShape::Minute && style.shape < crate::time::TimeShape::Minute {
            style.separator = char::from(time.separator);
        }
        style.shape = style.shape.max(time.shape);
        style.fraction_digits = style.fraction_digits.min(time.fraction_digits);
        true
    }

    fn accepts_zone(&self, zone: ParsedZone<'_>) -> bool {
        match (&self.column.style.zone, zone) {
            (ZoneStyle::Naive, ParsedZone::Naive) => true,
            (ZoneStyle::Utc | ZoneStyle::Offset { .. }, ParsedZone::Utc | ParsedZone::Offset { .. }) => true,
            (ZoneStyle::Named { name, .. }, ParsedZone::Named { name: read, .. }) => name == read,
            _ => false,
        }
    }

    /// Keeps the offset of the row just added, once rows differ.
    fn note_offset(&mut self, zone: ParsedZone<'_>) {
        let (seconds, form) = match zone {
            ParsedZone::Naive => return,
            ParsedZone::Utc => (0, None),
            ParsedZone::Offset { seconds, form } => (seconds, Some(form)),
            // A named zone knows its offset at every instant.
            ParsedZone::Named { .. } => return,
        };
        let column = &mut self.column;
        let usual = match column.style.zone {
            ZoneStyle::Offset { seconds, .. } => seconds,
            _ => 0,
        };
        if column.offsets.is_none() && seconds != usual {
            column.offsets = Some(vec![usual; column.ticks.len()]);
        }
        if let Some(last) = column.offsets.as_mut().and_then(|offsets| offsets.last_mut()) {
            *last = seconds;
        }
        match (&mut column.style.zone, form) {
            // New times get the offset of the last row.
            (ZoneStyle::Offset { seconds: usual, .. }, _) if column.offsets.is_some() => *usual = seconds,
            (zone @ ZoneStyle::Utc, Some(form)) => *zone = ZoneStyle::Offset { seconds, form },
            _ => {}
        }
    }

    pub(crate) fn finish(self) -> TimeColumn {
        self.column
    }
}
