//! Damaged files: a model or journal is refused or gives what was written; a model with a corrected checksum gives numbers or a
//! sentence; a table gives a result or a sentence.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use catena_io::model_file::Digest;

use crate::chance::Chance;
use crate::harness::{Folder, columns, numbers};
use crate::{Counts, assert_orderly, json_line, trials, with_model};

const MODELS: usize = 120;
const JOURNALS: usize = 60;
const TABLES: usize = 60;

/// A run that reads a damaged file may not take longer.
const LONGEST: Duration = Duration::from_secs(120);

struct Ended {
    code: Option<i32>,
    text: String,
    errors: String,
}

/// Runs the program with 4 GB of memory; ends it when it takes too long.
fn run(folder: &Folder, words: &str) -> Ended {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -v 4000000; exec $CATENA {words}")]).current_dir(&folder.0);
    command.env("CATENA", env!("CARGO_BIN_EXE_catena"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    fn pour(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = vec![];
            stream.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let (text, errors) = (pour(child.stdout.take().unwrap()), pour(child.stderr.take().unwrap()));
    let begin = Instant::now();
    let mut nap = 1;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{words}: takes longer than {LONGEST:?}");
        }
        std::thread::sleep(Duration::from_millis(nap));
        nap = (2 * nap).min(20);
    };
    Ended { code: status.code(), text: text.join().unwrap(), errors: errors.join().unwrap() }
}

/// Keeps the file that breaks a promise.
fn keeping<T>(folder: &Folder, name: &str, check: impl FnOnce() -> T) -> T {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
    outcome.unwrap_or_else(|cause| {
        let kept = folder.0.parent().unwrap().join(format!("broken-{name}"));
        let _ = std::fs::copy(folder.0.join(name), &kept);
        eprintln!("the file is kept as {}", kept.display());
        std::panic::resume_unwind(cause)
    })
}

pub(crate) fn models(chance: &mut Chance, counts: &mut Counts) {
    static ORIGINALS: OnceLock<[(Vec<u8>, String); 3]> = OnceLock::new();
    let folder = with_model("models");
    let originals = ORIGINALS.get_or_init(|| originals(&folder));
    for at in 0..trials(MODELS) {
        let (original, rows) = chance.one_of(originals);
        let is_signed = at % 2 == 1;
        let damaged = if is_signed { resigned(chance, original) } else { chance.damaged(original) };
        folder.write("damaged.catena", &damaged);
        keeping(&folder, "damaged.catena", || {
            let ended = run(&folder, "predict damaged.catena");
            assert_orderly(ended.code, &ended.errors, "predict");
            if is_signed {
                if ended.code == Some(0) {
                    assert_numbers(&ended.text);
                }
            } else if damaged != *original {
                assert_ne!(ended.code, Some(0), "a damaged model was opened");
            } else {
                assert_eq!(ended.text, *rows);
            }
        });
        counts.add(if is_signed { "damaged models, signed again" } else { "damaged models" }, 1);
    }
}

/// Models of given parameters, along time and of two inputs, with their predictions.
fn originals(folder: &Folder) -> [(Vec<u8>, String); 3] {
    folder.run("fit waves.csv --kernel sho+rw --budget quick -o time.catena --quiet").succeeded();
    folder.write("plane.csv", plane());
    folder
        .run("fit plane.csv --inputs x,y --method catena --budget quick -o plane.catena --quiet")
        .succeeded();
    ["m.catena", "time.catena", "plane.catena"].map(|name| {
        let rows = folder.run(&format!("predict {name}")).succeeded();
        (std::fs::read(folder.0.join(name)).unwrap(), rows.text().to_owned())
    })
}

fn plane() -> String {
    let row = |at: u32| {
        let (x, y) = (f64::from(at % 9) / 9.0, f64::from((at * 37) % 60) / 60.0);
        format!("{x},{y},{:.4}\n", (3.0 * x).sin() + y)
    };
    std::iter::once("x,y,height\n".to_owned()).chain((0..60).map(row)).collect()
}

/// Every mean is a number and every standard deviation a nonnegative one.
fn assert_numbers(text: &str) {
    let table = columns(text);
    for name in table.keys().filter(|name| name.ends_with("_mean") || name.ends_with("_std")) {
        for value in numbers(&table, name) {
            assert!(value.is_finite() && (!name.ends_with("_std") || value >= 0.0), "{name} is {value}");
        }
    }
}

/// A model with other numbers or another header, whose length and checksum are right.
fn resigned(chance: &mut Chance, original: &[u8]) -> Vec<u8> {
    let lines: Vec<usize> = original
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .take(2)
        .collect();
    let second = std::str::from_utf8(&original[lines[0]..lines[1]]).unwrap();
    let length: usize = second.trim().strip_prefix("header ").unwrap().parse().unwrap();
    let signature = original.len() - "sha256 ".len() - 64 - 1;
    let mut header = original[lines[1]..lines[1] + length].to_vec();
    let mut rest = original[lines[1] + length..signature].to_vec();
    if chance.below(2) == 0 {
        // Numbers of the arrays, which are aligned in the file.
        let shift = (8 - (lines[1] + length) % 8) % 8;
        for _ in 0..=chance.below(2) {
            let number: f64 = *chance.one_of(&[
                -1.0,
                0.0,
                -0.0,
                1e-320,
                1e-300,
                1e150,
                1e300,
                -1e300,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                0.5,
                1e9,
            ]);
            let word = shift + 8 * chance.below(rest.len().saturating_sub(shift) / 8);
            if let Some(bytes) = rest.get_mut(word..word + 8) {
                bytes.copy_from_slice(&number.to_le_bytes());
            }
        }
    } else if chance.below(2) == 0 {
        // Numbers of the header.
        let digits: Vec<usize> = (0..header.len()).filter(|at| header[*at].is_ascii_digit()).collect();
        let at = *chance.one_of(&digits);
        let text = *chance.one_of(&[
            "-1",
            "0",
            "1e300",
            "1e-300",
            "9999999999",
            "-",
            "1.5",
            "null",
            "\"x\"",
            "1e400",
        ]);
        header.splice(at..=at, text.bytes());
    } else {
        header = chance.damaged(&header);
    }
    let mut bytes = original[..lines[0]].to_vec();
    bytes.extend(format!("header {}\n", header.len()).bytes());
    // The arrays begin at a multiple of eight.
    let padding = |length: usize| (8 - length % 8) % 8;
    let old = padding(lines[1] + length);
    bytes.extend(&header);
    bytes.extend(vec![0; padding(bytes.len())]);
    bytes.extend(&rest[old.min(rest.len())..]);
    let digest = Digest::of_reader(bytes.as_slice()).unwrap();
    bytes.extend(format!("sha256 {digest}\n").bytes());
    bytes
}

pub(crate) fn journals(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("journals");
    let lines: String = (1..=30).map(json_line).collect();
    folder.run_with(&["watch", "m.catena", "--format", "json"], lines.as_bytes()).succeeded();
    let original = std::fs::read(folder.0.join("m.catena.journal")).unwrap();
    for _ in 0..trials(JOURNALS) {
        let damaged = chance.damaged(&original);
        folder.write("journal", &damaged);
        keeping(&folder, "journal", || {
            let ended = run(&folder, "watch m.catena --format json --journal journal");
            assert_orderly(ended.code, &ended.errors, "watch");
            if ended.code == Some(0) {
                let after = std::fs::read(folder.0.join("journal")).unwrap();
                let is_new = damaged.len() < 200;
                assert!(original.starts_with(&after) || is_new, "other records than were written");
                let is_said = ended.errors.contains("removed")
                    || damaged == original[..damaged.len().min(original.len())];
                assert!(is_said || is_new, "records were removed without a message: {}", ended.errors);
            } else {
                assert_eq!(
                    std::fs::read(folder.0.join("journal")).unwrap(),
                    damaged,
                    "a refused journal was changed"
                );
            }
        });
        counts.add("damaged journals", 1);
    }
}

pub(crate) fn tables(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("tables");
    folder.run("predict m.catena -o rows.parquet").succeeded();
    folder.run("predict m.catena -o rows.arrow").succeeded();
    let originals = ["new.csv", "rows.parquet", "rows.arrow"];
    for _ in 0..trials(TABLES) {
        let name = *chance.one_of(&originals);
        let damaged = chance.damaged(&std::fs::read(folder.0.join(name)).unwrap());
        let target = format!("damaged.{}", name.rsplit('.').next().unwrap());
        folder.write(&target, &damaged);
        let words = match name {
            "new.csv" => format!("update m.catena {target} -o out.catena"),
            _ => format!("predict m.catena --at {target} -o out.csv"),
        };
        keeping(&folder, &target, || {
            let ended = run(&folder, &words);
            assert_orderly(ended.code, &ended.errors, &words);
        });
        counts.add("damaged tables", 1);
    }
}
