//! `check` finds bad readings, and lists them in the terms of the table.

use crate::harness::{Folder, columns};

/// Numbers between −1 and 1 without pattern.
fn noise(at: usize) -> f64 {
    let mut bits = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A reading of one of two thermometers.
fn reading(row: usize, sensor: usize) -> f64 {
    let weather = 10.0 + 6.0 * (row as f64 / 20.0).sin() + 2.0 * (row as f64 / 3.7).sin();
    weather + sensor as f64 + 0.5 * noise(2 * row + sensor)
}

/// Days and times of rows three hours apart.
fn time(row: usize) -> String {
    format!("2021-{:02}-{:02}T{:02}:00", 1 + row / 8 / 28, 1 + row / 8 % 28, 3 * (row % 8))
}

/// Two thermometers; some readings are changed.
fn table(change: impl Fn(usize, usize, f64) -> f64) -> String {
    let row = |row: usize| {
        let cell = |sensor| format!("{:.3}", change(row, sensor, reading(row, sensor)));
        format!("{},{},{}\n", time(row), cell(0), cell(1))
    };
    format!("time,north,south\n{}", (0..400).map(row).collect::<String>())
}

/// Two spikes, a stretch and a stuck sensor.
fn broken(row: usize, sensor: usize, value: f64) -> f64 {
    match (row, sensor) {
        (100, 0) => value + 25.0,
        (101, 1) => -99.0,
        (200..206, 1) => value + 15.0,
        (300..320, 0) => 12.5,
        _ => value,
    }
}

#[test]
fn findings_name_line_time_and_column_and_what_was_expected() {
    let folder = Folder::new("check_findings");
    folder.write("t.csv", table(broken));
    let found = folder.run("check t.csv --budget quick -o findings.csv").succeeded();
    assert!(
        found.stderr.contains("checked 800 observed cells: 2 spikes, 1 stretch, 1 stuck sensor"),
        "{}",
        found.stderr
    );
    let text = found.text();
    let heading = "where time column kind cells value expected band deviation p-value";
    assert_eq!(text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" "), heading);
    assert_eq!(text.lines().count(), 5, "{text}");
    let csv = columns(&folder.read("findings.csv"));
    let expected = [
        ("line", ["102", "103", "202", "302"].as_slice()),
        ("last_line", &["102", "103", "207", "321"]),
        ("column", &["north", "south", "south", "north"]),
        ("kind", &["spike", "spike", "stretch", "stuck"]),
        ("cells", &["1", "1", "6", "20"]),
    ];
    for (name, expected) in expected {
        assert_eq!(csv[name], expected, "{name} of {text}");
    }
    assert_eq!(csv["time"][0], time(100));
    for (at, truth) in [(0, reading(100, 0)), (1, reading(101, 1))] {
        let number = |name: &str| csv[name][at].parse::<f64>().unwrap();
        assert!((number("expected") - truth).abs() < 1.5, "{text}");
        assert!(number("lower") < number("expected") && number("expected") < number("upper"));
        assert!(number("deviation").abs() > 10.0 && number("p_value") < 1e-6, "{text}");
    }
    // The same in JSON, without the list.
    let json = folder.run("check t.csv --budget quick --json").succeeded().json();
    assert_eq!((&json["cells"], &json["settled"]), (&800.into(), &true.into()));
    assert_eq!(json["findings"].as_array().unwrap().len(), 4);
    assert_eq!(json["findings"][2]["kind"], "stretch");
    let value: f64 = csv["value"][1].parse().unwrap();
    assert_eq!(json["findings"][1]["value"].as_f64().unwrap(), value);
}

#[test]
fn a_table_without_bad_readings_has_no_findings_and_is_no_error() {
    let folder = Folder::new("check_clean");
    folder.write("t.csv", table(|_, _, value| value));
    let found = folder.run("check t.csv --budget quick -o findings.csv").succeeded();
    assert_eq!(found.text(), "");
    assert!(found.stderr.contains("checked 800 observed cells: no findings"), "{}", found.stderr);
    assert_eq!(folder.read("findings.csv").lines().count(), 1);
}

#[test]
fn a_step_of_one_output_against_the_others_is_found() {
    let folder = Folder::new("check_step");
    folder.write(
        "t.csv",
        table(|row, sensor, value| if sensor == 1 && row >= 250 { value + 8.0 } else { value }),
    );
    let found = folder.run("check t.csv --budget quick --json").succeeded().json();
    let steps: Vec<_> =
        found["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == "step").collect();
    // With two outputs each moves against the other.
    assert!((1..=2).contains(&steps.len()), "{found}");
    assert!(steps.iter().all(|step| (240..=262).contains(&step["line"].as_u64().unwrap())), "{found}");
}

#[test]
fn groups_are_checked_as_tables_of_their_own() {
    let folder = Folder::new("check_groups");
    let mut text = "time,station,temp\n".to_owned();
    for row in 0..300 {
        for (sensor, station) in ["a", "b"].into_iter().enumerate() {
            let value = if (row, sensor) == (150, 1) { 60.0 } else { reading(row, sensor) };
            text += &format!("{},{station},{value:.3}\n", time(row));
        }
    }
    folder.write("t.csv", text);
    let found = folder.run("check t.csv --group station --budget quick --json").succeeded().json();
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{found}");
    assert_eq!((&findings[0]["line"], &findings[0]["station"]), (&303.into(), &"b".into()));
}

#[test]
fn months_are_checked_along_their_calendar() {
    let folder = Folder::new("check_months");
    let row = |row: usize| {
        let value = if row == 77 { 90.0 } else { reading(row, 0) };
        format!("{}-{:02}-01,{value:.3}\n", 2000 + row / 12, row % 12 + 1)
    };
    folder.write("t.csv", format!("month,level\n{}", (0..200).map(row).collect::<String>()));
    let found = folder.run("check t.csv --budget quick -o - --quiet").succeeded();
    let csv = columns(found.text());
    assert_eq!((csv["month"][0].as_str(), csv["kind"].len()), ("2006-06-01", 1));
}

#[test]
fn methods_without_exact_conditionals_are_refused_with_a_remedy() {
    let folder = Folder::new("check_refused");
    folder.write("t.csv", table(|_, _, value| value));
    for (option, sentence) in [
        ("--method nngp:8", "check needs method catena or exact; leave the method out"),
        ("--structure ensemble:3", "check needs one chain or tree, not an ensemble; leave the structure out"),
    ] {
        let refused = folder.run(&format!("check t.csv --budget quick {option}"));
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(sentence), "{}", refused.stderr);
    }
}

#[test]
fn impute_clean_fills_what_check_finds_and_says_so() {
    let folder = Folder::new("check_clean_impute");
    let missing = |row: usize, sensor: usize| row % 7 == 3 && sensor == 0;
    let text =
        table(|row, sensor, value| if missing(row, sensor) { f64::NAN } else { broken(row, sensor, value) });
    let text = text.replace("NaN", "");
    folder.write("t.csv", &text);
    let clean = folder.run("impute t.csv --clean --budget quick --std --json -o filled.csv").succeeded();
    assert!(
        clean.stderr.contains("treated as missing and filled (2 spikes, 1 stretch, 1 stuck sensor"),
        "{}",
        clean.stderr
    );
    let json = clean.json();
    let n_replaced = json["cleaned"]["cells"].as_u64().unwrap();
    assert_eq!(json["cleaned"]["findings"].as_array().unwrap().len(), 4);
    assert_eq!(json["filled"].as_u64().unwrap(), n_replaced + 57);
    assert!(
        json["decisions"].to_string().contains("bad readings are treated as missing"),
        "{}",
        json["decisions"]
    );
    let filled = folder.read("filled.csv");
    for (row, (given, line)) in text.lines().zip(filled.lines()).enumerate().skip(1) {
        let (given, found): (Vec<&str>, Vec<&str>) = (given.split(',').collect(), line.split(',').collect());
        for sensor in 0..2 {
            let truth = reading(row - 1, sensor);
            let is_bad = broken(row - 1, sensor, truth) != truth && (row - 1, sensor) != (300, 0);
            if is_bad || missing(row - 1, sensor) {
                let value: f64 = found[1 + sensor].parse().unwrap();
                assert!((value - truth).abs() < 2.5, "line {row}: {line}, {truth}");
                assert!(!found[3 + sensor].is_empty(), "{line}");
            } else if row - 1 < 299 || row - 1 > 321 {
                assert_eq!((given[1 + sensor], found[3 + sensor]), (found[1 + sensor], ""), "{line}");
            }
        }
    }
    // The other readings are those of a table in which the bad ones are missing.
    let refused = folder.run("impute t.csv --clean --model m.catena");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--clean"), "{}", refused.stderr);
    // Nothing to fill but bad readings; a spreadsheet has the same numbers as text.
    folder.write("whole.csv", table(broken));
    folder.run("impute whole.csv --clean --budget quick --digits full -o whole_filled.csv").succeeded();
    folder.run("impute whole.csv --clean --budget quick -o whole_filled.parquet").succeeded();
    folder.run("fit whole_filled.parquet --budget quick -o w.catena").succeeded();
    let value = |line: usize, column: usize| {
        folder.read("whole_filled.csv").lines().nth(line).unwrap().split(',').nth(column).unwrap().to_owned()
    };
    assert!((value(102, 2).parse::<f64>().unwrap() - reading(101, 1)).abs() < 2.0);
    assert_eq!(value(50, 1), format!("{:.3}", reading(49, 0)));
}

#[test]
fn a_stream_tells_how_far_a_new_reading_is_from_the_others() {
    let folder = Folder::new("check_stream");
    folder.write("t.csv", table(|_, _, value| value));
    folder.run("fit t.csv --budget quick -o m.catena").succeeded();
    let lines = format!(
        "time,north,south\n{},{:.3},{:.3}\n{},40,\n{},,\n",
        time(400),
        reading(400, 0),
        reading(400, 1),
        time(401),
        time(402)
    );
    let replies =
        folder.run_with(&["watch", "m.catena", "--deviations", "--quiet"], lines.as_bytes()).succeeded();
    let found = columns(replies.text());
    let number = |name: &str, line: usize| found[name][line].parse::<f64>().unwrap();
    assert!(number("north_deviation", 0).abs() < 4.0 && number("south_deviation", 0).abs() < 4.0);
    assert!(number("north_deviation", 1) > 10.0, "{}", replies.text());
    assert_eq!((found["south_deviation"][1].as_str(), found["north_deviation"][2].as_str()), ("", ""));
}

#[test]
fn the_report_marks_what_the_model_contradicts() {
    let folder = Folder::new("check_report");
    folder.write(
        "t.csv",
        table(|row, sensor, value| if (row, sensor) == (100, 0) { value + 25.0 } else { value }),
    );
    folder.write("clean.csv", table(|_, _, value| value));
    for (name, is_marked) in [("t", true), ("clean", false)] {
        folder.run(&format!("fit {name}.csv --budget quick -o {name}.catena")).succeeded();
        folder.run(&format!("report {name}.catena -o {name}.html")).succeeded();
        let page = folder.read(&format!("{name}.html"));
        assert_eq!(page.contains("1 reading that all others contradict is marked"), is_marked, "{name}");
        assert_eq!(page.contains("\"bad\":"), is_marked, "{name}");
    }
}
