//! The loop of sweeps and pseudo-observations.

use super::cell::{CellLikelihood, CellMarginal, PseudoObservation};
use super::error::LikelihoodError;
use crate::data::{Cell, DataError, Observations};
use crate::graph::{FactorGraph, Held};
use crate::index::{OutputIndex, RowIndex};
use crate::inference::Workspace;
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::Tree;

/// Stopping rules of [`approximate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApproximationSettings {
    /// At most this many rounds, a sweep each.
    pub max_rounds: usize,
    /// Converged when a round raises the bound by no more than this, in nats. Means and variances are then off by about the
    /// square root of it.
    pub tolerance: f64,
}

impl Default for ApproximationSettings {
    fn default() -> Self {
        Self { max_rounds: 300, tolerance: 1e-8 }
    }
}

/// Why the rounds ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ApproximationStop {
    /// A round raised the bound by no more than the tolerance.
    Converged,
    /// The limit on rounds was reached first.
    RoundLimit,
    /// A round lowered the bound by more than the tolerance and was discarded: the tolerance is below rounding, or the
    /// likelihood violates its second law.
    Fell {
        /// The bound after the discarded round.
        to: f64,
    },
}

/// The posterior given the pseudo-observations.
#[derive(Clone, Debug)]
pub struct Approximation<'a> {
    /// Model and structure with the pseudo-observations as cells. A [`Posterior`](crate::posterior::Posterior) of it has states,
    /// draws and new inputs; its log evidence is that of the pseudo-observations, not of the table.
    pub graph: FactorGraph<'a>,
    /// Means and variances of the outputs, without noise, in row order.
    pub prediction: Prediction,
    /// A lower bound of the log evidence of the observed cells.
    pub lower_bound: f64,
    /// The bound after each round; the last one is [`Approximation::lower_bound`].
    pub bounds: Vec<f64>,
    /// Why the rounds ended.
    pub stop: ApproximationStop,
}

impl Approximation<'_> {
    /// The number of rounds, one sweep each.
    pub fn n_rounds(&self) -> usize {
        self.bounds.len()
    }
}

/// The Gaussian approximation of the posterior under a likelihood, and a lower bound of the log evidence.
///
/// The first round takes the cells as Gaussian, with the model's noise or their own. Each round is one sweep, on all threads;
/// the result does not depend on their number.
///
/// # Errors
/// When model, structure and observations do not fit together, the settings are out of range, numbers overflow, or the
/// likelihood returns a number that is not finite.
pub fn approximate<'a>(
    model: impl Into<Held<'a, Lmc>>,
    tree: impl Into<Held<'a, Tree>>,
    observations: &Observations,
    likelihood: &impl CellLikelihood,
    settings: ApproximationSettings,
) -> Result<Approximation<'a>, LikelihoodError> {
    if settings.max_rounds == 0 {
        return Err(LikelihoodError::NoRounds);
    }
    if !(settings.tolerance >= 0.0 && settings.tolerance.is_finite()) {
        return Err(LikelihoodError::Tolerance(settings.tolerance));
    }
    let (model, tree) = (model.into(), tree.into());
    let graph = FactorGraph::new(model.clone(), tree.clone(), observations)?;
    let cells = observed_cells(&model, observations);
    let as_gaussian = |cell: &ObservedCell| PseudoObservation { value: cell.value, variance: cell.noise };
    let mut pseudo: Vec<PseudoObservation> = cells.iter().map(as_gaussian).collect();
    let mut sweeps = Workspace::new().on_all_threads();
    let mut found = round(&mut sweeps, graph, &cells, &pseudo, likelihood)?;
    while found.n_rounds() < settings.max_rounds {
        for (pseudo, cell) in pseudo.iter_mut().zip(&cells) {
            let marginal = marginal_of(cell, &found.prediction);
            *pseudo = likelihood.pseudo_observation(cell.value, cell.noise, marginal);
            if !pseudo.is_valid() {
                let (row, output, found) = (cell.row, cell.output, *pseudo);
                return Err(LikelihoodError::PseudoObservation { row, output, found });
            }
        }
        let mut next = pseudo.iter();
        let table = observations.map_cells(|_, cell| {
            let PseudoObservation { value, variance } = *next.next().ok_or(DataError::NoRows)?;
            Ok(Cell { value, noise_variance: Some(variance), ..cell })
        })?;
        let graph = FactorGraph::new(model.clone(), tree.clone(), &table)?;
        let mut next = round(&mut sweeps, graph, &cells, &pseudo, likelihood)?;
        let increase = next.lower_bound - found.lower_bound;
        if increase < -settings.tolerance {
            found.stop = ApproximationStop::Fell { to: next.lower_bound };
            return Ok(found);
        }
        next.bounds = found.bounds;
        next.bounds.push(next.lower_bound);
        found = next;
        if increase <= settings.tolerance {
            found.stop = ApproximationStop::Converged;
            return Ok(found);
        }
    }
    Ok(found)
}

/// An observed cell with the noise variance that applies to it.
#[derive(Clone, Copy)]
struct ObservedCell {
    row: RowIndex,
    output: OutputIndex,
    value: f64,
    noise: f64,
}

fn observed_cells(model: &Lmc, observations: &Observations) -> Vec<ObservedCell> {
    let with_scale = |(row, cell): (RowIndex, Cell)| {
        let noise = cell.noise_variance.unwrap_or_else(|| model.noise()[cell.output.get()].get());
        ObservedCell { row, output: cell.output, value: cell.value, noise }
    };
    observations.cells().map(with_scale).collect()
}

fn marginal_of(cell: &ObservedCell, prediction: &Prediction) -> CellMarginal {
    let (mean, variance) =
        (prediction.mean(cell.row, cell.output), prediction.variance(cell.row, cell.output));
    CellMarginal { mean, variance }
}

/// One sweep over pseudo-observations, with the bound at its posterior.
fn round<'a>(
    sweeps: &mut Workspace,
    graph: FactorGraph<'a>,
    cells: &[ObservedCell],
    pseudo: &[PseudoObservation],
    likelihood: &impl CellLikelihood,
) -> Result<Approximation<'a>, LikelihoodError> {
    let marginals = sweeps.marginals(&graph)?;
    let mut lower_bound = marginals.log_evidence;
    for (cell, pseudo) in cells.iter().zip(pseudo) {
        let marginal = marginal_of(cell, &marginals.prediction);
        let value = likelihood.expected_log_density(cell.value, cell.noise, marginal);
        lower_bound += value - pseudo.expected_log_density(marginal);
        if !lower_bound.is_finite() {
            return Err(LikelihoodError::Density { row: cell.row, output: cell.output, value });
        }
    }
    let (prediction, bounds) = (marginals.prediction, vec![lower_bound]);
    Ok(Approximation { graph, prediction, lower_bound, bounds, stop: ApproximationStop::RoundLimit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::InputPoints;
    use crate::graph::GraphError;
    use crate::inference::marginals;
    use crate::kernel::{Kernel, StateKind};
    use crate::likelihood::Gaussian;
    use crate::model::{Latent, MixingMatrix};
    use crate::structure::sorted_chain;
    use crate::units::{LengthScale, Variance};

    /// Two outputs of one latent along a line.
    fn model_and_chain(n_rows: usize) -> (Lmc, Tree) {
        let latent =
            Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(2.0).unwrap()).unwrap();
        let mixing = MixingMatrix::shared(2, 1, vec![1.5, -0.7]).unwrap();
        let noise = vec![Variance::new(0.1).unwrap(), Variance::new(0.4).unwrap()];
        let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
        (Lmc::new(vec![latent], mixing, noise).unwrap(), sorted_chain(&inputs).unwrap())
    }

    fn waves(n_rows: usize) -> Vec<f64> {
        let cell = |at: usize| if at % 5 == 3 { f64::NAN } else { (at as f64 * 12.9898).sin() };
        (0..2 * n_rows).map(cell).collect()
    }

    #[test]
    fn gaussian_noise_is_exact_after_one_round_and_the_bound_is_the_evidence() {
        let (model, chain) = model_and_chain(12);
        let plain = Observations::from_dense(12, 2, &waves(12)).unwrap();
        let own: Vec<f64> = (0..24).map(|at| 0.05 + 0.02 * at as f64).collect();
        for table in [plain.clone(), plain.with_cell_noise(&own).unwrap()] {
            let exact = marginals(&FactorGraph::new(&model, &chain, &table).unwrap()).unwrap();
            let found =
                approximate(&model, &chain, &table, &Gaussian, ApproximationSettings::default()).unwrap();
            assert_eq!((found.stop, found.n_rounds()), (ApproximationStop::Converged, 2));
            // The terms of a cell cancel to the bit; noise by output and by cell take different ways through the sweep.
            assert_eq!(found.bounds[0].to_bits(), exact.log_evidence.to_bits());
            assert!((found.lower_bound - exact.log_evidence).abs() < 1e-12);
            let pairs = found.prediction.means().iter().zip(exact.prediction.means());
            assert!(pairs.clone().all(|(found, exact)| (found - exact).abs() < 1e-13));
        }
    }

    #[test]
    fn a_table_without_cells_keeps_its_prior() {
        let (model, chain) = model_and_chain(3);
        let table = Observations::from_dense(3, 2, &[f64::NAN; 6]).unwrap();
        let found = approximate(&model, &chain, &table, &Gaussian, ApproximationSettings::default()).unwrap();
        assert_eq!((found.lower_bound, found.stop), (0.0, ApproximationStop::Converged));
        assert!(found.prediction.means().iter().all(|mean| *mean == 0.0));
    }

    /// Yes (1) with probability 1/(1 + e^−f), else no (0), bounded by a parabola: `log 2cosh(f/2)` is concave in f².
    struct YesOrNo;

    impl CellLikelihood for YesOrNo {
        fn pseudo_observation(&self, value: f64, _: f64, marginal: CellMarginal) -> PseudoObservation {
            let root = marginal.square_about(0.0).sqrt();
            let variance = 2.0 * root / (0.5 * root).tanh();
            PseudoObservation { value: (value - 0.5) * variance, variance }
        }

        fn expected_log_density(&self, value: f64, _: f64, marginal: CellMarginal) -> f64 {
            let root = marginal.square_about(0.0).sqrt();
            (value - 0.5) * marginal.mean - (2.0 * (0.5 * root).cosh()).ln()
        }
    }

    #[test]
    fn pseudo_observations_may_have_other_values() {
        // A single answer: the prior is symmetric, so that it is yes with probability ½, whatever the model.
        let (model, chain) = model_and_chain(1);
        for answer in [0.0, 1.0] {
            let table = Observations::from_dense(1, 2, &[answer, f64::NAN]).unwrap();
            let found =
                approximate(&model, &chain, &table, &YesOrNo, ApproximationSettings::default()).unwrap();
            assert_eq!(found.stop, ApproximationStop::Converged);
            assert!(found.bounds.is_sorted() && found.lower_bound < 0.5_f64.ln(), "{:?}", found.bounds);
            assert!(found.lower_bound > 0.5_f64.ln() - 0.05, "{}", found.lower_bound);
            assert_eq!(found.prediction.means()[0] > 0.0, answer == 1.0);
            // The other output is missing and reads the same latent with a weight of the other sign.
            assert_eq!(found.prediction.means()[1] < 0.0, answer == 1.0);
        }
        let (model, chain) = model_and_chain(12);
        let answers: Vec<f64> =
            waves(12).iter().map(|wave| if wave.is_nan() { *wave } else { f64::from(*wave > 0.0) }).collect();
        let table = Observations::from_dense(12, 2, &answers).unwrap();
        let found = approximate(&model, &chain, &table, &YesOrNo, ApproximationSettings::default()).unwrap();
        assert!(found.bounds.is_sorted() && found.n_rounds() > 3, "{:?}", found.bounds);
    }

    /// A likelihood that violates its laws: the same pseudo-observation and term for every cell.
    struct Broken(PseudoObservation, f64);

    impl CellLikelihood for Broken {
        fn pseudo_observation(&self, _: f64, _: f64, _: CellMarginal) -> PseudoObservation {
            self.0
        }

        fn expected_log_density(&self, value: f64, noise: f64, marginal: CellMarginal) -> f64 {
            self.1 + Gaussian.expected_log_density(value, noise, marginal)
        }
    }

    #[test]
    fn errors_name_row_and_output() {
        let (model, chain) = model_and_chain(2);
        let table = Observations::from_dense(2, 2, &[f64::NAN, f64::NAN, f64::NAN, 1.0]).unwrap();
        let try_with = |likelihood: &Broken, settings: ApproximationSettings| {
            approximate(&model, &chain, &table, likelihood, settings)
        };
        let (row, output) = (RowIndex::new(1), OutputIndex::new(1));
        for (value, variance) in [(f64::NAN, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, f64::INFINITY)] {
            let error = try_with(
                &Broken(PseudoObservation { value, variance }, 0.0),
                ApproximationSettings::default(),
            )
            .unwrap_err();
            assert!(
                matches!(error, LikelihoodError::PseudoObservation { row: r, output: o, .. } if (r, o) == (row, output))
            );
        }
        let usable = PseudoObservation { value: 1.0, variance: 0.4 };
        let error =
            try_with(&Broken(usable, f64::NEG_INFINITY), ApproximationSettings::default()).unwrap_err();
        assert_eq!(error, LikelihoodError::Density { row, output, value: f64::NEG_INFINITY });
        let error = try_with(
            &Broken(usable, 0.0),
            ApproximationSettings { max_rounds: 0, ..ApproximationSettings::default() },
        )
        .unwrap_err();
        assert_eq!(error, LikelihoodError::NoRounds);
        for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
            let settings = ApproximationSettings { tolerance, ..ApproximationSettings::default() };
            let error = try_with(&Broken(usable, 0.0), settings).unwrap_err();
            assert!(matches!(error, LikelihoodError::Tolerance(_)));
        }
        let other = Observations::from_dense(1, 2, &[1.0, 2.0]).unwrap();
        let error =
            approximate(&model, &chain, &other, &Gaussian, ApproximationSettings::default()).unwrap_err();
        assert!(matches!(error, LikelihoodError::Graph(GraphError::RowCountMismatch { .. })));
        let other = Observations::from_dense(2, 1, &[1.0, 2.0]).unwrap();
        let error =
            approximate(&model, &chain, &other, &Gaussian, ApproximationSettings::default()).unwrap_err();
        assert!(matches!(error, LikelihoodError::Graph(GraphError::OutputCountMismatch { .. })));
    }

    #[test]
    fn a_round_that_lowers_the_bound_is_discarded_and_a_limit_is_reported() {
        let (model, chain) = model_and_chain(2);
        let table = Observations::from_dense(2, 2, &[0.3, f64::NAN, f64::NAN, 1.0]).unwrap();
        let exact = marginals(&FactorGraph::new(&model, &chain, &table).unwrap()).unwrap();
        let far_off = Broken(PseudoObservation { value: 50.0, variance: 0.1 }, 0.0);
        let found = approximate(&model, &chain, &table, &far_off, ApproximationSettings::default()).unwrap();
        let ApproximationStop::Fell { to } = found.stop else { unreachable!("{:?}", found.stop) };
        assert!(to < found.lower_bound - 100.0);
        assert_eq!((found.n_rounds(), &found.prediction), (1, &exact.prediction));
        let settings = ApproximationSettings { max_rounds: 1, ..ApproximationSettings::default() };
        let found = approximate(&model, &chain, &table, &far_off, settings).unwrap();
        assert_eq!((found.n_rounds(), found.stop), (1, ApproximationStop::RoundLimit));
    }
}
