//! SIGKILL at a random moment: a file is the old one or the new one, and an acknowledged line is in the journal.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::harness::Folder;
use crate::{Counts, json_line, trials, with_model};

/// Every verb that writes a file: name, words, the file.
const VERBS: &[(&str, &str)] = &[
    ("fit waves.csv --no-learn --parameters p.json -o target.catena", "target.catena"),
    ("fit waves.csv --budget quick --threads 1 -o target.catena", "target.catena"),
    (
        "fit waves.csv --no-learn --parameters p.json -o other.catena --parameters-out target.json",
        "target.json",
    ),
    ("update m.catena new.csv -o target.catena", "target.catena"),
    ("impute waves.csv --model m.catena -o target.csv", "target.csv"),
    ("impute waves.csv --model m.catena --max-memory 100MB -o target.csv", "target.csv"),
    ("predict m.catena -o target.csv", "target.csv"),
    ("predict m.catena -o target.parquet", "target.parquet"),
    ("predict m.catena -o target.arrow", "target.arrow"),
    ("forecast waves.csv --no-learn --parameters p.json --horizon 24h -o target.csv", "target.csv"),
    ("report m.catena -o target.html", "target.html"),
    ("chain waves.csv -o target.csv", "target.csv"),
];

const KILLS: usize = 2;

pub(crate) fn verbs(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("kills");
    for (words, target) in VERBS {
        let words: Vec<&str> = words.split(' ').collect();
        let path = folder.0.join(target);
        let begin = Instant::now();
        let whole = folder.run_with(&words, b"").succeeded();
        let (took, new) = (begin.elapsed(), std::fs::read(&path).unwrap());
        drop(whole);
        for _ in 0..trials(KILLS) {
            // A model stays a model, because `update` and `fit` may read what they replace.
            let old = if target.ends_with(".catena") {
                std::fs::read(folder.0.join("m.catena")).unwrap()
            } else {
                b"old".to_vec()
            };
            std::fs::write(&path, &old).unwrap();
            let mut child = folder.command(&words).spawn().unwrap();
            std::thread::sleep(took.mul_f64(1.1 * chance.below(1000) as f64 / 1000.0));
            child.kill().unwrap();
            child.wait().unwrap();
            let found = std::fs::read(&path).unwrap();
            assert!(
                found == old || found == new,
                "{words:?}: {} bytes that are neither old nor new",
                found.len()
            );
            counts.add("kills of verbs that write files", 1);
        }
        std::fs::remove_file(&path).unwrap();
    }
    folder.run("predict m.catena -o target.csv").succeeded();
    let left: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".unfinished")).collect();
    assert!(left.is_empty(), "the next run left {left:?}");
    apply(chance, counts, &folder);
}

/// `watch --apply` writes a journal and a model: never the model alone, and a killed attempt does not block the next.
fn apply(chance: &mut Chance, counts: &mut Counts, folder: &Folder) {
    let lines: String = (1..=20).map(json_line).collect();
    folder.run_with(&["watch", "m.catena", "--format", "json"], lines.as_bytes()).succeeded();
    let words = ["watch", "m.catena", "--apply", "-o", "applied.catena"];
    let begin = Instant::now();
    folder.run_with(&words, b"").succeeded();
    let took = begin.elapsed();
    let read = |name: &str| std::fs::read(folder.0.join(name)).ok();
    let (model, journal) = (read("applied.catena"), read("applied.catena.journal"));
    for _ in 0..trials(KILLS) {
        for name in ["applied.catena", "applied.catena.journal"] {
            let _ = std::fs::remove_file(folder.0.join(name));
        }
        let mut child = folder.command(&words).spawn().unwrap();
        std::thread::sleep(took.mul_f64(1.1 * chance.below(1000) as f64 / 1000.0));
        child.kill().unwrap();
        child.wait().unwrap();
        if read("applied.catena").is_none() {
            folder.run_with(&words, b"").succeeded();
        }
        assert!(read("applied.catena") == model && read("applied.catena.journal") == journal);
        counts.add("kills of verbs that write files", 1);
    }
}

/// Lines from a pipe: what was answered is in the journal, and the journal equals that of one run over all lines.
pub(crate) fn watch(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("watch");
    let words = ["watch", "m.catena", "--format", "json", "--quiet"];
    let mut acknowledged = 0;
    let start = || {
        let mut child = folder.command(&words).spawn().unwrap();
        let (input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        (child, input, output, ready["applied"].as_u64().unwrap())
    };
    for _ in 0..trials(4) {
        let (mut child, mut input, mut output, applied) = start();
        assert!(
            applied >= acknowledged,
            "line {acknowledged} was answered, but the journal ends at {applied}"
        );
        let pour = std::thread::spawn(move || {
            // Ends when the reader is gone.
            (applied + 1..).map(json_line).find(|line| input.write_all(line.as_bytes()).is_err());
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
        std::thread::sleep(Duration::from_micros(chance.below(40_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        pour.join().unwrap();
        acknowledged = listen.join().unwrap().unwrap_or(0).max(acknowledged);
        counts.add("kills of watch", 1);
    }
    let (mut child, input, _, applied) = start();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(applied >= acknowledged);
    let lines: String = (1..=applied).map(json_line).collect();
    let words = ["watch", "m.catena", "--format", "json", "--ask", "none", "--journal", "whole"];
    folder.run_with(&words, lines.as_bytes()).succeeded();
    let read = |name: &str| std::fs::read(folder.0.join(name)).unwrap();
    assert!(read("m.catena.journal") == read("whole"), "a line is missing or was applied twice");
    counts.add("lines answered before kills", acknowledged);
}
