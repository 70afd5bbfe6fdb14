//! Numbers of the study beside those of the paper's figure, of its text and of an independent port.

use super::found::{Estimate, Found};
use super::problem::Problem;
use super::{SEEDS, STUDY, proposition};
use crate::chapter::seeds;
use crate::reference::{Printed, found_by_port, printed};
use crate::settings::Extent;
use crate::verdict::{Comparison, Rule};

/// What is demanded of numbers that are known to all digits of a double.
const FIGURE: Rule = Rule::Relative(1e-9);

/// The rows of one problem.
pub(super) fn of_problem(found: &Found, extent: Extent) -> Vec<Comparison> {
    let mut rows = vec![];
    let (label, cell) = (found.problem.label(), found.problem.name());
    // A spread over fewer starts or seeds is another quantity.
    let judged = |row: Comparison| match extent {
        Extent::Full => row.of_seeds(found.records.len(), SEEDS as usize),
        Extent::Quick => row.not_comparable(format!("{} starts instead of 20", found.n_starts)),
    };
    let of_paper = |quantity: &str| printed(STUDY, &cell, "ss", quantity);
    let of_port = |method: &str, quantity: &str| found_by_port(STUDY, &cell, method, quantity);

    if let (Some(reference), Some(rmse)) = (of_port("ss", "first_rmse"), found.first_rmse()) {
        let quantity = format!("{label}: RMSE of seed 0 from the first row (independent port)");
        rows.push(Comparison::new(quantity, reference.value, rmse, FIGURE));
    }
    if let Some(spread) = found.spread("rmse") {
        let quantity = format!("{label}: deviation of RMSE over starts");
        let references = ENDS.map(|end| of_paper(&format!("rmse_spread{end}")));
        rows.extend(with_interval(&quantity, references, spread).map(|(quantity, reference, ours)| {
            judged(Comparison::new(quantity, reference.value, ours, FIGURE))
        }));
    }
    if let (Some(reference), Some(spread)) = (of_port("ss", "mnll_spread"), found.spread("mnll")) {
        let quantity = format!("{label}: deviation of MNLL over starts (independent port)");
        rows.push(judged(Comparison::by_digits(quantity, reference, spread.value)));
    }
    if let Some(correlation) = found.correlation() {
        let references = ENDS.map(|end| of_port("ss", &format!("correlation{end}")));
        if references.iter().all(Option::is_some) {
            let quantity = format!("{label}: correlation of ε_π and RMSE over starts (independent port)");
            rows.extend(
                with_interval(&quantity, references, correlation).map(|(quantity, reference, ours)| {
                    judged(Comparison::by_digits(quantity, reference, ours))
                }),
            );
        } else {
            let Estimate { value, low, high } = correlation;
            let quantity = format!(
                "{label}: correlation of ε_π and RMSE over starts, interval [{low:.2}, {high:.2}] (paper: close to zero)"
            );
            rows.push(Comparison::new(quantity, 0.0, value, Rule::Context));
        }
    }
    let n_control = found.control.len();
    if let (Some(reference), Some(spread)) = (of_port("km", "rmse_spread"), found.control_spread()) {
        let quantity =
            format!("{label}: deviation of RMSE over starts of the exact control (independent port)");
        let row = Comparison::by_digits(quantity, reference, spread);
        rows.push(judged(row).of_seeds(n_control, SEEDS as usize));
    }
    if let Some(ratio) = found.control_ratio() {
        let quantity = format!(
            "{label}: times that the exact control varies less, {} (paper: 10 to 50)",
            seeds(n_control)
        );
        rows.push(Comparison::new(quantity, 50.0, ratio, Rule::Context));
    }
    rows.extend(proposition::of_problem(found));
    rows
}

/// Suffixes of an estimate and the ends of its interval in the references.
const ENDS: [&str; 3] = ["", "_low", "_high"];

/// An estimate and the ends of its interval, each with its reference.
fn with_interval(
    quantity: &str,
    references: [Option<Printed>; 3],
    found: Estimate,
) -> impl Iterator<Item = (String, Printed, f64)> {
    let names = ["", ", lower end of the interval", ", upper end of the interval"];
    let names = names.map(|name| format!("{quantity}{name}"));
    let numbers = [found.value, found.low, found.high];
    let rows = names.into_iter().zip(references).zip(numbers);
    rows.filter_map(|((name, reference), ours)| Some((name, reference?, ours)))
}

/// What the paper's text says of several problems together.
pub(super) fn of_text(found: &[Found], n_seeds: usize) -> Vec<Comparison> {
    let mut rows = vec![];
    let of_dim = |dim: usize| found.iter().find(|one| one.problem == Problem::Sensor { dim });
    let spread = |dim: usize, number: &str| Some(of_dim(dim)?.spread(number)?.value);
    for dim in [2, 4, 8] {
        let ends = ["smallest_low_dim_spread", "largest_low_dim_spread"];
        let [Some(low), Some(high)] = ends.map(|end| printed(STUDY, "sensor", "ss", end)) else { continue };
        if let Some(spread) = spread(dim, "rmse") {
            let quantity =
                format!("sensor, M = {dim}: deviation of RMSE over starts (text: 2.5 to 4.0e-4 for M ≤ 8)");
            let range = Rule::Within(low.value - low.half_digit, high.value + high.half_digit);
            rows.push(Comparison::new(quantity, high.value, spread, range));
        }
    }
    for dim in [16, 32] {
        if let (Some(first), Some(last)) = (spread(2, "mnll"), spread(dim, "mnll")) {
            let quantity = format!(
                "sensor: growth of the deviation of MNLL over starts, from M = 2 to {dim} (text: four- to sevenfold)"
            );
            rows.push(Comparison::new(quantity, 4.0, last / first, Rule::Within(4.0, 7.0)));
        }
    }
    let relative: Vec<f64> =
        found.iter().filter(|one| one.problem.is_ett()).filter_map(Found::relative_spread).collect();
    if let (Some(reference), false) =
        (printed(STUDY, "ett", "ss", "largest_relative_spread"), relative.is_empty())
    {
        let largest = relative.into_iter().fold(0.0, f64::max);
        let quantity = "electricity: largest deviation of RMSE over starts, relative to its mean";
        rows.push(Comparison::by_digits(quantity, reference, largest));
    }
    rows.into_iter().map(|row| row.of_seeds(n_seeds, SEEDS as usize)).collect()
}
