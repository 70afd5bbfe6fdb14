//! The choice of a model for a table in partitions, and its learning from their summaries.

use catena::data::Dataset;
use catena::inference::Gradient;
use catena::kernel::StateKind;
use catena::learning::{Evidence, Extent, MultiStartError, OutputMoments};
use catena::model::Lmc;
use thiserror::Error;

use super::census::Census;
use crate::cost::TableSize;
use crate::error::FitError;
use crate::families::{FamilyChoice, choose_on, selection_rows};
use crate::fit::{Description, Fit, FitParts, SelectionReport, copies_reason, given_model, summarize};
use crate::learn::LearningTask;
use crate::monitor::{FitMonitor, Pace, Reporter, Stage, Watch};
use crate::options::{FitOptions, GivenParameters, MethodChoice, StructureOption, Ties};
use crate::power::PowerTransform;
use crate::prepare::{InputUnits, Preparation, TableStatistics, constant_outputs, rescaled, without_copies};

/// The kind of model for a table in partitions.
#[derive(Clone, Debug)]
pub struct Outline {
    options: FitOptions,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// Chosen on a sample, to be learned.
    Chosen(Box<FamilyChoice>),
    /// With given parameters.
    Given(GivenParameters),
}

/// Statistics of all partitions, in the units of the preparation.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The census of the whole table.
    pub census: Census,
    /// The units.
    pub preparation: Preparation,
    /// The median length of the nonzero edges of the chain; `None` if all edges have length 0.
    pub spacing: Option<f64>,
    /// Sums and counts of products of outputs over all partitions; see [`OutputMoments::sums_of`].
    pub sums: (Vec<f64>, Vec<f64>),
    /// The term that converts the log evidence to the user's units.
    pub log_volume: f64,
    /// Further decisions for the summary.
    pub remarks: Vec<String>,
}

/// The reason for missing evidence at some parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EvidenceFailure(pub String);

/// The number of rows on which models are compared; along a single input they should be consecutive.
pub fn rows_to_compare(n_rows: usize, n_inputs: usize, n_outputs: usize, options: &FitOptions) -> usize {
    selection_rows(TableSize { n_rows, n_inputs, n_outputs }, options)
}

/// Computes the log evidence of all partitions with its gradient.
pub type EvidenceOfParts<'a> = dyn Fn(&Lmc) -> Result<Gradient, EvidenceFailure> + Sync + 'a;

impl Outline {
    /// Chooses on a sample of the table what the options leave open, or takes given parameters.
    ///
    /// # Errors
    /// When an option is not supported in partitions, or the sample is invalid.
    pub fn new(
        sample: &Dataset,
        census: &Census,
        options: &FitOptions,
        monitor: &FitMonitor<'_>,
    ) -> Result<Self, FitError> {
        let is_line = sample.inputs().dim() == 1;
        let refuse = |what| Err(FitError::NotInParts { what });
        if !options.method.is_message_passing() {
            return refuse("supports message passing only; leave method out");
        }
        if !matches!(options.structure, StructureOption::Auto | StructureOption::Chain) {
            return refuse("supports a chain only; leave structure out");
        }
        if options.time.is_some() {
            return refuse(
                "does not support learning a time model; fit it to a sample on one machine and apply it",
            );
        }
        if options.time_limit.is_some() {
            return refuse("has no time limit; leave it out and choose a budget");
        }
        if options.may_have_likelihoods(census.n_outputs())? {
            return refuse(
                "has gaussian outputs only; leave likelihood out, or fit the table on one machine",
            );
        }
        let kinds = options.transform_kinds(census.n_outputs())?;
        let is_requested = kinds.iter().any(|kind| kind.is_requested());
        if is_requested && options.parameters.is_some() {
            return Err(FitError::TransformsWith { what: "a given parameter" });
        }
        if kinds.iter().zip(census.is_positive()).any(|(kind, positive)| kind.needs_positive() && !positive) {
            return refuse("needs positive values for the transforms log and box-cox; choose yeo-johnson");
        }
        let mut options = options.clone();
        options.method = MethodChoice::Catena;
        options.structure = if is_line { StructureOption::Auto } else { StructureOption::Chain };
        if let Some(given) = options.parameters.take() {
            return Ok(Self { options, source: Source::Given(given) });
        }
        if options.latents == Some(0) && !options.tries_private(census.n_outputs()) {
            return Err(FitError::NoLatents { requested: 0 });
        }
        let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
        let (part, positive) = (without_copies(sample)?.0.into_owned(), census.is_positive());
        let watch = &Watch::new(monitor, None);
        let choice = choose_on((part, None), census.n_rows, positive, &options, units, watch)?;
        Ok(Self { options, source: Source::Chosen(Box::new(choice)) })
    }

    /// The transforms of the outputs with learned exponents, for which every partition makes a second census by
    /// [`Census::of_transformed`]; empty if the first is enough.
    pub fn powers(&self) -> Vec<PowerTransform> {
        match &self.source {
            Source::Chosen(choice)
                if choice.transforms.powers.iter().any(|power| power.exponent().is_some()) =>
            {
                choice.transforms.powers.clone()
            }
            _ => vec![],
        }
    }

    /// The units of the whole table; `gap` is its median gap along a single input.
    ///
    /// # Errors
    /// When an output was never observed, or a number overflows.
    pub fn preparation(&self, census: &Census, gap: Option<f64>) -> Result<Preparation, FitError> {
        let is_line = census.n_inputs() == 1;
        let scales = match self.source {
            Source::Chosen(_) => self.options.standardize,
            // Given length-scales of several inputs are distances in the user's units.
            Source::Given(_) => self.options.standardize && is_line,
        };
        let units = if scales { InputUnits::Scaled } else { InputUnits::AsGiven };
        match &self.source {
            Source::Chosen(choice) if !census.has_moments_of(&choice.transforms) => {
                Err(FitError::NotInParts {
                    what: "with learned exponents needs a second census of every partition, with the transforms of the outline",
                })
            }
            Source::Chosen(choice) => Ok(census.preparation(gap, units, &choice.transforms)?),
            Source::Given(_) if self.options.standardize => {
                Ok(census.preparation(gap, units, &self.options.transform_choice())?)
            }
            Source::Given(_) => Ok(census.identity(gap, units)),
        }
    }

    /// Learns the parameters by the log evidence of all partitions, or takes the given ones. Several starts are evaluated in
    /// parallel. `sample` is the table that the fitted model keeps.
    ///
    /// # Errors
    /// When no start has a finite log evidence.
    pub fn learn(
        self,
        gathered: Gathered,
        sample: &Dataset,
        evidence: &EvidenceOfParts<'_>,
        monitor: &FitMonitor<'_>,
    ) -> Result<Fit, FitError> {
        let Gathered { census, preparation, spacing, sums: (sums, counts), log_volume, remarks } = gathered;
        let n_outputs = census.n_outputs();
        let diagonal =
            |of: &[f64]| -> Vec<f64> { (0..n_outputs).map(|at| of[at * (n_outputs + 1)]).collect() };
        let n_distinct: Vec<usize> = diagonal(&counts).iter().map(|&count| count as usize).collect();
        let extent = match spacing {
            Some(spacing) => Extent { spacing, span: census.span(&preparation).max(spacing) },
            None => Extent { spacing: 1.0, span: 1.0 },
        };
        let statistics =
            TableStatistics { extent, constant: constant_outputs(&diagonal(&sums), &n_distinct) };
        let Self { options, source } = self;
        let (model, learned, mut report) = match source {
            Source::Given(given) => {
                let is_line = census.n_inputs() == 1;
                let state = if is_line { StateKind::Derivative } else { StateKind::Value };
                let model = given_model(&given, &preparation, state, &options)?;
                (model, None, SelectionReport::of_decisions(vec!["parameters as given".to_owned()]))
            }
            Source::Chosen(choice) => {
                let FamilyChoice { family, tried, reasons, held_out, .. } = *choice;
                let (earlier, from) = &choice.earlier;
                let task = LearningTask::new(family, choice.settings, &statistics, &options)
                    .with_starts(vec![rescaled(earlier, from, &preparation)?], choice.multipliers);
                let moments = OutputMoments::from_sums(n_outputs, &sums, &counts);
                let watch = Watch::new(monitor, None);
                let reporter = Reporter::new(&watch, Stage::Learning, 0.0);
                let limit = choice.settings.optimizer.max_iterations;
                let pace = Pace::new(&reporter, 0.0);
                let learned =
                    task.learn_by(&statistics, || &moments, &|| FromParts(evidence), &|progress| {
                        reporter.learning(progress, limit)?;
                        pace.step(progress)
                    })?;
                let decisions = reasons.into_iter().chain(copies_reason(census.n_copies)).collect();
                let report = SelectionReport { tried, decisions, held_out, members: vec![] };
                (learned.model.clone(), Some(learned), report)
            }
        };
        report.decisions.extend(remarks);
        let summary = summarize(Description {
            method: format!("{} in parts", options.method_name()),
            n_rows: census.n_rows,
            n_observed: &census.n_observed,
            n_distinct: &n_distinct,
            model: &model,
            learned: learned.as_ref(),
            log_evidence: (learned.as_ref().map_or(0.0, |learned| learned.log_evidence), log_volume),
            preparation: &preparation,
            statistics: &statistics,
            report,
            options: &options,
            cut: None,
        });
        Fit::from_parts(FitParts {
            table: sample.clone(),
            preparation,
            model,
            method: options.method,
            structure: options.structure,
            ties: Ties::ByInputs,
            candidates: None,
            seed: options.seed,
            memory: options.memory,
            summary,
            combination: None,
        })
    }
}

/// The log evidence of all partitions.
struct FromParts<'a>(&'a EvidenceOfParts<'a>);

impl Evidence for FromParts<'_> {
    type Error = EvidenceFailure;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, EvidenceFailure> {
        (self.0)(model)
    }
}

impl From<MultiStartError<EvidenceFailure>> for FitError {
    fn from(error: MultiStartError<EvidenceFailure>) -> Self {
        Self::Learning(error.to_string())
    }
}
