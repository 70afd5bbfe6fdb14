//! Predictions of several structures, combined cell by cell.

use crate::prediction::Prediction;
use thiserror::Error;

/// Predictions that cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// No predictions.
    #[error("an ensemble needs at least one member")]
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
}

/// How K Gaussian marginals N(m_k, v_k) of one cell are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combination {
    /// The moments of the mixture with weights 1/K: m = Σ m_k/K and v = Σ (v_k + (m_k − m)²)/K.
    ///
    /// Disagreement between members adds to the variance, which is never below the members' average.
    Mixture,
    /// The generalized product of experts with weights 1/K: 1/v = Σ 1/(K·v_k) and m = v·Σ m_k/(K·v_k).
    ///
    /// Members with small variance have more weight. Where all members are at the prior, so is the product. Members with variance zero
    /// take all the weight, and their means are averaged: the limit of the formula.
    ProductOfExperts,
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
        let marginals = members.iter().map(|member| (member.means()[at], member.variances()[at]));
        match combination {
            Combination::Mixture => mixture(marginals),
            Combination::ProductOfExperts => product_of_experts(marginals),
        }
    };
    let (means, variances) = (0..first.means().len()).map(combine_cell).unzip();
    Ok(Prediction::from_checked(first.n_outputs(), means, variances))
}

fn mixture(marginals: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = marginals.len() as f64;
    let mean = marginals.clone().map(|(mean, _)| mean).sum::<f64>() / count;
    let deviations = marginals.map(|(own, variance)| variance + (own - mean).powi(2));
    (mean, deviations.sum::<f64>() / count)
}

/// Precisions are in units of the largest, so that none overflows.
fn product_of_experts(marginals: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = marginals.len() as f64;
    let smallest = marginals.clone().map(|(_, variance)| variance).fold(f64::INFINITY, f64::min);
    let share = |variance: f64| if variance <= smallest { 1.0 } else { smallest / variance };
    let total: f64 = marginals.clone().map(|(_, variance)| share(variance)).sum();
    let weighted: f64 = marginals.map(|(mean, variance)| share(variance) * mean).sum();
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
