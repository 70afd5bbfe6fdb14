//! A table in the model's units with its structure: where models of any family are learned and judged.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use catena::data::{Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::OutputIndex;
use catena::inference;
use catena::kernel::StateKind;
use catena::learning::{
    Evidence, Extent, Family, GraphEvidence, Learned, MultiStartSettings, OutputMoments, Parameters, Priors,
    Progress, multi_start,
};
use catena::model::{Lmc, MixingMatrix, ModelError};
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena::units::{DistanceScale, Variance};
use catena_methods::Problem;

use crate::fit::FitError;
use crate::message_passing::Structure;
use crate::method::{Differentiable, MethodError};

/// A table in the model's units, laid on a structure.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) facts: Facts,
    /// Found when first asked for: given parameters need none.
    moments: OnceLock<OutputMoments>,
}

/// What is known of a table in the model's units before any model.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) extent: Extent,
    /// Outputs that never vary or have no cell, with the number of their cells: no latent explains a constant.
    pub(crate) constant: Vec<(OutputIndex, usize)>,
}

/// What is learned, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Course<'a> {
    pub(crate) family: Family,
    /// Multipliers of the length-scales of the starts.
    pub(crate) multipliers: &'a [f64],
    /// Starts that were learned before.
    pub(crate) earlier: Vec<Lmc>,
    pub(crate) settings: MultiStartSettings,
    pub(crate) priors: &'a Priors,
    pub(crate) noise_floor: f64,
}

impl Ground {
    /// Lays a table on a structure that is built for its rows.
    pub(crate) fn new(dataset: Dataset, structure: &Structure) -> Result<Self, FitError> {
        let tree = crate::message_passing::build(structure, dataset.inputs())?;
        Ok(Self::on(dataset, Arc::new(tree)))
    }

    /// Lays a table on a structure that is there.
    pub(crate) fn on(dataset: Dataset, tree: Arc<Tree>) -> Self {
        let extent = Extent::of(dataset.inputs(), &tree);
        let facts = Facts { extent, constant: constant_outputs(dataset.observations()) };
        Self { dataset: Arc::new(dataset), tree, facts, moments: OnceLock::new() }
    }

    fn moments(&self) -> &OutputMoments {
        self.moments.get_or_init(|| OutputMoments::of(self.dataset.observations()))
    }

    /// The same structure with other cells observed.
    pub(crate) fn with_observations(&self, observations: Observations) -> Result<Self, FitError> {
        let dataset = Dataset::new(self.dataset.inputs().clone(), observations)?;
        Ok(Self::on(dataset, Arc::clone(&self.tree)))
    }

    /// The default priors for these points.
    pub(crate) fn priors(&self) -> Priors {
        self.facts.priors()
    }

    /// The state that suits a structure.
    pub(crate) fn suited_state(&self) -> StateKind {
        let is_line = self.dataset.inputs().dim() == 1 && self.tree.is_chain();
        if is_line { StateKind::Derivative } else { StateKind::Value }
    }

    pub(crate) fn graph(&self, model: Lmc) -> Result<FactorGraph<'static>, MethodError> {
        Ok(FactorGraph::new(Arc::new(model), Arc::clone(&self.tree), self.dataset.observations())?)
    }

    /// How many numbers a family has to learn here.
    pub(crate) fn n_free(&self, course: &Course<'_>) -> Result<usize, FitError> {
        let start = course.family.start(self.moments(), self.facts.extent, 1.0)?;
        Ok(self.facts.parameters(course, self.facts.silenced(start)?).n_free())
    }

    /// Learns by message passing.
    pub(crate) fn learn(
        &self,
        course: &Course<'_>,
        monitor: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> Result<Learned, FitError> {
        let (first, starts, parameters) = self.facts.starts(course, || self.moments())?;
        let graph = self.graph(first)?;
        let make = || GraphEvidence::new(graph.clone());
        Ok(multi_start(&make, &parameters, course.priors, &starts, course.settings, monitor)?)
    }

    /// Learns by the evidence of another method.
    pub(crate) fn learn_by(
        &self,
        method: &dyn Differentiable,
        course: &Course<'_>,
        monitor: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
    ) -> Result<Learned, FitError> {
        let (_, starts, parameters) = self.facts.starts(course, || self.moments())?;
        let make = || MethodEvidence { method, dataset: &self.dataset };
        Ok(multi_start(&make, &parameters, course.priors, &starts, course.settings, monitor)?)
    }

    /// Mean and variance of an observation of every cell, and the log evidence.
    pub(crate) fn marginals(&self, model: &Lmc) -> Result<(Prediction, f64), MethodError> {
        let graph = FactorGraph::new(model, &*self.tree, self.dataset.observations())?;
        let inference::Marginals { prediction, log_evidence, .. } = inference::marginals(&graph)?;
        Ok((prediction.with_noise(model.noise()), log_evidence))
    }
}

impl Facts {
    /// The default priors for points of this extent.
    pub(crate) fn priors(&self) -> Priors {
        Priors::for_points(self.extent.spacing, self.extent.span)
    }

    /// The first start of a family, all of them, and what is free in them; outputs that never vary are silenced.
    pub(crate) fn starts<'m>(
        &self,
        course: &Course<'_>,
        moments: impl Fn() -> &'m OutputMoments,
    ) -> Result<(Lmc, Vec<Lmc>, Parameters), FitError> {
        let from_table = course.multipliers.iter().map(|&multiplier| {
            let start = course.family.start(moments(), self.extent, multiplier)?;
            self.silenced(start)
        });
        let all = course.earlier.iter().cloned().map(Ok).chain(from_table);
        let starts = all.collect::<Result<Vec<Lmc>, ModelError>>()?;
        let first = starts.first().ok_or(FitError::NoStart)?.clone();
        let parameters = self.parameters(course, first.clone());
        Ok((first, starts, parameters))
    }

    /// The model with no weight on outputs that never vary. Their noise says how little so many equal cells tell; of an output
    /// without a cell here nothing is known but the variance of its units.
    pub(crate) fn silenced(&self, model: Lmc) -> Result<Lmc, ModelError> {
        if self.constant.is_empty() {
            return Ok(model);
        }
        let mixing = model.mixing();
        let (n_outputs, n_shared) = (mixing.n_outputs(), mixing.n_shared());
        let is_constant = |output: OutputIndex| self.constant.iter().any(|(constant, _)| *constant == output);
        let (mut shared, mut private) = (vec![], vec![]);
        for output in (0..n_outputs).map(OutputIndex::new) {
            let factor = if is_constant(output) { 0.0 } else { 1.0 };
            shared.extend(mixing.shared_row(output).iter().map(|weight| factor * weight));
            private.extend(mixing.private_weight(output).map(|weight| factor * weight));
        }
        let mut noise = model.noise().to_vec();
        for &(output, count) in &self.constant {
            noise[output.get()] = Variance::new((count.max(1) as f64).powi(-2))?;
        }
        Lmc::new(
            model.latents().to_vec(),
            MixingMatrix::with_private(n_outputs, n_shared, shared, private)?,
            noise,
        )
    }

    /// What is free in a member of the course's family here.
    pub(crate) fn parameters(&self, course: &Course<'_>, member: Lmc) -> Parameters {
        let constant = self.constant.iter().map(|(output, _)| *output);
        course.family.parameters_without(member, course.noise_floor, constant)
    }
}

/// Outputs whose values, brought to mean 0, are all 0, with the number of their cells.
fn constant_outputs(observations: &Observations) -> Vec<(OutputIndex, usize)> {
    let counts = observations.counts_by_output();
    let mut squares = vec![0.0; counts.len()];
    for (_, cell) in observations.cells() {
        squares[cell.output.get()] += cell.value * cell.value;
    }
    constants(&squares, &counts)
}

/// Outputs with so many cells whose squares are all 0.
pub(crate) fn constants(squares: &[f64], counts: &[usize]) -> Vec<(OutputIndex, usize)> {
    let never_varies = |output: &usize| squares[*output] <= 1e-20 * counts[*output] as f64;
    (0..counts.len()).filter(never_varies).map(|output| (OutputIndex::new(output), counts[output])).collect()
}

/// The evidence of a rival on a table.
struct MethodEvidence<'a> {
    method: &'a dyn Differentiable,
    dataset: &'a Dataset,
}

impl Evidence for MethodEvidence<'_> {
    type Error = MethodError;

    fn gradient(&mut self, model: &Lmc) -> Result<inference::Gradient, MethodError> {
        let problem = Problem::new(model, self.dataset, DistanceScale::ONE)?;
        let catena_methods::Gradient { value, mixing, length_scales, noise } =
            self.method.gradient(problem)?;
        let shapes = vec![0.0; length_scales.len()];
        Ok(inference::Gradient { log_evidence: value, mixing, length_scales, shapes, noise })
    }
}
