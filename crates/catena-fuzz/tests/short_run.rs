//! Every target over its corpus, its regressions and a short seeded run of mutations: nothing panics.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::fs;
use std::path::{Path, PathBuf};

use catena_fuzz::{TARGETS, Target, find, mutations};

/// The inputs in a folder, in order of their names.
fn inputs(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&place).map_or(vec![], |entries| entries.map(|entry| entry.unwrap().path()).collect());
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Runs a target; bytes that make it fail are kept in a file, to be added to the regressions.
fn check(target: &Target, what: &str, bytes: &[u8]) {
    if std::panic::catch_unwind(|| (target.run)(bytes)).is_err() {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failing-{}", target.name));
        fs::write(&kept, bytes).unwrap();
        panic!("{} fails on {what}, kept as {}", target.name, kept.display());
    }
}

fn run(name: &str) {
    let target = find(name).unwrap();
    for (path, bytes) in inputs("regressions", name) {
        check(target, &path.display().to_string(), &bytes);
    }
    let corpus: Vec<Vec<u8>> = inputs("corpus", name).into_iter().map(|(_, bytes)| bytes).collect();
    assert!(!corpus.is_empty(), "{name} has no corpus");
    for bytes in &corpus {
        check(target, "its corpus", bytes);
    }
    // More tries, or another seed.
    let number = |name: &str| -> Option<u64> { std::env::var(name).ok().and_then(|text| text.parse().ok()) };
    let n_tries = target.n_tries * number("CATENA_FUZZ_TIMES").unwrap_or(1) as usize;
    let seed = number("CATENA_FUZZ_SEED").unwrap_or(20);
    for bytes in mutations(&corpus, seed).take(n_tries) {
        check(target, "a mutation", &bytes);
    }
}

macro_rules! tests {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_target_is_run() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), tested);
        }
    };
}

tests!(
    csv_wide,
    csv_long,
    columnar,
    stream,
    journal,
    model_file,
    segment,
    specs,
    command_line,
    sweep,
    live,
    pipeline
);
