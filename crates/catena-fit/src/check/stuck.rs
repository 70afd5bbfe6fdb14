//! Stuck sensors: a value repeated for longer than the other repetitions of its output explain.
//!
//! Rounded values repeat, and dry days repeat for weeks. So the question is how a run of equal values compares with the other runs of
//! its output: from each length on that some of them reach, they estimate the probability to go on, and a run is surprising if it went
//! on for many more repetitions under the largest of these answers.

use super::series::Series;

/// Shorter runs are not looked at.
const SHORTEST: usize = 4;
/// The probability to go on is estimated at lengths that at least this many other runs reach.
const FEWEST_RUNS: usize = 10;

/// A run of equal values in a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EqualValues {
    pub(super) output: usize,
    pub(super) cells: Vec<usize>,
    /// The probability that any of the runs of its output would be as long.
    pub(super) tail: f64,
}

/// The runs of equal values that are long enough to be looked at, with their probabilities.
pub(super) fn equal_values(
    series: &[Series],
    value: impl Fn(usize) -> f64,
    n_outputs: usize,
) -> Vec<EqualValues> {
    let mut found = vec![];
    for output in 0..n_outputs {
        let own = series.iter().filter(|series| series.output == output);
        let runs: Vec<Vec<usize>> = own.flat_map(|series| runs_of(&series.cells, &value)).collect();
        let lengths = Lengths::of(runs.iter().map(Vec::len));
        for cells in runs.into_iter().filter(|cells| cells.len() >= SHORTEST) {
            let tail = lengths.tail(cells.len());
            found.push(EqualValues { output, cells, tail });
        }
    }
    found
}

/// The series cut where its value changes.
fn runs_of(cells: &[usize], value: &impl Fn(usize) -> f64) -> Vec<Vec<usize>> {
    cells.chunk_by(|a, b| value(*a) == value(*b)).map(<[usize]>::to_vec).collect()
}

/// How many runs of an output reach each length.
struct Lengths {
    /// The number of runs of at least this length, from 1.
    reach: Vec<usize>,
}

impl Lengths {
    fn of(lengths: impl Iterator<Item = usize>) -> Self {
        let mut reach: Vec<usize> = vec![];
        for length in lengths {
            reach.resize(reach.len().max(length), 0);
            reach[..length].iter_mut().for_each(|count| *count += 1);
        }
        Self { reach }
    }

    /// The probability that one of the runs is this long, judged by the other runs. It is 1 if these are too few.
    fn tail(&self, length: usize) -> f64 {
        // Without the run itself.
        let others = |at: usize| self.reach.get(at).map_or(0, |count| count - usize::from(at < length));
        // From each length on, all steps of all runs estimate the probability to go on.
        let (mut n_steps, mut n_ends) = (0, 0);
        let mut tail: f64 = 0.0;
        for at in (0..self.reach.len()).rev() {
            n_steps += others(at);
            n_ends += others(at) - others(at + 1);
            if others(at) >= FEWEST_RUNS && at < length {
                let going_on = (n_steps - n_ends + 1) as f64 / (n_steps + 2) as f64;
                tail = tail.max(others(at) as f64 * going_on.powf((length - 1 - at) as f64));
            }
        }
        // Too few other runs to compare with.
        if tail == 0.0 { 1.0 } else { tail.min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn tails(values: &[f64]) -> Vec<(usize, f64)> {
        let series = [Series { output: 0, cells: (0..values.len()).collect() }];
        let found = equal_values(&series, |cell| values[cell], 1);
        found.into_iter().map(|run| (run.cells.len(), run.tail)).collect()
    }

    fn share(generator: &mut ChaCha8Rng) -> f64 {
        generator.next_u64() as f64 / u64::MAX as f64
    }

    #[test]
    fn a_repeated_reading_among_fresh_ones_is_surprising() {
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        let mut values: Vec<f64> = (0..500).map(|_| share(&mut generator)).collect();
        values.splice(100..108, [0.5; 8]);
        let found = tails(&values);
        assert_eq!(found.len(), 1);
        assert!(found[0].0 == 8 && found[0].1 < 1e-10, "{found:?}");
    }

    #[test]
    fn dry_spells_are_not() {
        // Rain that starts and ends with probabilities 0.2 and 0.1: dry spells of ten days, some of forty.
        let mut generator = ChaCha8Rng::seed_from_u64(2);
        let mut is_dry = true;
        let mut value = || {
            is_dry = if is_dry { share(&mut generator) > 0.1 } else { share(&mut generator) < 0.2 };
            if is_dry { 0.0 } else { share(&mut generator) }
        };
        let mut values: Vec<f64> = (0..3000).map(|_| value()).collect();
        let longest = tails(&values);
        assert!(
            longest.iter().any(|run| run.0 > 25) && longest.iter().all(|run| run.1 > 1e-4),
            "{longest:?}"
        );
        values.splice(1000..1300, [0.0; 300]);
        let found = tails(&values);
        assert!(found.iter().any(|run| run.0 >= 300 && run.1 < 1e-6), "{found:?}");
    }

    #[test]
    fn constants_have_nothing_to_compare_with() {
        assert_eq!(tails(&[3.0; 50]), [(50, 1.0)]);
    }
}
