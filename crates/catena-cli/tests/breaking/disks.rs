//! Disks that are full or read-only, and limits on the size of a file: the old file stays, with one sentence.

use std::process::{Command, Stdio};

use crate::chance::Chance;
use crate::harness::Folder;
use crate::{Counts, assert_orderly, json_line, with_model};

const WRITERS: &[(&str, &str)] = &[
    ("predict m.catena -o disk/target.csv", "target.csv"),
    ("predict m.catena -o disk/target.parquet", "target.parquet"),
    ("impute waves.csv --model m.catena -o disk/target.csv", "target.csv"),
    ("report m.catena -o disk/target.html", "target.html"),
    ("update m.catena new.csv -o disk/target.catena", "target.catena"),
];

fn shell(folder: &Folder, script: &str) -> std::process::Output {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(&folder.0).env("CATENA", env!("CARGO_BIN_EXE_catena"));
    command.stdin(Stdio::null()).output().unwrap()
}

pub(crate) fn run(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("disks");
    std::fs::create_dir(folder.0.join("disk")).unwrap();
    for (words, target) in WRITERS {
        let path = folder.0.join("disk").join(target);
        folder.run(words).succeeded();
        let new = std::fs::read(&path).unwrap();
        std::fs::write(&path, b"old").unwrap();
        // In bash the unit is 1024 bytes. Ignored, the signal becomes an error; otherwise it kills.
        let blocks = chance.below(new.len() / 1024 + 2);
        let trap = *chance.one_of(&["trap '' XFSZ;", ""]);
        let output = shell(&folder, &format!("{trap} ulimit -f {blocks}; exec $CATENA {words}"));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if !trap.is_empty() {
            assert_orderly(output.status.code(), &errors, words);
        }
        let found = std::fs::read(&path).unwrap();
        let expected: &[u8] = if output.status.success() { &new } else { b"old" };
        assert!(found == expected, "{words} with {blocks} blocks: {errors}");
        counts.add("limits on the size of a file", 1);
        mounted(chance, counts, &folder, (words, target, new.len()));
        std::fs::remove_file(&path).unwrap();
    }
    journal(chance, counts, &folder);
}

/// The same on a small disk of its own, full and then read-only, where this process may mount one.
fn mounted(
    chance: &mut Chance,
    counts: &mut Counts,
    folder: &Folder,
    (words, target, length): (&str, &str, usize),
) {
    let kilobytes = 4 + 4 * chance.below(length / 4096 + 1);
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k tmpfs disk || exit 77; printf old > disk/{target}; $CATENA {words}; code=$?; \
         cat disk/{target} > after; ls -A disk > names; mount -o remount,ro disk; $CATENA {words}; echo $? > second; \
         cmp disk/{target} after || exit 78; exit $code"
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "bash", "-c", &script]).current_dir(&folder.0);
    let output = command.env("CATENA", env!("CARGO_BIN_EXE_catena")).stdin(Stdio::null()).output();
    let Ok(output) = output else { return };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if errors.contains("unshare failed") || output.status.code() == Some(77) {
        return;
    }
    assert_orderly(output.status.code(), &errors, words);
    let after = std::fs::read(folder.0.join("after")).unwrap();
    assert_eq!(after == b"old", output.status.code() != Some(0), "{words} on {kilobytes} kB: {errors}");
    assert_eq!(folder.read("names").trim(), target, "{words}: something is left on the disk");
    assert_eq!(folder.read("second").trim(), "2", "{words} on a read-only disk: {errors}");
    counts.add("full and read-only disks", 2);
}

/// A journal that cannot grow: lines without a record have no reply.
fn journal(chance: &mut Chance, counts: &mut Counts, folder: &Folder) {
    let lines: String = (1..=400).map(json_line).collect();
    folder.write("lines.json", lines);
    let blocks = 1 + chance.below(20);
    let words = "watch m.catena --from lines.json --journal disk/journal";
    let output =
        shell(folder, &format!("trap '' XFSZ; ulimit -f {blocks}; $CATENA {words} > /dev/null 2> errors"));
    drop(output);
    let limited = shell(
        folder,
        &format!("rm -f disk/journal; trap '' XFSZ; ulimit -f {blocks}; $CATENA {words} | cat > replies"),
    );
    drop(limited);
    let answered = folder.read("replies").lines().filter(|line| line.starts_with("{\"line\"")).count();
    let again = folder.run(&format!("{words} --ask none")).succeeded();
    let first = again.text().lines().next().unwrap_or_default().to_owned();
    let ready: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert!(ready["applied"].as_u64().unwrap() >= answered as u64, "{answered} lines were answered: {first}");
    assert_eq!(again.text().lines().count() as u64, 401 - ready["applied"].as_u64().unwrap());
    counts.add("journals on a full disk", 1);
}
