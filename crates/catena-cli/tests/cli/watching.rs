//! `watch`: replies, refusals, and recovery after the process is killed.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use crate::harness::{Folder, columns, numbers, prepared, waves, wide};

/// A folder with a model of two outputs over 72 hours.
fn with_model(name: &str) -> Folder {
    let folder = prepared(name);
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder
}

/// Line `number` of a stream: its own second after the table, and one or two values.
fn observation(number: u64) -> (String, [f64; 2]) {
    let (day, second) = (5 + number / 86400, number % 86400);
    let time = format!("2024-03-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let value = |shift: u64| ((number + shift) * 7919 % 1013) as f64 / 1013.0;
    match number % 3 {
        0 => (time, [20.0 + value(1), f64::NAN]),
        1 => (time, [f64::NAN, -3.0 + value(2)]),
        _ => (time, [20.0 + value(3), -3.0 + value(4)]),
    }
}

fn cell(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value}") }
}

fn csv(numbers: impl Iterator<Item = u64>) -> String {
    let line = |number: u64| {
        let (time, [temp, salt]) = observation(number);
        format!("{time},{},{}\n", cell(temp), cell(salt))
    };
    "time,temp,salt\n".to_owned() + &numbers.map(line).collect::<String>()
}

fn json_line(number: u64) -> String {
    let (time, [temp, salt]) = observation(number);
    let number = |name: &str, value: f64| {
        if value.is_nan() { String::new() } else { format!(",\"{name}\":{value:?}") }
    };
    format!("{{\"time\":\"{time}\"{}{}}}\n", number("temp", temp), number("salt", salt))
}

/// Predictions with all lines appended at once: a sweep over the longer table, without a live posterior.
fn updated(folder: &Folder, n_lines: u64) -> std::collections::BTreeMap<String, Vec<String>> {
    folder.write("all.csv", csv(1..=n_lines));
    folder.run("update m.catena all.csv -o updated.catena").succeeded();
    folder.run("predict updated.catena -o updated.csv").succeeded();
    columns(&folder.read("updated.csv"))
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found} instead of {expected}");
}

#[test]
fn replies_are_what_a_fresh_model_of_the_edited_table_predicts() {
    let folder = with_model("watch_replies");
    // The last line is a query at an hour without values.
    let lines = csv(1..=40) + "2024-03-04 11:30,,\n";
    let replies = folder.run_with(&["watch", "m.catena"], lines.as_bytes()).succeeded();
    let found = columns(replies.text());
    assert_eq!(found["line"].len(), 41);
    assert!(replies.stderr.contains("continue with line 1"), "{}", replies.stderr);
    let table = updated(&folder, 40);
    for name in ["temp_mean", "salt_std"] {
        // The last line is conditioned on all others.
        close(numbers(&found, name)[39], numbers(&table, name)[72 + 39], name);
    }
    folder.write("question.csv", "time\n2024-03-04 11:30\n");
    folder.run("predict updated.catena --at question.csv -o answer.csv").succeeded();
    let answer = columns(&folder.read("answer.csv"));
    for name in ["temp_mean", "temp_std", "salt_mean", "salt_std"] {
        close(numbers(&found, name)[40], numbers(&answer, name)[0], name);
    }
    let last = numbers(&found, "temp_mean")[40];
    folder.run("watch m.catena --apply -o folded.catena").succeeded();
    folder.run("predict folded.catena -o folded.csv").succeeded();
    assert_eq!(folder.read("folded.csv"), folder.read("updated.csv"));
    // The new model continues after line 40, the last observation.
    let next = folder.run_with(&["watch", "folded.catena"], csv(41..=42).as_bytes()).succeeded();
    assert!(next.stderr.contains("continue with line 41"), "{}", next.stderr);
    assert_eq!(columns(next.text())["line"], ["41", "42"]);
    // JSON gives the same results.
    let words = ["watch", "m.catena", "--format", "json", "--journal", "j2"];
    let json: String = (1..=40).map(json_line).collect();
    let json = folder.run_with(&words, (json + "{\"time\":\"2024-03-04 11:30\"}").as_bytes()).succeeded();
    let replies: Vec<serde_json::Value> =
        json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replies[0], serde_json::json!({"ready": true, "applied": 0}));
    assert_eq!(replies.len(), 42);
    close(replies[41]["temp_mean"].as_f64().unwrap(), last, "JSON");
    assert_eq!(replies[41]["time"], "2024-03-04 11:30");
}

#[test]
fn asked_outputs_only() {
    let folder = with_model("watch_asked");
    let lines = b"salt,time,temp\n,2024-03-05 01:00,21\n-3,2024-03-05 02:00,21\n,2024-03-05 03:00,\n\n";
    let run = |words: &str| {
        let _ = std::fs::remove_file(folder.0.join("m.catena.journal"));
        let words: Vec<&str> = words.split_whitespace().collect();
        columns(folder.run_with(&words, lines).succeeded().text())
    };
    let missing = run("watch m.catena --ask missing");
    let is_empty = |name: &str, table: &std::collections::BTreeMap<String, Vec<String>>| {
        table[name].iter().map(String::is_empty).collect::<Vec<_>>()
    };
    assert_eq!(is_empty("temp_mean", &missing), [true, true, false, true]);
    assert_eq!(is_empty("salt_std", &missing), [false, true, false, true]);
    let none = run("watch m.catena --ask none");
    assert_eq!(is_empty("temp_mean", &none), [true, true, false, true]);
    assert_eq!(none["line"], ["1", "2", "3", "4"]);
    let one = run("watch m.catena --outputs salt --without-noise");
    assert_eq!(one.keys().collect::<Vec<_>>(), ["line", "salt_mean", "salt_std", "time"]);
    let bad = folder.run("watch m.catena --outputs slat");
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("did you mean salt?"), "{}", bad.stderr);
}

#[test]
fn lines_that_cannot_be_used_are_skipped_or_stop_it() {
    let folder = with_model("watch_bad");
    let lines = "time,temp\n2024-03-05 01:00,21\n2024-03-05 02:00,inf\n2024-03-05 03:00\n2024-02-30,1\n2024-03-05 04:00,22\n";
    let skipped = folder.run_with(&["watch", "m.catena"], lines.as_bytes()).succeeded();
    let table = columns(skipped.text());
    assert_eq!(table["line"], ["1", "2", "3", "4", "5"]);
    assert_eq!(table["time"], ["2024-03-05 01:00", "", "", "", "2024-03-05 04:00"]);
    for sentence in [
        "standard input: line 2: column temp: \"inf\" is infinite",
        "standard input: line 3: has 1 fields, but the header has 2",
        "standard input: line 4: column time: \"2024-02-30\" is not a valid date",
        "skipped 3 invalid lines",
    ] {
        assert!(skipped.stderr.contains(sentence), "{sentence}: {}", skipped.stderr);
    }
    let words = ["watch", "m.catena", "--on-error", "stop", "--journal", "other"];
    let stopped = folder.run_with(&words, lines.as_bytes());
    assert_eq!((stopped.code, stopped.text().lines().count()), (2, 2), "{}", stopped.stderr);
    // A truncated 21.5.
    let cut = folder.run_with(&["watch", "m.catena", "--journal", "cut"], b"time,temp\n2024-03-05 01:00,2");
    assert!(cut.stderr.contains("line 1: has no line break at its end"), "{}", cut.stderr);
    let header = folder.run_with(&["watch", "m.catena", "--journal", "third"], b"time,tmep\n");
    assert_eq!(header.code, 2);
    assert!(header.stderr.contains("did you mean temp?"), "{}", header.stderr);
}

#[test]
fn journals_belong_to_one_model_and_one_process() {
    let folder = with_model("watch_journals");
    folder.run_with(&["watch", "m.catena"], csv(1..=3).as_bytes()).succeeded();
    folder.write("fewer.csv", wide(&waves(70)));
    folder.run("fit fewer.csv --no-learn --parameters p.json -o n.catena").succeeded();
    let other = folder.run("watch n.catena --journal m.catena.journal");
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("belongs to another model"), "{}", other.stderr);
    let (mut child, input, mut output) = start(&folder, "m.catena");
    ready(&mut output);
    let second = folder.run("watch m.catena");
    assert_eq!(second.code, 2);
    assert!(second.stderr.contains("another process is using this journal"), "{}", second.stderr);
    drop(input);
    assert!(child.wait().unwrap().success());
    // Cut in the middle of the last record.
    let path = folder.0.join("m.catena.journal");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let cut = folder.run_with(&["watch", "m.catena"], b"").succeeded();
    assert!(
        cut.stderr.contains("incomplete last record") && cut.stderr.contains("continue with line 3"),
        "{}",
        cut.stderr
    );
    // Changed in the last record: its line may have been answered.
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let damaged = folder.run_with(&["watch", "m.catena"], b"").succeeded();
    assert!(
        damaged.stderr.contains("may have been answered") && damaged.stderr.contains("continue with line 2"),
        "{}",
        damaged.stderr
    );
}

#[test]
fn a_file_goes_on_where_the_journal_ends() {
    let folder = with_model("watch_file");
    folder.write("lines.csv", csv(1..=5));
    let first = folder.run("watch m.catena --from lines.csv").succeeded();
    assert_eq!(columns(first.text())["line"], ["1", "2", "3", "4", "5"]);
    folder.write("lines.csv", csv(1..=7));
    let second = folder.run("watch m.catena --from lines.csv").succeeded();
    assert_eq!(columns(second.text())["line"], ["6", "7"]);
    // A journal from a pipe, and then a file with the same lines.
    folder.run_with(&["watch", "m.catena", "--journal", "piped"], csv(1..=4).as_bytes()).succeeded();
    folder.write("lines.csv", csv(1..=6));
    let third = folder.run("watch m.catena --from lines.csv --journal piped").succeeded();
    assert!(third.stderr.contains("skipping its first 4 lines"), "{}", third.stderr);
    assert_eq!(columns(third.text())["line"], ["5", "6"]);
    // A file that grows, half a line at a time.
    folder.write("grows.csv", csv(1..=2));
    let words =
        ["watch", "m.catena", "--from", "grows.csv", "--follow", "--journal", "grows", "--format", "csv"];
    let mut child = folder.command(&words).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    (0..3).for_each(|_| assert!(output.read_line(&mut line).unwrap() > 0));
    let mut file = std::fs::OpenOptions::new().append(true).open(folder.0.join("grows.csv")).unwrap();
    file.write_all(b"2024-03-05 01:00,2").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    file.write_all(b"1.5,\n").unwrap();
    line.clear();
    assert!(output.read_line(&mut line).unwrap() > 0);
    let cells: Vec<&str> = line.split(',').collect();
    assert_eq!(cells[..2], ["3", "2024-03-05 01:00"]);
    assert!(cells[2].parse::<f64>().unwrap() > 20.5, "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn start(folder: &Folder, model: &str) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = folder.command(&["watch", model, "--format", "json", "--quiet"]).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, BufReader::new(output))
}

/// How many lines were applied before.
fn ready(output: &mut impl BufRead) -> u64 {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let value: serde_json::Value =
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(value["ready"], true, "{line}");
    value["applied"].as_u64().unwrap()
}

/// Kills the process at random times; each time the client continues after the last line in the journal.
#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_applied_twice() {
    const KILLS: u64 = 100;
    let folder = with_model("watch_killed");
    let (mut acknowledged, mut state) = (0, 12345_u64);
    for _ in 0..KILLS {
        let (mut child, mut input, mut output) = start(&folder, "m.catena");
        let applied = ready(&mut output);
        assert!(
            applied >= acknowledged,
            "line {acknowledged} was acknowledged, but the journal ends at {applied}"
        );
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let wait = std::time::Duration::from_micros((state >> 33) % 60_000);
        let pour = std::thread::spawn(move || {
            // Ends when the reader has closed the pipe.
            for number in applied + 1..applied + 1_000_000 {
                if input.write_all(json_line(number).as_bytes()).is_err() {
                    break;
                }
            }
        });
        let listen = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            // A last reply may be cut in the middle.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            let last =
                whole.lines().last().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            last.and_then(|reply| reply["line"].as_u64())
        });
        std::thread::sleep(wait);
        child.kill().unwrap();
        child.wait().unwrap();
        pour.join().unwrap();
        acknowledged = listen.join().unwrap().unwrap_or(acknowledged).max(acknowledged);
    }
    let (mut child, input, mut output) = start(&folder, "m.catena");
    let applied = ready(&mut output);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(applied >= acknowledged && applied > KILLS, "{applied} {acknowledged}");
    // One run over all lines gives the same journal, byte for byte: no line is missing or applied twice.
    let lines: String = (1..=applied).map(json_line).collect();
    let words = ["watch", "m.catena", "--format", "json", "--ask", "none", "--journal", "whole.journal"];
    folder.run_with(&words, lines.as_bytes()).succeeded();
    let (killed, whole) =
        (std::fs::read(folder.0.join("m.catena.journal")), std::fs::read(folder.0.join("whole.journal")));
    assert!(killed.unwrap() == whole.unwrap(), "the journals differ");
    folder.run("watch m.catena --apply -o killed.catena").succeeded();
    folder.run("predict killed.catena -o killed.csv").succeeded();
    let (found, table) = (columns(&folder.read("killed.csv")), updated(&folder, applied));
    assert_eq!(found["time"], table["time"]);
    for name in ["temp_mean", "temp_std", "salt_mean", "salt_std"] {
        let pairs = numbers(&found, name).into_iter().zip(numbers(&table, name));
        pairs.for_each(|(found, expected)| close(found, expected, name));
    }
}

/// A model with a journal must not be overwritten: its observations would be lost.
#[test]
fn a_model_with_observations_in_its_journal_is_not_replaced() {
    let folder = with_model("watch_kept");
    folder.run_with(&["watch", "m.catena", "--from", "-"], csv(1..=2).as_bytes()).succeeded();
    folder.write("today.csv", csv(3..=4));
    let before = std::fs::read(folder.0.join("m.catena")).unwrap();
    for words in
        ["update m.catena today.csv -o m.catena", "fit waves.csv --no-learn --parameters p.json -o m.catena"]
    {
        let refused = folder.run(words);
        assert_eq!(refused.code, 2, "{words}");
        assert!(
            refused.stderr.contains("m.catena.journal") && refused.stderr.contains("--apply"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(std::fs::read(folder.0.join("m.catena")).unwrap(), before);
    // The advice in the error message works.
    folder.run("watch m.catena --apply -o new.catena").succeeded();
    folder.run("update new.catena today.csv -o newer.catena").succeeded();
    folder.run("predict newer.catena -o rows.csv").succeeded();
    assert_eq!(columns(&folder.read("rows.csv"))["time"].len(), 76);
}

#[test]
fn folding_into_a_bad_path_leaves_nothing_behind() {
    let folder = with_model("watch_fold");
    folder.run_with(&["watch", "m.catena"], csv(1..=2).as_bytes()).succeeded();
    std::fs::create_dir(folder.0.join("place")).unwrap();
    let refused = folder.run("watch m.catena --apply -o place");
    assert_eq!((refused.code, refused.stderr.contains("directory")), (2, true), "{}", refused.stderr);
    assert!(!folder.names().contains(&"place.journal".to_owned()));
    std::fs::remove_dir(folder.0.join("place")).unwrap();
    folder.run("watch m.catena --apply -o place").succeeded();
    // Killed between the journal and its model: the empty journal does not block the next attempt.
    std::fs::remove_file(folder.0.join("place")).unwrap();
    folder.run("watch m.catena --apply -o place").succeeded();
    let blocked = folder.run("watch m.catena --apply -o place");
    assert!(blocked.code == 2 && blocked.stderr.contains("journal already exists"), "{}", blocked.stderr);
}

#[test]
fn lines_have_a_zone_if_the_model_has_one() {
    let folder = with_model("watch_zone");
    let lines = b"time,temp\n2024-03-05T10:00+05:00,20\n";
    let replies = folder.run_with(&["watch", "m.catena"], lines).succeeded();
    assert!(
        replies.stderr.contains("line 1: column time") && replies.stderr.contains("has a zone"),
        "{}",
        replies.stderr
    );
    assert!(replies.stderr.contains("skipped 1 invalid line"), "{}", replies.stderr);
}

/// Values that overflow in the sweep are refused line by line, also when an older journal has them.
#[test]
fn large_values_are_refused_where_they_stand() {
    let folder = with_model("watch_large");
    let value = |value: &str| format!("2024-03-05 02:00,{value},\n");
    for (at, large) in ["1e151", "1e160", "-1e300", "1.7e308"].into_iter().enumerate() {
        for ask in ["row", "none", "missing"] {
            let lines = format!(
                "time,temp,salt\n2024-03-05 01:00,21,\n{}2024-03-05 03:00,22,\n2024-03-05 04:00,,\n",
                value(large)
            );
            let journal = format!("j{at}{ask}");
            let words = ["watch", "m.catena", "--ask", ask, "--journal", &journal];
            let replies = folder.run_with(&words, lines.as_bytes()).succeeded();
            let sentence = "standard input: line 2: column temp: the value";
            assert!(
                replies.stderr.contains(sentence) && replies.stderr.contains("too large for the model"),
                "{}",
                replies.stderr
            );
            let last = numbers(&columns(replies.text()), "temp_mean")[3];
            assert!((20.0..23.0).contains(&last), "{large} {ask}: {last}");
            // At the next start the journal has the two good lines.
            let again = folder.run_with(&["watch", "m.catena", "--journal", &journal], b"").succeeded();
            assert!(again.stderr.contains("2 observations up to line 3"), "{}", again.stderr);
        }
    }
    // A table of new rows has the same limit, and names its own line.
    folder.write("new.csv", format!("time,temp,salt\n2024-03-05 01:00,21,\n{}", value("1e151")));
    let refused = folder.run("update m.catena new.csv -o n.catena");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("new.csv: line 3, column temp: this value is too large"),
        "{}",
        refused.stderr
    );
}

/// A file is recognized by its bytes: another one of its name is read from its start, with a message.
#[test]
fn a_file_that_was_replaced_is_read_from_its_start() {
    let folder = with_model("watch_replaced");
    let watch = "watch m.catena --from log.csv --quiet";
    folder.write("log.csv", csv(1..=5));
    folder.run(watch).succeeded();
    // Longer than before, with other rows: at the old offset there is the middle of a row.
    let other = csv(101..=119).replace("2024-03-05 ", "2024-03-05T");
    folder.write("log.csv", &other);
    let replaced = folder.run(watch).succeeded();
    assert!(
        replaced.stderr.contains("log.csv: is not the file that the journal was written from"),
        "{}",
        replaced.stderr
    );
    assert!(replaced.stderr.contains("its first row is line 6"), "{}", replaced.stderr);
    let found = columns(replaced.text());
    assert_eq!(found["line"], (6..=24).map(|line| line.to_string()).collect::<Vec<_>>());
    assert_eq!(
        found["time"],
        other.lines().skip(1).map(|row| row[..19].replace('T', " ")).collect::<Vec<_>>()
    );
    // The same file again: nothing more to read, and nothing said.
    let same = folder.run(watch).succeeded();
    assert_eq!((same.text().lines().count(), same.stderr.as_str()), (1, ""));
    // Truncated, and then grown with an own header.
    folder.write("log.csv", csv(201..=202));
    let short = folder.run(watch).succeeded();
    assert_eq!(columns(short.text())["line"], ["25", "26"]);
    // Rotated: the rest of the old file comes first, then the new file.
    let mut file = std::fs::OpenOptions::new().append(true).open(folder.0.join("log.csv")).unwrap();
    file.write_all(csv(203..=204).split_once('\n').unwrap().1.as_bytes()).unwrap();
    std::fs::rename(folder.0.join("log.csv"), folder.0.join("log.csv.1")).unwrap();
    folder.write("log.csv", csv(301..=303));
    let rotated = folder.run(watch).succeeded();
    let rows = [203, 204, 301, 302, 303].map(|number| observation(number).0);
    assert_eq!(columns(rotated.text())["time"], rows, "{}", rotated.stderr);
    assert_eq!(columns(rotated.text())["line"], ["27", "28", "29", "30", "31"]);
    assert!(rotated.stderr.contains("log.csv.1"), "{}", rotated.stderr);
    // A last line without a line break that has grown is read again.
    folder.write("log.csv", csv(301..=303) + "2024-03-06 01:00:00,21,");
    assert_eq!(columns(folder.run(watch).succeeded().text())["line"], ["32"]);
    folder.write("log.csv", csv(301..=303) + "2024-03-06 01:00:00,21,-3\n2024-03-06 02:00:00,22,\n");
    let grown = folder.run(watch).succeeded();
    assert!(grown.stderr.contains("line 32 had no line break"), "{}", grown.stderr);
    assert_eq!(columns(grown.text())["time"], ["2024-03-06 01:00", "2024-03-06 02:00"]);
}

/// Rotation under `--follow`: no row is lost, cut or read twice.
#[test]
fn rotation_is_followed() {
    let folder = with_model("watch_rotation");
    folder.write("log.csv", csv(1..=3));
    let words = ["watch", "m.catena", "--from", "log.csv", "--follow"];
    let mut child = folder.command(&words).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let mut next = |number: u64, line: u64| {
        let mut text = String::new();
        assert!(output.read_line(&mut text).unwrap() > 0);
        let cells: Vec<&str> = text.split(',').collect();
        assert_eq!(cells[..2], [line.to_string(), observation(number).0], "{text}");
    };
    let rows = |numbers: std::ops::RangeInclusive<u64>| csv(numbers).split_once('\n').unwrap().1.to_owned();
    let append = |name: &str, text: &str| {
        let mut file = std::fs::OpenOptions::new().append(true).open(folder.0.join(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    (1..=3).for_each(|number| next(number, number));
    // Renamed; the writer goes on in the old file for a while.
    std::fs::rename(folder.0.join("log.csv"), folder.0.join("log.csv.1")).unwrap();
    folder.write("log.csv", "");
    append("log.csv.1", &rows(4..=5));
    (4..=5).for_each(|number| next(number, number));
    append("log.csv", &csv(6..=7));
    (6..=7).for_each(|number| next(number, number));
    // Copied and truncated; the writer appends rows without a header, more than there were.
    std::fs::copy(folder.0.join("log.csv"), folder.0.join("log.csv.2")).unwrap();
    std::fs::OpenOptions::new().write(true).truncate(true).open(folder.0.join("log.csv")).unwrap();
    append("log.csv", &rows(8..=20));
    (8..=20).for_each(|number| next(number, number));
    child.kill().unwrap();
    let errors = child.wait_with_output().unwrap().stderr;
    let errors = String::from_utf8(errors).unwrap();
    assert!(errors.contains("is a new file of this name") && errors.contains("was truncated"), "{errors}");
}
