//! Columns of year, month, day and clock, or of year and quarter, joined into one time.

use super::SelectError;
use crate::place::Excerpt;
use crate::table::{ColumnData, Table, TimeColumn};
use crate::time::{DateForm, Instant, TimeShape, TimeStyle};

/// Names of a part, and its least and largest value.
struct Part {
    names: &'static [&'static str],
    range: (f64, f64),
}

/// The parts, from large to small. Each needs the ones before it, but a table may end at any from the month on.
const PARTS: [Part; 6] = [
    Part { names: &["year", "yr", "yyyy"], range: (1.0, 9999.0) },
    Part { names: &["month", "mon", "mo"], range: (1.0, 12.0) },
    Part { names: &["day", "mday", "day_of_month"], range: (1.0, 31.0) },
    // Some clocks end the day with 24.
    Part { names: &["hour", "hr"], range: (0.0, 24.0) },
    Part { names: &["minute"], range: (0.0, 59.0) },
    Part { names: &["second"], range: (0.0, 59.0) },
];

/// The part after the year where there is no month.
const QUARTER: Part = Part { names: &["quarter", "qtr"], range: (1.0, 4.0) };

/// The columns of a date: year and month at least, or year and quarter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DateParts {
    positions: Vec<usize>,
    has_quarter: bool,
}

/// Whether a name is that of a part of a date.
pub(super) fn is_part_of_date(name: &str) -> bool {
    let mut names = PARTS.iter().chain([&QUARTER]).flat_map(|part| part.names);
    names.any(|part| name.eq_ignore_ascii_case(part))
}

impl DateParts {
    /// The columns of a date, if a table has them.
    pub(crate) fn find(table: &Table) -> Option<Self> {
        let is_part = |part: &Part, position: usize| {
            let column = &table.columns()[position];
            let has_name = part.names.iter().any(|name| column.name().eq_ignore_ascii_case(name));
            let ColumnData::Number(numbers) = column.data() else { return false };
            let (least, largest) = part.range;
            let is_within =
                |value: &f64| value.is_nan() || (value.fract() == 0.0 && (least..=largest).contains(value));
            has_name && column.invalid_cell().is_none() && numbers.values.iter().all(is_within)
        };
        let position = |part: &Part| (0..table.columns().len()).find(|position| is_part(part, *position));
        let positions: Vec<usize> = PARTS.iter().map_while(position).collect();
        if let ([year], Some(quarter)) = (&positions[..], position(&QUARTER)) {
            return Some(Self { positions: vec![*year, quarter], has_quarter: true });
        }
        (positions.len() >= 2).then_some(Self { positions, has_quarter: false })
    }

    /// The name of the joined time.
    pub(crate) fn name(&self, table: &Table) -> &'static str {
        if table.position("time").is_none() { "time" } else { "joined_time" }
    }

    /// Whether these are names of parts, the year and the month among them.
    pub(crate) fn are_named(&self, table: &Table, names: &[String]) -> bool {
        let is_part = |name: &String| table.position(name).is_some_and(|at| self.positions.contains(&at));
        let needed = self.positions[..2].iter().map(|at| table.columns()[*at].name());
        names.iter().all(is_part) && needed.into_iter().all(|part| names.iter().any(|name| name == part))
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.iter().copied()
    }

    /// The joined times.
    pub(crate) fn times(&self, table: &Table) -> Result<TimeColumn, SelectError> {
        let shape = match self.positions.len() {
            2 => TimeShape::Month,
            3 => TimeShape::Date,
            4 | 5 => TimeShape::Minute,
            _ => TimeShape::Second,
        };
        let instants = (0..table.n_rows()).map(|row| self.instant(table, row).map(Some));
        let instants: Vec<Option<Instant>> = instants.collect::<Result<_, _>>()?;
        let form = if self.has_quarter { DateForm::Quarter } else { DateForm::default() };
        Ok(TimeColumn::new(instants, TimeStyle { shape, form, separator: ' ', ..TimeStyle::default() }))
    }

    fn instant(&self, table: &Table, row: usize) -> Result<Instant, SelectError> {
        let (file, place) = (|| table.file().clone(), table.place_of(row));
        // Months and days are counted from 1.
        let mut parts = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        for (part, position) in parts.iter_mut().zip(&self.positions) {
            let column = &table.columns()[*position];
            let ColumnData::Number(numbers) = column.data() else { continue };
            match numbers.values.get(row).filter(|value| !value.is_nan()) {
                Some(value) => *part = *value,
                None => {
                    let column = column.name().to_owned();
                    return Err(SelectError::MissingInput { file: file(), place, column });
                }
            }
        }
        if self.has_quarter {
            parts[1] = 3.0 * parts[1] - 2.0;
        }
        let [year, month, day, hour, minute, second] = parts;
        let date = jiff::civil::Date::new(year as i16, month as i8, day as i8);
        let midnight =
            date.ok().and_then(|date| jiff::tz::Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok());
        let Some(midnight) = midnight else {
            let names: Vec<&str> = self.positions.iter().map(|at| table.columns()[*at].name()).collect();
            let text = Excerpt::new(format!("{year}-{month}-{day}").as_bytes());
            return Err(SelectError::InvalidDate { file: file(), place, columns: names.join(", "), text });
        };
        let seconds = 3600.0 * hour + 60.0 * minute + second;
        Ok(Instant::from_nanoseconds(midnight.as_nanosecond() + seconds as i128 * 1_000_000_000))
    }
}
