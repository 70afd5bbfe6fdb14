//! `start`: how much it matters where the chain begins (Fig. chain_start, Proposition 1).

mod comparisons;
mod found;
mod problem;
mod proposition;
mod view;

use catena::diagnostics::{Distortion, PairSampling};
use catena_methods::exact::ExactOptions;
use catena_studies::study::Study;

use self::found::Found;
use self::problem::{Problem, Scheme};
use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::job::Job;
use crate::ledger::{Ledger, Record};
use crate::methods::{exact, sweep};
use crate::settings::{Context, Extent};

const STUDY: &str = "start";
const SEEDS: u32 = 10;
/// Seeds on which other schemes than evenly spaced starts are tried.
const SCHEME_SEEDS: u32 = 3;
/// The longest chain with the exact method as control: above it the method takes hours.
const LONGEST_CONTROL: usize = 1000;
/// The authors' floor of scaled gaps on the electricity table.
const SHORTEST_GAP: f64 = 1e-3;

fn n_starts(extent: Extent) -> usize {
    match extent {
        Extent::Full => 20,
        Extent::Quick => 5,
    }
}

fn name(problem: Problem, extent: Extent) -> String {
    format!("{}-{}-starts", problem.name(), n_starts(extent))
}

fn control_name(problem: Problem, extent: Extent) -> String {
    format!("{}-km", name(problem, extent))
}

pub(super) fn jobs(context: &Context) -> Vec<Job<'_>> {
    let mut jobs = vec![];
    let extent = context.extent;
    let csv = context.electricity.as_deref();
    for seed in 0..context.n_seeds(SEEDS) {
        for problem in Problem::all(extent) {
            if csv.is_none() && problem.is_ett() {
                continue;
            }
            let of_seed = OfSeed { problem, seed, n_starts: n_starts(extent) };
            let study = move || problem.study(csv, seed);
            let key = (STUDY, name(problem, extent), seed);
            jobs.push(Job::new(key, 3.0, move || of_seed.scores(&study()?)));
            let has_control = problem.is_ett() && problem.n_points() <= LONGEST_CONTROL;
            if has_control && seed < context.n_exact_seeds(SEEDS) {
                let key = (STUDY, control_name(problem, extent), seed);
                jobs.push(Job::new(key, 20.0, move || of_seed.control(&study()?)));
            }
        }
    }
    jobs
}

/// What is computed for one problem and seed.
#[derive(Clone, Copy)]
struct OfSeed {
    problem: Problem,
    seed: u32,
    n_starts: usize,
}

impl OfSeed {
    /// Message passing from every start. Split, mask and W stay with the points; the chain and its median gap, the unit of
    /// distance, differ by start.
    fn scores(self, study: &Study) -> Result<Record, ExperimentError> {
        let mut record = Record::default();
        record.put("trivial.rmse", study.score(&study.trivial_prediction()?).rmse);
        let inputs = study.dataset.inputs();
        for scheme in Scheme::ALL {
            if scheme != Scheme::Even && self.seed >= SCHEME_SEEDS {
                continue;
            }
            let rows = self.problem.starts(scheme, inputs, self.n_starts, self.seed);
            for (at, row) in rows.into_iter().enumerate() {
                let moved = study.starting_at(row)?;
                let chain = match self.problem {
                    Problem::Sensor { .. } => moved.scaled_chain()?,
                    Problem::Ett { .. } => moved.chain_with_shortest_gap(SHORTEST_GAP)?,
                };
                let scores = moved.score(&moved.at_test_rows(&sweep(&moved, &chain)?)?);
                let mnll = match self.problem {
                    Problem::Sensor { .. } => scores.mnll_with_noise,
                    Problem::Ett { .. } => scores.mnll_latent,
                };
                record.put(scheme.key(at, "rmse"), scores.rmse);
                record.put(scheme.key(at, "mnll"), mnll);
                record.put(scheme.key(at, "length"), moved.chain.total_length());
                if scheme == Scheme::Even {
                    let n_points = moved.chain.len();
                    let all_pairs =
                        PairSampling { most_points_for_all_pairs: n_points, ..PairSampling::default() };
                    let largest = Distortion::of(inputs, &moved.chain, all_pairs).upper_bound();
                    record.put(scheme.key(at, "distortion"), largest);
                }
            }
        }
        Ok(record)
    }

    /// The exact method, which depends on the chain through the unit of distance alone.
    fn control(self, study: &Study) -> Result<Record, ExperimentError> {
        let mut record = Record::default();
        let rows = self.problem.starts(Scheme::Even, study.dataset.inputs(), self.n_starts, self.seed);
        for (at, row) in rows.into_iter().enumerate() {
            let moved = study.starting_at(row)?;
            let scores = moved.score(&exact(&moved, ExactOptions::paper())?);
            record.put(Scheme::Even.key(at, "rmse"), scores.rmse);
        }
        Ok(record)
    }
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut found = vec![];
    for problem in Problem::all(extent) {
        let records = ledger.seeds(STUDY, &name(problem, extent))?;
        let control = ledger.seeds(STUDY, &control_name(problem, extent))?;
        if !records.is_empty() {
            found.push(Found { problem, records, control, n_starts: n_starts(extent) });
        }
    }
    let Some(n_seeds) = found.iter().map(|one| one.records.len()).min() else { return Ok(None) };
    let mut chapter = Chapter::new(STUDY, "Where the chain starts");
    chapter.words.push(format!(
        "{} starts from the first row to the last in equal steps. Per start the median of RMSE over seeds, then the standard \
         deviation over starts with a bootstrap 95 % interval. Split, mask and W are fixed on the rows of the table before \
         ordering; distances are in units of each chain's own median gap. This study of the paper was run with the random \
         streams of Julia 1.11 or later, the others with those of Julia 1.10 or earlier.",
        n_starts(extent)
    ));
    chapter.words.push(
        "Numbers of the paper's figure are demanded to 1e-9, numbers of its text to every digit. Where the paper has words \
         only, the reference is an independent port of the same protocol. The control is the exact method on the \
         electricity table, which depends on the start through the unit of distance alone."
            .to_owned(),
    );
    chapter.say_seeds("Message passing", n_seeds, SEEDS as usize);
    if extent == Extent::Quick {
        chapter
            .words
            .push("Reduced: fewer starts than the paper's 20, so spreads are not judged.".to_owned());
    }
    for one in &found {
        chapter.comparisons.extend(comparisons::of_problem(one, extent));
    }
    if extent == Extent::Full {
        chapter.comparisons.extend(comparisons::of_text(&found, n_seeds));
    }
    chapter.comparisons.extend(proposition::counterexample()?);
    chapter.tables.push(view::spreads(&found));
    chapter.tables.push(view::schemes(&found));
    chapter.figures.push(view::figure(&found));
    Ok(Some(chapter))
}
