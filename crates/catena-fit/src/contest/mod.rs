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
use catena::learning::{Family, Learned, MultiStartSettings, OptimizerSettings};
use catena::model::Lmc;
use catena::units::DistanceScale;
use catena_methods::Problem;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;

pub(crate) use cost::final_learning;
use cost::{Work, exact_operations, exact_seconds, full_scale_seconds, n_equations, spoken, sweep_seconds};
use families::Aware;

use crate::carry::carried;
use crate::dense::ExactMethod;
use crate::ensemble::EnsembleMethod;
use crate::fit::{Event, FitError, FitMonitor, FitOptions, MethodChoice, Stage, StructureOption};
use crate::full_scale::FullScaleMethod;
use crate::ground::{Course, Ground};
use crate::message_passing::{CatenaMethod, States, Structure};
use crate::method::{Method, Quantity};
use crate::preparation::{InputUnits, Predictive, Preparation, Wanted};
use crate::rows::some_rows;
use crate::scores::{OnHidden, Scores, score};
use crate::selection::{Choice, Holdout, beats, holdout, part, references};

/// Chains of the ensemble that takes part.
const N_CHAINS: usize = 8;
/// A costlier method must be better by this many nats per cell.
const WORTHWHILE: f64 = 0.01;
/// Keeps the hidden cells of a contest apart from those by which the model was chosen.
const MASK: u64 = 1000;

/// Who won.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) method: MethodChoice,
    pub(crate) structure: StructureOption,
    pub(crate) family: Family,
    pub(crate) wanted: Wanted,
    /// The winner's parameters as they were learned to be compared, and their units.
    pub(crate) earlier: (Lmc, Preparation),
    /// How it did on the hidden cells.
    pub(crate) on_hidden: OnHidden,
    /// How simple predictors did on the same cells.
    pub(crate) references: Vec<(String, Scores)>,
    /// What was compared, in words.
    pub(crate) reasons: Vec<String>,
}

/// A method that took part.
struct Entrant {
    method: MethodChoice,
    structure: StructureOption,
    family: Family,
    wanted: Wanted,
    /// With its units.
    model: (Lmc, Preparation),
    on_hidden: OnHidden,
    /// Of one core, for the whole table.
    seconds: f64,
}

/// The table of a contest and what is asked of it.
struct Arena<'a> {
    options: &'a FitOptions,
    work: Work,
    monitor: &'a FitMonitor<'a>,
    /// The whole table.
    table: &'a Dataset,
    /// The cells that are left.
    left: Dataset,
    hidden: Vec<(usize, f64)>,
    /// Rows with a hidden cell.
    asked: Vec<RowIndex>,
    scales: Vec<f64>,
    units: InputUnits,
    /// Who could not take part, and why.
    declined: Vec<String>,
}

/// The cells that are left in the units of a model.
struct Field {
    wanted: Wanted,
    preparation: Preparation,
    left: Dataset,
    /// Rows of it from which the full-scale likelihood learns.
    few: Dataset,
    /// Inputs of the rows with a hidden cell.
    asked: InputPoints,
}

/// Holds a contest if one is called for: above one input when the method is left open, and for the full-scale method when
/// something about it is. `None` when there is nothing to decide, or no cell to hide.
pub(crate) fn contest(
    table: &Dataset,
    choice: &Choice,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<Option<Verdict>, FitError> {
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
    let work = Work::new(options.budget);
    let rows = part(table, work.contest_rows, options.seed);
    let whole = some_rows(table, &rows)?;
    let Holdout { left, hidden } = holdout(&whole, options.seed, MASK)?;
    if hidden.is_empty() {
        return Ok(None);
    }
    let left = Dataset::new(whole.inputs().clone(), left)?;
    let mut arena = Arena::new(table, left, hidden, (options, work, units, monitor))?;
    let of_choice = arena.field(&choice.wanted)?;
    let aware = arena.distance_aware(of_choice, choice);
    if let (true, Ok((field, aware))) = (is_open, &aware)
        && let Some((exact, reason)) = arena.exact_outright(field, aware)
    {
        return arena.verdict(Some(exact), vec![reason]);
    }
    let mut entrants = vec![];
    if is_open {
        let of_choice = arena.field(&choice.wanted)?;
        entrants.push(arena.message_passing(&of_choice, choice, StructureOption::Auto)?);
        let ensemble = StructureOption::Ensemble { n_chains: N_CHAINS };
        entrants.push(arena.message_passing(&of_choice, choice, ensemble)?);
    }
    match aware {
        Ok((field, aware)) => arena.admit_full_scale((&field, &aware), is_open, &mut entrants)?,
        // A table may be too much for them and not for message passing, which then stands alone and says so.
        Err(failure) if is_open => {
            arena.declined.push(format!("methods other than message passing could not take part: {failure}"));
        }
        Err(failure) => return Err(failure),
    }
    let best = winner(&entrants);
    let reasons = if entrants.len() > 1 { arena.reasons(&entrants, best, is_open) } else { vec![] };
    let winner = entrants.into_iter().nth(best);
    arena.verdict(winner, reasons)
}

/// The best log score; entrants come by cost, and a costlier one must be worth it.
fn winner(entrants: &[Entrant]) -> usize {
    let mut best = 0;
    for (at, entrant) in entrants.iter().enumerate() {
        if beats(-entrant.on_hidden.scores.mnll, -entrants[best].on_hidden.scores.mnll, WORTHWHILE) {
            best = at;
        }
    }
    best
}

impl<'a> Arena<'a> {
    fn new(
        table: &'a Dataset,
        left: Dataset,
        hidden: Vec<(usize, f64)>,
        (options, work, units, monitor): (&'a FitOptions, Work, InputUnits, &'a FitMonitor<'a>),
    ) -> Result<Self, FitError> {
        let plain = Preparation::fitted(&left, units, &Wanted::default())?;
        let scales: Vec<f64> = plain.outputs.iter().map(|output| output.scale).collect();
        let row = |(at, _): &(usize, f64)| RowIndex::new(at / scales.len());
        let mut asked: Vec<RowIndex> = hidden.iter().map(row).collect();
        asked.sort_unstable();
        asked.dedup();
        Ok(Self { options, work, monitor, table, left, hidden, asked, scales, units, declined: vec![] })
    }

    fn field(&self, wanted: &Wanted) -> Result<Field, FitError> {
        let preparation = Preparation::fitted(&self.left, self.units, wanted)?;
        let left = preparation.dataset(&self.left)?;
        let has_cell = |row: &RowIndex| left.observations().row(*row).len() > 0;
        let with_cells: Vec<RowIndex> = left.inputs().rows().filter(has_cell).collect();
        let observed = some_rows(&left, &with_cells)?;
        let few = some_rows(&observed, &part(&observed, self.work.learning_rows, self.options.seed))?;
        let places = self.asked.iter().flat_map(|&row| left.inputs().point(row)).copied().collect();
        let asked = InputPoints::new(self.asked.len(), left.inputs().dim(), places)?;
        Ok(Field { wanted: wanted.clone(), preparation, left, few, asked })
    }

    fn n_outputs(&self) -> usize {
        self.scales.len()
    }

    fn go_on(&self) -> ControlFlow<()> {
        (self.monitor)(Event { stage: Stage::Candidates, done: 1.0, log_posterior: None })
    }

    fn settings(&self) -> MultiStartSettings {
        let max_iterations = self.work.iterations;
        let optimizer = OptimizerSettings { max_iterations, tolerance: 0.1, ..OptimizerSettings::default() };
        MultiStartSettings { trial_iterations: max_iterations, optimizer }
    }

    /// Scores a method with these parameters on the hidden cells.
    fn judge(&self, field: &Field, method: &dyn Method, model: &Lmc) -> Result<OnHidden, FitError> {
        let problem = Problem::new(model, &field.left, DistanceScale::ONE)?;
        let prediction = method.fit(problem)?.predict(&field.asked, Quantity::Observation)?;
        let predictive = field.preparation.predictive_unchecked(prediction, &field.asked);
        let n_outputs = self.n_outputs();
        // Hidden cells are numbered by rows of the arena, answers by rows that were asked for.
        let cells: Vec<(usize, f64)> = self
            .hidden
            .iter()
            .map(|&(at, value)| {
                let row = self.asked.partition_point(|row| row.get() < at / n_outputs);
                (row * n_outputs + at % n_outputs, value)
            })
            .collect();
        Ok(OnHidden::new(&predictive, &cells, &self.scales))
    }

    fn message_passing(
        &self,
        field: &Field,
        choice: &Choice,
        structure: StructureOption,
    ) -> Result<Entrant, FitError> {
        let ground = Ground::new(field.left.clone(), &structure.learned_on())?;
        let earlier = match &choice.earlier {
            Some((model, units)) => vec![carried(model, units, &field.preparation)?],
            None => vec![],
        };
        let priors = self.options.priors.clone().unwrap_or_else(|| ground.priors());
        let course = Course {
            family: choice.family,
            multipliers: if earlier.is_empty() { &[1.0] } else { &[] },
            earlier,
            settings: self.settings(),
            priors: &priors,
            noise_floor: self.options.noise_floor,
        };
        let Learned { model, .. } = ground.learn(&course, &|_| self.go_on())?;
        let (n_structures, on_hidden) = match structure {
            StructureOption::Ensemble { n_chains } => {
                let method = EnsembleMethod { n_chains, seed: self.options.seed };
                (n_chains, self.judge(field, &method, &model)?)
            }
            _ => {
                let structure = Structure::Given(ground.tree);
                let method = CatenaMethod { structure, states: States::AsGiven, candidates: None };
                (1, self.judge(field, &method, &model)?)
            }
        };
        let iterations = choice.plan.race.optimizer.max_iterations;
        let seconds = sweep_seconds(n_structures, &choice.family, iterations, self.table);
        Ok(Entrant {
            method: MethodChoice::Catena,
            structure,
            family: choice.family,
            wanted: field.wanted.clone(),
            model: (model, field.preparation.clone()),
            on_hidden,
            seconds,
        })
    }

    /// Exact inference, where its work is within the budget and its matrix within the memory, and why.
    fn exact_outright(&mut self, field: &Field, aware: &Aware) -> Option<(Entrant, String)> {
        let n_equations = n_equations(self.table, &aware.family);
        let operations = exact_operations(n_equations, &aware.family, self.table);
        if operations > self.work.exact_operations || !self.options.memory.holds_square(n_equations) {
            return None;
        }
        match self.exact(field, aware, n_equations) {
            Ok(exact) => {
                let reason = format!(
                    "method exact: {n_equations} equations, {} of one core, are within the budget, so nothing less was tried; \
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
        (field, aware): (&Field, &Aware),
        is_open: bool,
        entrants: &mut Vec<Entrant>,
    ) -> Result<(), FitError> {
        for size in self.sizes() {
            match self.full_scale(size, field, aware) {
                Ok(entrant) => entrants.push(entrant),
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

    fn full_scale(&self, size: FullScaleSize, field: &Field, aware: &Aware) -> Result<Entrant, FitError> {
        let method = FullScaleMethod::new(size, self.options.seed).with_memory(self.options.memory);
        let seconds = full_scale_seconds(size, &aware.family, self.options.budget, self.table);
        let choice = MethodChoice::FullScale { size: Some(size) };
        self.entrant((choice, &method), field, aware, seconds)
    }

    fn exact(&self, field: &Field, aware: &Aware, n_equations: usize) -> Result<Entrant, FitError> {
        let method = ExactMethod(ExactOptions { memory: self.options.memory, ..ExactOptions::default() });
        let seconds = exact_seconds(n_equations, &aware.family, self.options.budget, self.table);
        self.entrant((MethodChoice::Exact, &method), field, aware, seconds)
    }

    fn entrant(
        &self,
        (choice, method): (MethodChoice, &dyn Method),
        field: &Field,
        aware: &Aware,
        seconds: f64,
    ) -> Result<Entrant, FitError> {
        let on_hidden = self.judge(field, method, &aware.model)?;
        Ok(Entrant {
            method: choice,
            structure: StructureOption::Auto,
            family: aware.family,
            wanted: field.wanted.clone(),
            model: (aware.model.clone(), field.preparation.clone()),
            on_hidden,
            seconds,
        })
    }

    /// The winner, with what is to be said.
    fn verdict(self, winner: Option<Entrant>, mut reasons: Vec<String>) -> Result<Option<Verdict>, FitError> {
        let Some(winner) = winner else { return Ok(None) };
        let references = self.reference_scores()?;
        reasons.extend(self.declined);
        Ok(Some(Verdict {
            method: winner.method,
            structure: winner.structure,
            family: winner.family,
            wanted: winner.wanted,
            earlier: winner.model,
            on_hidden: winner.on_hidden,
            references,
            reasons,
        }))
    }

    /// Scores of simple predictors on the hidden cells.
    fn reference_scores(&self) -> Result<Vec<(String, Scores)>, FitError> {
        let all = references(&self.left, self.left.observations())?;
        let scored = |(name, predictive): (&str, Predictive)| {
            (name.to_owned(), score(&predictive, self.hidden.iter().copied(), &self.scales))
        };
        Ok(all.into_iter().map(scored).collect())
    }

    fn reasons(&self, entrants: &[Entrant], best: usize, is_open: bool) -> Vec<String> {
        let said = |entrant: &Entrant| {
            format!(
                "{} {:.3} (error {:.4}, {})",
                entrant.name(),
                -entrant.on_hidden.scores.mnll,
                entrant.on_hidden.scores.rmse,
                spoken(entrant.seconds)
            )
        };
        let all: Vec<String> = entrants.iter().map(said).collect();
        let n_rows = self.left.n_rows();
        let of = if n_rows < self.table.n_rows() { format!(" of {n_rows} rows") } else { String::new() };
        let mut reasons = vec![format!(
            "method by log score per hidden cell{of} (error in standard deviations; one core's time to learn and answer for the whole table): {}",
            all.join(", ")
        )];
        let winner = &entrants[best];
        let instead = if is_open { "; say method catena, exact or fullscale to have another" } else { "" };
        reasons.push(format!("method {}: best by hidden cells{instead}", winner.name()));
        reasons
    }
}

impl Entrant {
    fn name(&self) -> String {
        match (self.method, self.structure) {
            (MethodChoice::Catena, StructureOption::Auto) => "catena".to_owned(),
            (MethodChoice::Catena, structure) => format!("catena on {structure}"),
            (method, _) => method.to_string(),
        }
    }
}

impl Choice {
    /// Takes over what the contest decided; the options as they are now.
    pub(crate) fn follow(&mut self, verdict: Verdict, options: &FitOptions) -> FitOptions {
        let name = verdict.method.to_string();
        self.family = verdict.family;
        self.wanted = verdict.wanted;
        self.earlier = Some(verdict.earlier);
        self.reasons.extend(verdict.reasons);
        // All on the contest's own cells: scores of other cells cannot be compared.
        self.held_out = std::iter::once((name, verdict.on_hidden.scores)).chain(verdict.references).collect();
        self.on_hidden = Some(verdict.on_hidden);
        FitOptions { method: verdict.method, structure: verdict.structure, ..options.clone() }
    }
}
