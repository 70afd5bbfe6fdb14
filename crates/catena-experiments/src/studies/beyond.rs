//! `beyond`: what the paper does not ask: learned parameters, trees and ensembles, and tasks that can rank methods.

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints};
use catena_fit::scores::score;
use catena_fit::{
    Budget, Fit, FitOptions, FullScaleSize, MethodChoice, Predictive, Quantity, StructureOption, fit,
    rows_with_a_cell,
};
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};
use catena_studies::ett_study::ett_random_rows;
use catena_studies::gap_table::{GapTable, ett_over_time};
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;

use crate::chapter::{Chapter, Table, mean_and_spread, rounded, seeds, shown};
use crate::error::ExperimentError;
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::job::Job;
use crate::ledger::{Ledger, Record, column};
use crate::settings::{Context, Extent};
use crate::statistics::median;
use crate::stopwatch::Stopwatch;
use crate::verdict::{Comparison, Rule};

const STUDY: &str = "beyond";
const SEEDS: u32 = 10;
const DIMS: [usize; 4] = [2, 4, 8, 32];
const WINDOWS: [usize; 3] = [1000, 4000, 17_420];
/// Methods other than message passing learn from so many random rows: the evidence of most costs its cube.
const LEARNING_ROWS: usize = 200;

/// A task with a truth to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// The sensor network, half of the points held out.
    Sensor { dim: usize },
    /// Electricity with three inputs, random rows held out.
    RandomRows,
    /// Electricity over time, 30 % of cells hidden.
    OverTime { n_rows: usize },
}

impl Task {
    fn name(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor-M{dim}"),
            Self::RandomRows => "ett-random-rows".to_owned(),
            Self::OverTime { n_rows } => format!("ett-over-time-C{n_rows}"),
        }
    }

    fn label(self) -> String {
        match self {
            Self::Sensor { dim } => format!("sensor, M = {dim}"),
            Self::RandomRows => {
                "electricity, three inputs, random rows held out (N = 1000, p = 0.3)".to_owned()
            }
            Self::OverTime { n_rows } => format!("electricity over time, C = {n_rows}, 30 % of cells hidden"),
        }
    }

    fn contenders(self) -> &'static [Contender] {
        match self {
            Self::OverTime { .. } => &[Contender::Auto, Contender::Ridge, Contender::Lines, Contender::Mean],
            _ => &[
                Contender::Chain,
                Contender::Tree,
                Contender::Ensemble,
                Contender::FullScale,
                Contender::Nngp,
                Contender::Svgp,
                Contender::Exact,
                Contender::Mean,
            ],
        }
    }
}

/// Whoever takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    Auto,
    Chain,
    Tree,
    Ensemble,
    FullScale,
    Nngp,
    Svgp,
    Exact,
    Ridge,
    Lines,
    Mean,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "catena",
            Self::Chain => "chain",
            Self::Tree => "tree",
            Self::Ensemble => "8 chains",
            Self::FullScale => "full-scale 64, 10",
            Self::Nngp => "nngp 20",
            Self::Svgp => "svgp 64",
            Self::Exact => "exact",
            Self::Ridge => "ridge on the other outputs",
            Self::Lines => "linear interpolation",
            Self::Mean => "training mean",
        }
    }

    /// The place in all legends of the report.
    fn place(self) -> usize {
        match self {
            Self::Auto | Self::Chain => 0,
            Self::Exact => 1,
            Self::Svgp => 2,
            Self::Nngp => 3,
            Self::Mean => 4,
            Self::Tree => 5,
            Self::Ensemble => 6,
            Self::FullScale => 7,
            Self::Ridge => 8,
            Self::Lines => 9,
        }
    }

    /// What is asked of a learned fit; `None` for rules without parameters.
    fn options(self, extent: Extent) -> Option<FitOptions> {
        let budget = match extent {
            Extent::Full => Budget::Default,
            Extent::Quick => Budget::Quick,
        };
        let catena = |structure| FitOptions { structure, budget, ..FitOptions::default() };
        let from_few = |method| FitOptions {
            method,
            budget,
            learning_rows: Some(LEARNING_ROWS),
            ..FitOptions::default()
        };
        match self {
            Self::Auto => Some(catena(StructureOption::Auto)),
            Self::Chain => Some(catena(StructureOption::Chain)),
            Self::Tree => Some(catena(StructureOption::Tree)),
            Self::Ensemble => Some(catena(StructureOption::Ensemble { n_chains: 8 })),
            Self::FullScale => {
                Some(from_few(MethodChoice::FullScale { size: Some(FullScaleSize::default()) }))
            }
            Self::Nngp => Some(from_few(MethodChoice::Nngp { n_neighbors: 20 })),
            Self::Svgp => Some(from_few(MethodChoice::Svgp { n_inducing: 64 })),
            Self::Exact => Some(from_few(MethodChoice::Exact)),
            Self::Ridge | Self::Lines | Self::Mean => None,
        }
    }

    /// Whether distances are taken between all points, not along a structure. Such methods see only rows with a cell: an empty
    /// row tells them nothing and costs them much.
    fn knows_distances(self) -> bool {
        matches!(self, Self::FullScale | Self::Nngp | Self::Svgp | Self::Exact)
    }
}

fn tasks(extent: Extent) -> Vec<Task> {
    match extent {
        Extent::Quick => vec![Task::Sensor { dim: 2 }],
        Extent::Full => {
            let sensor = DIMS.map(|dim| Task::Sensor { dim });
            let over_time = WINDOWS.map(|n_rows| Task::OverTime { n_rows });
            over_time.into_iter().chain([Task::RandomRows]).chain(sensor).collect()
        }
    }
}

fn name(task: Task, contender: Contender, extent: Extent) -> String {
    let quick = if extent == Extent::Quick { "-quick" } else { "" };
    format!("{}-{}{quick}", task.name(), contender.name().replace(',', "").replace(' ', "-"))
}

pub(super) fn jobs(context: &Context) -> Vec<Job<'_>> {
    let (csv, extent) = (context.electricity.as_deref(), context.extent);
    let mut jobs = vec![];
    // Message passing costs least: an interrupted run has message passing on all seeds first.
    let turns = [false, true]
        .into_iter()
        .flat_map(|of_costly| (0..context.n_seeds(SEEDS)).map(move |seed| (of_costly, seed)));
    for (of_costly, seed) in turns {
        for task in tasks(extent) {
            if csv.is_none() && !matches!(task, Task::Sensor { .. }) {
                continue;
            }
            for &contender in
                task.contenders().iter().filter(|contender| contender.knows_distances() == of_costly)
            {
                let weight = if contender.options(extent).is_some() { 20.0 } else { 0.1 };
                let key = (STUDY, name(task, contender, extent), seed);
                jobs.push(Job::new(key, weight, move || run(task, contender, csv, seed, extent)));
            }
        }
    }
    jobs
}

fn run(
    task: Task,
    contender: Contender,
    csv: Option<&str>,
    seed: u32,
    extent: Extent,
) -> Result<Record, ExperimentError> {
    let csv = || csv.ok_or(ExperimentError::NoElectricity { study: STUDY });
    match task {
        Task::Sensor { dim } => on_rows(&sensor_study(dim, seed)?, contender, extent),
        Task::RandomRows => on_rows(&ett_random_rows(csv()?, 1000, 0.3, seed)?, contender, extent),
        Task::OverTime { n_rows } => on_cells(&ett_over_time(csv()?, n_rows, seed)?, contender, extent),
    }
}

/// A table to learn from, and what is asked afterwards.
struct Question<'a> {
    table: &'a Dataset,
    /// New inputs; `None` for the rows of the table.
    at: Option<&'a InputPoints>,
    cells: Vec<(usize, f64)>,
    /// The unit of each output in scores.
    units: &'a [f64],
}

/// Test rows of a study, in original units.
fn on_rows(study: &Study, contender: Contender, extent: Extent) -> Result<Record, ExperimentError> {
    // Cells are on the standardized scale: a unit of 1/scale counts errors in original units.
    let units: Vec<f64> = study.output_scaling.iter().map(|(_, scale)| scale.recip()).collect();
    let observed =
        if contender.knows_distances() { rows_with_a_cell(&study.dataset)? } else { study.dataset.clone() };
    let at = study.test_inputs()?;
    answer(
        &Question { table: &observed, at: Some(&at), cells: study.test_cells(), units: &units },
        contender,
        extent,
    )
}

/// Hidden cells of a table, in standard deviations of the outputs.
fn on_cells(table: &GapTable, contender: Contender, extent: Extent) -> Result<Record, ExperimentError> {
    let dataset = table.dataset()?;
    let cells = table.hidden.clone();
    answer(&Question { table: &dataset, at: None, cells, units: &table.deviations }, contender, extent)
}

fn answer(question: &Question<'_>, contender: Contender, extent: Extent) -> Result<Record, ExperimentError> {
    let stopwatch = Stopwatch::start();
    let (predictive, learned) = match contender.options(extent) {
        Some(options) => {
            let fitted = fit(question.table, &options, &|_| ControlFlow::Continue(()))?;
            let learned = stopwatch.read().processor;
            // A fit keeps its posterior: what one costs is what a model read from a file pays for its first answer.
            let fitted = Fit::from_parts(fitted.parts().clone())?;
            let predictive = match question.at {
                Some(at) => fitted.predict(at, Quantity::Observation)?,
                None => fitted.predict_rows(Quantity::Observation)?,
            };
            (predictive, learned)
        }
        None => (simple(question, contender)?, 0.0),
    };
    let seconds = stopwatch.read().processor;
    let scores = score(&predictive, question.cells.iter().copied(), question.units);
    let mut record = Record::default();
    record.put("rmse", scores.rmse);
    record.put("mnll", -scores.log_score);
    record.put("coverage", scores.coverage);
    record.put("learning_seconds", learned);
    record.put("posterior_seconds", seconds - learned);
    Ok(record)
}

fn simple(question: &Question<'_>, contender: Contender) -> Result<Predictive, ExperimentError> {
    let observations = question.table.observations();
    let rows = question.table.inputs();
    let at = question.at.unwrap_or(rows);
    let prediction = match contender {
        Contender::Lines => LinearInterpolation::fit(question.table)?.predict(at)?,
        Contender::Ridge => RidgeRegression::fit(observations, RIDGE_PENALTY)?.predict(observations)?,
        _ => TrainingMean::fit(observations)?.predict(at.n_rows())?,
    };
    let deviations = prediction.variances().iter().map(|variance| variance.sqrt()).collect();
    Ok(Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations))
}

/// As much as one row without signal.
const RIDGE_PENALTY: f64 = 1.0;

pub(super) fn chapter(ledger: &Ledger, extent: Extent) -> Result<Option<Chapter>, ExperimentError> {
    let mut chapter =
        Chapter::new(STUDY, "Beyond the paper: learned parameters, and tasks that can rank methods");
    chapter.words.push(format!(
        "Everything is learned with default settings; full-scale, nngp, svgp and exact learn from {LEARNING_ROWS} random rows and then see \
         all. Noise is part of every score. RMSE is in original units, over time in standard deviations of each output. Seconds of a \
         posterior are those of the first answer with parameters known: structure, conditioning and prediction. The \
         paper has no such numbers, so errors and log losses are judged against the best simple rule of the same task."
    ));
    if extent == Extent::Quick {
        chapter.words.push("Reduced: one task, with the quick budget of learning.".to_owned());
    }
    let header = [
        "task",
        "method",
        "seeds",
        "RMSE",
        "MNLL",
        "in 95 % bands",
        "learning, s (median)",
        "posterior, s (median)",
    ];
    let mut table = Table::new("beyond", "Mean ± deviation over seeds.", &header);
    let mut by_dim: Vec<Curves> = vec![];
    for task in tasks(extent) {
        let (mut errors, mut losses) = (vec![], vec![]);
        for &contender in task.contenders() {
            let records = ledger.seeds(STUDY, &name(task, contender, extent))?;
            let of = |number: &str| column(&records, number);
            let (Some(rmse), Some(mnll), Some(coverage)) = (of("rmse"), of("mnll"), of("coverage")) else {
                continue;
            };
            let seconds =
                |number: &str| of(number).map_or_else(|| shown(None), |values| rounded(median(&values)));
            table.push([
                task.label(),
                contender.name().to_owned(),
                records.len().to_string(),
                mean_and_spread(&rmse),
                mean_and_spread(&mnll),
                mean_and_spread(&coverage),
                if contender.options(extent).is_some() { seconds("learning_seconds") } else { shown(None) },
                seconds("posterior_seconds"),
            ]);
            if let Task::Sensor { dim } = task {
                let known = by_dim.iter().position(|curves| curves.contender == contender);
                let at = known.unwrap_or_else(|| {
                    by_dim.push(Curves { contender, errors: vec![], losses: vec![] });
                    by_dim.len() - 1
                });
                by_dim[at].errors.push(Point::with_spread(dim as f64, &rmse));
                by_dim[at].losses.push(Point::with_spread(dim as f64, &mnll));
            }
            errors.push((contender, crate::statistics::mean(&rmse), records.len()));
            losses.push((contender, crate::statistics::mean(&mnll), records.len()));
        }
        against_simple_rules(&mut chapter.comparisons, task, "RMSE", &errors);
        against_simple_rules(&mut chapter.comparisons, task, "MNLL", &losses);
    }
    if table.rows.is_empty() {
        return Ok(None);
    }
    let n_seeds = table.rows.iter().filter_map(|row| row[2].parse::<usize>().ok()).min().unwrap_or(0);
    if n_seeds < SEEDS as usize {
        chapter.words.push(format!("Seeds: {n_seeds} or more, of the {SEEDS} that this study asks for."));
    }
    chapter.tables.push(table);
    if !by_dim.is_empty() {
        chapter.figures.push(figure(&by_dim));
    }
    Ok(Some(chapter))
}

/// Every method must at least beat the simple rules of its task.
fn against_simple_rules(
    rows: &mut Vec<Comparison>,
    task: Task,
    score: &str,
    errors: &[(Contender, f64, usize)],
) {
    let is_simple =
        |contender: Contender| matches!(contender, Contender::Mean | Contender::Lines | Contender::Ridge);
    let simple = errors.iter().filter(|(contender, ..)| is_simple(*contender));
    let Some((rule, best, _)) = simple.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    for (contender, error, n_seeds) in errors.iter().filter(|(contender, ..)| !is_simple(*contender)) {
        let label = format!(
            "{}, {}: {score}, at most that of {}, {}",
            task.label(),
            contender.name(),
            rule.name(),
            seeds(*n_seeds)
        );
        rows.push(Comparison::new(label, *best, *error, Rule::AtMost));
    }
}

/// One contender's scores over the input dimension.
struct Curves {
    contender: Contender,
    errors: Vec<Point>,
    losses: Vec<Point>,
}

fn figure(by_dim: &[Curves]) -> Figure {
    let panel = |title: &str, label: &str, scale, points: fn(&Curves) -> &[Point]| {
        let series = by_dim.iter().map(|curves| {
            let look = Look::method(curves.contender.place());
            Series::new(curves.contender.name(), look, points(curves).to_vec())
        });
        Panel {
            title: title.to_owned(),
            x: Axis::new("input dimension M", Scale::Logarithmic).with_ticks(DIMS.map(|dim| dim as f64)),
            y: Axis::new(label, scale),
            series: series.collect(),
        }
    };
    let panels = vec![
        panel("error", "RMSE", Scale::Logarithmic, |curves| &curves.errors),
        panel("log loss", "MNLL, with noise", Scale::Linear, |curves| &curves.losses),
    ];
    let caption = "The sensor network with learned parameters, mean ± deviation over seeds";
    Figure::chart("beyond_sensor", caption, 2, panels)
}
