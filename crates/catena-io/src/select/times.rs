//! Inputs of times, and the axis on which they become numbers.

use super::{Decision, Input, SelectError, Selection};
use crate::place::Excerpt;
use crate::table::{ColumnData, NumberColumn, NumberStyle, Table, TimeColumn};
use crate::time::{Calendar, CalendarChoice, DateForm, Grid, MonthDay, Step, TimeAxis, numeric_date};

/// Names of a column of years.
const YEAR_NAMES: [&str; 3] = ["year", "yr", "yyyy"];

/// The form of the dates that a numeric input holds, if it holds dates. Dates such as 20120131 are read as numbers where all rows
/// have the same one; integers from 1000 to 2999 in a column named `year` are years.
pub(crate) fn dates_as(
    numbers: &NumberColumn,
    name: &str,
    known: Option<&TimeAxis>,
    selection: &Selection,
) -> Option<DateForm> {
    if let Some(axis) = known {
        return Some(axis.style.form).filter(|form| matches!(form, DateForm::Compact | DateForm::Year));
    }
    // The years of a model without a time axis are numbers.
    (!selection.needs_columns && are_years(numbers, name)).then_some(DateForm::Year)
}

/// Whether a column of numbers holds years: integers from 1000 to 2999, by its name.
pub(crate) fn are_years(numbers: &NumberColumn, name: &str) -> bool {
    let has_name = YEAR_NAMES.iter().any(|year| name.eq_ignore_ascii_case(year));
    let is_year = |value: &f64| numeric_date(*value, DateForm::Year).is_some();
    has_name && numbers.style == NumberStyle::Integer && numbers.values.iter().all(is_year)
}

/// The error for a column of dates such as `Jan 1 2000`, by its first cell.
pub(crate) fn check_month_names(table: &Table, position: usize) -> Result<(), SelectError> {
    let column = &table.columns()[position];
    let ColumnData::Text(texts) = column.data() else { return Ok(()) };
    let first = (0..table.n_rows()).find_map(|row| Some((row, texts.get(row)?)));
    match first.filter(|(_, text)| has_month_name(text)) {
        None => Ok(()),
        Some((row, text)) => Err(SelectError::MonthName {
            file: table.file().clone(),
            place: table.place_of(row),
            column: column.name().to_owned(),
            text: Excerpt::new(text.as_bytes()),
        }),
    }
}

/// Whether a text is a date with an English name of a month, a day or none, and a year.
fn has_month_name(text: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let (letters, numbers): (Vec<&str>, Vec<&str>) =
        words.partition(|word| word.bytes().all(|letter| letter.is_ascii_alphabetic()));
    let is_month = |word: &str| {
        word.get(..3).is_some_and(|start| MONTHS.iter().any(|month| start.eq_ignore_ascii_case(month)))
    };
    let are_numbers = numbers.iter().all(|word| word.bytes().all(|digit| digit.is_ascii_digit()));
    let has_year = numbers.iter().any(|word| word.len() == 4 || numbers.len() == 2 && word.len() == 2);
    matches!(letters[..], [month] if is_month(month)) && are_numbers && numbers.len() <= 2 && has_year
}

/// An input of times, on the axis of the model if there is one.
pub(crate) fn time_input(
    table: &Table,
    name: &str,
    times: &TimeColumn,
    selection: &Selection,
) -> Result<Input, SelectError> {
    let known = selection.time_axes.iter().find(|(input, _)| input == name).map(|(_, axis)| axis);
    // Times with and without a zone cannot be compared.
    let has_zone = times.style().zone.is_zoned();
    if known.is_some_and(|axis| axis.style.zone.is_zoned() != has_zone) {
        let (file, column) = (table.file().clone(), name.to_owned());
        return Err(SelectError::OtherZone { file, column, has_zone });
    }
    let axis = match known {
        Some(axis) => axis.clone(),
        None => axis_of(table, name, times, selection.calendar)?,
    };
    let mut values = Vec::with_capacity(times.len());
    for row in 0..times.len() {
        let Some(instant) = times.instant(row) else { continue };
        values.push(axis.number_of(instant).ok_or_else(|| not_on_calendar(table, name, times, row))?);
    }
    Ok(Input { name: name.to_owned(), values, time: Some(axis), style: NumberStyle::Double })
}

/// The error for a time that the calendar does not have.
fn not_on_calendar(table: &Table, name: &str, times: &TimeColumn, row: usize) -> SelectError {
    SelectError::NotOnCalendar {
        file: table.file().clone(),
        place: table.place_of(row),
        column: name.to_owned(),
        text: Excerpt::new(times.print(row).as_bytes()),
    }
}

/// The axis of a column of times; its origin is the earliest, rounded down to a second.
fn axis_of(
    table: &Table,
    name: &str,
    times: &TimeColumn,
    choice: CalendarChoice,
) -> Result<TimeAxis, SelectError> {
    let instants = (0..times.len()).filter_map(|row| times.instant(row));
    let earliest = instants.clone().min();
    let seconds = earliest.map_or(0, |instant| instant.nanoseconds().div_euclid(1_000_000_000));
    // An i64 of microseconds divided by a million always fits.
    let axis = TimeAxis::elapsed(i64::try_from(seconds).unwrap_or(0), times.style().clone());
    let calendar = match choice {
        CalendarChoice::Elapsed => None,
        CalendarChoice::Business => Some(Calendar::Business),
        CalendarChoice::Auto | CalendarChoice::Month => match Grid::of(instants, times.style()) {
            Some(Grid { step: Step::Months(_), day: Some(day) }) => Some(Calendar::Month(day)),
            _ if choice == CalendarChoice::Month => Some(Calendar::Month(MonthDay::FIRST)),
            _ => None,
        },
    };
    let axis = TimeAxis { calendar, ..axis };
    // The origin must be on the calendar, or no row would be.
    let row = (0..times.len()).find(|row| times.instant(*row) == earliest).unwrap_or(0);
    match earliest.is_none_or(|instant| axis.number_of(instant).is_some()) {
        true => Ok(axis),
        false => Err(not_on_calendar(table, name, times, row)),
    }
}

/// Notes a calendar that was chosen from the times.
pub(crate) fn note_calendar(decision: &mut Decision, inputs: &[Input], selection: &Selection) {
    let is_inferred = selection.calendar == CalendarChoice::Auto && selection.time_axes.is_empty();
    let calendar = inputs.iter().find_map(|input| input.time.as_ref()?.calendar);
    decision.calendar = calendar.filter(|_| is_inferred);
}
