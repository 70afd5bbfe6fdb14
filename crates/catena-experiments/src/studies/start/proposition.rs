//! Proposition 1: two greedy chains over the same points differ in length by a bounded factor.

use catena::data::InputPoints;
use catena::diagnostics::chain_start_factor;
use catena::index::RowIndex;
use catena::structure::{Start, greedy_chain};

use super::found::Found;
use crate::error::ExperimentError;
use crate::verdict::{Comparison, Rule, Verdict};

/// The longest and the shortest chain of a problem beside the printed and the corrected factor.
pub(super) fn of_problem(found: &Found) -> [Comparison; 2] {
    let label = format!("{}: largest ratio of two chains' lengths, Proposition 1", found.problem.label());
    beside_factors(&label, found.problem.n_points(), found.length_ratio())
}

/// Four points on a line for which the proposition does not hold as printed.
pub(super) fn counterexample() -> Result<[Comparison; 2], ExperimentError> {
    let inputs = InputPoints::from_column(vec![-1.0, 0.0, 0.9, 3.0])?;
    let length = |row| -> Result<f64, ExperimentError> {
        Ok(greedy_chain(&inputs, Start::Row(RowIndex::new(row)))?.total_length())
    };
    let label = "points −1, 0, 0.9, 3: length of the chain from 0 over that from −1, Proposition 1";
    let [mut as_printed, corrected] = beside_factors(label, 4, length(1)? / length(0)?);
    if as_printed.verdict == Verdict::Misses {
        as_printed.verdict = Verdict::Refutes;
    }
    Ok([as_printed, corrected])
}

fn beside_factors(label: &str, n_points: usize, ratio: f64) -> [Comparison; 2] {
    let at_most =
        |which: &str, factor| Comparison::new(format!("{label} {which}"), factor, ratio, Rule::AtMost);
    let corrected = chain_start_factor(n_points);
    // The printed factor is that of closed tours; an open path needs twice that.
    [at_most("as printed", 0.5 * corrected), at_most("corrected", corrected)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_proposition_is_refuted_and_the_corrected_one_holds() {
        let [as_printed, corrected] = counterexample().unwrap();
        assert_eq!(as_printed.verdict, Verdict::Refutes);
        assert!((as_printed.ours - 1.7).abs() < 1e-12 && as_printed.reference == Some(1.5));
        assert_eq!(corrected.verdict, Verdict::Agrees);
    }
}
