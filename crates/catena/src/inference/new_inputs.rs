//! Marginals at new inputs along a chain: forecasts from a row, and points between rows.
//!
//! Ahead of a row the filtered Gaussian (m, P) becomes `A m`, `A P Aᵀ + Q`. Between two rows the filtered Gaussian of the left one is
//! carried forward and the adjoint (r, N) of the right one backward; where they meet, the posterior is `m + P r`, `P − P N P`. One pass
//! serves all inputs, and each answer is the same whichever others are asked for. Inputs whose variance loses its digits to tiny noise
//! are computed again in square-root form.

use super::error::InferenceError;
use super::gaussian::PackedGaussian;
use super::kalman::{Chain, FilterObserver, SmootherObserver, posterior_of_output, retreat};
use super::kalman_memory::{AdjointMemory, AdjointScratch};
use super::square_root::{Meets, SquareRootChain};
use super::steps::{StepTable, StepView};
use super::workspace::Workspace;
use crate::data::InputPoints;
use crate::graph::FactorGraph;
use crate::index::RowIndex;
use crate::linalg::{Arithmetic, Layout, Shape, StateAlgebra, dot, vector_times_matrix};
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::{AttachedTo, Attachment, Tie};

/// A forecast: the last row that is known, and a distance beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The last row that is known.
    pub origin: RowIndex,
    /// The distance beyond it, in units of the structure's distance scale.
    pub distance: f64,
}

impl Workspace {
    /// Mean and variance of every output, without noise, at a distance after a row and from that row and those before it alone. One
    /// filter serves all forecasts; a second one, in square-root form, those whose variances lose their digits to tiny noise (see [`Form`](super::Form)).
    ///
    /// # Errors
    /// When the structure is not a chain, a distance is negative, or numbers overflow; the row named is the origin.
    ///
    /// # Panics
    /// When an origin is not a row of the graph.
    pub fn predict_ahead(
        &mut self,
        graph: &FactorGraph<'_>,
        outlooks: &[Outlook],
    ) -> Result<Prediction, InferenceError> {
        check_ahead(outlooks.iter().map(|outlook| outlook.distance))?;
        let (model, kalman, smallest) = self.chain(graph)?;
        let place = |outlook: &Outlook| {
            let point = graph.tree().position_of(outlook.origin);
            Some(AttachedTo::AfterLast(Tie { point, distance: outlook.distance }))
        };
        let mut requests: Vec<_> = outlooks.iter().map(place).enumerate().collect();
        requests.sort_by_key(|&(_, place)| Meets::of(place));
        let mut new_inputs = NewInputs::new(graph.model(), model.layout, requests, false);
        kalman.filter_once(model, &mut new_inputs);
        if let Some(smallest) = smallest {
            new_inputs.requests.reverse();
            new_inputs.refine(graph, &smallest);
        }
        new_inputs.finish(|at| outlooks[at].origin).map(|(prediction, _)| prediction)
    }

    /// Mean and variance of every output at new inputs along a line, without noise, and the D×D covariance of the outputs at
    /// each if `with_covariances`; `table` are the inputs of the graph's rows. Exact, each as if it were the only one. The same as
    /// [`Posterior::predict_at`](crate::posterior::Posterior::predict_at) in O(C n²), for states too large to keep. Inputs whose
    /// variances lose their digits to tiny noise (see [`Form`](super::Form)) are computed in square-root form, in O(C n³) for all of them.
    ///
    /// # Errors
    /// When the structure is not a chain along a single input, the inputs have another number of columns, or numbers overflow; the row
    /// named is one of `inputs`.
    pub fn predict_along(
        &mut self,
        graph: &FactorGraph<'_>,
        table: &InputPoints,
        inputs: &InputPoints,
        with_covariances: bool,
    ) -> Result<(Prediction, Vec<f64>), InferenceError> {
        let attachment = attachment(graph, table)?;
        let (model, kalman, smallest) = self.chain(graph)?;
        let mut requests = Vec::with_capacity(inputs.n_rows());
        for (row, place) in places(&attachment, inputs)? {
            match place {
                Some(AttachedTo::Leaf(_)) => return Err(InferenceError::NotAChain),
                place => requests.push((row.get(), place)),
            }
        }
        requests.sort_by_key(|&(_, place)| std::cmp::Reverse(Meets::of(place)));
        let mut new_inputs = NewInputs::new(graph.model(), model.layout, requests, with_covariances);
        kalman.smooth_once(model, &mut new_inputs);
        if let Some(smallest) = smallest {
            new_inputs.refine(graph, &smallest);
        }
        new_inputs.finish(RowIndex::new)
    }
}

/// Prepares the structure of a graph over these inputs for new points.
pub(crate) fn attachment(
    graph: &FactorGraph<'_>,
    inputs: &InputPoints,
) -> Result<Attachment, InferenceError> {
    let (structure, inputs_len) = (graph.tree().len(), inputs.n_rows());
    if structure != inputs_len {
        return Err(InferenceError::OtherInputs { structure, inputs: inputs_len });
    }
    Ok(Attachment::new(inputs, graph.tree()))
}

/// Where each of these new inputs joins; `None` in a group without rows, where the state has its prior.
pub(crate) fn places<'a>(
    attachment: &'a Attachment,
    inputs: &'a InputPoints,
) -> Result<impl Iterator<Item = (RowIndex, Option<AttachedTo>)> + 'a, InferenceError> {
    let (expected, found) = (attachment.dim(), inputs.dim());
    if expected != found {
        return Err(InferenceError::InputDimension { expected, found });
    }
    let in_table = attachment.has_groups();
    if in_table != inputs.groups().is_some() {
        return Err(if in_table { InferenceError::NoGroups } else { InferenceError::UnknownGroups });
    }
    Ok(inputs.rows().map(move |row| (row, attachment.attach_in(inputs.group(row), inputs.point(row)))))
}

/// Refuses negative distances.
pub(super) fn check_ahead(mut distances: impl Iterator<Item = f64>) -> Result<(), InferenceError> {
    match distances.position(|distance| distance.is_nan() || distance < 0.0) {
        Some(at) => Err(InferenceError::NotAhead { at }),
        None => Ok(()),
    }
}

/// New inputs and their marginals, computed as a pass goes by.
struct NewInputs<'a> {
    model: &'a Lmc,
    layout: &'a Layout,
    /// Each with its index among the results, in the order in which the pass meets them.
    requests: Vec<(usize, Option<AttachedTo>)>,
    done: usize,
    /// The steps of all distances ahead, ascending.
    distances: Vec<f64>,
    steps_ahead: StepTable,
    n_outputs: usize,
    means: Vec<f64>,
    variances: Vec<f64>,
    /// D×D per input, if wanted.
    covariances: Option<Vec<f64>>,
    /// The Gaussian at a new input given earlier cells, and the adjoint of later ones.
    mean: Vec<f64>,
    covariance: Vec<f64>,
    adjoint: AdjointMemory,
}

impl<'a> NewInputs<'a> {
    fn new(
        model: &'a Lmc,
        layout: &'a Layout,
        requests: Vec<(usize, Option<AttachedTo>)>,
        with_covariances: bool,
    ) -> Self {
        let (shape, n_outputs, n) = (layout.dynamic(), model.n_outputs(), requests.len());
        let ahead = |&(_, place): &(usize, Option<AttachedTo>)| match place {
            Some(AttachedTo::AfterLast(tie)) => Some(tie.distance),
            _ => None,
        };
        let mut distances: Vec<f64> = requests.iter().filter_map(ahead).collect();
        distances.sort_by(f64::total_cmp);
        distances.dedup_by(|a, b| a.total_cmp(b).is_eq());
        Self {
            model,
            layout,
            requests,
            done: 0,
            steps_ahead: StepTable::for_lengths(&distances, model, layout),
            distances,
            n_outputs,
            means: vec![0.0; n * n_outputs],
            variances: vec![0.0; n * n_outputs],
            covariances: with_covariances.then(|| vec![0.0; n * n_outputs * n_outputs]),
            mean: vec![0.0; shape.size()],
            covariance: vec![0.0; shape.size() * shape.size()],
            adjoint: AdjointMemory::for_shape(shape),
        }
    }

    /// Computes again, in square-root form, where a variance is smaller than the smallest to be trusted, or not a number. Requests are
    /// in descending order of their positions.
    fn refine(&mut self, graph: &FactorGraph<'_>, smallest: &[f64]) {
        let n_outputs = self.n_outputs;
        let is_accurate = |at: usize| {
            let range = at * n_outputs..(at + 1) * n_outputs;
            let mut variances = self.variances[range.clone()].iter().zip(smallest);
            variances.all(|(variance, smallest)| variance >= smallest)
                && self.means[range].iter().all(|mean| mean.is_finite())
        };
        let (inaccurate, places): (Vec<usize>, Vec<Option<AttachedTo>>) =
            self.requests.iter().copied().filter(|&(at, _)| !is_accurate(at)).unzip();
        if places.is_empty() {
            return;
        }
        let mut chain = SquareRootChain::new(graph);
        for (at, state) in inaccurate.into_iter().zip(chain.states_at(&places)) {
            for (output, marginal) in chain.model().output_marginals(state.gaussian()).into_iter().enumerate()
            {
                (self.means[at * n_outputs + output], self.variances[at * n_outputs + output]) = marginal;
            }
            if let Some(covariances) = &mut self.covariances {
                let block = &mut covariances[at * n_outputs * n_outputs..][..n_outputs * n_outputs];
                block.copy_from_slice(&chain.model().output_covariance(state.gaussian()));
            }
        }
    }

    /// The results in the order of the requests' indices; an overflow is reported at the row of its index.
    fn finish(self, row_of: impl Fn(usize) -> RowIndex) -> Result<(Prediction, Vec<f64>), InferenceError> {
        let not_finite = self.means.iter().zip(&self.variances).position(|(m, v)| !(m + v).is_finite());
        if let Some(at) = not_finite {
            return Err(InferenceError::Overflow { row: row_of(at / self.n_outputs) });
        }
        let prediction = Prediction::from_checked(self.n_outputs, self.means, self.variances);
        Ok((prediction, self.covariances.unwrap_or_default()))
    }

    /// Computes the requests that the pass meets now: `gaussian` is the filtered one before them, `next` the adjoint of the next
    /// position with its own cells.
    #[inline(always)]
    fn compute<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        now: Meets,
        gaussian: PackedGaussian<'_>,
        next: Option<&AdjointScratch<'_>>,
    ) {
        while let Some(&(at, place)) =
            self.requests.get(self.done).filter(|(_, place)| Meets::of(*place) == now)
        {
            self.done += 1;
            match place {
                None => {
                    // The step into a root forgets the state before it.
                    let steps = std::mem::take(&mut self.steps_ahead);
                    self.advance::<A, S>(shape, steps.step(0), gaussian);
                    self.steps_ahead = steps;
                }
                Some(AttachedTo::Between { left, right }) => {
                    let steps =
                        StepTable::for_lengths(&[left.distance, right.distance], self.model, self.layout);
                    self.advance::<A, S>(shape, steps.step(1), gaussian);
                    let AdjointScratch { vector, matrix, scratch, .. } = self.adjoint.adjoint(shape);
                    if let Some(next) = next {
                        vector.copy_from_slice(next.vector);
                        matrix.copy_from_slice(next.matrix);
                        shape.retreat::<A>(steps.step(2).transition, (vector, matrix), scratch);
                    }
                }
                Some(AttachedTo::BeforeFirst(tie)) => {
                    let steps = StepTable::for_lengths(&[tie.distance], self.model, self.layout);
                    let (transition, noise) = steps.step(1).backward_in_time(shape);
                    let step = StepView { transition: &transition, noise: &noise };
                    self.advance::<A, S>(shape, step, gaussian);
                }
                Some(AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie)) => {
                    let is_shorter = |other: &f64| other.total_cmp(&tie.distance).is_lt();
                    let step = 1 + self.distances.partition_point(is_shorter);
                    let steps = std::mem::take(&mut self.steps_ahead);
                    self.advance::<A, S>(shape, steps.step(step), gaussian);
                    self.steps_ahead = steps;
                }
            }
            self.read::<A, S>(shape, chain, at);
        }
    }

    /// Carries a Gaussian over a step; the adjoint becomes zero.
    #[inline(always)]
    fn advance<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        step: StepView<'_>,
        gaussian: PackedGaussian<'_>,
    ) {
        let AdjointScratch { vector, matrix, scratch, .. } = self.adjoint.adjoint(shape);
        vector.fill(0.0);
        matrix.fill(0.0);
        shape.advance::<A>(step.transition, gaussian.mean, &mut self.mean);
        let dynamics = (step.transition, step.noise);
        shape.predict::<A>(dynamics, gaussian.covariance, &mut self.covariance, scratch);
    }

    /// Reads the outputs of a new input from its Gaussian and adjoint.
    #[inline(always)]
    fn read<A: Arithmetic, S: StateAlgebra>(&mut self, shape: S, chain: &Chain<'_>, at: usize) {
        let n_outputs = self.n_outputs;
        let mut adjoint = self.adjoint.adjoint(shape);
        for output in 0..n_outputs {
            let gaussian = PackedGaussian { mean: &self.mean, covariance: &self.covariance };
            let (mean, variance) =
                posterior_of_output::<A, S>(shape, chain.readout, output, gaussian, &mut adjoint);
            self.means[at * n_outputs + output] = mean;
            self.variances[at * n_outputs + output] = variance;
            if let Some(covariances) = &mut self.covariances {
                // After the call, P h_d is in `scratch` and N P h_d in `projected`.
                let block = &mut covariances[at * n_outputs * n_outputs..][..n_outputs * n_outputs];
                block[output * (n_outputs + 1)] = variance;
                let mut other_column = vec![0.0; shape.size()];
                for other in 0..output {
                    shape.read::<A>(chain.readout.row(other), &self.covariance, &mut other_column);
                    let prior = shape.read_vector::<A>(chain.readout.row(other), adjoint.scratch);
                    let entry = prior - shape.inner::<A>(&other_column, adjoint.projected);
                    block[output * n_outputs + other] = entry;
                    block[other * n_outputs + output] = entry;
                }
            }
        }
    }
}

impl FilterObserver for &mut NewInputs<'_> {
    #[inline(always)]
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        gaussian: PackedGaussian<'_>,
    ) {
        self.compute::<A, S>(shape, chain, Meets::before(position + 1), gaussian, None);
    }
}

impl SmootherObserver for &mut NewInputs<'_> {
    const WITH_GRADIENT: bool = false;

    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        gaussian: PackedGaussian<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        if position + 1 == chain.cells.n_positions() {
            self.compute::<A, S>(shape, chain, Meets::before(position + 1), gaussian, None);
        }
        let next = self.requests.get(self.done).map(|&(_, place)| Meets::of(place));
        if next == Some(Meets::at_root(position)) {
            let (mean, covariance) = smoothed::<A>(shape.size(), gaussian, adjoint);
            let root = PackedGaussian { mean: &mean, covariance: &covariance };
            self.compute::<A, S>(shape, chain, Meets::at_root(position), root, None);
        }
        if position == 0 {
            self.compute::<A, S>(shape, chain, Meets::Never, gaussian, None);
        }
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        before: PackedGaussian<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        self.compute::<A, S>(shape, chain, Meets::before(position), before, Some(adjoint));
        retreat::<A, S>(shape, chain, position, adjoint);
    }
}

/// `m + P r` and `P − P N P`, for row-major matrices.
#[inline(always)]
fn smoothed<A: Arithmetic>(
    size: usize,
    gaussian: PackedGaussian<'_>,
    adjoint: &AdjointScratch<'_>,
) -> (Vec<f64>, Vec<f64>) {
    let (mut mean, mut covariance) = (gaussian.mean.to_vec(), gaussian.covariance.to_vec());
    let (mut product, mut loss) = (vec![0.0; size], vec![0.0; size]);
    for i in 0..size {
        let row = &gaussian.covariance[i * size..][..size];
        mean[i] += dot::<A>(row, adjoint.vector);
        vector_times_matrix::<A>(row, adjoint.matrix, &mut product);
        vector_times_matrix::<A>(&product, gaussian.covariance, &mut loss);
        covariance[i * size..][..size].iter_mut().zip(&loss).for_each(|(entry, loss)| *entry -= loss);
    }
    (mean, covariance)
}
