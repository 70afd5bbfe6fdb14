//! Sweeps over a chain that is never in memory as a whole: block by block, forward and then backward.

use super::cells::WhitenedCells;
use super::error::InferenceError;
use super::form::{Accuracy, Form, gradient_is_accurate};
use super::gaussian::{Adjoint, Gaussian};
use super::gradient::{Gradient, GradientSums};
use super::kalman::{Chain, SmootherObserver};
use super::parallel::Segment;
use super::predictions::{Order, Predictions};
use super::state_space::{Prepared, StateSpace};
use crate::graph::FactorGraph;
use crate::index::Position;
use crate::linalg::Shape;
use crate::prediction::Prediction;
use std::ops::Range;

/// All rows before a block of a chain: the filtered Gaussian of the last of them. O(n²) numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Past(pub(super) Gaussian);

/// All rows after a block of a chain: the smoother's adjoint at the block's last row. O(n²) numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Future(pub(super) Adjoint);

/// Exact inference on a chain that comes in blocks of rows, each block as a graph of its own.
///
/// A block other than the first begins with **the last row of the block before it, without cells**: that row's cells are
/// part of the [`Past`], and the step from it to the next row belongs to the block. First all blocks are
/// filtered in their order, and the past of each is kept; then they are smoothed from the last to the first,
/// each from its past and from the [`Future`] that the next block has returned. Together this is the covariance form of the
/// sweep over the whole chain, in the memory of one block.
#[derive(Debug, Default)]
pub struct BlockSweep {
    prepared: Prepared,
    whitened: WhitenedCells,
    segment: Segment,
    accuracy: Accuracy,
    sums: GradientSums,
    has_inaccurate_gradient: bool,
}

impl BlockSweep {
    /// A sweep before its first block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Filters a block. Returns its share of the log evidence and the past of the next block.
    ///
    /// # Errors
    /// When the structure is not a chain, the past is of another model, or numbers overflow; the row named is one of the block's graph.
    pub fn forward(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
    ) -> Result<(f64, Past), InferenceError> {
        self.prepare::<false>(graph, past, None)?;
        let log_evidence = self.filter::<false>(graph, past)?;
        Ok((log_evidence, Past(self.segment.last().clone())))
    }

    /// Filters and smooths a block. Returns mean and variance of every output, without noise, at its
    /// own rows in the order of the chain, and the future of the block before it.
    ///
    /// # Errors
    /// As [`BlockSweep::forward`].
    pub fn backward(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<(Prediction, Future), InferenceError> {
        self.prepare::<false>(graph, past, future)?;
        self.filter::<true>(graph, past)?;
        let positions = own_positions(graph, past);
        let n_outputs = graph.model().n_outputs();
        let mut means = vec![0.0; positions.len() * n_outputs];
        let mut variances = means.clone();
        let order = Order::PositionsFrom(positions.start);
        let observer = Predictions::new(order, n_outputs, (&mut means, &mut variances));
        let Self { prepared, whitened, segment, .. } = self;
        let (observer, future) = smooth(prepared.state_space(graph), whitened, segment, future, observer);
        let statistics = observer.statistics();
        if let Some(at) = statistics.first_not_finite(&means, &variances) {
            let position = Position::new(positions.start + at / n_outputs);
            return Err(InferenceError::overflow_at(graph, position));
        }
        self.accuracy.add(graph, &statistics.largest);
        self.accuracy.add_variances(&variances);
        Ok((Prediction::from_checked(n_outputs, means, variances), future))
    }

    /// Filters and smooths a block for the gradient. Returns the block's share of the log evidence and of its
    /// gradient, and the future of the block before it; the shares of all blocks add up.
    ///
    /// # Errors
    /// As [`BlockSweep::forward`].
    pub fn gradient(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<(Gradient, Future), InferenceError> {
        self.prepare::<true>(graph, past, future)?;
        let log_evidence = self.filter::<true>(graph, past)?;
        let Self { prepared, whitened, segment, sums, .. } = self;
        let model = prepared.state_space(graph);
        sums.reset(model, own_positions(graph, past));
        let (sums, future) = smooth(model, whitened, segment, future, sums);
        let is_accurate = gradient_is_accurate(graph, sums.variance_mismatch(), whitened.n_observations());
        let gradient = sums.finish(graph, model.layout, log_evidence)?;
        self.has_inaccurate_gradient |= !is_accurate;
        Ok((gradient, future))
    }

    /// Whether all gradients returned so far have the digits that [`Form`] promises, which tiny noise can cost. Check before the shares
    /// of all blocks are used: they are returned also where this is false.
    pub fn gradient_is_accurate(&self) -> bool {
        !self.has_inaccurate_gradient
    }

    /// Whether all variances returned so far have the digits that [`Form`] promises, which tiny noise can cost, and none is
    /// negative. Check before they are used: they are returned also where this is false.
    pub fn variances_are_accurate(&self) -> bool {
        self.accuracy.is_enough()
    }

    /// Whether the noise of this model is large enough for accurate variances to be expected.
    pub fn suits(graph: &FactorGraph<'_>) -> bool {
        Form::for_marginals(graph) == Form::Covariance
    }

    /// Filters a block from one of its positions on. Returns the log evidence of those positions and the Gaussian of the last.
    pub(super) fn forward_from(
        &mut self,
        graph: &FactorGraph<'_>,
        first: usize,
        before: &Gaussian,
    ) -> Result<(f64, Gaussian), InferenceError> {
        self.prepare::<false>(graph, None, None)?;
        let log_evidence = self.filter_positions::<false>(graph, first..graph.tree().len(), before)?;
        Ok((log_evidence, self.segment.last().clone()))
    }

    /// Prepares the model of a block, and checks that past and future are of states of its size.
    fn prepare<const DERIVATIVES: bool>(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<(), InferenceError> {
        if !graph.tree().is_chain() {
            return Err(InferenceError::NotAChain);
        }
        self.prepared.set::<DERIVATIVES>(graph, usize::MAX);
        self.whitened.set(graph.cells(), &self.prepared.readout, &self.prepared.layout);
        let expected = self.prepared.layout.dynamic().size();
        let found = [past.map(|past| past.0.size()), future.map(|future| future.0.vector.len())];
        match found.into_iter().flatten().find(|&found| found != expected) {
            Some(found) => Err(InferenceError::OtherState { expected, found }),
            None => Ok(()),
        }
    }

    fn filter<const KEEP: bool>(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
    ) -> Result<f64, InferenceError> {
        let zero = Past(Gaussian::zero(self.prepared.layout.dynamic().size()));
        self.filter_positions::<KEEP>(graph, own_positions(graph, past), &past.unwrap_or(&zero).0)
    }

    fn filter_positions<const KEEP: bool>(
        &mut self,
        graph: &FactorGraph<'_>,
        positions: Range<usize>,
        before: &Gaussian,
    ) -> Result<f64, InferenceError> {
        let Self { prepared, whitened, segment, .. } = self;
        let model = prepared.state_space(graph);
        let chain = Chain { model, whitened };
        segment.set::<KEEP>(&chain, positions.clone());
        let log_evidence = segment.forward::<KEEP>(chain, segment.range(), before);
        model.log_evidence(graph, log_evidence, positions)
    }
}

/// Smooths a block that was filtered. Returns the observer and the future of the block before it.
fn smooth<O: SmootherObserver>(
    model: StateSpace<'_>,
    whitened: &WhitenedCells,
    segment: &mut Segment,
    future: Option<&Future>,
    observer: O,
) -> (O, Future) {
    let zero = Future(Adjoint::zero(model.layout.dynamic().size()));
    let chain = Chain { model, whitened };
    let (observer, before) = segment.backward(chain, &future.unwrap_or(&zero).0, observer);
    (observer, Future(before))
}

/// The positions of a block without the row that it shares with the block before it.
fn own_positions(graph: &FactorGraph<'_>, past: Option<&Past>) -> Range<usize> {
    usize::from(past.is_some())..graph.tree().len()
}
