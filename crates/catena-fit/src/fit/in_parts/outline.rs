//! What kind of model a table in parts gets, and how it is learned: by the options, the rules and the climb of every other fit.

use catena::data::Dataset;
use catena::inference::Gradient;
use catena::learning::{Evidence, Extent, Learned, MultiStartError, OutputMoments, Progress, multi_start};
use catena::model::Lmc;
use thiserror::Error;

use super::super::fitted::{Told, method_name};
use super::super::given::given_model;
use super::super::summary::{self, Summary};
use super::super::warnings::warnings;
use super::super::{
    Event, Fit, FitError, FitMonitor, FitOptions, FitParts, GivenParameters, MethodChoice, Stage,
    StructureOption,
};
use super::Census;
use crate::carry::carried;
use crate::distinct::distinct;
use crate::ground::{Course, Facts, constants};
use crate::preparation::{InputUnits, Preparation};
use crate::selection::{Choice, Size, choose_on, selection_rows};

/// The kind of a model for a table in parts.
#[derive(Clone, Debug)]
pub struct Outline {
    options: FitOptions,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// Chosen by comparison on a sample, to be learned.
    Chosen(Box<Choice>),
    /// With parameters that are given.
    Given(GivenParameters),
}

/// What was gathered from all parts, in the units of the preparation.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The census of the whole table.
    pub census: Census,
    /// Its units.
    pub preparation: Preparation,
    /// The median length of the chain's edges that are not zero; `None` if there are none.
    pub spacing: Option<f64>,
    /// Sums and counts of products of outputs, all parts together; see [`OutputMoments::sums_of`].
    pub sums: (Vec<f64>, Vec<f64>),
    /// What should be told of the parts.
    pub remarks: Vec<String>,
}

/// Why there is no evidence at some parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EvidenceFailure(pub String);

/// On how many rows of a table of this size models are compared: along a single input rows that follow one another.
pub fn rows_to_compare(n_rows: usize, n_inputs: usize, n_outputs: usize, options: &FitOptions) -> usize {
    selection_rows(Size { n_rows, n_inputs, n_outputs }, options)
}

/// The log evidence of all parts with its slopes, wherever they are found.
pub type EvidenceOfParts<'a> = dyn Fn(&Lmc) -> Result<Gradient, EvidenceFailure> + Sync + 'a;

impl Outline {
    /// Chooses by a sample of the table what the options leave open, or takes the parameters that they give.
    ///
    /// # Errors
    /// When the options ask for what a chain in parts cannot do, or the sample cannot be used.
    pub fn new(
        sample: &Dataset,
        census: &Census,
        options: &FitOptions,
        monitor: &FitMonitor<'_>,
    ) -> Result<Self, FitError> {
        let is_line = sample.inputs().dim() == 1;
        let refuse = |what| Err(FitError::NotInParts { what });
        if !matches!(options.method, MethodChoice::Auto | MethodChoice::Catena) {
            return refuse("is fitted by message passing; leave method out");
        }
        if !matches!(options.structure, StructureOption::Auto | StructureOption::Chain) {
            return refuse("lies on a chain; leave structure out");
        }
        if options.time.is_some() {
            return refuse(
                "is not learned with pieces for time; fit such a model to a sample on one machine and apply it",
            );
        }
        let mut options = options.clone();
        options.method = MethodChoice::Catena;
        options.structure = if is_line { StructureOption::Auto } else { StructureOption::Chain };
        if let Some(given) = options.parameters.take() {
            return Ok(Self { options, source: Source::Given(given) });
        }
        if options.latents == Some(0) && !options.private.unwrap_or(census.n_outputs() > 1) {
            return Err(FitError::NoLatents { asked: 0 });
        }
        let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
        let (part, positive) = (distinct(sample)?.0.into_owned(), census.is_positive());
        let choice = choose_on(part, census.n_rows, positive, &options, units, monitor)?;
        Ok(Self { options, source: Source::Chosen(Box::new(choice)) })
    }

    /// The units of the whole table; `gap` is its median gap along a single input.
    ///
    /// # Errors
    /// When an output was never observed, or a number leaves its range.
    pub fn preparation(&self, census: &Census, gap: Option<f64>) -> Result<Preparation, FitError> {
        let is_line = census.n_inputs() == 1;
        let scales = match self.source {
            Source::Chosen(_) => self.options.standardize,
            // Given length-scales of several inputs are distances as they are.
            Source::Given(_) => self.options.standardize && is_line,
        };
        let units = if scales { InputUnits::Scaled } else { InputUnits::AsGiven };
        match &self.source {
            Source::Chosen(choice) => Ok(census.preparation(gap, units, &choice.wanted)?),
            Source::Given(_) if self.options.standardize => {
                Ok(census.preparation(gap, units, &self.options.wanted())?)
            }
            Source::Given(_) => Ok(census.identity(gap, units)),
        }
    }

    /// Learns the parameters by an evidence that someone else finds from the parts, or takes those that are given. Several
    /// starts ask for evidence at the same time. `sample` is the table that the fitted model keeps.
    ///
    /// # Errors
    /// When there is no evidence at any start.
    pub fn learn(
        self,
        gathered: Gathered,
        sample: &Dataset,
        evidence: &EvidenceOfParts<'_>,
        monitor: &FitMonitor<'_>,
    ) -> Result<Fit, FitError> {
        let n_outputs = gathered.census.n_outputs();
        let (sums, counts) = (&gathered.sums.0, &gathered.sums.1);
        let diagonal =
            |of: &[f64]| -> Vec<f64> { (0..n_outputs).map(|at| of[at * (n_outputs + 1)]).collect() };
        let n_distinct: Vec<usize> = diagonal(counts).iter().map(|&count| count as usize).collect();
        let extent = match gathered.spacing {
            Some(spacing) => {
                Extent { spacing, span: gathered.census.span(&gathered.preparation).max(spacing) }
            }
            None => Extent { spacing: 1.0, span: 1.0 },
        };
        let facts = Facts { extent, constant: constants(&diagonal(sums), &n_distinct) };
        let Self { options, source } = self;
        let (model, learned, told) = match source {
            Source::Given(given) => {
                let is_line = gathered.census.n_inputs() == 1;
                let model = given_model(&given, &gathered.preparation, is_line, &options)?;
                let told = Told { decisions: vec!["parameters as given".to_owned()], ..Told::default() };
                (model, None, told)
            }
            Source::Chosen(choice) => {
                let moments = OutputMoments::from_sums(n_outputs, sums, counts);
                let (learned, told) =
                    learn(*choice, (&facts, &moments), &gathered, (&options, evidence), monitor)?;
                (learned.model.clone(), Some(learned), told)
            }
        };
        let summary = summarize(&model, learned.as_ref(), told, (&facts, &n_distinct), &gathered, &options);
        Fit::from_parts(FitParts {
            table: sample.clone(),
            preparation: gathered.preparation,
            model,
            method: options.method,
            structure: options.structure,
            candidates: None,
            seed: options.seed,
            summary,
        })
    }
}

/// Learns the chosen model: from where it stood when it was compared, and from the table's own starts.
fn learn(
    choice: Choice,
    (facts, moments): (&Facts, &OutputMoments),
    gathered: &Gathered,
    (options, evidence): (&FitOptions, &EvidenceOfParts<'_>),
    monitor: &FitMonitor<'_>,
) -> Result<(Learned, Told), FitError> {
    let Choice { family, tried, reasons: mut decisions, held_out, on_hidden, plan, earlier, .. } = choice;
    if gathered.census.n_copies > 0 {
        decisions.push(format!(
            "{} cells repeat another at the same place to the last digit; learning left them out",
            gathered.census.n_copies
        ));
    }
    let priors = options.priors.clone().unwrap_or_else(|| facts.priors());
    let earlier = earlier.map(|(model, from)| carried(&model, &from, &gathered.preparation)).transpose()?;
    let course = Course {
        family,
        multipliers: if earlier.is_none() && plan.final_multipliers.is_empty() {
            &[1.0]
        } else {
            plan.final_multipliers
        },
        earlier: earlier.into_iter().collect(),
        settings: plan.race,
        priors: &priors,
        noise_floor: options.noise_floor,
    };
    let (_, starts, parameters) = facts.starts(&course, || moments)?;
    let limit = course.settings.optimizer.max_iterations as f64;
    let watch = |progress: Progress| {
        let done = progress.iteration as f64 / limit;
        monitor(Event { stage: Stage::Learning, done, log_posterior: Some(progress.value) })
    };
    let make = || FromParts(evidence);
    let learned = multi_start(&make, &parameters, course.priors, &starts, course.settings, &watch)
        .map_err(|error: MultiStartError<EvidenceFailure>| FitError::Learning(error.to_string()))?;
    Ok((learned, Told { tried, decisions, held_out, on_hidden }))
}

fn summarize(
    model: &Lmc,
    learned: Option<&Learned>,
    told: Told,
    (facts, n_distinct): (&Facts, &[usize]),
    gathered: &Gathered,
    options: &FitOptions,
) -> Summary {
    let Gathered { census, preparation, remarks, .. } = gathered;
    let outputs = summary::outputs(model, preparation, &census.n_observed, facts.extent, options);
    let held_out = summary::held_out(told.held_out);
    Summary {
        method: format!("{} in parts", method_name(options)),
        n_rows: census.n_rows,
        input_names: options.input_names.clone(),
        latents: summary::latents(model, preparation, facts.extent, options),
        held_out_by_output: summary::by_output(&outputs, told.on_hidden.as_ref()),
        outputs,
        mixing: summary::mixing(model, preparation),
        correlation: summary::correlation(model, facts.extent),
        log_evidence: learned.map_or(0.0, |learned| learned.log_evidence),
        path: learned.map(|learned| learned.path.clone()).unwrap_or_default(),
        ending: summary::ending(learned),
        n_evaluations: learned.map_or(0, |learned| learned.n_evaluations),
        tried: told.tried,
        warnings: warnings(model, (facts, n_distinct), learned, &held_out, options),
        held_out,
        probabilities: summary::probabilities(told.on_hidden.as_ref()),
        decisions: told.decisions.into_iter().chain(remarks.iter().cloned()).collect(),
    }
}

/// Evidence that someone finds from the parts.
struct FromParts<'a>(&'a EvidenceOfParts<'a>);

impl Evidence for FromParts<'_> {
    type Error = EvidenceFailure;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, EvidenceFailure> {
        (self.0)(model)
    }
}
