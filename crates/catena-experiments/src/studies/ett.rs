//! `ett`: electricity with three inputs (Fig. ETT and Fig. pareto).

use catena::structure::{Start, Tree, greedy_chain};
use catena_studies::ett_study::ett_study_summed;
use catena_studies::study::Study;
use catena_studies::summation::Summation;

use super::cells::{Cell, beside_paper, break_even_table, exact_name, look, port_name, score_table};
use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record};
use crate::methods::{Rival, note};
use crate::reference::printed;
use crate::settings::{Context, Extent};
use crate::statistics::deviation;
use crate::stopwatch::timed;
use crate::verdict::{Comparison, Rule, Verdict};

const STUDY: &str = "ett";
const SEEDS: u32 = 10;
const SIZES: [usize; 5] = [500, 1000, 2000, 4000, 8000];
const DROPOUTS: [f64; 4] = [0.1, 0.3, 0.5, 0.7];
/// The port's scores are those of this share of hidden cells.
const DROPOUT_OF_PORT: f64 = 0.3;
const MOST_FOR_EXACT: usize = 2000;
/// The authors keep all scaled gaps above this, which parts duplicates and so changes the model.
const SHORTEST_GAP: f64 = 1e-3;

fn name(n_training: usize, dropout: f64) -> String {
    format!("N{n_training}-p{dropout}")
}

/// The two sweeps: over N at p = 0.3, and over p at N = 2000.
fn settings(extent: Extent) -> Vec<(usize, f64)> {
    match extent {
        Extent::Quick => vec![(500, 0.3)],
        Extent::Full => {
            let over_size = SIZES.map(|n_training| (n_training, 0.3));
            let over_dropout =
                DROPOUTS.into_iter().filter(|dropout| *dropout != 0.3).map(|dropout| (2000, dropout));
            over_size.into_iter().chain(over_dropout).collect()
        }
    }
}

pub(super) fn jobs(context: &Context) -> Result<Vec<Job<'_>>, ExperimentError> {
    let csv = context.electricity.as_deref().ok_or(ExperimentError::NoElectricity { study: STUDY })?;
    let mut jobs = vec![];
    for seed in 0..context.n_seeds(SEEDS) {
        for (n_training, dropout) in settings(context.extent) {
            let cell = name(n_training, dropout);
            let rows = n_training as f64;
            let study = move |summation| ett_study_summed(csv, n_training, dropout, seed, summation);
            let of_authors = move || run(&study(Summation::Authors)?);
            jobs.push(Job::new((STUDY, cell.clone(), seed), rows / 4000.0, of_authors));
            if dropout == DROPOUT_OF_PORT {
                let of_port = move || run(&study(Summation::Port)?);
                jobs.push(Job::new((STUDY, port_name(&cell), seed), rows / 4000.0, of_port));
            }
            if n_training <= MOST_FOR_EXACT && seed < context.n_exact_seeds(SEEDS) {
                let weight = 6.0 * (rows / 2000.0).powi(3);
                let exact = move || run_exact(&study(Summation::Authors)?);
                jobs.push(Job::new((STUDY, exact_name(&cell), seed), weight, exact));
            }
        }
    }
    Ok(jobs)
}

/// Scores and seconds of the fast methods, and the seconds of the chain.
fn run(by_row: &Study) -> Result<Record, ExperimentError> {
    let (study, chain) = as_authors_see_it(by_row)?;
    let mut record = Record::default();
    let (_, seconds) = timed(|| Ok(greedy_chain(by_row.dataset.inputs(), Start::FirstRow)?))?;
    seconds.note(&mut record, "chain");
    for rival in [Rival::Ss, Rival::Svgp, Rival::Nngp, Rival::Trivial] {
        note(&mut record, rival, &study, &chain)?;
    }
    Ok(record)
}

fn run_exact(by_row: &Study) -> Result<Record, ExperimentError> {
    let (study, chain) = as_authors_see_it(by_row)?;
    let mut record = Record::default();
    note(&mut record, Rival::Km, &study, &chain)?;
    Ok(record)
}

/// Rows in chain order, where ties between equal distances go to the earlier position, and gaps above the floor.
fn as_authors_see_it(by_row: &Study) -> Result<(Study, Tree), ExperimentError> {
    let study = by_row.in_chain_order()?;
    let chain = study.chain_with_shortest_gap(SHORTEST_GAP)?;
    Ok((study, chain))
}

/// Six digits of what the paper prints, at every N.
const OF_PRINT: Rule = Rule::Relative(1e-6);

/// Six digits of the port's scores by seed at N ≤ 1000, three above.
fn of_port(n_training: usize) -> f64 {
    if n_training <= 1000 { 1e-6 } else { 1e-3 }
}

/// Where the port's mean is off the printed one by more than this part of it, it has decided ties otherwise than the authors.
const PORT_IS_PAPER: f64 = 1e-8;

/// Scores by seed compared with the port's.
///
/// A difference is a miss only if the port's own mean is the printed one. Otherwise the port is not the paper: the row is not
/// judged if our mean is the printed one, and has too few seeds to be judged if not all of the paper's seeds were run.
fn beside_port(n_training: usize, cell: &Cell, rival: Rival) -> Option<Comparison> {
    let row = cell.against_port(rival, of_port(n_training))?;
    let of_paper = SEEDS as usize;
    let from_print = cell.port_and_ours_from_print(rival, ("mnll_latent", "mnll"), of_paper);
    let Some((port, ours)) = from_print.filter(|(port, _)| *port > PORT_IS_PAPER) else { return Some(row) };
    if row.verdict != Verdict::Misses {
        return Some(row);
    }
    Some(match ours {
        Some(ours) if ours <= PORT_IS_PAPER => {
            row.not_judged(format!("the port's mean is {port:.0e} off the printed one, ours {ours:.0e}"))
        }
        Some(_) => row,
        None => row.not_comparable(format!(
            "the port's mean is {port:.0e} off the printed one; ours needs all {of_paper} seeds"
        )),
    })
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let (mut over_size, mut over_dropout) = (vec![], vec![]);
    for (n_training, dropout) in settings(extent) {
        let load = |x| {
            let label = format!("N = {n_training}, p = {dropout}");
            Cell::load(ledger, STUDY, name(n_training, dropout), label, x)
        };
        if dropout == 0.3 {
            over_size.push((n_training, load(n_training as f64)?));
        }
        if n_training == 2000 {
            over_dropout.push(load(dropout)?);
        }
    }
    over_dropout.sort_by(|a, b| a.x.total_cmp(&b.x));
    let n_seeds = over_size.iter().map(|(_, cell)| cell.n_seeds(Rival::Ss)).min().unwrap_or(0);
    if n_seeds == 0 {
        return Ok(None);
    }
    let mut chapter = Chapter::new(STUDY, "Electricity, three inputs: cost of partial observations");
    chapter.words.push(
        "N rows train, with a share p of cells hidden, and the N rows after them are forecast. The paper's MNLL leaves \
         the noise out. It cannot rank methods: predicting the training mean is as good as any of them in RMSE and better \
         than all in MNLL. `beyond` has a split of the same table that can."
            .to_owned(),
    );
    chapter.words.push(
        "Inputs are quantised: equally near rows are chosen between by the last bits of the standardization, and the authors deal \
         hidden cells in the order of the chain. Another order of summation is thus another table. Columns are summed as on \
         the authors' machine (sixteen running sums), an order found by trying those that a compiler may give a plain \
         loop: no other one meets the means that the paper prints to sixteen digits. Scores by seed are those of an independent port, which sums by halves; they are compared on \
         columns summed its way. The example ett_summation of catena-experiments prints both beside the paper. The port \
         decides other ties its own way, between neighbors at the same place and in k-means: where its mean is not the printed one, \
         and ours is, agreeing with both is impossible, and the row is not judged."
            .to_owned(),
    );
    chapter.say_seeds("Message passing, SVGP and NNGP", n_seeds, SEEDS as usize);
    let exact_cells = || over_size.iter().filter(|(n_training, _)| *n_training <= MOST_FOR_EXACT);
    let n_exact = exact_cells().map(|(_, cell)| cell.n_seeds(Rival::Km)).min().unwrap_or(0);
    chapter.say_seeds("The exact method", n_exact, SEEDS as usize);
    for (n_training, cell) in &over_size {
        compare(&mut chapter.comparisons, *n_training, cell);
    }
    for (n_training, cell) in &over_size {
        chapter.comparisons.extend(ratios(*n_training, cell));
    }
    let sizes: Vec<Cell> = over_size.into_iter().map(|(_, cell)| cell).collect();
    chapter.tables.push(score_table(
        "ett_scores",
        "Mean ± deviation over seeds, p = 0.3. The paper's MNLL is that of the function.",
        &sizes,
    ));
    chapter.tables.push(score_table(
        "ett_dropout_scores",
        "The same over the share p of hidden cells.",
        &over_dropout,
    ));
    chapter.tables.push(break_even_table("ett_times", &sizes));
    chapter.figures.push(figure(&sizes, &over_dropout));
    chapter.figures.push(pareto(&sizes));
    Ok(Some(chapter))
}

fn compare(rows: &mut Vec<Comparison>, n_training: usize, cell: &Cell) {
    let of_paper = SEEDS as usize;
    for rival in Rival::OF_PAPER {
        rows.extend(cell.against_print(rival, ("mnll_latent", "mnll"), of_paper, Some(OF_PRINT)));
        rows.extend(cell.against_print(rival, ("rmse", "rmse"), of_paper, None));
        rows.extend(beside_port(n_training, cell, rival));
    }
    if let (Some(reference), Some(values)) =
        (printed(STUDY, &cell.name, "km", "rmse_deviation"), cell.column(Rival::Km, "rmse"))
    {
        // The paper does not say whose deviation it is; the other methods' are not near it.
        let label = format!("{}, {}: deviation of RMSE over seeds", cell.label, Rival::Km.title());
        rows.push(
            Comparison::by_digits(label, reference, deviation(&values)).of_seeds(values.len(), of_paper),
        );
    }
    // Without parameters and hidden cells of its own, the trivial predictor is the same for all seeds.
    rows.extend(cell.against_print(Rival::Trivial, ("rmse", "rmse"), 1, None));
    rows.extend(cell.against_print(Rival::Trivial, ("mnll_latent", "mnll"), 1, None));
}

/// Headline ratios of the paper beside ours.
fn ratios(n_training: usize, cell: &Cell) -> Vec<Comparison> {
    let ratio = |above: Rival, below: Rival, quantity: &str| {
        let reference = printed(STUDY, &cell.name, above.key(), quantity)?.value;
        let ours = cell.times(above, below, None)?;
        let label = format!("time at N = {n_training}: {} / {}", above.title(), below.title());
        Some(Comparison::new(label, reference, ours, Rule::Context))
    };
    let all = [
        ratio(Rival::Km, Rival::Ss, "times_ss"),
        ratio(Rival::Km, Rival::Nngp, "times_nngp"),
        ratio(Rival::Svgp, Rival::Ss, "times_ss"),
        ratio(Rival::Nngp, Rival::Ss, "times_ss"),
    ];
    all.into_iter().flatten().collect()
}

fn figure(sizes: &[Cell], over_dropout: &[Cell]) -> Figure {
    let window = || {
        Axis::new("training rows N (p = 0.3)", Scale::Logarithmic).with_ticks(sizes.iter().map(|cell| cell.x))
    };
    let mut panels = vec![
        Panel {
            title: "time over N".to_owned(),
            x: window(),
            y: Axis::new("processor seconds, fit and forecast", Scale::Logarithmic),
            series: beside_paper(sizes, &Rival::OF_PAPER, "seconds", "seconds"),
        },
        Panel {
            title: "log loss over N".to_owned(),
            x: window(),
            y: Axis::new("MNLL, function", Scale::Linear),
            series: beside_paper(sizes, &Rival::ALL, "mnll_latent", "mnll"),
        },
    ];
    if over_dropout.len() > 1 {
        panels.push(Panel {
            title: "time over p".to_owned(),
            x: Axis::new("share p of hidden cells (N = 2000)", Scale::Linear).with_ticks(DROPOUTS),
            y: Axis::new("processor seconds, fit and forecast", Scale::Logarithmic),
            series: beside_paper(over_dropout, &Rival::OF_PAPER, "seconds", "seconds_over_p"),
        });
    }
    let caption = "Electricity with three inputs; our median seconds, mean scores ± deviation over seeds; hollow markers: \
                   the paper, whose times are another machine's";
    Figure::chart("ett", caption, 3, panels)
}

fn pareto(sizes: &[Cell]) -> Figure {
    let mut panels = vec![];
    for (number, label) in [("rmse", "RMSE"), ("mnll_latent", "MNLL, function")] {
        for cell in sizes.iter().filter(|cell| [1000.0, 2000.0].contains(&cell.x)) {
            let point = |rival: Rival| {
                let values = cell.column(rival, number)?;
                Some(Point::with_spread(cell.median_seconds(rival)?, &values))
            };
            let of_method = |rival: &Rival| {
                Some(Series::new(cell.title(*rival), look(*rival).unjoined(), vec![point(*rival)?]))
            };
            let mut series: Vec<Series> = Rival::OF_PAPER.iter().filter_map(of_method).collect();
            let front = front(Rival::OF_PAPER.iter().filter_map(|rival| point(*rival)).collect());
            series.insert(0, Series::new("Pareto front", Look::guide(), front));
            panels.push(Panel {
                title: format!("{label}, N = {}", cell.x),
                x: Axis::new("processor seconds (median)", Scale::Logarithmic),
                y: Axis::new(label, Scale::Linear),
                series,
            });
        }
    }
    let columns = panels.len().div_ceil(2).max(1);
    Figure::chart(
        "pareto",
        "Score against time, mean ± deviation over seeds; lower left is better",
        columns,
        panels,
    )
}

/// The points that no other beats in both time and score, by ascending time.
fn front(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut best = f64::INFINITY;
    points.retain(|point| {
        let is_better = point.y < best;
        best = best.min(point.y);
        is_better
    });
    points.into_iter().map(|point| Point::bare(point.x, point.y)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cells::{exact_name, port_name};
    use super::*;
    use crate::ledger::Key;
    use crate::methods::SCORES;
    use crate::reference::of_seed;

    /// A folder in which every method scored what the port did, message passing's error at N = 500 times a factor. The file of the
    /// study may not be part of the sources, so this is how its chapter is tested without it.
    fn made_up(name: &str, factor: f64) -> (std::path::PathBuf, Ledger) {
        let folder = std::env::temp_dir().join(format!("catena-ett-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let ledger = Ledger::new(&folder);
        for (n_training, dropout) in settings(Extent::Full) {
            let cell = super::name(n_training, dropout);
            for seed in 0..SEEDS {
                let mut record = Record::default();
                record.put("chain.seconds", 1e-3);
                for rival in Rival::ALL {
                    record.put(format!("{}.seconds", rival.key()), 1e-2);
                    // The port has no scores of other shares of hidden cells: they are shown, not judged.
                    let scores = of_seed(STUDY, &cell, rival.key(), seed).unwrap_or([5.0, 4.0, 3.0]);
                    for (score, value) in SCORES.iter().zip(scores) {
                        let is_changed = rival == Rival::Ss && *score == "rmse" && n_training == 500;
                        let value = if is_changed { value * factor } else { value };
                        record.put(format!("{}.{score}", rival.key()), value);
                    }
                }
                for cell in [cell.clone(), port_name(&cell), exact_name(&cell)] {
                    ledger.keep(&Key { study: STUDY, cell, seed }, &record).unwrap();
                }
            }
        }
        (folder, ledger)
    }

    fn by_seed(chapter: &Chapter, cell: &str) -> Vec<Verdict> {
        let is_it = |row: &&Comparison| row.quantity.starts_with(cell) && row.quantity.contains("by seed");
        chapter.comparisons.iter().filter(is_it).map(|row| row.verdict).collect()
    }

    #[test]
    fn scores_of_the_port_agree_with_the_port_and_others_do_not() {
        let (folder, ledger) = made_up("port", 1.0);
        let chapter = super::chapter(&ledger, Extent::Full).unwrap().unwrap();
        assert_eq!(by_seed(&chapter, "N = 500,"), [Verdict::Agrees; 4]);
        assert_eq!(by_seed(&chapter, "N = 8000,"), [Verdict::Agrees; 3]);
        let figures: Vec<&str> = chapter.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(figures, ["ett", "pareto"]);
        // Five sizes and four shares of five methods each; the exact one was made up everywhere.
        let sizes: Vec<usize> = chapter.tables.iter().map(|table| table.rows.len()).collect();
        assert_eq!(sizes, [25, 20, 5]);
        std::fs::remove_dir_all(folder).unwrap();

        let (folder, ledger) = made_up("changed", 1.0 + 3e-6);
        let chapter = super::chapter(&ledger, Extent::Full).unwrap().unwrap();
        let verdicts = by_seed(&chapter, "N = 500,");
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Misses).count(), 1, "{verdicts:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_front_is_what_nothing_beats() {
        let points = [(3.0, 1.0), (1.0, 5.0), (2.0, 6.0), (4.0, 2.0)].map(|(x, y)| Point::bare(x, y));
        assert_eq!(front(points.to_vec()), [Point::bare(1.0, 5.0), Point::bare(3.0, 1.0)]);
    }
}
