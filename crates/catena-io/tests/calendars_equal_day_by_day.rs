//! Months, quarters, years and business days equal a walk from day to day.
//!
//! The walk knows the length of each month and that 1970 began with a Thursday, and it shares no code with the calendar.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena_io::time::{
    Calendar, Grid, Horizon, Instant, MonthDay, Step, Stepping, TimeAxis, TimeShape, TimeStyle, ZoneStyle,
};

const DAY: i128 = 86_400_000_000_000;

/// A day of the walk.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Day {
    /// Days since 1970.
    number: i128,
    year: i32,
    month: u8,
    day: u8,
    /// 0 for Monday.
    weekday: u8,
    is_last: bool,
}

fn length(year: i32, month: u8) -> u8 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// All days from 1890 to 2110, which has three century years: 1900 and 2100 without a leap day, 2000 with one.
fn walk() -> Vec<Day> {
    let n_before: i128 = (1890..1970).map(|year| if length(year, 2) == 29 { 366 } else { 365 }).sum();
    // 29 220 days are 4174 weeks and two days.
    let mut weekday = (3 + 7 * n_before - n_before).rem_euclid(7) as u8;
    let (mut days, mut number) = (vec![], -n_before);
    for year in 1890..=2110 {
        for month in 1..=12 {
            for day in 1..=length(year, month) {
                days.push(Day { number, year, month, day, weekday, is_last: day == length(year, month) });
                number += 1;
                weekday = (weekday + 1) % 7;
            }
        }
    }
    days
}

fn instant(day: &Day) -> Instant {
    Instant::from_nanoseconds(day.number * DAY)
}

fn style() -> TimeStyle {
    TimeStyle { shape: TimeShape::Date, ..TimeStyle::default() }
}

/// The days on which the beginnings of months lie: a day, or the last of a shorter month.
fn on_day(days: &[Day], of_month: u8) -> Vec<Day> {
    let is_on = |day: &&Day| day.day == of_month || (day.is_last && day.day < of_month);
    days.iter().filter(is_on).copied().collect()
}

fn axis(calendar: Calendar, first: &Day) -> TimeAxis {
    let origin_seconds = i64::try_from(first.number * 86_400).unwrap();
    TimeAxis { calendar: Some(calendar), ..TimeAxis::elapsed(origin_seconds, style()) }
}

#[test]
fn the_walk_knows_some_days() {
    let days = walk();
    let find = |year, month, day| {
        days.iter().find(|own| (own.year, own.month, own.day) == (year, month, day)).unwrap()
    };
    assert_eq!((find(1970, 1, 1).number, find(1970, 1, 1).weekday), (0, 3));
    assert_eq!((find(2000, 2, 29).number, find(2000, 2, 29).weekday), (11_016, 1));
    assert_eq!(find(1900, 3, 1).number - find(1900, 2, 28).number, 1);
}

#[test]
fn months_later_are_those_of_the_walk() {
    let days = walk();
    for of_month in [1, 15, 28, 29, 30, 31] {
        let starts = on_day(&days, of_month);
        let day = Some(MonthDay { day: of_month, clock_seconds: 0 });
        for (at, start) in starts.iter().enumerate().step_by(7) {
            for (months, times) in [(1, 1), (1, 13), (3, 1), (12, 2), (12, -1), (1, -2), (7, 5)] {
                let expected = at as i64 + i64::from(months) * times;
                let Some(expected) = usize::try_from(expected).ok().and_then(|at| starts.get(at)) else {
                    continue;
                };
                let found = Step::Months(months).after(instant(start), times, &ZoneStyle::Naive, day);
                assert_eq!(found, Some(instant(expected)), "{start:?} and {times} times {months} months");
            }
        }
    }
}

#[test]
fn business_days_later_are_those_of_the_walk() {
    let days = walk();
    let business: Vec<Day> = days.iter().filter(|day| day.weekday < 5).copied().collect();
    let after = |day: &Day, times| Step::BusinessDays(1).after(instant(day), times, &ZoneStyle::Naive, None);
    for (at, day) in business.iter().enumerate().skip(20).take(20_000) {
        for times in [1, 4, 5, 11, -1, -6] {
            let expected = &business[(at as i64 + times) as usize];
            assert_eq!(after(day, times), Some(instant(expected)), "{day:?} and {times}");
        }
    }
    // A weekend counts as the Friday before it.
    for (at, day) in days.iter().enumerate().skip(7).take(1000).filter(|(_, day)| day.weekday >= 5) {
        let monday = days[at..].iter().find(|day| day.weekday == 0).unwrap();
        assert_eq!(after(day, 1), Some(instant(monday)));
    }
}

#[test]
fn every_month_is_equally_long_on_its_axis() {
    const MONTH: f64 = 365.2425 * 86_400.0 / 12.0;
    let days = walk();
    for of_month in [1, 15, 29, 31] {
        let starts = on_day(&days, of_month);
        let axis = axis(Calendar::Month(MonthDay { day: of_month, clock_seconds: 0 }), &starts[0]);
        for (at, start) in starts.iter().enumerate() {
            let number = axis.number_of(instant(start)).unwrap();
            // Both are whole numbers below 2^53.
            assert_eq!(number, at as f64 * MONTH, "{start:?}");
            assert_eq!(axis.instant_of(number), Some(instant(start)));
        }
        // Days between are in order and equally far apart within a month.
        let mut last = f64::NEG_INFINITY;
        for day in days.iter().skip(31).take(2000) {
            let number = axis.number_of(instant(day)).unwrap();
            assert!(number > last);
            last = number;
            let back = axis.instant_of(number).unwrap().nanoseconds();
            // A double of up to 6e8 seconds resolves 1.2e-7 seconds; instants are rounded to microseconds.
            assert!((back - instant(day).nanoseconds()).abs() <= 1000, "{day:?}");
        }
    }
}

#[test]
fn every_business_day_is_equally_long_on_its_axis() {
    let days = walk();
    let business: Vec<Day> = days.iter().filter(|day| day.weekday < 5).copied().collect();
    let axis = axis(Calendar::Business, &business[0]);
    for (at, day) in business.iter().enumerate() {
        let number = axis.number_of(instant(day)).unwrap();
        assert_eq!(number, at as f64 * (7.0 * 86_400.0) / 5.0, "{day:?}");
        assert_eq!(axis.instant_of(number), Some(instant(day)));
    }
    for day in days.iter().filter(|day| day.weekday >= 5) {
        assert_eq!(axis.number_of(instant(day)), None, "{day:?}");
    }
}

#[test]
fn grids_are_found_and_others_are_not() {
    let days = walk();
    let grid = |days: &[Day]| Grid::of(days.iter().map(instant), &style());
    let months = |days: &[Day]| match grid(days)? {
        Grid { step: Step::Months(months), day: Some(day) } => Some((months, day.day)),
        _ => None,
    };
    for of_month in [1, 15, 29, 30, 31] {
        let starts = on_day(&days, of_month);
        assert_eq!(months(&starts[..40]), Some((1, of_month)));
        let quarters: Vec<Day> = starts[..60].iter().step_by(3).copied().collect();
        let years: Vec<Day> = starts[..120].iter().step_by(12).copied().collect();
        // Each tenth row, in the order of a shuffled table.
        let mut some: Vec<Day> = starts[..200].iter().step_by(10).copied().collect();
        some.reverse();
        assert_eq!(months(&quarters).map(|(step, _)| step), Some(3), "day {of_month}");
        assert_eq!(months(&years).map(|(step, _)| step), Some(12), "day {of_month}");
        assert_eq!(months(&some).map(|(step, _)| step), Some(10), "day {of_month}");
    }
    let business: Vec<Day> = days.iter().filter(|day| day.weekday < 5).copied().collect();
    let step = |days: &[Day]| grid(days).map(|grid| grid.step);
    assert_eq!(step(&business[..15]), Some(Step::BusinessDays(1)));
    // Without holidays, too.
    let worked: Vec<Day> =
        business[..200].iter().enumerate().filter(|(at, _)| at % 9 != 4).map(|(_, day)| *day).collect();
    assert_eq!(step(&worked), Some(Step::BusinessDays(1)));
    assert_eq!(step(&business[..9]), None, "nine days show too little");
    assert_eq!(step(&days[..40]), None, "days");
    let weeks: Vec<Day> = days[..400].iter().step_by(7).copied().collect();
    assert_eq!(step(&weeks), None, "weeks are elapsed time");
    let two = [days[0], days[31]];
    assert_eq!(step(&two), None, "two dates show too little");
    let mixed: Vec<Day> = on_day(&days[..400], 30).into_iter().chain([days[31 + 28 + 30]]).collect();
    assert_eq!(mixed.last().map(|day| day.day), Some(31));
    assert_eq!(step(&mixed), None, "the 30th of some months and the 31st of another");
}

#[test]
fn rows_ahead_stay_on_the_calendar() {
    let days = walk();
    let rows = |days: &[Day], horizon: &str, step: Option<&str>, calendar| -> Result<Vec<String>, String> {
        let origin_seconds = i64::try_from(days[0].number * 86_400).unwrap();
        let axis = TimeAxis { calendar, ..TimeAxis::elapsed(origin_seconds, style()) };
        let values: Vec<f64> = days.iter().map(|day| axis.number_of(instant(day)).unwrap()).collect();
        let horizon: Horizon = horizon.parse()?;
        let step = step.map(|step| step.parse().unwrap());
        let stepping =
            Stepping::new(&axis, &values, Some(86_400.0), step).map_err(|error| error.to_string())?;
        let rows =
            stepping.rows_ahead(*values.last().unwrap(), horizon, 1000).map_err(|error| error.to_string())?;
        Ok(rows.numbers.iter().map(|number| axis.print(*number)).collect())
    };
    let at = |year, month, day| {
        days.iter().position(|own| (own.year, own.month, own.day) == (year, month, day)).unwrap()
    };
    let ends = on_day(&days[at(1998, 1, 1)..=at(1999, 10, 31)], 31);
    let day = Calendar::Month(MonthDay { day: 31, clock_seconds: 0 });
    for calendar in [None, Some(day)] {
        let expected = ["1999-11-30", "1999-12-31", "2000-01-31", "2000-02-29", "2000-03-31", "2000-04-30"];
        assert_eq!(rows(&ends, "6", None, calendar).unwrap(), expected);
        assert_eq!(rows(&ends, "6mo", None, calendar).unwrap(), expected);
        assert_eq!(rows(&ends, "182d", None, calendar).unwrap(), expected);
        assert_eq!(
            rows(&ends, "1y", Some("1Q"), calendar).unwrap(),
            ["2000-01-31", "2000-04-30", "2000-07-31", "2000-10-31"]
        );
        assert!(rows(&ends, "20d", None, calendar).unwrap_err().contains("shorter than one step of 1mo"));
        assert!(rows(&ends, "1000y", None, calendar).unwrap_err().contains("more than 1000 steps"));
    }
    let weekdays: Vec<Day> =
        days[at(2023, 11, 1)..=at(2023, 12, 29)].iter().filter(|day| day.weekday < 5).copied().collect();
    for calendar in [None, Some(Calendar::Business)] {
        let expected = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08"];
        assert_eq!(rows(&weekdays, "6", None, calendar).unwrap(), expected);
        assert_eq!(rows(&weekdays, "10d", None, calendar).unwrap(), expected);
        assert_eq!(rows(&weekdays, "2w", Some("1w"), calendar).unwrap(), ["2024-01-05", "2024-01-12"]);
    }
    assert!(rows(&weekdays, "3", Some("1d"), Some(Calendar::Business)).unwrap_err().contains("weekends"));
    assert_eq!(rows(&weekdays, "1", Some("1d"), None).unwrap(), ["2023-12-30"], "a step that was asked for");
}

#[test]
fn steps_are_read_and_printed() {
    for (text, step, printed) in [
        ("6mo", Step::Months(6), "2Q"),
        ("1 month", Step::Months(1), "1mo"),
        ("1Q", Step::Months(3), "1Q"),
        ("1y", Step::Months(12), "1y"),
        ("0.5y", Step::Months(6), "2Q"),
        ("10B", Step::BusinessDays(10), "10B"),
    ] {
        assert_eq!(text.parse(), Ok(step), "{text}");
        assert_eq!(step.to_string(), printed);
        assert_eq!(printed.parse(), Ok(step));
    }
    for (text, message) in [
        ("6m", "write 6min or 6mo"),
        ("3M", "write 3min or 3mo"),
        ("1.5mo", "not a whole number of months"),
        ("0.5B", "not a whole number of business days"),
        ("-1mo", "not a positive"),
        ("4 fortnights", "write ms, s, min, h, d, w, mo, Q, y or B"),
    ] {
        let error = text.parse::<Step>().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn zones_keep_their_own_midnights() {
    let berlin = ZoneStyle::Named { name: "Europe/Berlin".into(), has_offset: false };
    let style = TimeStyle { zone: berlin.clone(), ..style() };
    // Midnights of the first days of January to May 2024 in Berlin; clocks change on March 31.
    let offsets = [(0, 1), (31, 1), (60, 1), (91, 2), (121, 2)];
    let first = 1_704_067_200_i128;
    let starts: Vec<Instant> = offsets
        .iter()
        .map(|(day, hours)| Instant::from_nanoseconds((first + day * 86_400 - hours * 3600) * 1_000_000_000))
        .collect();
    let grid = Grid::of(starts.iter().copied(), &style).unwrap();
    assert_eq!(grid, Grid { step: Step::Months(1), day: Some(MonthDay::FIRST) });
    for (months, start) in starts.iter().enumerate() {
        assert_eq!(grid.step.after(starts[0], months as i64, &berlin, grid.day), Some(*start));
    }
}
