//! Matérn-5/2: ρ = e^−u (1 + u + u²/3), `u = √5·Δ/ℓ`; twice differentiable.

use super::incomplete_gamma::poisson_tail;
use super::matern32::times_decay;
use super::{Block, Correlation, DerivativeState, Step};
use crate::units::LengthScale;

/// Matérn-5/2: ρ = e^−u (1 + u + u²/3), u = √5·Δ/ℓ; the state is (g, g'/λ, g''/λ²) with λ the rate.
#[derive(Clone, Copy, Debug)]
pub struct Matern52;

impl Correlation for Matern52 {
    const NAME: &'static str = "matern52";
    /// `e^−φ (φ + φ²)/3` at the golden ratio φ.
    const LIPSCHITZ_CONSTANT: f64 = 0.279_987_364_885_725;

    fn rate(length_scale: LengthScale) -> f64 {
        5.0_f64.sqrt() / length_scale.get()
    }

    #[inline(always)]
    fn correlation(u: f64) -> f64 {
        times_decay(1.0 + u * (1.0 + u / 3.0), (-u).exp())
    }

    #[inline(always)]
    fn correlation_derivative(u: f64) -> f64 {
        times_decay(-u * (1.0 + u) / 3.0, (-u).exp())
    }

    /// With v = 2u, ρ² is a polynomial of degree 4 times e^−v; it differs from the Poisson head of order 4 by
    /// positive terms.
    #[inline(always)]
    fn decorrelation(u: f64) -> f64 {
        let (v, decay) = (2.0 * u, (-2.0 * u).exp());
        poisson_tail::<4>(v, decay)
            + times_decay(v * v * (1.0 / 12.0 + v * (1.0 / 12.0 + v * (5.0 / 144.0))), decay)
    }
}

impl DerivativeState<3> for Matern52 {
    const DRIFT: Block<3> = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -3.0, -3.0]];
    const DIFFUSION: f64 = 16.0 / 3.0;
    const STATIONARY_COVARIANCE: Block<3> =
        [[1.0, 0.0, -1.0 / 3.0], [0.0, 1.0 / 3.0, 0.0], [-1.0 / 3.0, 0.0, 1.0]];

    /// `A = e^−u (I + (F + I)u + (F + I)²u²/2)`, since (F + I)³ = 0. With c the last column of A,
    /// `Q = (16/3)∫c cᵀ`: products of e^−2s and a polynomial, each power of s a Poisson tail of its order; where
    /// c_i' = c_{i+1} the integral is `c_i²/2`.
    #[inline(always)]
    fn step(u: f64) -> Step<3> {
        let decay = (-u).exp();
        let half_square = 0.5 * u * u;
        let polynomial = [
            [1.0 + u + half_square, u + u * u, half_square],
            [-half_square, 1.0 + u - u * u, u - half_square],
            [half_square - u, u * u - 3.0 * u, 1.0 - 2.0 * u + half_square],
        ];
        let transition = polynomial.map(|row| row.map(|entry| times_decay(entry, decay)));

        let (v, decay_squared) = (2.0 * u, decay * decay);
        // e^−v v^k/k! for k = 1…4. Downward, each tail gains one of these positive terms: nothing cancels.
        let mut terms = [decay_squared; 5];
        for k in 1..5 {
            terms[k] = times_decay(v / k as f64, terms[k - 1]);
        }
        let mut tails = [0.0; 5];
        tails[4] = poisson_tail::<4>(v, decay_squared);
        for order in (0..4).rev() {
            tails[order] = tails[order + 1] + terms[order + 1];
        }
        // ∫₀ᵘ e^−2s s^k ds = k!/2^(k+1) · tail of order k.
        let integral = [0.5 * tails[0], 0.25 * tails[1], 0.25 * tails[2], 0.375 * tails[3], 0.75 * tails[4]];
        let q = Self::DIFFUSION;
        let (c1, c2) = (transition[0][2], transition[1][2]);
        let q11 = q * 0.25 * integral[4];
        let q12 = 0.5 * q * c1 * c1;
        let q13 = q * (0.5 * integral[2] - integral[3] + 0.25 * integral[4]);
        let q22 = q * (integral[2] - integral[3] + 0.25 * integral[4]);
        let q23 = 0.5 * q * c2 * c2;
        let q33 = q
            * (integral[0] - 4.0 * integral[1] + 5.0 * integral[2] - 2.0 * integral[3] + 0.25 * integral[4]);
        Step { transition, noise: [[q11, q12, q13], [q12, q22, q23], [q13, q23, q33]] }
    }
}
