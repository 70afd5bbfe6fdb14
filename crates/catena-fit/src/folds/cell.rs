//! Held-out cells in the order of a fold.

use catena::data::{InputPoints, Observations};
use catena::index::RowIndex;

/// A held-out cell: its place in the order of the rows, its output, and its gap.
pub(super) type HeldOutCell = (usize, usize, usize);

/// Outputs with fewer cells have none held out.
const FEWEST: usize = 8;

/// Whether cells of each output are held out. Outputs with few cells have none to spare, and a constant output says nothing about
/// a model: any rule predicts it without error.
pub(super) fn can_be_held_out(observations: &Observations) -> Vec<bool> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); observations.n_outputs()];
    for (_, cell) in observations.cells() {
        let (low, high) = &mut ranges[cell.output.get()];
        (*low, *high) = (low.min(cell.value), high.max(cell.value));
    }
    let counts = observations.counts_by_output();
    ranges.into_iter().zip(counts).map(|((low, high), count)| count >= FEWEST && low < high).collect()
}

/// The groups of rows in the order of a fold: by place, where its group begins and ends.
#[derive(Clone, Debug)]
pub(super) struct GroupEnds(Vec<(usize, usize)>);

impl GroupEnds {
    /// One group of all places.
    pub(super) fn one(n_rows: usize) -> Self {
        Self(vec![(0, n_rows); n_rows])
    }

    /// The groups of rows that are sorted by group.
    pub(super) fn of(inputs: &InputPoints, rows: &[RowIndex]) -> Self {
        let mut ends = Vec::with_capacity(rows.len());
        for group in rows.chunk_by(|a, b| inputs.group(*a) == inputs.group(*b)) {
            let (begin, end) = (ends.len(), ends.len() + group.len());
            ends.resize(end, (begin, end));
        }
        Self(ends)
    }

    /// The places of the group at a place.
    pub(super) fn around(&self, place: usize) -> std::ops::Range<usize> {
        self.0.get(place).map_or(place..place, |&(begin, end)| begin..end)
    }

    /// The number of places of the largest group.
    pub(super) fn largest(&self) -> usize {
        self.0.iter().map(|(begin, end)| end - begin).max().unwrap_or(0)
    }
}
