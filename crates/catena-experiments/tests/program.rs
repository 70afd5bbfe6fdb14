//! The program `catena-reproduce`: its result, its messages and its exit codes.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs the program in a folder, with words separated by blanks.
fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_catena-reproduce"));
    command.current_dir(folder).args(words.split_whitespace()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_check_passes_on_the_papers_numbers_and_fails_on_others() {
    let folder = folder("reproduce");
    let output = run(&folder, "sensor --quick --seeds 1 -o out --check --json --threads 1");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["computed"], 4);
    let rows = found["comparisons"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["verdict"] == "agrees")
            && rows.iter().all(|row| row["verdict"] != "misses")
    );
    let readme = fs::read_to_string(folder.join("out/README.md")).unwrap();
    assert!(readme.contains("| `sensor` | 10 | 0 |"));
    assert!(readme.contains("- `catena-reproduce sensor -o DIR --seeds 1 --quick`: version"), "{readme}");

    // A result with an error in the fourth digit.
    let path = folder.join("out/cells/sensor/M2/seed-000.json");
    let text = fs::read_to_string(&path).unwrap();
    let saved: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rmse = saved["numbers"]["ss.rmse"].as_f64().unwrap();
    fs::write(&path, text.replace(&rmse.to_string(), &(1.0001 * rmse).to_string())).unwrap();
    let failed = run(&folder, "sensor --quick --seeds 1 -o out --check");
    assert_eq!(failed.status.code(), Some(3), "{}", errors(&failed));
    assert!(errors(&failed).contains("1 of 10 numbers miss the paper's"), "{}", errors(&failed));
    let text = String::from_utf8(failed.stdout).unwrap();
    assert!(text.contains("M = 2, SS (catena)"), "{text}");
    // Without --check the exit code does not depend on the verdicts.
    assert_eq!(run(&folder, "sensor --quick --seeds 1 -o out").status.code(), Some(0));
}

#[test]
fn bad_requests_are_one_sentence() {
    let folder = folder("reproduce-bad");
    fs::write(folder.join("other.csv"), "date,HUFL\n").unwrap();
    fs::write(folder.join("file"), "").unwrap();
    for (words, piece) in [
        ("ett -o out", "zhouhaoyi/ETDataset"),
        ("ett-time -o out", "--ett"),
        ("ett --ett none.csv -o out", "none.csv"),
        ("ett --ett other.csv -o out", "sha256"),
        ("sensor --seeds 0 -o out", "at least 1"),
        ("sensor --threads 0 -o out", "--threads 0"),
        ("sensor --quick --seeds 1 -o file", "file"),
        ("nothing -o out", "possible values"),
        ("", "catena-reproduce --help"),
    ] {
        let failed = run(&folder, words);
        let sentence = errors(&failed);
        assert_eq!(failed.status.code(), Some(2), "{words}: {sentence}");
        let is_sentence = sentence.starts_with("catena-reproduce: ") && sentence.lines().count() == 1;
        assert!(sentence.contains(piece) && is_sentence, "{words}: {sentence}");
    }
}
