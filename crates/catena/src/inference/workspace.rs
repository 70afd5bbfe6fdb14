//! Sweeps with memory that is kept between them.

use super::batch::{BatchGradient, BatchSweep, can_be_batched};
use super::error::InferenceError;
use super::form::{
    Form, Purpose, all_nonnegative, gradient_is_accurate, smallest_trusted, variances_are_accurate,
};
use super::gradient::{Gradient, GradientSums};
use super::information::InformationSweep;
use super::parallel::{Cut, KalmanSweep};
use super::square_root::SquareRootSweep;
use super::state_space::{Prepared, StateSpace};
use super::states::{States, StatesForm};
use super::sweep::Sweep;
use crate::graph::FactorGraph;
use crate::index::{Position, RowIndex};
use crate::linalg::MODELS;
use crate::prediction::Prediction;
use std::num::NonZeroUsize;

/// How many steps a thread computes together.
const STEPS_AT_ONCE: usize = 8192;

/// Means and variances of all outputs at all rows, and the log evidence they come with.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    /// The log evidence (log marginal likelihood) of the observed cells.
    pub log_evidence: f64,
    /// Means and variances of the outputs, without noise, in row order.
    pub prediction: Prediction,
    /// The form of the sweep that computed them.
    pub form: Form,
}

/// Runs sweeps and keeps their memory for the next one.
///
/// With N the state size n padded to whole vector lanes, a sweep keeps per point about 8 bytes times
/// - covariance form: N² + N, and N + 3 for each observed cell; with at most four latents of K ≤ 2 components, about half of N²;
/// - information form: 3N² + 3N, and N² more for the gradient;
/// - square-root form: 5N² + 4N;
///
/// and, for each latent of K components, K² + K(K + 1)/2 for the step into it, twice that for the gradient; on a regular
/// grid there is one step in all. 10⁶ points with n = 6 (three Matérn-3/2 latents, N = 8, 36 numbers for N²) take 0.7 GB in
/// the covariance form with 1.3 observed cells per point, without the table and the predictions.
#[derive(Debug, Default)]
pub struct Workspace {
    form: Option<Form>,
    prepared: Prepared,
    kalman: KalmanSweep,
    information: InformationSweep,
    square_root: SquareRootSweep,
    batch: BatchSweep,
    sums: GradientSums,
}

impl Workspace {
    /// A workspace that chooses the form for each graph and purpose; see [`Form`].
    pub fn new() -> Self {
        Self::default()
    }

    /// A workspace that always uses this form.
    pub fn with_form(form: Form) -> Self {
        Self { form: Some(form), ..Self::default() }
    }

    /// The same workspace, with its sweeps on all threads of the current `rayon` pool: evidence, marginals and gradient of
    /// chains of 32 768 points and more in the covariance form. Everything else runs on one thread.
    ///
    /// Such a chain is cut into at most 32 segments that are swept in parallel. Results are the same to the bit on any
    /// number of threads; from a workspace that does not cut they differ by rounding. A chain whose filter forgets its initial state only
    /// after half a segment, as with few observations and long length-scales, gains little.
    #[must_use]
    pub fn on_all_threads(mut self) -> Self {
        self.kalman.cut = Cut::ByLength;
        self
    }

    /// The same with segments of this many points, whatever the length of the chain: for tests and benchmarks.
    #[doc(hidden)]
    #[must_use]
    pub fn in_segments_of(mut self, points: NonZeroUsize) -> Self {
        self.kalman.cut = Cut::Every(points);
        self
    }

    /// The log evidence of the observed cells: log p(Y) under the model on its structure.
    ///
    /// # Errors
    /// When numbers overflow, or the structure does not allow the form that was named.
    pub fn log_evidence(&mut self, graph: &FactorGraph<'_>) -> Result<f64, InferenceError> {
        let form = self.form_for(graph, Purpose::Evidence)?;
        let (model, sweep, _) = self.prepare::<false>(graph, form);
        let log_evidence = sweep.log_evidence(model);
        finite(graph, model, log_evidence)
    }

    /// Mean and variance of every output at every row, with the log evidence.
    ///
    /// # Errors
    /// When numbers overflow, or the structure does not allow the form that was named.
    pub fn marginals(&mut self, graph: &FactorGraph<'_>) -> Result<Marginals, InferenceError> {
        let form = self.form_for(graph, Purpose::Marginals)?;
        if self.form.is_some() {
            return self.marginals_by(form, graph).map(|(marginals, _)| marginals);
        }
        if form == Form::Covariance
            && let Ok((marginals, largest)) = self.marginals_by(form, graph)
            && variances_are_accurate(graph, &largest)
            && all_nonnegative(marginals.prediction.variances())
        {
            return Ok(marginals);
        }
        let form = Form::for_any_tree(graph);
        let (marginals, _) = self.marginals_by(form, graph)?;
        if form == Form::SquareRoot || all_nonnegative(marginals.prediction.variances()) {
            return Ok(marginals);
        }
        self.marginals_by(Form::SquareRoot, graph).map(|(marginals, _)| marginals)
    }

    /// Marginals in this form, and the largest variance of each output.
    fn marginals_by(
        &mut self,
        form: Form,
        graph: &FactorGraph<'_>,
    ) -> Result<(Marginals, Vec<f64>), InferenceError> {
        let n_outputs = graph.model().n_outputs();
        let n_cells = graph.tree().len() * n_outputs;
        let (mut means, mut variances) = (vec![0.0; n_cells], vec![0.0; n_cells]);
        let (model, sweep, _) = self.prepare::<false>(graph, form);
        let (log_evidence, statistics) = sweep
            .marginals(model, (&mut means, &mut variances))
            .map_err(|position| InferenceError::overflow_at(graph, position))?;
        if let Some(at) = statistics.first_not_finite(&means, &variances) {
            return Err(InferenceError::Overflow { row: RowIndex::new(at / n_outputs) });
        }
        let log_evidence = finite(graph, model, Ok(log_evidence))?;
        let prediction = Prediction::from_checked(n_outputs, means, variances);
        Ok((Marginals { log_evidence, prediction, form }, statistics.largest))
    }

    /// The log evidence and its exact gradient in every weight, length-scale, shape and noise variance.
    ///
    /// # Errors
    /// When numbers overflow, or the structure does not allow the form that was named.
    pub fn gradient(&mut self, graph: &FactorGraph<'_>) -> Result<Gradient, InferenceError> {
        let form = self.form_for(graph, Purpose::Gradient)?;
        let gradient = self.gradient_by(form, graph);
        if self.form.is_some() || form != Form::Covariance {
            return gradient;
        }
        let n_observations = self.kalman.n_observations();
        match gradient {
            Ok(gradient) if gradient_is_accurate(graph, self.sums.variance_mismatch(), n_observations) => {
                Ok(gradient)
            }
            _ => self.gradient_by(Form::for_any_tree(graph), graph),
        }
    }

    /// The gradients of several models on one structure and its cells, as [`Workspace::gradient`] finds them one by one, to rounding.
    ///
    /// On chains of fewer than 32 768 points, models with the same kernels whose cells have no noise of their own are swept four at a
    /// time, one per vector lane, in the covariance form. Models that need another form are swept again by themselves. The graphs must
    /// come from one graph by [`FactorGraph::with_model`]; others are swept one by one.
    pub fn gradients(&mut self, graphs: &[FactorGraph<'_>]) -> Vec<Result<Gradient, InferenceError>> {
        let wants_covariance =
            |graph: &FactorGraph<'_>| matches!(self.form_for(graph, Purpose::Gradient), Ok(Form::Covariance));
        let together: Vec<usize> = (0..graphs.len()).filter(|&at| wants_covariance(&graphs[at])).collect();
        let is_batch = can_be_batched(&together.iter().map(|&at| &graphs[at]).collect::<Vec<_>>());
        let mut found: Vec<Option<BatchGradient>> = graphs.iter().map(|_| None).collect();
        // A single model is swept faster by itself.
        for group in together.chunks(MODELS).filter(|group| is_batch && group.len() > 1) {
            let members: Vec<&FactorGraph<'_>> = group.iter().map(|&at| &graphs[at]).collect();
            for (&at, own) in group.iter().zip(self.batch.gradients(&members)) {
                found[at] = Some(own);
            }
        }
        let finished = graphs.iter().zip(found).map(|(graph, found)| match found {
            None => self.gradient(graph),
            Some(BatchGradient { gradient, .. }) if self.form.is_some() => gradient,
            Some(BatchGradient { gradient: Ok(gradient), variance_mismatch, n_observations })
                if gradient_is_accurate(graph, variance_mismatch, n_observations) =>
            {
                Ok(gradient)
            }
            Some(_) => self.gradient_by(Form::for_any_tree(graph), graph),
        });
        finished.collect()
    }

    /// The gradient, and by position the derivative of the log evidence in the logarithm of the length of the edge above it: 0 at
    /// the root and for edges of length zero. With it a structure whose points move can be learned.
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
        let (model, sweep, sums) = self.prepare::<true>(graph, form);
        sums.reset(model, 0..model.tree.len());
        let log_evidence = sweep.gradient(model, sums);
        let log_evidence = finite(graph, model, log_evidence)?;
        sums.finish(graph, model.layout, log_evidence)
    }

    /// The marginals of all states, with the log evidence. The covariance form does not keep them; the information form replaces it.
    pub(crate) fn into_states(mut self, graph: &FactorGraph<'_>) -> Result<(f64, States), InferenceError> {
        let form = self.form_for(graph, Purpose::States)?;
        let (model, _, _) = self.prepare::<false>(graph, form);
        let (log_evidence, states) = if form == Form::SquareRoot {
            let mut sweep = SquareRootSweep::default();
            let log_evidence = sweep.up(model);
            if log_evidence.is_ok() {
                sweep.down(model, None);
            }
            (log_evidence, StatesForm::SquareRoot(sweep))
        } else {
            let mut sweep = InformationSweep::default();
            (sweep.run(model, None, None), StatesForm::Information(sweep))
        };
        let log_evidence = finite(graph, model, log_evidence)?;
        Ok((log_evidence, States::new(self.prepared, states)))
    }

    /// The form that was named, or else the one for the purpose.
    fn form_for(&self, graph: &FactorGraph<'_>, purpose: Purpose) -> Result<Form, InferenceError> {
        let form = self.form.unwrap_or_else(|| Form::for_purpose(graph, purpose));
        if form == Form::Covariance && !graph.tree().is_chain() && purpose != Purpose::States {
            return Err(InferenceError::NotAChain);
        }
        Ok(form)
    }

    /// The state-space model of a graph, and the sweep over it in a form.
    fn prepare<'a, const DERIVATIVES: bool>(
        &'a mut self,
        graph: &'a FactorGraph<'_>,
        form: Form,
    ) -> (StateSpace<'a>, &'a mut dyn Sweep, &'a mut GradientSums) {
        let at_once = if self.kalman.cut == Cut::Never { usize::MAX } else { STEPS_AT_ONCE };
        self.prepared.set::<DERIVATIVES>(graph, at_once);
        let sweep: &mut dyn Sweep = match form {
            Form::Covariance => &mut self.kalman,
            Form::Information => &mut self.information,
            Form::SquareRoot => &mut self.square_root,
        };
        (self.prepared.state_space(graph), sweep, &mut self.sums)
    }

    /// The state-space model of a chain, its Kalman filter, and by output the smallest variance to be trusted (`None`: all).
    pub(super) fn chain<'a>(
        &'a mut self,
        graph: &'a FactorGraph<'_>,
    ) -> Result<(StateSpace<'a>, &'a mut KalmanSweep, Option<Vec<f64>>), InferenceError> {
        if !graph.tree().is_chain() {
            return Err(InferenceError::NotAChain);
        }
        self.prepared.set::<false>(graph, usize::MAX);
        let smallest = smallest_trusted(self.form, graph);
        Ok((self.prepared.state_space(graph), &mut self.kalman, smallest))
    }
}

/// The log evidence with the constants of the cells, if it is finite; the covariance form notices an overflow only at its end.
fn finite(
    graph: &FactorGraph<'_>,
    model: StateSpace<'_>,
    log_evidence: Result<f64, Position>,
) -> Result<f64, InferenceError> {
    let log_evidence = log_evidence.map_err(|position| InferenceError::overflow_at(graph, position))?;
    model.log_evidence(graph, log_evidence, 0..model.tree.len())
}
