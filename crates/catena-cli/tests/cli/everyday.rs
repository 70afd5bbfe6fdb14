//! Everyday tables: packed and foreign files, cells that stay empty, digits, tables without gaps.

use crate::harness::{Folder, columns, numbers, prepared, waves, wide};

const GIVEN: &str = "--no-learn --parameters p.json";

#[test]
fn everyday_files_are_filled_in_one_line() {
    let folder = prepared("everyday_files");
    let plain = wide(&waves(72));
    folder.run(&format!("impute waves.csv {GIVEN} -o filled.csv")).succeeded();
    let expected = columns(&folder.read("filled.csv"));
    // Day first, decimal comma, semicolons, notes before the header.
    let german: String = plain
        .lines()
        .map(|line| {
            let cells: Vec<String> = line.split(',').map(|cell| cell.replace('.', ",")).collect();
            let time = match cells[0].split(['-', ' ']).collect::<Vec<_>>()[..] {
                [year, month, day, clock] => format!("{day}.{month}.{year} {clock}"),
                _ => cells[0].clone(),
            };
            format!("{time};{}\n", cells[1..].join(";"))
        })
        .collect();
    folder.write("german.csv", format!("Station 7\n\n{german}"));
    // The first days of March show no order, and three decimals may be thousands: the messages name the options.
    let mut words = format!("impute german.csv {GIVEN} -o out.csv");
    for (part, option) in
        [("--dates day-first", " --dates day-first"), ("--decimal comma", " --decimal comma")]
    {
        let refused = folder.run(&words);
        assert!(refused.code == 2 && refused.stderr.contains(part), "{}", refused.stderr);
        words += option;
    }
    let outcome = folder.run(&words).succeeded();
    assert!(outcome.stderr.contains("skipped line 1 to line 2"), "{}", outcome.stderr);
    let filled = folder.read("out.csv");
    let filled = columns(&filled.split_once("\n\n").unwrap().1.replace(',', ".").replace(';', ","));
    assert_eq!(filled["salt"], expected["salt"]);
    assert_eq!(filled["temp"], expected["temp"]);
    // Packed on both ends, with codes for missing values.
    let coded = plain.replace(",,", ",-999,").replace(",\n", ",-999\n");
    folder.write("coded.csv", &coded);
    let outcome = folder.run(&format!("impute coded.csv {GIVEN} -o out.csv")).succeeded();
    assert!(outcome.stderr.contains("warning: temp has the value -999 in"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--missing=-999"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no missing values; it was copied without a fit"), "{}", outcome.stderr);
    folder.run(&format!("impute coded.csv --missing -999 {GIVEN} -o out.csv.gz")).succeeded();
    let packed = std::fs::read(folder.0.join("out.csv.gz")).unwrap();
    assert!(packed.starts_with(b"\x1f\x8b"));
    folder.run(&format!("impute out.csv.gz {GIVEN} -o out.csv")).succeeded();
    assert_eq!(columns(&folder.read("out.csv")), expected);
}

/// A model reads new tables as it read its own.
#[test]
fn a_model_keeps_how_cells_are_written() {
    let folder = prepared("kept_cells");
    let coded = wide(&waves(40)).replace(",,", ",-999,").replace(",\n", ",-999\n");
    folder.write("coded.csv", &coded);
    folder.write("plain.csv", wide(&waves(40)));
    folder.run(&format!("fit coded.csv --missing -999 {GIVEN} -o coded.catena")).succeeded();
    folder.run(&format!("fit plain.csv {GIVEN} -o plain.catena")).succeeded();
    for name in ["coded", "plain"] {
        folder.run(&format!("impute {name}.csv --model {name}.catena -o {name}.filled.csv")).succeeded();
        folder.run(&format!("predict {name}.catena -o {name}.rows.csv")).succeeded();
    }
    assert_eq!(folder.read("coded.filled.csv"), folder.read("plain.filled.csv"));
    assert_eq!(folder.read("coded.rows.csv"), folder.read("plain.rows.csv"));
    // The order of dates, too, where new dates show none.
    let dates = "day,temp\n28/02/2013,1.5\n01/03/2013,2.5\n02/03/2013,1\n03/03/2013,2\n";
    folder.write("dates.csv", dates);
    folder.write("one.json", r#"{"kernel":"matern32","mixing":[[1]],"length_scales":["6h"],"noise":[1]}"#);
    folder.run("fit dates.csv --no-learn --parameters one.json -o dates.catena").succeeded();
    folder.write("next.csv", "day,temp\n04/03/2013,2\n");
    folder.run("update dates.catena next.csv -o dates.catena").succeeded();
    let rows = folder.run("predict dates.catena").succeeded();
    let days = &columns(rows.text())["day"];
    assert_eq!(days[0], "28/02/2013");
    assert_eq!(days[4], "04/03/2013");
}

#[test]
fn long_gaps_and_uncertain_cells_stay_empty() {
    let folder = prepared("limits");
    let run =
        |more: &str| folder.run(&format!("impute waves.csv --std {GIVEN} {more} -o out.csv")).succeeded();
    run("");
    let all = columns(&folder.read("out.csv"));
    let before = columns(&wide(&waves(72)));
    // Four hours of `temp` are missing from 10 on: five hours from value to value. `salt` lacks single hours.
    let outcome = run("--max-gap 4h");
    let filled = columns(&folder.read("out.csv"));
    for row in 0..72 {
        let is_long = before["temp"][row].is_empty();
        assert_eq!(filled["temp"][row], if is_long { String::new() } else { all["temp"][row].clone() });
        assert_eq!(filled["temp_std"][row], "");
        assert_eq!(filled["salt"][row], all["salt"][row]);
    }
    assert!(outcome.stderr.contains("; left 8 empty: 8 in gaps longer than --max-gap"), "{}", outcome.stderr);
    assert!(run("--max-gap 5h").stderr.contains("filled 15 missing values in 2 outputs\n"));
    let deviations = numbers(&all, "temp_std");
    let largest = deviations.iter().copied().filter(|value| !value.is_nan()).fold(0.0, f64::max);
    let limit = 0.999 * largest;
    let outcome = run(&format!("--max-std temp={limit} --json"));
    let n_left = deviations.iter().filter(|value| **value > limit).count();
    assert_eq!(outcome.json()["left_empty"]["max_std"], n_left);
    assert_eq!(outcome.json()["filled"], 15 - n_left);
    let filled = columns(&folder.read("out.csv"));
    for (row, deviation) in deviations.iter().enumerate() {
        assert_eq!(filled["temp"][row].is_empty(), *deviation > limit, "{row}");
    }
    assert!(
        run("--max-std 1e-9").stderr.contains("filled 0 missing values in 2 outputs; left 15 empty: 15 with")
    );
    for (more, parts) in [
        ("--max-gap 4", &["--max-gap", "unit"][..]),
        ("--max-std much", &["--max-std much", "OUTPUT=NUMBER"]),
        ("--max-std tmp=1", &["\"tmp\"", "did you mean temp"]),
        ("--digits many", &["many", "column, full"]),
        ("--decimal dot", &["dot", "point or comma"]),
        ("--dates first", &["first", "day-first"]),
        ("--model m.catena --max-memory 200MB --max-gap 4h", &["--max-gap", "drop --max-memory"]),
    ] {
        folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
        let given = if more.contains("--model") { "" } else { GIVEN };
        let outcome = folder.run(&format!("impute waves.csv {given} {more} -o refused.csv -q"));
        assert_eq!(outcome.code, 2, "{more}: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{more}: {}", outcome.stderr);
        }
    }
    folder.write("plane.csv", "x,y,a\n1,2,3\n2,3,\n3,1,2\n4,4,4\n");
    let outcome = folder.run("impute plane.csv --inputs x,y --max-gap 3 -o refused.csv");
    assert!(outcome.code == 2 && outcome.stderr.contains("one input"), "{}", outcome.stderr);
    assert!(!folder.names().iter().any(|name| name == "refused.csv"));
}

/// In memory and in blocks.
#[test]
fn filled_cells_have_the_digits_of_their_column() {
    let folder = prepared("digits");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    let with = |words: &str| {
        folder.run(&format!("impute waves.csv {words} -o out.csv")).succeeded();
        columns(&folder.read("out.csv"))
    };
    let full = with(&format!("--digits full {GIVEN}"));
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    assert!(full["temp"].iter().map(decimals).max() > Some(10));
    for (words, expected) in [("", 3), ("--digits 1", 1), ("--digits 0", 0)] {
        let in_memory = with(&format!("{words} {GIVEN}"));
        let in_blocks = with(&format!("{words} --model m.catena --max-memory 200MB"));
        assert_eq!(in_memory, in_blocks, "{words}");
        for name in ["temp", "salt"] {
            let is_filled = |row: &usize| decimals(&full[name][*row]) > 3;
            for row in (0..72).filter(is_filled) {
                assert_eq!(decimals(&in_memory[name][row]), expected);
                let (rounded, exact) = (numbers(&in_memory, name)[row], numbers(&full, name)[row]);
                assert!((rounded - exact).abs() <= 0.5001 * 0.1_f64.powi(expected as i32));
            }
        }
    }
    // Binary formats hold all digits.
    folder.run(&format!("impute waves.csv {GIVEN} -o out.parquet")).succeeded();
    folder.run("impute out.parquet -o back.csv").succeeded();
    assert_eq!(numbers(&columns(&folder.read("back.csv")), "temp"), numbers(&full, "temp"));
}

#[test]
fn a_table_without_missing_values_is_copied_at_once() {
    let folder = Folder::new("complete");
    let text = "time,a\n1,2\n2,3.50\n3,4\n";
    folder.write("t.csv", text);
    let outcome = folder.run("impute t.csv --budget thorough --json -o out.csv").succeeded();
    assert_eq!(folder.read("out.csv"), text);
    assert!(outcome.stderr.contains("no missing values; it was copied without a fit"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("learning"), "{}", outcome.stderr);
    assert_eq!(outcome.json()["filled"], 0);
    folder.run("impute t.csv --std -o out.csv").succeeded();
    assert_eq!(folder.read("out.csv"), "time,a,a_std\n1,2,\n2,3.50,\n3,4,\n");
    // One column: rows are counted.
    folder.write("one.csv", "flow\n5\n6\n7\n8\n");
    let outcome = folder.run("impute one.csv -o out.csv").succeeded();
    assert!(
        outcome.stderr.contains("inputs: row (row numbers; no column is left for an input)"),
        "{}",
        outcome.stderr
    );
}
