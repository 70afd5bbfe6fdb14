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

    /// Adds to ∂/∂ℓ_l the terms through the correlations with one point, given `C⁻ᵀ ū`.
    pub(crate) fn add_with_point(
        &self,
        (correlations, latent): (&Correlations, usize),
        (derivatives, point): (&[f64], &[f64]),
        length_scale: &mut f64,
    ) {
        for (derivative, inducing) in derivatives.iter().zip(self.iter()) {
            *length_scale +=
                derivative * correlations.derivative(latent, correlations.distance(point, inducing));
        }
    }

    /// Adds to ∂/∂ℓ_l the terms through the correlations among the inducing points, given `Σ ū uᵀ`.
    pub(crate) fn add_among(
        &self,
        (correlations, latent): (&Correlations, usize),
        mut product: Vec<f64>,
        length_scale: &mut f64,
    ) {
        let count = self.len();
        self.factor.whiten_transposed(&mut product, Threads::One);
        let mut transposed: Vec<f64> =
            (0..count * count).map(|at| product[(at % count) * count + at / count]).collect();
        self.factor.whiten_transposed(&mut transposed, Threads::One);
        let points: Vec<&[f64]> = self.iter().collect();
        for (at, derivative) in transposed.iter().enumerate() {
            let distance = correlations.distance(points[at % count], points[at / count]);
            *length_scale += -0.5 * derivative * correlations.derivative(latent, distance);
        }
    }
}
