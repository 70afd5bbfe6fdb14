//! The observed values along one input, in chunks that know their extremes: what a window of a chart shows.

use catena_io::journal::Record;

/// Most rows of a chunk.
const MOST_ROWS: usize = 256;

/// Observed values by input; empty for a model with several inputs.
#[derive(Debug, Clone)]
pub(crate) struct Readings {
    n_outputs: usize,
    /// Not empty, one after the other along the input.
    chunks: Vec<Chunk>,
}

/// Neighboring rows.
#[derive(Debug, Clone)]
struct Chunk {
    /// Ascending; rows at equal inputs in the order they came.
    inputs: Vec<f64>,
    /// Row by row; NaN is missing.
    values: Vec<f64>,
    /// Lowest and highest value of every output; NaN without any.
    extremes: Vec<[f64; 2]>,
}

/// A row of a window.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) input: f64,
    /// By output; NaN is missing.
    pub(crate) values: Vec<f64>,
}

impl Chunk {
    fn refresh(&mut self, n_outputs: usize, output: usize) {
        let values = self.values.iter().skip(output).step_by(n_outputs);
        self.extremes[output] = values.fold([f64::NAN; 2], |extremes, value| joined(extremes, [*value; 2]));
    }

    fn last(&self) -> f64 {
        self.inputs.last().copied().unwrap_or(f64::NAN)
    }
}

/// The extremes of two sets; NaN is empty.
fn joined([low, high]: [f64; 2], [other_low, other_high]: [f64; 2]) -> [f64; 2] {
    // `min` and `max` ignore NaN.
    [low.min(other_low), high.max(other_high)]
}

impl Readings {
    pub(crate) fn new(n_outputs: usize) -> Self {
        Self { n_outputs, chunks: vec![] }
    }

    /// The first and the last input.
    pub(crate) fn ends(&self) -> Option<[f64; 2]> {
        Some([*self.chunks.first()?.inputs.first()?, self.chunks.last()?.last()])
    }

    /// The median distance of the last rows, which a forecast continues.
    pub(crate) fn step(&self) -> Option<f64> {
        let rows = self.chunks.iter().rev().take(2).rev().flat_map(|chunk| &chunk.inputs);
        let inputs: Vec<f64> = rows.copied().collect();
        let mut steps: Vec<f64> = inputs.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.retain(|step| *step > 0.0);
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied()
    }

    /// Adds a row that is not before the last one.
    pub(crate) fn push(&mut self, input: f64, values: &[f64]) {
        if self.chunks.last().is_none_or(|chunk| chunk.inputs.len() >= MOST_ROWS) {
            let extremes = vec![[f64::NAN; 2]; self.n_outputs];
            self.chunks.push(Chunk { inputs: vec![], values: vec![], extremes });
        }
        let Some(chunk) = self.chunks.last_mut() else { return };
        chunk.inputs.push(input);
        chunk.values.extend_from_slice(values);
        for (extremes, value) in chunk.extremes.iter_mut().zip(values) {
            *extremes = joined(*extremes, [*value; 2]);
        }
    }

    /// Sets and removes the values of a record at the last row with its input, which is added if there is none.
    pub(crate) fn apply(&mut self, record: &Record) {
        let (&[input], n_outputs) = (record.inputs.as_slice(), self.n_outputs) else { return };
        // A removal makes no row.
        if record.cells.is_empty() {
            return;
        }
        let is_removal = record.cells.iter().all(|(_, value)| value.is_nan());
        // The last chunk that begins at or before the input.
        let at = self.chunks.partition_point(|chunk| chunk.inputs[0] <= input).saturating_sub(1);
        let place = self.chunks.get(at).map(|chunk| chunk.inputs.partition_point(|other| *other <= input));
        let is_known = place.is_some_and(|place| place > 0 && self.chunks[at].inputs[place - 1] == input);
        if !is_known {
            if is_removal {
                return;
            }
            if self.chunks.last().is_none_or(|last| last.last() < input) {
                self.push(input, &vec![f64::NAN; n_outputs]);
                return self.apply(record);
            }
            self.insert(at, place.unwrap_or(0), input);
            return self.apply(record);
        }
        let Some(row) = place.map(|place| place - 1) else { return };
        let chunk = &mut self.chunks[at];
        for (output, value) in &record.cells {
            let output = *output as usize;
            chunk.values[row * n_outputs + output] = *value;
            chunk.refresh(n_outputs, output);
        }
    }

    /// Inserts an empty row.
    fn insert(&mut self, at: usize, place: usize, input: f64) {
        let n_outputs = self.n_outputs;
        let chunk = &mut self.chunks[at];
        chunk.inputs.insert(place, input);
        let begin = place * n_outputs;
        chunk.values.splice(begin..begin, std::iter::repeat_n(f64::NAN, n_outputs));
        if chunk.inputs.len() > MOST_ROWS {
            let half = chunk.inputs.len() / 2;
            let mut upper = Chunk {
                inputs: chunk.inputs.split_off(half),
                values: chunk.values.split_off(half * n_outputs),
                extremes: chunk.extremes.clone(),
            };
            for output in 0..n_outputs {
                chunk.refresh(n_outputs, output);
                upper.refresh(n_outputs, output);
            }
            self.chunks.insert(at + 1, upper);
        }
    }

    /// The values of the last row at an input.
    pub(crate) fn at(&self, input: f64) -> Option<&[f64]> {
        let at = self.chunks.partition_point(|chunk| chunk.inputs[0] <= input).checked_sub(1)?;
        let chunk = &self.chunks[at];
        let row = chunk.inputs.partition_point(|other| *other <= input).checked_sub(1)?;
        (chunk.inputs[row] == input).then(|| &chunk.values[row * self.n_outputs..][..self.n_outputs])
    }

    /// The last observed value of an output with its input, and how many rows are after it.
    pub(crate) fn last_of(&self, output: usize) -> Option<(f64, f64, usize)> {
        let mut n_after = 0;
        for chunk in self.chunks.iter().rev() {
            if !chunk.extremes[output][0].is_nan() {
                let values = chunk.values.iter().skip(output).step_by(self.n_outputs);
                let (row, _) = values.enumerate().rfind(|(_, value)| !value.is_nan())?;
                n_after += chunk.inputs.len() - 1 - row;
                return Some((chunk.inputs[row], chunk.values[row * self.n_outputs + output], n_after));
            }
            n_after += chunk.inputs.len();
        }
        None
    }

    /// The chunks that have rows between two inputs.
    fn within(&self, from: f64, to: f64) -> impl Iterator<Item = &Chunk> {
        let first = self.chunks.partition_point(|chunk| chunk.last() < from);
        self.chunks[first..].iter().take_while(move |chunk| chunk.inputs[0] <= to)
    }

    /// Number of rows between two inputs, both included.
    pub(crate) fn count(&self, from: f64, to: f64) -> usize {
        let inside = |chunk: &Chunk| {
            let begin = chunk.inputs.partition_point(|input| *input < from);
            chunk.inputs.partition_point(|input| *input <= to).saturating_sub(begin)
        };
        self.within(from, to).map(inside).sum()
    }

    /// The rows between two inputs, both included.
    pub(crate) fn rows(&self, from: f64, to: f64) -> Vec<Row> {
        let mut rows = vec![];
        for chunk in self.within(from, to) {
            for (input, values) in chunk.inputs.iter().zip(chunk.values.chunks(self.n_outputs)) {
                if (from..=to).contains(input) {
                    rows.push(Row { input: *input, values: values.to_vec() });
                }
            }
        }
        rows
    }

    /// The lowest and the highest values in equal bins between two inputs, as two rows at the middle of each bin that has rows.
    pub(crate) fn extremes(&self, from: f64, to: f64, n_bins: usize) -> Vec<Row> {
        let width = (to - from) / n_bins as f64;
        let bin = |input: f64| (((input - from) / width) as usize).min(n_bins - 1);
        let mut bins: Vec<Option<Vec<[f64; 2]>>> = vec![None; n_bins];
        for chunk in self.within(from, to) {
            let is_inside = chunk.inputs[0] >= from && chunk.last() <= to;
            let of_bin = |bins: &mut Vec<Option<Vec<[f64; 2]>>>,
                          at: usize,
                          extremes: &mut dyn Iterator<Item = [f64; 2]>| {
                let own = bins[at].get_or_insert_with(|| vec![[f64::NAN; 2]; self.n_outputs]);
                for (own, other) in own.iter_mut().zip(extremes) {
                    *own = joined(*own, other);
                }
            };
            if is_inside && bin(chunk.inputs[0]) == bin(chunk.last()) {
                of_bin(&mut bins, bin(chunk.inputs[0]), &mut chunk.extremes.iter().copied());
                continue;
            }
            for (input, values) in chunk.inputs.iter().zip(chunk.values.chunks(self.n_outputs)) {
                if (from..=to).contains(input) {
                    of_bin(&mut bins, bin(*input), &mut values.iter().map(|value| [*value; 2]));
                }
            }
        }
        let rows = bins.into_iter().enumerate().filter_map(|(at, extremes)| {
            let (extremes, input) = (extremes?, from + (at as f64 + 0.5) * width);
            let row = |side: usize| Row { input, values: extremes.iter().map(|both| both[side]).collect() };
            Some([row(0), row(1)])
        });
        rows.flatten().collect()
    }
}
