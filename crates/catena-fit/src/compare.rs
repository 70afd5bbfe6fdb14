//! Compares methods, structures and simple rules with the answer of a fit, on held-out cells of its table.

use std::collections::HashSet;
use std::time::Instant;

use catena::data::Dataset;
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::error::FitError;
use crate::fit::{Fit, FitComparison, FitParts, fit, fit_compared};
use crate::folds::{HeldOutFolds, SimpleRule};
use crate::methods::Quantity;
use crate::monitor::FitMonitor;
use crate::options::{CombineChoice, FitOptions, MethodChoice, StructureOption};
use crate::prepare::Predictive;
use crate::scores::HeldOutScores;

/// Every output keeps at least this many observed cells.
const FEWEST_LEFT: usize = 4;
/// Smaller tables are not compared on.
const FEWEST_CELLS: usize = 20;
/// Larger tables take the dense and neighbor methods minutes.
const MOST_CELLS_DENSE: usize = 4000;
const MOST_CELLS_SPARSE: usize = 20_000;

/// One block of consecutive cells of every output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeldOutBlock {
    /// A number of observed cells.
    Rows(usize),
    /// A length along the only input.
    Length(f64),
}

/// A method with its scores, or the reason why it did not run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The name.
    pub name: String,
    /// The scores.
    pub outcome: Result<ComparedScores, String>,
}

/// The scores of a method.
#[derive(Clone, Debug)]
pub struct ComparedScores {
    /// The scores on held-out cells.
    pub scores: HeldOutScores,
    /// By how many nats per cell the log score is above that of the answer of the fit, and the standard error, which is infinite for
    /// a single gap; `None` for that answer itself.
    pub difference: Option<(f64, f64)>,
    /// Seconds of learning and of predicting.
    pub seconds: (f64, f64),
}

/// Methods on the held-out cells of one table.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The cells.
    pub folds: HeldOutFolds,
    /// Warnings about the fit.
    pub warnings: Vec<String>,
    /// The methods, the smallest error first; those that did not run are last.
    pub methods: Vec<Compared>,
}

/// Compares methods on held-out cells of a table along which `block` is held out, or by default copies of its own gaps; `None` if the
/// table has too few cells.
///
/// # Errors
/// When the fit fails, or a block is asked for without a single input.
pub fn compare(
    table: &Dataset,
    options: &FitOptions,
    block: Option<HeldOutBlock>,
    monitor: &FitMonitor<'_>,
) -> Result<Option<Comparison>, FitError> {
    if table.inputs().groups().is_some() && block.is_some() {
        let what = "cannot be compared on with a block; leave the block out";
        return Err(FitError::Groups { what });
    }
    if options.may_have_likelihoods(table.observations().n_outputs())? {
        let what = "is not compared with other methods yet; leave --likelihood out";
        return Err(FitError::WithLikelihood { what });
    }
    if table.observations().n_observed() < FEWEST_CELLS {
        return Ok(None);
    }
    let trials = match block {
        None if options.parameters.is_none() && options.time.is_none() => {
            Trials::of_fit(table, options, monitor)?
        }
        None => Trials::by_fold(HeldOutFolds::with_gaps_of(table, options.seed)?, options, monitor)?,
        Some(block) => match block_cells(table, block, options.seed) {
            cells if cells.is_empty() => None,
            cells => Trials::by_fold(HeldOutFolds::of_cells(table, cells)?, options, monitor)?,
        },
    };
    Ok(trials.map(Trials::finish))
}

/// Row-major indices and values of a block of each output; empty without cells.
fn block_cells(table: &Dataset, block: HeldOutBlock, seed: u64) -> Vec<(usize, f64)> {
    let (n_outputs, values) = (table.observations().n_outputs(), table.observations().to_dense());
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut below = |bound: usize| (generator.next_u64() % bound.max(1) as u64) as usize;
    let along = table.inputs().values();
    let mut order: Vec<usize> = (0..table.n_rows()).collect();
    order.sort_by(|a, b| along[*a].total_cmp(&along[*b]));
    let mut held_out = vec![];
    for output in 0..n_outputs {
        let places = order.iter().map(|row| row * n_outputs + output);
        let cells: Vec<usize> = places.filter(|at| !values[*at].is_nan()).collect();
        let most = cells.len().saturating_sub(FEWEST_LEFT);
        let (begin, count) = match block {
            HeldOutBlock::Rows(rows) => {
                let count = rows.min(most);
                (below(cells.len() - count + 1), count)
            }
            HeldOutBlock::Length(length) => {
                let place = |at: usize| along[at / n_outputs];
                let begin = below(cells.len());
                let inside =
                    cells[begin..].iter().take_while(|at| place(**at) < place(cells[begin]) + length);
                (begin, inside.count().min(most))
            }
        };
        held_out.extend_from_slice(&cells[begin..begin + count]);
    }
    held_out.sort_unstable();
    held_out.into_iter().map(|at| (at, values[at])).collect()
}

/// A method with its scores and the seconds of learning and of predicting, or the reason why it did not run.
struct Trial {
    name: String,
    outcome: Result<(HeldOutScores, f64, f64), String>,
}

/// Trials on the same cells.
struct Trials<'a> {
    folds: HeldOutFolds,
    /// The training cells of each fold.
    training: Vec<Dataset>,
    /// The best single model on each fold.
    singles: Vec<FitParts>,
    options: &'a FitOptions,
    monitor: &'a FitMonitor<'a>,
    warnings: Vec<String>,
    /// The answer of the fit first.
    rows: Vec<Trial>,
}

fn rows_of(parts: FitParts) -> Result<Predictive, FitError> {
    Fit::from_parts(parts)?.predict_rows(Quantity::Observation)
}

impl<'a> Trials<'a> {
    /// A fit with the held-out cells on which it was chosen; `None` if there are too few cells.
    fn of_fit(
        table: &Dataset,
        options: &'a FitOptions,
        monitor: &'a FitMonitor<'a>,
    ) -> Result<Option<Self>, FitError> {
        let begin = Instant::now();
        let (fit, compared) = fit_compared(table, options, monitor)?;
        let learn = begin.elapsed().as_secs_f64();
        let warnings = fit.summary().warnings.clone();
        let Some(compared) = compared else { return Ok(None) };
        let singles = compared.single_models(&fit)?;
        let FitComparison { folds, scores, .. } = compared;
        // Simple rules are scored below, where they are timed.
        let is_rule = |name: &str| SimpleRule::ALL.iter().any(|rule| rule.name() == name);
        let mut rows = vec![];
        for (name, scores) in scores.into_iter().filter(|(name, _)| !is_rule(name)) {
            let begin = Instant::now();
            if rows.is_empty() {
                fit.predict_rows(Quantity::Observation)?;
            } else {
                rows_of(FitParts { combination: None, ..fit.parts().clone() })?;
            }
            rows.push(Trial { name, outcome: Ok((scores, learn, begin.elapsed().as_secs_f64())) });
        }
        let training = folds.training()?;
        Ok(Some(Self { folds, training, singles, options, monitor, warnings, rows }))
    }

    /// A fit to the training cells of each fold; `None` without folds.
    fn by_fold(
        folds: HeldOutFolds,
        options: &'a FitOptions,
        monitor: &'a FitMonitor<'a>,
    ) -> Result<Option<Self>, FitError> {
        let training = folds.training()?;
        let begin = Instant::now();
        let fits: Result<Vec<Fit>, FitError> =
            training.iter().map(|table| fit(table, options, monitor)).collect();
        let (fits, learn) = (fits?, begin.elapsed().as_secs_f64());
        let Some(first) = fits.first() else { return Ok(None) };
        let warnings = first.summary().warnings.clone();
        let (is_pool, method) =
            (fits.iter().any(|fit| !fit.summary().members.is_empty()), first.parts().method);
        // The combination of a single model is the factor on its standard deviations.
        let alone = |fit: &Fit| match fit.summary().members.is_empty() {
            true => fit.parts().clone(),
            false => FitParts { combination: None, ..fit.parts().clone() },
        };
        let singles: Vec<FitParts> = fits.iter().map(alone).collect();
        let mut found = Self { folds, training, singles, options, monitor, warnings, rows: vec![] };
        let single = if method.is_message_passing() { "catena".to_owned() } else { method.to_string() };
        let name = if is_pool { "pool".to_owned() } else { single };
        found.score(&name, learn, &|fold| fits[fold].predict_rows(Quantity::Observation));
        if is_pool {
            let singles = found.singles.clone();
            found.score("best single model", learn, &|fold| rows_of(singles[fold].clone()));
        }
        Ok(Some(found))
    }

    /// Adds the scores of predictions by fold.
    fn score(&mut self, name: &str, learn: f64, predict: &dyn Fn(usize) -> Result<Predictive, FitError>) {
        let begin = Instant::now();
        let predictions: Result<Vec<Predictive>, FitError> = (0..self.training.len()).map(predict).collect();
        let outcome = predictions.map_err(|error| error.to_string()).and_then(|predictions| {
            let scores = self.folds.scores(&predictions).ok_or_else(|| "no held-out cells".to_owned())?;
            Ok((scores, learn, begin.elapsed().as_secs_f64()))
        });
        self.rows.push(Trial { name: name.to_owned(), outcome });
    }

    /// Adds the scores of fits to the training cells of each fold.
    fn score_learned(&mut self, name: impl Fn(&[Fit]) -> String, options: &FitOptions) {
        let begin = Instant::now();
        let fits: Result<Vec<Fit>, FitError> =
            self.training.iter().map(|table| fit(table, options, self.monitor)).collect();
        let learn = begin.elapsed().as_secs_f64();
        match fits {
            Ok(fits) => {
                self.score(&name(&fits), learn, &|fold| fits[fold].predict_rows(Quantity::Observation));
            }
            Err(error) => self.rows.push(Trial { name: name(&[]), outcome: Err(error.to_string()) }),
        }
    }

    /// Adds another method or structure with the parameters of the best single model.
    fn score_with(&mut self, name: &str, method: MethodChoice, structure: StructureOption) {
        let singles = std::mem::take(&mut self.singles);
        self.score(name, 0.0, &|fold| rows_of(FitParts { method, structure, ..singles[fold].clone() }));
        self.singles = singles;
    }

    /// All applicable methods on the same cells, sorted by their errors.
    fn finish(mut self) -> Comparison {
        self.all();
        let Self { folds, warnings, rows, .. } = self;
        let first = rows.first().and_then(|row| row.outcome.as_ref().ok()).map(|(scores, ..)| scores.clone());
        let compared = |(at, Trial { name, outcome }): (usize, Trial)| {
            let outcome = outcome.map(|(scores, learn, predict)| {
                let difference =
                    first.as_ref().filter(|_| at > 0).map(|first| folds.difference(&scores, first));
                ComparedScores { scores, difference, seconds: (learn, predict) }
            });
            Compared { name, outcome }
        };
        let mut methods: Vec<Compared> = rows.into_iter().enumerate().map(compared).collect();
        let error = |method: &Compared| {
            method.outcome.as_ref().map_or(f64::INFINITY, |found| found.scores.scores.rmse)
        };
        methods.sort_by(|left, right| error(left).total_cmp(&error(right)));
        Comparison { folds, warnings, methods }
    }

    /// Adds all applicable methods.
    fn all(&mut self) {
        let Some(table) = self.training.first().cloned() else { return };
        let n_outputs = table.observations().n_outputs();
        let options = FitOptions { combine: CombineChoice::None, ..self.options.clone() };
        let chosen = self.singles.first().map_or(options.method, |parts| parts.method);
        if !chosen.is_message_passing() {
            let passing = FitOptions { method: MethodChoice::Catena, ..options.clone() };
            self.score_learned(|_| "catena".to_owned(), &passing);
        }
        if n_outputs > 1 {
            let apart = FitOptions {
                latents: Some(0),
                private: Some(true),
                parameters: None,
                time: None,
                ..options.clone()
            };
            self.score_learned(|_| "independent outputs".to_owned(), &apart);
        }
        // Parameters of fields are no parameters of other methods.
        let is_space = matches!(chosen, MethodChoice::Space { .. });
        if table.inputs().dim() > 1 && !is_space {
            for (name, structure) in [
                ("catena, chain", StructureOption::Chain),
                ("catena, tree", StructureOption::Tree),
                ("catena, ensemble:8", StructureOption::Ensemble { n_chains: 8 }),
            ] {
                self.score_with(name, MethodChoice::Catena, structure);
            }
            if !matches!(chosen, MethodChoice::FullScale { .. }) && options.parameters.is_none() {
                let method = MethodChoice::FullScale { size: None };
                let name = |fits: &[Fit]| {
                    fits.first().map_or("fullscale".to_owned(), |fit| fit.parts().method.to_string())
                };
                self.score_learned(name, &FitOptions { method, ..options });
            }
        }
        let n_cells = table.observations().n_observed();
        let n_points = self.training.iter().map(observed_points).min().unwrap_or(0);
        let dense = [
            ("exact", MethodChoice::Exact, MOST_CELLS_DENSE),
            ("nngp:16", MethodChoice::Nngp { n_neighbors: 16.min(n_points) }, MOST_CELLS_SPARSE),
            ("svgp:200", MethodChoice::Svgp { n_inducing: 200.min(n_points) }, MOST_CELLS_SPARSE),
        ];
        // Dense methods do not know groups.
        let applicable = if table.inputs().groups().is_some() || is_space { &[] } else { &dense[..] };
        for &(name, method, most) in applicable {
            if n_cells > most {
                let outcome = Err(format!("skipped: too slow above {most} cells"));
                self.rows.push(Trial { name: name.to_owned(), outcome });
            } else if chosen != method {
                self.score_with(name, method, StructureOption::Auto);
            }
        }
        let training = self.training.clone();
        for rule in SimpleRule::applicable(table.inputs(), n_outputs) {
            self.score(rule.name(), 0.0, &|fold| rule.predict(&training[fold]));
        }
    }
}

/// Number of distinct inputs among rows with a value, the candidates for inducing points and neighbors.
fn observed_points(table: &Dataset) -> usize {
    let inputs = table.inputs();
    let is_seen = |row: &usize| table.observations().row(RowIndex::new(*row)).len() > 0;
    let point = |row: usize| -> Vec<u64> {
        // -0.0 and 0.0 are the same input.
        inputs.values()[row * inputs.dim()..(row + 1) * inputs.dim()]
            .iter()
            .map(|x| (x + 0.0).to_bits())
            .collect()
    };
    (0..table.n_rows()).filter(is_seen).map(point).collect::<HashSet<_>>().len()
}
