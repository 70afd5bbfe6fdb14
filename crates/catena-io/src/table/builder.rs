//! Collects the cells of a column in one pass and then chooses its kind.
//!
//! Numbers, times and texts are stored separately, each only if it occurs, so a column of numbers costs eight bytes a row. The
//! most frequent kind wins; other cells become missing, and the first of them is kept as a [`InvalidCell`].

use super::{
    BoolColumn, Cell, CellProblem, CellRules, Column, ColumnData, Dictionary, InvalidCell, NumberColumn,
    NumberStyle, TextColumn, TimeColumn, TimeColumnBuilder, trimmed,
};
use crate::place::{Excerpt, Place};
use crate::time::{DateForm, TimeShape, TimeStyle, compact_date};

/// A column under construction.
#[derive(Debug)]
pub(crate) struct ColumnBuilder {
    name: String,
    rules: CellRules,
    is_text_only: bool,
    n_rows: usize,
    /// The most decimals of a number; `None` if a number has an exponent.
    decimals: Option<u8>,
    numbers: Vec<f64>,
    n_numbers: usize,
    n_not_integer: usize,
    times: Option<TimeColumnBuilder>,
    n_times: usize,
    texts: Vec<(u32, u32)>,
    dictionary: Dictionary,
    n_texts: usize,
    n_infinite: usize,
    first_number: Option<InvalidCell>,
    first_time: Option<InvalidCell>,
    first_other: Option<InvalidCell>,
    /// The first cell that is almost a number or a time, and their count.
    first_near: Option<InvalidCell>,
    n_near: usize,
    n_too_long: usize,
}

impl ColumnBuilder {
    pub(crate) fn new(name: String, rules: CellRules) -> Self {
        Self {
            name,
            rules,
            is_text_only: false,
            n_rows: 0,
            decimals: Some(0),
            numbers: vec![],
            n_numbers: 0,
            n_not_integer: 0,
            times: None,
            n_times: 0,
            texts: vec![],
            dictionary: Dictionary::default(),
            n_texts: 0,
            n_infinite: 0,
            first_number: None,
            first_time: None,
            first_other: None,
            first_near: None,
            n_near: 0,
            n_too_long: 0,
        }
    }

    /// The memory of the cells, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        let times = self.times.as_ref().map_or(0, TimeColumnBuilder::len);
        8 * (self.numbers.len() + times + self.texts.len()) + self.dictionary.n_bytes()
    }

    /// Makes the column text, so that `007` stays `007`.
    pub(crate) fn into_text_only(mut self) -> Self {
        self.is_text_only = true;
        self
    }

    /// Adds a cell. The error is the cell, if it is not UTF-8.
    pub(crate) fn push<'a>(&mut self, text: &'a [u8], place: Place) -> Result<(), &'a [u8]> {
        let text = trimmed(text);
        let cell = self.rules.classify(text);
        let invalid = |reason| InvalidCell { place, text: Excerpt::new(text), reason, count: 0 };
        match cell {
            Cell::Missing => {}
            _ if self.is_text_only => self.push_text(text)?,
            Cell::Number { value, is_integer, decimals } => {
                self.decimals = self.decimals.zip(decimals).map(|(most, decimals)| most.max(decimals));
                if self.first_number.is_none() {
                    self.first_number = Some(invalid(CellProblem::NumberAmongTimes));
                }
                // While text prevails, the column may become text and then needs the original cell.
                if self.n_texts > 0 && self.n_texts >= self.n_numbers {
                    self.push_text(text)?;
                }
                self.push_number(value, is_integer);
            }
            Cell::Time(time) => {
                let times = self.times.get_or_insert_with(|| TimeColumnBuilder::new(TimeStyle::of(&time)));
                while times.len() < self.n_rows {
                    times.push_missing();
                }
                match times.push_parsed(&time) {
                    Ok(()) => {
                        self.n_times += 1;
                        if self.first_time.is_none() {
                            self.first_time = Some(invalid(CellProblem::TimeAmongNumbers));
                        }
                    }
                    Err(reason) => self.push_other(text, invalid(reason))?,
                }
            }
            Cell::Other(reason) => self.push_other(text, invalid(reason))?,
        }
        self.n_rows += 1;
        Ok(())
    }

    fn push_number(&mut self, value: f64, is_integer: bool) {
        self.numbers.resize(self.n_rows, f64::NAN);
        self.numbers.push(value);
        self.n_numbers += 1;
        self.n_not_integer += usize::from(!is_integer);
    }

    fn push_other<'a>(&mut self, text: &'a [u8], invalid: InvalidCell) -> Result<(), &'a [u8]> {
        if invalid.reason == CellProblem::Infinite {
            self.n_infinite += 1;
        }
        self.n_texts += 1;
        self.n_too_long += usize::from(invalid.reason == CellProblem::TooManyDigits);
        if invalid.reason.is_nearly_value() {
            self.n_near += 1;
            self.first_near.get_or_insert_with(|| invalid.clone());
        }
        if self.first_other.is_none() {
            self.first_other = Some(invalid);
        }
        self.push_text(text)
    }

    fn push_text<'a>(&mut self, text: &'a [u8]) -> Result<(), &'a [u8]> {
        let text = std::str::from_utf8(text).map_err(|_| text)?;
        let code = self.dictionary.code_of(text);
        // The reader stops before rows outgrow `u32`.
        self.texts.push((self.n_rows as u32, code));
        Ok(())
    }

    /// The column, with as many rows as cells were added.
    pub(crate) fn finish(mut self) -> Column {
        if self.is_text_only {
            return self.into_text();
        }
        let n_texts = self.n_texts - self.n_infinite;
        let n_numbers = self.n_numbers + self.n_infinite;
        if self.n_times > 0 && self.n_times >= n_numbers && self.n_times >= n_texts {
            return self.into_time();
        }
        // If most integers are too long, all of them are names.
        let is_of_names = self.n_too_long > 0 && self.n_too_long >= n_numbers;
        if n_numbers >= n_texts && n_numbers > 0 && !is_of_names || self.n_texts == 0 {
            let invalid = self
                .invalid([self.first_other.clone(), self.first_time.clone()], self.n_texts + self.n_times);
            self.numbers.resize(self.n_rows, f64::NAN);
            if let Some(times) = self.compact_dates().filter(|_| invalid.is_none()) {
                return Column::new(self.name, ColumnData::Time(times));
            }
            self.numbers.shrink_to_fit();
            let all_integers = self.n_not_integer == 0 && self.n_numbers > 0;
            let style = if all_integers { NumberStyle::Integer } else { NumberStyle::Double };
            let data = ColumnData::Number(NumberColumn { values: self.numbers, style });
            return Column::new(self.name, data).with_invalid_cell(invalid).with_decimals(self.decimals);
        }
        self.into_text()
    }

    /// The numbers as dates, if all are integers such as 20120131 and at least two differ.
    fn compact_dates(&self) -> Option<TimeColumn> {
        let first = self.numbers.iter().copied().find(|value| !value.is_nan())?;
        if self.n_not_integer > 0 || self.n_numbers < 2 {
            return None;
        }
        let is_missing_or_date = |value: &f64| value.is_nan() || compact_date(*value).is_some();
        let varies = self.numbers.iter().any(|value| !value.is_nan() && *value != first);
        if !varies || !self.numbers.iter().all(is_missing_or_date) {
            return None;
        }
        let style = TimeStyle { shape: TimeShape::Date, form: DateForm::Compact, ..TimeStyle::default() };
        Some(TimeColumn::new(self.numbers.iter().map(|value| compact_date(*value)), style))
    }

    /// The first of the invalid cells, with their count.
    fn invalid(&self, candidates: [Option<InvalidCell>; 2], count: usize) -> Option<InvalidCell> {
        let line = |invalid: &InvalidCell| match invalid.place {
            Place::Line(number) | Place::Row(number) => number,
        };
        let first = candidates.into_iter().flatten().min_by_key(line)?;
        Some(InvalidCell { count, ..first })
    }

    fn into_time(self) -> Column {
        let invalid = self
            .invalid([self.first_other.clone(), self.first_number.clone()], self.n_texts + self.n_numbers);
        let mut times = self.times.unwrap_or_else(|| TimeColumnBuilder::new(TimeStyle::default()));
        while times.len() < self.n_rows {
            times.push_missing();
        }
        Column::new(self.name, ColumnData::Time(times.finish())).with_invalid_cell(invalid)
    }

    fn into_text(mut self) -> Column {
        let mut codes = vec![self.dictionary.code_or_missing(None); self.n_rows];
        // Numbers and times from before text prevailed are printed again.
        for (row, value) in self.numbers.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            codes[row] = self.dictionary.code_of(&crate::write::number_text(*value, NumberStyle::Double));
        }
        if let Some(times) = self.times.take() {
            let times = times.finish();
            for row in (0..times.len()).filter(|row| times.instant(*row).is_some()) {
                codes[row] = self.dictionary.code_of(&times.print(row));
            }
        }
        for (row, code) in &self.texts {
            codes[*row as usize] = *code;
        }
        // A note may begin with a date, but a column of almost-dates is meant to be times.
        let is_near = 2 * self.n_near >= self.n_texts;
        let invalid = self.first_near.take().filter(|_| is_near);
        let invalid = invalid.map(|invalid| InvalidCell { count: self.n_near, ..invalid });
        let text = self.dictionary.into_column(codes);
        let data =
            bools_of(&text).filter(|_| !self.is_text_only).map_or(ColumnData::Text(text), ColumnData::Bool);
        Column::new(self.name, data).with_invalid_cell(invalid)
    }
}

/// The column as truth values, if every cell is `true` or `false`.
fn bools_of(text: &TextColumn) -> Option<BoolColumn> {
    let value = |word: &str| match word {
        _ if word.eq_ignore_ascii_case("true") => Some(true),
        _ if word.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    };
    let is_bool = !text.distinct().is_empty() && text.distinct().iter().all(|word| value(word).is_some());
    is_bool.then(|| (0..text.len()).map(|row| text.get(row).and_then(value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::ZoneStyle;

    fn column(cells: &[&str]) -> Column {
        let mut builder = ColumnBuilder::new("x".into(), CellRules::default());
        for (row, cell) in cells.iter().enumerate() {
            builder.push(cell.as_bytes(), Place::Line(row as u64 + 2)).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn the_kind_with_most_cells_wins() {
        let numbers = column(&["", "1", "2", "cold", "3"]);
        assert!(matches!(numbers.data(), ColumnData::Number(column) if column.style == NumberStyle::Integer));
        let invalid = numbers.invalid_cell().unwrap();
        assert_eq!((invalid.place, invalid.text.as_str(), invalid.count), (Place::Line(5), "cold", 1));

        let texts = column(&["1", "a", "02", "b", "NA", "c"]);
        let ColumnData::Text(text) = texts.data() else { panic!("{texts:?}") };
        let cells: Vec<_> = (0..5).map(|row| text.get(row)).collect();
        assert_eq!(cells, [Some("1"), Some("a"), Some("02"), Some("b"), None]);

        let times = column(&["", "2013-01-01", "2013-01-02 06:00", "7"]);
        let ColumnData::Time(time) = times.data() else { panic!("{times:?}") };
        assert_eq!((time.print(0), time.print(2)), (String::new(), "2013-01-02 06:00".into()));
        assert_eq!(times.invalid_cell().unwrap().reason, CellProblem::NumberAmongTimes);

        assert!(matches!(column(&["True", "", "false"]).data(), ColumnData::Bool(_)));
        assert!(matches!(column(&["", "NA"]).data(), ColumnData::Number(_)));
        assert!(matches!(column(&["inf", "inf"]).data(), ColumnData::Number(_)));
    }

    #[test]
    fn every_row_keeps_its_own_offset() {
        let cells = ["2024-03-31T01:00+01:00", "NA", "2024-03-31T03:00+02:00", "2024-03-31T04:00+02:00"];
        let column = column(&cells);
        let ColumnData::Time(times) = column.data() else { panic!("{column:?}") };
        for (row, cell) in cells.iter().enumerate() {
            assert_eq!(times.print(row), if *cell == "NA" { "" } else { *cell });
        }
        assert_eq!(
            times.style().zone,
            ZoneStyle::Offset { seconds: 7200, form: crate::time::OffsetForm::Colon }
        );
    }
}
