//! Drift: the latest one-step errors compared with the earlier ones.

use std::sync::Arc;

use catena::data::Dataset;
use catena::graph::FactorGraph;
use catena::index::Position;
use catena::model::Lmc;
use catena::structure::Tree;

use super::one_step::one_step;
use crate::error::{FitError, MethodError};
use crate::options::{FitOptions, RELEARN};

/// The fraction of rows that count as the latest by default.
const LATEST: f64 = 0.05;
/// The fewest latest errors that can cause a warning.
const FEWEST: usize = 24;
/// The factor by which the latest errors must exceed the expected and the earlier ones.
const OUT_OF_PROPORTION: f64 = 1.5;

/// A warning for each output with large one-step errors at the end of a table, or of its groups.
pub(super) fn latest_warnings(
    table: &Dataset,
    tree: &Arc<Tree>,
    model: &Lmc,
    options: &FitOptions,
) -> Result<Vec<String>, FitError> {
    let latest = |count: usize| (LATEST * count as f64) as usize;
    warnings(table, tree, model, &latest, &|output| options.output_name(output))
}

/// A warning for each output with large one-step errors in the last rows of a chain, or of each of its groups: `latest` of as many rows.
pub(crate) fn warnings(
    table: &Dataset,
    tree: &Arc<Tree>,
    model: &Lmc,
    latest: &dyn Fn(usize) -> usize,
    name: &dyn Fn(usize) -> String,
) -> Result<Vec<String>, FitError> {
    let graph = FactorGraph::new(model, Arc::clone(tree), table.observations()).map_err(MethodError::from)?;
    let (targets, ahead) = one_step(&graph, tree)?;
    let n_outputs = model.n_outputs();
    let is_latest = latest_positions(tree, latest);
    let mut sums = vec![[(0.0, 0_usize); 2]; n_outputs];
    for (at, &target) in targets.iter().enumerate() {
        for cell in table.observations().row(tree.row_at(target)) {
            let output = cell.output.get();
            let place = at * n_outputs + output;
            let noise = cell.noise_variance.unwrap_or_else(|| model.noise()[output].get());
            let error = cell.value - ahead.means()[place];
            let (square, count) = &mut sums[output][usize::from(is_latest[target.get()])];
            *square += error * error / (ahead.variances()[place] + noise);
            *count += 1;
        }
    }
    let size = |(square, count): (f64, usize)| (square / count.max(1) as f64).sqrt();
    let warning = |(output, [before, latest]): (usize, [(f64, usize); 2])| {
        let (earlier, now) = (size(before), size(latest));
        let is_out = latest.1 >= FEWEST && now > OUT_OF_PROPORTION && now > OUT_OF_PROPORTION * earlier;
        is_out.then(|| {
            format!(
                "{}: the latest one-step errors are {now:.1} times what the model expects ({earlier:.1} before); the \
                 series may have changed; update with {RELEARN}",
                name(output)
            )
        })
    };
    Ok(sums.into_iter().enumerate().filter_map(warning).collect())
}

/// By position, whether it is one of the latest of its group.
fn latest_positions(tree: &Tree, latest: &dyn Fn(usize) -> usize) -> Vec<bool> {
    let is_root = |position: &Position| tree.parent(*position).is_none();
    let mut ends: Vec<usize> = tree.positions().filter(is_root).map(Position::get).collect();
    ends.push(tree.len());
    let of_group = |pair: &[usize]| {
        let count = pair[1] - pair[0];
        let first = count.saturating_sub(latest(count));
        (0..count).map(move |at| at >= first)
    };
    ends.windows(2).flat_map(of_group).collect()
}
