//! Inducing points of one latent: features of any point, and derivatives that pass through them.
//!
//! With `κ(Z, Z) = C Cᵀ` a point x has the features `u = C⁻¹ κ(Z, x)`. A derivative ū in the features becomes `C⁻ᵀ ū` in
//! the correlations with the point, and `−½ C⁻ᵀ (Σ ū uᵀ) C⁻¹` in those among the inducing points. The sum is symmetric,
//! because a rotation of all features changes nothing.

use catena::data::InputPoints;

use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;

/// Inducing points Z and the Cholesky factor C of their correlation matrix.
#[derive(Clone, Debug)]
pub(crate) struct InducingSet {
    pub(crate) points: InputPoints,
    pub(crate) factor: Cholesky,
}

impl InducingSet {
    /// The number of inducing points.
    pub(crate) fn len(&self) -> usize {
        self.points.n_rows()
    }

    /// The inducing points, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.points.values().chunks_exact(self.points.dim())
    }

    /// The features u of some points, column by column.
    pub(crate) fn features<'p>(
        &self,
        (correlations, latent): (&Correlations, usize),
        points: impl Iterator<Item = &'p [f64]>,
    ) -> Vec<f64> {
        let mut columns = correlations.cross(latent, &self.points, points);
        self.factor.whiten(&mut columns, Threads::One);
        columns
    }

    /// Adds the derivatives through the correlations with one point, given `C⁻ᵀ ū`.
    pub(crate) fn add_with_point(
        &self,
        (correlations, latent): (&Correlations, usize),
        (derivatives, point): (&[f64], &[f64]),
        sums: &mut ScaleDerivatives,
    ) {
        for (derivative, inducing) in derivatives.iter().zip(self.iter()) {
            let distance = correlations.distance(point, inducing);
            sums.add_pair((correlations, latent), *derivative, distance, [point, inducing]);
        }
    }

    /// Adds the derivatives through the correlations among the inducing points, given `Σ ū uᵀ`.
    pub(crate) fn add_among(
        &self,
        (correlations, latent): (&Correlations, usize),
        mut product: Vec<f64>,
        sums: &mut ScaleDerivatives,
    ) {
        let count = self.len();
        self.factor.whiten_transposed(&mut product, Threads::One);
        let mut transposed: Vec<f64> =
            (0..count * count).map(|at| product[(at % count) * count + at / count]).collect();
        self.factor.whiten_transposed(&mut transposed, Threads::One);
        let points: Vec<&[f64]> = self.iter().collect();
        for (at, derivative) in transposed.iter().enumerate() {
            let pair = [points[at % count], points[at / count]];
            let distance = correlations.distance(pair[0], pair[1]);
            sums.add_pair((correlations, latent), -0.5 * derivative, distance, pair);
        }
    }
}

/// Derivatives of the log evidence in the parameters that scale distances.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScaleDerivatives {
    /// `∂/∂ℓ_l`.
    pub(crate) length_scales: Vec<f64>,
    /// `∂/∂ log s_m` for inputs `s_m x_m` at s = 1; empty if not requested.
    pub(crate) inputs: Vec<f64>,
}

impl ScaleDerivatives {
    pub(crate) fn zero(n_latents: usize, n_inputs: usize) -> Self {
        Self { length_scales: vec![0.0; n_latents], inputs: vec![0.0; n_inputs] }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sums = self.length_scales.iter_mut().chain(&mut self.inputs);
        sums.zip(other.length_scales.iter().chain(&other.inputs)).for_each(|(sum, term)| *sum += term);
    }

    /// Adds the terms of one pair of points, given the derivative in their correlation. A correlation is a function of
    /// `d / ℓ`, so with `d² = Σ (s_m Δ_m)²`: `∂κ/∂ log s_m = −ℓ ∂κ/∂ℓ · Δ_m² / d²`.
    pub(crate) fn add_pair(
        &mut self,
        (correlations, latent): (&Correlations, usize),
        derivative: f64,
        distance: f64,
        [a, b]: [&[f64]; 2],
    ) {
        let derivative = derivative * correlations.derivative(latent, distance);
        self.length_scales[latent] += derivative;
        // The derivative is 0 at distance 0 and where the correlation underflows.
        if self.inputs.is_empty() || derivative == 0.0 {
            return;
        }
        let squares = || a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        let through_inputs = -derivative * correlations.length_scale(latent) / squares().sum::<f64>();
        self.inputs.iter_mut().zip(squares()).for_each(|(sum, square)| *sum += through_inputs * square);
    }
}
