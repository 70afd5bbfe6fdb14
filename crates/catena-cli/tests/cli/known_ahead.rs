//! Columns known ahead: later values in the table or in a file, holidays, and what is refused.

use crate::harness::{Folder, columns, numbers};

const N_ROWS: usize = 110;
const N_AHEAD: usize = 7;

/// Numbers without order between −1 and 1.
fn mixed(at: usize, salt: usize) -> f64 {
    ((at * 7919 + salt * 104_729 + at * at * 31) % 1009) as f64 / 504.5 - 1.0
}

/// The date of a day of 2026.
fn date(day: usize) -> String {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut month, mut day) = (0, day);
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("2026-{:02}-{:02}", month + 1, day + 1)
}

fn temperature(day: usize) -> f64 {
    12.0 + 7.0 * mixed(day, 1)
}

fn is_holiday(day: usize) -> bool {
    day % 9 == 4
}

fn load(day: usize) -> f64 {
    80.0 + 2.0 * temperature(day) - if is_holiday(day) { 15.0 } else { 0.0 } + 0.5 * mixed(day, 2)
}

/// Rows with the load where it is known, and the temperature.
fn table(days: std::ops::Range<usize>, with_temperature: bool) -> String {
    let line = |day: usize| {
        let load = if day < N_ROWS { format!("{:.3}", load(day)) } else { String::new() };
        let temperature = if with_temperature { format!(",{:.3}", temperature(day)) } else { String::new() };
        format!("{},{load}{temperature}\n", date(day))
    };
    let head = if with_temperature { "day,load,temperature\n" } else { "day,load\n" };
    format!("{head}{}", days.map(line).collect::<String>())
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("both.csv", table(0..N_ROWS + N_AHEAD, true));
    folder.write("load.csv", table(0..N_ROWS, true));
    let weather = (N_ROWS..N_ROWS + N_AHEAD).map(|day| format!("{},{:.3}\n", date(day), temperature(day)));
    folder.write("weather.csv", format!("day,temperature\n{}", weather.collect::<String>()));
    let holidays = (0..N_ROWS + N_AHEAD).filter(|day| is_holiday(*day)).map(|day| date(day) + "\n");
    folder.write("holidays.csv", format!("date\n{}", holidays.collect::<String>()));
    folder
}

fn error(written: &str) -> f64 {
    let means = numbers(&columns(written), "load_mean");
    assert_eq!(means.len(), N_AHEAD);
    let squares = means.iter().enumerate().map(|(at, mean)| (mean - load(N_ROWS + at)).powi(2));
    (squares.sum::<f64>() / N_AHEAD as f64).sqrt()
}

#[test]
fn later_values_come_from_the_table_or_from_a_file() {
    let folder = folder("known_ahead");
    let words = "--horizon 7d --known temperature --holidays holidays.csv --budget quick";
    let told = folder.run(&format!("forecast both.csv {words} -o one.csv")).succeeded();
    for part in
        ["known columns", "without", "(used)", "effect on load: temperature", "effect on load: holiday"]
    {
        assert!(told.stderr.contains(part), "{part} in {}", told.stderr);
    }
    folder.run(&format!("forecast load.csv {words} --future weather.csv -o two.csv")).succeeded();
    assert_eq!(folder.read("one.csv"), folder.read("two.csv"));
    // The temperature has a part of eight, holidays one of fifteen.
    let found = error(&folder.read("one.csv"));
    assert!(found < 2.0, "{found}");
    let dates = columns(&folder.read("one.csv"));
    assert_eq!(dates["day"], (N_ROWS..N_ROWS + N_AHEAD).map(date).collect::<Vec<_>>());
    folder.run(&format!("forecast both.csv {words} --paths 4 -o paths.csv")).succeeded();
    assert_eq!(columns(&folder.read("paths.csv"))["load"].len(), 4 * N_AHEAD);
}

#[test]
fn what_is_not_known_ahead_is_an_error_with_time_and_column() {
    let folder = folder("not_known_ahead");
    let refused = |words: &str, parts: &[&str]| {
        let told = folder.run(&format!("forecast {words} --budget quick -o next.csv"));
        assert_ne!(told.code, 0, "{words}");
        for part in parts {
            assert!(told.stderr.contains(part), "{part} in {}", told.stderr);
        }
    };
    refused("load.csv --horizon 3d --known temperature", &["2026-04-21", "temperature", "--future FILE"]);
    refused("both.csv --horizon 9d --known temperature", &["2026-04-28", "temperature"]);
    let gap = folder.read("both.csv").replace(&format!(",{:.3}\n", temperature(N_ROWS + 2)), ",\n");
    folder.write("gap.csv", gap);
    refused("gap.csv --horizon 7d --known temperature", &["column temperature has no value at 2026-04-23"]);
    refused(
        "both.csv --horizon 7d --known load --outputs load",
        &["column load is in --outputs and in --known"],
    );
    refused("both.csv --horizon 7d --known load,temperature", &["no column is left to forecast"]);
    refused("both.csv --horizon 7d --known pressure", &["pressure"]);
    folder.write("numbers.csv", "value\n1\n2\n");
    refused("both.csv --horizon 7d --holidays numbers.csv", &["numbers.csv", "no dates"]);
}
