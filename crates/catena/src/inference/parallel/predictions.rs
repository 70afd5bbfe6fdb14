//! The predictions of all segments, each in its own part of the memory, in row order.

use super::super::kalman::Chain;
use super::super::predictions::{Order, Predictions, Seen};
use super::Segments;
use crate::index::RowIndex;
use crate::linalg::Layout;
use crate::structure::Tree;
use crate::threads::*;
use std::ops::Range;

/// The way back of the covariance form, for predictions in row order. Segments whose rows are not in a row by themselves
/// write them in the order of positions first. Returns what is to be known of all of them.
pub(in super::super) fn predict_segments(
    layout: &Layout,
    chain: Chain<'_>,
    segments: &mut Segments,
    tree: &Tree,
    (means, variances): (&mut [f64], &mut [f64]),
) -> Seen {
    let n_outputs = chain.readout.n_outputs();
    let positions = segments.positions();
    if positions.len() == 1 {
        let predictions = Predictions::new(Order::RowsView(tree), n_outputs, (means, variances));
        return seen(segments.backward(layout, chain, vec![predictions]));
    }
    let is_in_row_order = tree.positions().all(|position| tree.row_at(position).get() == position.get());
    if is_in_row_order {
        return seen(segments.backward(layout, chain, observers(&positions, n_outputs, (means, variances))));
    }
    let mut by_position = (vec![0.0; means.len()], vec![0.0; means.len()]);
    let observers = observers(&positions, n_outputs, (&mut by_position.0, &mut by_position.1));
    let seen = seen(segments.backward(layout, chain, observers));
    for (by_row, by_position) in [(means, by_position.0), (variances, by_position.1)] {
        by_row.par_chunks_exact_mut(n_outputs).with_min_len(4096).enumerate().for_each(|(row, target)| {
            let position = tree.position_of(RowIndex::new(row)).get();
            target.copy_from_slice(&by_position[position * n_outputs..][..n_outputs]);
        });
    }
    seen
}

/// What was seen of all segments.
fn seen(segments: Vec<Predictions<'_>>) -> Seen {
    let mut all = Seen::default();
    segments.into_iter().for_each(|predictions| all.add(&predictions.seen()));
    all
}

/// For each segment, predictions in the order of positions.
fn observers<'a>(
    segments: &[Range<usize>],
    n_outputs: usize,
    (mut means, mut variances): (&'a mut [f64], &'a mut [f64]),
) -> Vec<Predictions<'a>> {
    let mut observers = vec![];
    for positions in segments {
        let (own_means, rest) = means.split_at_mut(positions.len() * n_outputs);
        means = rest;
        let (own_variances, rest) = variances.split_at_mut(positions.len() * n_outputs);
        variances = rest;
        let order = Order::PositionsFrom(positions.start);
        observers.push(Predictions::new(order, n_outputs, (own_means, own_variances)));
    }
    observers
}
