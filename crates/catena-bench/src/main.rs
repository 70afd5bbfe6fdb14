//! `catena-bench [SECTION…] [--json] [--rounds N]`: speed of the sweeps beside their rivals, on one core.

mod cases;
mod contenders;
mod count;
mod full_scale;
mod learning;
mod paper_recursion;
mod pinning;
mod random;
mod report;
mod rivals;
mod sections;
mod structure;
mod structure_table;
mod time;
mod timing;
mod workload;

use report::{Format, Machine, Report};
use std::path::Path;
use std::process::ExitCode;
use timing::Rounds;

const USAGE: &str = "usage: catena-bench [SECTION...] [--json] [--rounds N]
       catena-bench count CASE      run one fixed case once, for an instruction counter
       catena-bench profile CASE    run one fixed case for five seconds, for a sampling profiler
       catena-bench guard [--record]  count all cases under valgrind and compare with the recorded counts
       catena-bench structure [--json | FILE.csv COLUMN,...]  time to build chains and trees
       catena-bench rivals [--json] [--ett PATH]  seconds per posterior of catena and its rivals
       catena-bench fullscale [--json] [--rows MOST]  the full-scale method from 2000 to 200 000 rows, all cores
       catena-bench learning [--json] [--ett PATH]  seconds for 100 iterations of learning
       catena-bench time [--json]  models of oscillator, level and season: cost per point, seconds to learn

sections: sweep    every sweep and the paper's recursion, over the table of models (default: all sections)
          scaling  cost per point from 10^4 to 10^6 points, buffers reused
          missing  cost per point at missing rates 0 to 0.9
rounds:   measurements per contender, interleaved; the median is reported (default 9, at least 7)";

/// What can go wrong here: bad words on the command line, or a library that refuses the generated data.
pub(crate) type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["help" | "--help" | "-h"] => {
            report::say(USAGE);
            Ok(())
        }
        ["count", case] => count::run_once(case),
        ["profile", case] => count::run_for_profiler(case),
        ["guard"] => count::guard(),
        ["guard", "--record"] => count::record(),
        ["structure"] => structure::run(false),
        ["structure", "--json"] => structure::run(true),
        ["structure", path, columns] => structure_table::run(path, columns),
        ["rivals", options @ ..] => run_rivals(options),
        ["fullscale", options @ ..] => {
            let most = options.iter().position(|&option| option == "--rows");
            let most = most.and_then(|at| options.get(at + 1)).and_then(|count| count.parse().ok());
            full_scale::run(options.contains(&"--json"), most)
        }
        ["learning", options @ ..] => learning::run(options.contains(&"--json"), path_of_ett(options)),
        ["time"] => time::run(false),
        ["time", "--json"] => time::run(true),
        _ => measure(&words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("catena-bench: {failure}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Times the rivals, on ETTh1 where its path is given and on data like it otherwise.
fn run_rivals(options: &[&str]) -> Result<(), Failure> {
    rivals::run(options.contains(&"--json"), path_of_ett(options))
}

/// What follows `--ett`.
fn path_of_ett<'a>(options: &[&'a str]) -> Option<&'a Path> {
    let at = options.iter().position(|&option| option == "--ett")?;
    options.get(at + 1).copied().map(Path::new)
}

/// Runs the sections asked for and prints what they found.
fn measure(words: &[&str]) -> Result<(), Failure> {
    let (mut format, mut rounds, mut chosen) = (Format::Table, Rounds::default(), vec![]);
    let mut remaining = words.iter();
    while let Some(&word) = remaining.next() {
        match word {
            "--json" => format = Format::Json,
            "--rounds" => rounds = Rounds::parse(remaining.next().copied().unwrap_or_default())?,
            _ => chosen.push(sections::find(word).ok_or_else(|| format!("unknown word '{word}'"))?),
        }
    }
    if chosen.is_empty() {
        chosen = sections::ALL.iter().collect();
    }
    let mut report = Report::new(Machine::describe(pinning::pin_to_one_core()), rounds);
    for section in chosen {
        eprintln!("measuring: {}", section.name);
        report.add(section, (section.measure)(rounds)?);
    }
    report.print(format);
    Ok(())
}
