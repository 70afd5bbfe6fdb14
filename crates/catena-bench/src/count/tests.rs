//! Instruction counts where possible, allocations and messages everywhere.

use super::*;
use crate::allocations::allocations_in;
use catena::index::{OutputIndex, RowIndex};
use catena::live::{LivePosterior, Recomputed};

/// One case of each kind: a sweep, a gradient, a chain, an edit.
const IN_TESTS: &[&str] = &["posterior-l3-d4", "evidence-l3-d4", "gradient-l3-d4", "chain-2d", "edit-l3-d4"];

/// Counts of the test build: first the compiler and the instruction set, then as in the other record.
const RECORDED_IN_TESTS: &str = include_str!("../../instructions_in_tests.tsv");

/// The variable that names the case for a process under valgrind.
const CASE: &str = "CATENA_BENCH_COUNTS";

/// The compiler and the instruction set: counts of another are not comparable.
fn circumstances() -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    #[cfg(target_arch = "x86_64")]
    let set =
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") { "avx2" } else { "plain" };
    #[cfg(not(target_arch = "x86_64"))]
    let set = std::env::consts::ARCH;
    format!("{} {set}", version.unwrap_or_default())
}

#[test]
fn every_counted_case_runs_and_most_are_recorded() {
    for case in COUNTED {
        run_once(case.name).unwrap();
    }
    assert!(run_once("nothing").is_err());
    for line in RECORDED.lines() {
        let (name, count) = line.split_once('\t').unwrap();
        assert!(find(name).is_ok() && count.parse::<f64>().is_ok_and(|count| count > 0.0), "{line}");
    }
}

/// The process under valgrind; without a case it does nothing.
#[test]
fn in_a_process_of_its_own() {
    if let Ok(name) = std::env::var(CASE) {
        run_once(&name).unwrap();
    }
}

/// Instructions of a case in this build.
fn count_in_tests(name: &str) -> Result<f64, Failure> {
    let mut program = Command::new("valgrind");
    callgrind(&mut program)?.args(["--exact", "count::tests::in_a_process_of_its_own"]).env(CASE, name);
    counted_by(&mut program, find(name)?)
}

/// `CATENA_BENCH_RECORD=1 cargo test --workspace --bin catena-bench instructions` renews the record.
#[test]
fn no_hot_path_needs_more_instructions_than_recorded() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return say("valgrind is not installed: instructions are not counted");
    }
    if std::env::var_os("CATENA_BENCH_RECORD").is_some() {
        let count = |name: &&str| format!("{name}\t{:.1}\n", count_in_tests(name).unwrap());
        let lines: String = IN_TESTS.iter().map(count).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions_in_tests.tsv");
        return std::fs::write(path, format!("{}\n{lines}", circumstances())).unwrap();
    }
    let (of, counts) = RECORDED_IN_TESTS.split_once('\n').unwrap();
    if of != circumstances() {
        return say(&format!("counts are recorded for {of}, but this is {}", circumstances()));
    }
    for line in counts.lines() {
        let (name, recorded) = line.split_once('\t').unwrap();
        let (recorded, now) = (recorded.parse::<f64>().unwrap(), count_in_tests(name).unwrap());
        let change = now / recorded - 1.0;
        say(&format!("{name:<24} {recorded:>12.1} {now:>12.1} {:>+7.1} %", 100.0 * change));
        assert!(change <= TOLERANCE, "{name} needs {now:.0} instructions, {recorded:.0} are recorded");
    }
}

/// Allocations of the second run of a case; the first allocates the buffers.
fn allocations(name: &str, n_points: usize) -> u64 {
    let mut count = 0;
    let take = |task: &mut Task<'_>| {
        (task.run)()?;
        count = allocations_in(|| (task.run)().unwrap());
        Ok(())
    };
    with_task(find(name).unwrap(), n_points, take).unwrap();
    count
}

/// Seven outputs have at most this many masks, each with an information matrix of its own.
const MOST_MASKS: u64 = 128;

/// A sweep or gradient with its buffers ready allocates its result and matrices of new masks, but nothing per point.
#[test]
fn sweeps_allocate_nothing_per_point() {
    for name in
        ["posterior-l1-d1", "posterior-l3-d4", "evidence-l3-d4", "gradient-l3-d4", "posterior-learned-n13"]
    {
        let (few, many) = (allocations(name, 200), allocations(name, 2000));
        assert!(many <= few + MOST_MASKS, "{name}: {few} allocations at 200 points, {many} at 2000");
    }
}

/// A chain grows its lists by doubling.
#[test]
fn chains_allocate_a_few_times() {
    let (few, many) = (allocations("chain-2d", 200), allocations("chain-2d", 2000));
    assert!(many <= few + 32, "{few} allocations at 200 points, {many} at 2000");
}

/// The messages recomputed by an edit and a query grow with the logarithm of the points; the counts are the same on every machine.
#[test]
fn edits_send_few_messages() {
    let mut recomputed = vec![];
    for n_points in [1000, 16_000] {
        let workload = Workload::new(&Case { n_points, ..cases::THREE_LATENTS }).unwrap();
        let graph = tasks::graph(&workload).unwrap();
        let mut live = LivePosterior::new(&graph, &workload.inputs, &workload.observations).unwrap();
        live.refresh();
        let mut sent = (0, 0);
        for at in 0..50 {
            live.set(RowIndex::new(at * n_points / 50), OutputIndex::new(at % 4), 0.5).unwrap();
            live.marginals(RowIndex::new(n_points / 2)).unwrap();
            let Recomputed { positions, pairs } = live.recomputed();
            sent = (sent.0 + positions, sent.1 + pairs);
        }
        recomputed.push(sent);
    }
    let [(few, low), (many, high)] = recomputed[..] else { unreachable!("two sizes") };
    say(&format!("50 edits send {few}+{low} messages at 1000 points, {many}+{high} at 16000"));
    assert!(many <= 2 * few.max(50 * 16), "positions {few} → {many}");
    assert!(high <= low + 50 * 4, "pairs {low} → {high}: sixteen times the points are four more levels");
}
