//! Finds the calendar on which a column of times lies: months, quarters, years or business days.

use super::calendar::{DAY, civil_month, civil_of, local_of, weekday};
use super::{Instant, MonthDay, Step, TimeShape, TimeStyle};

/// The calendar step of a column of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Months or business days.
    pub step: Step,
    /// The day of the month, if the step is in months.
    pub day: Option<MonthDay>,
}

/// The fewest different times from which a calendar is inferred; two if they are written as months or quarters.
const FEWEST_MONTHS: usize = 3;
/// The fewest business days from which a calendar is inferred, two weeks.
const FEWEST_DAYS: usize = 10;

impl Grid {
    /// The calendar of times, in any order; `None` if they lie on none.
    ///
    /// - Months: all have the same time of day and the same day of the month (or all are the last day of their month). The step is
    ///   the greatest common divisor of the gaps, so missing rows do not matter.
    /// - Business days: all have the same time of day, none is at a weekend, at least ten days and half of all business days
    ///   between the first and the last are there.
    pub fn of(times: impl Iterator<Item = Instant> + Clone, style: &TimeStyle) -> Option<Self> {
        let local = times.map(|instant| local_of(instant, &style.zone));
        let clock = local.clone().next()??.rem_euclid(DAY);
        if !local.clone().all(|local| local.is_some_and(|local| local.rem_euclid(DAY) == clock)) {
            return None;
        }
        let days = local.flatten().map(|local| local.div_euclid(DAY));
        months_of(days.clone(), clock, style).or_else(|| business_days_of(days))
    }
}

/// The day of the month and the number of days of the month of a day since 1970.
fn day_of_month(day: i128) -> Option<(i8, i8)> {
    let date = civil_of(day * DAY)?.date();
    Some((date.day(), date.days_in_month()))
}

fn months_of(days: impl Iterator<Item = i128> + Clone, clock: i128, style: &TimeStyle) -> Option<Grid> {
    if clock % 1_000_000_000 != 0 {
        return None;
    }
    let day = common_day(days.clone())?;
    let mut months: Vec<i64> = days.filter_map(|day| civil_month(day * DAY)).collect();
    months.sort_unstable();
    months.dedup();
    let fewest = if style.shape == TimeShape::Month { 2 } else { FEWEST_MONTHS };
    if months.len() < fewest {
        return None;
    }
    let step = months.windows(2).map(|pair| pair[1] - pair[0]).fold(0, greatest_common_divisor);
    let clock_seconds = u32::try_from(clock / 1_000_000_000).ok()?;
    Some(Grid { step: Step::Months(u32::try_from(step).ok()?), day: Some(MonthDay { day, clock_seconds }) })
}

/// The day of the month that all days share: 31 if each is the last of its month; a shorter month may have its last day instead.
fn common_day(days: impl Iterator<Item = i128>) -> Option<u8> {
    let (mut shared, mut latest_end) = (None, 0);
    for day in days {
        let (own, last) = day_of_month(day)?;
        if own == last {
            latest_end = latest_end.max(own);
        } else if *shared.get_or_insert(own) != own {
            return None;
        }
    }
    match shared {
        None => Some(31),
        Some(day) => (latest_end <= day).then_some(day as u8),
    }
}

fn greatest_common_divisor(left: i64, right: i64) -> i64 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

fn business_days_of(days: impl Iterator<Item = i128> + Clone) -> Option<Grid> {
    if days.clone().any(|day| weekday(day) >= 5) {
        return None;
    }
    let mut days: Vec<i128> = days.collect();
    days.sort_unstable();
    days.dedup();
    let span = days.last()? - days.first()? + 1;
    let is_dense = 2 * 7 * days.len() as i128 >= 5 * span;
    (days.len() >= FEWEST_DAYS && is_dense).then_some(Grid { step: Step::BusinessDays(1), day: None })
}
