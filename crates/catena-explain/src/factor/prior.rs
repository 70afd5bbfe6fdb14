//! The prior of the root, `p(z_0) = N(z_0; 0, P₀)` (Eq. `generative_model`).

use crate::matrix::Matrix;
use crate::message::{Canonical, Moment};

/// `N(z; 0, P₀)`: a factor with one edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// P₀ (n×n).
    pub covariance: Matrix,
}

impl Prior {
    /// The prior of the root's state: `N(0, P₀)`.
    pub fn toward_state(&self) -> Moment {
        let dim = self.covariance.n_rows();
        Moment { mean: vec![0.0; dim], covariance: self.covariance.clone(), log_scale: 0.0 }
    }

    /// The log evidence, where `from_state` is the product of all messages into the root:
    /// `c − ½ log det(I + P₀Λ) + ½ ηᵀ(I + P₀Λ)⁻¹P₀ η`.
    pub fn log_evidence(&self, from_state: &Canonical) -> f64 {
        self.toward_state().times(from_state).log_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (P₀, Λ, η, expected log evidence).
    const TABLE: [(f64, f64, f64, f64); 4] = [
        // Nothing observed: the prior integrates to 1.
        (2.0, 0.0, 0.0, 0.0),
        // No prior variance: only the message at 0 counts.
        (0.0, 3.0, 5.0, 0.0),
        // 1 + P₀Λ = 4: −½ log 4 + ½·2·(1/4)·2.
        (1.0, 3.0, 2.0, 0.5 - std::f64::consts::LN_2),
        // Λ = 0 leaves E exp(ηz) = exp(½ η² P₀).
        (2.0, 0.0, 3.0, 9.0),
    ];

    #[test]
    fn evidence_at_the_root() {
        for (covariance, precision, information, expected) in TABLE {
            let prior = Prior { covariance: Matrix::from_fn(1, 1, |_, _| covariance) };
            let incoming = Canonical {
                precision: Matrix::from_fn(1, 1, |_, _| precision),
                information: vec![information],
                log_scale: 0.0,
            };
            assert!((prior.log_evidence(&incoming) - expected).abs() < 1e-14);
        }
    }
}
