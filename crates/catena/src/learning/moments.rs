//! Statistics of a table that starting points and priors use: covariance of the outputs, spacing and span of the points.

use crate::data::{InputPoints, Observations};
use crate::index::GroupIndex;
use crate::linalg::{leading_eigenpairs, symmetric_eigen};
use crate::structure::Tree;
use std::collections::BTreeMap;

/// The covariance of outputs that were brought to mean 0, each entry over the rows in which both were observed.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMoments {
    n_outputs: usize,
    covariance: Vec<f64>,
}

impl OutputMoments {
    /// Pairwise-complete second moments. Covariances are shrunk toward zero, the more the fewer rows have both outputs.
    pub fn of(observations: &Observations) -> Self {
        let (sums, counts) = Self::sums_of(observations);
        Self::from_sums(observations.n_outputs(), &sums, &counts)
    }

    /// Of each pair of outputs, row-major D×D, the sum of products over the rows in which both were observed, and the number of
    /// those rows. Sums and counts of the parts of a table add up.
    pub fn sums_of(observations: &Observations) -> (Vec<f64>, Vec<f64>) {
        let n_outputs = observations.n_outputs();
        let mut sums = vec![0.0; n_outputs * n_outputs];
        let mut counts = vec![0.0; n_outputs * n_outputs];
        for row in (0..observations.n_rows()).map(crate::index::RowIndex::new) {
            for a in observations.row(row) {
                for b in observations.row(row) {
                    let at = a.output.get() * n_outputs + b.output.get();
                    sums[at] += a.value * b.value;
                    counts[at] += 1.0;
                }
            }
        }
        (sums, counts)
    }

    /// Second moments from [`OutputMoments::sums_of`] a table.
    ///
    /// # Panics
    /// When there is not one sum and one count per pair.
    pub fn from_sums(n_outputs: usize, sums: &[f64], counts: &[f64]) -> Self {
        assert!(sums.len() == n_outputs * n_outputs && counts.len() == sums.len(), "one entry per pair");
        // Off the diagonal, as if five more rows had a product of zero.
        let entry = |at: usize| {
            let extra = if at / n_outputs == at % n_outputs { 0.0 } else { 5.0 };
            let count: f64 = counts[at] + extra;
            if count > 0.0 { sums[at] / count } else { 0.0 }
        };
        Self { n_outputs, covariance: (0..n_outputs * n_outputs).map(entry).collect() }
    }

    /// The number of outputs, D.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The covariance of two outputs, row-major D×D.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// The symmetric square root of the outputs' correlation, row-major D×D. Pairwise-complete estimates may not be a
    /// correlation matrix; eigenvalues are at least a thousandth.
    pub fn correlation_root(&self) -> Vec<f64> {
        let n = self.n_outputs;
        let deviation = |at: usize| self.covariance[at * (n + 1)].sqrt();
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            let scale = deviation(i) * deviation(j);
            if i == j {
                1.0
            } else if scale > 0.0 {
                self.covariance[at] / scale
            } else {
                0.0
            }
        };
        let correlation: Vec<f64> = (0..n * n).map(entry).collect();
        let mut root = vec![0.0; n * n];
        for (value, axis) in symmetric_eigen(n, &correlation) {
            let size = value.max(1e-3).sqrt();
            for at in 0..n * n {
                root[at] += size * axis[at / n] * axis[at % n];
            }
        }
        root
    }

    /// The largest eigenvalues, largest first, with their vectors: as many as asked, or all.
    pub(super) fn principal(&self, count: usize) -> Vec<(f64, Vec<f64>)> {
        leading_eigenpairs(self.n_outputs, count.min(self.n_outputs), &self.covariance)
    }
}

/// Spacing and span of the points: the range of plausible length-scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The median length of the structure's edges that are not zero.
    pub spacing: f64,
    /// The diagonal of the box that holds all points; over rows in groups, the longest of any group.
    pub span: f64,
}

impl Extent {
    /// Spacing and span of points and the structure over them; 1 and 1 if all points are the same.
    pub fn of(inputs: &InputPoints, tree: &Tree) -> Self {
        let mut steps: Vec<f64> = tree.steps().iter().copied().filter(|step| *step > 0.0).collect();
        if steps.is_empty() {
            return Self { spacing: 1.0, span: 1.0 };
        }
        let middle = steps.len() / 2;
        let spacing = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
        // Lowest and highest coordinate of each column, by group.
        let mut sides: BTreeMap<Option<GroupIndex>, Vec<(f64, f64)>> = BTreeMap::new();
        for row in inputs.rows() {
            let none = || vec![(f64::INFINITY, f64::NEG_INFINITY); inputs.dim()];
            let own = sides.entry(inputs.group(row)).or_insert_with(none);
            for ((low, high), &entry) in own.iter_mut().zip(inputs.point(row)) {
                (*low, *high) = (low.min(entry), high.max(entry));
            }
        }
        let diagonal = |sides: &Vec<(f64, f64)>| -> f64 {
            sides.iter().map(|(low, high)| (high - low).powi(2)).sum::<f64>().sqrt()
        };
        let diagonal = sides.values().map(diagonal).fold(0.0, f64::max);
        Self { spacing, span: (diagonal / tree.distance_scale().get()).max(spacing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::sorted_chain;

    #[test]
    fn pairs_are_judged_by_the_rows_that_have_both() {
        let nan = f64::NAN;
        let values = [1.0, 2.0, nan, -1.0, -2.0, nan, 3.0, nan, 1.0];
        let moments = OutputMoments::of(&Observations::from_dense(3, 3, &values).unwrap());
        let entry = |i: usize, j: usize| moments.covariance()[3 * i + j];
        assert!((entry(0, 0) - 11.0 / 3.0).abs() < 1e-15);
        // Two rows, and five of zero.
        assert!((entry(0, 1) - 4.0 / 7.0).abs() < 1e-15 && entry(0, 1) == entry(1, 0));
        assert_eq!(entry(1, 2), 0.0);
    }

    #[test]
    fn spacing_ignores_duplicates() {
        let inputs = InputPoints::from_column(vec![0.0, 0.0, 0.0, 1.0, 3.0, 4.0]).unwrap();
        let tree = sorted_chain(&inputs).unwrap();
        assert_eq!(Extent::of(&inputs, &tree), Extent { spacing: 1.0, span: 4.0 });
        let same = InputPoints::from_column(vec![2.0, 2.0]).unwrap();
        assert_eq!(Extent::of(&same, &sorted_chain(&same).unwrap()), Extent { spacing: 1.0, span: 1.0 });
    }
}
