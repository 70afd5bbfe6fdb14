//! Origins inside a table: in each fold a model learns from the rows before a cut and forecasts later rows from many origins.

use super::rolling::{SortedRows, spreads};
use crate::prepare::median_gap_within_groups;
use crate::stack::AheadCells;
use catena::data::Dataset;

/// The fewest rows to learn from, and the fewest to forecast.
const FEWEST_LEARNING: usize = 8;
const FEWEST_TARGETS: usize = 3;
/// Rows to forecast, in reaches, and the shares of the table between which they are.
const REACHES: usize = 4;
const SHARES: (usize, usize) = (4, 2);
/// The most forecast cells of all folds, and the most distances ahead of one origin.
const MOST_CELLS: usize = 8000;
const MOST_LEADS: usize = 24;

/// One fold.
pub(super) struct OriginFold {
    /// The rows before the cut, from which parameters are learned.
    pub(super) training: Dataset,
    /// The last of these rows.
    pub(super) cut: f64,
    /// Pairs of an origin and a later row, by place in the sorted rows.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The observed cells among the targets, by place in `pairs` × outputs, with their values.
    pub(super) cells: Vec<(usize, f64)>,
}

/// The folds of a table.
pub(super) struct Origins {
    pub(super) rows: SortedRows,
    pub(super) folds: Vec<OriginFold>,
    /// All cells, and how they are scored.
    pub(super) scored: AheadCells,
    pub(super) n_origins: usize,
    /// The largest distance ahead that was scored.
    pub(super) reach: f64,
}

impl Origins {
    /// Folds of a table without groups for forecasts up to `reach` ahead; `None` for too few rows.
    pub(super) fn new(table: &Dataset, reach: f64, n_folds: usize) -> Option<Self> {
        let rows = SortedRows::new(table);
        let n_rows = rows.times.len();
        let gap = median_gap_within_groups(table.inputs())?;
        // Rounding must not lose the last row.
        let reach = reach * (1.0 + 1e-9) + 1e-6 * gap;
        let n_ahead = ((reach / gap) as usize).clamp(1, n_rows);
        let (least, most) = (n_rows / SHARES.0, n_rows / SHARES.1);
        let n_targets = (REACHES * n_ahead).clamp(least, most.max(least));
        let first = n_rows.checked_sub(n_targets).filter(|first| *first >= FEWEST_LEARNING)?;
        if n_targets < FEWEST_TARGETS {
            return None;
        }
        let n_folds = n_folds.clamp(1, n_targets / FEWEST_TARGETS);
        let cuts: Vec<usize> = (0..=n_folds).map(|fold| first + fold * n_targets / n_folds).collect();
        // Of many origins and distances ahead some are enough; they are spread evenly, and differ from one origin to the next.
        let every_lead = n_ahead.div_ceil(MOST_LEADS);
        let per_origin = n_ahead.div_ceil(every_lead) * rows.n_outputs;
        let every_origin = (n_targets * per_origin).div_ceil(MOST_CELLS).max(1);
        let mut folds = vec![];
        let (mut sizes, mut cells, mut gaps) = (vec![], vec![], vec![]);
        let (mut n_origins, mut n_pairs, mut longest) = (0, 0, 0.0_f64);
        // Targets of one output within one reach fail together.
        let stretch = n_ahead.min(n_targets / FEWEST_TARGETS).max(1);
        for ends in cuts.windows(2) {
            let mut fold = OriginFold {
                training: table.select_rows(&rows.rows[..ends[0]]).ok()?,
                cut: rows.times[ends[0] - 1],
                pairs: vec![],
                cells: vec![],
            };
            for origin in (ends[0] - 1..ends[1] - 1).step_by(every_origin) {
                n_origins += 1;
                let is_ahead = |target: &usize| rows.times[*target] - rows.times[origin] <= reach;
                let begin = origin + 1 + n_origins % every_lead;
                for target in (begin..n_rows).step_by(every_lead).take_while(is_ahead) {
                    // Rows at the time of the origin are no forecast.
                    if rows.times[target] <= rows.times[origin] {
                        continue;
                    }
                    for output in 0..rows.n_outputs {
                        let value = rows.value(target, output);
                        if value.is_finite() {
                            let place = fold.pairs.len() * rows.n_outputs + output;
                            fold.cells.push((place, value));
                            cells.push((n_pairs * rows.n_outputs + place, value));
                            gaps.push((target - first) / stretch * rows.n_outputs + output);
                        }
                    }
                    longest = longest.max(rows.times[target] - rows.times[origin]);
                    fold.pairs.push((origin, target));
                }
            }
            n_pairs += fold.pairs.len();
            sizes.push(fold.cells.len());
            folds.push(fold);
        }
        if cells.is_empty() {
            return None;
        }
        let scales = spreads(table).into_iter().map(|(_, deviation)| deviation).collect();
        Some(Self {
            rows,
            folds,
            scored: AheadCells { sizes, cells, gaps, scales },
            n_origins,
            reach: longest,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use catena::data::{InputPoints, Observations};

    fn table(n_rows: usize, place: impl Fn(usize) -> f64) -> Dataset {
        let values: Vec<f64> =
            (0..2 * n_rows).map(|at| if at % 7 == 3 { f64::NAN } else { at as f64 }).collect();
        let inputs = InputPoints::from_column((0..n_rows).map(place).collect()).unwrap();
        Dataset::new(inputs, Observations::from_dense(n_rows, 2, &values).unwrap()).unwrap()
    }

    #[test]
    fn targets_are_later_than_their_origins_and_those_than_the_rows_learned_from() {
        for (n_rows, reach) in [(40, 3.0), (144, 12.0), (400, 100.0), (3000, 24.0)] {
            // Rows in reverse order.
            let table = table(n_rows, |row| (n_rows - row) as f64);
            let origins = Origins::new(&table, reach, 3).unwrap();
            assert_eq!(origins.folds.len(), 3);
            let times = &origins.rows.times;
            for fold in &origins.folds {
                let inputs = fold.training.inputs();
                assert!(inputs.rows().all(|row| inputs.point(row)[0] <= fold.cut));
                assert!(fold.training.n_rows() >= n_rows / 2);
                for &(origin, target) in &fold.pairs {
                    let ahead = times[target] - times[origin];
                    assert!(times[origin] >= fold.cut && ahead > 0.0 && ahead <= reach + 1e-3);
                }
                for &(place, value) in &fold.cells {
                    assert_eq!(value, origins.rows.value(fold.pairs[place / 2].1, place % 2));
                }
            }
            let n_cells: usize = origins.scored.sizes.iter().sum();
            assert_eq!(n_cells, origins.scored.cells.len());
            assert_eq!(n_cells, origins.scored.gaps.len());
            assert!(n_cells <= 2 * MOST_CELLS, "{n_cells}");
            assert!((origins.reach - reach.min((n_rows / 2) as f64)).abs() < 0.5 * reach);
        }
    }

    #[test]
    fn tables_of_few_rows_have_no_origins_and_irregular_rows_have_some() {
        assert!(Origins::new(&table(9, |row| row as f64), 1.0, 3).is_none());
        let irregular = Origins::new(&table(60, |row| (row as f64).powf(1.3)), 20.0, 2).unwrap();
        assert!(irregular.folds.iter().all(|fold| !fold.pairs.is_empty()));
    }
}
