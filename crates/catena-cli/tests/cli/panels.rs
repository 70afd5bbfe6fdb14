//! Tables that people have: stocks, countries by year, pigs by week, airports, economics with ragged edges, exchange rates and raw
//! weather. Each is filled, forecast and reported in one line, with no option or with the one that a message proposes.

use crate::harness::{Folder, columns};

/// Numbers between −1 and 1 without pattern.
fn noise(at: usize) -> f64 {
    let mut bits = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A cell, which is missing now and then.
fn cell(at: usize, value: f64) -> String {
    if at % 13 == 5 { String::new() } else { format!("{value:.3}") }
}

/// The option that the messages of a dry run propose; empty if they propose none.
fn proposed(folder: &Folder, table: &str) -> String {
    let told = folder.run(&format!("impute {table} --dry-run")).succeeded().stderr;
    let option = told.split("pass --group ").nth(1).and_then(|rest| rest.split_whitespace().next());
    option.map_or_else(String::new, |name| format!("--group {}", name.trim_end_matches(';')))
}

/// Fills, forecasts and reports a table with the option that is proposed, and returns that option and the forecast.
fn every_verb(folder: &Folder, table: &str, horizon: &str) -> (String, String) {
    let option = proposed(folder, table);
    let words = format!("{option} --budget quick");
    folder.run(&format!("impute {table} {words} -o filled.csv")).succeeded();
    let (given, filled) = (folder.read(table), folder.read("filled.csv"));
    assert_eq!(given.lines().count(), filled.lines().count());
    assert!(given.contains(",,") || given.contains(",\n"), "{given}");
    assert!(!filled.contains(",,") && !filled.contains(",\n"), "{filled}");
    let ahead = folder.run(&format!("forecast {table} {words} --horizon {horizon}")).succeeded();
    folder.run(&format!("fit {table} {words} -o m.catena")).succeeded();
    folder.run("report m.catena -o page.html").succeeded();
    assert!(folder.read("page.html").len() > 10_000);
    (option, ahead.text().to_owned())
}

#[test]
fn stocks_by_symbol_and_month() {
    let folder = Folder::new("panel_stocks");
    let mut text = "symbol,date,price\n".to_owned();
    for (stock, symbol) in ["MSFT", "AMZN", "IBM", "GOOG", "AAPL"].into_iter().enumerate() {
        let mut level = 3.0 + stock as f64 / 2.0;
        // One began later.
        for month in if stock == 3 { 18 } else { 0 }..40 {
            level += 0.05 * noise(97 * stock + month);
            let date = format!("{}-{:02}-01", 2000 + month / 12, month % 12 + 1);
            text += &format!("{symbol},{date},{}\n", cell(3 * stock + month, level.exp()));
        }
    }
    folder.write("stocks.csv", text);
    let (option, ahead) = every_verb(&folder, "stocks.csv", "2mo");
    assert_eq!(option, "--group symbol");
    let rows: Vec<&str> = ahead.lines().skip(1).map(|line| line.rsplitn(3, ',').nth(2).unwrap()).collect();
    assert_eq!(rows[..3], ["AAPL,2003-05-01", "AAPL,2003-06-01", "AMZN,2003-05-01"]);
    assert_eq!(rows.len(), 10);
    // Forecasts are scored in each group, and none is dropped.
    let given = folder.read("stocks.csv");
    let is_late = |line: &&str| line.contains(",2003-0");
    let (late, early): (Vec<&str>, Vec<&str>) = given.lines().skip(1).partition(is_late);
    folder.write("early.csv", format!("symbol,date,price\n{}\n", early.join("\n")));
    folder.write("late.csv", format!("symbol,date,price\n{}\n", late.join("\n")));
    folder.run("fit early.csv --group symbol --budget quick -o early.catena").succeeded();
    let scored = folder.run("score early.catena late.csv --rolling --horizons 1,2 --json").succeeded().json();
    let targets = scored["targets"].as_array().unwrap();
    for (horizon, targets) in targets.iter().enumerate() {
        let count = |name: &str| targets[name].as_u64().unwrap();
        // Four later rows and the last known one, in each of five groups.
        assert_eq!((count("n_origins"), count("n_without_row")), (25, 0));
        assert_eq!(count("n_beyond"), 5 * (horizon as u64 + 1));
        let found = scored["rolling"][4 * horizon]["n_cells"].as_u64().unwrap_or(0);
        assert!(found > 0 || horizon > 0, "{scored}");
    }
}

#[test]
fn countries_by_year() {
    let folder = Folder::new("panel_countries");
    let mut text = "country,continent,year,lifeExp,gdpPercap\n".to_owned();
    for country in 0..142_usize {
        let (life, wealth) = (45.0 + 10.0 * noise(country), 8.0 + noise(country + 500));
        for step in 0..12_usize {
            let at = 12 * country + step;
            let years = 5.0 * step as f64;
            text += &format!(
                "Land {country},{},{},{},{}\n",
                ["Asia", "Europe", "Africa"][country % 3],
                1952 + 5 * step,
                cell(at, life + (0.3 + 0.1 * noise(country)) * years + noise(at)),
                cell(at + 7, (wealth + 0.01 * years + 0.05 * noise(at + 3)).exp()),
            );
        }
    }
    folder.write("gapminder.csv", text);
    let (option, ahead) = every_verb(&folder, "gapminder.csv", "2");
    assert_eq!(option, "--group country");
    assert!(ahead.starts_with("country,year,lifeExp_mean"), "{ahead}");
    let lines: Vec<&str> = ahead.lines().skip(1).collect();
    assert_eq!(lines.len(), 284);
    assert!(lines[0].starts_with("Land 0,2012,") && lines[1].starts_with("Land 0,2017,"), "{}", lines[0]);
}

#[test]
fn pigs_by_number_and_week() {
    let folder = Folder::new("panel_pigs");
    let mut text = "pig,week,weight\n".to_owned();
    for pig in 0..30_usize {
        for week in 1..10_usize {
            let (start, gain) = (25.0 + 3.0 * noise(pig), 6.0 + noise(pig + 100));
            let weight = start + gain * week as f64 + 0.5 * noise(9 * pig + week);
            text += &format!("{},{week},{}\n", 4601 + pig, cell(9 * pig + week, weight));
        }
    }
    folder.write("pigs.csv", text);
    let (option, ahead) = every_verb(&folder, "pigs.csv", "2");
    assert_eq!(option, "--group pig");
    let first: Vec<&str> = ahead.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[..2], ["4601", "10"]);
    // Pigs grow, and each from where it is.
    let found = columns(&ahead);
    let last = |pig: usize| 25.0 + 3.0 * noise(pig) + 9.0 * (6.0 + noise(pig + 100));
    for pig in 0..30 {
        let mean: f64 = found["weight_mean"][2 * pig].parse().unwrap();
        assert!(mean > last(pig) + 2.0 && mean < last(pig) + 10.0, "{mean} {}", last(pig));
    }
}

#[test]
fn airports_at_the_same_hours() {
    let folder = Folder::new("panel_airports");
    let mut text = "station,time,temp\n".to_owned();
    for hour in 0..96_usize {
        for (station, name) in ["EWR", "JFK", "LGA"].into_iter().enumerate() {
            let day = (std::f64::consts::TAU * hour as f64 / 24.0).sin();
            let temp = 40.0 + station as f64 + 6.0 * day + noise(hour) + 0.2 * noise(3 * hour + station);
            let time = format!("2013-01-{:02} {:02}:00", 1 + hour / 24, hour % 24);
            text += &format!("{name},{time},{}\n", cell(hour + 5 * station, temp));
        }
    }
    folder.write("airports.csv", text);
    let (option, ahead) = every_verb(&folder, "airports.csv", "6h");
    assert_eq!(option, "--group station");
    assert_eq!(ahead.lines().count(), 19);
    // The other proposal.
    let told = folder.run("impute airports.csv --dry-run").succeeded().stderr;
    assert!(told.contains("--wide station"), "{told}");
    folder.run("impute airports.csv --wide station --budget quick -o filled.csv").succeeded();
    // With groups, the fit compares its error with that of regressions on the other stations at the same hours.
    let told =
        folder.run("impute airports.csv --group station --budget quick -o filled.csv").succeeded().stderr;
    assert!(told.contains("--wide instead of --group"), "{told}");
}

#[test]
fn economics_with_ragged_edges() {
    let folder = Folder::new("panel_economics");
    let (mut months, mut quarters) = ("DATE,UNRATE,CPI\n".to_owned(), "quarter,gdp,cons\n".to_owned());
    let mut level = 5.0;
    for at in 0..60_usize {
        level += 0.2 * noise(at);
        // The latest values of one series are not out yet.
        let index = if at > 57 { String::new() } else { cell(at, 100.0 + 0.2 * at as f64 + noise(at + 70)) };
        months += &format!("{}-{:02}-01,{level:.3},{index}\n", 2015 + at / 12, at % 12 + 1);
        quarters += &format!("{}Q{},{},{index}\n", 2000 + at / 4, at % 4 + 1, cell(at + 2, 10.0 * level));
    }
    folder.write("monthly.csv", months);
    folder.write("quarterly.csv", quarters);
    let (option, ahead) = every_verb(&folder, "monthly.csv", "3mo");
    assert_eq!((option.as_str(), &ahead.lines().nth(3).unwrap()[..10]), ("", "2020-03-01"));
    let (option, ahead) = every_verb(&folder, "quarterly.csv", "2Q");
    assert_eq!((option.as_str(), &ahead.lines().nth(2).unwrap()[..6]), ("", "2015Q2"));
}

#[test]
fn exchange_rates_on_business_days() {
    let folder = Folder::new("panel_rates");
    let mut text = "Date,USD,JPY\n".to_owned();
    let mut level = 0.0;
    // 2020-06-01 is a Monday; the last row is Friday, 2020-07-24.
    for day in (0..54_usize).filter(|day| day % 7 < 5) {
        level += 0.01 * noise(day);
        let (month, of_month) = if day < 30 { (6, day + 1) } else { (7, day - 29) };
        let (dollar, yen) = (cell(day, 1.1 + level), cell(day + 4, 120.0 + 10.0 * level));
        text += &format!("2020-{month:02}-{of_month:02},{dollar},{yen}\n");
    }
    folder.write("rates.csv", text);
    let (option, ahead) = every_verb(&folder, "rates.csv", "3");
    let days: Vec<&str> = ahead.lines().skip(1).map(|line| &line[..10]).collect();
    assert_eq!((option.as_str(), days), ("", vec!["2020-07-27", "2020-07-28", "2020-07-29"]));
}

#[test]
fn weather_with_the_parts_of_a_date_in_columns() {
    let folder = Folder::new("panel_weather");
    let mut text = "origin,year,month,day,hour,temp,humid\n".to_owned();
    for (station, name) in ["EWR", "JFK"].into_iter().enumerate() {
        for hour in 0..96_usize {
            let temp =
                40.0 + 6.0 * (std::f64::consts::TAU * hour as f64 / 24.0).sin() + noise(hour + station);
            let (temp, humid) = (cell(hour + station, temp), cell(hour + 6, 60.0 - temp / 3.0 + noise(hour)));
            text += &format!("{name},2013,1,{},{},{temp},{humid}\n", 1 + hour / 24, hour % 24);
        }
    }
    folder.write("weather.csv", text);
    let (option, ahead) = every_verb(&folder, "weather.csv", "3h");
    assert_eq!(option, "--group origin");
    assert!(ahead.starts_with("origin,time,temp_mean"), "{ahead}");
    assert!(ahead.lines().nth(1).unwrap().starts_with("EWR,2013-01-05 00:00"), "{ahead}");
}

/// As in the files of growing pigs and spruce trees: an index without a name, the id after the values, and columns that belong to
/// the id.
#[test]
fn animals_whose_number_is_among_the_values() {
    let folder = Folder::new("panel_animals");
    let mut text = ",Weight,Time,Pig,Litter,Evit\n".to_owned();
    for pig in 0..24_usize {
        for week in 1..13_usize {
            let (start, gain) = (25.0 + 3.0 * noise(pig), 6.0 + noise(pig + 100));
            let at = 12 * pig + week;
            let weight = cell(at, start + gain * week as f64 + 0.5 * noise(at));
            // Pigs are not in the order of their numbers.
            let number = 4601 + (7 * pig) % 24 * 13;
            text += &format!("{at},{weight},{week},{number},{},{}\n", 1 + pig / 3, 1 + pig / 8);
        }
    }
    folder.write("dietox.csv", text);
    let (option, ahead) = every_verb(&folder, "dietox.csv", "2");
    assert_eq!(option, "--group Pig");
    assert!(ahead.starts_with("Pig,Time,Weight_mean,Weight_std\n"), "{ahead}");
    assert!(ahead.lines().nth(1).unwrap().starts_with("4601,13,"), "{ahead}");
    let told = folder.run("impute dietox.csv --dry-run").succeeded().stderr;
    let advice =
        "column Pig has 24 numbers, within each of which Time ascends; pass --group Pig for independent";
    assert!(told.contains(advice), "{told}");
    let told = folder.run("impute dietox.csv --group Pig --dry-run").succeeded().stderr;
    assert!(told.contains("inputs: Time (ascends within each group; there is no column of times)"), "{told}");
    assert!(told.contains("Litter, Evit (one value in each group)"), "{told}");
}

/// Firms are numbers, and years come after them.
#[test]
fn firms_by_number_and_year() {
    let folder = Folder::new("panel_firms");
    for is_by_year in [false, true] {
        let row = |firm: usize, year: usize| {
            let at = 20 * firm + year;
            let (level, wealth) = (100.0 * firm as f64, 5.0 * year as f64 + noise(at));
            format!(
                "{},{},{},{}\n",
                firm + 1,
                1935 + year,
                cell(at, level + wealth),
                cell(at + 3, level - wealth)
            )
        };
        let rows: String = match is_by_year {
            false => (0..10).flat_map(|firm| (0..20).map(move |year| row(firm, year))).collect(),
            true => (0..20).flat_map(|year| (0..10).map(move |firm| row(firm, year))).collect(),
        };
        folder.write("firms.csv", format!("firm,year,inv,value\n{rows}"));
        let (option, ahead) = every_verb(&folder, "firms.csv", "2");
        assert_eq!(option, "--group firm");
        assert!(ahead.starts_with("firm,year,inv_mean"), "{ahead}");
        assert_eq!(ahead.lines().count(), 21);
    }
}

#[test]
fn quarters_in_columns_of_year_and_quarter() {
    let folder = Folder::new("panel_quarters");
    let mut text = "year,quarter,gdp,cpi\n".to_owned();
    let mut level = 5.0;
    for at in 0..60_usize {
        level += 0.2 * noise(at);
        let late = if at > 56 { String::new() } else { cell(at, 10.0 * level) };
        text += &format!(
            "{}.0,{}.0,{late},{}\n",
            1990 + at / 4,
            at % 4 + 1,
            cell(at + 4, level + 0.1 * at as f64)
        );
    }
    folder.write("macro.csv", text);
    let (option, ahead) = every_verb(&folder, "macro.csv", "2Q");
    assert_eq!((option.as_str(), &ahead.lines().nth(2).unwrap()[..6]), ("", "2005Q2"));
}

#[test]
fn columns_of_month_and_day_are_no_groups() {
    let folder = Folder::new("panel_air");
    let mut text = "Wind,Ozone,Month,Day\n".to_owned();
    for at in 0..150_usize {
        let ozone = cell(at, 40.0 + noise(at));
        text += &format!("{},{ozone},{},{}\n", noise(at + 9), 5 + at / 30, at % 30 + 1);
    }
    folder.write("air.csv", text);
    assert_eq!(proposed(&folder, "air.csv"), "");
}

/// Dates with the name of their month are read, and new rows are written like them.
#[test]
fn dates_with_the_name_of_the_month() {
    let folder = Folder::new("panel_month_names");
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let whole = ["January", "February", "March", "April", "May", "June"];
    for (dates, horizon, next) in [
        (
            (0..36).map(|at| format!("{} 1 {}", names[at % 12], 2000 + at / 12)).collect::<Vec<_>>(),
            "1mo",
            "Jan 1 2003",
        ),
        (
            (0..36).map(|at| format!("{}-{}", names[at % 12].to_uppercase(), 2000 + at / 12)).collect(),
            "1mo",
            "JAN-2003",
        ),
        ((0..30).map(|at| format!("{:02} Apr 2021", at + 1)).collect(), "1d", "01 May 2021"),
        ((0..30).map(|at| format!("{} {}, 2021", whole[3], at + 1)).collect(), "1d", "\"May 1, 2021\""),
        ((0..30).map(|at| format!("{}-Nov-2021 06:30", at + 1)).collect(), "1d", "1-Dec-2021 06:30"),
        ((0..30).map(|at| format!("2021-Feb-{:02}", at + 1)).take(28).collect(), "1d", "2021-Mar-01"),
    ] {
        let row = |(at, date): (usize, &String)| format!("\"{date}\",{}\n", cell(at, noise(at)));
        let rows: String = dates.iter().enumerate().map(row).collect();
        folder.write("dates.csv", format!("date,price\n{rows}"));
        let (option, ahead) = every_verb(&folder, "dates.csv", horizon);
        assert_eq!(option, "");
        assert!(ahead.lines().nth(1).unwrap().starts_with(&format!("{next},")), "{next}: {ahead}");
    }
    folder.write("short.csv", "date,a\n03-Jan-20,1\n04-Jan-20,2\n05-Jan-20,3\n");
    let refused = folder.run("fit short.csv -o m.catena");
    assert!(
        refused.code == 2 && refused.stderr.contains("whose year has two digits; write dates as"),
        "{}",
        refused.stderr
    );
}
