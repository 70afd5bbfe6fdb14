//! Judges the last readings when nobody waits: how far each is from what all others say.

use std::collections::VecDeque;

use catena::index::OutputIndex;
use catena_io::journal::Record;

use super::service::Service;
use super::write::WriteRow;

/// A reading this many standard deviations from what all others say is a surprise.
pub(crate) const SURPRISING: f64 = 4.0;

/// Readings that may wait to be judged, and surprises and judgments that are kept.
const MOST_WAITING: usize = 4096;
const MOST_KEPT: usize = 50;
const MOST_JUDGED: usize = 1000;

/// Half-widths of the central 50 % and 95 % of a normal distribution, in standard deviations.
const HALF_WIDTHS: [f64; 2] = [0.674_489_750_196_081_7, 1.959_963_984_540_054];

/// A reading far from what all others say.
#[derive(Debug, Clone)]
pub(crate) struct Surprise {
    pub(crate) inputs: Vec<f64>,
    pub(crate) output: usize,
    pub(crate) value: f64,
    pub(crate) expected: f64,
    pub(crate) std: f64,
    pub(crate) deviation: f64,
}

/// The last surprises, and how many of the last readings were inside their bands.
#[derive(Debug, Default)]
pub(crate) struct Surprises {
    waiting: VecDeque<WriteRow>,
    /// The newest first.
    kept: VecDeque<Surprise>,
    /// Whether each of the last judged readings was inside the 50 % and the 95 % band.
    judged: VecDeque<[bool; 2]>,
    /// By output.
    counts: Vec<u64>,
    n_skipped: u64,
}

impl Surprises {
    pub(crate) fn new(n_outputs: usize) -> Self {
        Self { counts: vec![0; n_outputs], ..Self::default() }
    }

    /// A record whose values are to be judged. What was said of values that it replaces is forgotten.
    pub(crate) fn add(&mut self, record: &Record) {
        let is_replaced = |surprise: &Surprise| {
            surprise.inputs == record.inputs
                && record.cells.iter().any(|(output, _)| *output as usize == surprise.output)
        };
        self.kept.retain(|surprise| !is_replaced(surprise));
        let cells: Vec<(u32, f64)> =
            record.cells.iter().copied().filter(|(_, value)| !value.is_nan()).collect();
        if cells.is_empty() {
            return;
        }
        if self.waiting.len() == MOST_WAITING
            && let Some(WriteRow { cells, .. }) = self.waiting.pop_front()
        {
            self.n_skipped += cells.len() as u64;
        }
        self.waiting.push_back(WriteRow { inputs: record.inputs.clone(), cells });
    }

    /// The last surprises, the newest first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Surprise> {
        self.kept.iter()
    }

    /// Number of surprises by output.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Readings that were not judged because too many waited.
    pub(crate) fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Shares of the last judged readings inside the 50 % and the 95 % band, and how many these are.
    pub(crate) fn coverage(&self) -> ([f64; 2], usize) {
        let n = self.judged.len();
        let share = |band: usize| self.judged.iter().filter(|inside| inside[band]).count() as f64 / n as f64;
        ([share(0), share(1)], n)
    }
}

impl Service {
    /// Judges one of the waiting readings; whether there was one.
    pub(super) fn check_next(&mut self) -> bool {
        let Some(WriteRow { inputs, cells }) = self.surprises.waiting.pop_front() else { return false };
        let cells: Vec<_> =
            cells.into_iter().map(|(output, value)| (OutputIndex::new(output as usize), value)).collect();
        // Numbers that overflow are told to whoever asks for a prediction.
        let Ok(expected) = self.live.expected_at(&inputs, &cells) else { return true };
        let before = self.surprises.kept.len();
        for ((output, value), deviation) in cells.into_iter().zip(expected.deviations) {
            let (Some(deviation), output) = (deviation, output.get()) else { continue };
            // A value that was replaced or removed since then is judged no more.
            if self.readings.at(inputs[0]).is_some_and(|values| values[output] != value) {
                continue;
            }
            let surprises = &mut self.surprises;
            if surprises.judged.len() == MOST_JUDGED {
                surprises.judged.pop_front();
            }
            surprises.judged.push_back(HALF_WIDTHS.map(|half_width| deviation.abs() < half_width));
            if deviation.abs() < SURPRISING {
                continue;
            }
            surprises.counts[output] += 1;
            let (mean, std) = expected.predictive.moments(output);
            let inputs = inputs.clone();
            surprises.kept.push_front(Surprise { inputs, output, value, expected: mean, std, deviation });
            surprises.kept.truncate(MOST_KEPT);
        }
        if self.surprises.kept.len() != before || self.surprises.waiting.is_empty() {
            self.changes.send_modify(|changes| *changes += 1);
        }
        true
    }
}
