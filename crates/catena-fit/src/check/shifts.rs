//! Steps and drifts of one output against all others.
//!
//! An output is predicted from the cells of the other outputs alone. The means of its errors over equal numbers of consecutive cells
//! are compared with a constant, two constants, and a line. Successive means depend on each other where outputs are related
//! differently over the seasons; then a step or slope is less certain.

use catena::data::Dataset;

use super::left_out::{Cells, LeftOut};
use super::series::Series;
use crate::error::FitError;
use crate::fit::Fit;
use crate::student::two_sided_tail;

/// The number of means, at most and at least.
const MOST_BLOCKS: usize = 24;
const FEWEST_BLOCKS: usize = 12;
/// The fewest cells of a mean.
const FEWEST_CELLS: usize = 5;
/// Means before and after a step, at least.
const FEWEST_BESIDE: usize = 3;
/// A step or a drift explains at least this share of the variance of the means.
const LEAST_SHARE: f64 = 0.8;
/// Cells on each side of a step that it explains.
const NEAR: usize = 4;
/// More outputs are not compared with each other.
const MOST_OUTPUTS: usize = 64;

/// How an output moves against the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Step,
    Drift,
}

/// An output that moves against the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shift {
    pub(super) shape: Shape,
    pub(super) output: usize,
    /// The cells after a step, or all cells of a drift.
    pub(super) cells: Vec<usize>,
    /// The cells close to a step, which contradict those on its other side.
    pub(super) near: Cells,
    /// The step or slope in its standard errors.
    pub(super) error: f64,
    pub(super) tail: f64,
}

/// The shifts of all series, and the number of questions asked.
pub(super) fn shifts(
    fit: &Fit,
    table: &Dataset,
    series: &[Series],
    aside: &Cells,
) -> Result<(Vec<Shift>, usize), FitError> {
    let n_outputs = fit.parts().model.n_outputs();
    if !(2..=MOST_OUTPUTS).contains(&n_outputs) {
        return Ok((vec![], 0));
    }
    let (mut found, mut n_tests) = (vec![], 0);
    for output in 0..n_outputs {
        let long =
            |series: &&Series| series.output == output && series.cells.len() >= FEWEST_BLOCKS * FEWEST_CELLS;
        if !series.iter().any(|series| long(&series)) {
            continue;
        }
        let mut out = aside.clone();
        series.iter().filter(|series| series.output == output).for_each(|series| out.extend(&series.cells));
        let left_out = LeftOut::given(fit, table, &out)?;
        let errors = left_out.errors(fit, table)?;
        for series in series.iter().filter(long) {
            let cells = series.without(aside);
            let values: Vec<f64> =
                cells.iter().map(|cell| errors[*cell] * left_out.variances[*cell].sqrt()).collect();
            n_tests += 2;
            let Some((shape, begin, error, tail)) = shift_of(&values) else { continue };
            let near = match shape {
                Shape::Step => begin.saturating_sub(NEAR)..(begin + NEAR).min(cells.len()),
                Shape::Drift => 0..0,
            };
            // Those that were set aside are among them.
            let place = |cell: usize| series.cells.iter().position(|own| *own == cell);
            let ends = (cells.get(near.start).copied(), cells.get(near.end.saturating_sub(1)).copied());
            let near = match (ends.0.and_then(place), ends.1.and_then(place)) {
                (Some(first), Some(last)) if !near.is_empty() => {
                    series.cells[first..=last].iter().copied().collect()
                }
                _ => Cells::new(),
            };
            found.push(Shift { shape, output, cells: cells[begin..].to_vec(), near, error, tail });
        }
    }
    Ok((found, n_tests))
}

/// The shape that explains a series best, where it begins, its size in standard errors, and the probability of one as large.
fn shift_of(values: &[f64]) -> Option<(Shape, usize, f64, f64)> {
    let n_blocks = (values.len() / FEWEST_CELLS).min(MOST_BLOCKS);
    if n_blocks < FEWEST_BLOCKS {
        return None;
    }
    let begin = |block: usize| block * values.len() / n_blocks;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let blocks: Vec<f64> = (0..n_blocks).map(|block| mean(&values[begin(block)..begin(block + 1)])).collect();
    let center = mean(&blocks);
    let total: f64 = blocks.iter().map(|block| (block - center).powi(2)).sum();
    let mut best: Option<(f64, Shape, usize)> = None;
    let sides = |split: usize| (mean(&blocks[..split]), mean(&blocks[split..]));
    for split in FEWEST_BESIDE..=n_blocks - FEWEST_BESIDE {
        let (left, right) = sides(split);
        let explained =
            split as f64 * (left - center).powi(2) + (n_blocks - split) as f64 * (right - center).powi(2);
        if best.is_none_or(|(most, ..)| explained > most) {
            best = Some((explained, Shape::Step, split));
        }
    }
    let place = |block: usize| block as f64 - 0.5 * (n_blocks - 1) as f64;
    let squares: f64 = (0..n_blocks).map(|block| place(block).powi(2)).sum();
    let slope = blocks.iter().enumerate().map(|(at, block)| place(at) * block).sum::<f64>() / squares;
    let of_line = slope * slope * squares;
    if best.is_none_or(|(most, ..)| of_line > most) {
        best = Some((of_line, Shape::Drift, 0));
    }
    let (explained, shape, split) = best?;
    if !(explained >= LEAST_SHARE * total && total > 0.0) {
        return None;
    }
    let residual = |at: usize| match shape {
        Shape::Step => blocks[at] - if at < split { sides(split).0 } else { sides(split).1 },
        Shape::Drift => blocks[at] - center - slope * place(at),
    };
    let residuals: Vec<f64> = (0..n_blocks).map(residual).collect();
    let of_residuals: f64 = residuals.iter().map(|one| one * one).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = if of_residuals > 0.0 { (products / of_residuals).clamp(0.0, 0.95) } else { 0.0 };
    // The variance of a mean of dependent numbers is larger by this factor.
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let degrees = (n_blocks - 4) as f64;
    let size = (explained * degrees / (of_residuals * inflation)).sqrt();
    // The best of all splits.
    let tail = (two_sided_tail(size, degrees) * n_blocks as f64).min(1.0);
    let side = match shape {
        Shape::Step => (sides(split).1 - sides(split).0).signum(),
        Shape::Drift => slope.signum(),
    };
    let first = match shape {
        Shape::Step => change(values, begin(split - 1), begin((split + 1).min(n_blocks))),
        Shape::Drift => 0,
    };
    Some((shape, first, side * size, tail))
}

/// The place between two others at which two constants explain a series best.
fn change(values: &[f64], low: usize, high: usize) -> usize {
    let total: f64 = values.iter().sum();
    let n = values.len() as f64;
    let mut left: f64 = values[..low].iter().sum();
    let mut best = (f64::NEG_INFINITY, low);
    for at in low.max(1)..high.min(values.len()) {
        left += if at > low { values[at - 1] } else { 0.0 };
        let n_left = at as f64;
        let explained = left * left / n_left + (total - left) * (total - left) / (n - n_left);
        if explained > best.0 {
            best = (explained, at);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(at: usize) -> f64 {
        let mut bits = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn found(value: impl Fn(usize) -> f64) -> Option<(Shape, usize, f64, f64)> {
        shift_of(&(0..480).map(value).collect::<Vec<_>>()).filter(|shift| shift.3 < 1e-4)
    }

    #[test]
    fn steps_and_drifts_are_told_apart_and_waves_are_neither() {
        let step = found(|at| noise(at) + if at < 203 { 0.0 } else { -2.0 });
        assert!(step.is_some_and(|(shape, first, error, _)| {
            shape == Shape::Step && first.abs_diff(203) < 3 && error < 0.0
        }));
        let drift = found(|at| noise(at) + 0.01 * at as f64);
        assert!(
            drift.is_some_and(|(shape, first, error, _)| shape == Shape::Drift && first == 0 && error > 0.0)
        );
        assert_eq!(found(noise), None);
        for period in [480.0, 240.0, 960.0] {
            assert_eq!(
                found(|at| 0.2 * noise(at) + (std::f64::consts::TAU * at as f64 / period).sin()),
                None
            );
        }
    }

    #[test]
    fn short_series_have_no_shift() {
        assert_eq!(shift_of(&[0.0; 59]), None);
        assert_eq!(shift_of(&[1.0; 100]), None);
    }
}
