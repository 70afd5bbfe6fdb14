//! A regression guard that no noisy neighbor can disturb: instructions per point, counted by valgrind.

use crate::Failure;
use crate::cases::{self, Case};
use crate::contenders;
use crate::paper_recursion::Coding;
use crate::report::say;
use crate::timing::Contender;
use crate::workload::Workload;
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
const RECORDED: &str = include_str!("../instructions.tsv");

/// What is counted.
#[derive(Clone, Copy)]
enum Sweep {
    Posterior,
    Evidence,
    Gradient,
    /// The tuned rival.
    Paper,
}

/// A sweep over a model.
struct Counted {
    name: &'static str,
    case: Case,
    sweep: Sweep,
}

const fn counted(name: &'static str, case: Case, sweep: Sweep) -> Counted {
    Counted { name, case, sweep }
}

const COUNTED: &[Counted] = &[
    counted("posterior-l1-d1", cases::SCALAR, Sweep::Posterior),
    counted("evidence-l1-d1", cases::SCALAR, Sweep::Evidence),
    counted("paper-l1-d1", cases::SCALAR, Sweep::Paper),
    counted("posterior-l3-d4", cases::THREE_LATENTS, Sweep::Posterior),
    counted("evidence-l3-d4", cases::THREE_LATENTS, Sweep::Evidence),
    counted("gradient-l3-d4", cases::THREE_LATENTS, Sweep::Gradient),
    counted("paper-l3-d4", cases::THREE_LATENTS, Sweep::Paper),
    counted("posterior-l4-d7", cases::FOUR_LATENTS, Sweep::Posterior),
    counted("gradient-l4-d7", cases::FOUR_LATENTS, Sweep::Gradient),
    counted("paper-l4-d7", cases::FOUR_LATENTS, Sweep::Paper),
    counted("posterior-learned-n13", cases::LEARNED_ROUGH, Sweep::Posterior),
    counted("gradient-learned-n13", cases::LEARNED_ROUGH, Sweep::Gradient),
    counted("posterior-learned-n26", cases::LEARNED_SMOOTH, Sweep::Posterior),
    counted("gradient-learned-n26", cases::LEARNED_SMOOTH, Sweep::Gradient),
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

fn find(name: &str) -> Result<&'static Counted, Failure> {
    let known = || COUNTED.iter().map(|counted| counted.name).collect::<Vec<_>>().join(", ");
    let found = COUNTED.iter().find(|counted| counted.name == name);
    found.ok_or_else(|| format!("no case '{name}' to count; there are {}", known()).into())
}

/// Sets a case up and hands it to `use_it`.
fn with_contender(
    counted: &Counted,
    n_points: usize,
    use_it: impl FnOnce(&mut Contender<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let workload = Workload::new(&Case { n_points, ..counted.case })?;
    let graph = contenders::graph(&workload)?;
    let problem = workload.chain_problem();
    let mut contender = match counted.sweep {
        Sweep::Posterior => contenders::posterior(&graph),
        Sweep::Evidence => contenders::evidence(&graph),
        Sweep::Gradient => contenders::gradient(&graph),
        Sweep::Paper => contenders::paper(Coding::Tuned, &counted.case, &problem)
            .ok_or_else(|| format!("the paper's recursion is not compiled for {}", counted.case.name))?,
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
    say(&format!("{:<24} {:>12} {:>12} {:>8}", "instructions per point", "recorded", "now", "change"));
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

/// Instructions per point of one case, from a run of this very program under valgrind.
fn count(name: &str) -> Result<f64, Failure> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_region*"])
        .arg(std::env::current_exe()?)
        .args(["count", name])
        .output()
        .map_err(|cause| format!("cannot run valgrind: {cause}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected =
        log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    match collected {
        Some(instructions) if output.status.success() && instructions > 0.0 => {
            Ok(instructions / N_POINTS as f64)
        }
        _ if log.contains("unhandled instruction") => {
            Err(format!("{name} uses an instruction that this valgrind does not know; try a newer one")
                .into())
        }
        _ => Err(format!("valgrind did not count {name}: {log}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{COUNTED, Counted, recorded, run_once};

    #[test]
    fn every_counted_case_is_recorded_and_runs() {
        for Counted { name, .. } in COUNTED {
            assert!(recorded(name).is_some_and(|count| count > 0.0), "{name} is not recorded");
            run_once(name).unwrap();
        }
        assert!(run_once("nothing").is_err());
    }
}
