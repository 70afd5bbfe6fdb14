//! Months, quarters, years and business days, from the table to the forecast, the model file and the scores.

use crate::harness::{Folder, columns, numbers};

/// The days of each month of a year that is not a leap year.
const DAYS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A season of twelve months on a slope, with a deterministic wobble.
fn value(month: usize) -> f64 {
    let angle = std::f64::consts::TAU * (month % 12) as f64 / 12.0;
    10.0 + 0.05 * month as f64 + 3.0 * angle.sin() + ((month * 7919) % 101) as f64 / 202.0
}

/// The last day of a month, counted from January 2015.
fn month_end(month: usize) -> String {
    let (year, month) = (2015 + month / 12, month % 12);
    let days = DAYS[month] + usize::from(month == 1 && year % 4 == 0);
    format!("{year}-{:02}-{days}", month + 1)
}

fn table(months: std::ops::Range<usize>, label: impl Fn(usize) -> String) -> String {
    let line = |month| format!("{},{:.3}\n", label(month), value(month));
    format!("date,sales\n{}", months.map(line).collect::<String>())
}

#[test]
fn month_ends_follow_month_ends() {
    let folder = Folder::new("month_ends");
    folder.write("sales.csv", table(0..58, month_end));
    let words = "forecast sales.csv --horizon 6mo --periods 1y --budget quick -o next.csv";
    let told = folder.run(words).succeeded();
    let calendar = "calendar: months of equal length, on the last day of the month";
    assert!(told.stderr.contains(calendar), "{}", told.stderr);
    assert!(
        told.stderr.contains("step: 1mo on the last day of the month (inferred from date)"),
        "{}",
        told.stderr
    );
    let next = columns(&folder.read("next.csv"));
    let expected: Vec<String> = (58..64).map(month_end).collect();
    assert_eq!(expected[3], "2020-02-29");
    assert_eq!(next["date"], expected);
    let mean = numbers(&next, "sales_mean");
    // The season has an amplitude of 3, the wobble of 0.25; half of the season would be a failure.
    for (at, mean) in mean.iter().enumerate() {
        assert!((mean - value(58 + at)).abs() < 1.5, "{at}: {mean} is not {}", value(58 + at));
    }
    folder
        .run("forecast sales.csv --horizon 1y --step 1Q --periods 1y --budget quick -o quarters.csv")
        .succeeded();
    let quarters = columns(&folder.read("quarters.csv"));
    assert_eq!(quarters["date"], ["2020-01-31", "2020-04-30", "2020-07-31", "2020-10-31"]);
}

#[test]
fn labels_are_written_as_they_are_read() {
    let quarter =
        |dash: &'static str| move |month: usize| format!("{}{dash}Q{}", 2015 + month / 4, month % 4 + 1);
    let compact = |month: usize| month_end(month).replace('-', "");
    let month = |month: usize| format!("{}-{:02}", 2015 + month / 12, month % 12 + 1);
    let year = |year: usize| format!("{}", 1950 + year);
    type Label<'a> = &'a dyn Fn(usize) -> String;
    let cases: [(&str, Label<'_>, &str); 5] = [
        ("date", &quarter(""), "4"),
        ("date", &quarter("-"), "1y"),
        ("date", &compact, "4mo"),
        ("date", &month, "4mo"),
        ("year", &year, "4y"),
    ];
    for (at, (name, label, horizon)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("labels_{at}"));
        folder.write("sales.csv", table(0..40, label).replace("date", name));
        let words =
            format!("forecast sales.csv --horizon {horizon} --kernel matern32 --budget quick -o next.csv");
        folder.run(&words).succeeded();
        let expected: Vec<String> = (40..44).map(label).collect();
        assert_eq!(columns(&folder.read("next.csv"))[name], expected);
        // A model keeps the axis and the style, and the stream replies in it.
        folder.run("fit sales.csv --kernel matern32 --budget quick --quiet -o sales.catena").succeeded();
        folder.write("at.csv", format!("{name}\n{}\n{}\n", label(41), label(43)));
        folder.run("predict sales.catena --at at.csv -o at_means.csv").succeeded();
        let (next, at) = (columns(&folder.read("next.csv")), columns(&folder.read("at_means.csv")));
        assert_eq!(at[name], [label(41), label(43)]);
        let (next, at) = (numbers(&next, "sales_mean"), numbers(&at, "sales_mean"));
        for (next, at) in [(next[1], at[0]), (next[3], at[1])] {
            assert!((next - at).abs() < 1e-6 * (1.0 + next.abs()), "{next} {at}");
        }
        let line = format!("{name},sales\n{},1.5\n", label(40));
        let said = folder.run_with(&["watch", "sales.catena", "--journal", "j"], line.as_bytes()).succeeded();
        assert!(said.text().contains(&label(40)), "{}", said.text());
    }
}

/// Weekdays from Monday, 2018-01-01, without a holiday every fourth week.
fn weekdays(weeks: std::ops::Range<usize>) -> String {
    let days = weeks.flat_map(|week| (0..5).map(move |day| (week, day)));
    let date = |week: usize, day: usize| {
        let mut rest = 7 * week + day;
        let mut month = 0;
        while rest >= DAYS[month % 12] {
            rest -= DAYS[month % 12];
            month += 1;
        }
        format!("{}-{:02}-{:02}", 2018 + month / 12, month % 12 + 1, rest + 1)
    };
    let line = |(week, day): (usize, usize)| match (week % 4, day) {
        (3, 2) => String::new(),
        _ => format!(
            "{},{:.3}\n",
            date(week, day),
            [1.0, 2.0, 4.0, 3.0, 1.5][day] + ((week * 37) % 11) as f64 / 50.0
        ),
    };
    format!("date,rate\n{}", days.map(line).collect::<String>())
}

#[test]
fn business_days_have_no_weekend() {
    let folder = Folder::new("business_days");
    folder.write("rates.csv", weekdays(0..20));
    for calendar in ["auto", "business"] {
        let words = format!(
            "forecast rates.csv --calendar {calendar} --horizon 6 --periods 1w --budget quick -o next.csv"
        );
        let told = folder.run(&words).succeeded();
        assert!(told.stderr.contains("step: 1B, Monday to Friday (inferred from date)"), "{}", told.stderr);
        let next = columns(&folder.read("next.csv"));
        let days = ["2018-05-21", "2018-05-22", "2018-05-23", "2018-05-24", "2018-05-25", "2018-05-28"];
        assert_eq!(next["date"], days);
        let mean = numbers(&next, "rate_mean");
        // Wednesdays are highest in every week; a season of seven business days would not know them.
        assert!((1..5).all(|day| day == 2 || mean[day] < mean[2]), "{calendar}: {mean:?}");
    }
    folder.write("bad.csv", weekdays(0..20) + "2018-06-02,1.0\n");
    let told = folder.run("fit bad.csv --calendar business -o bad.catena");
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("line 97, column date: \"2018-06-02\" is at a weekend"), "{}", told.stderr);
}

#[test]
fn rolling_scores_count_steps_and_tell_what_they_leave_out() {
    let folder = Folder::new("rolling_calendar");
    folder.write("rates.csv", weekdays(0..20));
    folder.write("later.csv", weekdays(20..28));
    for calendar in ["elapsed", "business"] {
        folder.run(&format!("fit rates.csv --calendar {calendar} --kernel time --periods 1w --budget quick --quiet -o rates.catena")).succeeded();
        let words = "score rates.catena later.csv --rolling --horizons 1,5,5B,1w,500 --season 5";
        let told = folder.run(&format!("{words} --json")).succeeded();
        let scores = told.json();
        let targets = scores["targets"].as_array().unwrap();
        let count = |at: usize, key: &str| targets[at][key].as_u64().unwrap();
        // 38 rows follow, two of the 40 days are holidays. Origins are the last row of the model and these rows.
        assert_eq!(count(0, "n_origins"), 39, "{calendar}");
        // The day before a holiday has no row one step later; the last origin has none at all.
        assert_eq!((count(0, "n_without_row"), count(0, "n_beyond")), (2, 1), "{calendar}");
        // A week later: two holidays; the four rows of the last week have nothing after them.
        for horizon in 1..4 {
            assert_eq!((count(horizon, "n_without_row"), count(horizon, "n_beyond")), (2, 4), "{calendar}");
        }
        assert_eq!(count(4, "n_beyond"), 39);
        assert!(told.stderr.contains("2 of 39 origins have no row 1 step later"), "{}", told.stderr);
        assert!(told.stderr.contains("warning: no row of the table lies 500 steps after"), "{}", told.stderr);
        let told = folder.run(words).succeeded();
        assert!(told.text().contains("last season            5B"), "{}", told.text());
    }
}

#[test]
fn durations_that_may_be_minutes_or_months_are_refused() {
    let folder = Folder::new("minutes_or_months");
    folder.write("sales.csv", table(0..40, month_end));
    for (words, message) in [
        ("forecast sales.csv --horizon 6m", "write 6min or 6mo"),
        ("forecast sales.csv --horizon 6 --step 1m", "write 1min or 1mo"),
        ("forecast sales.csv --horizon 6 --periods 12m", "write 12min or 12mo"),
        ("forecast sales.csv --horizon 1.5mo", "is not a whole number of months"),
        ("forecast sales.csv --horizon 6 --calendar moon", "write auto, elapsed, month or business"),
        ("forecast sales.csv --horizon 3d", "shorter than one step of 1mo"),
    ] {
        let told = folder.run(words);
        assert_eq!(told.code, 2);
        assert!(told.stderr.contains(message), "{}", told.stderr);
    }
}
