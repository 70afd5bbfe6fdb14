//! Interleaved timing: every contender once per round, so that a noisy minute hurts all of them alike.

use crate::Failure;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A sample is repeated until it lasts this long, so that the clock and a cold cache do not matter.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(20);

/// How many samples are taken of each contender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds(usize);

impl Default for Rounds {
    fn default() -> Self {
        Self(9)
    }
}

impl Rounds {
    /// At least 7, so that a median means something.
    pub(crate) fn parse(word: &str) -> Result<Self, Failure> {
        match word.parse() {
            Ok(count) if count >= 7 => Ok(Self(count)),
            _ => Err(format!("--rounds needs a number of at least 7, not '{word}'").into()),
        }
    }

    /// The bare number.
    pub(crate) fn get(self) -> usize {
        self.0
    }
}

/// Something to time; it returns a number so that its work cannot be optimized away.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
}

/// Seconds per run of one contender, one entry per round.
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

    /// The fastest run: what the machine can do when nothing disturbs it.
    pub(crate) fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How many times slower than `other`: the median over rounds of the ratio within a round.
    pub(crate) fn times(&self, other: &Self) -> f64 {
        median(self.seconds.iter().zip(&other.seconds).map(|(mine, theirs)| mine / theirs).collect())
    }
}

/// Times all contenders, after one untimed run of each that fills caches and buffers.
pub(crate) fn race(contenders: &mut [Contender<'_>], rounds: Rounds) -> Result<Vec<Samples>, Failure> {
    let mut repeats = vec![];
    for contender in contenders.iter_mut() {
        black_box((contender.run)()?);
        let start = Instant::now();
        black_box((contender.run)()?);
        let once = start.elapsed().max(Duration::from_nanos(1));
        repeats.push((SHORTEST_SAMPLE.as_secs_f64() / once.as_secs_f64()).ceil() as u32);
    }
    let mut samples: Vec<Samples> =
        contenders.iter().map(|contender| Samples { name: contender.name, seconds: vec![] }).collect();
    for _ in 0..rounds.get() {
        for ((contender, &repeat), sample) in contenders.iter_mut().zip(&repeats).zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..repeat {
                black_box((contender.run)()?);
            }
            sample.seconds.push(start.elapsed().as_secs_f64() / f64::from(repeat));
        }
    }
    Ok(samples)
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
    use super::{Contender, Rounds, Samples, median, race};

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
    fn fewer_than_seven_rounds_are_refused() {
        assert!(Rounds::parse("6").is_err() && Rounds::parse("x").is_err());
        assert_eq!(Rounds::parse("7").unwrap().get(), 7);
    }

    #[test]
    fn a_race_samples_everyone_in_every_round() {
        let run = || Ok((0..1000).map(f64::from).sum());
        let mut contenders = ["a", "b"].map(|name| Contender { name, run: Box::new(run) });
        let samples = race(&mut contenders, Rounds::parse("7").unwrap()).unwrap();
        assert_eq!(samples.iter().map(|sample| sample.name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(samples.iter().all(|sample| sample.seconds.len() == 7 && sample.median() > 0.0));
    }
}
