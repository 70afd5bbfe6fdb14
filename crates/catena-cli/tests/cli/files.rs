//! Files, links, pipes and devices as outputs; two processes and one model.
#![cfg(unix)]

use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::harness::{Folder, columns, prepared, waves, wide};

const GIVEN: &str = "--no-learn --parameters p.json";

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Reads a named pipe to its end, once.
fn reading(path: &Path) -> std::thread::JoinHandle<Vec<u8>> {
    let path = path.to_owned();
    std::thread::spawn(move || {
        let mut bytes = vec![];
        std::fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    })
}

#[test]
fn pipes_and_devices_are_written() {
    let folder = prepared("pipes");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    folder.run("predict m.catena -o rows.csv").succeeded();
    let rows = folder.read("rows.csv");
    let pipe = folder.0.join("pipe");
    make_pipe(&pipe);
    let reader = reading(&pipe);
    folder.run("predict m.catena -o pipe").succeeded();
    assert_eq!(reader.join().unwrap(), rows.as_bytes());
    // A model, and a page.
    let reader = reading(&pipe);
    folder.run(&format!("fit waves.csv {GIVEN} -o pipe")).succeeded();
    assert_eq!(reader.join().unwrap(), std::fs::read(folder.0.join("m.catena")).unwrap());
    let reader = reading(&pipe);
    folder.run("report m.catena -o pipe").succeeded();
    assert!(reader.join().unwrap().starts_with(b"<!doctype html>"));
    folder.run("predict m.catena -o /dev/null").succeeded();
    assert_eq!(folder.run("predict m.catena -o /dev/stdout").succeeded().text(), rows);
    let parquet = folder.run("predict m.catena --format parquet -o /dev/stdout").succeeded();
    assert!(parquet.stdout.starts_with(b"PAR1"));
    // Appended by the shell to a file, and to another process.
    let shell = |script: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", script]).current_dir(&folder.0).env("CATENA", env!("CARGO_BIN_EXE_catena"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    shell("echo first > all.csv; $CATENA predict m.catena -o /dev/stdout >> all.csv");
    assert_eq!(folder.read("all.csv"), format!("first\n{rows}"));
    assert_eq!(
        shell("$CATENA predict m.catena -o >(cat; echo end) | cat"),
        format!("{rows}end\n").as_bytes()
    );
    folder.run("impute waves.csv --model m.catena -o filled.csv").succeeded();
    let filled = folder.read("filled.csv");
    assert_eq!(shell("$CATENA impute waves.csv --model m.catena -o >(cat) | cat"), filled.as_bytes());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = prepared("unwritable");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    let socket = folder.0.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let refused = folder.run("predict m.catena -o socket");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("socket: is a socket"), "{}", refused.stderr);
    // Nobody reads: after ten seconds it is refused.
    make_pipe(&folder.0.join("pipe"));
    let refused = folder.run("predict m.catena -o pipe");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("no process reads; start its reader first"), "{}", refused.stderr);
    std::os::unix::fs::symlink("round", folder.0.join("round")).unwrap();
    let refused = folder.run("predict m.catena --format csv -o round");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("links in a circle"), "{}", refused.stderr);
}

#[test]
fn dangling_links_are_followed() {
    let folder = prepared("dangling");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    std::fs::create_dir(folder.0.join("real")).unwrap();
    std::os::unix::fs::symlink("real/out.csv", folder.0.join("middle")).unwrap();
    std::os::unix::fs::symlink("middle", folder.0.join("link.csv")).unwrap();
    folder.run("predict m.catena -o link.csv").succeeded();
    assert!(std::fs::symlink_metadata(folder.0.join("link.csv")).unwrap().is_symlink());
    assert_eq!(columns(&folder.read("real/out.csv"))["time"].len(), 72);
    std::os::unix::fs::symlink("nowhere/out.csv", folder.0.join("lost.csv")).unwrap();
    let refused = folder.run("predict m.catena -o lost.csv");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("lost.csv: the folder does not exist"), "{}", refused.stderr);
}

/// A killed process leaves its unfinished file; the next run in the folder removes it, but not that of a running process.
#[test]
fn unfinished_files_of_killed_processes_are_removed() {
    let folder = prepared("abandoned");
    folder.write(".m.catena.4000000-0.unfinished", "half");
    folder.write(".other.csv.12-3.unfinished", "half");
    folder.write(".mine.unfinished", "a user's file");
    folder.write(".running.csv.1-1.unfinished", "half");
    let running = std::fs::File::open(folder.0.join(".running.csv.1-1.unfinished")).unwrap();
    running.lock().unwrap();
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    let hidden: Vec<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(hidden, [".mine.unfinished", ".running.csv.1-1.unfinished"]);
}

/// Two updates of one model at once: each adds its rows or is refused; no row of an update that succeeded is lost.
#[test]
fn two_updates_at_once_lose_no_rows() {
    let folder = prepared("two_updates");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    let rows = waves(200);
    let mut n_expected = 72;
    for round in 0..6 {
        let start = 72 + 20 * round;
        let children: Vec<_> = [0, 10]
            .map(|shift| {
                let name = format!("new{shift}.csv");
                folder.write(&name, wide(&rows[start + shift..start + shift + 10]));
                folder.command(&["update", "m.catena", &name, "-o", "m.catena"]).spawn().unwrap()
            })
            .into_iter()
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            match output.status.code() {
                Some(0) => n_expected += 10,
                code => {
                    assert_eq!(code, Some(2), "{errors}");
                    assert!(errors.contains("another process uses or replaces this model"), "{errors}");
                }
            }
        }
        folder.run("predict m.catena -o rows.csv").succeeded();
        assert_eq!(columns(&folder.read("rows.csv"))["time"].len(), n_expected, "round {round}");
    }
    assert!(n_expected >= 72 + 60, "{n_expected}");
}

/// A model is not replaced while `watch` uses it, whatever the path of its journal.
#[test]
fn a_watched_model_is_not_replaced() {
    let folder = prepared("watched_model");
    folder.run(&format!("fit waves.csv {GIVEN} -o m.catena")).succeeded();
    folder.write("new.csv", wide(&waves(80)[72..]));
    let words = ["watch", "m.catena", "--journal", "elsewhere", "--format", "json"];
    let mut child = folder.command(&words).spawn().unwrap();
    let mut ready = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    let before = std::fs::read(folder.0.join("m.catena")).unwrap();
    for words in [
        "update m.catena new.csv -o m.catena".to_owned(),
        format!("fit waves.csv {GIVEN} -o m.catena"),
        "update m.catena new.csv --relearn --budget quick -o m.catena".to_owned(),
    ] {
        let refused = folder.run(&words);
        assert_eq!(refused.code, 2, "{words}");
        assert!(refused.stderr.contains("m.catena: another process uses"), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read(folder.0.join("m.catena")).unwrap(), before);
    // Reading is possible.
    folder.run("predict m.catena -o rows.csv").succeeded();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    folder.run("update m.catena new.csv -o m.catena").succeeded();
}

#[test]
fn headers_that_are_formulas_are_made_safe_on_request() {
    let folder = Folder::new("formulas");
    let mut table = "x,=cmd|'/C calc'!A0,\"@sum(1,2)\",-depth\n".to_owned();
    for at in 0..20 {
        let gap = if at == 7 { String::new() } else { format!("{}", f64::from(at).sin()) };
        table += &format!("{at},{gap},{at},{}\n", at * 2);
    }
    folder.write("t.csv", &table);
    let filled = "impute t.csv --inputs x --budget quick --std";
    folder.run(&format!("{filled} -o raw.csv")).succeeded();
    let header = table.lines().next().unwrap();
    assert!(folder.read("raw.csv").starts_with(header));
    folder.run(&format!("{filled} --safe-headers -o safe.csv")).succeeded();
    let safe = folder.read("safe.csv");
    assert!(safe.starts_with("x,'=cmd|'/C calc'!A0,\"'@sum(1,2)\",'-depth,'=cmd|'/C calc'!A0_std"), "{safe}");
    // Only names change.
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&safe), rest(&folder.read("raw.csv")));
    folder.run("fit t.csv --inputs x --budget quick -o m.catena").succeeded();
    let rows = folder.run("predict m.catena --safe-headers").succeeded();
    assert!(rows.text().starts_with("x,'=cmd|"), "{}", rows.text());
}
