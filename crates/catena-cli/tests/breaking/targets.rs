//! Pipes, links and devices as outputs: they are written, or refused in one sentence; nothing hangs.

use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::chance::Chance;
use crate::{Counts, with_model};

pub(crate) fn run(chance: &mut Chance, counts: &mut Counts) {
    let folder = with_model("targets");
    folder.run("predict m.catena -o expected.csv").succeeded();
    let expected = folder.read("expected.csv");
    let at = |name: &str| folder.0.join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::fs::create_dir(at("folder")).unwrap();
    symlink("real.csv", at("link.csv")).unwrap();
    symlink("link.csv", at("chain.csv")).unwrap();
    symlink("circle.csv", at("circle.csv")).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for _ in 0..6 {
        counts.add("pipes, links and devices", 1);
        match chance.below(8) {
            0 => {
                let pipe = at("pipe");
                let reader = std::thread::spawn(move || {
                    let mut text = String::new();
                    std::fs::File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                    text
                });
                folder.run("predict m.catena -o pipe").succeeded();
                assert_eq!(reader.join().unwrap(), expected);
            }
            1 => {
                let _ = std::fs::remove_file(at("real.csv"));
                folder.run("predict m.catena -o chain.csv").succeeded();
                assert_eq!(folder.read("real.csv"), expected);
                assert!(std::fs::symlink_metadata(at("link.csv")).unwrap().is_symlink());
            }
            2 => drop(folder.run("predict m.catena -o /dev/null").succeeded()),
            3 => assert_eq!(folder.run("predict m.catena -o /dev/stdout").succeeded().text(), expected),
            4 => assert_refused(&folder.run("predict m.catena -o /dev/full"), "disk is full"),
            5 => assert_refused(&folder.run("predict m.catena -o socket"), "is a socket"),
            6 => assert_refused(&folder.run("predict m.catena --format csv -o folder"), "is a directory"),
            _ => assert_refused(&folder.run("predict m.catena -o circle.csv"), "circle.csv"),
        }
    }
}

fn assert_refused(outcome: &crate::harness::Outcome, sentence: &str) {
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(sentence), "{}", outcome.stderr);
}
