//! Compares inference methods on held-out cells.

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use catena::learning::{Family, Learned};
use catena::model::Lmc;
use catena::units::DistanceScale;
use catena_methods::Problem;
use catena_methods::exact::ExactOptions;
use catena_methods::fullscale::FullScaleSize;

use super::candidate::{MethodCandidate, best};
use crate::cost::{
    MethodSelectionPlan, duration_text, exact_operations, exact_seconds, full_scale_seconds, n_equations,
    sweep_seconds,
};
use crate::error::FitError;
use crate::families::{FamilyChoice, family_name};
use crate::folds::{Fold, HeldOutFolds, representative_rows, scales_of};
use crate::learn::LearningTask;
use crate::methods::{
    EnsembleMethod, ExactMethod, FullScaleMethod, MessagePassing, Method, Quantity, States,
};
use crate::monitor::{Reporter, Stage, Watch};
use crate::options::{FitOptions, MethodChoice, StructureOption, Ties, TransformChoice};
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled, rows_by_contents, rows_with_a_cell};
use crate::scores::HeldOutScores;

/// Chains of the ensemble.
const N_CHAINS: usize = 8;
/// Added to the seed of the fold; families are compared on other folds.
const FOLD: u64 = 1000;

/// The comparison of methods on one fold.
pub(super) struct MethodSelection<'a> {
    pub(super) options: &'a FitOptions,
    pub(super) plan: MethodSelectionPlan,
    pub(super) reporter: Reporter<'a>,
    /// The whole table.
    table: &'a Dataset,
    /// The training cells of the compared rows.
    training: Dataset,
    fold: Fold,
    /// Rows with a held-out cell.
    held_out_rows: Vec<RowIndex>,
    /// The standard deviation of each output, in which errors are scored.
    scales: Vec<f64>,
    units: InputUnits,
    /// Methods that could not be used, with the reasons.
    excluded: Vec<String>,
}

/// A fold in the model's units.
pub(super) struct PreparedFold {
    pub(super) transforms: TransformChoice,
    preparation: Preparation,
    training: Dataset,
    /// Training rows for the full-scale likelihood.
    pub(super) learning: Dataset,
    /// Inputs of the rows with a held-out cell.
    targets: InputPoints,
}

/// A model learned by the full-scale likelihood.
pub(super) struct EuclideanModel {
    pub(super) family: Family,
    pub(super) model: Lmc,
    pub(super) log_score: f64,
}

/// Chooses the method if the options leave it open and the table has several inputs, or if the size or family of the full-scale
/// method is open. Updates the choice of the family and returns the options with the method; `None` if nothing was to be chosen.
pub(crate) fn select_method(
    table: &Dataset,
    choice: &mut FamilyChoice,
    options: &FitOptions,
    units: InputUnits,
    watch: &Watch<'_>,
) -> Result<Option<FitOptions>, FitError> {
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
    if is_open && watch.seconds_left() <= 0.0 {
        watch.cut("methods were not compared".to_owned());
        return Ok(None);
    }
    let Some(selection) = MethodSelection::new(table, options, units, watch)? else { return Ok(None) };
    selection.run(choice, is_open)
}

impl<'a> MethodSelection<'a> {
    /// `None` if there are too few cells to hold any out.
    fn new(
        table: &'a Dataset,
        options: &'a FitOptions,
        units: InputUnits,
        watch: &'a Watch<'a>,
    ) -> Result<Option<Self>, FitError> {
        let plan = MethodSelectionPlan::new(options.budget);
        // Samples, inducing points and neighborhoods depend on the order of the rows.
        let ordered = table.select_rows(&rows_by_contents(table))?;
        let sample = ordered.select_rows(&representative_rows(&ordered, plan.n_rows, options.seed))?;
        let mut folds = Fold::several(&sample, &sample, options.seed.wrapping_add(FOLD), 1);
        let Some(fold) = folds.pop().filter(|fold| !fold.held_out.is_empty()) else { return Ok(None) };
        let training = Dataset::new(sample.inputs().clone(), fold.training.clone())?;
        let scales = scales_of(&training)?;
        let row = |(at, _): &(usize, f64)| RowIndex::new(at / scales.len());
        let mut held_out_rows: Vec<RowIndex> = fold.held_out.iter().map(row).collect();
        held_out_rows.sort_unstable();
        held_out_rows.dedup();
        let reporter = Reporter::new(watch, Stage::Candidates, 1.0);
        reporter.end_within(0.5);
        Ok(Some(Self {
            options,
            plan,
            reporter,
            table,
            training,
            fold,
            held_out_rows,
            scales,
            units,
            excluded: vec![],
        }))
    }

    fn run(mut self, choice: &mut FamilyChoice, is_open: bool) -> Result<Option<FitOptions>, FitError> {
        let euclidean = self.euclidean_model(self.prepared_fold(&choice.transforms)?, choice);
        if let (true, Ok((fold, model))) = (is_open, &euclidean)
            && let Some((exact, reason)) = self.exact_within_budget(fold, model)
        {
            return Ok(Some(self.conclude(exact, vec![reason], choice)?));
        }
        let mut candidates = vec![];
        if is_open {
            let fold = self.prepared_fold(&choice.transforms)?;
            let ensemble = StructureOption::Ensemble { n_chains: N_CHAINS };
            for structure in [StructureOption::Auto, ensemble] {
                candidates.push(self.message_passing(&fold, choice, structure)?);
            }
        }
        match euclidean {
            Ok((fold, model)) => self.add_full_scale((&fold, &model), is_open, &mut candidates)?,
            Err(failure) if is_open => {
                self.excluded.push(format!("only message passing could be used: {failure}"));
            }
            Err(failure) => return Err(failure),
        }
        let best = best(&candidates);
        let reasons = if candidates.len() > 1 { self.reasons(&candidates, best, is_open) } else { vec![] };
        match candidates.into_iter().nth(best) {
            Some(best) => Ok(Some(self.conclude(best, reasons, choice)?)),
            None => Ok(None),
        }
    }

    pub(super) fn prepared_fold(&self, transforms: &TransformChoice) -> Result<PreparedFold, FitError> {
        let preparation = Preparation::fitted(&self.training, self.units, transforms)?;
        let training = preparation.dataset(&self.training)?;
        let observed = rows_with_a_cell(&training)?;
        let rows = representative_rows(&observed, self.plan.learning_rows, self.options.seed);
        let learning = observed.select_rows(&rows)?;
        let targets = training.inputs().select_rows(&self.held_out_rows)?;
        Ok(PreparedFold { transforms: transforms.clone(), preparation, training, learning, targets })
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.scales.len()
    }

    /// Scores a method with given parameters on the held-out cells.
    pub(super) fn score(
        &self,
        fold: &PreparedFold,
        method: &dyn Method,
        model: &Lmc,
    ) -> Result<HeldOutScores, FitError> {
        let problem = Problem::new(model, &fold.training, DistanceScale::ONE)?;
        let prediction = method.fit(problem)?.predict(&fold.targets, Quantity::Observation)?;
        let predictive = fold.preparation.predictive_unchecked(prediction, &fold.targets);
        let n_outputs = self.n_outputs();
        // Held-out cells are numbered by rows of the sample, predictions by rows with a held-out cell.
        let cell = |&(at, value): &(usize, f64)| {
            let row = self.held_out_rows.partition_point(|row| row.get() < at / n_outputs);
            (row * n_outputs + at % n_outputs, value)
        };
        let cells: Vec<(usize, f64)> = self.fold.held_out.iter().map(cell).collect();
        Ok(HeldOutScores::new(&predictive, &cells, &self.scales))
    }

    fn message_passing(
        &self,
        fold: &PreparedFold,
        choice: &FamilyChoice,
        structure: StructureOption,
    ) -> Result<MethodCandidate, FitError> {
        let table = PreparedTable::new(fold.training.clone(), structure)?;
        let (model, units) = &choice.earlier;
        let earlier = vec![rescaled(model, units, &fold.preparation)?];
        let task = LearningTask::new(choice.family, self.plan.settings, &table.statistics, self.options)
            .with_starts(earlier, &[]);
        let Learned { model, .. } = task.learn_reported(&table, &self.reporter)?;
        let (n_structures, held_out) = match structure {
            StructureOption::Ensemble { n_chains } => {
                let method = EnsembleMethod { n_chains, seed: self.options.seed, ties: Ties::ByInputs };
                (n_chains, self.score(fold, &method, &model)?)
            }
            _ => {
                let method = MessagePassing {
                    tree: Some(table.tree),
                    states: States::AsGiven,
                    ..MessagePassing::default()
                };
                (1, self.score(fold, &method, &model)?)
            }
        };
        let iterations = choice.settings.optimizer.max_iterations;
        Ok(MethodCandidate {
            method: MethodChoice::Catena,
            structure,
            family: choice.family,
            transforms: fold.transforms.clone(),
            model: (model, fold.preparation.clone()),
            held_out,
            seconds: sweep_seconds(n_structures, &choice.family, iterations, self.table),
        })
    }

    /// Exact inference with the reason, if it fits the time and memory budget.
    fn exact_within_budget(
        &mut self,
        fold: &PreparedFold,
        model: &EuclideanModel,
    ) -> Option<(MethodCandidate, String)> {
        let n_equations = n_equations(self.table, &model.family);
        let operations = exact_operations(n_equations, &model.family, self.table);
        if operations > self.plan.exact_operations || !self.options.memory.holds_square(n_equations) {
            return None;
        }
        let method = ExactMethod(ExactOptions { memory: self.options.memory, ..ExactOptions::default() });
        let seconds = exact_seconds(n_equations, &model.family, self.options.budget, self.table);
        match self.candidate((MethodChoice::Exact, &method), fold, model, seconds) {
            Ok(exact) => {
                let reason = format!(
                    "method exact: exact inference fits the budget ({n_equations} equations, {} on one core), so no \
                     approximation was tried; override with --method",
                    duration_text(exact.seconds)
                );
                Some((exact, reason))
            }
            Err(failure) => {
                self.excluded.push(format!("exact inference could not be used: {failure}"));
                None
            }
        }
    }

    /// Adds the full-scale method at each size.
    fn add_full_scale(
        &mut self,
        (fold, model): (&PreparedFold, &EuclideanModel),
        is_open: bool,
        candidates: &mut Vec<MethodCandidate>,
    ) -> Result<(), FitError> {
        let n_latents = match model.family.n_shared {
            0 => self.n_outputs(),
            n_shared => n_shared,
        };
        for size in self.sizes() {
            // The fold may fit the memory while the whole table does not.
            if is_open && !size.fits(self.table.n_rows(), n_latents, self.options.memory) {
                self.excluded.push(format!(
                    "{} needs more memory than allowed",
                    MethodChoice::FullScale { size: Some(size) }
                ));
                continue;
            }
            let method = FullScaleMethod::new(size, self.options.seed).with_memory(self.options.memory);
            let seconds = full_scale_seconds(size, &model.family, self.options.budget, self.table);
            let choice = MethodChoice::FullScale { size: Some(size) };
            match self.candidate((choice, &method), fold, model, seconds) {
                Ok(candidate) => candidates.push(candidate),
                Err(failure) if is_open => self.excluded.push(format!("{failure}")),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// The requested size, or all sizes with fewer inducing points than rows and the next one: beyond, sizes would be equal.
    fn sizes(&self) -> Vec<FullScaleSize> {
        let MethodChoice::FullScale { size: Some(size) } = self.options.method else {
            let n_rows = self.training.n_rows();
            let mut sizes = FullScaleSize::LADDER.to_vec();
            let beyond = sizes.iter().position(|size| size.n_inducing >= n_rows);
            sizes.truncate(beyond.map_or(sizes.len(), |beyond| beyond + 1));
            return sizes;
        };
        vec![size]
    }

    fn candidate(
        &self,
        (choice, method): (MethodChoice, &dyn Method),
        fold: &PreparedFold,
        model: &EuclideanModel,
        seconds: f64,
    ) -> Result<MethodCandidate, FitError> {
        let held_out = self.score(fold, method, &model.model)?;
        Ok(MethodCandidate {
            method: choice,
            structure: StructureOption::Auto,
            family: model.family,
            transforms: fold.transforms.clone(),
            model: (model.model.clone(), fold.preparation.clone()),
            held_out,
            seconds,
        })
    }

    /// Updates the choice of the family and returns the options with the chosen method.
    fn conclude(
        self,
        chosen: MethodCandidate,
        reasons: Vec<String>,
        choice: &mut FamilyChoice,
    ) -> Result<FitOptions, FitError> {
        let MethodCandidate { method, structure, family, transforms, model, held_out, .. } = chosen;
        let folds = HeldOutFolds::new(self.training.inputs().clone(), vec![self.fold], self.scales);
        let changes_family = Family { state: choice.family.state, ..family } != choice.family
            || transforms != choice.transforms;
        if changes_family {
            if let Some(reason) = choice.reasons.last_mut() {
                reason.insert_str(0, "for message passing ");
            }
            let name = family_name(&family, &transforms, self.options);
            choice.reasons.push(format!("for method {method} {name}: best by held-out cells"));
        }
        choice.reasons.extend(reasons.into_iter().chain(self.excluded));
        // All scores are of this fold; scores on other cells are not comparable.
        choice.held_out = vec![(method.to_string(), held_out)];
        choice.held_out.extend(folds.simple_rules()?);
        choice.method_folds = Some((folds, vec![model.clone()]));
        (choice.family, choice.transforms, choice.earlier) = (family, transforms, model);
        Ok(FitOptions { method, structure, ..self.options.clone() })
    }

    fn reasons(&self, candidates: &[MethodCandidate], best: usize, is_open: bool) -> Vec<String> {
        let described = |candidate: &MethodCandidate| {
            let scores = candidate.held_out.scores;
            let time = duration_text(candidate.seconds);
            format!("{} {:.3} (error {:.4}, {time})", candidate.name(), scores.log_score, scores.rmse)
        };
        let all: Vec<String> = candidates.iter().map(described).collect();
        let n_rows = self.training.n_rows();
        let of = if n_rows < self.table.n_rows() { format!(" of {n_rows} rows") } else { String::new() };
        let name = candidates[best].name();
        let hint = if is_open { "; override with --method" } else { "" };
        vec![
            format!(
                "method by log score per held-out cell{of} (error in standard deviations; time of one core to learn and predict \
                 the whole table): {}",
                all.join(", ")
            ),
            format!("method {name}: best by held-out cells{hint}"),
        ]
    }
}
