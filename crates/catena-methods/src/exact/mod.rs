//! Exact inference with dense matrices over the observed cells: the paper's KM-LMC.
//!
//! With n channels (at most the number of observed cells, see `channel`) it takes n³/3 multiplications and n²
//! numbers to fit, n² multiplications per predicted point and latent, and about n³ more for the gradient. Predictions
//! are made in chunks, so their memory does not grow with the number of points.
//!
//! - `predict`: means and variances at any inputs.
//! - `joint`: covariances between inputs.
//! - `draws`: joint draws.
//! - `gradient`: the gradient of the log evidence.

mod draws;
mod gradient;
mod joint;
mod predict;

use catena::model::Lmc;

use crate::channel::{Block, CellReduction, Channels};
use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::memory::{Bytes, Demand};
use crate::targets::dot;
use crate::{DenseMethodError, Jitter, MemoryLimit, Problem};

/// Options of the exact method; the default adds no jitter.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ExactOptions {
    /// Added to the diagonal of the covariance of the observed cells.
    pub jitter: Jitter,
    /// The memory limit.
    pub memory: MemoryLimit,
}

impl ExactOptions {
    /// The jitter of the paper's code.
    pub fn paper() -> Self {
        Self { jitter: Jitter::PAPER_EXACT, ..Self::default() }
    }
}

/// The exact posterior of a problem.
#[derive(Clone, Debug)]
pub struct Exact {
    model: Lmc,
    correlations: Correlations,
    channels: Channels,
    blocks: Vec<Factored>,
    /// `α = K̃⁻¹ ỹ`, channel by channel.
    weights: Vec<f64>,
    log_evidence: f64,
    memory: MemoryLimit,
    n_observed: usize,
}

/// A block of channels with the Cholesky factor of its covariance.
#[derive(Clone, Debug)]
struct Factored {
    block: Block,
    cholesky: Cholesky,
}

impl Exact {
    /// Conditions the model on the observed cells.
    ///
    /// # Errors
    /// If the covariance exceeds the memory limit or is not positive definite.
    pub fn fit(problem: Problem<'_>, options: ExactOptions) -> Result<Self, DenseMethodError> {
        let model = problem.model().clone();
        let n_observed = problem.dataset().observations().n_observed();
        let correlations = Correlations::new(&model, problem.distance_scale())?;
        let channels = Channels::new(problem, options.jitter, CellReduction::Lossless)?;
        let blocks = channels.independent_blocks(&correlations);
        let numbers: u128 = blocks.iter().map(|block| (block.len() as u128).pow(2)).sum();
        options.memory.check(demand(n_observed), Bytes::of_numbers(numbers))?;
        let mut weights = vec![0.0; channels.n_channels()];
        let mut log_evidence = channels.log_normalizer();
        let mut factored = Vec::with_capacity(blocks.len());
        for block in blocks {
            let cholesky = channels.factor(&correlations, &block, Threads::All)?;
            let mut values: Vec<f64> =
                block.channels.iter().map(|&channel| channels.values()[channel]).collect();
            cholesky.whiten(&mut values, Threads::All);
            log_evidence -= 0.5 * (dot(&values, &values) + cholesky.log_determinant());
            cholesky.whiten_transposed(&mut values, Threads::All);
            for (&channel, &weight) in block.channels.iter().zip(&values) {
                weights[channel] = weight;
            }
            factored.push(Factored { block, cholesky });
        }
        let memory = options.memory;
        Ok(Self {
            model,
            correlations,
            channels,
            blocks: factored,
            weights,
            log_evidence,
            memory,
            n_observed,
        })
    }

    /// The log density of the observed cells.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }

    /// `β_il = Σ_c a_cl α_c` over the channels of location i, location by location.
    fn location_weights(&self) -> Vec<f64> {
        let channels = &self.channels;
        let n_latents = channels.n_latents();
        let mut weights = vec![0.0; channels.n_locations() * n_latents];
        for (location, at) in weights.chunks_exact_mut(n_latents).enumerate() {
            for channel in channels.of_location(location) {
                for (weight, loading) in at.iter_mut().zip(channels.loadings(location, channel)) {
                    *weight += loading * self.weights[channel];
                }
            }
        }
        weights
    }
}

/// The request that a memory error reports.
fn demand(n_observed: usize) -> Demand {
    Demand {
        method: "exact inference",
        n_observed,
        instead: "use method catena, nngp or svgp, or allow more memory",
    }
}
