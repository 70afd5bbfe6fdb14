//! The joint posterior of several points.

use crate::DenseMethodError;
use crate::cholesky::{rectangular_product, semidefinite_root};

/// Means and covariances of all outputs at some points.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Point by point, output by output.
    pub means: Vec<f64>,
    /// Over the same numbering, both triangles.
    pub covariance: Vec<f64>,
}

impl Joint {
    /// R with `R Rᵀ` equal to the covariance up to rounding, column by column. The number of columns is the numerical rank.
    ///
    /// # Errors
    /// If an entry is not a number.
    pub fn root(&self) -> Result<Vec<f64>, DenseMethodError> {
        semidefinite_root(self.means.len(), self.covariance.clone()).ok_or(DenseMethodError::Draws)
    }

    /// Draws of all outputs at the points, one after the other; `normal` gives standard normal numbers.
    ///
    /// # Errors
    /// If an entry is not a number.
    pub fn draws(
        &self,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Result<Vec<f64>, DenseMethodError> {
        let (root, dim) = (self.root()?, self.means.len());
        let fresh: Vec<f64> = (0..root.len() / dim.max(1) * n_draws).map(|_| normal()).collect();
        let mut draws = rectangular_product(&root, &fresh, (dim, n_draws));
        for draw in draws.chunks_exact_mut(dim.max(1)) {
            draw.iter_mut().zip(&self.means).for_each(|(value, mean)| *value += mean);
        }
        Ok(draws)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn a_root_gives_the_covariance_back() {
        // The last two rows are the same quantity.
        let covariance = vec![4.0, 2.0, 2.0, 2.0, 5.0, 5.0, 2.0, 5.0, 5.0];
        let joint = Joint { means: vec![0.0; 3], covariance };
        let root = joint.root().unwrap();
        assert_eq!(root.len(), 6);
        for a in 0..3 {
            for b in 0..3 {
                let entry: f64 = root.chunks_exact(3).map(|column| column[a] * column[b]).sum();
                assert!((entry - joint.covariance[a * 3 + b]).abs() < 1e-14);
            }
        }
    }
}
