//! The exact gradient of the log evidence, from the same backward pass as the posterior.
//!
//! Weights and noises by Fisher's identity, from the posterior at the observed cells: with residual
//! `e = y − hᵀm` and posterior covariance V, a cell adds `(e·m − V h)/r` to the gradient in its weights and
//! `½((e² + hᵀVh)/r² − 1/r)` to that in its noise; the covariance form computes the same numbers more directly. Length-scales by
//! the derivatives of the log evidence in A and Q of each edge, contracted with those of A and Q in the length-scale.

use super::error::InferenceError;
use super::gaussian::PackedGaussian;
use super::kalman::{Chain, Observed, SmootherObserver};
use super::kalman_memory::AdjointScratch;
use super::readout::{Readout, Values};
use super::state_space::StateSpace;
use super::steps::StepView;
use crate::graph::{Cells, FactorGraph};
use crate::index::Position;
use crate::linalg::{
    Arithmetic, Layout, ReadoutRow, Shape, StateAlgebra, StepDerivatives, Update, add_noise_gradient,
    add_scaled, dot, vector_times_matrix,
};
use crate::model::Latent;
use std::ops::Range;

/// The log evidence and its gradient in every parameter of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The log evidence.
    pub log_evidence: f64,
    /// ∂/∂w_dl, row-major D×L; 0 at the structural zeros of private columns.
    pub mixing: Vec<f64>,
    /// ∂/∂ℓ_l.
    pub length_scales: Vec<f64>,
    /// The derivative in the shape parameter of latent l; 0 if it has none.
    pub shapes: Vec<f64>,
    /// ∂/∂r_d; cells with their own known noise do not contribute.
    pub noise: Vec<f64>,
}

impl Gradient {
    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let derivatives =
            self.mixing.iter().chain(&self.length_scales).chain(&self.shapes).chain(&self.noise);
        derivatives.chain([&self.log_evidence]).all(|derivative| derivative.is_finite())
    }
}

/// The gradient summed over positions.
#[derive(Debug, Default)]
pub(super) struct GradientSums {
    /// The padded number of latents.
    n_slots: usize,
    /// How many entries of the state outputs read.
    width: usize,
    /// By output and entry of the state.
    weights: Vec<f64>,
    noise: Vec<f64>,
    /// By slot: the derivative in the logarithm of the length-scale and then, if any latent has one, of the shape.
    log_parameters: Vec<f64>,
    /// By position, if wanted: the derivative in the logarithm of the length of the edge above it.
    edges: Option<Vec<f64>>,
    first_position: usize,
    /// The sum over the length-scales' part of `log_parameters` after the last edge.
    total: f64,
    /// Scratch for products.
    rows: Vec<f64>,
    /// −c of the rotated observations, summed over consecutive positions with the same mask.
    explained: Vec<f64>,
    /// The sum over observations of the difference between two computations of their posterior variance, which is due to rounding.
    variance_mismatch: f64,
}

impl GradientSums {
    /// Sets all sums to zero for these positions.
    pub(super) fn reset(&mut self, model: StateSpace<'_>, positions: Range<usize>) {
        let shape = model.layout.dynamic();
        let (width, parts) = (shape.readable(), shape.n_parts());
        (self.width, self.n_slots) = (width, shape.width());
        self.variance_mismatch = 0.0;
        self.total = 0.0;
        self.first_position = positions.start;
        if let Some(edges) = &mut self.edges {
            edges.clear();
            edges.resize(positions.len(), 0.0);
        }
        let n_outputs = model.readout.n_outputs();
        for (buffer, len) in [
            (&mut self.weights, n_outputs * width),
            (&mut self.noise, n_outputs),
            (&mut self.log_parameters, model.steps.n_derivatives() * shape.width()),
            (&mut self.rows, (parts + 1) * shape.size() + width),
            (&mut self.explained, model.layout.n_values() * width),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
    }

    /// Empty sums for a segment, with the same options.
    pub(super) fn for_segment(&self) -> Self {
        Self { edges: self.edges.as_ref().map(|_| vec![]), ..Self::default() }
    }

    /// Adds the sums of a segment.
    pub(super) fn add(&mut self, part: &Self) {
        for (sums, parts) in [
            (&mut self.weights, &part.weights),
            (&mut self.noise, &part.noise),
            (&mut self.log_parameters, &part.log_parameters),
        ] {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        self.variance_mismatch += part.variance_mismatch;
        if let (Some(edges), Some(parts)) = (&mut self.edges, &part.edges) {
            edges[part.first_position - self.first_position..][..parts.len()].copy_from_slice(parts);
        }
    }

    /// Keeps the derivatives in edge lengths from the next sweep on.
    pub(super) fn keep_edges(&mut self) {
        self.edges = Some(vec![]);
    }

    /// The derivatives in the logarithms of edge lengths, by position; they are no longer kept.
    pub(super) fn take_edges(&mut self) -> Vec<f64> {
        self.edges.take().unwrap_or_default()
    }

    /// Completes the edge above a position. A step depends only on the ratio of edge to length-scale, so the derivative in the logarithm of
    /// the edge is minus the sum of those in the logarithms of the length-scales.
    #[inline(always)]
    pub(super) fn end_edge(&mut self, position: usize) {
        if let Some(edges) = &mut self.edges {
            let total = self.log_parameters[..self.n_slots].iter().sum();
            edges[position - self.first_position] = self.total - total;
            self.total = total;
        }
    }

    /// Adds the cells of a position, from the posterior of the values that outputs read.
    #[inline(always)]
    pub(super) fn add_cells_from_values<A: Arithmetic>(
        &mut self,
        cells: &Cells,
        readout: &Readout,
        position: usize,
        values: Values<'_>,
    ) {
        let Values { mean, covariance, stride } = values;
        let width = self.width;
        let outputs = cells.outputs(position);
        for (at, (&output, &value)) in outputs.iter().zip(cells.values(position)).enumerate() {
            let noise = readout.cell_noise(cells, position, at, output);
            let row = readout.row(output);
            let residual = value - dot::<A>(&row.weights[..width], &mean[..width]);
            let sums = &mut self.weights[output * width..][..width];
            // V h.
            let with_output = &mut self.rows[..width];
            with_output.fill(0.0);
            match row.touched {
                Some(slots) => {
                    for &slot in slots {
                        let slot = slot as usize;
                        let column = &covariance[slot * stride..slot * stride + width];
                        add_scaled::<A>(row.weights[slot], column, with_output);
                    }
                }
                None => {
                    for slot in 0..width {
                        let column = &covariance[slot * stride..slot * stride + width];
                        add_scaled::<A>(row.weights[slot], column, with_output);
                    }
                }
            }
            let precision = noise.recip();
            for slot in 0..width {
                sums[slot] += precision * (residual * mean[slot] - with_output[slot]);
            }
            let variance = dot::<A>(&row.weights[..width], with_output);
            self.add_noise_gradient(cells, output, residual, variance, noise);
        }
    }

    /// Adds one cell to the gradient in the noise of its output.
    #[inline(always)]
    pub(super) fn add_noise_gradient(
        &mut self,
        cells: &Cells,
        output: usize,
        residual: f64,
        variance: f64,
        noise: f64,
    ) {
        if !cells.has_own_noise() {
            self.noise[output] += 0.5 * ((residual * residual + variance) / noise - 1.0) / noise;
        }
    }

    /// Adds one cell to the gradient in one weight of its output.
    pub(super) fn add_weight_gradient(&mut self, output: usize, slot: usize, derivative: f64) {
        self.weights[output * self.width + slot] += derivative;
    }

    /// Adds an observation. In units of its noise, with `b = N k` and P⁺ the filtered covariance just after it, `c = V h = k − P⁺b`; P⁺ is
    /// the position's filtered P plus `k kᵀS` of each later observation. The gradient in h is `u·mean − c`, that in the noise
    /// `½(u² − 1/S − kᵀb)`: no number is divided by a small noise unless it was computed in units of that noise.
    #[inline(always)]
    pub(super) fn add_observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        (observed, row): (Observed, ReadoutRow<'_>),
        (gains, updates): (&[f64], &[Update]),
        gaussian: PackedGaussian<'_>,
        adjoint: &AdjointScratch<'_>,
    ) {
        let Observed { position, at, adjoint_update, .. } = observed;
        let (size, width) = (shape.size(), shape.readable());
        let whitened = chain.whitened.at(chain.cells, position);
        let explained = &mut self.rows[..width];
        shape.product_with_values::<A>(adjoint.projected, gaussian.covariance, explained);
        add_scaled::<A>(-1.0, &gains[..width], explained);
        for (gain, update) in gains.chunks_exact(size).zip(updates).skip(1) {
            let factor = (1.0 + update.signal) * shape.inner::<A>(gain, adjoint.projected);
            add_scaled::<A>(factor, &gain[..width], explained);
        }
        // −c from here on; hᵀc is also the filtered variance minus the part that the adjoint explains.
        let variance = observed.filtered_variance - adjoint_update.explained;
        self.variance_mismatch += (shape.read_vector::<A>(row, explained) + variance).abs();
        if whitened.is_rotated() {
            add_scaled::<A>(1.0, explained, &mut self.explained[at * width..][..width]);
            if at == 0 {
                self.add_rotated_cells::<A, S>(shape, chain, position, adjoint.smoothed);
            }
            return;
        }
        let (output, precision) = (chain.cells.outputs(position)[at], whitened.deviation(at).recip());
        let sums = &mut self.weights[output * width..][..width];
        add_scaled::<A>(precision * adjoint_update.residual, &adjoint.smoothed[..width], sums);
        add_scaled::<A>(precision, explained, sums);
        if !chain.cells.has_own_noise() {
            let square = adjoint_update.residual * adjoint_update.residual;
            let excess = square - updates[0].inverse - adjoint_update.explained;
            self.noise[output] += 0.5 * precision * precision * excess;
        }
    }

    /// Adds the cells of a position with rotated observations, once −c of all observations is known: that of a cell is their sum, weighted by
    /// the rotation. It is linear in −c, so consecutive positions with the same mask are added at once.
    #[inline(always)]
    fn add_rotated_cells<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        mean: &[f64],
    ) {
        let width = shape.readable();
        let outputs = chain.cells.outputs(position);
        let has_own_noise = chain.cells.has_own_noise();
        for (at, (&output, &value)) in outputs.iter().zip(chain.cells.values(position)).enumerate() {
            let precision = chain.readout.cell_noise(chain.cells, position, at, output).recip();
            let residual = value - shape.read_vector::<A>(chain.readout.row(output), mean);
            let sums = &mut self.weights[output * width..][..width];
            add_scaled::<A>(residual * precision, &mean[..width], sums);
            if !has_own_noise {
                self.noise[output] += 0.5 * precision * (residual * residual * precision - 1.0);
            }
        }
        let is_first = position == self.first_position;
        if !has_own_noise && !is_first && chain.cells.mask_of(position - 1) == chain.cells.mask_of(position) {
            return;
        }
        let whitened = chain.whitened.at(chain.cells, position);
        let own = &mut self.rows[..width];
        for (at, (&output, factors)) in outputs.iter().zip(whitened.rotation()).enumerate() {
            vector_times_matrix::<A>(&factors[..whitened.count()], &self.explained, own);
            add_scaled::<A>(1.0, own, &mut self.weights[output * width..][..width]);
            if !has_own_noise {
                let precision = chain.readout.cell_noise(chain.cells, position, at, output).recip();
                let variance = -shape.read_vector::<A>(chain.readout.row(output), own);
                self.noise[output] += 0.5 * precision * variance;
            }
        }
        self.explained.fill(0.0);
    }

    /// The sum over observations of the rounding difference between two computations of their variance.
    pub(super) fn variance_mismatch(&self) -> f64 {
        self.variance_mismatch
    }

    /// By slot, the derivatives in the logarithms of length-scale and shape.
    #[inline(always)]
    pub(super) fn by_slot(&mut self) -> &mut [f64] {
        &mut self.log_parameters
    }

    /// Adds `½(rrᵀ − N)`, contracted with the derivative of a step's process noise.
    #[inline(always)]
    pub(super) fn add_noise_step<A: Arithmetic, S: Shape>(
        &mut self,
        shape: S,
        derivatives: StepView<'_>,
        vector: &[f64],
        matrix: &[f64],
    ) {
        add_noise_gradient::<A, S>(shape, derivatives.noise, (vector, matrix), &mut self.log_parameters);
    }

    /// Adds `r mᵀ − M`, contracted with the derivative of a step's transition.
    #[inline(always)]
    pub(super) fn add_transition_step<S: Shape>(
        &mut self,
        shape: S,
        derivatives: StepView<'_>,
        (vector, mean): (&[f64], &[f64]),
        loss: &[f64],
    ) {
        let (size, width, parts) = (shape.size(), shape.width(), shape.n_parts());
        let sets = derivatives.transition.chunks_exact(parts * parts * width);
        for (derivatives, sums) in sets.zip(self.log_parameters.chunks_exact_mut(width)) {
            for c in 0..parts {
                for d in 0..parts {
                    let derivative = &derivatives[(c * parts + d) * width..][..width];
                    for s in 0..shape.len(c).min(shape.len(d)) {
                        let (i, j) = (shape.offset(c) + s, shape.offset(d) + s);
                        sums[s] += derivative[s] * (vector[i] * mean[j] - loss[i * size + j]);
                    }
                }
            }
        }
    }

    /// The gradient in the model's own parameters.
    pub(super) fn finish(
        &self,
        graph: &FactorGraph<'_>,
        layout: &Layout,
        log_evidence: f64,
    ) -> Result<Gradient, InferenceError> {
        let model = graph.model();
        let n_latents = model.n_latents();
        let mut mixing = vec![0.0; model.n_outputs() * n_latents];
        for output in 0..model.n_outputs() {
            for (latent, _) in model.mixing().row_entries(crate::index::OutputIndex::new(output)) {
                let place = layout.place_read(latent.get());
                mixing[output * n_latents + latent.get()] = self.weights[output * self.width + place];
            }
        }
        let by_length_scale = |(latent, process): (usize, &Latent)| match process.state_dim() {
            0 => 0.0,
            _ => self.log_parameters[layout.slot_of(latent)] / process.length_scale().get(),
        };
        let length_scales = model.latents().iter().enumerate().map(by_length_scale).collect();
        let by_shape = |(latent, process): (usize, &Latent)| {
            process
                .shape()
                .map_or(0.0, |shape| self.log_parameters[self.n_slots + layout.slot_of(latent)] / shape)
        };
        let shapes = model.latents().iter().enumerate().map(by_shape).collect();
        let gradient = Gradient { log_evidence, mixing, length_scales, shapes, noise: self.noise.clone() };
        // Every cell enters the whole gradient: the row named is the last one swept.
        match gradient.is_finite() {
            true => Ok(gradient),
            false => Err(InferenceError::overflow_at(graph, Position::new(0))),
        }
    }
}

impl SmootherObserver for &mut GradientSums {
    const WITH_GRADIENT: bool = true;

    #[inline(always)]
    fn observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        observed: (Observed, ReadoutRow<'_>),
        later: (&[f64], &[Update]),
        gaussian: PackedGaussian<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        self.add_observation::<A, S>(shape, chain, observed, later, gaussian, adjoint);
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
        let step = chain.edges.step_of(position);
        let derivatives = chain.steps.derivatives(step);
        let step = StepDerivatives {
            transition: chain.steps.step_of_shape(shape, step).transition,
            transition_derivatives: derivatives.transition,
            noise_derivatives: derivatives.noise,
        };
        let AdjointScratch { vector, matrix, smoothed, scratch, .. } = adjoint;
        let gaussian = (before.mean, before.covariance);
        let sums = self.by_slot();
        shape.retreat_with_gradient::<A>(step, (vector, matrix), gaussian, (smoothed, sums), scratch);
        self.end_edge(position);
    }
}
