//! Stretches of cells given all cells outside: what a stretch hides from its own cells.
//!
//! Cells of a bad stretch confirm each other, so each is left out together with its neighbors. Windows of several widths are left out
//! in a few sweeps: in each, every fourth window of an output, in other places for other outputs. The mean error of a window has
//! at most the standard deviation
//!
//! ```text
//! √((mean of the deviations of the function)² + (sum of noise variances)/n²),
//! ```
//!
//! with equality if the errors of the function are equal. What windows of this width have in this table, in this unit, is their
//! distribution, as for cells.

use catena::data::Dataset;

use super::left_out::{Cells, LeftOut};
use super::ordinary::OrdinaryErrors;
use super::series::Series;
use crate::error::FitError;
use crate::fit::Fit;

/// Widths of windows in cells.
const WIDTHS: [usize; 4] = [3, 9, 27, 81];
/// One in so many windows of an output is left out at a time.
const PHASES: usize = 4;
/// Fewer windows have no distribution.
const FEWEST_WINDOWS: usize = 20;

/// Consecutive cells of an output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    pub(super) output: usize,
    pub(super) cells: Vec<usize>,
}

/// A window with its error in conservative standard deviations.
struct Window {
    stretch: Stretch,
    /// The errors of its cells in standard deviations of each.
    errors: Vec<f64>,
    error: f64,
}

/// The distributions of window errors by output and width, and the windows worth a question.
pub(super) struct Windows {
    /// By output, then by width; `None` for widths with few windows.
    ordinary: Vec<[Option<OrdinaryErrors>; WIDTHS.len()]>,
    /// The probability of each window, with its cells that deviate together.
    pub(super) found: Vec<(f64, Stretch)>,
    pub(super) n_windows: usize,
}

/// The error of the mean of some cells, in conservative standard deviations.
pub(super) fn mean_error(left_out: &LeftOut, errors: &[f64], cells: &[usize]) -> f64 {
    let (mut error, mut function, mut noise) = (0.0, 0.0, 0.0);
    for &cell in cells {
        let variance = left_out.variances[cell];
        error += errors[cell] * variance.sqrt();
        function += (variance - left_out.noise[cell]).max(0.0).sqrt();
        noise += left_out.noise[cell];
    }
    error / (function * function + noise).sqrt()
}

impl Windows {
    /// No windows.
    pub(super) fn none(n_outputs: usize) -> Self {
        Self { ordinary: vec![[None; WIDTHS.len()]; n_outputs], found: vec![], n_windows: 0 }
    }

    /// Leaves out windows of all widths by the model of a fit; cells set aside are in none.
    pub(super) fn of(
        fit: &Fit,
        table: &Dataset,
        (series, aside): (&[Series], &Cells),
        cell_errors: &[OrdinaryErrors],
    ) -> Result<Self, FitError> {
        let mut all = Self::none(cell_errors.len());
        let series: Vec<(usize, Vec<usize>)> =
            series.iter().map(|series| (series.output, series.without(aside))).collect();
        for (number, width) in WIDTHS.into_iter().enumerate() {
            let stretch = |output: usize, cells: &[usize]| Stretch { output, cells: cells.to_vec() };
            let windows: Vec<Stretch> = series
                .iter()
                .flat_map(|(output, cells)| cells.chunks_exact(width).map(|cells| stretch(*output, cells)))
                .collect();
            let mut counts = vec![0; cell_errors.len()];
            windows.iter().for_each(|window| counts[window.output] += 1);
            if counts.iter().all(|count| *count < FEWEST_WINDOWS) {
                break;
            }
            let windows = left_out_windows(fit, table, windows, aside)?;
            for output in (0..cell_errors.len()).filter(|output| counts[*output] >= FEWEST_WINDOWS) {
                let own = || windows.iter().filter(|window| window.stretch.output == output);
                let ordinary = OrdinaryErrors::fitted(own().map(|window| window.error));
                let ordinary = ordinary.unwrap_or(OrdinaryErrors::AS_MODELLED);
                all.ordinary[output][number] = Some(ordinary);
                all.n_windows += counts[output];
                for window in own() {
                    let least = 2.0 * cell_errors[output].scale;
                    let deviating = window.deviating(least);
                    if deviating.len() > 1 {
                        let stretch = Stretch { output, cells: deviating };
                        all.found.push((ordinary.tail(window.error), stretch));
                    }
                }
            }
        }
        Ok(all)
    }

    /// The probability of a mean error of a stretch of so many cells of an output.
    pub(super) fn tail(&self, output: usize, n_cells: usize, error: f64) -> f64 {
        let widths =
            WIDTHS.iter().zip(&self.ordinary[output]).filter_map(|(width, own)| Some((*width, (*own)?)));
        let nearest = widths.min_by_key(|(width, _)| width.abs_diff(n_cells));
        nearest.map_or(1.0, |(_, ordinary)| ordinary.tail(error))
    }
}

impl Window {
    /// The cells that deviate to the side of the mean by more than `least` standard deviations.
    fn deviating(&self, least: f64) -> Vec<usize> {
        let side = self.error.signum();
        let cells = self.stretch.cells.iter().zip(&self.errors);
        cells.filter(|(_, error)| side * **error > least).map(|(cell, _)| *cell).collect()
    }
}

/// Leaves out every window together with others that are far from it.
fn left_out_windows(
    fit: &Fit,
    table: &Dataset,
    windows: Vec<Stretch>,
    aside: &Cells,
) -> Result<Vec<Window>, FitError> {
    let mut number_of_output = vec![0; fit.parts().model.n_outputs()];
    let phases: Vec<usize> = windows
        .iter()
        .map(|window| {
            let number = &mut number_of_output[window.output];
            *number += 1;
            (*number + window.output) % PHASES
        })
        .collect();
    let mut found: Vec<Option<Window>> = windows.iter().map(|_| None).collect();
    for phase in 0..PHASES {
        let own = || windows.iter().enumerate().filter(|(at, _)| phases[*at] == phase);
        let mut out = aside.clone();
        own().for_each(|(_, window)| out.extend(&window.cells));
        let left_out = LeftOut::given(fit, table, &out)?;
        let errors = left_out.errors(fit, table)?;
        for (at, window) in own() {
            let own = window.cells.iter().map(|cell| errors[*cell]).collect();
            let error = mean_error(&left_out, &errors, &window.cells);
            found[at] = Some(Window { stretch: window.clone(), errors: own, error });
        }
    }
    Ok(found.into_iter().flatten().collect())
}
