//! What is asked of a chain beside its rows: ahead of them, between them, and whole paths after the last.

use super::ahead::{Ahead, LastMoments, Outlook};
use super::along::Along;
use super::careful::Careful;
use super::form::smallest_kept;
use super::{Form, InferenceError, Workspace};
use crate::data::InputPoints;
use crate::graph::FactorGraph;
use crate::prediction::Prediction;
use crate::structure::Attachment;

impl Workspace {
    /// Mean and variance of every output, without noise, some time after a row and from nothing but that row and those before
    /// it: what a forecast made then would have said. One filter serves all outlooks, in their own order; a second one, by square
    /// roots, those whose variances lose their digits to tiny noise (see [`Form`]).
    ///
    /// # Errors
    /// When the structure is not a chain, an outlook is not ahead, or numbers overflow; the row named is the origin.
    ///
    /// # Panics
    /// When an origin is not a row of the graph.
    pub fn predict_ahead(
        &mut self,
        graph: &FactorGraph<'_>,
        outlooks: &[Outlook],
    ) -> Result<Prediction, InferenceError> {
        check_ahead(outlooks.iter().map(|outlook| outlook.distance))?;
        let layout = self.prepare_chain::<false>(graph)?;
        let mut ahead = Ahead::new(graph, &layout, outlooks);
        let (chain, segments, _) = self.chain(graph);
        segments.filter_once(&layout, chain, &mut ahead);
        if let Some(smallest) = self.smallest_kept(graph) {
            ahead.answer_carefully(&mut Careful::new(graph), outlooks, &smallest);
        }
        ahead.finish(graph)
    }

    /// Mean and variance of every output at new inputs along a line, without noise, and the D×D covariance of the outputs at
    /// each if `with_covariances`; exact, each as if it were the only one. The same as
    /// [`Posterior::predict_at`](crate::posterior::Posterior::predict_at) in O(C n²), for states too large to keep. Inputs whose
    /// variances lose their digits to tiny noise (see [`Form`]) are answered by square roots, in O(C n³) for all of them.
    ///
    /// # Errors
    /// When the structure is not a chain along a single input, or numbers overflow; the row named is one of `inputs`.
    ///
    /// # Panics
    /// When `attachment` was made for another structure, or the inputs have another number of columns.
    pub fn predict_along(
        &mut self,
        graph: &FactorGraph<'_>,
        attachment: &Attachment,
        inputs: &InputPoints,
        with_covariances: bool,
    ) -> Result<(Prediction, Vec<f64>), InferenceError> {
        let layout = self.prepare_chain::<false>(graph)?;
        let mut along = Along::new(graph, &layout, attachment, inputs, with_covariances)?;
        let (chain, segments, _) = self.chain(graph);
        segments.smooth_once(&layout, chain, &mut along);
        if let Some(smallest) = self.smallest_kept(graph) {
            along.answer_carefully(&mut Careful::new(graph), &smallest);
        }
        along.finish()
    }

    /// Joint draws of all outputs, without noise, at these distances after the last row: each row-major H×D. Where the variances
    /// of the last row lose their digits to tiny noise (see [`Form`]), its state is found by square roots.
    ///
    /// # Errors
    /// When the structure is not a chain, a distance is not ahead, or numbers overflow.
    pub fn paths_ahead(
        &mut self,
        graph: &FactorGraph<'_>,
        distances: &[f64],
        n_paths: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, InferenceError> {
        check_ahead(distances.iter().copied())?;
        let layout = self.prepare_chain::<false>(graph)?;
        let mut last = LastMoments::default();
        let (chain, segments, _) = self.chain(graph);
        segments.filter_once(&layout, chain, &mut last);
        let smallest = self.smallest_kept(graph);
        let state = match smallest
            .filter(|smallest| !last.variances_are_accurate(&layout, &self.readout, smallest))
        {
            Some(_) => Careful::new(graph).last_state(),
            None => last.state(&layout),
        };
        state.paths(graph, &layout, (distances, &self.readout), n_paths, seed)
    }

    /// By output, the smallest variance that is taken from the covariance form; `None` where all are, since it was named. Where
    /// the factored form was named, none is.
    fn smallest_kept(&self, graph: &FactorGraph<'_>) -> Option<Vec<f64>> {
        match self.form {
            Some(Form::Covariance) => None,
            Some(Form::SquareRoot) => Some(vec![f64::INFINITY; graph.model().n_outputs()]),
            Some(Form::Information) | None => Some(smallest_kept(graph)),
        }
    }
}

/// Refuses distances that lead backward or nowhere.
fn check_ahead(mut distances: impl Iterator<Item = f64>) -> Result<(), InferenceError> {
    match distances.position(|distance| distance.is_nan() || distance < 0.0) {
        Some(at) => Err(InferenceError::NotAhead { at }),
        None => Ok(()),
    }
}
