//! Noise that is not Gaussian: a Gaussian stands for each cell, and sweeps and stand-ins improve one another.
//!
//! The sweep is exact for Gaussian cells and knows no others. For any belief q about the latents, and any B_i(q) that is at
//! most `E_q[log p(y_i | f_i)]`, with f_i the noise-free value of cell i,
//!
//! ```text
//! log p(Y) ≥ Σ_i B_i(q) − KL(q ‖ prior).
//! ```
//!
//! A sweep over stand-ins `N(ỹ_i; f_i, r_i)` finds the q that makes `Σ_i E_q[log N(ỹ_i; f_i, r_i)] − KL(q ‖ prior)` largest, and
//! the largest value: its log evidence log Z. So the divergence comes for free, and the bound is
//!
//! ```text
//! log Z + Σ_i (B_i(q) − E_q[log N(ỹ_i; f_i, r_i)]).
//! ```
//!
//! [`CellLikelihood`] says what B_i is and which Gaussian stands for a cell. [`approximate`] alternates: sweep, bound, new
//! stand-ins. What comes out is a *lower bound* of the log evidence; they are equal for [`Gaussian`] noise alone.
//!
//! A new likelihood is one file beside `gaussian.rs`, and its two lines here.

mod gaussian;
mod student_t;

pub use gaussian::Gaussian;
pub use student_t::StudentT;

use crate::data::{Cell, DataError, Observations};
use crate::graph::{FactorGraph, GraphError, Held};
use crate::index::{OutputIndex, RowIndex};
use crate::inference::{InferenceError, Workspace};
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::Tree;
use std::f64::consts::TAU;
use thiserror::Error;

/// How a cell's value scatters about the function: p(y | f), as far as an approximation by Gaussians asks.
///
/// # Laws
/// 1. [`expected_log_density`](Self::expected_log_density) is at most `E_q[log p(y | f)]`: else the bound is none.
/// 2. With the stand-in that was found at a belief q, the expected log density less
///    [`StandIn::expected_log_density`] is, over all beliefs, smallest at q. Then no round lowers the bound: the next sweep
///    maximizes something that lies below it and touches it at q.
pub trait CellLikelihood {
    /// The Gaussian that stands for a cell in the next sweep, given the belief of the last.
    fn stand_in(&self, cell: &ObservedCell, belief: CellBelief) -> StandIn;

    /// The cell's term of the bound: the expected log density of its value, or a lower bound of it.
    fn expected_log_density(&self, cell: &ObservedCell, belief: CellBelief) -> f64;
}

/// An observed cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedCell {
    /// The row.
    pub row: RowIndex,
    /// Which output was observed.
    pub output: OutputIndex,
    /// The value that was observed.
    pub value: f64,
    /// The squared scale of the noise: the cell's own known noise variance, else that of its output. A likelihood without
    /// a scale does not look at it.
    pub noise: f64,
}

/// What a sweep says about the function at a cell, without noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellBelief {
    /// The posterior mean.
    pub mean: f64,
    /// The posterior variance.
    pub variance: f64,
}

impl CellBelief {
    /// The expected square of the function's distance from a value.
    pub fn square_about(&self, value: f64) -> f64 {
        (value - self.mean).powi(2) + self.variance
    }
}

/// A Gaussian observation that stands for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandIn {
    /// The value that takes the place of the observed one; the same for noise that is symmetric.
    pub value: f64,
    /// Its noise variance.
    pub variance: f64,
}

impl StandIn {
    /// The expected log density of the Gaussian observation under a belief.
    pub fn expected_log_density(&self, belief: CellBelief) -> f64 {
        -0.5 * (TAU.ln() + self.variance.ln() + belief.square_about(self.value) / self.variance)
    }

    fn is_usable(&self) -> bool {
        self.value.is_finite() && self.variance > 0.0 && self.variance.is_finite()
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// At most this many rounds, a sweep each.
    pub max_rounds: usize,
    /// Converged when a round raises the bound by no more than this, in nats. Near its limit the bound is flat: means and
    /// variances are then off by about the root of it.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_rounds: 300, tolerance: 1e-8 }
    }
}

/// Why the rounds ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// A round raised the bound by no more than the tolerance.
    Converged,
    /// The limit on rounds was reached first.
    RoundLimit,
    /// A further round lowered the bound by more than the tolerance and was taken back: the tolerance is below rounding, or the
    /// likelihood breaks its second law.
    Fell {
        /// The bound after the round that was taken back.
        to: f64,
    },
}

/// The posterior of the Gaussians that stand for the cells.
#[derive(Clone, Debug)]
pub struct Approximation<'a> {
    /// Model and structure with the stand-ins for cells. A [`Posterior`](crate::posterior::Posterior) of it has states, draws and
    /// new inputs; its log evidence is that of the stand-ins and says nothing about the table.
    pub graph: FactorGraph<'a>,
    /// Means and variances of the outputs, without noise, in row order.
    pub prediction: Prediction,
    /// A lower bound of the log evidence of the observed cells, not the evidence.
    pub lower_bound: f64,
    /// The bound after each round; the last one is [`Approximation::lower_bound`].
    pub bounds: Vec<f64>,
    /// Why there was no further round.
    pub stop: Stop,
}

impl Approximation<'_> {
    /// How many rounds led here, a sweep each.
    pub fn n_rounds(&self) -> usize {
        self.bounds.len()
    }
}

/// An approximation that cannot be found.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LikelihoodError {
    /// Without a round there is nothing to return.
    #[error("the limit is 0 rounds; at least one is needed")]
    NoRounds,
    /// The tolerance is not a size.
    #[error("tolerance {0} is not a finite number of at least 0")]
    Tolerance(f64),
    /// A cell's stand-in is no Gaussian.
    #[error(
        "the Gaussian that stands for output {output} at row {row} has value {} and variance {}; standardize the outputs, or check the value",
        stand_in.value, stand_in.variance
    )]
    StandIn {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// What the likelihood gave.
        stand_in: StandIn,
    },
    /// A cell's term of the bound is not a number.
    #[error(
        "the expected log density of output {output} at row {row} is {value}; standardize the outputs, or check the value"
    )]
    Density {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// What came out.
        value: f64,
    },
    /// Model, structure and observations do not belong together.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The stand-ins are no table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

/// The posterior under a likelihood, as near as Gaussians that stand for the cells come to it, and a lower bound of the log
/// evidence.
///
/// The first round takes the cells as Gaussian, with the model's noise or their own; a missing cell has no stand-in. Each
/// round is one sweep, on all threads, and gives the same bits on any number of them.
///
/// # Errors
/// When the parts do not belong together, the settings are none, numbers overflow, or the likelihood gives something that is not a
/// number.
pub fn approximate<'a>(
    model: impl Into<Held<'a, Lmc>>,
    tree: impl Into<Held<'a, Tree>>,
    observations: &Observations,
    likelihood: &impl CellLikelihood,
    settings: Settings,
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
    let mut stand_ins: Vec<StandIn> =
        cells.iter().map(|cell| StandIn { value: cell.value, variance: cell.noise }).collect();
    let mut sweeps = Workspace::new().on_all_threads();
    let mut found = round(&mut sweeps, graph, &cells, &stand_ins, likelihood)?;
    while found.n_rounds() < settings.max_rounds {
        for (stand_in, cell) in stand_ins.iter_mut().zip(&cells) {
            *stand_in = likelihood.stand_in(cell, belief_about(cell, &found.prediction));
            if !stand_in.is_usable() {
                let (row, output, stand_in) = (cell.row, cell.output, *stand_in);
                return Err(LikelihoodError::StandIn { row, output, stand_in });
            }
        }
        let mut next = stand_ins.iter();
        let table = observations.map_cells(|_, cell| {
            let StandIn { value, variance } = *next.next().ok_or(DataError::NoRows)?;
            Ok(Cell { value, noise_variance: Some(variance), ..cell })
        })?;
        let graph = FactorGraph::new(model.clone(), tree.clone(), &table)?;
        let mut next = round(&mut sweeps, graph, &cells, &stand_ins, likelihood)?;
        let increase = next.lower_bound - found.lower_bound;
        if increase < -settings.tolerance {
            found.stop = Stop::Fell { to: next.lower_bound };
            return Ok(found);
        }
        next.bounds = found.bounds;
        next.bounds.push(next.lower_bound);
        found = next;
        if increase <= settings.tolerance {
            found.stop = Stop::Converged;
            return Ok(found);
        }
    }
    Ok(found)
}

fn observed_cells(model: &Lmc, observations: &Observations) -> Vec<ObservedCell> {
    let with_scale = |(row, cell): (RowIndex, Cell)| {
        let noise = cell.noise_variance.unwrap_or_else(|| model.noise()[cell.output.get()].get());
        ObservedCell { row, output: cell.output, value: cell.value, noise }
    };
    observations.cells().map(with_scale).collect()
}

fn belief_about(cell: &ObservedCell, prediction: &Prediction) -> CellBelief {
    let (mean, variance) =
        (prediction.mean(cell.row, cell.output), prediction.variance(cell.row, cell.output));
    CellBelief { mean, variance }
}

/// One sweep over stand-ins, with the bound that holds for its posterior.
fn round<'a>(
    sweeps: &mut Workspace,
    graph: FactorGraph<'a>,
    cells: &[ObservedCell],
    stand_ins: &[StandIn],
    likelihood: &impl CellLikelihood,
) -> Result<Approximation<'a>, LikelihoodError> {
    let marginals = sweeps.marginals(&graph)?;
    let mut lower_bound = marginals.log_evidence;
    for (cell, stand_in) in cells.iter().zip(stand_ins) {
        let belief = belief_about(cell, &marginals.prediction);
        let value = likelihood.expected_log_density(cell, belief);
        lower_bound += value - stand_in.expected_log_density(belief);
        if !lower_bound.is_finite() {
            return Err(LikelihoodError::Density { row: cell.row, output: cell.output, value });
        }
    }
    let (prediction, bounds) = (marginals.prediction, vec![lower_bound]);
    Ok(Approximation { graph, prediction, lower_bound, bounds, stop: Stop::RoundLimit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::InputPoints;
    use crate::inference::marginals;
    use crate::kernel::{Kernel, StateKind};
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
            let found = approximate(&model, &chain, &table, &Gaussian, Settings::default()).unwrap();
            assert_eq!((found.stop, found.n_rounds()), (Stop::Converged, 2));
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
        let found = approximate(&model, &chain, &table, &Gaussian, Settings::default()).unwrap();
        assert_eq!((found.lower_bound, found.stop), (0.0, Stop::Converged));
        assert!(found.prediction.means().iter().all(|mean| *mean == 0.0));
    }

    /// Yes (1) with probability 1/(1 + e^−f), else no (0), bounded by a parabola: `log 2cosh(f/2)` is concave in f².
    struct YesOrNo;

    impl CellLikelihood for YesOrNo {
        fn stand_in(&self, cell: &ObservedCell, belief: CellBelief) -> StandIn {
            let root = belief.square_about(0.0).sqrt();
            let variance = 2.0 * root / (0.5 * root).tanh();
            StandIn { value: (cell.value - 0.5) * variance, variance }
        }

        fn expected_log_density(&self, cell: &ObservedCell, belief: CellBelief) -> f64 {
            let root = belief.square_about(0.0).sqrt();
            (cell.value - 0.5) * belief.mean - (2.0 * (0.5 * root).cosh()).ln()
        }
    }

    #[test]
    fn stand_ins_may_have_values_of_their_own() {
        // A single answer: the prior is symmetric, so that it is yes with probability ½, whatever the model.
        let (model, chain) = model_and_chain(1);
        for answer in [0.0, 1.0] {
            let table = Observations::from_dense(1, 2, &[answer, f64::NAN]).unwrap();
            let found = approximate(&model, &chain, &table, &YesOrNo, Settings::default()).unwrap();
            assert_eq!(found.stop, Stop::Converged);
            assert!(found.bounds.is_sorted() && found.lower_bound < 0.5_f64.ln(), "{:?}", found.bounds);
            assert!(found.lower_bound > 0.5_f64.ln() - 0.05, "{}", found.lower_bound);
            assert_eq!(found.prediction.means()[0] > 0.0, answer == 1.0);
            // The other output was not asked, and reads the same latent by a weight of the other sign.
            assert_eq!(found.prediction.means()[1] < 0.0, answer == 1.0);
        }
        let (model, chain) = model_and_chain(12);
        let answers: Vec<f64> =
            waves(12).iter().map(|wave| if wave.is_nan() { *wave } else { f64::from(*wave > 0.0) }).collect();
        let table = Observations::from_dense(12, 2, &answers).unwrap();
        let found = approximate(&model, &chain, &table, &YesOrNo, Settings::default()).unwrap();
        assert!(found.bounds.is_sorted() && found.n_rounds() > 3, "{:?}", found.bounds);
    }

    /// A likelihood that breaks its laws: this stand-in and this term for every cell.
    struct Broken(StandIn, f64);

    impl CellLikelihood for Broken {
        fn stand_in(&self, _: &ObservedCell, _: CellBelief) -> StandIn {
            self.0
        }

        fn expected_log_density(&self, cell: &ObservedCell, belief: CellBelief) -> f64 {
            self.1 + Gaussian.expected_log_density(cell, belief)
        }
    }

    #[test]
    fn what_is_wrong_is_an_error_that_says_where() {
        let (model, chain) = model_and_chain(2);
        let table = Observations::from_dense(2, 2, &[f64::NAN, f64::NAN, f64::NAN, 1.0]).unwrap();
        let try_with = |likelihood: &Broken, settings: Settings| {
            approximate(&model, &chain, &table, likelihood, settings)
        };
        let (row, output) = (RowIndex::new(1), OutputIndex::new(1));
        for (value, variance) in [(f64::NAN, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, f64::INFINITY)] {
            let error = try_with(&Broken(StandIn { value, variance }, 0.0), Settings::default()).unwrap_err();
            assert!(
                matches!(error, LikelihoodError::StandIn { row: r, output: o, .. } if (r, o) == (row, output))
            );
        }
        let usable = StandIn { value: 1.0, variance: 0.4 };
        let error = try_with(&Broken(usable, f64::NEG_INFINITY), Settings::default()).unwrap_err();
        assert_eq!(error, LikelihoodError::Density { row, output, value: f64::NEG_INFINITY });
        let error =
            try_with(&Broken(usable, 0.0), Settings { max_rounds: 0, ..Settings::default() }).unwrap_err();
        assert_eq!(error, LikelihoodError::NoRounds);
        for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
            let settings = Settings { tolerance, ..Settings::default() };
            let error = try_with(&Broken(usable, 0.0), settings).unwrap_err();
            assert!(matches!(error, LikelihoodError::Tolerance(_)));
        }
        let other = Observations::from_dense(1, 2, &[1.0, 2.0]).unwrap();
        let error = approximate(&model, &chain, &other, &Gaussian, Settings::default()).unwrap_err();
        assert!(matches!(error, LikelihoodError::Graph(GraphError::RowCountMismatch { .. })));
        let other = Observations::from_dense(2, 1, &[1.0, 2.0]).unwrap();
        let error = approximate(&model, &chain, &other, &Gaussian, Settings::default()).unwrap_err();
        assert!(matches!(error, LikelihoodError::Graph(GraphError::OutputCountMismatch { .. })));
    }

    #[test]
    fn a_round_that_lowers_the_bound_is_taken_back_and_a_limit_is_told() {
        let (model, chain) = model_and_chain(2);
        let table = Observations::from_dense(2, 2, &[0.3, f64::NAN, f64::NAN, 1.0]).unwrap();
        let exact = marginals(&FactorGraph::new(&model, &chain, &table).unwrap()).unwrap();
        let far_off = Broken(StandIn { value: 50.0, variance: 0.1 }, 0.0);
        let found = approximate(&model, &chain, &table, &far_off, Settings::default()).unwrap();
        let Stop::Fell { to } = found.stop else { unreachable!("{:?}", found.stop) };
        assert!(to < found.lower_bound - 100.0);
        assert_eq!((found.n_rounds(), &found.prediction), (1, &exact.prediction));
        let settings = Settings { max_rounds: 1, ..Settings::default() };
        let found = approximate(&model, &chain, &table, &far_off, settings).unwrap();
        assert_eq!((found.n_rounds(), found.stop), (1, Stop::RoundLimit));
    }
}
