//! `start`: how much it matters where the chain begins (Fig. chain_start, Proposition 1).

use catena::data::InputPoints;
use catena::diagnostics::{Distortion, PairSampling, chain_start_factor};
use catena::index::RowIndex;
use catena::structure::{Start, greedy_chain};
use catena_methods::exact::ExactOptions;
use catena_studies::ett_study::ett_study;
use catena_studies::julia_streams::JuliaStream;
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;

use crate::chapter::{Chapter, Table, number, rounded, seeds, shown};
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record, column};
use crate::methods::{exact, sweep};
use crate::reference::printed;
use crate::settings::{Context, Extent};
use crate::statistics::{bootstrap, correlation, deviation, mean, median};
use crate::verdict::{Comparison, Rule, Verdict};

pub(super) const STUDY: &str = "start";
const SEEDS: u32 = 10;
const DIMS: [usize; 5] = [2, 4, 8, 16, 32];
const CHAIN_LENGTHS: [usize; 3] = [1000, 2000, 4000];
/// Seeds of the exact method as a control, unless fewer are asked for.
const CONTROL_SEEDS: u32 = 5;
const SHORTEST_GAP: f64 = 1e-3;
const SCHEMES: [&str; 3] = ["even", "random", "farthest"];

/// A problem with a chain to start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Problem {
    Sensor { dim: usize },
    Ett { chain_length: usize },
}

impl Problem {
    pub(super) fn name(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor-M{dim}"),
            Self::Ett { chain_length } => format!("ett-C{chain_length}"),
        }
    }

    pub(super) fn label(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor, M = {dim}"),
            Self::Ett { chain_length } => format!("electricity, C = {chain_length}"),
        }
    }

    /// Where it stands on an axis.
    fn x(self) -> f64 {
        match self {
            Self::Sensor { dim } => dim as f64,
            Self::Ett { chain_length } => chain_length as f64,
        }
    }

    fn n_points(self) -> usize {
        match self {
            Self::Sensor { .. } => 2000,
            Self::Ett { chain_length } => chain_length,
        }
    }

    fn study(self, csv: Option<&str>, seed: u32) -> Result<Study, ExperimentError> {
        match self {
            Self::Sensor { dim } => Ok(sensor_study(dim, seed)?),
            Self::Ett { chain_length } => {
                let csv = csv.ok_or(ExperimentError::NoElectricity { study: STUDY })?;
                Ok(ett_study(csv, chain_length / 2, 0.3, seed)?)
            }
        }
    }
}

fn problems(extent: Extent) -> Vec<Problem> {
    match extent {
        Extent::Quick => vec![Problem::Sensor { dim: 2 }, Problem::Sensor { dim: 8 }],
        Extent::Full => {
            let sensor = DIMS.map(|dim| Problem::Sensor { dim });
            let ett = CHAIN_LENGTHS.map(|chain_length| Problem::Ett { chain_length });
            sensor.into_iter().chain(ett).collect()
        }
    }
}

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
    let n_starts = n_starts(context.extent);
    let csv = context.electricity.as_deref();
    for seed in 0..context.n_seeds(SEEDS) {
        for problem in problems(context.extent) {
            if csv.is_none() && matches!(problem, Problem::Ett { .. }) {
                continue;
            }
            let cell = name(problem, context.extent);
            let study = move || problem.study(csv, seed);
            jobs.push(Job::new((STUDY, cell, seed), 5.0, move || run(problem, &study()?, n_starts)));
            let is_small = !matches!(problem, Problem::Ett { chain_length } if chain_length > 1000);
            if is_small && seed < context.n_exact_seeds(SEEDS).min(CONTROL_SEEDS) {
                let cell = control_name(problem, context.extent);
                jobs.push(Job::new((STUDY, cell, seed), 8.0, move || run_control(&study()?, n_starts)));
            }
        }
    }
    jobs
}

/// Rows to start from. The authors' random rows are not known; ours are the same for all seeds.
fn starts(scheme: &str, inputs: &InputPoints, n_starts: usize) -> Vec<RowIndex> {
    let n_rows = inputs.n_rows();
    match scheme {
        "random" => {
            JuliaStream::new(2026).randperm(n_rows).into_iter().take(n_starts).map(RowIndex::new).collect()
        }
        "farthest" => farthest_points(inputs, n_starts),
        _ => (0..n_starts).map(|at| RowIndex::new(at * n_rows / n_starts)).collect(),
    }
}

/// The first row, then always the row farthest from all chosen so far.
fn farthest_points(inputs: &InputPoints, count: usize) -> Vec<RowIndex> {
    let mut chosen = vec![RowIndex::new(0)];
    let mut nearest: Vec<f64> = inputs.rows().map(|row| inputs.squared_distance(row, chosen[0])).collect();
    while chosen.len() < count {
        let mut next = chosen[0];
        for row in inputs.rows() {
            if nearest[row.get()] > nearest[next.get()] {
                next = row;
            }
        }
        for row in inputs.rows() {
            nearest[row.get()] = nearest[row.get()].min(inputs.squared_distance(row, next));
        }
        chosen.push(next);
    }
    chosen
}

/// Split, mask and W stay with the points; only the chain, and with it the unit of distance, differs by start.
fn run(problem: Problem, study: &Study, n_starts: usize) -> Result<Record, ExperimentError> {
    let mut record = Record::default();
    record.put("trivial.rmse", study.score(&study.trivial_prediction()?).rmse);
    for scheme in SCHEMES {
        for (at, row) in starts(scheme, study.dataset.inputs(), n_starts).into_iter().enumerate() {
            let moved = study.starting_at(row)?;
            let chain = match problem {
                Problem::Sensor { .. } => moved.scaled_chain()?,
                Problem::Ett { .. } => moved.chain_with_shortest_gap(SHORTEST_GAP)?,
            };
            let scores = moved.score(&moved.at_test_rows(&sweep(&moved, &chain)?)?);
            let mnll = match problem {
                Problem::Sensor { .. } => scores.mnll_with_noise,
                Problem::Ett { .. } => scores.mnll_latent,
            };
            let key = |number: &str| format!("{scheme}.{at:02}.{number}");
            record.put(key("rmse"), scores.rmse);
            record.put(key("mnll"), mnll);
            record.put(key("length"), moved.chain.total_length());
            if scheme == SCHEMES[0] {
                let all_pairs =
                    PairSampling { most_points_for_all_pairs: moved.chain.len(), ..PairSampling::default() };
                let distortion = Distortion::of(moved.dataset.inputs(), &moved.chain, all_pairs);
                record.put(key("distortion"), distortion.upper_bound());
            }
        }
    }
    Ok(record)
}

/// The exact method sees the chain through the unit of distance alone.
fn run_control(study: &Study, n_starts: usize) -> Result<Record, ExperimentError> {
    let mut record = Record::default();
    for (at, row) in starts(SCHEMES[0], study.dataset.inputs(), n_starts).into_iter().enumerate() {
        let moved = study.starting_at(row)?;
        let scores = moved.score(&exact(&moved, ExactOptions::paper())?);
        record.put(format!("even.{at:02}.rmse"), scores.rmse);
    }
    Ok(record)
}

/// Per start the median over seeds of one number.
fn by_start(records: &[Record], scheme: &str, number: &str, n_starts: usize) -> Option<Vec<f64>> {
    let of_start =
        |at: usize| column(records, &format!("{scheme}.{at:02}.{number}")).map(|values| median(&values));
    (0..n_starts).map(of_start).collect()
}

/// What was found for one problem.
pub(super) struct Found {
    pub(super) problem: Problem,
    records: Vec<Record>,
    control: Vec<Record>,
    n_starts: usize,
}

impl Found {
    /// The deviation across starts and its bootstrap interval.
    fn spread(&self, scheme: &str, number: &str) -> Option<(f64, (f64, f64))> {
        let values = by_start(&self.records, scheme, number, self.n_starts)?;
        Some((deviation(&values), bootstrap(&values, deviation)))
    }

    /// The central 95 % of the deviation across starts when seeds are drawn again: what other splits and W could have given.
    pub(super) fn spread_over_seeds(&self, number: &str) -> Option<(f64, f64)> {
        let starts = |record: &Record| -> Option<Vec<f64>> {
            (0..self.n_starts).map(|at| record.get(&format!("{}.{at:02}.{number}", SCHEMES[0]))).collect()
        };
        let by_seed: Vec<Vec<f64>> = self.records.iter().map(starts).collect::<Option<_>>()?;
        let spread = |seeds: &[Vec<f64>]| {
            let middle = |at| median(&seeds.iter().map(|starts| starts[at]).collect::<Vec<f64>>());
            deviation(&(0..self.n_starts).map(middle).collect::<Vec<f64>>())
        };
        Some(bootstrap(&by_seed, spread))
    }

    /// How many times less the exact method varies, over the seeds of the control.
    fn control_ratio(&self) -> Option<f64> {
        let same_seeds = &self.records[..self.control.len().min(self.records.len())];
        let ours = deviation(&by_start(same_seeds, SCHEMES[0], "rmse", self.n_starts)?);
        let control = deviation(&by_start(&self.control, SCHEMES[0], "rmse", self.n_starts)?);
        Some(ours / control)
    }

    /// Whether ε_π tells the error of a start: their correlation over starts.
    fn correlation(&self) -> Option<(f64, (f64, f64))> {
        let errors = by_start(&self.records, SCHEMES[0], "rmse", self.n_starts)?;
        let distortions = by_start(&self.records, SCHEMES[0], "distortion", self.n_starts)?;
        let pairs: Vec<(f64, f64)> = distortions.into_iter().zip(errors).collect();
        Some((correlation(&pairs), bootstrap(&pairs, correlation)))
    }

    /// The largest ratio of two chains' lengths within a seed.
    fn length_ratio(&self) -> f64 {
        let mut largest = 0.0_f64;
        for record in &self.records {
            let keys = SCHEMES
                .iter()
                .flat_map(|scheme| (0..self.n_starts).map(move |at| format!("{scheme}.{at:02}.length")));
            let lengths: Vec<f64> = keys.filter_map(|key| record.get(&key)).collect();
            let longest = lengths.iter().copied().fold(0.0, f64::max);
            let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
            largest = largest.max(longest / shortest);
        }
        largest
    }
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut found = vec![];
    for problem in problems(extent) {
        let records = ledger.seeds(STUDY, &name(problem, extent))?;
        let control = ledger.seeds(STUDY, &control_name(problem, extent))?;
        if !records.is_empty() {
            found.push(Found { problem, records, control, n_starts: n_starts(extent) });
        }
    }
    let Some(n_seeds) = found.iter().map(|one| one.records.len()).min() else { return Ok(None) };
    let mut chapter = Chapter::new(STUDY, "Where the chain starts");
    chapter.words.push(format!(
        "{} starts, chosen evenly, at random and by the farthest point; per start the median over seeds, then the deviation \
         across starts with a bootstrap 95 % interval. Split, mask and W are fixed on the points. The authors' starts are \
         not known, nor are the split and W of this study, so agreement is by their interval. The control is the exact \
         method, which sees a start through the unit of distance alone.",
        n_starts(extent)
    ));
    chapter.say_seeds("Message passing", n_seeds, SEEDS as usize);
    chapter.words.push(
        "Whatever the start, RMSE moves by far less than between seeds; that much of the paper's reading holds. Where a spread \
         lies outside the printed interval it is a miss, above or below."
            .to_owned(),
    );
    if extent == Extent::Quick {
        chapter
            .words
            .push("Reduced: fewer starts than the paper's 20, so that spreads are not judged.".to_owned());
    }
    for one in &found {
        compare(&mut chapter.comparisons, one, extent);
    }
    chapter.words.extend(super::start_misses::causes(&found, &chapter.comparisons));
    chapter.comparisons.extend(growth_of_log_loss(&found, n_seeds));
    chapter.comparisons.extend(counterexample()?);
    chapter.tables.push(table(&found));
    chapter.figures.push(figure(&found));
    Ok(Some(chapter))
}

fn compare(rows: &mut Vec<Comparison>, found: &Found, extent: Extent) {
    let (label, cell) = (found.problem.label(), found.problem.name());
    let (n_seeds, of_paper) = (found.records.len(), SEEDS as usize);
    // Fewer starts have another spread: as little to be judged as fewer seeds.
    let judged = |row: Comparison| match extent {
        Extent::Full => row.of_seeds(n_seeds, of_paper),
        Extent::Quick => row.not_comparable(format!("{} starts instead of 20", found.n_starts)),
    };
    let of = |quantity: &str| printed(STUDY, &cell, "ss", quantity).map(|reference| reference.value);
    if let (Some(reference), Some(low), Some(high), Some((spread, _))) =
        (of("rmse_spread"), of("rmse_spread_low"), of("rmse_spread_high"), found.spread(SCHEMES[0], "rmse"))
    {
        let quantity = spread_quantity(&label);
        rows.push(judged(Comparison::new(quantity, reference, spread, Rule::Within(low, high))));
    }
    if let (Problem::Ett { .. }, Some(values)) =
        (found.problem, by_start(&found.records, SCHEMES[0], "rmse", found.n_starts))
    {
        let relative = deviation(&values) / mean(&values);
        let quantity = format!("{label}: deviation of RMSE over starts, relative to its mean");
        // Printed with two digits: ours may round to it.
        let most = printed(STUDY, "ett", "ss", "largest_relative_spread")
            .map_or(0.0, |reference| reference.value + reference.half_digit);
        rows.push(judged(Comparison::new(quantity, most, relative, Rule::AtMost)));
    }
    if let Some(ratio) = found.control_ratio() {
        let quantity = format!(
            "{label}: times that the exact control varies less, {} (paper: 10 to 50)",
            seeds(found.control.len())
        );
        rows.push(Comparison::new(quantity, 10.0, ratio, Rule::Context));
    }
    if let Some((value, (low, high))) = found.correlation() {
        let quantity = format!(
            "{label}: correlation of ε_π and RMSE over starts, interval [{low:.2}, {high:.2}] (paper: close to zero)"
        );
        rows.push(Comparison::new(quantity, 0.0, value, Rule::Context));
    }
    let n_points = found.problem.n_points();
    let quantity = format!("{label}: largest ratio of two chains' lengths, Proposition 1");
    let corrected = chain_start_factor(n_points);
    let as_printed = 0.5 * corrected;
    let ratio = found.length_ratio();
    rows.push(Comparison::new(format!("{quantity} as printed"), as_printed, ratio, Rule::AtMost));
    rows.push(Comparison::new(format!("{quantity} corrected"), corrected, ratio, Rule::AtMost));
}

/// The name of the row that the seeds are asked about.
pub(super) fn spread_quantity(label: &str) -> String {
    format!("{label}: deviation of RMSE over starts")
}

/// The paper: the spread of MNLL grows four- to sevenfold over the range of M.
fn growth_of_log_loss(found: &[Found], n_seeds: usize) -> Option<Comparison> {
    let spread = |dim: usize| {
        let one = found.iter().find(|one| one.problem == Problem::Sensor { dim })?;
        Some(one.spread(SCHEMES[0], "mnll")?.0)
    };
    let growth = spread(32)? / spread(2)?;
    let label = "sensor: growth of the deviation of MNLL over starts, from M = 2 to 32 (paper: 4 to 7)";
    Some(Comparison::new(label, 4.0, growth, Rule::Within(4.0, 7.0)).of_seeds(n_seeds, SEEDS as usize))
}

/// Four points on a line for which Proposition 1 does not hold as it is printed.
fn counterexample() -> Result<Vec<Comparison>, ExperimentError> {
    let inputs = InputPoints::from_column(vec![-1.0, 0.0, 0.9, 3.0])?;
    let length = |row| -> Result<f64, ExperimentError> {
        Ok(greedy_chain(&inputs, Start::Row(RowIndex::new(row)))?.total_length())
    };
    let ratio = length(1)? / length(0)?;
    let label = "points −1, 0, 0.9, 3: length of the chain from 0 over that from −1, Proposition 1";
    let mut as_printed =
        Comparison::new(format!("{label} as printed"), 0.5 * chain_start_factor(4), ratio, Rule::AtMost);
    if as_printed.verdict == Verdict::Misses {
        as_printed.verdict = Verdict::Refutes;
    }
    let corrected = Comparison::new(format!("{label} corrected"), chain_start_factor(4), ratio, Rule::AtMost);
    Ok(vec![as_printed, corrected])
}

fn table(found: &[Found]) -> Table {
    let header = [
        "problem",
        "seeds",
        "starts",
        "training mean, RMSE",
        "RMSE, mean",
        "deviation of RMSE",
        "95 % interval",
        "relative",
        "deviation of MNLL",
        "95 % interval",
    ];
    let mut table = Table::new("start_spread", "Spread over starts, by the way they are chosen.", &header);
    for one in found {
        for scheme in SCHEMES {
            let (Some(errors), Some((rmse, rmse_interval)), Some((mnll, mnll_interval))) = (
                by_start(&one.records, scheme, "rmse", one.n_starts),
                one.spread(scheme, "rmse"),
                one.spread(scheme, "mnll"),
            ) else {
                continue;
            };
            let interval = |(low, high): (f64, f64)| format!("[{low:.2e}, {high:.2e}]");
            table.push([
                one.problem.label(),
                one.records.len().to_string(),
                scheme.to_owned(),
                column(&one.records, "trivial.rmse")
                    .map_or_else(|| shown(None), |values| number(median(&values))),
                number(mean(&errors)),
                shown(Some(rmse)),
                interval(rmse_interval),
                format!("{} %", rounded(100.0 * rmse / mean(&errors))),
                shown(Some(mnll)),
                interval(mnll_interval),
            ]);
        }
    }
    table
}

fn figure(found: &[Found]) -> Figure {
    let panel = |title: &str, label: &str, ticks: Vec<f64>, is_of: &dyn Fn(Problem) -> bool| {
        let chosen = || found.iter().filter(|one| is_of(one.problem));
        let of_paper = chosen().filter_map(|one| {
            let of = |quantity: &str| Some(printed(STUDY, &one.problem.name(), "ss", quantity)?.value);
            Some(Point {
                x: one.problem.x(),
                y: of("rmse_spread")?,
                low: of("rmse_spread_low")?,
                high: of("rmse_spread_high")?,
            })
        });
        let mut series = vec![];
        for (at, scheme) in SCHEMES.iter().enumerate() {
            let points = chosen().filter_map(|one| {
                let (y, (low, high)) = one.spread(scheme, "rmse")?;
                Some(Point { x: one.problem.x(), y, low, high })
            });
            series.push(Series::new(format!("{scheme} starts"), Look::method(at), points.collect()));
        }
        // Last, so that it lies above ours where they coincide.
        series.push(Series::new("paper", Look::print(), of_paper.collect()));
        let y = Axis::new("deviation of RMSE over starts", Scale::Logarithmic);
        let x = Axis::new(label, Scale::Logarithmic).with_ticks(ticks);
        Panel { title: title.to_owned(), x, y, series }
    };
    let dims: Vec<f64> = DIMS.iter().map(|dim| *dim as f64).collect();
    let lengths: Vec<f64> = CHAIN_LENGTHS.iter().map(|length| *length as f64).collect();
    let mut panels = vec![panel("sensor network", "input dimension M", dims, &|problem| {
        matches!(problem, Problem::Sensor { .. })
    })];
    if found.iter().any(|one| matches!(one.problem, Problem::Ett { .. })) {
        panels.push(panel("electricity", "points C", lengths, &|problem| {
            matches!(problem, Problem::Ett { .. })
        }));
    }
    Figure::chart(
        "chain_start",
        "Spread of RMSE over starting points, with bootstrap 95 % intervals",
        2,
        panels,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn farthest_points_go_to_the_ends() {
        let inputs = InputPoints::from_column(vec![0.0, 1.0, 2.0, 10.0, -3.0]).unwrap();
        let rows: Vec<usize> = farthest_points(&inputs, 3).into_iter().map(RowIndex::get).collect();
        assert_eq!(rows, [0, 3, 4]);
    }

    #[test]
    fn the_printed_proposition_is_refuted_and_the_corrected_one_holds() {
        let rows = counterexample().unwrap();
        assert_eq!(rows[0].verdict, Verdict::Refutes);
        assert!((rows[0].ours - 1.7).abs() < 1e-12 && rows[0].reference == Some(1.5));
        assert_eq!(rows[1].verdict, Verdict::Agrees);
    }
}
