//! Ctrl-C during learning keeps the best model so far and leaves no unfinished file.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use crate::harness::{Folder, columns, waves, wide};

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts a long fit and waits until it learns.
fn learning(folder: &Folder) -> (Child, BufReader<std::process::ChildStderr>) {
    folder.write("waves.csv", wide(&waves(700)));
    let words = ["impute", "waves.csv", "--budget", "thorough", "-o", "filled.csv"];
    let mut child = folder.command(&words).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("learning") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "it ended before it learned");
    }
    (child, errors)
}

#[test]
fn the_first_interrupt_keeps_the_best_so_far() {
    let folder = Folder::new("one_interrupt");
    let (mut child, mut errors) = learning(&folder);
    interrupt(&child);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut errors, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(rest.contains("best model so far"), "{rest}");
    assert_eq!(columns(&folder.read("filled.csv"))["time"].len(), 700);
    assert_eq!(folder.names(), ["filled.csv", "waves.csv"]);
}

#[test]
fn the_second_interrupt_gives_up_and_leaves_no_part_of_a_file() {
    let folder = Folder::new("two_interrupts");
    let (mut child, mut errors) = learning(&folder);
    interrupt(&child);
    let mut line = String::new();
    while !line.contains("best model so far") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0);
    }
    interrupt(&child);
    let code = child.wait().unwrap().code();
    // The fit may have finished meanwhile; then the file is complete.
    match code {
        Some(130) => assert_eq!(folder.names(), ["waves.csv"]),
        Some(0) => assert_eq!(columns(&folder.read("filled.csv"))["time"].len(), 700),
        other => panic!("{other:?}"),
    }
}
