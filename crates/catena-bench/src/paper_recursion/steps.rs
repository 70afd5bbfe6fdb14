//! Transition and process noise of one Matérn-3/2 latent as in the paper, with its eigenvalue clamp.

/// Smallest eigenvalue of Q in the paper's recursion.
const EIGENVALUE_FLOOR: f64 = 1e-12;

/// Over a distance Δ in the state (g, g'): A (row-major 2×2) and Q (11, 12, 22).
pub(super) struct LatentStep {
    pub(super) transition: [f64; 4],
    pub(super) noise: [f64; 3],
}

/// `A = e^−λΔ [[1 + λΔ, Δ], [−λ²Δ, 1 − λΔ]]` and `Q = P∞ − A P∞ Aᵀ`, with `P∞ = diag(1, λ²)`.
#[inline(always)]
pub(super) fn latent_step(rate: f64, distance: f64) -> LatentStep {
    let (u, stationary) = (rate * distance, rate * rate);
    let decay = (-u).exp();
    let [a11, a12] = [decay * (1.0 + u), decay * distance];
    let [a21, a22] = [-stationary * a12, decay * (1.0 - u)];
    let q11 = 1.0 - a11 * a11 - stationary * a12 * a12;
    let q12 = -a11 * a21 - stationary * a12 * a22;
    let q22 = stationary - a21 * a21 - stationary * a22 * a22;
    LatentStep { transition: [a11, a12, a21, a22], noise: clamp_eigenvalues([q11, q12, q22]) }
}

/// Raises the eigenvalues of a symmetric 2×2 matrix to the floor; the test costs no square root.
#[inline(always)]
fn clamp_eigenvalues([q11, q12, q22]: [f64; 3]) -> [f64; 3] {
    let (above11, above22) = (q11 - EIGENVALUE_FLOOR, q22 - EIGENVALUE_FLOOR);
    if above11 >= 0.0 && above22 >= 0.0 && above11 * above22 >= q12 * q12 {
        return [q11, q12, q22];
    }
    clamp_spectrum([q11, q12, q22])
}

/// The rare branch: Q = low·(I − U) + high·U with U the projector on the larger eigenvector.
#[cold]
fn clamp_spectrum([q11, q12, q22]: [f64; 3]) -> [f64; 3] {
    let center = 0.5 * (q11 + q22);
    let radius = (0.5 * (q11 - q22)).hypot(q12);
    let (low, high) = (center - radius, center + radius);
    let (low_clamped, high_clamped) = (low.max(EIGENVALUE_FLOOR), high.max(EIGENVALUE_FLOOR));
    if radius == 0.0 {
        return [high_clamped, 0.0, high_clamped];
    }
    let gap = (high_clamped - low_clamped) / (high - low);
    [low_clamped + gap * (q11 - low), gap * q12, low_clamped + gap * (q22 - low)]
}

#[cfg(test)]
mod tests {
    use super::{EIGENVALUE_FLOOR, clamp_spectrum, latent_step};

    #[test]
    fn clamping_keeps_trace_parts_above_the_floor_and_lifts_the_rest() {
        // Eigenvalues 3 and −1 with eigenvectors (1, 1)/√2 and (1, −1)/√2.
        let [q11, q12, q22] = clamp_spectrum([1.0, 2.0, 1.0]);
        let (low, high) = (q11 - q12, q11 + q12);
        assert!((low - EIGENVALUE_FLOOR).abs() < 1e-15 && (high - 3.0).abs() < 1e-15);
        assert!((q11 - q22).abs() < 1e-15);
    }

    #[test]
    fn noise_completes_the_stationary_covariance() {
        let rate: f64 = 1.7;
        let step = latent_step(rate, 0.4);
        let [a11, a12, a21, a22] = step.transition;
        let stationary = rate * rate;
        assert!((a11 * a11 + stationary * a12 * a12 + step.noise[0] - 1.0).abs() < 1e-14);
        assert!((a21 * a21 + stationary * a22 * a22 + step.noise[2] - stationary).abs() < 1e-14);
        assert!((a11 * a21 + stationary * a12 * a22 + step.noise[1]).abs() < 1e-14);
    }
}
