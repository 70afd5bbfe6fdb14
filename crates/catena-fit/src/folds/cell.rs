//! Held-out cells in the order of a fold.

use catena::data::Observations;

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
