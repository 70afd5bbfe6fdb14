//! The latest rows of a table, or some of its groups, from which a time model learns.

use catena::data::Dataset;
use catena::index::{OutputIndex, RowIndex};

use crate::error::FitError;
use crate::folds::topped_up;
use crate::options::FitOptions;

/// Outputs with fewer cells in the latest rows get earlier rows.
const FEWEST: usize = 8;

/// The latest `count` rows, or `None` if there are no more. For outputs with hardly a cell in them, the latest earlier rows with
/// their cells are added, up to a tenth of `count`.
pub(super) fn latest_rows(
    table: &Dataset,
    count: usize,
    options: &FitOptions,
    reasons: &mut Vec<String>,
) -> Result<Option<Dataset>, FitError> {
    if table.n_rows() <= count {
        return Ok(None);
    }
    if table.inputs().n_groups() > 1 {
        return some_groups(table, count, reasons).map(Some);
    }
    let observations = table.observations();
    let mut rows: Vec<RowIndex> = table.inputs().rows().collect();
    rows.sort_by(|&a, &b| table.inputs().point(a)[0].total_cmp(&table.inputs().point(b)[0]));
    let kept = rows.split_off(rows.len() - count);
    rows.reverse();
    reasons.push(format!("learned from the latest {count} of {} rows", table.n_rows()));
    let mut counts = vec![0; observations.n_outputs()];
    for &row in &kept {
        observations.row(row).for_each(|cell| counts[cell.output.get()] += 1);
    }
    let sparse: Vec<OutputIndex> =
        (0..counts.len()).filter(|&output| counts[output] < FEWEST).map(OutputIndex::new).collect();
    if sparse.is_empty() {
        return Ok(Some(table.select_rows(&topped_up(table, kept, &[], 0))?));
    }
    let has_sparse = |row: &RowIndex| observations.row(*row).any(|cell| sparse.contains(&cell.output));
    let others: Vec<RowIndex> = rows.into_iter().filter(has_sparse).collect();
    let kept = topped_up(table, kept, &others, count.div_ceil(10));
    let names: Vec<String> = sparse.iter().map(|output| options.output_name(output.get())).collect();
    reasons.push(format!(
        "{} earlier rows were added for {}, which had fewer than {FEWEST} values in the latest",
        kept.len() - count,
        names.join(", ")
    ));
    Ok(Some(table.select_rows(&kept)?))
}

/// Whole groups, evenly among all, with at most `count` rows; a group with more has its latest rows.
fn some_groups(table: &Dataset, count: usize, reasons: &mut Vec<String>) -> Result<Dataset, FitError> {
    let inputs = table.inputs();
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    rows.sort_by(|&a, &b| {
        inputs.group(a).cmp(&inputs.group(b)).then(inputs.point(a)[0].total_cmp(&inputs.point(b)[0]))
    });
    let groups: Vec<&[RowIndex]> = rows.chunk_by(|&a, &b| inputs.group(a) == inputs.group(b)).collect();
    let latest = |group: &[RowIndex], most: usize| group[group.len().saturating_sub(most)..].to_vec();
    let (mut kept, mut n_kept) = (vec![], 0);
    for at in evenly(groups.len()) {
        let group = latest(groups[at], count);
        if kept.len() + group.len() <= count {
            kept.extend(group);
            n_kept += 1;
        }
    }
    reasons.push(format!("learned from {} rows of {n_kept} of {} groups", kept.len(), groups.len()));
    kept.sort_unstable();
    Ok(table.select_rows(&kept)?)
}

/// The numbers below `count` in an order in which the first ones are spread evenly: by their bits in reverse.
fn evenly(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| at.reverse_bits());
    order
}
