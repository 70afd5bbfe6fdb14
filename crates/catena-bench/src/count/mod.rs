//! A regression guard that no noisy neighbor can disturb: instructions per point or edit, counted by valgrind.
//!
//! `catena-bench guard` counts the release build. The tests count a few hot paths of the build they run in, where valgrind is there,
//! the compiler is the one of the record and the machine has the same instruction set; what needs no tool, allocations and messages
//! sent anew, they count always (`allocations.rs`).

use crate::Failure;
use crate::cases::{self, Case};
use crate::paper_recursion::Coding;
use crate::report::say;
use crate::timing::Contender;
use crate::workload::Workload;
use crate::{contenders, edits, structure};
use catena::structure::{Start, greedy_chain};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// A count may rise by this much over the recorded one before the guard fails: compilers differ that much.
const TOLERANCE: f64 = 0.05;

/// Points per counted case: enough that what is done once per sweep hardly shows.
const N_POINTS: usize = 2000;

/// How long a case runs for a profiler.
const PROFILE_DURATION: Duration = Duration::from_secs(5);

/// Counts per point recorded when speed was last changed on purpose: a name, a tab, a number.
const RECORDED: &str = include_str!("../../instructions.tsv");

/// Edits, each with a question, in one counted run.
const N_EDITS: usize = 200;

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Posterior,
    Evidence,
    Gradient,
    /// The tuned rival.
    Paper,
    /// The greedy chain over uniform points of so many inputs.
    Chain(usize),
    /// An edit and a question at a live posterior.
    Edit,
}

/// A piece of work on a model.
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    case: Case,
    work: Work,
}

impl Counted {
    /// What the count is divided by: points, or edits.
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

/// Runs one case once; everything that is to be counted happens inside [`counted_region`].
pub(crate) fn run_once(name: &str) -> Result<(), Failure> {
    let counted = find(name)?;
    // The first run fills the buffers, which later sweeps find ready.
    with_contender(counted, N_POINTS, |contender| {
        (contender.run)()?;
        black_box(counted_region(contender)?);
        Ok(())
    })
}

/// Runs one case, at its full size, for a few seconds, so that a sampling profiler can look at it.
pub(crate) fn run_for_profiler(name: &str) -> Result<(), Failure> {
    let counted = find(name)?;
    with_contender(counted, counted.case.n_points, |contender| {
        let start = Instant::now();
        while start.elapsed() < PROFILE_DURATION {
            black_box((contender.run)()?);
        }
        Ok(())
    })
}

pub(crate) fn find(name: &str) -> Result<&'static Counted, Failure> {
    let known = || COUNTED.iter().map(|counted| counted.name).collect::<Vec<_>>().join(", ");
    let found = COUNTED.iter().find(|counted| counted.name == name);
    found.ok_or_else(|| format!("no case '{name}' to count; there are {}", known()).into())
}

/// Sets a case up and hands it to `use_it`.
pub(crate) fn with_contender(
    counted: &Counted,
    n_points: usize,
    use_it: impl FnOnce(&mut Contender<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let workload = Workload::new(&Case { n_points, ..counted.case })?;
    let graph = contenders::graph(&workload)?;
    let problem = workload.chain_problem();
    let plane = structure::uniform(n_points, if let Work::Chain(dim) = counted.work { dim } else { 1 })?;
    let mut contender = match counted.work {
        Work::Posterior => contenders::posterior(&graph),
        Work::Evidence => contenders::evidence(&graph),
        Work::Gradient => contenders::gradient(&graph),
        Work::Paper => contenders::paper(Coding::Tuned, &counted.case, &problem)
            .ok_or_else(|| format!("the paper's recursion is not compiled for {}", counted.case.name))?,
        Work::Chain(_) => {
            let run = || Ok(greedy_chain(&plane, Start::FirstRow)?.total_length());
            Contender { name: "greedy chain", run: Box::new(run) }
        }
        Work::Edit => edits::contender(&graph, &workload, N_EDITS)?,
    };
    use_it(&mut contender)
}

/// Valgrind counts between entering and leaving this function, which it finds by name.
#[inline(never)]
fn counted_region(contender: &mut Contender<'_>) -> Result<f64, Failure> {
    black_box((contender.run)())
}

/// Fails if any case needs noticeably more instructions than recorded, or could not be counted.
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

/// Counts every case and writes the counts down as the new reference.
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

/// Instructions per point or edit of one case, from a run of this very program under valgrind.
fn count(name: &str) -> Result<f64, Failure> {
    let mut program = Command::new("valgrind");
    callgrind(&mut program)?.args(["count", name]);
    counted_by(&mut program, find(name)?)
}

/// This program under valgrind, which counts inside [`counted_region`] alone.
fn callgrind(valgrind: &mut Command) -> Result<&mut Command, Failure> {
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_region*"];
    // Threads would share the work as they come, and only one of them is counted.
    Ok(valgrind.args(options).arg(std::env::current_exe()?).env("RAYON_NUM_THREADS", "1"))
}

/// What valgrind says it counted.
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
            Err(format!("{name} uses an instruction that this valgrind does not know; try a newer one")
                .into())
        }
        _ => Err(format!("valgrind did not count {name}: {log}").into()),
    }
}

#[cfg(test)]
mod tests;
