//! Attacks on the program: kills, rotation, several writers, full disks, pipes, damaged files, other orders. Nothing may be lost,
//! nothing may be wrong without a message, and no bytes may cause a panic.
//!
//! `cargo test` runs one round with a fixed seed. `CATENA_BREAK_SECONDS` runs rounds for that long, `CATENA_BREAK_SEED` chooses the
//! seed; `cargo xtask audit break` sets both. `CATENA_BREAK_ONLY` chooses the attacks whose names contain it. The counts of all trials are printed. A failure names round and seed.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod chance;
mod damage;
mod disks;
#[allow(dead_code, reason = "shared with the other tests of the program")]
#[path = "../cli/harness.rs"]
mod harness;
mod kills;
mod order;
mod rotation;
mod targets;
mod writers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chance::Chance;
use harness::{Folder, prepared, waves, wide};

/// Number of trials by kind.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub(crate) fn add(&mut self, kind: &'static str, trials: u64) {
        *self.0.entry(kind).or_default() += trials;
    }
}

type Attack = fn(&mut Chance, &mut Counts);

const ATTACKS: &[(&str, Attack)] = &[
    ("kills of verbs that write files", kills::verbs),
    ("kills of watch", kills::watch),
    ("rotation", rotation::run),
    ("several writers", writers::run),
    ("full and read-only disks", disks::run),
    ("pipes, links and devices", targets::run),
    ("damaged models", damage::models),
    ("damaged journals", damage::journals),
    ("damaged tables", damage::tables),
    ("order and threads", order::run),
];

#[test]
fn attacks_find_nothing() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("CATENA_BREAK_SEED").unwrap_or(1);
    let time = number("CATENA_BREAK_SECONDS").map(Duration::from_secs);
    let only = std::env::var("CATENA_BREAK_ONLY").unwrap_or_default();
    let (begin, mut counts, mut round) = (Instant::now(), Counts::default(), 0);
    loop {
        for (name, attack) in ATTACKS.iter().filter(|(name, _)| name.contains(&*only)) {
            // The seed of one attack does not depend on what the others draw.
            let mut chance = Chance::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
            let outcome =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| attack(&mut chance, &mut counts)));
            assert!(outcome.is_ok(), "{name}: failed in round {round} of seed {seed}");
        }
        round += 1;
        if time.is_none_or(|time| begin.elapsed() >= time) {
            break;
        }
        eprintln!("round {round}, {} s: {:?}", begin.elapsed().as_secs(), counts.0);
    }
    eprintln!("seed {seed}, {round} rounds, {} s, nothing found", begin.elapsed().as_secs());
    for (kind, trials) in &counts.0 {
        eprintln!("{trials:>8}  {kind}");
    }
}

/// The number of trials of a round: five times as many in a long run, whose rounds repeat the preparations less often.
fn trials(in_a_test: usize) -> usize {
    if std::env::var_os("CATENA_BREAK_SECONDS").is_some() { 5 * in_a_test } else { in_a_test }
}

/// A folder with `waves.csv`, `new.csv`, `p.json` and the model `m.catena`.
fn with_model(name: &str) -> Folder {
    let folder = prepared(&format!("breaking_{name}"));
    folder.write("new.csv", wide(&waves(100)[72..]));
    folder.run("fit waves.csv --no-learn --parameters p.json -o m.catena").succeeded();
    folder
}

/// Line `number` of a stream: its own second after the table, and two values.
fn row(number: u64) -> (String, [f64; 2]) {
    let (day, second) = (5 + number / 86400, number % 86400);
    let time = format!("2024-03-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let value = |shift: u64| ((number + shift) * 7919 % 1013) as f64 / 1013.0;
    (time, [20.0 + value(3), -3.0 + value(4)])
}

fn csv_line(number: u64) -> String {
    let (time, [temp, salt]) = row(number);
    format!("{time},{temp},{salt}\n")
}

fn json_line(number: u64) -> String {
    let (time, [temp, salt]) = row(number);
    format!("{{\"time\":\"{time}\",\"temp\":{temp:?},\"salt\":{salt:?}}}\n")
}

const HEADER: &str = "time,temp,salt\n";

/// Asserts that a model has the rows of `m.catena` and these, with the predictions of a model made by one `update`.
fn assert_has_rows(folder: &Folder, model: &str, rows: &[u64]) {
    let table: String =
        std::iter::once(HEADER.to_owned()).chain(rows.iter().map(|row| csv_line(*row))).collect();
    folder.write("all.csv", table);
    folder.run("update m.catena all.csv -o expected.catena --quiet").succeeded();
    let of = |model: &str| harness::columns(folder.run(&format!("predict {model}")).succeeded().text());
    let (found, expected) = (of(model), of("expected.catena"));
    let sorted = |times: &[String]| {
        let mut times = times.to_vec();
        times.sort();
        times
    };
    let (times, written) = (sorted(&found["time"]), sorted(&expected["time"]));
    let lost: Vec<&String> = written.iter().filter(|time| !times.contains(time)).collect();
    let invented: Vec<&String> = times.iter().filter(|time| !written.contains(time)).collect();
    assert!(times == written, "lost {lost:?}, invented {invented:?}, {} of {}", times.len(), written.len());
    for name in ["temp_mean", "salt_std"] {
        let by_time = |table: &BTreeMap<String, Vec<String>>| -> BTreeMap<String, f64> {
            table["time"].iter().cloned().zip(harness::numbers(table, name)).collect()
        };
        for ((time, found), (_, expected)) in by_time(&found).into_iter().zip(by_time(&expected)) {
            assert!((found - expected).abs() < 1e-8, "{name} at {time}: {found} instead of {expected}");
        }
    }
}

/// Asserts that a run ended as promised: success, or one sentence with exit code 2 or 3.
fn assert_orderly(code: Option<i32>, errors: &str, what: &str) {
    assert!(matches!(code, Some(0 | 2 | 3)), "{what}: ended with {code:?}: {errors}");
    assert!(!errors.contains("panicked"), "{what}: {errors}");
    assert!(code == Some(0) || errors.contains("catena: "), "{what}: no sentence: {errors}");
}
