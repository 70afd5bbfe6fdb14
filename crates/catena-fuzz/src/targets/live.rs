//! Edits of a live posterior under any parameters: accepted or refused; queries give finite numbers or an error.

use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::live::{LivePosterior, PointMarginals};
use catena::structure::{StructureChoice, spanning_tree};
use catena::units::Variance;

use super::small::{model, table};
use crate::Supply;

const MOST_EDITS: usize = 24;

/// A table, a model, a structure, and edits until the bytes end.
pub(super) fn run(bytes: &[u8]) {
    let mut supply = Supply::new(bytes);
    let Some(dataset) = table(&mut supply, 10, 2) else { return };
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let is_line = inputs.dim() == 1;
    let Some(model) = model(&mut supply, observations.n_outputs(), is_line) else { return };
    let tree = if supply.flag() {
        spanning_tree(inputs)
    } else {
        StructureChoice::for_dim(inputs.dim()).build(inputs)
    };
    let Ok(tree) = tree else { return };
    let Ok(graph) = FactorGraph::new(&model, &tree, observations) else { return };
    let Ok(mut live) = LivePosterior::new(&graph, inputs, observations) else { return };
    for _ in 0..MOST_EDITS {
        if supply.is_empty() {
            break;
        }
        edit(&mut live, &mut supply, inputs.dim());
    }
    if let Ok(log_evidence) = live.log_evidence() {
        assert!(log_evidence.is_finite(), "log evidence {log_evidence}");
    }
    if let Ok(kept) = live.table() {
        assert_eq!(kept.inputs.n_rows(), live.n_rows());
    }
}

fn edit(live: &mut LivePosterior, supply: &mut Supply<'_>, dim: usize) {
    // Sometimes a row or an output that does not exist.
    let row = RowIndex::new(supply.below(live.n_rows() + 1));
    let output = OutputIndex::new(supply.below(4));
    match supply.below(8) {
        0 => drop(live.set(row, output, supply.number())),
        1 => drop(live.remove(row, output)),
        2 | 3 => {
            let Ok(noise) = Variance::new(supply.positive()) else { return };
            if supply.flag() {
                drop(live.set_with_noise(row, output, supply.number(), noise));
            } else {
                drop(live.set_noise(output, noise));
            }
        }
        4 => {
            let point: Vec<f64> = (0..dim).map(|_| supply.number()).collect();
            drop(live.insert(&point));
        }
        5 => {
            let point: Vec<f64> = (0..dim).map(|_| supply.number()).collect();
            if let Ok(marginals) = live.marginals_at(&point) {
                check(&marginals);
            }
        }
        6 => drop(live.affected(row, supply.number())),
        _ => {
            if let Ok(marginals) = live.marginals(row) {
                check(&marginals);
            }
        }
    }
}

fn check(marginals: &PointMarginals) {
    let is_number = marginals.means.iter().chain(&marginals.variances).all(|number| number.is_finite());
    assert!(is_number && marginals.variances.iter().all(|variance| *variance >= 0.0), "{marginals:?}");
}
