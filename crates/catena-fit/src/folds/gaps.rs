//! Held-out cells with the pattern of the table's own gaps.

use catena::data::Observations;
use catena::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;

use super::cell::{GroupEnds, HeldOutCell, can_be_held_out};
use super::neighborhoods::Neighborhoods;
use super::random::below;

/// The smallest fraction of missing cells that has a pattern.
const TELLING: f64 = 0.01;
/// The smallest and the largest fraction of an output's cells that is held out, if it has gaps.
const LEAST: f64 = 0.1;
const MOST: f64 = 0.34;
/// A gap is cut to this fraction of the rows.
const LONGEST: f64 = 0.4;
/// Places tried for each gap. The one with most observed cells that no other fold holds out is taken.
const PLACES: usize = 12;
/// Gaps drawn per row before the search ends: they may meet missing cells everywhere.
const PATIENCE: usize = 4;
/// The fraction of missing rows in a group of neighbors that counts as one gap.
const DENSE: f64 = 0.7;

/// The gaps of a table: its observed cells by place and output, in the order that the fold uses.
pub(super) struct GapPattern {
    n_outputs: usize,
    /// By place and output, row-major.
    is_there: Vec<bool>,
    /// Missing cells of outputs that have cells held out, as indices of `is_there`.
    missing: Vec<usize>,
    groups: GroupEnds,
}

/// The cells of a sample of the table from which cells are held out.
pub(super) struct SampleCells {
    is_there: Vec<bool>,
    n_rows: usize,
    /// Whether cells of each output are held out, in the order of the fold.
    can_be_held_out: Vec<bool>,
    groups: GroupEnds,
}

/// The progress of one fold.
struct Search<'a> {
    pattern: &'a GapPattern,
    /// Rows of the sample.
    n_rows: usize,
    /// Cells left to hold out, by output.
    room: Vec<usize>,
    is_left: Vec<bool>,
    times_held_out: &'a mut [u8],
    cells: Vec<HeldOutCell>,
    n_gaps: usize,
}

/// Whether each cell is observed, by place and output.
fn observed(rows: &[RowIndex], outputs: &[OutputIndex], observations: &Observations) -> Vec<bool> {
    let n_outputs = outputs.len();
    let mut number = vec![0; n_outputs];
    outputs.iter().enumerate().for_each(|(at, output)| number[output.get()] = at);
    let mut is_there = vec![false; rows.len() * n_outputs];
    for (place, &row) in rows.iter().enumerate() {
        let cells = observations.row(row);
        cells.for_each(|cell| is_there[place * n_outputs + number[cell.output.get()]] = true);
    }
    is_there
}

impl SampleCells {
    pub(super) fn of(rows: &[RowIndex], outputs: &[OutputIndex], observations: &Observations) -> Self {
        let can_be = can_be_held_out(observations);
        Self {
            is_there: observed(rows, outputs, observations),
            n_rows: rows.len(),
            can_be_held_out: outputs.iter().map(|output| can_be[output.get()]).collect(),
            groups: GroupEnds::one(rows.len()),
        }
    }

    /// The same cells with groups of rows: no gap goes on in the next group.
    pub(super) fn within(self, groups: GroupEnds) -> Self {
        Self { groups, ..self }
    }
}

impl GapPattern {
    /// The pattern of the table of a sample; `None` if too few cells are missing.
    pub(super) fn of(
        rows: &[RowIndex],
        outputs: &[OutputIndex],
        observations: &Observations,
        sample: &SampleCells,
    ) -> Option<Self> {
        let (n_outputs, is_there) = (outputs.len(), observed(rows, outputs, observations));
        let is_missing = |&cell: &usize| !is_there[cell] && sample.can_be_held_out[cell % n_outputs];
        let missing: Vec<usize> = (0..is_there.len()).filter(is_missing).collect();
        let is_telling = missing.len() as f64 >= TELLING * is_there.len() as f64;
        let groups = GroupEnds::one(rows.len());
        is_telling.then_some(Self { n_outputs, is_there, missing, groups })
    }

    /// The same pattern with groups of rows: no gap goes on in the next group.
    pub(super) fn within(self, groups: GroupEnds) -> Self {
        Self { groups, ..self }
    }

    fn n_rows(&self) -> usize {
        self.is_there.len() / self.n_outputs
    }

    /// The places of the gap around a missing cell of one output along the line.
    fn around(&self, cell: usize) -> std::ops::Range<usize> {
        let (place, output) = (cell / self.n_outputs, cell % self.n_outputs);
        let is_there = |place: &usize| self.is_there[place * self.n_outputs + output];
        let group = self.groups.around(place);
        let begin = (group.start..place).rev().find(is_there).map_or(group.start, |before| before + 1);
        let end = (place..group.end).find(is_there).unwrap_or(group.end);
        begin..end
    }

    /// As many cells of each output with gaps as it misses in as many rows, but at least a tenth and at most a third of its cells.
    fn search<'a>(&'a self, sample: &SampleCells, times_held_out: &'a mut [u8]) -> Search<'a> {
        let n_outputs = self.n_outputs;
        let mut n_missing = vec![0_usize; n_outputs];
        self.missing.iter().for_each(|cell| n_missing[cell % n_outputs] += 1);
        let rows = sample.n_rows as f64 / self.n_rows() as f64;
        let room = |output: usize| {
            let there = sample.is_there.iter().skip(output).step_by(n_outputs);
            let count = there.filter(|there| **there).count();
            let share = |share: f64| ((count as f64 * share) as usize).max(1);
            if !sample.can_be_held_out[output] || n_missing[output] == 0 {
                0
            } else {
                ((n_missing[output] as f64 * rows) as usize).clamp(share(LEAST), share(MOST))
            }
        };
        let room = (0..n_outputs).map(room).collect();
        let (n_rows, is_left) = (sample.n_rows, sample.is_there.clone());
        Search { pattern: self, n_rows, room, is_left, times_held_out, cells: vec![], n_gaps: 0 }
    }

    /// Copies gaps to random places of a sample along the line. Each step draws a missing cell and copies the pattern of all outputs over
    /// its gap, so that simultaneous gaps stay simultaneous.
    pub(super) fn along_line(
        &self,
        sample: &SampleCells,
        times_held_out: &mut [u8],
        generator: &mut ChaCha8Rng,
    ) -> Vec<HeldOutCell> {
        let longest = ((sample.groups.largest() as f64 * LONGEST) as usize).max(1);
        self.search(sample, times_held_out).run(generator, |search, cell, generator| {
            let gap = self.around(cell);
            let length = gap.len().min(longest);
            let from = gap.start + below(generator, gap.len() - length + 1);
            let copies = (0..PLACES).map(|_| {
                let to = below(generator, sample.n_rows - length + 1);
                // A gap ends with its group.
                let length = length.min(sample.groups.around(to).end - to);
                (0..length).map(|step| (from + step, to + step)).collect()
            });
            search.best(cell % self.n_outputs, copies.collect())
        })
    }

    /// Copies the gaps of a sample to the neighbors of its random rows. The gap around a missing cell is the largest group of nearest rows most of
    /// which miss it; all outputs that its center misses are held out together.
    pub(super) fn among_neighbors(
        &self,
        sample: &SampleCells,
        neighborhoods: &Neighborhoods,
        times_held_out: &mut [u8],
        generator: &mut ChaCha8Rng,
    ) -> Vec<HeldOutCell> {
        let longest = ((self.n_rows() as f64 * LONGEST) as usize).max(1);
        self.search(sample, times_held_out).run(generator, |search, cell, generator| {
            let (center, output) = (cell / self.n_outputs, cell % self.n_outputs);
            let (mut size, mut n_missing) = (1, 0);
            for (at, place) in neighborhoods.nearest(center, longest).into_iter().enumerate() {
                n_missing += usize::from(!self.is_there[place * self.n_outputs + output]);
                if n_missing as f64 >= DENSE * (at + 1) as f64 {
                    size = at + 1;
                } else if at > 2 * size + 8 {
                    break;
                }
            }
            let copies = (0..PLACES).map(|_| {
                let to = neighborhoods.nearest(below(generator, self.n_rows()), size);
                to.into_iter().map(|place| (center, place)).collect()
            });
            search.best(output, copies.collect())
        })
    }
}

impl Search<'_> {
    /// Draws missing cells and holds out copies of their gaps until there is no room.
    fn run(
        mut self,
        generator: &mut ChaCha8Rng,
        mut place: impl FnMut(&Self, usize, &mut ChaCha8Rng) -> Vec<(usize, usize)>,
    ) -> Vec<HeldOutCell> {
        let n_outputs = self.pattern.n_outputs;
        // Gaps that do not fit any more may leave a fifth of the room.
        let enough: Vec<usize> = self.room.iter().map(|room| room / 5).collect();
        for _ in 0..PATIENCE * self.n_rows {
            if (0..n_outputs).all(|output| self.room[output] <= enough[output]) {
                break;
            }
            let cell = self.pattern.missing[below(generator, self.pattern.missing.len())];
            if self.room[cell % n_outputs] > enough[cell % n_outputs] {
                let pairs = place(&self, cell, generator);
                self.hold_out(&pairs);
            }
        }
        self.cells
    }

    /// The outputs that a copy of the pattern at `from` holds out at `to`.
    fn copied(&self, (from, to): (usize, usize)) -> impl Iterator<Item = usize> + '_ {
        let n_outputs = self.pattern.n_outputs;
        (0..n_outputs).filter(move |output| {
            !self.pattern.is_there[from * n_outputs + output] && self.is_left[to * n_outputs + output]
        })
    }

    /// The copy of a gap that holds out most cells of its output that no other fold holds out.
    fn best(&self, output: usize, copies: Vec<Vec<(usize, usize)>>) -> Vec<(usize, usize)> {
        let n_outputs = self.pattern.n_outputs;
        let value = |pairs: &Vec<(usize, usize)>| {
            let own = pairs.iter().filter(|(_, to)| self.is_left[to * n_outputs + output]).count() as f64;
            let overlap = |&(from, to): &(usize, usize)| -> f64 {
                self.copied((from, to))
                    .map(|output| f64::from(self.times_held_out[to * n_outputs + output]))
                    .sum()
            };
            own - 0.7 * pairs.iter().map(overlap).sum::<f64>()
        };
        let scored = copies.into_iter().map(|pairs| (value(&pairs), pairs));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, pairs)| pairs).unwrap_or_default()
    }

    fn hold_out(&mut self, pairs: &[(usize, usize)]) {
        let n_outputs = self.pattern.n_outputs;
        let n_before = self.cells.len();
        for &pair in pairs {
            let outputs: Vec<usize> = self.copied(pair).collect();
            for output in outputs {
                if self.room[output] == 0 {
                    continue;
                }
                let target = pair.1 * n_outputs + output;
                self.is_left[target] = false;
                self.room[output] -= 1;
                self.times_held_out[target] = self.times_held_out[target].saturating_add(1);
                self.cells.push((pair.1, output, self.n_gaps));
            }
        }
        self.n_gaps += usize::from(self.cells.len() > n_before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    fn pattern(
        n_rows: usize,
        is_missing: impl Fn(usize, usize) -> bool,
    ) -> Option<(GapPattern, SampleCells)> {
        let value = |at: usize| if is_missing(at / 2, at % 2) { f64::NAN } else { at as f64 };
        let values: Vec<f64> = (0..2 * n_rows).map(value).collect();
        let rows: Vec<RowIndex> = (0..n_rows).map(RowIndex::new).collect();
        let outputs = [OutputIndex::new(0), OutputIndex::new(1)];
        let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
        let sample = SampleCells::of(&rows, &outputs, &observations);
        Some((GapPattern::of(&rows, &outputs, &observations, &sample)?, sample))
    }

    fn held_out((pattern, sample): &(GapPattern, SampleCells), n_folds: u64) -> Vec<Vec<HeldOutCell>> {
        let mut times = vec![0; sample.is_there.len()];
        let fold = |number| pattern.along_line(sample, &mut times, &mut ChaCha8Rng::seed_from_u64(number));
        (0..n_folds).map(fold).collect()
    }

    #[test]
    fn gaps_that_outputs_have_together_stay_together_and_keep_their_length() {
        let pattern = pattern(1000, |row, _| row % 100 < 5).unwrap();
        let cells = held_out(&pattern, 1).remove(0);
        let of = |output: usize| -> Vec<usize> {
            let mut places: Vec<usize> =
                cells.iter().filter(|cell| cell.1 == output).map(|cell| cell.0).collect();
            places.sort_unstable();
            places
        };
        assert_eq!(of(0), of(1));
        // At least a tenth of 950 cells less a fifth.
        assert!((76..=95).contains(&of(0).len()), "{}", of(0).len());
        let runs = of(0).chunk_by(|a, b| a + 1 == *b).count();
        assert!((of(0).len() / 12..=of(0).len() / 3).contains(&runs), "{runs}");
    }

    #[test]
    fn a_long_outage_keeps_its_length_and_folds_hold_out_different_cells() {
        let pattern = pattern(1000, |row, output| output == 1 && (300..500).contains(&row)).unwrap();
        let folds = held_out(&pattern, 3);
        for cells in &folds {
            assert!(cells.iter().all(|cell| cell.1 == 1 && cell.2 == 0), "one gap of the second output");
            assert!((150..=200).contains(&cells.len()), "{}", cells.len());
        }
        let mut all: Vec<usize> = folds.iter().flatten().map(|cell| cell.0).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert!(all.len() * 10 >= count * 8, "{} of {count} are different", all.len());
    }

    #[test]
    fn a_sample_without_gaps_has_those_of_the_table_held_out() {
        let (table, _) = pattern(2000, |row, _| (100..300).contains(&row)).unwrap();
        let outputs = [OutputIndex::new(0), OutputIndex::new(1)];
        let values: Vec<f64> = (0..1600).map(f64::from).collect();
        let window = Observations::from_dense(800, 2, &values).unwrap();
        let rows: Vec<RowIndex> = (0..800).map(RowIndex::new).collect();
        let sample = SampleCells::of(&rows, &outputs, &window);
        let cells = held_out(&(table, sample), 1).remove(0);
        // A tenth of 800 rows, in one gap of both outputs.
        assert!(cells.iter().all(|cell| cell.2 == 0), "one gap");
        assert_eq!(cells.iter().filter(|cell| cell.1 == 0).count(), 80);
        assert_eq!(cells.iter().filter(|cell| cell.1 == 1).count(), 80);
    }

    #[test]
    fn few_gaps_have_no_pattern() {
        assert!(pattern(1000, |row, output| output == 0 && row == 7).is_none());
    }
}
