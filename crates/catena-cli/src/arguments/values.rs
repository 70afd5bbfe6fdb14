//! Parsers of option values; every error names the accepted forms.

use std::fmt;

use catena::kernel::StateKind;
use catena_fit::{KernelPair, StructureOption, TimeSpec};
use catena_io::memory::{bytes_of, bytes_text};
use catena_io::read::Format;
use catena_io::select::LongColumns;
use catena_io::table::{DateOrder, Decimal};
use catena_io::time::{CalendarChoice, Horizon, UnknownCalendar};
use catena_io::units::Duration;

/// A value, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen<T> {
    Automatic,
    Given(T),
}

impl<T: Clone> Chosen<T> {
    /// The value, if one was given.
    pub(crate) fn given(&self) -> Option<T> {
        match self {
            Self::Automatic => None,
            Self::Given(value) => Some(value.clone()),
        }
    }
}

/// A value of `--kernel`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KernelOption {
    /// Kernels of shared and private latents.
    Pair(KernelPair),
    /// A sum of time components, parsed when the unit of the input is known.
    Sum(String),
    /// A time model whose components are selected.
    Time,
}

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Bytes(pub(crate) f64);

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&bytes_text(self.0))
    }
}

fn automatic<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Chosen<T>, String> {
    if text == "auto" { Ok(Chosen::Automatic) } else { parse(text).map(Chosen::Given) }
}

/// `N` or `auto`.
pub(super) fn latents(text: &str) -> Result<Chosen<usize>, String> {
    automatic(text, |text| text.parse().map_err(|_| "write a whole number or auto".to_owned()))
}

/// A time such as `30s`; a number is in seconds.
pub(crate) fn time_limit(text: &str) -> Result<std::time::Duration, String> {
    let seconds = match text.parse::<f64>() {
        Ok(number) => Some(number),
        Err(_) => text.parse().map(Duration::seconds).ok(),
    };
    let limit = seconds.filter(|seconds| *seconds > 0.0);
    limit
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a time such as 30s or 5min".to_owned())
}

/// A kernel, a pair of kernels, a sum of time components, `time` or `auto`.
pub(super) fn kernel(text: &str) -> Result<Chosen<KernelOption>, String> {
    automatic(text, |text| {
        if text == "time" {
            return Ok(KernelOption::Time);
        }
        if TimeSpec::is_meant_by(text) {
            // Whether a period must be a duration or a number depends on the input, which is not known yet.
            let any = |period: &str| match period.parse::<f64>() {
                Ok(number) => Ok(number),
                Err(_) => period.parse().map(Duration::seconds).map_err(|error| error.to_string()),
            };
            TimeSpec::parse(text, &any).map_err(|error| error.to_string())?;
            return Ok(KernelOption::Sum(text.to_owned()));
        }
        let pair = text.parse().map_err(|error: catena_fit::UnknownKernel| error.to_string());
        pair.map(KernelOption::Pair)
    })
}

/// `yes`, `no` or `auto`.
pub(super) fn yes_or_no(text: &str) -> Result<Chosen<bool>, String> {
    automatic(text, |text| match text {
        "yes" | "true" | "True" => Ok(true),
        "no" | "false" | "False" => Ok(false),
        _ => Err("write yes, no or auto".to_owned()),
    })
}

/// `auto`, `chain` or `tree`.
pub(crate) fn one_structure(text: &str) -> Result<StructureOption, String> {
    let structure =
        text.parse().ok().filter(|structure| !matches!(structure, StructureOption::Ensemble { .. }));
    structure.ok_or_else(|| "write auto, chain or tree".to_owned())
}

/// `auto`, `derivative` or `value`.
pub(super) fn state(text: &str) -> Result<Chosen<StateKind>, String> {
    automatic(text, |text| match text {
        "derivative" => Ok(StateKind::Derivative),
        "value" => Ok(StateKind::Value),
        _ => Err("write auto, derivative or value".to_owned()),
    })
}

/// A value of `--long`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LongOption {
    /// The column of groups.
    pub(crate) group: Option<String>,
    pub(crate) columns: LongColumns,
}

/// `TIME,SERIES,VALUE` or `ID,TIME,SERIES,VALUE`.
pub(super) fn long_columns(text: &str) -> Result<LongOption, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    let owned = |names: [&str; 3]| {
        let [time, series, value] = names.map(str::to_owned);
        LongColumns { time, series, value }
    };
    match names[..] {
        _ if names.iter().any(|name| name.is_empty()) => {}
        [time, series, value] => {
            return Ok(LongOption { group: None, columns: owned([time, series, value]) });
        }
        [group, time, series, value] => {
            return Ok(LongOption { group: Some(group.to_owned()), columns: owned([time, series, value]) });
        }
        _ => {}
    }
    Err("write the names of three columns, TIME,SERIES,VALUE, or of four, ID,TIME,SERIES,VALUE".to_owned())
}

/// A format by its name.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    Format::of_name(text).ok_or_else(|| format!("write {}", Format::names()))
}

/// `point` or `comma`, or the sign itself.
pub(super) fn decimal(text: &str) -> Result<Decimal, String> {
    match text {
        "point" | "." => Ok(Decimal::Point),
        "comma" | "," => Ok(Decimal::Comma),
        _ => Err("write point or comma".to_owned()),
    }
}

/// `day-first` or `month-first`.
pub(super) fn date_order(text: &str) -> Result<DateOrder, String> {
    match text {
        "day-first" => Ok(DateOrder::DayFirst),
        "month-first" => Ok(DateOrder::MonthFirst),
        _ => Err("write day-first or month-first".to_owned()),
    }
}

/// How many decimals filled cells have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// As many as their column.
    Column,
    /// All digits.
    Full,
    /// This many decimals.
    Decimals(u8),
}

/// `column`, `full` or a number of decimals.
pub(crate) fn digits(text: &str) -> Result<Digits, String> {
    match text {
        "column" => Ok(Digits::Column),
        "full" => Ok(Digits::Full),
        _ => {
            let decimals = text.parse().ok().filter(|decimals| *decimals <= 17);
            decimals
                .map(Digits::Decimals)
                .ok_or_else(|| "write column, full or a number of decimals".to_owned())
        }
    }
}

/// A probability strictly between 0 and 1.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|value: &f64| *value > 0.0 && *value < 1.0);
    probability.ok_or_else(|| "write a number between 0 and 1, such as 0.95".to_owned())
}

/// An amount of memory such as `3GB` or `500MB`.
pub(super) fn bytes(text: &str) -> Result<Bytes, String> {
    bytes_of(text).map(Bytes).ok_or_else(|| "write a size such as 500MB or 3GB".to_owned())
}

/// A positive finite number.
pub(crate) fn positive(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite())
}

/// A whole number from 1.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "write a whole number from 1".to_owned())
}

/// The name of a column, trimmed.
pub(crate) fn column(text: &str) -> Result<String, String> {
    Ok(text.trim().to_owned())
}

/// A number of steps or a duration.
pub(crate) fn horizon(text: &str) -> Result<Horizon, String> {
    text.parse()
}

/// `auto`, `elapsed`, `month` or `business`.
pub(super) fn calendar(text: &str) -> Result<CalendarChoice, String> {
    text.parse().map_err(|error: UnknownCalendar| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_meaning() {
        assert_eq!(latents("auto"), Ok(Chosen::Automatic));
        assert_eq!(latents("3"), Ok(Chosen::Given(3)));
        assert_eq!(one_structure("tree"), Ok(StructureOption::Tree));
        assert_eq!(bytes("1.5 GB"), Ok(Bytes(1.5e9)));
        assert_eq!(horizon("12"), Ok(Horizon::Steps(12)));
        assert!(matches!(horizon("48h"), Ok(Horizon::Along(along)) if along.seconds() == 172_800.0));
        assert_eq!(calendar("business"), Ok(CalendarChoice::Business));
        let wrong = [
            latents("-1").is_err(),
            kernel("matern99").is_err(),
            kernel("sho+rwx").is_err(),
            kernel("sho+qp(24x)").is_err(),
            yes_or_no("maybe").is_err(),
            state("both").is_err(),
            long_columns("a,b").is_err(),
            long_columns("a,,c").is_err(),
            format("docx").is_err(),
            decimal("dot").is_err(),
            date_order("first").is_err(),
            digits("18").is_err(),
            probability("1").is_err(),
            bytes("many").is_err(),
            horizon("0").is_err(),
            count("0").is_err(),
            horizon("48x").is_err(),
            horizon("6m").is_err(),
            calendar("lunar").is_err(),
            one_structure("ensemble:8").is_err(),
        ];
        assert!(wrong.iter().all(|is_wrong| *is_wrong), "{wrong:?}");
    }
}
