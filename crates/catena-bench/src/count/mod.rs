//! A regression guard independent of the load of the machine: instructions per point or edit, counted by valgrind.
//!
//! `catena-bench guard` counts the release build. The tests count a few hot paths of their own build, if valgrind is installed and
//! the compiler and the instruction set are those of the record. They always count allocations (`allocations.rs`) and messages.

use crate::Failure;
use crate::cases::{self, Case};
use crate::paper_recursion::Coding;
use crate::report::say;
use crate::timing::Task;
use crate::workload::Workload;
use crate::{edits, structure, tasks};
use catena::inference::Workspace;
use catena::structure::{Start, greedy_chain};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// The guard fails if a count is above the recorded one by more than this: compilers differ by as much.
const TOLERANCE: f64 = 0.05;

/// Points per counted case: enough to make the fixed cost of a sweep negligible.
const N_POINTS: usize = 2000;

/// How long a case runs for a profiler.
const PROFILE_DURATION: Duration = Duration::from_secs(5);

/// Recorded counts per point: a name, a tab, a number.
const RECORDED: &str = include_str!("../../instructions.tsv");

/// Edits, each with a query, in one counted run.
const N_EDITS: usize = 200;

/// The counted work.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Posterior,
    Evidence,
    Gradient,
    /// The paper's recursion, tuned.
    Paper,
    /// The greedy chain over uniform points with this many inputs.
    Chain(usize),
    /// An edit and a query of a live posterior.
    Edit,
}

/// Work on a model.
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    case: Case,
    work: Work,
}

impl Counted {
    /// The divisor of the count: points, or edits.
    fn n_units(&self) -> usize {
        if let Work::Edit = self.work { N_EDITS } else { N_POINTS }
    }
}

const fn counted(name: &'static str, case: Case, work: Work) -> Counted {
    Counted { name, case, work }
}

const COUNTED: &[Counted] = &[
    counted("posterior-l1-d1", cases::SCALAR, Work::Posterior),
    counted("evidence-l1-d1", cases::SCALAR, Work::Evidence),
    counted("paper-l1-d1", cases::SCALAR, Work::Paper),
    counted("posterior-l3-d4", cases::THREE_LATENTS, Work::Posterior),
    counted("evidence-l3-d4", cases::THREE_LATENTS, Work::Evidence),
    counted("gradient-l3-d4", cases::THREE_LATENTS, Work::Gradient),
    counted("paper-l3-d4", cases::THREE_LATENTS, Work::Paper),
    counted("posterior-l4-d7", cases::FOUR_LATENTS, Work::Posterior),
    counted("gradient-l4-d7", cases::FOUR_LATENTS, Work::Gradient),
    counted("paper-l4-d7", cases::FOUR_LATENTS, Work::Paper),
    counted("posterior-learned-n13", cases::LEARNED_ROUGH, Work::Posterior),
    counted("gradient-learned-n13", cases::LEARNED_ROUGH, Work::Gradient),
    counted("posterior-learned-n26", cases::LEARNED_SMOOTH, Work::Posterior),
    counted("gradient-learned-n26", cases::LEARNED_SMOOTH, Work::Gradient),
    counted("chain-2d", cases::THREE_LATENTS, Work::Chain(2)),
    counted("chain-3d", cases::THREE_LATENTS, Work::Chain(3)),
    counted("edit-l3-d4", cases::THREE_LATENTS, Work::Edit),
];

/// Runs one case once; valgrind counts inside [`counted_region`].
pub(crate) fn run_once(name: &str) -> Result<(), Failure> {
    let counted = find(name)?;
    // The first run allocates the buffers.
    with_task(counted, N_POINTS, |task| {
        (task.run)()?;
        black_box(counted_region(task)?);
        Ok(())
    })
}

/// Runs one case at its full size for a few seconds, for a sampling profiler.
pub(crate) fn run_for_profiler(name: &str) -> Result<(), Failure> {
    let counted = find(name)?;
    with_task(counted, counted.case.n_points, |task| {
        let start = Instant::now();
        while start.elapsed() < PROFILE_DURATION {
            black_box((task.run)()?);
        }
        Ok(())
    })
}

pub(crate) fn find(name: &str) -> Result<&'static Counted, Failure> {
    let known = || COUNTED.iter().map(|counted| counted.name).collect::<Vec<_>>().join(", ");
    let found = COUNTED.iter().find(|counted| counted.name == name);
    found.ok_or_else(|| format!("unknown case '{name}'; the cases are {}", known()).into())
}

/// Sets up a case and passes it to `use_it`.
pub(crate) fn with_task(
    counted: &Counted,
    n_points: usize,
    use_it: impl FnOnce(&mut Task<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let workload = Workload::new(&Case { n_points, ..counted.case })?;
    let graph = tasks::graph(&workload)?;
    let problem = workload.chain_problem();
    let plane = structure::uniform(n_points, if let Work::Chain(dim) = counted.work { dim } else { 1 })?;
    let mut task = match counted.work {
        Work::Posterior => tasks::posterior(&graph, Workspace::new()),
        Work::Evidence => tasks::evidence(&graph, Workspace::new()),
        Work::Gradient => tasks::gradient(&graph, Workspace::new()),
        Work::Paper => tasks::paper(Coding::Tuned, &counted.case, &problem)
            .ok_or_else(|| format!("the paper's recursion is not compiled for {}", counted.case.name))?,
        Work::Chain(_) => {
            let run = || Ok(greedy_chain(&plane, Start::FirstRow)?.total_length());
            Task { name: "greedy chain", run: Box::new(run) }
        }
        Work::Edit => edits::task(&graph, &workload, N_EDITS)?,
    };
    use_it(&mut task)
}

/// Valgrind counts between entering and leaving this function, which it finds by name.
#[inline(never)]
fn counted_region(task: &mut Task<'_>) -> Result<f64, Failure> {
    black_box((task.run)())
}

/// Fails if a case needs more instructions than recorded, or cannot be counted.
pub(crate) fn guard() -> Result<(), Failure> {
    let mut failures = vec![];
    say(&format!("{:<24} {:>12} {:>12} {:>8}", "per point or edit", "recorded", "now", "change"));
    for Counted { name, .. } in COUNTED {
        let Some(recorded) = recorded(name) else {
            failures.push(format!("{name} has no recorded count; run guard --record"));
            continue;
        };
        match count(name) {
            Ok(now) => {
                let change = now / recorded - 1.0;
                say(&format!("{name:<24} {recorded:>12.1} {now:>12.1} {:>+7.1} %", 100.0 * change));
                if change > TOLERANCE {
                    failures.push(format!("{name} needs more instructions than recorded"));
                }
            }
            Err(cause) => failures.push(cause.to_string()),
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

/// Counts every case and records the counts.
pub(crate) fn record() -> Result<(), Failure> {
    let mut lines = String::new();
    for Counted { name, .. } in COUNTED {
        let line = format!("{name}\t{:.1}", count(name)?);
        say(&line);
        lines.push_str(&line);
        lines.push('\n');
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.tsv"), lines)?;
    Ok(())
}

/// The recorded count per point of one case.
fn recorded(name: &str) -> Option<f64> {
    let line = RECORDED.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    line?.parse().ok()
}

/// Instructions per point or edit of one case, from a run of this program under valgrind.
fn count(name: &str) -> Result<f64, Failure> {
    let mut program = Command::new("valgrind");
    callgrind(&mut program)?.args(["count", name]);
    counted_by(&mut program, find(name)?)
}

/// This program under valgrind, counting inside [`counted_region`] only.
fn callgrind(valgrind: &mut Command) -> Result<&mut Command, Failure> {
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_region*"];
    // Only one thread is counted.
    Ok(valgrind.args(options).arg(std::env::current_exe()?).env("RAYON_NUM_THREADS", "1"))
}

/// The count in valgrind's output.
fn counted_by(program: &mut Command, case: &Counted) -> Result<f64, Failure> {
    let name = case.name;
    let output = program.output().map_err(|cause| format!("cannot run valgrind: {cause}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected =
        log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    match collected {
        Some(instructions) if output.status.success() && instructions > 0.0 => {
            Ok(instructions / case.n_units() as f64)
        }
        _ if log.contains("unhandled instruction") => {
            Err(format!("{name} uses an instruction unknown to this valgrind; install a newer one").into())
        }
        _ => Err(format!("valgrind did not count {name}: {log}").into()),
    }
}

#[cfg(test)]
mod tests;
