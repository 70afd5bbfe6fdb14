//! The search: judge all cells, set aside what is found, and learn again until nothing changes.

use std::collections::BTreeSet;
use std::time::Duration;

use catena::data::Dataset;
use catena::index::{OutputIndex, RowIndex};

use super::discovery::threshold;
use super::finding::{BAND, Finding, FindingKind};
use super::left_out::{Cells, LeftOut, check_method, without};
use super::ordinary::OrdinaryErrors;
use super::series::{Series, far_from_neighbors, series_of};
use super::shifts::{Shape, Shift, shifts};
use super::stretches::{Stretch, Windows, mean_error};
use super::stuck::{EqualValues, equal_values};
use crate::error::FitError;
use crate::fit::{Fit, FitParts, fit};
use crate::monitor::FitMonitor;
use crate::normal::quantile;
use crate::options::{Budget, CombineChoice, FitOptions, MethodChoice};
use crate::prepare::Predictive;

/// Fits with the requested budget, at most.
const MOST_FITS: usize = 3;
/// Judgements of all cells by one model, and searches for stretches among them.
const MOST_JUDGEMENTS: usize = 12;
const SEARCHES: usize = 3;
/// Of consecutive cells found alone, this many are a stretch.
const STRETCH: usize = 3;
/// So many cells that are found at most so far from each other are a cluster, which is judged with so many cells on each side.
const CLUSTER: usize = 3;
const CLUSTER_GAP: usize = 5;
const CLUSTER_MARGIN: usize = 3;
/// The smallest noise variance, in variances of the output, under which left-out cells have digits enough.
const NOISE_FLOOR: f64 = 1e-5;

/// A table whose cells were checked.
#[derive(Debug)]
pub struct Checked {
    /// The model that judged, learned without the cells that are set aside.
    pub fit: Fit,
    /// The findings, by output and in the order of rows along the input.
    pub findings: Vec<Finding>,
    /// The number of cells, stretches, runs and outputs that were judged.
    pub n_questions: usize,
    /// Predictive distributions of every cell given all other cells that are not set aside, as wide as errors in this table are.
    pub left_out: Predictive,
    /// Whether the search ended because nothing changed.
    pub is_settled: bool,
}

impl Checked {
    /// A table without the cells that are set aside: those of spikes and stretches, and the repetitions of stuck sensors.
    ///
    /// # Errors
    /// When the table is not the one that was checked.
    pub fn cleaned(&self, table: &Dataset) -> Result<Dataset, FitError> {
        without(table, &self.set_aside())
    }

    /// Row-major places of the cells that are set aside.
    pub fn set_aside(&self) -> BTreeSet<usize> {
        let n_outputs = self.left_out.n_outputs();
        let aside = self.findings.iter().filter(|finding| finding.kind.is_set_aside());
        let cells = aside.flat_map(|finding| {
            let first = usize::from(finding.kind == FindingKind::Stuck);
            finding.rows.iter().skip(first).map(|row| row.get() * n_outputs + finding.output.get())
        });
        cells.collect()
    }
}

/// Checks every observed cell of a table against all others. The model is that of [`fit`] with these options, but single and by
/// message passing unless the method is exact, and learned without the cells that are found.
///
/// # Errors
/// As [`fit`], and when the method is an approximation or the structure an ensemble.
pub fn check(table: &Dataset, options: &FitOptions, monitor: &FitMonitor<'_>) -> Result<Checked, FitError> {
    check_method(options.method, options.structure)?;
    if options.may_have_likelihoods(table.observations().n_outputs())? {
        let what = "is not checked cell by cell yet; leave --likelihood out";
        return Err(FitError::WithLikelihood { what });
    }
    let noise_floor = options.noise_floor.max(NOISE_FLOOR);
    let mut options = FitOptions { combine: CombineChoice::None, noise_floor, ..options.clone() };
    if options.method == MethodChoice::Auto {
        options.method = MethodChoice::Catena;
    }
    // One fit finds what the others learn without.
    let share = |limit: Duration| limit / (1 + MOST_FITS as u32);
    options.time_limit = options.time_limit.map(share);
    let search = Search::new(table);
    let mut found = search.begin();
    if options.has_parameters() {
        let model = fit(&without(table, &found.aside())?, &options, monitor)?;
        let (found, is_settled) = search.judged(&model, found)?;
        return search.finished(model, &found, is_settled);
    }
    let first = FitOptions { budget: Budget::Quick, ..options.clone() };
    let mut model = fit(&without(table, &found.aside())?, &first, monitor)?;
    (found, _) = search.judged(&model, found)?;
    for number in 0..MOST_FITS {
        model = fit(&without(table, &found.aside())?, &options, monitor)?;
        let (next, is_settled) = search.judged(&model, found.clone())?;
        let is_same = next.aside() == found.aside();
        found = next;
        if is_same || number + 1 == MOST_FITS {
            return search.finished(model, &found, is_same && is_settled);
        }
    }
    Err(FitError::NoStart)
}

/// Fits a table without the cells that [`check`] finds; the summary says how many. The model is chosen as [`fit`] does, and the fit has
/// the table without these cells.
///
/// # Errors
/// As [`check`].
pub fn fit_cleaned(
    table: &Dataset,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<(Fit, Checked), FitError> {
    let checked = check(table, options, monitor)?;
    let mut fitted = fit(&checked.cleaned(table)?, options, monitor)?;
    let n_cells = checked.set_aside().len();
    let decision = match n_cells {
        0 => "no bad readings were found".to_owned(),
        1 => "1 bad reading is treated as missing; catena check lists it".to_owned(),
        _ => format!("{n_cells} bad readings are treated as missing; catena check lists them"),
    };
    fitted.parts.summary.decisions.push(decision);
    Ok((fitted, checked))
}

impl Fit {
    /// Checks the table of the fit by its own model, which was learned with all cells: quicker than [`check`], but a model that has
    /// learned from many bad cells finds fewer of them. Of a pool it is the single model.
    ///
    /// # Errors
    /// When the method is an approximation or the structure an ensemble, or numbers overflow.
    pub fn check(&self) -> Result<Checked, FitError> {
        let FitParts { table, method, structure, .. } = self.parts();
        check_method(*method, *structure)?;
        let search = Search::new(table);
        let (found, is_settled) = search.judged(self, search.begin())?;
        let cleaned = without(table, &found.aside())?;
        let parts = FitParts { table: cleaned, combination: None, ..self.parts().clone() };
        search.finished(Self::from_parts(parts)?, &found, is_settled)
    }
}

/// What is asked of a table whatever the model is.
struct Search<'a> {
    table: &'a Dataset,
    series: Vec<Series>,
    equal_values: Vec<EqualValues>,
    n_outputs: usize,
}

/// What was found so far.
#[derive(Clone)]
struct Found {
    cells: Cells,
    stretches: Vec<Stretch>,
    stuck: Vec<EqualValues>,
}

impl Found {
    /// Cells that the model is learned without.
    fn aside(&self) -> Cells {
        let of_stretches = self.stretches.iter().flat_map(|stretch| &stretch.cells);
        let of_stuck = self.stuck.iter().flat_map(|run| run.cells.iter().skip(1));
        self.cells.iter().chain(of_stretches).chain(of_stuck).copied().collect()
    }
}

/// One judgement of all cells.
struct Judgement {
    left_out: LeftOut,
    errors: Vec<f64>,
    ordinary: Vec<OrdinaryErrors>,
}

impl Judgement {
    fn tail(&self, cell: usize) -> f64 {
        self.ordinary[cell % self.ordinary.len()].tail(self.errors[cell])
    }
}

impl<'a> Search<'a> {
    fn new(table: &'a Dataset) -> Self {
        let n_outputs = table.observations().n_outputs();
        let values = table.observations().to_dense();
        let series = series_of(table);
        let equal_values = equal_values(&series, |cell| values[cell], n_outputs);
        Self { table, series, equal_values, n_outputs }
    }

    /// What is found without a model: runs of equal values, and cells far from the neighbors in their series.
    fn begin(&self) -> Found {
        let mut tails: Vec<f64> = self.equal_values.iter().map(|run| run.tail).collect();
        let n_tests = tails.len();
        let bound = threshold(&mut tails, n_tests);
        let stuck = self.equal_values.iter().filter(|run| run.tail <= bound).cloned().collect();
        let values = self.table.observations().to_dense();
        let cells = (0..self.n_outputs).flat_map(|output| {
            let own = self.series.iter().filter(|series| series.output == output);
            far_from_neighbors(own, |cell| values[cell])
        });
        Found { cells: cells.collect(), stretches: vec![], stuck }
    }

    /// All cells by a model, given those that are not set aside.
    fn judgement(&self, fit: &Fit, aside: &Cells) -> Result<Judgement, FitError> {
        let left_out = LeftOut::given(fit, self.table, aside)?;
        let errors = left_out.errors(fit, self.table)?;
        let of_output = |output: usize| errors.iter().copied().skip(output).step_by(self.n_outputs);
        let ordinary =
            |output| OrdinaryErrors::fitted(of_output(output)).unwrap_or(OrdinaryErrors::AS_MODELLED);
        let ordinary = (0..self.n_outputs).map(ordinary).collect();
        Ok(Judgement { left_out, errors, ordinary })
    }

    /// The cells with those among and beside clusters of them. The ends of a bad stretch and the good cells beside it contradict each
    /// other; left out together, only the bad ones contradict the rest.
    fn with_clusters(&self, aside: Cells) -> Cells {
        let mut wider = aside.clone();
        for Series { cells, .. } in &self.series {
            let found: Vec<usize> = (0..cells.len()).filter(|at| aside.contains(&cells[*at])).collect();
            for cluster in found.chunk_by(|a, b| b - a <= CLUSTER_GAP).filter(|own| own.len() >= CLUSTER) {
                let first = cluster[0].saturating_sub(CLUSTER_MARGIN);
                let last = (cluster[cluster.len() - 1] + CLUSTER_MARGIN + 1).min(cells.len());
                wider.extend(&cells[first..last]);
            }
        }
        wider
    }

    /// What a model finds, beginning with what was found; also whether nothing changed at the end.
    fn judged(&self, fit: &Fit, mut found: Found) -> Result<(Found, bool), FitError> {
        let mut windows = Windows::none(self.n_outputs);
        let mut is_settled = true;
        for search in 0..=SEARCHES {
            let mut judgement = self.judgement(fit, &self.with_clusters(found.aside()))?;
            is_settled = false;
            for _ in 0..MOST_JUDGEMENTS {
                let next = self.decided(&judgement, &windows, &found);
                is_settled = next.aside() == found.aside();
                found = next;
                if is_settled {
                    break;
                }
                judgement = self.judgement(fit, &self.with_clusters(found.aside()))?;
            }
            if search == SEARCHES || self.series.is_empty() {
                break;
            }
            let aside = found.aside();
            windows = Windows::of(fit, self.table, (&self.series, &aside), &judgement.ordinary)?;
            let mut tails: Vec<f64> = windows.found.iter().map(|(tail, _)| *tail).collect();
            let bound = threshold(&mut tails, windows.n_windows);
            let new = windows.found.iter().filter(|(tail, _)| *tail <= bound).map(|(_, stretch)| stretch);
            let new: Vec<Stretch> = new.cloned().collect();
            if new.is_empty() {
                break;
            }
            // Stretches of several widths may share cells.
            for stretch in new {
                let cells: Vec<usize> =
                    stretch.cells.into_iter().filter(|cell| !found.aside().contains(cell)).collect();
                if cells.len() > 1 {
                    found.stretches.push(Stretch { cells, ..stretch });
                }
            }
        }
        Ok((found, is_settled))
    }

    /// Which cells, stretches and runs are findings by a judgement.
    fn decided(&self, judgement: &Judgement, windows: &Windows, found: &Found) -> Found {
        let stuck: Cells = found.stuck.iter().flat_map(|run| run.cells.iter().skip(1)).copied().collect();
        let cells: Vec<(usize, f64)> = (0..judgement.errors.len())
            .filter(|cell| !judgement.errors[*cell].is_nan() && !stuck.contains(cell))
            .map(|cell| (cell, judgement.tail(cell)))
            .collect();
        let tail = |stretch: &Stretch| {
            let error = mean_error(&judgement.left_out, &judgement.errors, &stretch.cells);
            windows.tail(stretch.output, stretch.cells.len(), error)
        };
        let stretches: Vec<(&Stretch, f64)> =
            found.stretches.iter().map(|stretch| (stretch, tail(stretch))).collect();
        let mut tails: Vec<f64> =
            cells.iter().map(|(_, tail)| *tail).chain(stretches.iter().map(|(_, tail)| *tail)).collect();
        let n_tests = tails.len() + windows.n_windows;
        let bound = threshold(&mut tails, n_tests);
        Found {
            cells: cells.into_iter().filter(|(_, tail)| *tail <= bound).map(|(cell, _)| cell).collect(),
            stretches: stretches
                .into_iter()
                .filter(|(_, tail)| *tail <= bound)
                .map(|(stretch, _)| stretch.clone())
                .collect(),
            stuck: found.stuck.clone(),
        }
    }

    /// The findings in the user's units.
    fn finished(&self, fit: Fit, found: &Found, is_settled: bool) -> Result<Checked, FitError> {
        let aside = found.aside();
        let judgement = self.judgement(&fit, &aside)?;
        let normal = quantile(0.5 + 0.5 * BAND);
        let factors: Vec<f64> =
            judgement.ordinary.iter().map(|ordinary| ordinary.half_width(BAND) / normal).collect();
        let left_out = judgement.left_out.predictive(&fit, self.table, &factors)?;
        let values = self.table.observations().to_dense();
        let (shifts, n_shifts) = shifts(&fit, self.table, &self.series, &aside)?;
        let n_cells = self.table.observations().n_observed();
        let n_questions = n_cells + self.equal_values.len() + n_shifts;
        let mut tails: Vec<f64> = shifts.iter().map(|shift| shift.tail).collect();
        let bound = threshold(&mut tails, n_shifts);
        let finding = |kind: FindingKind, cells: &[usize], (deviation, p_value): (f64, f64)| {
            let mean = |number: &dyn Fn(usize) -> f64| {
                cells.iter().map(|cell| number(*cell)).sum::<f64>() / cells.len() as f64
            };
            Finding {
                kind,
                output: OutputIndex::new(cells.first().map_or(0, |cell| cell % self.n_outputs)),
                rows: cells.iter().map(|cell| RowIndex::new(cell / self.n_outputs)).collect(),
                value: mean(&|cell| values[cell]),
                expected: mean(&|cell| left_out.mean(cell)),
                lower: mean(&|cell| left_out.quantile(cell, 0.5 - 0.5 * BAND)),
                upper: mean(&|cell| left_out.quantile(cell, 0.5 + 0.5 * BAND)),
                deviation,
                p_value,
            }
        };
        let mean_of = |cells: &[usize]| mean_error(&judgement.left_out, &judgement.errors, cells);
        let mut findings: Vec<Finding> = found
            .stuck
            .iter()
            .map(|run| finding(FindingKind::Stuck, &run.cells, (mean_of(&run.cells[1..]), run.tail)))
            .collect();
        let near_steps: Cells = shifts
            .iter()
            .filter(|shift| shift.tail <= bound)
            .flat_map(|shift| &shift.near)
            .copied()
            .collect();
        for cells in self.grouped(found) {
            if cells.iter().all(|cell| near_steps.contains(cell)) {
                continue;
            }
            let kind = if cells.len() < STRETCH { FindingKind::Spike } else { FindingKind::Stretch };
            let tail = cells.iter().map(|cell| judgement.tail(*cell)).fold(1.0, f64::min);
            if kind == FindingKind::Spike {
                for cell in cells {
                    let how = (judgement.errors[cell], judgement.tail(cell));
                    findings.push(finding(kind, &[cell], how));
                }
            } else {
                findings.push(finding(kind, &cells, (mean_of(&cells), tail)));
            }
        }
        for Shift { shape, cells, error, tail, .. } in shifts.into_iter().filter(|shift| shift.tail <= bound)
        {
            let kind = match shape {
                Shape::Step => FindingKind::Step,
                Shape::Drift => FindingKind::Drift,
            };
            findings.push(finding(kind, &cells, (error, tail)));
        }
        let place = |finding: &Finding| {
            let row = finding.rows.first().map_or(0, |row| row.get());
            let place = self.table.inputs().point(RowIndex::new(row)).first().copied().unwrap_or(0.0);
            (place, row, finding.output.get())
        };
        findings.sort_by(|a, b| {
            let (a, b) = (place(a), place(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        Ok(Checked { fit, findings, n_questions, left_out, is_settled })
    }

    /// The cells found alone and in stretches, joined where they are consecutive in their series.
    fn grouped(&self, found: &Found) -> Vec<Vec<usize>> {
        let stuck: Cells = found.stuck.iter().flat_map(|run| run.cells.iter()).copied().collect();
        let in_stretch: Cells = found.stretches.iter().flat_map(|stretch| &stretch.cells).copied().collect();
        let is_found =
            |cell: &usize| (found.cells.contains(cell) || in_stretch.contains(cell)) && !stuck.contains(cell);
        if self.series.is_empty() {
            return found.cells.iter().map(|cell| vec![*cell]).collect();
        }
        let runs = self.series.iter().flat_map(|series| {
            series.cells.chunk_by(|a, b| is_found(a) == is_found(b)).filter(|run| is_found(&run[0]))
        });
        runs.map(<[usize]>::to_vec).collect()
    }
}
