//! Above one input several methods could answer: which one.
//!
//! Exact inference, where its work is within what the budget allows and its matrix within the memory: then nothing else is
//! asked. Otherwise the best on cells that no method saw. Entrants are message passing on the structure that suits the inputs
//! and on several chains, and the full-scale method at a few sizes. Message passing learns on all rows that
//! take part; the others learn from a few hundred by the full-scale likelihood, which is nearly enough. All then condition on
//! the same cells and predict the same hidden ones. The full-scale and exact methods know true distances, so they choose their
//! own smoothness and whether outputs have private latents.

mod cost;
mod families;

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use catena::learning::{Family, Learned, RaceSettings, Settings};
use catena::model::Lmc;
use catena::units::DistanceScale;
use catena_methods::Problem;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;

pub(crate) use cost::final_learning;
use cost::{MethodSelectionPlan, exact_operations, exact_seconds, full_scale_seconds, n_equations, spoken, sweep_seconds};
use families::EuclideanModel;

use crate::selection::references;
use crate::methods::message_passing::Structure;
use crate::error::FitError;
use crate::families::FamilyChoice;
use crate::folds::{Fold, fold, part};
use crate::learn::LearningTask;
use crate::methods::{EnsembleMethod, ExactMethod, FullScaleMethod, MessagePassing, Method, Quantity, States};
use crate::monitor::{Event, FitMonitor, Stage};
use crate::options::{FitOptions, MethodChoice, StructureOption, TransformChoice};
use crate::prepare::{InputUnits, Predictive, Preparation, PreparedTable, rescaled, some_rows};
use crate::scores::{HeldOutScores, Scores, is_better, score};

/// Chains of the ensemble that takes part.
const N_CHAINS: usize = 8;
/// A costlier method must be better by this many nats per cell.
const WORTHWHILE: f64 = 0.01;
/// Keeps the hidden cells of a contest apart from those by which the model was chosen.
const MASK: u64 = 1000;

/// Who won.
#[derive(Clone, Debug)]
pub(crate) struct SelectedMethod {
    pub(crate) method: MethodChoice,
    pub(crate) structure: StructureOption,
    pub(crate) family: Family,
    pub(crate) transforms: TransformChoice,
    /// The winner's parameters as they were learned to be compared, and their units.
    pub(crate) earlier: (Lmc, Preparation),
    /// How it did on the hidden cells.
    pub(crate) held_out_scores: HeldOutScores,
    /// How simple predictors did on the same cells.
    pub(crate) references: Vec<(String, Scores)>,
    /// What was compared, in words.
    pub(crate) reasons: Vec<String>,
}

/// A method that took part.
struct MethodCandidate {
    method: MethodChoice,
    structure: StructureOption,
    family: Family,
    transforms: TransformChoice,
    /// With its units.
    model: (Lmc, Preparation),
    held_out_scores: HeldOutScores,
    /// Of one core, for the whole table.
    seconds: f64,
}

/// The table of a contest and what is asked of it.
struct MethodSelection<'a> {
    options: &'a FitOptions,
    work: MethodSelectionPlan,
    monitor: &'a FitMonitor<'a>,
    /// The whole table.
    table: &'a Dataset,
    /// The cells that are left.
    left: Dataset,
    held_out_cells: Vec<(usize, f64)>,
    /// Rows with a hidden cell.
    asked: Vec<RowIndex>,
    scales: Vec<f64>,
    units: InputUnits,
    /// Who could not take part, and why.
    declined: Vec<String>,
}

/// The cells that are left in the units of a model.
struct Field {
    transforms: TransformChoice,
    preparation: Preparation,
    left: Dataset,
    /// Rows of it from which the full-scale likelihood learns.
    few: Dataset,
    /// Inputs of the rows with a hidden cell.
    asked: InputPoints,
}

/// Holds a contest if one is called for: above one input when the method is left open, and for the full-scale method when
/// something about it is. `None` when there is nothing to decide, or no cell to hide.
pub(crate) fn select_method(
    table: &Dataset,
    choice: &FamilyChoice,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<Option<SelectedMethod>, FitError> {
    let is_open = options.method == MethodChoice::Auto
        && options.structure == StructureOption::Auto
        && options.candidates.is_none()
        && table.inputs().dim() > 1;
    let is_full_scale = matches!(options.method, MethodChoice::FullScale { .. });
    let is_given = matches!(options.method, MethodChoice::FullScale { size: Some(_) })
        && options.kernel.is_some()
        && options.latents.is_some()
        && (options.private.is_some() || table.observations().n_outputs() == 1);
    if !(is_open || is_full_scale) || is_given {
        return Ok(None);
    }
    let work = MethodSelectionPlan::new(options.budget);
    let rows = part(table, work.contest_rows, options.seed);
    let whole = some_rows(table, &rows)?;
    let Fold { left, held_out_cells } = fold(&whole, options.seed, MASK)?;
    if held_out_cells.is_empty() {
        return Ok(None);
    }
    let left = Dataset::new(whole.inputs().clone(), left)?;
    let mut selection = MethodSelection::new(table, left, held_out_cells, (options, work, units, monitor))?;
    let of_choice = selection.field(&choice.transforms)?;
    let euclidean = selection.distance_aware(of_choice, choice);
    if let (true, Ok((field, euclidean))) = (is_open, &euclidean)
        && let Some((exact, reason)) = selection.exact_outright(field, euclidean)
    {
        return selection.selected(Some(exact), vec![reason]);
    }
    let mut candidates = vec![];
    if is_open {
        let of_choice = selection.field(&choice.transforms)?;
        candidates.push(selection.message_passing(&of_choice, choice, StructureOption::Auto)?);
        let ensemble = StructureOption::Ensemble { n_chains: N_CHAINS };
        candidates.push(selection.message_passing(&of_choice, choice, ensemble)?);
    }
    match euclidean {
        Ok((field, euclidean)) => selection.admit_full_scale((&field, &euclidean), is_open, &mut candidates)?,
        // A table may be too much for them and not for message passing, which then stands alone and says so.
        Err(failure) if is_open => {
            selection.declined.push(format!("methods other than message passing could not take part: {failure}"));
        }
        Err(failure) => return Err(failure),
    }
    let best = winner(&candidates);
    let reasons = if candidates.len() > 1 { selection.reasons(&candidates, best, is_open) } else { vec![] };
    let winner = candidates.into_iter().nth(best);
    selection.selected(winner, reasons)
}

/// The best log score; entrants come by cost, and a costlier one must be worth it.
fn winner(candidates: &[MethodCandidate]) -> usize {
    let mut best = 0;
    for (at, candidate) in candidates.iter().enumerate() {
        if is_better(-candidate.held_out_scores.scores.mnll, -candidates[best].held_out_scores.scores.mnll, WORTHWHILE) {
            best = at;
        }
    }
    best
}

impl<'a> MethodSelection<'a> {
    fn new(
        table: &'a Dataset,
        left: Dataset,
        held_out_cells: Vec<(usize, f64)>,
        (options, work, units, monitor): (&'a FitOptions, MethodSelectionPlan, InputUnits, &'a FitMonitor<'a>),
    ) -> Result<Self, FitError> {
        let plain = Preparation::fitted(&left, units, &TransformChoice::default())?;
        let scales: Vec<f64> = plain.outputs.iter().map(|output| output.scale).collect();
        let row = |(at, _): &(usize, f64)| RowIndex::new(at / scales.len());
        let mut asked: Vec<RowIndex> = held_out_cells.iter().map(row).collect();
        asked.sort_unstable();
        asked.dedup();
        Ok(Self { options, work, monitor, table, left, held_out_cells, asked, scales, units, declined: vec![] })
    }

    fn field(&self, transforms: &TransformChoice) -> Result<Field, FitError> {
        let preparation = Preparation::fitted(&self.left, self.units, transforms)?;
        let left = preparation.dataset(&self.left)?;
        let has_cell = |row: &RowIndex| left.observations().row(*row).len() > 0;
        let with_cells: Vec<RowIndex> = left.inputs().rows().filter(has_cell).collect();
        let observed = some_rows(&left, &with_cells)?;
        let few = some_rows(&observed, &part(&observed, self.work.learning_rows, self.options.seed))?;
        let places = self.asked.iter().flat_map(|&row| left.inputs().point(row)).copied().collect();
        let asked = InputPoints::new(self.asked.len(), left.inputs().dim(), places)?;
        Ok(Field { transforms: transforms.clone(), preparation, left, few, asked })
    }

    fn n_outputs(&self) -> usize {
        self.scales.len()
    }

    fn go_on(&self) -> ControlFlow<()> {
        (self.monitor)(Event { stage: Stage::Candidates, done: 1.0, log_posterior: None })
    }

    fn settings(&self) -> RaceSettings {
        let max_iterations = self.work.iterations;
        let ascent = Settings { max_iterations, tolerance: 0.1, ..Settings::default() };
        RaceSettings { heat: max_iterations, ascent }
    }

    /// Scores a method with these parameters on the hidden cells.
    fn judge(&self, field: &Field, method: &dyn Method, model: &Lmc) -> Result<HeldOutScores, FitError> {
        let problem = Problem::new(model, &field.left, DistanceScale::ONE)?;
        let prediction = method.fit(problem)?.predict(&field.asked, Quantity::Observation)?;
        let predictive = field.preparation.predictive_unchecked(&prediction, &field.asked);
        let n_outputs = self.n_outputs();
        // Hidden cells are numbered by rows of the arena, answers by rows that were asked for.
        let cells: Vec<(usize, f64)> = self
            .held_out_cells
            .iter()
            .map(|&(at, value)| {
                let row = self.asked.partition_point(|row| row.get() < at / n_outputs);
                (row * n_outputs + at % n_outputs, value)
            })
            .collect();
        Ok(HeldOutScores::new(&predictive, &cells, &self.scales))
    }

    fn message_passing(
        &self,
        field: &Field,
        choice: &FamilyChoice,
        structure: StructureOption,
    ) -> Result<MethodCandidate, FitError> {
        let prepared_table = PreparedTable::new(field.left.clone(), &structure.learned_on())?;
        let earlier = match &choice.earlier {
            Some((model, units)) => vec![rescaled(model, units, &field.preparation)?],
            None => vec![],
        };
        let priors = self.options.priors.clone().unwrap_or_else(|| prepared_table.priors());
        let task = LearningTask {
            family: choice.family,
            multipliers: if earlier.is_empty() { &[1.0] } else { &[] },
            earlier,
            settings: self.settings(),
            priors: &priors,
            noise_floor: self.options.noise_floor,
        };
        let Learned { model, .. } = prepared_table.learn(&task, &|_| self.go_on())?;
        let (n_structures, held_out_scores) = match structure {
            StructureOption::Ensemble { n_chains } => {
                let method = EnsembleMethod { n_chains, seed: self.options.seed };
                (n_chains, self.judge(field, &method, &model)?)
            }
            _ => {
                let structure = Structure::Given(prepared_table.tree);
                let method = MessagePassing { structure, states: States::AsGiven, candidates: None };
                (1, self.judge(field, &method, &model)?)
            }
        };
        let iterations = choice.plan.race.ascent.max_iterations;
        let seconds = sweep_seconds(n_structures, &choice.family, iterations, self.table);
        Ok(MethodCandidate {
            method: MethodChoice::Catena,
            structure,
            family: choice.family,
            transforms: field.transforms.clone(),
            model: (model, field.preparation.clone()),
            held_out_scores,
            seconds,
        })
    }

    /// Exact inference, where its work is within the budget and its matrix within the memory, and why.
    fn exact_outright(&mut self, field: &Field, euclidean: &EuclideanModel) -> Option<(MethodCandidate, String)> {
        let n_equations = n_equations(self.table, &euclidean.family);
        let operations = exact_operations(n_equations, &euclidean.family, self.table);
        if operations > self.work.exact_operations || !self.options.memory.holds_square(n_equations) {
            return None;
        }
        match self.exact(field, euclidean, n_equations) {
            Ok(exact) => {
                let reason = format!(
                    "method exact: {n_equations} equations, {} of one core, are within the budget, so nothing less was trials; \
                     say method catena or fullscale to have another",
                    spoken(exact.seconds)
                );
                Some((exact, reason))
            }
            Err(failure) => {
                self.declined.push(format!("exact inference could not be used: {failure}"));
                None
            }
        }
    }

    /// Lets the full-scale method take part.
    fn admit_full_scale(
        &mut self,
        (field, euclidean): (&Field, &EuclideanModel),
        is_open: bool,
        candidates: &mut Vec<MethodCandidate>,
    ) -> Result<(), FitError> {
        for size in self.sizes() {
            match self.full_scale(size, field, euclidean) {
                Ok(candidate) => candidates.push(candidate),
                Err(failure) if is_open => self.declined.push(format!("{failure}")),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Sizes to try: the one asked for, or the ladder as far as the table has rows. With fewer rows than inducing points two of
    /// its steps would be the same.
    fn sizes(&self) -> Vec<FullScaleSize> {
        let MethodChoice::FullScale { size: Some(size) } = self.options.method else {
            let n_rows = self.left.n_rows();
            let mut sizes = FullScaleSize::LADDER.to_vec();
            let beyond = sizes.iter().position(|size| size.n_inducing >= n_rows);
            sizes.truncate(beyond.map_or(sizes.len(), |beyond| beyond + 1));
            return sizes;
        };
        vec![size]
    }

    fn full_scale(&self, size: FullScaleSize, field: &Field, euclidean: &EuclideanModel) -> Result<MethodCandidate, FitError> {
        let method = FullScaleMethod::new(size, self.options.seed).with_memory(self.options.memory);
        let seconds = full_scale_seconds(size, &euclidean.family, self.options.budget, self.table);
        let choice = MethodChoice::FullScale { size: Some(size) };
        self.candidate((choice, &method), field, euclidean, seconds)
    }

    fn exact(&self, field: &Field, euclidean: &EuclideanModel, n_equations: usize) -> Result<MethodCandidate, FitError> {
        let method = ExactMethod(ExactOptions { memory: self.options.memory, ..ExactOptions::default() });
        let seconds = exact_seconds(n_equations, &euclidean.family, self.options.budget, self.table);
        self.candidate((MethodChoice::Exact, &method), field, euclidean, seconds)
    }

    fn candidate(
        &self,
        (choice, method): (MethodChoice, &dyn Method),
        field: &Field,
        euclidean: &EuclideanModel,
        seconds: f64,
    ) -> Result<MethodCandidate, FitError> {
        let held_out_scores = self.judge(field, method, &euclidean.model)?;
        Ok(MethodCandidate {
            method: choice,
            structure: StructureOption::Auto,
            family: euclidean.family,
            transforms: field.transforms.clone(),
            model: (euclidean.model.clone(), field.preparation.clone()),
            held_out_scores,
            seconds,
        })
    }

    /// The winner, with what is to be said.
    fn selected(self, winner: Option<MethodCandidate>, mut reasons: Vec<String>) -> Result<Option<SelectedMethod>, FitError> {
        let Some(winner) = winner else { return Ok(None) };
        let references = self.reference_scores()?;
        reasons.extend(self.declined);
        Ok(Some(SelectedMethod {
            method: winner.method,
            structure: winner.structure,
            family: winner.family,
            transforms: winner.transforms,
            earlier: winner.model,
            held_out_scores: winner.held_out_scores,
            references,
            reasons,
        }))
    }

    /// Scores of simple predictors on the hidden cells.
    fn reference_scores(&self) -> Result<Vec<(String, Scores)>, FitError> {
        let all = references(&self.left, self.left.observations())?;
        let scored = |(name, predictive): (&str, Predictive)| {
            (name.to_owned(), score(&predictive, self.held_out_cells.iter().copied(), &self.scales))
        };
        Ok(all.into_iter().map(scored).collect())
    }

    fn reasons(&self, candidates: &[MethodCandidate], best: usize, is_open: bool) -> Vec<String> {
        let said = |candidate: &MethodCandidate| {
            format!(
                "{} {:.3} (error {:.4}, {})",
                candidate.name(),
                -candidate.held_out_scores.scores.mnll,
                candidate.held_out_scores.scores.rmse,
                spoken(candidate.seconds)
            )
        };
        let all: Vec<String> = candidates.iter().map(said).collect();
        let n_rows = self.left.n_rows();
        let of = if n_rows < self.table.n_rows() { format!(" of {n_rows} rows") } else { String::new() };
        let mut reasons = vec![format!(
            "method by log score per hidden cell{of} (error in standard deviations; one core's time to learn and answer for the whole table): {}",
            all.join(", ")
        )];
        let winner = &candidates[best];
        let instead = if is_open { "; say method catena, exact or fullscale to have another" } else { "" };
        reasons.push(format!("method {}: best by hidden cells{instead}", winner.name()));
        reasons
    }
}

impl MethodCandidate {
    fn name(&self) -> String {
        match (self.method, self.structure) {
            (MethodChoice::Catena, StructureOption::Auto) => "catena".to_owned(),
            (MethodChoice::Catena, structure) => format!("catena on {structure}"),
            (method, _) => method.to_string(),
        }
    }
}

impl FamilyChoice {
    /// Takes over what the contest decided; the options as they are now.
    pub(crate) fn follow(&mut self, selected: SelectedMethod, options: &FitOptions) -> FitOptions {
        let name = selected.method.to_string();
        self.family = selected.family;
        self.transforms = selected.transforms;
        self.earlier = Some(selected.earlier);
        self.reasons.extend(selected.reasons);
        // All on the contest's own cells: scores of other cells cannot be compared.
        self.held_out = std::iter::once((name, selected.held_out_scores.scores)).chain(selected.references).collect();
        self.held_out_scores = Some(selected.held_out_scores);
        FitOptions { method: selected.method, structure: selected.structure, ..options.clone() }
    }
}
