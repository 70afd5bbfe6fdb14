//! `sensor`: the input-dimension sweep on the sensor network (Fig. dim_sweep and Fig. chain_gap).

use catena::diagnostics::GapStatistics;
use catena::structure::{Start, greedy_chain};
use catena_studies::sensor_study::sensor_study;

use super::cells::{Cell, beside_paper, break_even_table, by_seed, exact_name, score_table};
use crate::chapter::{Chapter, Table, mean_and_spread, seeds, shown};
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record};
use crate::methods::{Rival, note};
use crate::reference::{of_seed, printed};
use crate::settings::{Context, Extent};
use crate::statistics::{deviation, mean};
use crate::stopwatch::timed;
use crate::verdict::{Comparison, Rule, worst_relative};

const STUDY: &str = "sensor";
const DIMS: [usize; 5] = [2, 4, 8, 16, 32];
const QUICK_DIMS: [usize; 2] = [2, 8];
const SEEDS: u32 = 100;
/// Digits that scores by seed must share with the port's.
const BY_SEED: f64 = 1e-6;
/// How near figures of the paper must be met.
const BY_FIGURE: f64 = 1e-6;

fn dims(extent: Extent) -> &'static [usize] {
    match extent {
        Extent::Full => &DIMS,
        Extent::Quick => &QUICK_DIMS,
    }
}

fn name(dim: usize) -> String {
    format!("M{dim}")
}

pub(super) fn jobs(context: &Context) -> Vec<Job<'_>> {
    let mut jobs = vec![];
    for seed in 0..context.n_seeds(SEEDS) {
        for &dim in dims(context.extent) {
            jobs.push(Job::new((STUDY, name(dim), seed), 0.3, move || run(dim, seed, false)));
            if seed < context.n_exact_seeds(SEEDS) {
                jobs.push(Job::new((STUDY, exact_name(&name(dim)), seed), 0.6, move || run(dim, seed, true)));
            }
        }
    }
    jobs
}

fn run(dim: usize, seed: u32, is_exact: bool) -> Result<Record, ExperimentError> {
    let study = sensor_study(dim, seed)?;
    let chain = study.scaled_chain()?;
    let mut record = Record::default();
    if is_exact {
        note(&mut record, Rival::Km, &study, &chain)?;
        return Ok(record);
    }
    let inputs = study.dataset.inputs();
    let (_, seconds) = timed(|| Ok(greedy_chain(inputs, Start::FirstRow)?))?;
    let gaps = GapStatistics::new(&study.chain);
    seconds.note(&mut record, "chain");
    record.put("chain.mean", gaps.mean);
    record.put("chain.largest", gaps.largest);
    record.put("chain.median", gaps.median);
    for rival in [Rival::Ss, Rival::Svgp, Rival::Nngp, Rival::Trivial] {
        note(&mut record, rival, &study, &chain)?;
    }
    Ok(record)
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut cells = vec![];
    for &dim in dims(extent) {
        cells.push(Cell::load(ledger, STUDY, name(dim), format!("M = {dim}"), dim as f64)?);
    }
    let n_seeds = cells.iter().map(|cell| cell.n_seeds(Rival::Ss)).min().unwrap_or(0);
    if n_seeds == 0 {
        return Ok(None);
    }
    let mut chapter = Chapter::new(STUDY, "Sensor network: accuracy over the input dimension");
    chapter.words.push(
        "C = 2000 points, half observed, D = 3 outputs, L = 2 latents with given parameters. The layout of the network \
         differs by M, so levels at different M are not comparable. Outputs have no noise, although the model assumes \
         0.1. The last row of each cell predicts the training mean with the training variance."
            .to_owned(),
    );
    chapter.words.push(
        "The authors add 1e-6 to the covariance of the inducing values, and the first latent has variance 2: on its \
         correlation, which is what we factor, that is 5e-7. With 1e-6 on both, SVGP missed six digits at M = 2, 4 and 8."
            .to_owned(),
    );
    chapter.say_seeds("Message passing, SVGP and NNGP", n_seeds, SEEDS as usize);
    let n_exact = cells.iter().map(|cell| cell.n_seeds(Rival::Km)).min().unwrap_or(0);
    chapter.say_seeds("The exact method, and differences to it", n_exact, SEEDS as usize);
    for cell in &cells {
        compare(&mut chapter.comparisons, cell);
    }
    chapter.comparisons.extend(times(&cells));
    chapter.tables.push(score_table(
        "sensor_scores",
        "Mean ± deviation over seeds. The paper's MNLL is the one with noise.",
        &cells,
    ));
    chapter.tables.push(gap_table(&cells));
    chapter.tables.push(break_even_table("sensor_times", &cells));
    chapter.figures.push(dim_sweep(&cells));
    chapter.figures.push(chain_gap(&cells));
    Ok(Some(chapter))
}

fn compare(rows: &mut Vec<Comparison>, cell: &Cell) {
    let of_paper = SEEDS as usize;
    let n_seeds = cell.n_seeds(Rival::Ss);
    for (number, quantity) in [("mean", "mean_gap"), ("largest", "largest_gap")] {
        let Some(values) = cell.chain(number) else { continue };
        if let Some(reference) = printed(STUDY, &cell.name, "chain", quantity) {
            let label = format!("{}: {number} gap of the chain", cell.label);
            let row = Comparison::new(label, reference.value, mean(&values), Rule::Absolute(BY_FIGURE));
            rows.push(row.of_seeds(n_seeds, of_paper));
        }
        if let Some(reference) = printed(STUDY, &cell.name, "chain", &format!("{quantity}_deviation")) {
            let label = format!("{}: deviation of the {number} gap", cell.label);
            rows.push(
                Comparison::by_digits(label, reference, deviation(&values)).of_seeds(n_seeds, of_paper),
            );
        }
    }
    rows.extend(gaps_by_seed(cell));
    for rival in Rival::OF_PAPER {
        rows.extend(cell.against_print(rival, ("rmse", "rmse"), of_paper, None));
        rows.extend(cell.against_print(rival, ("mnll_with_noise", "mnll"), of_paper, None));
        rows.extend(cell.against_port(rival, BY_SEED));
    }
    for (score, quantity) in [("rmse", "rmse_minus_km"), ("mnll_with_noise", "mnll_minus_km")] {
        let Some(values) = differences(cell, score) else { continue };
        let word = if score == "rmse" { "RMSE" } else { "MNLL" };
        if let Some(reference) = printed(STUDY, &cell.name, "ss", quantity) {
            let label = format!("{}: mean {word} of SS minus KM", cell.label);
            let row = Comparison::new(label, reference.value, mean(&values), Rule::Absolute(BY_FIGURE));
            rows.push(row.of_seeds(values.len(), of_paper));
        }
        if let Some(reference) = printed(STUDY, &cell.name, "ss", &format!("{quantity}_deviation")) {
            let label = format!("{}: deviation of {word} of SS minus KM", cell.label);
            let row = Comparison::by_digits(label, reference, deviation(&values));
            rows.push(row.of_seeds(values.len(), of_paper));
        }
    }
    if cell.name == "M2" {
        rows.extend(diverged_elsewhere(cell));
    }
}

/// The range of seconds over M that the paper prints, beside ours: another machine's, not judged.
fn times(cells: &[Cell]) -> Vec<Comparison> {
    let mut rows = vec![];
    for rival in Rival::OF_PAPER {
        let seconds: Vec<f64> = cells.iter().filter_map(|cell| cell.median_seconds(rival)).collect();
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        for (word, ours) in [("least", least), ("most", most)] {
            let reference = printed(STUDY, "all", rival.key(), &format!("seconds_{word}"));
            if let (Some(reference), false) = (reference, seconds.is_empty()) {
                let label = format!("seconds of {}, {word} over M", rival.title());
                rows.push(Comparison::new(label, reference.value, ours, Rule::Context));
            }
        }
    }
    rows
}

fn gaps_by_seed(cell: &Cell) -> Option<Comparison> {
    let numbers = [cell.chain("mean")?, cell.chain("largest")?, cell.chain("median")?];
    let (mut pairs, mut n_seeds) = (vec![], 0);
    for seed in 0..numbers[0].len() {
        let Some(expected) = of_seed(STUDY, &cell.name, "chain", seed as u32) else { break };
        pairs.extend(numbers.iter().map(|values| values[seed]).zip(expected));
        n_seeds += 1;
    }
    let label = format!("{}: mean, largest and median gap by seed, {}", cell.label, seeds(n_seeds));
    Some(by_seed(label, worst_relative(pairs), BY_SEED))
}

/// The authors' message-passing engine returned an RMSE of 8.5e7 for seed 4 at M = 2.
fn diverged_elsewhere(cell: &Cell) -> Option<Comparison> {
    let seed = 4;
    let ours = *cell.column(Rival::Ss, "rmse")?.get(seed)?;
    let [expected, ..] = of_seed(STUDY, "M2", "ss", seed as u32)?;
    let label = "M = 2, seed 4, where the authors' generic engine diverged: RMSE of SS";
    Some(Comparison::new(label, expected, ours, Rule::Relative(BY_SEED)))
}

/// SS minus KM, within each seed that both were run on.
fn differences(cell: &Cell, score: &str) -> Option<Vec<f64>> {
    let (ours, exact) = (cell.column(Rival::Ss, score)?, cell.column(Rival::Km, score)?);
    Some(ours.iter().zip(&exact).map(|(ours, exact)| ours - exact).collect())
}

fn gap_table(cells: &[Cell]) -> Table {
    let header = ["cell", "mean gap", "largest gap", "RMSE, SS − KM", "MNLL, SS − KM"];
    let mut table = Table::new(
        "sensor_chain_gap",
        "Stretch of the chain, and what it costs against the exact posterior within each seed.",
        &header,
    );
    for cell in cells {
        let spread =
            |values: Option<Vec<f64>>| values.map_or_else(|| shown(None), |values| mean_and_spread(&values));
        table.push([
            cell.label.clone(),
            spread(cell.chain("mean")),
            spread(cell.chain("largest")),
            spread(differences(cell, "rmse")),
            spread(differences(cell, "mnll_with_noise")),
        ]);
    }
    table
}

fn input_dimension() -> Axis {
    Axis::new("input dimension M", Scale::Logarithmic).with_ticks(DIMS.map(|dim| dim as f64))
}

fn dim_sweep(cells: &[Cell]) -> Figure {
    let panel = |title: &str, label: &str, scale, number: &str, quantity: &str, rivals: &[Rival]| Panel {
        title: title.to_owned(),
        x: input_dimension(),
        y: Axis::new(label, scale),
        series: beside_paper(cells, rivals, number, quantity),
    };
    let caption = "Input-dimension sweep on the sensor network, mean ± deviation over seeds; hollow markers: numbers \
                   printed in the paper's text (its curves are not printed); medians of seconds";
    Figure::chart(
        "dim_sweep",
        caption,
        3,
        vec![
            panel("error", "RMSE", Scale::Logarithmic, "rmse", "rmse", &Rival::ALL),
            panel("log loss", "MNLL, with noise", Scale::Linear, "mnll_with_noise", "mnll", &Rival::ALL),
            panel("time", "processor seconds", Scale::Logarithmic, "seconds", "seconds", &Rival::OF_PAPER),
        ],
    )
}

fn chain_gap(cells: &[Cell]) -> Figure {
    let of_paper = |method: &str, quantity: &str, look: usize, name: &str| {
        let point =
            |cell: &Cell| Some(Point::bare(cell.x, printed(STUDY, &cell.name, method, quantity)?.value));
        Series::new(format!("{name}, paper"), Look::paper(look), cells.iter().filter_map(point).collect())
    };
    let ours = |values: &dyn Fn(&Cell) -> Option<Vec<f64>>, look: usize, name: &str| {
        let point = |cell: &Cell| Some(Point::with_spread(cell.x, &values(cell)?));
        Series::new(name, Look::method(look), cells.iter().filter_map(point).collect())
    };
    let panel = |title: &str, label: &str, scale, series: Vec<Series>| Panel {
        title: title.to_owned(),
        x: input_dimension(),
        y: Axis::new(label, scale),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
    };
    let gaps = vec![
        of_paper("chain", "mean_gap", 3, "mean gap"),
        of_paper("chain", "largest_gap", 5, "largest gap"),
        ours(&|cell| cell.chain("mean"), 3, "mean gap"),
        ours(&|cell| cell.chain("largest"), 5, "largest gap"),
    ];
    let difference = |score: &'static str, quantity: &str| {
        let ours = ours(&|cell| differences(cell, score), 0, "SS − KM");
        vec![of_paper("ss", quantity, 0, "SS − KM"), ours]
    };
    Figure::chart(
        "chain_gap",
        "Chain stretch and the gap to the exact posterior, mean ± deviation over seeds; hollow markers: the paper",
        3,
        vec![
            panel("chain", "gap Δ", Scale::Logarithmic, gaps),
            panel("error", "RMSE, SS − KM", Scale::Linear, difference("rmse", "rmse_minus_km")),
            panel("log loss", "MNLL, SS − KM", Scale::Linear, difference("mnll_with_noise", "mnll_minus_km")),
        ],
    )
}
