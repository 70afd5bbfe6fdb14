//! `impute --model --max-memory` fills a table in blocks with the results of the table in memory, within the memory limit.

use std::fmt::Write;

use crate::harness::{Folder, columns, numbers};

const PARAMETERS: &str = r#"{"kernel": "matern32",
    "mixing": [[1.2, 0.3], [0.4, 0.9], [-0.5, 0.6], [0.8, -0.2]],
    "length_scales": [12.0, 90.0], "noise": [0.05, 0.02, 0.1, 0.04]}"#;

/// Rows at irregular times with four outputs; three in ten cells are missing, and a fifth of the rows have no values.
fn table(n_rows: usize, time: impl Fn(usize) -> String) -> String {
    let mut text = String::from("t,note,a,b,c,d\n");
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for row in 0..n_rows {
        write!(text, "{},\"row, {row}\"", time(row)).unwrap();
        let is_gap = (2 * n_rows / 5..3 * n_rows / 5).contains(&row);
        for output in 0..4 {
            let wave = (row as f64 / (9.0 + 7.0 * f64::from(output))).sin() + 0.3 * (uniform() - 0.5);
            match is_gap || uniform() < 0.3 {
                true => text.push_str(if output == 2 { ",NA" } else { "," }),
                false => write!(text, ",{wave:.4}").unwrap(),
            }
        }
        text.push('\n');
    }
    text
}

/// Minutes, some of them twice.
fn minute(row: usize) -> String {
    let minute = row - row % 7 / 6;
    format!("2024-01-{:02} {:02}:{:02}", 1 + minute / 1440, minute / 60 % 24, minute % 60)
}

/// A folder with a model of rows like those of `time`.
fn with_model(name: &str, time: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new(name);
    let lengths = if time(0).contains(':') { r#"["12min", "90min"]"# } else { "[12.0, 90.0]" };
    folder.write("p.json", PARAMETERS.replace("[12.0, 90.0]", lengths));
    folder.write("few.csv", table(400, time));
    folder.run("fit few.csv --outputs a,b,c,d --no-learn --parameters p.json -o m.catena").succeeded();
    folder
}

/// Every cell of both files: the same text, or numbers that differ by rounding.
fn assert_same(actual: &str, expected: &str) {
    assert_eq!(actual.lines().count(), expected.lines().count());
    for (line, (mine, other)) in actual.lines().zip(expected.lines()).enumerate() {
        if mine == other {
            continue;
        }
        assert_eq!(mine.split(',').count(), other.split(',').count(), "line {line}: {mine}");
        for (mine, other) in mine.split(',').zip(other.split(',')).filter(|(mine, other)| mine != other) {
            let numbers = mine.parse::<f64>().and_then(|a| other.parse::<f64>().map(|b| (a, b)));
            let (a, b) = numbers.unwrap_or_else(|_| panic!("line {line}: {mine} instead of {other}"));
            assert!((a - b).abs() <= 1e-12, "line {line}: {a} instead of {b}");
        }
    }
}

#[test]
fn blocks_are_filled_as_the_table_in_memory_is() {
    let folder = with_model("blocks_equal", minute);
    folder.write("new.csv", table(6000, minute));
    let words = "impute new.csv --model m.catena --std --interval 0.9 --digits full";
    folder.run(&format!("{words} -o memory.csv")).succeeded();
    let outcome = folder.run(&format!("{words} --max-memory 31MB --json -o blocks.csv")).succeeded();
    let (expected, actual) = (folder.read("memory.csv"), folder.read("blocks.csv"));
    assert_same(&actual, &expected);
    assert!(outcome.json()["blocks"].as_u64().unwrap() >= 3, "{}", outcome.text());
    let filled = columns(&actual.replace("row, ", "row "));
    assert!(numbers(&filled, "a").iter().all(|value| value.is_finite()));
    // Nothing is left beside them.
    assert_eq!(folder.names(), ["blocks.csv", "few.csv", "m.catena", "memory.csv", "new.csv", "p.json"]);
    let plan = folder.run(&format!("{words} --max-memory 31MB --dry-run -o blocks.csv")).succeeded();
    assert!(plan.stderr.contains("blocks of"), "{}", plan.stderr);
}

#[test]
fn tables_that_cannot_be_filled_in_blocks_are_refused() {
    let folder = with_model("blocks_refused", |row| row.to_string());
    let words = "--model m.catena --max-memory 40MB";
    let refused = |data: &str, more: &str, parts: &[&str]| {
        let outcome = folder.run(&format!("impute {data} {words} {more}"));
        assert_eq!(outcome.code, 2, "{data} {more}: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{data} {more}: {}", outcome.stderr);
        }
        assert!(!folder.names().iter().any(|name| name.starts_with("out") || name.starts_with('.')));
    };
    let sorted = table(20_000, |row| row.to_string());
    folder.write("sorted.csv", &sorted);
    folder
        .write("back.csv", table(20_000, |row| if row == 15_000 { "14000".into() } else { row.to_string() }));
    refused("back.csv", "-o out.csv", &["line 15002", "column t", "sort"]);
    let (head, tail) = sorted.split_at(sorted.find("row, 17000").unwrap());
    folder.write(
        "stray.csv",
        format!("{head}{}", tail.replacen("NA,", "warm,", 1).replacen(",,", ",warm,", 1)),
    );
    refused("stray.csv", "-o out.csv", &["stray.csv", "warm"]);
    refused("sorted.csv", "-o out.parquet", &["out.parquet", ".csv"]);
    refused("- --format csv", "-o out.csv", &["standard input"]);
    refused("sorted.csv", "--latents 2 -o out.csv", &["--latents"]);
    folder.write("names.csv", "t,a,b,c\n1,2,3,4\n");
    refused("names.csv", "-o out.csv", &["names.csv", "\"d\""]);
    folder.write("empty.csv", "t,a,b,c,d\n1,,,,\n2,,,,\n");
    refused("empty.csv", "-o out.csv", &["empty.csv"]);
    let outcome = folder.run("impute sorted.csv --model m.catena --max-memory 10MB -o out.csv");
    assert!(outcome.code == 2 && outcome.stderr.contains("--max-memory"), "{}", outcome.stderr);
}

/// Some blocks have no value of an output whose noise is known, and all of them have the model's kind of zone.
#[test]
fn blocks_may_lack_an_output_and_its_noise_but_not_the_zone() {
    let folder = with_model("blocks_noise", minute);
    // No value of `a` in the first four thousand rows.
    let lacking = |text: &str, n_empty: usize, zone: usize| {
        let line = |(at, line): (usize, &str)| {
            if at == 0 {
                return format!("{line},ea,eb,ec,ed\n");
            }
            let (row, cells) = line.split_at(line.rfind('"').unwrap() + 1);
            let mut cells: Vec<&str> = cells.split(',').collect();
            if at <= n_empty {
                cells[1] = "";
            }
            let row = if at <= zone { row.replacen(",", "Z,", 1) } else { row.to_owned() };
            format!("{row}{},0.1,0.1,0.2,0.1\n", cells.join(","))
        };
        text.lines().enumerate().map(line).collect::<String>()
    };
    let words = "--outputs a,b,c,d --noise-columns ea,eb,ec,ed --no-learn --parameters p.json";
    folder.write("noisy.csv", lacking(&table(400, minute), 0, 0));
    folder.run(&format!("fit noisy.csv {words} -o n.catena")).succeeded();
    folder.write("new.csv", lacking(&table(6000, minute), 4000, 0));
    folder.run("impute new.csv --model n.catena -o memory.csv").succeeded();
    let outcome =
        folder.run("impute new.csv --model n.catena --max-memory 31MB --json -o blocks.csv").succeeded();
    assert!(outcome.json()["blocks"].as_u64().unwrap() >= 3, "{}", outcome.text());
    assert_same(&folder.read("blocks.csv"), &folder.read("memory.csv"));
    // The first block alone has a zone.
    folder.write("zones.csv", lacking(&table(6000, minute), 0, 2000));
    for limit in ["", "--max-memory 31MB"] {
        let outcome = folder.run(&format!("impute zones.csv --model n.catena {limit} -o out.csv"));
        assert!(outcome.code == 2 && outcome.stderr.contains("zone"), "{limit}: {}", outcome.stderr);
    }
}

/// The largest memory a run has had, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory(folder: &Folder, words: &str) -> f64 {
    let mut child = folder.command(&words.split_whitespace().collect::<Vec<_>>()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak: f64 = 0.0;
    while child.try_wait().unwrap().is_none() {
        // The system records the peak; it is read once, late enough.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0.0) * 1024.0);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_what_is_allowed() {
    let folder = with_model("blocks_memory", |row| row.to_string());
    folder.write("large.csv", table(300_000, |row| row.to_string()));
    let words = "impute large.csv --model m.catena -q";
    let in_blocks = peak_memory(&folder, &format!("{words} --max-memory 60MB -o blocks.csv"));
    let in_memory = peak_memory(&folder, &format!("{words} -o memory.csv"));
    assert_same(&folder.read("blocks.csv"), &folder.read("memory.csv"));
    assert!(in_blocks <= 60e6, "{in_blocks} bytes in blocks");
    assert!(in_memory > 120e6, "{in_memory} bytes in memory: the table is too small to show anything");
}
