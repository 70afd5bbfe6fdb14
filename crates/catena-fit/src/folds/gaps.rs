//! Held-out cells with the pattern of the table's own gaps.

use catena::data::Observations;
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;

use super::random::below;

/// The smallest fraction of missing cells that has a pattern.
const TELLING: f64 = 0.01;
/// Attempts per row before the search ends: a gap may fall on missing cells.
const PATIENCE: usize = 4;

/// The observed cells along a line.
pub(super) struct GapPattern {
    n_outputs: usize,
    /// By place along the line and output, row-major.
    is_there: Vec<bool>,
    /// Missing cells, as indices of `is_there`.
    missing: Vec<usize>,
}

impl GapPattern {
    /// The pattern of a table along `rows`; `None` if too few cells are missing.
    pub(super) fn along(rows: &[RowIndex], observations: &Observations) -> Option<Self> {
        let n_outputs = observations.n_outputs();
        let mut is_there = vec![false; rows.len() * n_outputs];
        for (place, &row) in rows.iter().enumerate() {
            observations.row(row).for_each(|cell| is_there[place * n_outputs + cell.output.get()] = true);
        }
        let missing: Vec<usize> = (0..is_there.len()).filter(|&cell| !is_there[cell]).collect();
        let is_telling = missing.len() as f64 >= TELLING * is_there.len() as f64;
        is_telling.then_some(Self { n_outputs, is_there, missing })
    }

    fn n_rows(&self) -> usize {
        self.is_there.len() / self.n_outputs
    }

    /// The places of the gap around a missing cell of one output.
    fn around(&self, cell: usize) -> std::ops::Range<usize> {
        let (place, output) = (cell / self.n_outputs, cell % self.n_outputs);
        let is_there = |place: &usize| self.is_there[place * self.n_outputs + output];
        let begin = (0..place).rev().find(is_there).map_or(0, |before| before + 1);
        let end = (place..self.n_rows()).find(is_there).unwrap_or(self.n_rows());
        begin..end
    }

    /// Holds out cells, as `(place along the line, output)`, until `share` of every output with gaps is held out. Each step
    /// draws a missing cell and copies the pattern of all outputs over its gap to a random place, so that simultaneous gaps
    /// stay simultaneous. A gap is cut to `share` of the line.
    pub(super) fn elsewhere(
        &self,
        share: f64,
        generator: &mut ChaCha8Rng,
        fewest: usize,
    ) -> Vec<(usize, usize)> {
        let (n_rows, n_outputs) = (self.n_rows(), self.n_outputs);
        let longest = ((n_rows as f64 * share) as usize).max(1);
        let count = |output: usize| {
            self.is_there.iter().skip(output).step_by(n_outputs).filter(|there| **there).count()
        };
        let room = |count: usize| if count < fewest { 0 } else { ((count as f64 * share) as usize).max(1) };
        let mut room: Vec<usize> = (0..n_outputs).map(|output| room(count(output))).collect();
        let mut is_open = vec![false; n_outputs];
        self.missing.iter().for_each(|cell| is_open[cell % n_outputs] = true);
        let mut is_left = self.is_there.clone();
        let mut held_out_cells = vec![];
        for _ in 0..PATIENCE * n_rows {
            if (0..n_outputs).all(|output| room[output] == 0 || !is_open[output]) {
                break;
            }
            let cell = self.missing[below(generator, self.missing.len())];
            let gap = self.around(cell);
            let length = gap.len().min(longest);
            let from = gap.start + below(generator, gap.len() - length + 1);
            let to = below(generator, n_rows - length + 1);
            if room[cell % n_outputs] == 0 {
                continue;
            }
            for step in 0..length {
                for output in 0..n_outputs {
                    let target = (to + step) * n_outputs + output;
                    let is_hole = !self.is_there[(from + step) * n_outputs + output];
                    if is_hole && is_left[target] && room[output] > 0 {
                        is_left[target] = false;
                        room[output] -= 1;
                        held_out_cells.push((to + step, output));
                    }
                }
            }
        }
        held_out_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    fn observations(
        n_rows: usize,
        is_missing: impl Fn(usize, usize) -> bool,
    ) -> (Vec<RowIndex>, Observations) {
        let value = |at: usize| if is_missing(at / 2, at % 2) { f64::NAN } else { at as f64 };
        let values: Vec<f64> = (0..2 * n_rows).map(value).collect();
        let rows = (0..n_rows).map(RowIndex::new).collect();
        (rows, Observations::from_dense(n_rows, 2, &values).unwrap())
    }

    #[test]
    fn holes_that_outputs_have_together_stay_together_and_keep_their_length() {
        let (rows, table) = observations(1000, |row, _| row % 100 < 5);
        let pattern = GapPattern::along(&rows, &table).unwrap();
        let mut held_out_cells = pattern.elsewhere(0.15, &mut ChaCha8Rng::seed_from_u64(1), 8);
        assert_eq!(held_out_cells.len(), 2 * 142);
        held_out_cells.sort_unstable();
        let of = |output: usize| -> Vec<usize> {
            held_out_cells.iter().filter(|(_, at)| *at == output).map(|(place, _)| *place).collect()
        };
        assert_eq!(of(0), of(1));
        let runs = of(0).chunk_by(|a, b| a + 1 == *b).count();
        // Some overlap or meet missing cells.
        assert!((142 / 10..=142 / 3).contains(&runs), "{runs}");
    }

    #[test]
    fn an_output_without_holes_is_not_asked_for() {
        let (rows, table) = observations(400, |row, output| output == 1 && row % 3 == 0);
        let held_out_cells =
            GapPattern::along(&rows, &table).unwrap().elsewhere(0.15, &mut ChaCha8Rng::seed_from_u64(1), 8);
        assert!(held_out_cells.iter().all(|(_, output)| *output == 1));
        assert_eq!(held_out_cells.len(), (266.0 * 0.15) as usize);
    }

    #[test]
    fn few_holes_have_no_shape() {
        let (rows, table) = observations(1000, |row, output| output == 0 && row == 7);
        assert!(GapPattern::along(&rows, &table).is_none());
    }
}
