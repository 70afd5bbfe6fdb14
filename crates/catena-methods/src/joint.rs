//! The joint posterior of several points.

/// Means and covariances of all outputs at some points.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Point by point, output by output.
    pub means: Vec<f64>,
    /// Over the same numbering, both triangles.
    pub covariance: Vec<f64>,
}

/// Pivots below this fraction of the largest variance are rounding errors.
const ROUNDING: f64 = 1e-12;

impl Joint {
    /// R with `R Rᵀ` equal to the covariance up to rounding, column by column, by a pivoted Cholesky factorization. The number
    /// of columns is the numerical rank: points that (nearly) coincide make the covariance singular.
    pub fn root(&self) -> Vec<f64> {
        let dim = self.means.len();
        let mut left: Vec<f64> = self.covariance.iter().step_by(dim + 1).copied().collect();
        let largest = left.iter().copied().fold(0.0, f64::max);
        let mut columns: Vec<f64> = vec![];
        for _ in 0..dim {
            let pivot = (1..dim).fold(0, |best, at| if left[at] > left[best] { at } else { best });
            if left[pivot] <= ROUNDING * largest {
                break;
            }
            let size = left[pivot].sqrt();
            let mut column: Vec<f64> = self.covariance[pivot * dim..][..dim].to_vec();
            for earlier in columns.chunks_exact(dim) {
                let factor = earlier[pivot];
                column.iter_mut().zip(earlier).for_each(|(entry, other)| *entry -= factor * other);
            }
            for (entry, left) in column.iter_mut().zip(&mut left) {
                *entry /= size;
                *left -= *entry * *entry;
            }
            // Rounding must not make it a pivot again.
            left[pivot] = 0.0;
            columns.extend(column);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_gives_the_covariance_back() {
        // The last two rows are the same quantity.
        let covariance = vec![4.0, 2.0, 2.0, 2.0, 5.0, 5.0, 2.0, 5.0, 5.0];
        let joint = Joint { means: vec![0.0; 3], covariance };
        let root = joint.root();
        assert_eq!(root.len(), 6);
        for a in 0..3 {
            for b in 0..3 {
                let entry: f64 = root.chunks_exact(3).map(|column| column[a] * column[b]).sum();
                assert!((entry - joint.covariance[a * 3 + b]).abs() < 1e-14);
            }
        }
    }
}
