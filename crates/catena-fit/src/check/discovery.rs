//! Which of many surprises are findings: the false discovery rate among questions of one kind: cells and stretches, runs, shifts.

/// The expected share of findings that are false.
pub const FALSE_DISCOVERY_RATE: f64 = 0.005;

/// The largest probability that is a finding among `n_tests`, by Benjamini and Hochberg; −1 if none is. Tests that are not in
/// `tails` have larger probabilities. Sorts the probabilities.
///
/// With k findings the bound is k/n of the rate. So of two hundred tables without bad cells one has a finding, and a table with
/// many is searched less strictly. With five bad cells in a hundred, half a false finding is expected in 2000 cells.
pub(super) fn threshold(tails: &mut [f64], n_tests: usize) -> f64 {
    tails.sort_by(f64::total_cmp);
    let bound = |rank: usize| FALSE_DISCOVERY_RATE * (rank + 1) as f64 / n_tests.max(1) as f64;
    let found = tails.iter().enumerate().rev().find(|(rank, tail)| **tail <= bound(*rank));
    found.map_or(-1.0, |(_, tail)| *tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_rises_with_the_number_of_findings() {
        assert_eq!(threshold(&mut [0.5, 0.2], 2), -1.0);
        assert_eq!(threshold(&mut [0.5, 1e-6], 100), 1e-6);
        // Alone 0.36 % would be no finding among four.
        assert_eq!(threshold(&mut [1.0, 0.0036, 1.0, 1.0], 4), -1.0);
        assert_eq!(threshold(&mut [1e-9, 0.0034, 0.0035, 0.0036], 4), 0.0036);
        assert_eq!(threshold(&mut [], 0), -1.0);
    }
}
