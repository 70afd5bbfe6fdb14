//! Tables and the figure of spreads over starts.

use super::STUDY;
use super::found::{Estimate, Found};
use super::problem::{CHAIN_LENGTHS, DIMS, Problem, Scheme};
use crate::chapter::{Table, number, rounded, shown};
use crate::figure::{Axis, Figure, Look, Panel, Point, Scale, Series};
use crate::ledger::column;
use crate::reference::printed;
use crate::statistics::{mean, median};

/// Even starts: the statistic of the paper's figure.
pub(super) fn spreads(found: &[Found]) -> Table {
    let header = [
        "problem",
        "seeds",
        "training mean, RMSE",
        "RMSE, mean over starts",
        "deviation of RMSE",
        "95 % interval",
        "relative",
        "deviation of MNLL",
        "95 % interval",
    ];
    let mut table = Table::new("start_spread", "Spread over even starts of the median over seeds.", &header);
    for one in found {
        let (Some(errors), Some(rmse), Some(mnll), Some(relative)) =
            (one.by_start("rmse"), one.spread("rmse"), one.spread("mnll"), one.relative_spread())
        else {
            continue;
        };
        let interval = |estimate: Estimate| format!("[{:.2e}, {:.2e}]", estimate.low, estimate.high);
        table.push([
            one.problem.label(),
            one.records.len().to_string(),
            shown(column(&one.records, "trivial.rmse").map(|values| median(&values))),
            number(mean(&errors)),
            number(rmse.value),
            interval(rmse),
            format!("{} %", rounded(100.0 * relative)),
            number(mnll.value),
            interval(mnll),
        ]);
    }
    table
}

/// The three ways to choose starts beside each other.
pub(super) fn schemes(found: &[Found]) -> Table {
    let header = ["problem", "seeds", "starts", "deviation of RMSE", "even starts = 1", "deviation of MNLL"];
    let caption = "Spread by the way starts are chosen, on the seeds that all three ways have. Electricity: deviation over \
                   starts of the median over seeds. Sensor network: mean over seeds of the deviation over starts.";
    let mut table = Table::new("start_schemes", caption, &header);
    for one in found {
        for scheme in Scheme::ALL {
            let spread = |scheme, number: &str| one.scheme_spread(scheme, number);
            let (Some(rmse), Some(mnll), Some(even)) =
                (spread(scheme, "rmse"), spread(scheme, "mnll"), spread(Scheme::Even, "rmse"))
            else {
                continue;
            };
            table.push([
                one.problem.label(),
                one.records.len().min(super::SCHEME_SEEDS as usize).to_string(),
                scheme.word().to_owned(),
                number(rmse),
                rounded(rmse / even),
                number(mnll),
            ]);
        }
    }
    table
}

/// Ours and the paper's spread with intervals, over M and over C.
pub(super) fn figure(found: &[Found]) -> Figure {
    let panel = |title: &str, label: &str, ticks: &[usize], is_ett: bool| {
        let chosen = || found.iter().filter(|one| one.problem.is_ett() == is_ett);
        let ours = chosen().filter_map(|one| {
            let Estimate { value, low, high } = one.spread("rmse")?;
            Some(Point { x: one.problem.x(), y: value, low, high })
        });
        let series = vec![
            Series::new("even starts", Look::method(0), ours.collect()),
            // Last, so that it lies above ours where they coincide.
            Series::new("paper", Look::print(), chosen().filter_map(|one| of_paper(one.problem)).collect()),
        ];
        let y = Axis::new("deviation of RMSE over starts", Scale::Logarithmic);
        let ticks: Vec<f64> = ticks.iter().map(|&tick| tick as f64).collect();
        let x = Axis::new(label, Scale::Logarithmic).with_ticks(ticks);
        Panel { title: title.to_owned(), x, y, series }
    };
    let mut panels = vec![panel("sensor network", "input dimension M", &DIMS, false)];
    if found.iter().any(|one| one.problem.is_ett()) {
        panels.push(panel("electricity", "points C", &CHAIN_LENGTHS, true));
    }
    Figure::chart(
        "chain_start",
        "Spread of RMSE over starting points, with bootstrap 95 % intervals",
        2,
        panels,
    )
}

fn of_paper(problem: Problem) -> Option<Point> {
    let of = |quantity: &str| Some(printed(STUDY, &problem.name(), "ss", quantity)?.value);
    Some(Point {
        x: problem.x(),
        y: of("rmse_spread")?,
        low: of("rmse_spread_low")?,
        high: of("rmse_spread_high")?,
    })
}
