//! Interleaved timing: every task once per round, so that a disturbance affects all of them alike.

use crate::Failure;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A sample is repeated until it takes this long, so that the clock and a cold cache do not matter.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(20);

/// The default number of samples per task.
pub(crate) const ROUNDS: usize = 9;

/// A computation to time; it returns a number so that it is not optimized away.
pub(crate) struct Task<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() -> Result<f64, Failure> + Send + 'a>,
}

/// Seconds per run of one task, one entry per round.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub(crate) name: &'static str,
    seconds: Vec<f64>,
}

impl Samples {
    /// The median time of a run.
    pub(crate) fn median(&self) -> f64 {
        median(self.seconds.clone())
    }

    /// The shortest time of a run.
    pub(crate) fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How many times slower than `other`: the median over rounds of the ratio within a round.
    pub(crate) fn times(&self, other: &Self) -> f64 {
        median(self.seconds.iter().zip(&other.seconds).map(|(mine, theirs)| mine / theirs).collect())
    }
}

/// Times all tasks, interleaved, after one untimed run of each that fills caches and buffers.
pub(crate) fn interleaved(tasks: &mut [Task<'_>], rounds: usize) -> Result<Vec<Samples>, Failure> {
    let mut repeats = vec![];
    for task in tasks.iter_mut() {
        black_box((task.run)()?);
        let once = seconds(|| (task.run)())?.max(1e-9);
        repeats.push((SHORTEST_SAMPLE.as_secs_f64() / once).ceil() as u32);
    }
    let mut samples: Vec<Samples> =
        tasks.iter().map(|task| Samples { name: task.name, seconds: vec![] }).collect();
    for _ in 0..rounds {
        for ((task, &repeat), sample) in tasks.iter_mut().zip(&repeats).zip(&mut samples) {
            let all = seconds(|| {
                for _ in 0..repeat {
                    black_box((task.run)()?);
                }
                Ok(())
            })?;
            sample.seconds.push(all / f64::from(repeat));
        }
    }
    Ok(samples)
}

/// The time of one run.
pub(crate) fn seconds<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    black_box(work()?);
    Ok(start.elapsed().as_secs_f64())
}

/// The times of several runs.
pub(crate) fn repeated<T>(
    count: usize,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<Vec<f64>, Failure> {
    (0..count).map(|_| seconds(&mut work)).collect()
}

/// The middle value, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => 0.5 * (values[middle - 1] + values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Samples, Task, interleaved, median};

    #[test]
    fn median_is_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-15);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-15);
        assert!(median(vec![]).is_nan());
    }

    #[test]
    fn ratios_are_paired_by_round() {
        // A disturbance that doubles one round for both leaves the ratio alone.
        let slow = Samples { name: "slow", seconds: vec![2.0, 4.0, 2.0] };
        let fast = Samples { name: "fast", seconds: vec![1.0, 2.0, 1.0] };
        assert!((slow.times(&fast) - 2.0).abs() < 1e-15);
        assert!((slow.fastest() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn every_task_is_sampled_in_every_round() {
        let run = || Ok((0..1000).map(f64::from).sum());
        let mut tasks = ["a", "b"].map(|name| Task { name, run: Box::new(run) });
        let samples = interleaved(&mut tasks, 7).unwrap();
        assert_eq!(samples.iter().map(|sample| sample.name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(samples.iter().all(|sample| sample.seconds.len() == 7 && sample.median() > 0.0));
    }
}
