//! `ett-time`: electricity over time, where message passing is exact (Fig. ETT_m1).

use catena_methods::exact::ExactOptions;
use catena_studies::ett_time_study::ett_time_study;
use catena_studies::study::Study;

use super::cells::{Cell, beside_paper, exact_name, score_table};
use crate::chapter::Chapter;
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Panel, Scale};
use crate::job::Job;
use crate::ledger::{Ledger, Record, column};
use crate::methods::{Rival, exact, note, sweep};
use crate::reference::printed;
use crate::settings::{Context, Extent};
use crate::verdict::{Comparison, Rule};

const STUDY: &str = "ett-time";
const SEEDS: u32 = 3;
const SIZES: [usize; 4] = [500, 1000, 2000, 4000];
const DROPOUTS: [f64; 4] = [0.1, 0.3, 0.5, 0.7];
/// How near the paper's numbers must be met, and how near message passing must be to the exact method.
const BY_FIGURE: f64 = 1e-9;
const TO_EXACT: f64 = 1e-8;

fn name(n_rows: usize, dropout: f64) -> String {
    format!("C{n_rows}-p{dropout}")
}

fn settings(extent: Extent) -> Vec<(usize, f64)> {
    match extent {
        Extent::Quick => vec![(500, 0.3)],
        Extent::Full => {
            let over_dropout =
                DROPOUTS.into_iter().filter(|dropout| *dropout != 0.3).map(|dropout| (1000, dropout));
            SIZES.map(|n_rows| (n_rows, 0.3)).into_iter().chain(over_dropout).collect()
        }
    }
}

pub(super) fn jobs(context: &Context) -> Result<Vec<Job<'_>>, ExperimentError> {
    let csv = context.electricity.as_deref().ok_or(ExperimentError::NoElectricity { study: STUDY })?;
    let mut jobs = vec![];
    for seed in 0..context.n_seeds(SEEDS) {
        for (n_rows, dropout) in settings(context.extent) {
            let cell = name(n_rows, dropout);
            let study = move || ett_time_study(csv, n_rows, dropout, seed);
            jobs.push(Job::new((STUDY, cell.clone(), seed), 0.1, move || run(&study()?)));
            if seed < context.n_exact_seeds(SEEDS) {
                let weight = 40.0 * (n_rows as f64 / 4000.0).powi(3);
                jobs.push(Job::new((STUDY, exact_name(&cell), seed), weight, move || run_exact(&study()?)));
            }
        }
    }
    Ok(jobs)
}

fn run(study: &Study) -> Result<Record, ExperimentError> {
    let mut record = Record::default();
    for rival in [Rival::Ss, Rival::Trivial] {
        note(&mut record, rival, study, &study.chain)?;
    }
    Ok(record)
}

/// The exact method with the authors' jitter, timed, and without any, to compare message passing with.
fn run_exact(study: &Study) -> Result<Record, ExperimentError> {
    let mut record = Record::default();
    note(&mut record, Rival::Km, study, &study.chain)?;
    let ours = study.at_test_rows(&sweep(study, &study.chain)?)?;
    let exact = exact(study, ExactOptions::default())?;
    let largest =
        |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    record.put("exact.mean_difference", largest(ours.means(), exact.means()));
    record.put("exact.variance_difference", largest(ours.variances(), exact.variances()));
    record.put(
        "exact.mnll_difference",
        (study.score(&ours).mnll_latent - study.score(&exact).mnll_latent).abs(),
    );
    Ok(record)
}

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let (mut sizes, mut over_dropout) = (vec![], vec![]);
    for (n_rows, dropout) in settings(extent) {
        let label = format!("C = {n_rows}, p = {dropout}");
        let load = |x| Cell::load(ledger, STUDY, name(n_rows, dropout), label.clone(), x);
        if dropout == 0.3 {
            sizes.push(load(n_rows as f64)?);
        }
        if n_rows == 1000 {
            over_dropout.push(load(dropout)?);
        }
    }
    over_dropout.sort_by(|a, b| a.x.total_cmp(&b.x));
    let n_seeds = sizes.iter().map(|cell| cell.n_seeds(Rival::Ss)).min().unwrap_or(0);
    if n_seeds == 0 {
        return Ok(None);
    }
    let mut chapter = Chapter::new(STUDY, "Electricity over time: the chain is exact");
    chapter.words.push(
        "All seven channels over the hours; the first half of a window trains, the second is forecast. With one input the \
         chain changes nothing, so both methods are one model and only their cost differs. The forecast is almost the \
         prior, half a window ahead: it says nothing about accuracy, and the training mean scores better."
            .to_owned(),
    );
    chapter.say_seeds("All methods", n_seeds, SEEDS as usize);
    for cell in &sizes {
        compare(&mut chapter.comparisons, cell);
    }
    chapter.tables.push(score_table(
        "ett_time_scores",
        "Mean ± deviation over seeds. The paper's MNLL is that of the function.",
        &sizes,
    ));
    chapter.tables.push(score_table(
        "ett_time_dropout_scores",
        "The same over the share p of hidden cells, C = 1000.",
        &over_dropout,
    ));
    chapter.figures.push(figure(&sizes, &over_dropout));
    Ok(Some(chapter))
}

fn compare(rows: &mut Vec<Comparison>, cell: &Cell) {
    for rival in [Rival::Ss, Rival::Km] {
        let rule = Some(Rule::Absolute(BY_FIGURE));
        rows.extend(cell.against_print(rival, ("mnll_latent", "mnll"), SEEDS as usize, rule));
    }
    let exact = cell.records(Rival::Km);
    for (number, word) in [("mean", "means"), ("variance", "variances"), ("mnll", "MNLL")] {
        if let Some(values) = column(exact, &format!("exact.{number}_difference")) {
            let largest = values.iter().copied().fold(0.0, f64::max);
            let label = format!(
                "{}: {word} of SS against the exact method without jitter, largest difference",
                cell.label
            );
            rows.push(Comparison::new(label, TO_EXACT, largest, Rule::AtMost));
        }
    }
    let reference = printed(STUDY, &cell.name, "km", "times_ss");
    if let (Some(reference), Some(ratio)) = (reference, cell.times(Rival::Km, Rival::Ss, None)) {
        let label = format!("time at {}: KM / SS", cell.label);
        rows.push(Comparison::new(label, reference.value, ratio, Rule::Context));
    }
}

fn figure(sizes: &[Cell], over_dropout: &[Cell]) -> Figure {
    let pair = [Rival::Ss, Rival::Km];
    let window =
        || Axis::new("window C (p = 0.3)", Scale::Logarithmic).with_ticks(sizes.iter().map(|cell| cell.x));
    let mut panels = vec![
        Panel {
            title: "time over C".to_owned(),
            x: window(),
            y: Axis::new("processor seconds, fit and forecast", Scale::Logarithmic),
            series: beside_paper(sizes, &pair, "seconds", "seconds"),
        },
        Panel {
            title: "log loss over C".to_owned(),
            x: window(),
            y: Axis::new("MNLL, function", Scale::Linear),
            series: beside_paper(sizes, &[Rival::Ss, Rival::Km, Rival::Trivial], "mnll_latent", "mnll"),
        },
    ];
    if over_dropout.len() > 1 {
        panels.push(Panel {
            title: "time over p".to_owned(),
            x: Axis::new("share p of hidden cells (C = 1000)", Scale::Linear).with_ticks(DROPOUTS),
            y: Axis::new("processor seconds, fit and forecast", Scale::Logarithmic),
            series: beside_paper(over_dropout, &pair, "seconds", "seconds_over_p"),
        });
    }
    let caption = "Electricity over time; our median seconds, mean scores ± deviation over seeds; hollow markers: the paper, \
                   whose times are another machine's";
    Figure::chart("ett_m1", caption, 3, panels)
}
