//! Sweeps over a chain that is never in memory as a whole: block by block, forward and then backward.

use super::form::{Digits, Form, gradient_is_accurate};
use super::gradient::{Gradient, GradientSums};
use super::kalman_memory::{Adjoint, Gaussian};
use super::parallel::Segment;
use super::predictions::{Order, Predictions};
use super::workspace::{finite, overflow};
use super::{InferenceError, Workspace};
use crate::graph::FactorGraph;
use crate::index::Position;
use crate::linalg::{Layout, Shape};
use crate::prediction::Prediction;
use std::ops::Range;

/// What a block of a chain has to know of all rows before it: the filtered moments of the last of them. O(n²) numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Past(pub(super) Gaussian);

/// What a block of a chain has to know of all rows after it, seen from its last row. O(n²) numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Future(pub(super) Adjoint);

/// Exact inference on a chain that comes in blocks of rows, each block as a graph of its own.
///
/// A block other than the first begins with **the last row of the block before it, without cells**: that row's cells are
/// known to the [`Past`], and the step from it to the next row belongs to the block. First all blocks are
/// filtered in their order, and the past of each is kept; then they are passed backward from the last to the first,
/// each from its past and from the [`Future`] that its successor has found. Together that is the covariance form of the
/// sweep over the whole chain, in the memory of one block.
#[derive(Debug)]
pub struct BlockSweep {
    workspace: Workspace,
    segment: Segment,
    digits: Digits,
    sums: GradientSums,
    gradient_is_accurate: bool,
}

impl Default for BlockSweep {
    fn default() -> Self {
        Self {
            workspace: Workspace::new(),
            segment: Segment::default(),
            digits: Digits::default(),
            sums: GradientSums::default(),
            gradient_is_accurate: true,
        }
    }
}

impl BlockSweep {
    /// A sweep that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Filters a block. Returns its share of the log evidence and the past of the next block.
    ///
    /// # Errors
    /// When the structure is not a chain, or numbers overflow; the row named is one of the block's graph.
    pub fn forward(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
    ) -> Result<(f64, Past), InferenceError> {
        let layout = self.workspace.prepare_chain::<false>(graph)?;
        check(&layout, past, None)?;
        let log_evidence = self.filter::<false>(graph, &layout, past)?;
        Ok((log_evidence, Past(self.segment.far().clone())))
    }

    /// Filters a block again and passes backward over it. Returns mean and variance of every output, without noise, at its
    /// own rows in the order of the chain, and the future of the block before it.
    ///
    /// # Errors
    /// When the structure is not a chain, or numbers overflow; the row named is one of the block's graph.
    pub fn backward(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<(Prediction, Future), InferenceError> {
        let layout = self.workspace.prepare_chain::<false>(graph)?;
        check(&layout, past, future)?;
        self.filter::<true>(graph, &layout, past)?;
        let positions = own_positions(graph, past);
        let n_outputs = graph.model().n_outputs();
        let mut means = vec![0.0; positions.len() * n_outputs];
        let mut variances = means.clone();
        let order = Order::PositionsFrom(positions.start);
        let observer = Predictions::new(order, n_outputs, (&mut means, &mut variances));
        let nothing = Future(Adjoint::zero(layout.dynamic().size()));
        let (chain, _, _) = self.workspace.chain(graph);
        let future = &future.unwrap_or(&nothing).0;
        let (observer, before) = self.segment.backward(&layout, chain, future, observer);
        let seen = observer.seen();
        if let Some(at) = seen.first_not_finite(&means, &variances) {
            return Err(overflow(graph, Position::new(positions.start + at / n_outputs)));
        }
        self.digits.add(graph, &seen.largest);
        self.digits.add_variances(&variances);
        Ok((Prediction::from_checked(n_outputs, means, variances), Future(before)))
    }

    /// Filters a block again and passes backward over it for slopes. Returns the block's share of the log evidence and of its
    /// gradient, and the future of the block before it; the shares of all blocks add up.
    ///
    /// # Errors
    /// When the structure is not a chain, or numbers overflow; the row named is one of the block's graph.
    pub fn gradient(
        &mut self,
        graph: &FactorGraph<'_>,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<(Gradient, Future), InferenceError> {
        let layout = self.workspace.prepare_chain::<true>(graph)?;
        check(&layout, past, future)?;
        let log_evidence = self.filter::<true>(graph, &layout, past)?;
        self.sums.reset(graph, &layout, own_positions(graph, past));
        let nothing = Future(Adjoint::zero(layout.dynamic().size()));
        let (chain, _, _) = self.workspace.chain(graph);
        let n_observations = chain.whitened.n_observations();
        let future = &future.unwrap_or(&nothing).0;
        let (_, before) = self.segment.backward(&layout, chain, future, &mut self.sums);
        self.gradient_is_accurate &=
            gradient_is_accurate(graph, self.sums.variance_mismatch(), n_observations);
        let gradient = self.sums.finish(graph, &layout, log_evidence);
        // The slope of one cell is covariance_factor over the whole gradient: no row can be named but the last one swept.
        if gradient.is_finite() {
            Ok((gradient, Future(before)))
        } else {
            Err(overflow(graph, Position::new(0)))
        }
    }

    /// Whether all slopes delivered so far have the digits that [`Form`] promises, which tiny noise can cost. Ask before the shares
    /// of all blocks are used: they are given out also where this is false.
    pub fn gradient_is_accurate(&self) -> bool {
        self.gradient_is_accurate
    }

    /// Whether all variances delivered so far have the digits that [`Form`] promises, which tiny noise can cost, and none is
    /// below zero. Ask before they are used: they are given out also where this is false.
    pub fn variances_are_accurate(&self) -> bool {
        self.digits.are_kept()
    }

    /// Whether this model can be expected to keep them: whether its noise is not too small for the covariance form.
    pub fn suits(graph: &FactorGraph<'_>) -> bool {
        Form::for_marginals(graph) == Form::Covariance
    }

    /// Filters a block from one of its positions on, from the moments before it. Returns the log evidence of those positions and the
    /// moments of the last.
    pub(super) fn forward_from(
        &mut self,
        graph: &FactorGraph<'_>,
        first: usize,
        before: &Gaussian,
    ) -> Result<(f64, Gaussian), InferenceError> {
        let layout = self.workspace.prepare_chain::<false>(graph)?;
        let (chain, _, _) = self.workspace.chain(graph);
        let positions = first..graph.tree().len();
        let constants = chain.readout.log_noise_of(chain.cells, positions.clone());
        self.segment.take::<false>(&chain, positions);
        let part = self.segment.whole();
        let log_evidence = constants + self.segment.forward::<false>(&layout, chain, part, before);
        Ok((finite(graph, log_evidence)?, self.segment.far().clone()))
    }

    fn filter<const KEEP: bool>(
        &mut self,
        graph: &FactorGraph<'_>,
        layout: &Layout,
        past: Option<&Past>,
    ) -> Result<f64, InferenceError> {
        let log_noise = self.workspace.log_noise();
        let (chain, _, _) = self.workspace.chain(graph);
        self.segment.take::<KEEP>(&chain, own_positions(graph, past));
        let nothing = Past(Gaussian::zero(layout.dynamic().size()));
        let (part, before) = (self.segment.whole(), &past.unwrap_or(&nothing).0);
        let log_evidence = log_noise + self.segment.forward::<KEEP>(layout, chain, part, before);
        finite(graph, log_evidence)
    }
}

/// Refuses what is known of another model's states.
fn check(layout: &Layout, past: Option<&Past>, future: Option<&Future>) -> Result<(), InferenceError> {
    let expected = layout.dynamic().size();
    let found = [past.map(|past| past.0.mean.len()), future.map(|future| future.0.vector.len())];
    match found.into_iter().flatten().find(|&found| found != expected) {
        Some(found) => Err(InferenceError::OtherState { expected, found }),
        None => Ok(()),
    }
}

/// The positions of a block but for the row that it shares with the one before it.
fn own_positions(graph: &FactorGraph<'_>, past: Option<&Past>) -> Range<usize> {
    usize::from(past.is_some())..graph.tree().len()
}
