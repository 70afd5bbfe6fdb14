//! Posteriors of one model on several structures, combined cell by cell.

use crate::data::Observations;
use crate::graph::{FactorGraph, GraphError};
use crate::inference::{InferenceError, Marginals, Workspace};
use crate::model::Lmc;
use crate::prediction::Prediction;
use crate::structure::Tree;
use crate::threads::*;
use thiserror::Error;

/// An ensemble that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// There is nothing to combine.
    #[error("an ensemble needs at least one structure")]
    NoMembers,
    /// Members predict different tables.
    #[error(
        "member {member} predicts {rows} rows of {outputs} outputs, unlike the first; combine members of one table"
    )]
    ShapeMismatch {
        /// The member, counted from 0.
        member: usize,
        /// Its rows.
        rows: usize,
        /// Its outputs.
        outputs: usize,
    },
    /// Model, structures and observations do not belong together.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

/// How K Gaussian states N(m_k, v_k) about one cell become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// The moments of the mixture with weights 1/K: m = Σ m_k/K and v = Σ (v_k + (m_k − m)²)/K.
    ///
    /// Members that disagree widen it, so it is never surer than its members are on average.
    Mixture,
    /// The generalised product of experts with weights 1/K: 1/v = Σ 1/(K·v_k) and m = v·Σ m_k/(K·v_k).
    ///
    /// A sure member counts for more. Where all members know only the prior, so does the product. Members without
    /// any variance decide alone, by the mean of their means: the limit of the formula.
    ProductOfExperts,
}

/// What the members of an ensemble say together.
#[derive(Clone, Debug, PartialEq)]
pub struct EnsembleMarginals {
    /// The combined means and variances of all outputs at all rows, without noise, in row order.
    pub prediction: Prediction,
    /// The log evidence of the observed cells on each structure, in the order of the structures.
    pub log_evidences: Vec<f64>,
}

/// Mean and variance of every output at every row, combined over structures such as those of
/// [`chain_ensemble`](crate::structure::chain_ensemble).
///
/// Off a line, value states are the ones to use: see [`StateKind`](crate::kernel::StateKind). Structures are swept in
/// parallel and combined in their order, so that the number of threads changes nothing but the time. K times the cost
/// of one sweep.
///
/// # Errors
/// When there is no structure, the parts do not belong together, or numbers overflow.
pub fn ensemble_marginals(
    model: &Lmc,
    structures: &[Tree],
    observations: &Observations,
    combination: Combination,
) -> Result<EnsembleMarginals, EnsembleError> {
    let sweep = |workspace: &mut Workspace, structure: &Tree| -> Result<Marginals, EnsembleError> {
        Ok(workspace.marginals(&FactorGraph::new(model, structure, observations)?)?)
    };
    let members: Vec<Result<Marginals, EnsembleError>> =
        structures.par_iter().map_init(Workspace::new, sweep).collect();
    let members = members.into_iter().collect::<Result<Vec<_>, _>>()?;
    let log_evidences = members.iter().map(|member| member.log_evidence).collect();
    let predictions: Vec<Prediction> = members.into_iter().map(|member| member.prediction).collect();
    Ok(EnsembleMarginals { prediction: combine(&predictions, combination)?, log_evidences })
}

/// Combines predictions of the same cells, such as those of several posteriors at new inputs.
///
/// # Errors
/// When there are none, or they are of different shapes.
pub fn combine(members: &[Prediction], combination: Combination) -> Result<Prediction, EnsembleError> {
    let Some(first) = members.first() else { return Err(EnsembleError::NoMembers) };
    let shape = |member: &Prediction| (member.n_rows(), member.n_outputs());
    if let Some(at) = members.iter().position(|member| shape(member) != shape(first)) {
        let (rows, outputs) = shape(&members[at]);
        return Err(EnsembleError::ShapeMismatch { member: at, rows, outputs });
    }
    let combine_cell = |at: usize| {
        let states = members.iter().map(|member| (member.means()[at], member.variances()[at]));
        match combination {
            Combination::Mixture => mixture(states),
            Combination::ProductOfExperts => product_of_experts(states),
        }
    };
    let (means, variances) = (0..first.means().len()).map(combine_cell).unzip();
    Ok(Prediction::from_checked(first.n_outputs(), means, variances))
}

fn mixture(states: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = states.len() as f64;
    let mean = states.clone().map(|(mean, _)| mean).sum::<f64>() / count;
    let covariance_factor = states.map(|(own, variance)| variance + (own - mean).powi(2));
    (mean, covariance_factor.sum::<f64>() / count)
}

/// Precisions are counted in units of the largest, so that none overflows.
fn product_of_experts(states: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = states.len() as f64;
    let smallest = states.clone().map(|(_, variance)| variance).fold(f64::INFINITY, f64::min);
    let share = |variance: f64| if variance <= smallest { 1.0 } else { smallest / variance };
    let total: f64 = states.clone().map(|(_, variance)| share(variance)).sum();
    let weighted: f64 = states.map(|(mean, variance)| share(variance) * mean).sum();
    (weighted / total, smallest * (count / total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(mean: f64, variance: f64) -> Prediction {
        Prediction::new(1, 1, vec![mean], vec![variance]).unwrap()
    }

    fn combined(members: &[(f64, f64)], combination: Combination) -> (f64, f64) {
        let members: Vec<Prediction> = members.iter().map(|&(mean, variance)| cell(mean, variance)).collect();
        let prediction = combine(&members, combination).unwrap();
        (prediction.means()[0], prediction.variances()[0])
    }

    #[test]
    fn two_cells_by_hand() {
        let members = [(1.0, 1.0), (4.0, 0.5)];
        assert_eq!(combined(&members, Combination::Mixture), (2.5, 3.0));
        // Precisions ½ and 1, together 1.5; the mean is (½·1 + 1·4)/1.5.
        let (mean, variance) = combined(&members, Combination::ProductOfExperts);
        assert!((mean - 3.0).abs() < 1e-15 && (variance - 1.0 / 1.5).abs() < 1e-15);
    }

    #[test]
    fn members_without_variance_decide_alone() {
        let members = [(1.0, 0.0), (9.0, 2.0), (3.0, 0.0)];
        assert_eq!(combined(&members, Combination::ProductOfExperts), (2.0, 0.0));
    }

    #[test]
    fn tiny_variances_do_not_overflow() {
        let (mean, variance) = combined(&[(1.0, 1e-310), (2.0, 1e-310)], Combination::ProductOfExperts);
        assert_eq!((mean, variance), (1.5, 1e-310));
    }

    #[test]
    fn nothing_and_unequal_shapes_are_refused() {
        assert_eq!(combine(&[], Combination::Mixture), Err(EnsembleError::NoMembers));
        let wide = Prediction::new(1, 2, vec![0.0; 2], vec![1.0; 2]).unwrap();
        let mismatch = EnsembleError::ShapeMismatch { member: 1, rows: 1, outputs: 2 };
        assert_eq!(combine(&[cell(0.0, 1.0), wide], Combination::Mixture), Err(mismatch));
    }
}
