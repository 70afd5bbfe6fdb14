//! `reproduce`: numbers beside the paper's, and exit codes that a script can rely on.

use crate::harness::Folder;

#[test]
fn a_check_passes_on_the_papers_numbers_and_fails_on_others() {
    let folder = Folder::new("reproduce");
    let words = "reproduce sensor --quick --seeds 1 -o out --check --json --threads 1";
    let found = folder.run(words).succeeded().json();
    assert_eq!(found["computed"], 4);
    let rows = found["comparisons"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["verdict"] == "agrees")
            && rows.iter().all(|row| row["verdict"] != "misses")
    );
    assert!(folder.read("out/README.md").contains("| `sensor` | 10 | 0 |"));

    // A result that is off in the fourth digit.
    let path = "out/cells/sensor/M2/seed-000.json";
    let kept: serde_json::Value = serde_json::from_str(&folder.read(path)).unwrap();
    let rmse = kept["numbers"]["ss.rmse"].as_f64().unwrap();
    folder.write(path, folder.read(path).replace(&rmse.to_string(), &(1.0001 * rmse).to_string()));
    let failed = folder.run("reproduce sensor --quick --seeds 1 -o out --check");
    assert_eq!(failed.code, 3, "{}", failed.stderr);
    assert!(failed.stderr.contains("1 of 10 numbers miss the paper's"), "{}", failed.stderr);
    assert!(failed.text().contains("M = 2, SS (catena)"), "{}", failed.text());
    // Without --check a miss is a result like any other.
    folder.run("reproduce sensor --quick --seeds 1 -o out").succeeded();
}

#[test]
fn bad_requests_are_one_sentence() {
    let folder = Folder::new("reproduce-bad");
    folder.write("other.csv", "date,HUFL\n");
    folder.write("file", "");
    for (words, piece) in [
        ("reproduce ett -o out", "zhouhaoyi/ETDataset"),
        ("reproduce ett-time -o out", "--ett"),
        ("reproduce ett --ett none.csv -o out", "none.csv"),
        ("reproduce ett --ett other.csv -o out", "sha256"),
        ("reproduce sensor --seeds 0 -o out", "at least 1"),
        ("reproduce sensor --quick --seeds 1 -o file", "file"),
        ("reproduce nothing -o out", "possible values"),
    ] {
        let failed = folder.run(words);
        assert_eq!(failed.code, 2, "{words}: {}", failed.stderr);
        assert!(
            failed.stderr.contains(piece) && failed.stderr.lines().count() == 1,
            "{words}: {}",
            failed.stderr
        );
    }
}
