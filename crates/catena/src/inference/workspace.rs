//! Sweeps with memory that is kept between them.

use super::cells::{CellPrecisions, WhitenedCells};
use super::form::{Purpose, are_variances, gradient_is_accurate, variances_are_accurate};
use super::gradient::{Gradient, GradientSums};
use super::information::{Branches, Down, Messages, Up};
use super::kalman::Chain;
use super::parallel::{Cut, Segments, predict_segments};
use super::predictions::{Order, Predictions};
use super::readout::Readout;
use super::square_root::{self, Factors, Rooted};
use super::states::{Kind, States};
use super::steps::StepTable;
use super::{Form, InferenceError};
use crate::graph::FactorGraph;
use crate::index::{Position, RowIndex};
use crate::linalg::{Layout, dispatch_small};
use crate::model::Latent;
use crate::prediction::Prediction;
use std::num::NonZeroUsize;

/// So many steps a thread computes together.
const STEPS_AT_ONCE: usize = 8192;

/// Means and variances of all outputs at all rows, and the log evidence they come with.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// The log evidence of the observed cells.
    pub log_evidence: f64,
    /// Means and variances of the outputs, without noise, in row order.
    pub prediction: Prediction,
    /// The form of the sweep they were found by.
    pub form: Form,
}

/// Runs sweeps and keeps their memory for the next one.
///
/// With N the state size n padded to whole vector lanes, a sweep keeps per point about 8 bytes times
/// - covariance form: N² + N, and N + 3 for each observed cell; with at most four latents of K ≤ 2 components, about half of N²;
/// - canonical form: 3N² + 3N, and N² more for the gradient;
/// - factored form: 5N² + 4N;
///
/// and, for each latent of K components, K² + K(K + 1)/2 for the step into it, twice that for the gradient; on a regular
/// grid there is one step in all. 10⁶ points with n = 6 (three Matérn-3/2 latents, N = 8, 36 numbers for N²) take 0.7 GB in
/// the covariance form with 1.3 observed cells per point, without the table and the predictions.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(super) form: Option<Form>,
    cut: Cut,
    steps: StepTable,
    pub(super) readout: Readout,
    log_noise: f64,
    information: CellPrecisions,
    whitened: WhitenedCells,
    segments: Segments,
    /// By output, the largest variance of the last marginals.
    largest_variances: Vec<f64>,
    messages: Messages,
    factors: Factors,
    sums: GradientSums,
    /// The slopes of each segment, where there are several.
    segment_gradients: Vec<GradientSums>,
}

impl Workspace {
    /// A workspace that picks the form for each graph and purpose; see [`Form`].
    pub fn new() -> Self {
        Self::default()
    }

    /// A workspace that always uses this form.
    pub fn with_form(form: Form) -> Self {
        Self { form: Some(form), ..Self::default() }
    }

    /// The same workspace, with its sweeps on all threads of the current `rayon` pool: evidence, marginals and gradient of
    /// chains of 32 768 points and more in the covariance form; all else runs on one thread.
    ///
    /// Such a chain is cut into at most 32 segments that are swept side by side. Results are the same to the bit on any
    /// number of threads; from a workspace that does not cut they differ by rounding. A chain that remembers its past for longer than half
    /// a segment, as one with few observations and long length-scales can, gains little.
    #[must_use]
    pub fn on_all_threads(self) -> Self {
        Self { cut: Cut::ByLength, ..self }
    }

    /// The same with segments of this many points, whatever the length of the chain.
    #[must_use]
    pub fn in_stretches_of(self, points: NonZeroUsize) -> Self {
        Self { cut: Cut::Every(points), ..self }
    }

    /// The log evidence of the observed cells: log p(Y) under the model on its structure.
    ///
    /// # Errors
    /// When numbers overflow, or a form was asked for that the structure does not allow.
    pub fn log_evidence(&mut self, graph: &FactorGraph<'_>) -> Result<f64, InferenceError> {
        let form = self.form_for(graph, Purpose::Evidence)?;
        let layout = self.prepare::<false>(graph, form);
        let log_noise = self.log_noise;
        let log_evidence = match form {
            Form::Covariance => {
                let (chain, segments, cut) = self.chain(graph);
                log_noise + segments.forward::<false>(&layout, chain, cut)
            }
            Form::Information => {
                let (branches, messages, _) = self.branches(graph);
                let up = Up::<false> { branches, messages, with_gradient: false, log_noise };
                dispatch_small(&layout, up).map_err(|position| overflow(graph, position))?
            }
            Form::SquareRoot => self.square_root_up(graph, &layout)?,
        };
        finite(graph, log_evidence)
    }

    /// Mean and variance of every output at every row, with the log evidence.
    ///
    /// # Errors
    /// When numbers overflow, or a form was asked for that the structure does not allow.
    pub fn marginals(&mut self, graph: &FactorGraph<'_>) -> Result<Marginals, InferenceError> {
        let prediction = Prediction::from_checked(graph.model().n_outputs(), vec![], vec![]);
        let mut marginals = Marginals { log_evidence: 0.0, prediction, form: Form::Information };
        self.marginals_into(graph, &mut marginals)?;
        Ok(marginals)
    }

    /// The same, in the memory of earlier marginals.
    ///
    /// # Errors
    /// As [`Workspace::marginals`]; the marginals are then empty.
    pub fn marginals_into(
        &mut self,
        graph: &FactorGraph<'_>,
        marginals: &mut Marginals,
    ) -> Result<(), InferenceError> {
        let form = self.form_for(graph, Purpose::Marginals)?;
        if self.form.is_some() {
            return self.marginals_by(form, graph, marginals);
        }
        let is_variance = |marginals: &Marginals| are_variances(marginals.prediction.variances());
        if form == Form::Covariance
            && self.marginals_by(form, graph, marginals).is_ok()
            && variances_are_accurate(graph, &self.largest_variances)
            && is_variance(marginals)
        {
            return Ok(());
        }
        let form = Form::for_any_tree(graph);
        self.marginals_by(form, graph, marginals)?;
        if form == Form::SquareRoot || is_variance(marginals) {
            return Ok(());
        }
        self.marginals_by(Form::SquareRoot, graph, marginals)
    }

    fn marginals_by(
        &mut self,
        form: Form,
        graph: &FactorGraph<'_>,
        marginals: &mut Marginals,
    ) -> Result<(), InferenceError> {
        let layout = self.prepare::<false>(graph, form);
        let log_noise = self.log_noise;
        let n_outputs = graph.model().n_outputs();
        let (mut means, mut variances) = marginals.prediction.take_arrays();
        for numbers in [&mut means, &mut variances] {
            numbers.resize(graph.tree().len() * n_outputs, 0.0);
        }
        let (order, numbers) = (Order::RowsView(graph.tree()), (&mut means[..], &mut variances[..]));
        let (log_evidence, seen) = match form {
            Form::Covariance => {
                let (chain, segments, cut) = self.chain(graph);
                let log_evidence = log_noise + segments.forward::<true>(&layout, chain, cut);
                let seen = predict_segments(&layout, chain, segments, graph.tree(), numbers);
                (log_evidence, seen)
            }
            Form::SquareRoot => {
                let mut predictions = Predictions::new(order, n_outputs, numbers);
                let log_evidence = self.square_root_up(graph, &layout)?;
                let (rooted, factors, _) = self.rooted(graph, &layout);
                square_root::down(rooted, factors, None);
                square_root::predict(rooted, factors, &mut predictions);
                (log_evidence, predictions.seen())
            }
            Form::Information => {
                let mut predictions = Predictions::new(order, n_outputs, numbers);
                let (branches, messages, _) = self.branches(graph);
                let up = Up::<true> { branches, messages, with_gradient: false, log_noise };
                let log_evidence =
                    dispatch_small(&layout, up).map_err(|position| overflow(graph, position))?;
                let observer = Some(&mut predictions);
                dispatch_small(&layout, Down { branches, messages, predictions: observer, slopes: None });
                (log_evidence, predictions.seen())
            }
        };
        if let Some(at) = seen.first_not_finite(&means, &variances) {
            return Err(InferenceError::Overflow { row: RowIndex::new(at / n_outputs) });
        }
        self.largest_variances = seen.largest;
        marginals.log_evidence = finite(graph, log_evidence)?;
        marginals.form = form;
        marginals.prediction = Prediction::from_checked(n_outputs, means, variances);
        Ok(())
    }

    /// The log evidence and its exact gradient in every weight, length-scale, shape and noise variance.
    ///
    /// # Errors
    /// When numbers overflow, or a form was asked for that the structure does not allow.
    pub fn gradient(&mut self, graph: &FactorGraph<'_>) -> Result<Gradient, InferenceError> {
        let form = self.form_for(graph, Purpose::Gradient)?;
        let gradient = self.gradient_by(form, graph);
        if self.form.is_some() || form != Form::Covariance {
            return gradient;
        }
        match gradient {
            Ok(gradient)
                if gradient_is_accurate(
                    graph,
                    self.sums.variance_mismatch(),
                    self.whitened.n_observations(),
                ) =>
            {
                Ok(gradient)
            }
            _ => self.gradient_by(Form::for_any_tree(graph), graph),
        }
    }

    /// The gradient, and by position the slope of the log evidence in the logarithm of the length of the edge above it: 0 at
    /// the root and for edges of length zero. By them a structure whose points move can be learned.
    ///
    /// # Errors
    /// As [`Workspace::gradient`], and when a latent is a component along time.
    pub fn gradient_with_edges(
        &mut self,
        graph: &FactorGraph<'_>,
    ) -> Result<(Gradient, Vec<f64>), InferenceError> {
        if graph.model().latents().iter().any(|latent| latent.kernel().is_none()) {
            return Err(InferenceError::NoEdgeGradient);
        }
        self.sums.keep_edges();
        let gradient = self.gradient(graph);
        let edges = self.sums.take_edges();
        Ok((gradient?, edges))
    }

    fn gradient_by(&mut self, form: Form, graph: &FactorGraph<'_>) -> Result<Gradient, InferenceError> {
        let layout = self.prepare::<true>(graph, form);
        let log_noise = self.log_noise;
        self.sums.reset(graph, &layout, 0..graph.tree().len());
        let log_evidence = match form {
            Form::Covariance => {
                let (chain, segments, cut) = self.chain(graph);
                let log_evidence = log_noise + segments.forward::<true>(&layout, chain, cut);
                self.add_segment_gradients(graph, &layout);
                log_evidence
            }
            Form::SquareRoot => {
                let log_evidence = self.square_root_up(graph, &layout)?;
                let (rooted, factors, slopes) = self.rooted(graph, &layout);
                square_root::down(rooted, factors, Some(slopes));
                log_evidence
            }
            Form::Information => {
                let (branches, messages, slopes) = self.branches(graph);
                let up = Up::<true> { branches, messages, with_gradient: true, log_noise };
                let log_evidence =
                    dispatch_small(&layout, up).map_err(|position| overflow(graph, position))?;
                dispatch_small(&layout, Down { branches, messages, predictions: None, slopes: Some(slopes) });
                log_evidence
            }
        };
        let log_evidence = finite(graph, log_evidence)?;
        let gradient = self.sums.finish(graph, &layout, log_evidence);
        // The slope of one cell is covariance_factor over the whole gradient: no row can be named but the last one swept.
        if gradient.is_finite() { Ok(gradient) } else { Err(overflow(graph, Position::new(0))) }
    }

    /// Computes what the covariance form needs.
    pub(super) fn prepare_chain<const DERIVATIVES: bool>(
        &mut self,
        graph: &FactorGraph<'_>,
    ) -> Result<Layout, InferenceError> {
        if !graph.tree().is_chain() {
            return Err(InferenceError::NotAChain);
        }
        Ok(self.prepare::<DERIVATIVES>(graph, Form::Covariance))
    }

    /// Messages and states of every position, kept whole, with the log evidence. The covariance form keeps neither,
    /// so the canonical one stands in for it.
    pub(crate) fn into_states(mut self, graph: &FactorGraph<'_>) -> Result<(f64, States), InferenceError> {
        let form = match self.form_for(graph, Purpose::States)? {
            Form::Covariance => Form::Information,
            other => other,
        };
        let layout = self.prepare::<false>(graph, form);
        let log_noise = self.log_noise;
        let (log_evidence, kind) = if form == Form::SquareRoot {
            let log_evidence = self.square_root_up(graph, &layout)?;
            let (rooted, factors, _) = self.rooted(graph, &layout);
            square_root::down(rooted, factors, None);
            factors.forget_conditionals();
            (log_evidence, Kind::SquareRoot(self.factors))
        } else {
            let (branches, messages, _) = self.branches(graph);
            let up = Up::<true> { branches, messages, with_gradient: false, log_noise };
            let log_evidence = dispatch_small(&layout, up).map_err(|position| overflow(graph, position))?;
            dispatch_small(&layout, Down { branches, messages, predictions: None, slopes: None });
            messages.forget_conditionals();
            (log_evidence, Kind::Information(self.messages))
        };
        let log_evidence = finite(graph, log_evidence)?;
        Ok((log_evidence, States { layout, readout: self.readout, kind }))
    }

    /// The form asked for, or else the one for the purpose.
    fn form_for(&self, graph: &FactorGraph<'_>, purpose: Purpose) -> Result<Form, InferenceError> {
        let form = self.form.unwrap_or_else(|| Form::for_purpose(graph, purpose));
        if form == Form::Covariance && !graph.tree().is_chain() && purpose != Purpose::States {
            return Err(InferenceError::NotAChain);
        }
        Ok(form)
    }

    /// Computes everything that depends on the model alone.
    fn prepare<const DERIVATIVES: bool>(&mut self, graph: &FactorGraph<'_>, form: Form) -> Layout {
        let dims: Vec<usize> = graph.model().latents().iter().map(Latent::state_dim).collect();
        let layout = Layout::new(&dims);
        let at_once = if self.cut == Cut::Never { usize::MAX } else { STEPS_AT_ONCE };
        self.steps.set::<DERIVATIVES>(graph.step_lengths().lengths(), graph.model(), &layout, at_once);
        self.readout.set(graph.model(), &layout);
        self.log_noise = self.readout.log_noise(graph.cells());
        if form == Form::Information {
            self.information.set(graph, &self.readout);
        }
        if form == Form::Covariance {
            self.whitened.set(graph, &self.readout);
        }
        layout
    }

    /// `−½ Σ log 2πr` over all cells of the graph it was last prepared for.
    pub(super) fn log_noise(&self) -> f64 {
        self.log_noise
    }

    /// The parts of the covariance form.
    pub(super) fn chain<'a>(&'a mut self, graph: &'a FactorGraph<'_>) -> (Chain<'a>, &'a mut Segments, Cut) {
        let n_values = self.readout.n_values();
        let chain = Chain {
            cells: graph.cells(),
            edges: graph.step_lengths(),
            steps: &self.steps,
            readout: &self.readout,
            whitened: &self.whitened,
            n_values,
            reads_values: !self.readout.is_sparse() && n_values <= self.readout.n_outputs(),
        };
        (chain, &mut self.segments, self.cut)
    }

    /// The way back of the covariance form, for slopes: those of each segment, added up in their order.
    fn add_segment_gradients(&mut self, graph: &FactorGraph<'_>, layout: &Layout) {
        let mut slopes = std::mem::take(&mut self.sums);
        let mut parts = std::mem::take(&mut self.segment_gradients);
        let (chain, segments, _) = self.chain(graph);
        match &segments.positions()[..] {
            [_] => {
                segments.backward(layout, chain, vec![&mut slopes]);
            }
            several => {
                parts.clear();
                parts.resize_with(several.len(), || slopes.for_part());
                for (part, positions) in parts.iter_mut().zip(several) {
                    part.reset(graph, layout, positions.clone());
                }
                segments.backward(layout, chain, parts.iter_mut().collect());
                parts.iter().for_each(|part| slopes.add(part));
            }
        }
        (self.sums, self.segment_gradients) = (slopes, parts);
    }

    /// The upward pass of the factored form.
    fn square_root_up(&mut self, graph: &FactorGraph<'_>, layout: &Layout) -> Result<f64, InferenceError> {
        let log_noise = self.log_noise;
        let (rooted, factors, _) = self.rooted(graph, layout);
        square_root::up(rooted, log_noise, factors).map_err(|position| overflow(graph, position))
    }

    /// The parts of the factored form.
    fn rooted<'a>(
        &'a mut self,
        graph: &'a FactorGraph<'_>,
        layout: &Layout,
    ) -> (Rooted<'a>, &'a mut Factors, &'a mut GradientSums) {
        let rooted = Rooted {
            tree: graph.tree(),
            cells: graph.cells(),
            edges: graph.step_lengths(),
            steps: &self.steps,
            readout: &self.readout,
            shape: layout.dynamic(),
        };
        (rooted, &mut self.factors, &mut self.sums)
    }

    /// The parts of the canonical form.
    fn branches<'a>(
        &'a mut self,
        graph: &'a FactorGraph<'_>,
    ) -> (Branches<'a>, &'a mut Messages, &'a mut GradientSums) {
        let branches = Branches::new(graph, &self.steps, &self.readout, &self.information);
        (branches, &mut self.messages, &mut self.sums)
    }
}

/// The error for numbers that overflowed at a position, in the user's terms.
pub(super) fn overflow(graph: &FactorGraph<'_>, position: Position) -> InferenceError {
    InferenceError::Overflow { row: graph.tree().row_at(position) }
}

/// The log evidence, if it is a number; the covariance form notices an overflow only at its end.
pub(super) fn finite(graph: &FactorGraph<'_>, log_evidence: f64) -> Result<f64, InferenceError> {
    if log_evidence.is_finite() {
        Ok(log_evidence)
    } else {
        Err(overflow(graph, Position::new(graph.tree().len() - 1)))
    }
}
