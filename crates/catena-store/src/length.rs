//! Lengths along an input as text.

use catena_io::select::Input;
use catena_io::time::{Calendar, Step};
use catena_io::units::Duration;

/// A day in seconds.
const DAY: f64 = 86_400.0;

/// The unit in which lengths along an input are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthUnit {
    /// A number.
    Number,
    /// Seconds, written as a duration.
    Duration,
    /// Seconds on an axis of months of equal length, written in months and years.
    Months,
    /// Seconds on an axis of business days, written in business days.
    BusinessDays,
}

impl LengthUnit {
    /// The unit of an input.
    pub fn of(input: &Input) -> Self {
        match input.time.as_ref().map(|axis| axis.calendar) {
            None => Self::Number,
            Some(None) => Self::Duration,
            Some(Some(Calendar::Month(_))) => Self::Months,
            Some(Some(Calendar::Business)) => Self::BusinessDays,
        }
    }

    /// The unit of all lengths of a table: that of its only input; numbers if there are several.
    pub fn of_inputs(inputs: &[Input]) -> Self {
        match inputs {
            [input] => Self::of(input),
            _ => Self::Number,
        }
    }

    /// The periods of the calendar along the input: a day, a week and a year; none along numbers.
    pub fn calendar_periods(self) -> Vec<f64> {
        match self {
            Self::Number => vec![],
            _ => vec![DAY, 7.0 * DAY, Step::Months(12).seconds()],
        }
    }

    /// A length as text.
    pub fn text(self, length: f64) -> String {
        (self.writer())(length)
    }

    /// The function that writes lengths.
    pub fn writer(self) -> fn(f64) -> String {
        match self {
            Self::Number => |length| format!("{length:.4}"),
            Self::Duration => duration_text,
            Self::Months => |length| {
                let months = length / Step::Months(1).seconds();
                match months {
                    12.0.. => counted(months / 12.0, "y"),
                    1.0.. => counted(months, "mo"),
                    _ => duration_text(length),
                }
            },
            Self::BusinessDays => |length| counted(length / Step::BusinessDays(1).seconds(), "B"),
        }
    }
}

fn duration_text(length: f64) -> String {
    Duration::from_seconds(length).map_or_else(|| format!("{length:.4}"), |duration| duration.to_string())
}

/// A number of units with three significant digits.
fn counted(number: f64, unit: &str) -> String {
    let rounded: f64 =
        if number >= 1000.0 { number.round() } else { format!("{number:.2e}").parse().unwrap_or(number) };
    if rounded < 1e6 { format!("{rounded}{unit}") } else { format!("{rounded:e}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_units_of_their_axis() {
        let (month, day) = (Step::Months(1).seconds(), Step::BusinessDays(1).seconds());
        for (unit, length, text) in [
            (LengthUnit::Number, 0.25, "0.2500"),
            (LengthUnit::Duration, 86_400.0, "1d"),
            (LengthUnit::Months, 12.0 * month, "1y"),
            (LengthUnit::Months, 30.0 * month, "2.5y"),
            (LengthUnit::Months, 5.0 / 3.0 * month, "1.67mo"),
            (LengthUnit::Months, 86_400.0, "1d"),
            (LengthUnit::BusinessDays, 5.0 * day, "5B"),
            (LengthUnit::BusinessDays, 12_345.6 * day, "12346B"),
        ] {
            assert_eq!(unit.text(length), text);
        }
    }
}
