//! Automatic relevance determination: a factor on every input column, learned together with the model.
//!
//! Inputs enter through the lengths of the structure's edges alone, `Δ² = Σ_m s_m² δ_m²` with δ the difference of two points.
//! With c the derivative of the log evidence in log Δ, the derivative in log s_m is the sum over edges of `c·s_m²δ_m²/Δ²`. Within
//! one optimization the edges are fixed and their lengths follow the factors; between optimizations the structure is rebuilt.

use super::LearningError;
use super::lbfgs::{Lbfgs, Objective, OptimizerSettings, Progress, StopReason};
use super::objective::workspace_for;
use super::parameters::Parameters;
use super::priors::{LogNormal, Priors};
use crate::data::{InputPoints, Observations};
use crate::graph::FactorGraph;
use crate::index::RowIndex;
use crate::inference::Workspace;
use crate::model::Lmc;
use crate::structure::{StructureError, Tree};
use std::ops::ControlFlow;

/// The prior of every factor: two standard deviations are a factor of about 50 either way. Without it, only the ratios of
/// factors to length-scales would be identified.
const FACTOR_PRIOR: LogNormal = LogNormal { center: 1.0, weight: 0.25 };

/// Log evidence plus log priors, as a function of the model's vector followed by the logarithms of the factors.
#[derive(Debug)]
struct FactorPosterior<'a> {
    inputs: &'a InputPoints,
    graph: FactorGraph<'static>,
    workspace: Workspace,
    parameters: &'a Parameters,
    priors: &'a Priors,
    /// The error of the latest evaluation.
    failure: Option<LearningError>,
}

impl FactorPosterior<'_> {
    fn value(&mut self, point: &[f64], gradient: &mut [f64]) -> Result<f64, LearningError> {
        let (of_model, logs) = point.split_at(self.parameters.n_free());
        let factors: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let model = self.parameters.model_at(of_model)?;
        let tree = self.graph.tree().with_points(&multiplied(self.inputs, &factors)?)?;
        let graph = self.graph.with_tree(&tree)?;
        let graph = graph.with_model(&model)?;
        let (mut of_model_parameters, edges) = self.workspace.gradient_with_edges(&graph)?;
        let log_prior = self.priors.add_to(&model, &mut of_model_parameters);
        let (model_gradient, factor_gradient) = gradient.split_at_mut(of_model.len());
        self.parameters.pull_back(&model, &of_model_parameters, model_gradient);
        self.add_factor_gradient(&tree, &factors, &edges, factor_gradient);
        let mut value = of_model_parameters.log_evidence + log_prior;
        for (factor, entry) in factors.iter().zip(factor_gradient) {
            let (log_density, in_factor) = FACTOR_PRIOR.at(*factor);
            value += log_density;
            *entry += in_factor * factor;
        }
        Ok(value)
    }

    fn add_factor_gradient(&self, tree: &Tree, factors: &[f64], edges: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        let unit = tree.distance_scale().get();
        for position in tree.positions() {
            let length = unit * tree.step_into(position);
            let Some(parent) = tree.parent(position) else { continue };
            if length > 0.0 {
                let (row, above) = (tree.row_at(position), tree.row_at(parent));
                let points = self.inputs.point(row).iter().zip(self.inputs.point(above));
                for ((entry, factor), (here, there)) in gradient.iter_mut().zip(factors).zip(points) {
                    *entry += edges[position.get()] * (factor * (here - there) / length).powi(2);
                }
            }
        }
    }
}

impl Objective for FactorPosterior<'_> {
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        match self.value(point, gradient) {
            Ok(value) => {
                self.failure = None;
                value
            }
            Err(failure) => {
                self.failure = Some(failure);
                f64::NAN
            }
        }
    }

    fn scales(&self, point: &[f64], scales: &mut [f64]) {
        let (of_model, _) = point.split_at(self.parameters.n_free());
        let (model_scales, factor_scales) = scales.split_at_mut(of_model.len());
        self.parameters.scales_at(of_model, model_scales);
        factor_scales.fill(1.0);
    }
}

/// Factors on the inputs, and the model that goes with them.
#[derive(Clone, Debug)]
pub struct Relevance {
    /// One factor per input column.
    pub factors: Vec<f64>,
    /// The model on the inputs multiplied by them.
    pub model: Lmc,
    /// Log evidence plus log priors, the factors' included, on the last structure.
    pub log_posterior: f64,
    /// The number of structures.
    pub n_rounds: usize,
}

/// Limits of [`learn_relevance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelevanceSettings {
    /// At most this many structures.
    pub max_rounds: usize,
    /// The stopping rules on each.
    pub optimizer: OptimizerSettings,
}

/// Learns factors on the inputs together with the model, from `start` and factors of 1. `build` builds the structure over
/// given inputs; it is called again after every optimization, until the objective gains less than half a nat.
///
/// # Errors
/// When a structure cannot be built, or there is no evidence at the start.
pub fn learn_relevance(
    inputs: &InputPoints,
    observations: &Observations,
    build: &dyn Fn(&InputPoints) -> Result<Tree, StructureError>,
    start: &Lmc,
    (parameters, priors): (&Parameters, &Priors),
    settings: RelevanceSettings,
    monitor: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Relevance, LearningError> {
    let mut best: Option<Relevance> = None;
    for round in 1..=settings.max_rounds.max(1) {
        let (model, factors) = match &best {
            Some(best) => (best.model.clone(), best.factors.clone()),
            None => (start.clone(), vec![1.0; inputs.dim()]),
        };
        let tree = build(&multiplied(inputs, &factors)?)?;
        let mut point = parameters.vector_of(&model);
        point.extend(factors.iter().map(|factor| factor.ln()));
        let graph = FactorGraph::new(std::sync::Arc::new(model), std::sync::Arc::new(tree), observations)?;
        let workspace = workspace_for(&graph);
        let mut objective = FactorPosterior { inputs, graph, workspace, parameters, priors, failure: None };
        let mut optimizer = Lbfgs::new(&mut objective, point, settings.optimizer);
        if optimizer.stop() == Some(StopReason::NoValue) {
            return Err(objective.failure.take().unwrap_or(LearningError::NoValue));
        }
        optimizer.run(&mut objective, usize::MAX, &mut |progress| monitor(progress));
        let (of_model, logs) = optimizer.point().split_at(parameters.n_free());
        let found = Relevance {
            factors: logs.iter().map(|log| log.exp()).collect(),
            model: parameters.model_at(of_model)?,
            log_posterior: optimizer.value(),
            n_rounds: round,
        };
        let is_stopped = optimizer.stop() == Some(StopReason::Interrupted);
        let gain = best.as_ref().map_or(f64::INFINITY, |best| found.log_posterior - best.log_posterior);
        if gain > 0.0 {
            best = Some(found);
        }
        if gain < settings.optimizer.tolerance.max(0.5) || is_stopped {
            break;
        }
    }
    best.ok_or(LearningError::NoValue)
}

/// Points with every column multiplied by its factor.
fn multiplied(inputs: &InputPoints, factors: &[f64]) -> Result<InputPoints, LearningError> {
    let values = (0..inputs.n_rows())
        .flat_map(|row| inputs.point(RowIndex::new(row)).iter().zip(factors).map(|(x, factor)| x * factor))
        .collect();
    Ok(inputs.with_values(inputs.dim(), values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, StateKind};
    use crate::learning::{Extent, Family, OutputMoments};
    use crate::structure::{Start, greedy_chain, spanning_tree};

    /// A scattered plane in which the first input matters and the second does not.
    fn table() -> (InputPoints, Observations) {
        let n_rows = 60;
        let place = |at: usize| (at as f64 * 0.754_877_666).fract() * 4.0 - 2.0 + 0.01 * (at % 7) as f64;
        let inputs: Vec<f64> = (0..2 * n_rows).map(|at| place(at * at + 3 * at)).collect();
        let value = |row: usize, output: usize| {
            let x = inputs[2 * row];
            (1.5 * x + 0.3 * output as f64).sin() + 0.05 * ((row * 37 % 11) as f64 / 11.0 - 0.5)
        };
        let values: Vec<f64> =
            (0..2 * n_rows).map(|at| if at % 5 == 4 { f64::NAN } else { value(at / 2, at % 2) }).collect();
        let inputs = InputPoints::new(n_rows, 2, inputs.clone()).unwrap();
        (inputs, Observations::from_dense(n_rows, 2, &values).unwrap())
    }

    fn started(inputs: &InputPoints, observations: &Observations, tree: &Tree) -> (Lmc, Parameters, Priors) {
        let family = Family {
            n_shared: 2,
            shared_kernel: Kernel::Matern32,
            private_kernel: Some(Kernel::Matern12),
            state: StateKind::Value,
            tied: false,
        };
        let extent = Extent::of(inputs, tree);
        let start = family.start(&OutputMoments::of(observations), extent, 1.0).unwrap();
        let parameters = family.parameters(start.clone(), 1e-6);
        (start, parameters, Priors::for_points(extent.spacing, extent.span))
    }

    /// Central differences in every entry, on a chain and on a tree.
    #[test]
    fn the_gradient_is_that_of_the_value() {
        let (inputs, observations) = table();
        for tree in
            [greedy_chain(&inputs, Start::Row(RowIndex::new(0))).unwrap(), spanning_tree(&inputs).unwrap()]
        {
            let (start, parameters, priors) = started(&inputs, &observations, &tree);
            let mut point = parameters.vector_of(&start);
            point.extend([0.3, -0.4]);
            let graph =
                FactorGraph::new(std::sync::Arc::new(start), std::sync::Arc::new(tree), &observations)
                    .unwrap();
            let mut objective = FactorPosterior {
                inputs: &inputs,
                workspace: workspace_for(&graph),
                graph,
                parameters: &parameters,
                priors: &priors,
                failure: None,
            };
            let mut gradient = vec![0.0; point.len()];
            objective.evaluate(&point, &mut gradient);
            let mut unused = gradient.clone();
            for entry in 0..point.len() {
                let step = 1e-5;
                let mut at = |shift: f64| {
                    let mut moved = point.clone();
                    moved[entry] += shift;
                    objective.evaluate(&moved, &mut unused)
                };
                let difference =
                    (8.0 * (at(step) - at(-step)) - at(2.0 * step) + at(-2.0 * step)) / (12.0 * step);
                let slope = gradient[entry];
                assert!(
                    (difference - slope).abs() < 1e-6 * slope.abs().max(1.0),
                    "entry {entry}: {slope} against {difference}"
                );
            }
        }
    }

    /// A prior that excludes the start is not an error of the evidence, yet the objective has no value.
    #[test]
    fn a_start_without_a_value_is_an_error() {
        let (inputs, observations) = table();
        let tree = spanning_tree(&inputs).unwrap();
        let (start, parameters, mut priors) = started(&inputs, &observations, &tree);
        priors.weight_precision = f64::INFINITY;
        let found = learn_relevance(
            &inputs,
            &observations,
            &spanning_tree,
            &start,
            (&parameters, &priors),
            RelevanceSettings { max_rounds: 2, optimizer: OptimizerSettings::default() },
            &mut |_| ControlFlow::Continue(()),
        );
        assert_eq!(found.map(|found| found.log_posterior), Err(LearningError::NoValue));
    }

    #[test]
    fn an_input_that_does_not_matter_is_shrunk() {
        let (inputs, observations) = table();
        let tree = spanning_tree(&inputs).unwrap();
        let (start, parameters, priors) = started(&inputs, &observations, &tree);
        let settings = RelevanceSettings {
            max_rounds: 3,
            optimizer: OptimizerSettings { max_iterations: 100, ..OptimizerSettings::default() },
        };
        let found = learn_relevance(
            &inputs,
            &observations,
            &spanning_tree,
            &start,
            (&parameters, &priors),
            settings,
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap();
        let ratio = found.factors[1] / found.factors[0];
        assert!(ratio < 0.2, "{:?} after {} rounds", found.factors, found.n_rounds);
        assert!(found.n_rounds <= 3);
    }
}
