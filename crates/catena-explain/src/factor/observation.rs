//! The observation factor of one observed cell, `p(y_id | f_id) = N(y_id; f_id, r_d)` (Eq. `generative_model`).
//!
//! A cell that was not observed has no such factor.

use crate::matrix::Matrix;
use crate::message::{Canonical, Moment};
use std::f64::consts::TAU;

/// `y = f_d + ε`, `ε ~ N(0, r)`; r is the paper's 1/τ_d, or the cell's own known noise variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// r.
    pub noise_variance: f64,
}

impl Observation {
    /// Upward, messages 2, 7, 10 of Fig. 2: with the value known, `Λ = 1/r`, `η = y/r`, and the constants of the
    /// density at f = 0, `−½ log 2πr − ½ y²/r`.
    pub fn toward_output(self, value: f64) -> Canonical {
        let r = self.noise_variance;
        Canonical {
            precision: Matrix::from_fn(1, 1, |_, _| r.recip()),
            information: vec![value / r],
            log_scale: -0.5 * ((TAU * r).ln() + value * value / r),
        }
    }

    /// Downward: the prediction of the observation, `m`, `P + r`.
    pub fn toward_observation(self, from_output: &Moment) -> Moment {
        Moment {
            covariance: from_output.covariance.plus(&Matrix::from_fn(1, 1, |_, _| self.noise_variance)),
            ..from_output.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_by_hand() {
        // (r, y), expected (Λ, η, log-scale + ½ log 2π).
        let table = [((1.0, 0.0), (1.0, 0.0, 0.0)), ((0.25, 3.0), (4.0, 12.0, 2.0_f64.ln() - 18.0))];
        for ((noise_variance, value), (precision, information, log_scale)) in table {
            let observation = Observation { noise_variance };
            let up = observation.toward_output(value);
            assert_eq!((up.precision[(0, 0)], up.information[0]), (precision, information));
            assert!((up.log_scale + 0.5 * TAU.ln() - log_scale).abs() < 1e-14);
            let incoming =
                Moment { mean: vec![2.0], covariance: Matrix::from_fn(1, 1, |_, _| 0.5), log_scale: 1.0 };
            let down = observation.toward_observation(&incoming);
            assert_eq!(
                (down.mean[0], down.covariance[(0, 0)], down.log_scale),
                (2.0, 0.5 + noise_variance, 1.0)
            );
        }
    }
}
