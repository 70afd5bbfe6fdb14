//! Sentences of the summary about what a fit learned from.

use catena::data::Dataset;

use crate::options::{Bounds, FitOptions};
use crate::prepare::{Preparation, PreparedTable};

/// The bounds of outputs.
pub(super) fn bounds_reasons(preparation: &Preparation, options: &FitOptions) -> Vec<String> {
    let bounds = preparation.bounds().into_iter().enumerate();
    let reason = |(output, bounds): (usize, Option<_>)| {
        bounds.map(|bounds: Bounds| {
            format!("{}: bounds {bounds}; answers beyond them are put at them", options.output_name(output))
        })
    };
    bounds.filter_map(reason).collect()
}

/// The decision about groups, if there are any.
pub(super) fn groups_reason(table: &Dataset, own_of_groups: bool) -> Option<String> {
    table.inputs().groups().map(|_| {
        let n_groups = table.inputs().n_groups();
        let (shared, own) = match own_of_groups {
            true => ("parameters", "means, scales and states"),
            false => ("means, scales and parameters", "states"),
        };
        format!("{n_groups} groups share {shared}; each has {own} of its own")
    })
}

/// The decision to learn from a part of a long table.
pub(crate) fn stretches_reason(part: Option<&PreparedTable>, n_rows: usize) -> Option<String> {
    part.map(|part| {
        let n_learning = part.dataset.n_rows();
        format!(
            "parameters were learned from {n_learning} of {n_rows} rows, in stretches spread over the table"
        )
    })
}

/// The decision about copied cells, if there are any.
pub(crate) fn copies_reason(n_copies: usize) -> Option<String> {
    (n_copies > 0).then(|| {
        format!(
            "{n_copies} cells are exact copies of another cell at the same input; they were left out of learning"
        )
    })
}
