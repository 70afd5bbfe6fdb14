//! `impute` and `forecast` agree with a dense Gaussian process and leave other cells unchanged.

use crate::dense;
use crate::harness::{Folder, columns, long, numbers, prepared, time_of, waves, wide};

/// The sweep agrees with dense algebra to 1e-9; the file holds all digits.
const TOLERANCE: f64 = 1e-8;

#[test]
fn missing_values_are_filled_as_by_dense_algebra_and_nothing_else_changes() {
    let folder = prepared("impute_dense");
    folder
        .run("impute waves.csv --no-learn --parameters p.json --std --digits full -o filled.csv")
        .succeeded();
    let rows = waves(72);
    let (before, after) = (columns(&wide(&rows)), columns(&folder.read("filled.csv")));
    for (output, name) in ["temp", "salt"].into_iter().enumerate() {
        let (means, deviations) = (numbers(&after, name), numbers(&after, &format!("{name}_std")));
        let mut n_missing = 0;
        for (row, (hour, values)) in rows.iter().enumerate() {
            if values[output].is_nan() {
                let (mean, deviation) = dense::predict(&rows, *hour as f64, output);
                assert!((means[row] - mean).abs() < TOLERANCE, "{name} at {hour}: {} {mean}", means[row]);
                assert!((deviations[row] - deviation).abs() < TOLERANCE, "{name} at {hour}");
                n_missing += 1;
            } else {
                assert_eq!(after[name][row], before[name][row], "an observed cell changed");
                assert!(deviations[row].is_nan());
            }
        }
        assert!(n_missing > 3);
    }
    assert_eq!(after["time"], before["time"]);
    assert_eq!(after["remark"], before["remark"]);
}

#[test]
fn forecasts_begin_one_step_after_the_last_row_and_equal_dense_algebra() {
    let folder = prepared("forecast_dense");
    let words = "forecast waves.csv --no-learn --parameters p.json -o next.csv --horizon";
    folder.run(&format!("{words} 5h --interval 0.9")).succeeded();
    let rows = waves(72);
    let by_duration = folder.read("next.csv");
    let next = columns(&by_duration);
    assert_eq!(next["time"], (72..77).map(time_of).collect::<Vec<_>>());
    for (output, name) in ["temp", "salt"].into_iter().enumerate() {
        for (row, hour) in (72..77).enumerate() {
            let (mean, deviation) = dense::predict(&rows, f64::from(hour), output);
            assert!((numbers(&next, &format!("{name}_mean"))[row] - mean).abs() < TOLERANCE);
            assert!((numbers(&next, &format!("{name}_std"))[row] - deviation).abs() < TOLERANCE);
            // 1.6448536 standard deviations hold 90 %.
            let low = mean - 1.644_853_626_951_47 * deviation;
            assert!((numbers(&next, &format!("{name}_lo"))[row] - low).abs() < 1e-6);
        }
    }
    folder.run(&format!("{words} 5 --interval 0.9")).succeeded();
    assert_eq!(folder.read("next.csv"), by_duration, "five steps are five hours");
    folder.run(&format!("{words} 5h --step 150min")).succeeded();
    assert_eq!(columns(&folder.read("next.csv"))["time"], ["2024-03-04 01:30", "2024-03-04 04:00"]);
}

#[test]
fn a_pipe_gives_the_bytes_a_file_gives() {
    let folder = prepared("pipes");
    folder.run("impute waves.csv --no-learn --parameters p.json -o filled.csv").succeeded();
    let text = wide(&waves(72));
    let words = ["impute", "-", "--no-learn", "--parameters", "p.json"];
    let piped = folder.run_with(&words, text.as_bytes()).succeeded();
    assert_eq!(piped.text(), folder.read("filled.csv"));
    let quiet = folder.run_with(&[&words[..], &["-q"]].concat(), text.as_bytes()).succeeded();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn csv_and_parquet_and_arrow_give_the_same_predictions() {
    let folder = prepared("formats");
    // Only one output is filled, so that the other output still has missing values.
    folder.write(
        "one.json",
        r#"{"kernel": "matern32", "mixing": [[1.5]], "length_scales": ["6h"], "noise": [0.02]}"#,
    );
    let suffixes = ["csv", "parquet", "arrow", "tsv"];
    for suffix in suffixes {
        let words = "impute waves.csv --outputs temp --no-learn --parameters one.json --digits full";
        folder.run(&format!("{words} -o table.{suffix}")).succeeded();
        let words = "fit --no-learn --parameters p.json";
        folder.run(&format!("{words} table.{suffix} -o from_{suffix}.catena")).succeeded();
        folder.run(&format!("predict from_{suffix}.catena -o from_{suffix}.csv")).succeeded();
        assert_eq!(folder.read(&format!("from_{suffix}.csv")), folder.read("from_csv.csv"), "{suffix}");
    }
    assert!(numbers(&columns(&folder.read("table.csv")), "salt").iter().any(|value| value.is_nan()));
    // And back: a Parquet table as text again.
    folder.run("impute table.parquet --no-learn --parameters p.json --digits full -o back.csv").succeeded();
    folder.run("impute table.csv --no-learn --parameters p.json --digits full -o direct.csv").succeeded();
    let (back, direct) = (columns(&folder.read("back.csv")), columns(&folder.read("direct.csv")));
    for name in ["temp", "salt"] {
        assert_eq!(numbers(&back, name), numbers(&direct, name));
    }
    assert_eq!(back["time"], direct["time"]);
}

#[test]
fn long_and_wide_tables_agree() {
    let folder = prepared("long");
    folder.write("long.csv", long(&waves(72)));
    let learn = "--no-learn --parameters p.json";
    folder.run(&format!("impute waves.csv {learn} --digits full -o wide_filled.csv")).succeeded();
    folder
        .run(&format!(
            "impute long.csv --long time,series,value --std {learn} --digits full -o long_filled.csv"
        ))
        .succeeded();
    let (from_wide, from_long) =
        (columns(&folder.read("wide_filled.csv")), columns(&folder.read("long_filled.csv")));
    for row in 0..72 {
        assert_eq!(from_long["value"][2 * row], from_wide["temp"][row]);
        assert_eq!(from_long["value"][2 * row + 1], from_wide["salt"][row]);
    }
    folder
        .run(&format!("forecast long.csv --long time,series,value --horizon 3 {learn} -o next.csv"))
        .succeeded();
    let next = columns(&folder.read("next.csv"));
    assert_eq!(next["series"], ["temp", "salt", "temp", "salt", "temp", "salt"]);
    assert!(next.contains_key("value_mean"));
    folder
        .run(&format!(
            "forecast long.csv --long time,series,value --horizon 3 --paths 2 {learn} -o paths.csv"
        ))
        .succeeded();
    let paths = columns(&folder.read("paths.csv"));
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["path", "series", "time", "value"]);
    assert_eq!(paths["path"].len(), 12);
    // A path of salt stays near salt: the two are not mixed up.
    for (series, value) in paths["series"].iter().zip(numbers(&paths, "value")) {
        assert_eq!(series == "temp", value > 8.0, "{series} {value}");
    }
}

#[test]
fn a_dry_run_tells_the_plan_and_writes_nothing() {
    let folder = prepared("dry_run");
    let before = folder.names();
    for words in [
        "impute waves.csv -o filled.csv",
        "fit waves.csv -o m.catena",
        "fit waves.csv --kernel sho+rw+qp(24h) -o m.catena",
        "compare waves.csv",
        "forecast waves.csv --horizon 3 -o f.csv",
    ] {
        let outcome = folder.run(&format!("{words} --dry-run")).succeeded();
        assert!(
            outcome.stderr.contains("72 rows") && outcome.stderr.contains("memory"),
            "{}",
            outcome.stderr
        );
        let refused = folder.run(&format!("{words} --max-memory 1kB"));
        let named =
            |text: &str| text.split("about ").nth(1).unwrap().split(" of memory").next().unwrap().to_owned();
        assert_eq!(named(&refused.stderr), named(&outcome.stderr), "the plan is of what would be done");
        let json = folder.run(&format!("{words} --dry-run --json")).succeeded().json();
        assert_eq!(json["rows"], 72);
        assert_eq!(json["missing"], 144 - json["observed"].as_u64().unwrap());
    }
    assert_eq!(folder.names(), before);
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    let memory = |words: &str| {
        let plan =
            folder.run(&format!("impute waves.csv {words} --dry-run --json -o filled.csv")).succeeded();
        assert!(plan.json()["seconds"].as_f64().unwrap() < 0.1);
        plan.json()["memory_bytes"].as_f64().unwrap()
    };
    let ratio = memory("--model m.catena") / memory("--no-learn --parameters p.json");
    assert!((0.5..2.0).contains(&ratio), "the same model in a file needs {ratio} times as much");
}

#[test]
fn a_time_limit_ends_learning_and_says_what_was_left_out() {
    let folder = Folder::new("time_limit");
    // Hours as numbers: the dates of `wide` end with their month.
    let lines = waves(60_000).into_iter().map(|(hour, cells)| {
        let cell = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        format!("{hour},{},{}", cell(cells[0]), cell(cells[1]))
    });
    let lines: Vec<String> = std::iter::once("time,temp,salt".to_owned()).chain(lines).collect();
    folder.write("waves.csv", lines.join("\n") + "\n");
    let begin = std::time::Instant::now();
    let words = "impute waves.csv --budget thorough --time-limit 1s -o filled.csv";
    let outcome = folder.run(words).succeeded();
    // Without the limit it takes minutes; other programs may run.
    assert!(begin.elapsed().as_secs_f64() < 10.0, "{:?}", begin.elapsed());
    assert!(outcome.stderr.contains("warning: time limit: "), "{}", outcome.stderr);
    assert_eq!(columns(&folder.read("filled.csv"))["time"].len(), 60_000);
    for wrong in ["soon", "-3s", "0"] {
        let refused = folder.run(&format!("fit waves.csv --time-limit={wrong} -o m.catena"));
        assert!(refused.stderr.contains("write a time such as 30s or 5min"), "{}", refused.stderr);
    }
    let dry = folder.run("fit waves.csv --budget thorough --dry-run --json -o m.catena").succeeded();
    let limited = folder.run("fit waves.csv --budget thorough --time-limit 1s --dry-run --json -o m.catena");
    let seconds = |json: serde_json::Value| json["seconds"].as_f64().unwrap();
    assert!(seconds(limited.succeeded().json()) < seconds(dry.json()));
}

#[test]
fn what_was_decided_is_said() {
    let folder = prepared("decisions");
    let outcome = folder.run("impute waves.csv --no-learn --parameters p.json -o out.csv").succeeded();
    let said = |piece: &str| assert!(outcome.stderr.contains(piece), "{piece}: {}", outcome.stderr);
    said("inputs: time");
    said("outputs: temp, salt");
    said("ignored: remark");
}

#[test]
fn learning_fills_better_than_the_mean_would() {
    let folder = Folder::new("learning");
    let full = waves(150);
    folder.write("waves.csv", wide(&full));
    folder.run("impute waves.csv --budget quick -o filled.csv").succeeded();
    let filled = numbers(&columns(&folder.read("filled.csv")), "temp");
    let (mut error, mut spread, mut n_missing) = (0.0, 0.0, 0.0);
    for (row, (hour, values)) in full.iter().enumerate() {
        if values[0].is_nan() {
            let truth = 20.0 + 1.5 * (*hour as f64 / 5.0).sin();
            error += (filled[row] - truth).powi(2);
            spread += (20.0 - truth).powi(2);
            n_missing += 1.0;
        }
    }
    // Gaps of four hours in a wave of period thirty hours.
    assert!(n_missing > 10.0 && error < 0.04 * spread, "{error} {spread}");
}

#[test]
fn missing_values_of_a_long_table_are_counted_if_they_have_a_line() {
    let folder = Folder::new("long_missing");
    let line = |at: usize| {
        let value = if at == 7 { String::new() } else { (at as f64 / 3.0).sin().to_string() };
        // The second series has no line at all at odd times.
        let other = if at.is_multiple_of(2) { format!("{at},b,{value}\n") } else { String::new() };
        format!("{at},a,{value}\n{other}")
    };
    folder.write("long.csv", format!("t,series,value\n{}", (0..12).map(line).collect::<String>()));
    let outcome = folder.run("impute long.csv --long t,series,value --budget quick -o out.csv").succeeded();
    assert!(outcome.stderr.ends_with("filled 1 missing value in 2 outputs\n"), "{}", outcome.stderr);
}
