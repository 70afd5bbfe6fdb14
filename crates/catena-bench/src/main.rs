//! `catena-bench [SECTION…] [--json] [--rounds N]`: speed of the sweeps beside their rivals, on one core.

#[cfg(test)]
mod allocations;
mod cases;
mod contenders;
mod count;
mod edits;
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
mod threads;
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
       catena-bench edits [--json]  microseconds of an edit and a question at a live posterior
       catena-bench time [--json]  models of oscillator, level and season: cost per point, seconds to learn
       catena-bench threads [--json]  one long chain on one and on two threads

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
        // Help is cheap and a section is not: asked for anywhere, it is what is meant.
        _ if asks_for_help(&words) => {
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
        ["rivals", options @ ..] => Options::parse(options, &["--ett"])
            .and_then(|options| rivals::run(options.json, options.value("--ett").map(Path::new))),
        ["fullscale", options @ ..] => Options::parse(options, &["--rows"]).and_then(|options| {
            let most = options.value("--rows").map(str::parse).transpose();
            full_scale::run(options.json, most.map_err(|_| "--rows needs a whole number")?)
        }),
        ["learning", options @ ..] => Options::parse(options, &["--ett"])
            .and_then(|options| learning::run(options.json, options.value("--ett").map(Path::new))),
        ["edits"] => edits::run(false),
        ["edits", "--json"] => edits::run(true),
        ["threads"] => threads::run(false),
        ["threads", "--json"] => threads::run(true),
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

fn asks_for_help(words: &[&str]) -> bool {
    words.first() == Some(&"help") || words.iter().any(|word| matches!(*word, "--help" | "-h"))
}

/// What follows the name of a section.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options<'a> {
    json: bool,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    /// Reads `--json` and options that take a value; a word that the section does not know is an error, since a section runs
    /// for minutes.
    fn parse(words: &[&'a str], with_value: &[&str]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut remaining = words.iter();
        while let Some(&word) = remaining.next() {
            if word == "--json" {
                options.json = true;
            } else if with_value.contains(&word) {
                let value = remaining.next().ok_or_else(|| format!("{word} needs a value"))?;
                options.values.push((word, value));
            } else {
                return Err(format!("unknown word '{word}'").into());
            }
        }
        Ok(options)
    }

    fn value(&self, option: &str) -> Option<&'a str> {
        self.values.iter().find(|(name, _)| *name == option).map(|(_, value)| *value)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_asked_for_in_any_place() {
        for words in
            [vec!["--help"], vec!["-h"], vec!["help"], vec!["fullscale", "--help"], vec!["sweep", "-h"]]
        {
            assert!(asks_for_help(&words), "{words:?}");
        }
        assert!(!asks_for_help(&[]));
        assert!(!asks_for_help(&["fullscale", "--rows", "2000"]));
    }

    #[test]
    fn options_of_a_section_are_read_and_unknown_words_refused() {
        let options = Options::parse(&["--rows", "2000", "--json"], &["--rows"]).unwrap();
        assert_eq!((options.json, options.value("--rows")), (true, Some("2000")));
        let error = |words: &[&str]| Options::parse(words, &["--rows"]).unwrap_err().to_string();
        assert_eq!(error(&["--row"]), "unknown word '--row'");
        assert_eq!(error(&["--rows"]), "--rows needs a value");
    }
}
