//! `catena-bench SECTION [OPTIONS]`: speed of the sweeps, compared with other implementations in the same process.

#[cfg(test)]
mod allocations;
mod cases;
mod count;
mod edits;
mod full_scale;
mod learning;
mod methods;
mod paper_recursion;
mod pinning;
mod random;
mod report;
mod starts;
mod structure;
mod sweeps;
mod tasks;
mod threads;
mod time;
mod timing;
mod wide;
mod workload;

use std::process::ExitCode;

const USAGE: &str = "usage: catena-bench [sweep | scaling | missing]... [--json] [--rounds N]
       catena-bench structure [--json]               time to build chains and spanning trees
       catena-bench methods [--json] [--ett PATH]    seconds per posterior of every method
       catena-bench fullscale [--json] [--rows MAX]  the full-scale method from 2000 to 200 000 rows, all cores
       catena-bench learning [--json] [--ett PATH]   seconds for 100 iterations of learning
       catena-bench edits [--json]                   microseconds of an edit and a query of a live posterior
       catena-bench time [--json]                    models of oscillator, level and season
       catena-bench threads [--json]                 one long chain on one and on two threads
       catena-bench starts [--json]                  four models swept together and one by one
       catena-bench wide [--json]                    tables of 15 to 480 outputs
       catena-bench guard [--record]                 instruction counts of all cases, by valgrind
       catena-bench count CASE                       run one case once, for an instruction counter
       catena-bench profile CASE                     run one case for five seconds, for a sampling profiler

  sweep    every sweep and the paper's recursion, for a list of models (default: sweep, scaling and missing)
  scaling  cost per point from 10^4 to 10^6 points, buffers reused
  missing  cost per point with 0 to 90 % of the cells missing
  --rounds interleaved measurements of each task; the median is reported (default 9, at least 7)";

/// Invalid arguments, or a library that rejects the generated data.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A section with options of its own: its name, the options that take a value, and its function.
type Section = (&'static str, &'static [&'static str], fn(&Options<'_>) -> Result<(), Failure>);

const SECTIONS: &[Section] = &[
    ("structure", &[], structure::run),
    ("methods", &["--ett"], methods::run),
    ("fullscale", &["--rows"], full_scale::run),
    ("learning", &["--ett"], learning::run),
    ("edits", &[], edits::run),
    ("time", &[], time::run),
    ("threads", &[], threads::run),
    ("starts", &[], starts::run),
    ("wide", &[], wide::run),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("catena-bench: {failure}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    if asks_for_help(words) {
        report::say(USAGE);
        return Ok(());
    }
    match *words {
        ["count", case] => count::run_once(case),
        ["profile", case] => count::run_for_profiler(case),
        ["guard"] => count::guard(),
        ["guard", "--record"] => count::record(),
        _ => {
            let section = words.split_first().and_then(|(first, options)| {
                Some((SECTIONS.iter().find(|section| section.0 == *first)?, options))
            });
            match section {
                Some(((_, with_value, run), options)) => run(&Options::parse(options, with_value)?),
                None => sweeps::run(&Options::parse(words, &["--rounds"])?),
            }
        }
    }
}

fn asks_for_help(words: &[&str]) -> bool {
    words.first() == Some(&"help") || words.iter().any(|word| matches!(*word, "--help" | "-h"))
}

/// The arguments of a section.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options<'a> {
    json: bool,
    values: Vec<(&'a str, &'a str)>,
    /// Names of sweep sections.
    names: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// Parses `--json`, options with a value, and names of sweep sections; an unknown argument is an error, since a section
    /// runs for minutes.
    fn parse(words: &[&'a str], with_value: &[&str]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut remaining = words.iter();
        while let Some(&word) = remaining.next() {
            if word == "--json" {
                options.json = true;
            } else if with_value.contains(&word) {
                let value = remaining.next().ok_or_else(|| format!("{word} needs a value"))?;
                options.values.push((word, value));
            } else if with_value.contains(&"--rounds") && sweeps::find(word).is_some() {
                options.names.push(word);
            } else {
                return Err(format!("unknown argument '{word}'").into());
            }
        }
        Ok(options)
    }

    fn value(&self, option: &str) -> Option<&'a str> {
        self.values.iter().find(|(name, _)| *name == option).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_found_in_any_place() {
        for words in
            [vec!["--help"], vec!["-h"], vec!["help"], vec!["fullscale", "--help"], vec!["sweep", "-h"]]
        {
            assert!(asks_for_help(&words), "{words:?}");
        }
        assert!(!asks_for_help(&[]));
        assert!(!asks_for_help(&["fullscale", "--rows", "2000"]));
    }

    #[test]
    fn options_are_parsed_and_unknown_arguments_refused() {
        let options = Options::parse(&["--rows", "2000", "--json"], &["--rows"]).unwrap();
        assert_eq!((options.json, options.value("--rows")), (true, Some("2000")));
        let error = |words: &[&str]| Options::parse(words, &["--rows"]).unwrap_err().to_string();
        assert_eq!(error(&["--row"]), "unknown argument '--row'");
        assert_eq!(error(&["--rows"]), "--rows needs a value");
        assert_eq!(error(&["sweep"]), "unknown argument 'sweep'");
        assert!(run(&["sweep", "--row"]).is_err() && run(&["threads", "sweep"]).is_err());
    }
}
