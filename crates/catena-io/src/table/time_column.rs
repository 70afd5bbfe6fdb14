//! A column of exact instants, eight bytes each, and their style.

use super::CellProblem;
use crate::time::{DateForm, Instant, ParsedTime, ParsedZone, TimeStyle, ZoneStyle};

/// Instants by row, in microseconds if exact, else in nanoseconds.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    ticks: Vec<i64>,
    nanoseconds_per_tick: i64,
    style: TimeStyle,
    /// Seconds east of UTC by row, if rows differ.
    offsets: Option<Vec<i32>>,
}

impl PartialEq for TimeColumn {
    /// The same instants; the style is ignored.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.instant(row) == other.instant(row))
    }
}

/// A missing instant; no valid instant has this value.
const MISSING: i64 = i64::MIN;
const MICROSECOND: i64 = 1000;

impl TimeColumn {
    /// Instants by row, printed in one style. An instant that does not fit in 64 bits becomes missing; years up to 9999 fit unless
    /// another instant needs nanoseconds.
    pub fn new(instants: impl IntoIterator<Item = Option<Instant>>, style: TimeStyle) -> Self {
        let mut builder = TimeColumnBuilder::new(style);
        for instant in instants {
            match instant {
                Some(instant) => {
                    if !builder.push(instant) {
                        builder.push_missing();
                    }
                }
                None => builder.push_missing(),
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

    /// The instant of a row, or `None` if missing.
    pub fn instant(&self, row: usize) -> Option<Instant> {
        let ticks = self.ticks.get(row).copied().filter(|ticks| *ticks != MISSING)?;
        Some(Instant::from_nanoseconds(i128::from(ticks) * i128::from(self.nanoseconds_per_tick)))
    }

    /// The style of the times.
    pub fn style(&self) -> &TimeStyle {
        &self.style
    }

    /// Whether some instant is finer than a microsecond.
    pub fn needs_nanoseconds(&self) -> bool {
        self.nanoseconds_per_tick < MICROSECOND
    }

    /// Every cell repeated `times` times.
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

    /// The text of a row; empty if missing.
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

/// Builds a column of times.
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

    pub(crate) fn push_missing(&mut self) {
        self.column.ticks.push(MISSING);
        if let Some(offsets) = &mut self.column.offsets {
            offsets.push(0);
        }
    }

    /// Adds an instant; returns `false` and adds nothing if it does not fit.
    pub(crate) fn push(&mut self, instant: Instant) -> bool {
        let nanoseconds = instant.nanoseconds();
        if nanoseconds % i128::from(self.column.nanoseconds_per_tick) != 0 && !self.refine() {
            return false;
        }
        let ticks = nanoseconds / i128::from(self.column.nanoseconds_per_tick);
        let Some(ticks) = i64::try_from(ticks).ok().filter(|ticks| *ticks != MISSING) else { return false };
        self.column.ticks.push(ticks);
        if let Some(offsets) = &mut self.column.offsets {
            offsets.push(0);
        }
        true
    }

    /// Changes from microseconds to nanoseconds, if all instants fit.
    fn refine(&mut self) -> bool {
        let refined =
            |ticks: &i64| if *ticks == MISSING { Some(MISSING) } else { ticks.checked_mul(MICROSECOND) };
        let Some(ticks) = self.column.ticks.iter().map(refined).collect() else { return false };
        self.column.ticks = ticks;
        self.column.nanoseconds_per_tick = 1;
        true
    }

    /// Adds a time read from text and updates the style. Fails if its zone is of another kind than the column's, or the instant does
    /// not fit.
    pub(crate) fn push_parsed(&mut self, time: &ParsedTime<'_>) -> Result<(), CellProblem> {
        if !self.accepts_zone(time.zone) {
            return Err(CellProblem::MixedZones);
        }
        if !self.push(time.instant) {
            return Err(CellProblem::TimeOutOfRange);
        }
        self.note_offset(time.zone);
        let style = &mut self.column.style;
        if time.shape >= crate::time::TimeShape::Minute && style.shape < crate::time::TimeShape::Minute {
            style.separator = char::from(time.separator);
        }
        style.shape = style.shape.max(time.shape);
        // Days above 9 are written alike in both forms.
        style.form = match (style.form, time.form) {
            (DateForm::DayFirst, DateForm::DayFirstShort) => DateForm::DayFirstShort,
            (DateForm::MonthFirst, DateForm::MonthFirstShort) => DateForm::MonthFirstShort,
            (DateForm::NamedMonth(own), DateForm::NamedMonth(next)) => DateForm::NamedMonth(own.with(next)),
            (form, _) => form,
        };
        style.fraction_digits = style.fraction_digits.min(time.fraction_digits);
        Ok(())
    }

    fn accepts_zone(&self, zone: ParsedZone<'_>) -> bool {
        match (&self.column.style.zone, zone) {
            (ZoneStyle::Naive, ParsedZone::Naive) => true,
            (ZoneStyle::Utc | ZoneStyle::Offset { .. }, ParsedZone::Utc | ParsedZone::Offset { .. }) => true,
            (ZoneStyle::Named { name, .. }, ParsedZone::Named { name: read, .. }) => name == read,
            _ => false,
        }
    }

    /// Stores the offset of the last row, if rows differ.
    fn note_offset(&mut self, zone: ParsedZone<'_>) {
        let (seconds, form) = match zone {
            ParsedZone::Naive => return,
            ParsedZone::Utc => (0, None),
            ParsedZone::Offset { seconds, form } => (seconds, Some(form)),
            // The offset of a named zone follows from the instant.
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
