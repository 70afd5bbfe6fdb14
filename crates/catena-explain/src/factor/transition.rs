//! One step along an edge, `p(z_i | z_p) = N(z_i; A z_p, Q)` (Eq. `generative_model`): Fig. 2's boxes × and N at the top.
//!
//! ```text
//!             A        Q
//!             ■        ■
//!   z_p ─────[×]──────[N]───── z_i
//!   previous     drift     next
//! ```

use crate::matrix::{Eliminated, Matrix, dot};
use crate::message::{Canonical, Moment};

/// `z_next = A z_previous + q`, `q ~ N(0, Q)`; Q may be 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// A (n×n).
    pub matrix: Matrix,
    /// Q (n×n).
    pub noise: Matrix,
}

impl Transition {
    /// Downward, between the two boxes: `A m`, `A P Aᵀ`.
    pub fn toward_drift_from_previous(&self, from_previous: &Moment) -> Moment {
        from_previous.pushed_through(&self.matrix)
    }

    /// Downward: `m' = A m`, `P' = A P Aᵀ + Q`.
    pub fn toward_next(&self, from_previous: &Moment) -> Moment {
        let drift = self.toward_drift_from_previous(from_previous);
        Moment { covariance: drift.covariance.plus(&self.noise), ..drift }
    }

    /// Upward, between the two boxes: the message about z_next, convolved with the noise.
    ///
    /// `∫ exp(c + ηᵀx − ½ xᵀΛx) N(x; v, Q) dx` as a function of v has, with `T = (I + QΛ)⁻¹` and `S = TQ`,
    /// precision `ΛT`, information `Tᵀη` and log-scale `c − ½ log det(I + QΛ) + ½ ηᵀSη`. Everything comes from one
    /// elimination of `Tᵀ⁻¹ = I + ΛQ`, because `ΛT = TᵀΛ` and `S = QTᵀ`: Q = 0 and Λ = 0 are nothing special.
    pub fn toward_drift_from_next(&self, from_next: &Canonical) -> Canonical {
        let Canonical { precision, information, log_scale } = from_next;
        let system = Eliminated::new(&Matrix::identity(from_next.dim()).plus(&precision.times(&self.noise)));
        let blurred = system.solve_vector(information);
        let gain = dot(&self.noise.times_vector(information), &blurred);
        Canonical {
            precision: system.solve(precision).symmetric(),
            information: blurred,
            log_scale: log_scale + 0.5 * (gain - system.log_determinant()),
        }
    }

    /// Upward: `Λ' = Aᵀ Λ G`, `η' = Gᵀ η` with `G = TA`; log-scale `c − ½ log det(I + QΛ) + ½ ηᵀSη`.
    ///
    /// Written as the two boxes: the noise first ([`Self::toward_drift_from_next`]), then A on both sides.
    pub fn toward_previous(&self, from_next: &Canonical) -> Canonical {
        self.toward_drift_from_next(from_next).pulled_back(&self.matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::LN_2;

    fn scalar(value: f64) -> Matrix {
        Matrix::from_fn(1, 1, |_, _| value)
    }

    /// (A, Q), incoming (Λ, η, c), expected (Λ', η', c') toward the parent.
    type Row = ((f64, f64), (f64, f64, f64), (f64, f64, f64));

    const UPWARD: [Row; 5] = [
        // No noise, no motion: the message passes as it is.
        ((1.0, 0.0), (3.0, 2.0, 0.5), (3.0, 2.0, 0.5)),
        // No noise: A on both sides.
        ((0.5, 0.0), (3.0, 2.0, 0.5), (0.75, 1.0, 0.5)),
        // A flat message stays flat.
        ((0.5, 0.75), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        // An infinitely long edge, A = 0 and Q = 1: only the scale is left, the evidence of the subtree on its own.
        ((0.0, 1.0), (3.0, 2.0, 0.0), (0.0, 0.0, 0.5 - LN_2)),
        // 1 + QΛ = 4, so Λ' = 4/4/4, η' = 2/2/4, c' = −½ log 4 + ½·2·(0.75/4)·2.
        ((0.5, 0.75), (4.0, 2.0, 0.0), (0.25, 0.25, 0.375 - LN_2)),
    ];

    #[test]
    fn toward_previous() {
        for ((a, q), (precision, information, log_scale), expected) in UPWARD {
            let transition = Transition { matrix: scalar(a), noise: scalar(q) };
            let incoming =
                Canonical { precision: scalar(precision), information: vec![information], log_scale };
            let found = transition.toward_previous(&incoming);
            let found = (found.precision[(0, 0)], found.information[0], found.log_scale);
            for (x, y) in [(found.0, expected.0), (found.1, expected.1), (found.2, expected.2)] {
                assert!((x - y).abs() < 1e-15, "A = {a}, Q = {q}: {found:?} instead of {expected:?}");
            }
        }
    }

    #[test]
    fn toward_next() {
        // (A, Q), incoming (m, P), expected (m', P').
        let table = [
            ((1.0, 0.0), (3.0, 2.0), (3.0, 2.0)),
            ((0.5, 0.75), (3.0, 1.0), (1.5, 1.0)),
            ((0.5, 0.75), (3.0, 0.0), (1.5, 0.75)),
            ((0.0, 1.0), (3.0, 2.0), (0.0, 1.0)),
        ];
        for ((a, q), (mean, variance), expected) in table {
            let transition = Transition { matrix: scalar(a), noise: scalar(q) };
            let incoming = Moment { mean: vec![mean], covariance: scalar(variance), log_scale: 0.25 };
            let found = transition.toward_next(&incoming);
            assert_eq!(
                (found.mean[0], found.covariance[(0, 0)], found.log_scale),
                (expected.0, expected.1, 0.25)
            );
        }
    }
}
