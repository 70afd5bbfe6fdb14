//! New inputs along a line, answered on the way back of the covariance form.
//!
//! Between two positions the filtered moments of the left one are carried on, the adjoint of the right one is carried back, and
//! where they meet stands the posterior: `m + P r`, `P − P N P`. Every answer is made of the same numbers whichever others are
//! asked for.

use super::InferenceError;
use super::careful::{Between, Careful};
use super::kalman::{Chain, posterior_of_output};
use super::kalman_memory::{AdjointMemory, AdjointScratch, GaussianView};
use super::predictions::SmootherObserver;
use super::steps::StepTable;
use crate::data::InputPoints;
use crate::graph::FactorGraph;
use crate::index::RowIndex;
use crate::linalg::{Arithmetic, Layout, Shape, StateAlgebra, transition_transposed_times_vector};
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::{AttachedTo, Attachment};

/// Which pair of positions a new input lies between: 0 is before the first, i after position i − 1.
type Gap = usize;

/// New inputs and what is known of them.
pub(super) struct Along<'a> {
    model: &'a Lmc,
    layout: &'a Layout,
    /// By gap, descending: the input's row, and its distances from the position before and to the one after.
    asked: Vec<(Gap, usize, f64, f64)>,
    done: usize,
    n_outputs: usize,
    means: Vec<f64>,
    variances: Vec<f64>,
    /// D×D per input, if they are wanted.
    covariances: Option<Vec<f64>>,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    /// The adjoint at the new input.
    adjoint: AdjointMemory,
}

impl<'a> Along<'a> {
    pub(super) fn new(
        graph: &'a FactorGraph<'_>,
        layout: &'a Layout,
        attachment: &Attachment,
        inputs: &InputPoints,
        with_covariances: bool,
    ) -> Result<Self, InferenceError> {
        let mut asked = Vec::with_capacity(inputs.n_rows());
        for row in inputs.rows() {
            let row_number = row.get();
            asked.push(match attachment.attach(inputs.point(row)) {
                AttachedTo::BeforeFirst(tie) => (0, row_number, 0.0, tie.distance),
                AttachedTo::Between { left, right } => {
                    (left.position.get() + 1, row_number, left.distance, right.distance)
                }
                AttachedTo::AfterLast(tie) => (tie.position.get() + 1, row_number, tie.distance, 0.0),
                AttachedTo::Leaf(_) => return Err(InferenceError::NotAChain),
            });
        }
        asked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let shape = layout.dynamic();
        let (size, n_outputs) = (shape.size(), graph.model().n_outputs());
        let adjoint = AdjointMemory::for_shape(shape);
        Ok(Self {
            model: graph.model(),
            layout,
            asked,
            done: 0,
            n_outputs,
            means: vec![0.0; inputs.n_rows() * n_outputs],
            variances: vec![0.0; inputs.n_rows() * n_outputs],
            covariances: with_covariances.then(|| vec![0.0; inputs.n_rows() * n_outputs * n_outputs]),
            mean: vec![0.0; size],
            covariance: vec![0.0; size * size],
            adjoint,
        })
    }

    /// Answers again, by square roots, where a variance is smaller than the smallest to be trusted, or no number.
    pub(super) fn answer_carefully(&mut self, careful: &mut Careful<'_>, smallest: &[f64]) {
        let n_outputs = self.n_outputs;
        let is_accurate = |row: usize| {
            let range = row * n_outputs..(row + 1) * n_outputs;
            let mut variances = self.variances[range.clone()].iter().zip(smallest);
            variances.all(|(variance, smallest)| variance >= smallest)
                && self.means[range].iter().all(|mean| mean.is_finite())
        };
        let inaccurate = self.asked.iter().filter(|asked| !is_accurate(asked.1));
        let inaccurate: Vec<(usize, Between)> = inaccurate
            .map(|&(gap, row, before, after)| (row, Between { n_before: gap, before, after }))
            .collect();
        let places: Vec<Between> = inaccurate.iter().map(|(_, place)| *place).collect();
        for (&(row, _), state) in inaccurate.iter().zip(careful.along(&places)) {
            for (output, (mean, variance)) in careful.read_outputs(&state).into_iter().enumerate() {
                self.means[row * n_outputs + output] = mean;
                self.variances[row * n_outputs + output] = variance;
            }
            if let Some(covariances) = &mut self.covariances {
                let block = &mut covariances[row * n_outputs * n_outputs..][..n_outputs * n_outputs];
                block.copy_from_slice(&careful.output_covariance(&state));
            }
        }
    }

    pub(super) fn finish(self) -> Result<(Prediction, Vec<f64>), InferenceError> {
        let not_finite = self.means.iter().zip(&self.variances).position(|(m, v)| !(m + v).is_finite());
        if let Some(at) = not_finite {
            return Err(InferenceError::Overflow { row: RowIndex::new(at / self.n_outputs) });
        }
        let prediction = Prediction::from_checked(self.n_outputs, self.means, self.variances);
        Ok((prediction, self.covariances.unwrap_or_default()))
    }

    /// Answers the inputs of a gap: `moments` are the filtered ones of the position before it, `later` the adjoint of the
    /// position after it with its own cells, if there is one.
    #[inline(always)]
    fn answer<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        gap: Gap,
        moments: GaussianView<'_>,
        later: Option<&AdjointScratch<'_>>,
    ) {
        while let Some(&(_, row, before, after)) = self.asked.get(self.done).filter(|asked| asked.0 == gap) {
            self.done += 1;
            let steps = StepTable::for_lengths(&[before, after], self.model, self.layout);
            let step = steps.step(1);
            shape.advance::<A>(step.transition, moments.mean, &mut self.mean);
            let AdjointScratch { vector, matrix, scratch, .. } = self.adjoint.adjoint(shape);
            shape.predict::<A>(
                (step.transition, step.noise),
                moments.covariance,
                &mut self.covariance,
                scratch,
            );
            match later {
                Some(later) => {
                    vector.copy_from_slice(later.vector);
                    matrix.copy_from_slice(later.matrix);
                    shape.retreat::<A>(steps.step(2).transition, (vector, matrix), scratch);
                }
                None => {
                    vector.fill(0.0);
                    matrix.fill(0.0);
                }
            }
            self.read::<A, S>(shape, chain, row);
        }
    }

    /// Writes down the outputs of a new input, whose moments and adjoint are at hand.
    #[inline(always)]
    fn read<A: Arithmetic, S: StateAlgebra>(&mut self, shape: S, chain: &Chain<'_>, row: usize) {
        let n_outputs = self.n_outputs;
        let mut adjoint = self.adjoint.adjoint(shape);
        for output in 0..n_outputs {
            let moments = GaussianView { mean: &self.mean, covariance: &self.covariance };
            let (mean, variance) =
                posterior_of_output::<A, S>(shape, chain.readout, output, moments, &mut adjoint);
            self.means[row * n_outputs + output] = mean;
            self.variances[row * n_outputs + output] = variance;
            if let Some(covariances) = &mut self.covariances {
                // After the call, P h_d is in `scratch` and N P h_d in `projected`.
                let block = &mut covariances[row * n_outputs * n_outputs..][..n_outputs * n_outputs];
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

    /// Answers the inputs before the first position: the step taken backward in time, under which odd derivatives change
    /// their sign. With no data before them their adjoint is all there is, seen from the root's own prior.
    #[inline(always)]
    fn answer_before_first<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        moments: GaussianView<'_>,
        later: &AdjointScratch<'_>,
    ) {
        while let Some(&(_, row, _, distance)) = self.asked.get(self.done).filter(|asked| asked.0 == 0) {
            self.done += 1;
            let steps = StepTable::for_lengths(&[distance], self.model, self.layout);
            let (transition, noise) = steps.step(1).backward_in_time(shape);
            let n_outputs = self.n_outputs;
            // Of the root's posterior only products with Aᵀh are needed.
            let (size, readable) = (shape.size(), shape.readable());
            let mut loadings = vec![vec![0.0; size]; n_outputs];
            for (output, loading) in loadings.iter_mut().enumerate() {
                let mut readout = vec![0.0; size];
                readout[..readable].copy_from_slice(&chain.readout.row(output).weights[..readable]);
                transition_transposed_times_vector::<A, S>(shape, &transition, &readout, loading);
            }
            let mut covariance_factors = vec![vec![0.0; size]; n_outputs];
            let mut projected = vec![vec![0.0; size]; n_outputs];
            for output in 0..n_outputs {
                shape.covariance_times::<A>(
                    &loadings[output],
                    moments.covariance,
                    &mut covariance_factors[output],
                );
                shape.product::<A>(&covariance_factors[output], later.matrix, &mut projected[output]);
            }
            for output in 0..n_outputs {
                let mean = shape.inner::<A>(&loadings[output], moments.mean)
                    + shape.inner::<A>(&covariance_factors[output], later.vector);
                self.means[row * n_outputs + output] = mean;
                for other in 0..=output {
                    let rows = [output, other].map(|of| chain.readout.row(of).weights);
                    let added = read_noise(shape, &noise, rows);
                    let entry = shape.inner::<A>(&loadings[output], &covariance_factors[other])
                        - shape.inner::<A>(&covariance_factors[output], &projected[other])
                        + added;
                    if let Some(covariances) = &mut self.covariances {
                        let block = &mut covariances[row * n_outputs * n_outputs..][..n_outputs * n_outputs];
                        block[output * n_outputs + other] = entry;
                        block[other * n_outputs + output] = entry;
                    }
                    if other == output {
                        self.variances[row * n_outputs + output] = entry;
                    }
                }
            }
        }
    }
}

/// `hᵀQk` of a step's noise Q for two rows of weights.
fn read_noise<S: Shape>(shape: S, noise: &[f64], [first, second]: [&[f64]; 2]) -> f64 {
    let (width, readable) = (shape.width(), shape.readable());
    let mut sum: f64 = (0..width).map(|slot| first[slot] * second[slot] * noise[slot]).sum();
    // A second component that is read stands with its slot's first.
    for (slot, place) in (shape.width()..readable).enumerate() {
        let both = first[slot] * second[place] + first[place] * second[slot];
        sum += both * noise[width + slot] + first[place] * second[place] * noise[2 * width + slot];
    }
    sum
}

impl SmootherObserver for &mut Along<'_> {
    const WITH_GRADIENT: bool = false;

    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: GaussianView<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        if position + 1 == chain.cells.n_positions() {
            self.answer::<A, S>(shape, chain, position + 1, moments, None);
        }
        if position == 0 {
            // All other gaps have been answered when the way back ends here.
            self.answer_before_first::<A, S>(shape, chain, moments, adjoint);
        }
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        before: GaussianView<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        self.answer::<A, S>(shape, chain, position, before, Some(adjoint));
        let transition = chain.steps.step(chain.edges.step_of(position)).transition;
        let AdjointScratch { vector, matrix, scratch, .. } = adjoint;
        shape.retreat::<A>(transition, (vector, matrix), scratch);
    }
}
