//! The covariance form of the sweep: Kalman filter and Bryson–Frazier smoother over all segments of a chain.

use super::super::cells::WhitenedCells;
use super::super::gaussian::Gaussian;
use super::super::gradient::GradientSums;
use super::super::kalman::{Chain, FilterObserver, SmootherObserver};
use super::super::predictions::{Order, Predictions, Statistics};
use super::super::state_space::StateSpace;
use super::super::sweep::Sweep;
use super::threads::{Cut, Segments};
use crate::index::{Position, RowIndex};
use crate::threads::*;
use std::ops::Range;

/// The segments of a chain and the memory of their passes.
#[derive(Debug, Default)]
pub(in super::super) struct KalmanSweep {
    pub(in super::super) cut: Cut,
    whitened: WhitenedCells,
    segments: Segments,
    /// The gradient of each segment, if there are several.
    segment_sums: Vec<GradientSums>,
}

impl KalmanSweep {
    fn prepare<'a>(
        &'a mut self,
        model: StateSpace<'a>,
    ) -> (Chain<'a>, &'a mut Segments, &'a mut Vec<GradientSums>) {
        let Self { whitened, segments, segment_sums, .. } = self;
        whitened.set(model.cells, model.readout, model.layout);
        (Chain { model, whitened }, segments, segment_sums)
    }

    /// How many scalar observations the last chain had.
    pub(in super::super) fn n_observations(&self) -> usize {
        self.whitened.n_observations()
    }

    /// Filters a chain with an observer. Returns the Gaussian of the last position.
    pub(in super::super) fn filter_once<O: FilterObserver>(
        &mut self,
        model: StateSpace<'_>,
        observer: O,
    ) -> &Gaussian {
        let Self { whitened, segments, .. } = self;
        whitened.set(model.cells, model.readout, model.layout);
        segments.filter_once(Chain { model, whitened }, observer)
    }

    /// Filters and smooths a chain with an observer.
    pub(in super::super) fn smooth_once<O: SmootherObserver>(&mut self, model: StateSpace<'_>, observer: O) {
        let (chain, segments, _) = self.prepare(model);
        segments.smooth_once(chain, observer);
    }
}

impl Sweep for KalmanSweep {
    fn log_evidence(&mut self, model: StateSpace<'_>) -> Result<f64, Position> {
        let cut = self.cut;
        let (chain, segments, _) = self.prepare(model);
        Ok(segments.forward::<false>(chain, cut))
    }

    fn marginals(
        &mut self,
        model: StateSpace<'_>,
        (means, variances): (&mut [f64], &mut [f64]),
    ) -> Result<(f64, Statistics), Position> {
        let (cut, tree, n_outputs) = (self.cut, model.tree, model.readout.n_outputs());
        let (chain, segments, _) = self.prepare(model);
        let log_evidence = segments.forward::<true>(chain, cut);
        let positions = segments.positions();
        let is_in_row_order =
            || tree.positions().all(|position| tree.row_at(position).get() == position.get());
        if positions.len() == 1 {
            let predictions = Predictions::new(Order::Rows(tree), n_outputs, (means, variances));
            return Ok((log_evidence, statistics(segments.backward(chain, vec![predictions]))));
        }
        if is_in_row_order() {
            let observers = observers(&positions, n_outputs, (means, variances));
            return Ok((log_evidence, statistics(segments.backward(chain, observers))));
        }
        let mut by_position = (vec![0.0; means.len()], vec![0.0; means.len()]);
        let observers = observers(&positions, n_outputs, (&mut by_position.0, &mut by_position.1));
        let statistics = statistics(segments.backward(chain, observers));
        for (by_row, by_position) in [(means, by_position.0), (variances, by_position.1)] {
            by_row.par_chunks_exact_mut(n_outputs).with_min_len(4096).enumerate().for_each(
                |(row, target)| {
                    let position = tree.position_of(RowIndex::new(row)).get();
                    target.copy_from_slice(&by_position[position * n_outputs..][..n_outputs]);
                },
            );
        }
        Ok((log_evidence, statistics))
    }

    /// The gradients of several segments are added up in their order.
    fn gradient(&mut self, model: StateSpace<'_>, sums: &mut GradientSums) -> Result<f64, Position> {
        let cut = self.cut;
        let (chain, segments, segment_sums) = self.prepare(model);
        let log_evidence = segments.forward::<true>(chain, cut);
        match &segments.positions()[..] {
            [_] => {
                segments.backward(chain, vec![sums]);
            }
            several => {
                segment_sums.clear();
                segment_sums.resize_with(several.len(), || sums.for_segment());
                for (own, positions) in segment_sums.iter_mut().zip(several) {
                    own.reset(model, positions.clone());
                }
                segments.backward(chain, segment_sums.iter_mut().collect());
                segment_sums.iter().for_each(|own| sums.add(own));
            }
        }
        Ok(log_evidence)
    }
}

/// The statistics of all segments.
fn statistics(segments: Vec<Predictions<'_>>) -> Statistics {
    let mut all = Statistics::default();
    segments.into_iter().for_each(|predictions| all.add(&predictions.statistics()));
    all
}

/// The predictions of each segment, in the order of positions.
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
