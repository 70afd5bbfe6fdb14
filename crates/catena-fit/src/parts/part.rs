//! One partition of a table: rows on a segment of the chain, their summaries, gradients and posteriors.

use std::ops::Range;
use std::sync::Arc;

use catena::data::{Cell, Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::{Begins, BlockSweep, Future, Gradient, InferenceError, Past, Summary};
use catena::kernel::{Kernel, StateKind};
use catena::learning::OutputMoments;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::prediction::Prediction;
use catena::structure::{Start, Tree, greedy_chain, sorted_chain};
use catena::units::{LengthScale, Variance};

use crate::error::{FitError, MethodError};
use crate::methods::Quantity;
use crate::prepare::{Predictive, Preparation, log_volume, without_copies};

/// A partition: rows on a segment of a chain, in the model's units.
///
/// Of the other partitions it needs the point before its first one and, for a posterior or a gradient, a [`Past`] and a
/// [`Future`] from the summaries of all partitions.
#[derive(Debug)]
pub struct Part {
    preparation: Preparation,
    /// The row at each position.
    order: Vec<RowIndex>,
    /// The length of the edge to each position.
    steps: Vec<f64>,
    /// Inputs in the order of the rows.
    inputs: InputPoints,
    n_outputs: usize,
    log_volume: f64,
    sums: (Vec<f64>, Vec<f64>),
    blocks: Vec<Block>,
}

/// The cells to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All cells, for the posterior.
    All,
    /// All cells but copies, for learning.
    Distinct,
}

/// Positions that are swept at once, to limit memory.
#[derive(Debug)]
struct Block {
    positions: Range<usize>,
    begins: Begins,
    whole: FactorGraph<'static>,
    /// The graph without copies, if there are any.
    distinct: Option<FactorGraph<'static>>,
}

/// Positions of a block; states of a dozen numbers take some hundred megabytes.
const BLOCK: usize = 1 << 17;

/// The order of rows along the greedy chain from `first`, by distances in the model's units; ascending along a single input.
///
/// # Errors
/// When the columns differ from the preparation, or a number overflows.
pub fn chain_order(
    inputs: &InputPoints,
    first: RowIndex,
    preparation: &Preparation,
) -> Result<Vec<RowIndex>, FitError> {
    let scaled = preparation.inputs(inputs)?;
    let tree = match scaled.dim() {
        1 => sorted_chain(&scaled),
        _ => greedy_chain(&scaled, Start::Row(first)),
    }?;
    Ok(tree.positions().map(|position| tree.row_at(position)).collect())
}

impl Part {
    /// Rows on a chain in this order. `before` is the last point of the previous partition, in the user's units; `None` for the
    /// first partition.
    ///
    /// # Errors
    /// When columns differ, a number overflows, or the order is not a permutation of the rows.
    pub fn new(
        table: &Dataset,
        order: Vec<RowIndex>,
        before: Option<&[f64]>,
        preparation: &Preparation,
    ) -> Result<Self, FitError> {
        let prepared = preparation.dataset(table)?;
        let (learned_from, n_copies) = without_copies(table)?;
        let distinct = match n_copies {
            0 => None,
            _ => Some(preparation.dataset(&learned_from)?.observations().clone()),
        };
        let dim = prepared.inputs().dim();
        let before =
            before.map(|point| preparation.inputs(&InputPoints::new(1, dim, point.to_vec())?)).transpose()?;
        // Checks the order before it is cut into blocks.
        Tree::chain(prepared.inputs(), order.clone())?;
        let template = Arc::new(template(prepared.observations().n_outputs())?);
        let mut part = Self {
            preparation: preparation.clone(),
            steps: Vec::with_capacity(order.len()),
            order,
            inputs: prepared.inputs().clone(),
            n_outputs: prepared.observations().n_outputs(),
            log_volume: log_volume(table, preparation),
            sums: OutputMoments::sums_of(distinct.as_ref().unwrap_or(prepared.observations())),
            blocks: vec![],
        };
        let mut last = before.map(|before| before.values().to_vec());
        for first in (0..part.order.len()).step_by(BLOCK) {
            let positions = first..part.order.len().min(first + BLOCK);
            let rows = &part.order[positions.clone()];
            let graph = |observations: &Observations| -> Result<FactorGraph<'static>, FitError> {
                let (inputs, cells) = cut_out(prepared.inputs(), observations, rows, last.as_deref())?;
                let order = (0..inputs.n_rows()).map(RowIndex::new).collect();
                let tree = Arc::new(Tree::chain(&inputs, order)?);
                Ok(FactorGraph::new(Arc::clone(&template), tree, &cells).map_err(MethodError::from)?)
            };
            let whole = graph(prepared.observations())?;
            let distinct = distinct.as_ref().map(graph).transpose()?;
            let begins = if last.is_none() { Begins::AtRoot } else { Begins::AfterAnother };
            part.steps.extend(&whole.tree().steps()[usize::from(last.is_some())..]);
            last = rows.last().map(|&row| prepared.inputs().point(row).to_vec());
            part.blocks.push(Block { positions, begins, whole, distinct });
        }
        Ok(part)
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.order.len()
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The length of the edge to each position, in the model's units. The first joins the previous partition; it is 0 for the
    /// first partition.
    pub fn steps(&self) -> &[f64] {
        &self.steps
    }

    /// Sums and counts of products of outputs; see [`OutputMoments::sums_of`].
    pub fn sums(&self) -> (&[f64], &[f64]) {
        (&self.sums.0, &self.sums.1)
    }

    /// The summary of this partition under a model.
    ///
    /// # Errors
    /// When the model has other outputs, or numbers overflow.
    pub fn summary(&self, model: &Lmc, counted: Counted) -> Result<Summary, FitError> {
        let mut whole = Summary::empty(model);
        for block in &self.blocks {
            let summary = block.with(model, counted, |graph| Summary::of(graph, block.begins));
            let summary = summary.map_err(|error| self.within(block, error))?;
            whole = whole.then(&summary).map_err(|error| FitError::Learning(error.to_string()))?;
        }
        Ok(whole)
    }

    /// The share of this partition in the log evidence and its gradient; the shares of all partitions add up.
    ///
    /// # Errors
    /// When the model has other outputs, past or future are of another model, the noise is too small, or numbers overflow.
    pub fn gradient(
        &self,
        model: &Lmc,
        counted: Counted,
        past: Option<&Past>,
        future: Option<&Future>,
    ) -> Result<Gradient, FitError> {
        let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
        let mut whole = Gradient {
            log_evidence: 0.0,
            mixing: vec![0.0; n_outputs * n_latents],
            length_scales: vec![0.0; n_latents],
            shapes: vec![0.0; n_latents],
            noise: vec![0.0; n_outputs],
        };
        let add = |sum: &mut [f64], share: &[f64]| sum.iter_mut().zip(share).for_each(|(sum, x)| *sum += x);
        let mut has_noise = true;
        self.backward(model, counted, (past, future), |sweep, graph, past, future, _| {
            let (share, before) = sweep.gradient(graph, past, future)?;
            whole.log_evidence += share.log_evidence;
            add(&mut whole.mixing, &share.mixing);
            add(&mut whole.length_scales, &share.length_scales);
            add(&mut whole.shapes, &share.shapes);
            add(&mut whole.noise, &share.noise);
            has_noise = sweep.gradient_is_accurate();
            Ok(before)
        })?;
        if has_noise { Ok(whole) } else { Err(FitError::TooLittleNoiseForParts) }
    }

    /// Predictive distributions at the rows, in the user's units and in the order of the rows.
    ///
    /// # Errors
    /// When the model has other outputs, past or future are of another model, the noise is too small, or numbers overflow.
    pub fn posterior(
        &self,
        model: &Lmc,
        past: Option<&Past>,
        future: Option<&Future>,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        let n_outputs = self.n_outputs;
        let n_cells = self.n_rows() * n_outputs;
        let (mut means, mut variances) = (vec![0.0; n_cells], vec![0.0; n_cells]);
        // Accuracy depends on the largest variance of an output anywhere, which no partition knows; with this much noise a
        // variance is accurate to 2e-11 of the prior's.
        let mut has_noise = true;
        self.backward(model, Counted::All, (past, future), |sweep, graph, past, future, positions| {
            has_noise &= BlockSweep::suits(graph);
            let (prediction, before) = sweep.backward(graph, past, future)?;
            for (at, position) in positions.enumerate() {
                let (from, to) = (at * n_outputs, self.order[position].get() * n_outputs);
                means[to..to + n_outputs].copy_from_slice(&prediction.means()[from..from + n_outputs]);
                variances[to..to + n_outputs]
                    .copy_from_slice(&prediction.variances()[from..from + n_outputs]);
            }
            Ok(before)
        })?;
        if !has_noise {
            return Err(FitError::TooLittleNoiseForParts);
        }
        let prediction = Prediction::new(self.n_rows(), n_outputs, means, variances)?;
        let prediction = match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(model.noise()),
        };
        Ok(self.preparation.predictive(prediction, &self.inputs)?)
    }

    /// Filters all blocks but the last, then passes over them from the last to the first.
    fn backward(
        &self,
        model: &Lmc,
        counted: Counted,
        (past, future): (Option<&Past>, Option<&Future>),
        mut pass: impl FnMut(
            &mut BlockSweep,
            &FactorGraph<'_>,
            Option<&Past>,
            Option<&Future>,
            Range<usize>,
        ) -> Result<Future, InferenceError>,
    ) -> Result<(), FitError> {
        let is_joined = self.blocks.first().is_some_and(|block| block.begins == Begins::AfterAnother);
        if is_joined != past.is_some() {
            return Err(FitError::PartOutOfPlace { is_joined });
        }
        let mut sweep = BlockSweep::new();
        let mut pasts = vec![past.cloned()];
        let but_last = self.blocks.len().saturating_sub(1);
        for block in &self.blocks[..but_last] {
            let past = pasts.last().and_then(Option::as_ref);
            let filtered = block.with(model, counted, |graph| sweep.forward(graph, past));
            let (_, after) = filtered.map_err(|error| self.within(block, error))?;
            pasts.push(Some(after));
        }
        let mut future = future.cloned();
        for (block, past) in self.blocks.iter().zip(&pasts).rev() {
            let passed = block.with(model, counted, |graph| {
                pass(&mut sweep, graph, past.as_ref(), future.as_ref(), block.positions.clone())
            });
            future = Some(passed.map_err(|error| self.within(block, error))?);
        }
        Ok(())
    }

    /// An error of a sweep with the row of the partition.
    fn within(&self, block: &Block, error: MethodError) -> FitError {
        FitError::Method(match error {
            MethodError::Inference(InferenceError::Overflow { row }) => {
                let own = row.get().saturating_sub(usize::from(block.begins == Begins::AfterAnother));
                let position = (block.positions.start + own).min(self.order.len().saturating_sub(1));
                MethodError::Inference(InferenceError::Overflow { row: self.order[position] })
            }
            other => other,
        })
    }

    /// The log Jacobian of the change of units over this partition's cells.
    pub fn log_volume(&self) -> f64 {
        self.log_volume
    }
}

impl Block {
    fn with<T>(
        &self,
        model: &Lmc,
        counted: Counted,
        act: impl FnOnce(&FactorGraph<'_>) -> Result<T, InferenceError>,
    ) -> Result<T, MethodError> {
        let graph = match counted {
            Counted::All => &self.whole,
            Counted::Distinct => self.distinct.as_ref().unwrap_or(&self.whole),
        };
        Ok(act(&graph.with_model(model)?)?)
    }
}

/// Some rows of a table in this order, preceded by the point before them without cells.
fn cut_out(
    inputs: &InputPoints,
    observations: &Observations,
    rows: &[RowIndex],
    before: Option<&[f64]>,
) -> Result<(InputPoints, Observations), FitError> {
    let first = usize::from(before.is_some());
    let points: Vec<f64> =
        before.into_iter().flatten().chain(rows.iter().flat_map(|&row| inputs.point(row))).copied().collect();
    let empty = (0..first).map(|_| vec![]);
    let cells = empty.chain(rows.iter().map(|&row| observations.row(row).collect::<Vec<Cell>>()));
    let cells = Observations::from_rows(observations.n_outputs(), cells)?;
    Ok((InputPoints::new(first + rows.len(), inputs.dim(), points)?, cells))
}

/// A placeholder model; graphs are built with it and used with another.
fn template(n_outputs: usize) -> Result<Lmc, ModelError> {
    let latent = Latent::new(Kernel::Matern12, StateKind::Value, LengthScale::new(1.0)?)?;
    let mixing = MixingMatrix::shared(n_outputs, 1, vec![0.0; n_outputs])?;
    Lmc::new(vec![latent], mixing, vec![Variance::new(1.0)?; n_outputs])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use catena::inference::Workspace;

    use super::*;
    use crate::prepare::InputUnits;

    /// A table of 200 rows within one length-scale: the gradient from one partition and from a sweep that may choose its form.
    fn gradients(noise: f64) -> (Result<Gradient, FitError>, Gradient) {
        let times: Vec<f64> = (0..200).map(f64::from).collect();
        let values: Vec<f64> = times.iter().map(|time| (time / 50.0).sin()).collect();
        let inputs = InputPoints::from_column(times).unwrap();
        let table = Dataset::new(inputs, Observations::from_dense(200, 1, &values).unwrap()).unwrap();
        let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(400.0).unwrap());
        let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
        let model = Lmc::new(vec![latent.unwrap()], mixing, vec![Variance::new(noise).unwrap()]).unwrap();
        let preparation = Preparation::identity(table.inputs(), 1, InputUnits::AsGiven);
        let order = table.inputs().rows().collect();
        let part = Part::new(&table, order, None, &preparation).unwrap();
        let tree = sorted_chain(table.inputs()).unwrap();
        let graph = FactorGraph::new(&model, &tree, table.observations()).unwrap();
        (part.gradient(&model, Counted::All, None, None), Workspace::new().gradient(&graph).unwrap())
    }

    #[test]
    fn slopes_that_lost_their_digits_are_refused() {
        let (part, whole) = gradients(0.01);
        let (slope, expected) = (part.unwrap().noise[0], whole.noise[0]);
        assert!((slope - expected).abs() < 1e-8 * expected.abs(), "{slope} instead of {expected}");
        let (part, _) = gradients(1e-13);
        assert!(
            matches!(&part, Err(error @ FitError::TooLittleNoiseForParts) if error.is_numerical()),
            "{part:?}"
        );
    }
}
