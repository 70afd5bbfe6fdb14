//! Runs a fit with progress; Ctrl-C stops it and keeps the best model so far.

use std::ops::ControlFlow;
use std::time::{self, Instant};

use catena::data::Dataset;
use catena_fit::{
    Event, Fit, FitError, FitMonitor, FitOptions, Geometry, KnownColumns, KnownFit, MethodChoice,
    TimeOptions, TimeSpec, fit, fit_ahead, fit_known,
};
use catena_io::FileName;
use catena_io::select::Frame;
use catena_io::units::Duration;
use catena_methods::MemoryLimit;
use catena_store::LengthUnit;

use crate::arguments::{Columns, KernelOption, ModelOptions, Printing, positive};
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Learning;
use crate::parameters;
use crate::plan::{Plan, size_of};
use crate::source::Source;

/// Sets the number of threads of the process.
pub(crate) fn use_threads(threads: Option<usize>) -> Result<(), CliError> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=1024).contains(&threads) {
        return Err(CliError::Threads(threads));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|_| CliError::Threads(threads))
}

/// Options of a fit, checked before the table is read.
pub(crate) struct FitRequest<'a> {
    given: &'a ModelOptions,
    /// When the command began.
    begin: Instant,
    pub(crate) options: FitOptions,
    /// The parameter file and its first entry that is a duration.
    duration: Option<(FileName, String)>,
}

impl<'a> FitRequest<'a> {
    /// Checks the options that do not depend on the table, and reads the parameter file.
    pub(crate) fn new(given: &'a ModelOptions, columns: &Columns) -> Result<Self, CliError> {
        let begin = Instant::now();
        use_threads(given.threads)?;
        let method = match (columns.space_and_time(), given.method) {
            (Some(_), MethodChoice::Auto) => MethodChoice::Space { geometry: Geometry::Auto },
            (Some(_), other) if !matches!(other, MethodChoice::Space { .. }) => {
                return Err(CliError::SpaceWithMethod { method: other.to_string() });
            }
            (_, method) => method,
        };
        if matches!(given.kernel.given(), Some(KernelOption::Pair(_))) && !given.periods.is_empty() {
            return Err(CliError::PeriodWithKernel);
        }
        let mut options = FitOptions {
            method,
            structure: given.structure,
            state: given.state.given(),
            latents: given.latents.given(),
            private: given.private.given(),
            mean: given.mean,
            group_scaling: given.group_scaling,
            ard: given.ard.given(),
            kernel: match given.kernel.given() {
                Some(KernelOption::Pair(pair)) => Some(pair),
                Some(KernelOption::Sum(_) | KernelOption::Time) | None => None,
            },
            combine: given.combine,
            transforms: given.transforms.clone(),
            likelihoods: given.likelihood.clone().unwrap_or_default(),
            bounds: given.bounds.clone().unwrap_or_default(),
            budget: given.budget,
            seed: given.seed,
            ..FitOptions::default()
        };
        let mut duration = None;
        match (given.no_learn, &given.parameters) {
            (true, None) => return Err(CliError::NoParameters),
            (true, Some(path)) => {
                let (parameters, key) = parameters::read(path)?;
                duration = key.map(|key| (parameters::name(path), key));
                parameters.give_to(&mut options);
            }
            (false, _) => {}
        }
        Ok(Self { given, begin, options, duration })
    }

    /// The options for a table: its names, lengths in units of its input, and the memory limit.
    fn prepared(&self, frame: &Frame) -> Result<FitOptions, CliError> {
        let Self { options, given, .. } = self;
        if !options.has_parameters() && frame.n_rows() < 2 {
            return Err(CliError::OneRow { file: frame.file.clone() });
        }
        let is_time = matches!(frame.inputs.as_slice(), [input] if input.time.is_some());
        if let Some((file, key)) = self.duration.as_ref().filter(|_| !is_time) {
            let names: Vec<&str> = frame.inputs.iter().map(|input| input.name.as_str()).collect();
            let what = format!(
                "`{key}` is a duration, but input {} of {} holds numbers, not times; give a number",
                names.join(", "),
                frame.file
            );
            return Err(CliError::Parameters { file: file.clone(), what });
        }
        let options = FitOptions {
            time: time_options(frame, options, given)?,
            memory: MemoryLimit::bytes(given.memory_limit()),
            ..options.clone()
        };
        // The time for reading counts.
        let left = |limit: time::Duration| limit.saturating_sub(self.begin.elapsed()).max(limit / 10);
        let too_large = |cause| CliError::Fit { file: frame.file.clone(), cause };
        options.check_size(size_of(frame)).map_err(too_large)?;
        Ok(FitOptions {
            calendar: LengthUnit::of_inputs(&frame.inputs).calendar_periods(),
            length_text: if is_time {
                LengthUnit::of_inputs(&frame.inputs).writer()
            } else {
                options.length_text
            },
            time_is_last: match frame.inputs.as_slice() {
                [coordinates @ .., last] => {
                    last.time.is_some() && coordinates.iter().all(|input| input.time.is_none())
                }
                [] => false,
            },
            input_names: frame.inputs.iter().map(|input| input.name.clone()).collect(),
            output_names: frame.outputs.clone(),
            time_limit: self.given.time_limit.map(left),
            ..options
        })
    }

    /// The options for a table; a dry run prints the plan of `verb` and returns `None`.
    pub(crate) fn for_table(
        &self,
        frame: &Frame,
        verb: &str,
        printing: Printing,
    ) -> Result<Option<FitOptions>, CliError> {
        let options = self.prepared(frame)?;
        if !self.given.dry_run {
            return Ok(Some(options));
        }
        Plan::new(frame, &options).show(verb, printing.json, printing.console())?;
        Ok(None)
    }

    /// The same for forecasts of rows up to `reach` after the last one.
    pub(crate) fn learn_ahead(
        &self,
        source: &Source,
        reach: f64,
        printing: Printing,
    ) -> Result<Option<Fit>, CliError> {
        let Some(options) = self.for_table(&source.frame, "forecast", printing)? else { return Ok(None) };
        let table = source.dataset()?;
        let n_cells = (!options.has_parameters()).then(|| table.observations().n_observed());
        let learn = |monitor: &FitMonitor<'_>| fit_ahead(&table, &options, reach, monitor);
        watched(n_cells, printing.console(), learn).map(Some).map_err(|error| source.in_user_terms(error))
    }

    /// The same with columns that are known ahead.
    pub(crate) fn learn_known(
        &self,
        source: &Source,
        known: &KnownColumns,
        printing: Printing,
    ) -> Result<Option<KnownFit>, CliError> {
        let Some(options) = self.for_table(&source.frame, "forecast", printing)? else { return Ok(None) };
        let table = source.dataset()?;
        let n_cells = Some(table.observations().n_observed());
        let learn = |monitor: &FitMonitor<'_>| fit_known(&table, known, &options, monitor);
        watched(n_cells, printing.console(), learn).map(Some).map_err(|error| source.in_user_terms(error))
    }

    /// Fits the selected columns; a dry run prints the plan of `verb` and returns `None`.
    pub(crate) fn learn(
        &self,
        source: &Source,
        verb: &str,
        printing: Printing,
    ) -> Result<Option<Fit>, CliError> {
        let Some(options) = self.for_table(&source.frame, verb, printing)? else { return Ok(None) };
        let fit = fit_watched(&source.dataset()?, &options, printing.console());
        fit.map(Some).map_err(|error| source.in_user_terms(error))
    }
}

/// The requested time model in units of the table's input; that of `options` if none was requested.
fn time_options(
    frame: &Frame,
    options: &FitOptions,
    given: &ModelOptions,
) -> Result<Option<TimeOptions>, CliError> {
    let sum = match given.kernel.given() {
        Some(KernelOption::Sum(text)) => Some(text),
        Some(KernelOption::Pair(_) | KernelOption::Time) | None => None,
    };
    if !given.requests_time_model() {
        return Ok(options.time.clone());
    }
    let [input] = frame.inputs.as_slice() else {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    };
    let period = |text: &str| -> Result<f64, String> {
        if input.time.is_some() {
            let duration = text.parse::<Duration>().map_err(|error| error.to_string())?;
            return Ok(duration.seconds());
        }
        positive(text).ok_or_else(|| {
            format!("{text:?} is not a positive number, but input {} holds numbers, not times", input.name)
        })
    };
    let spec = sum.map(|text| TimeSpec::parse(&text, &period)).transpose();
    let spec = spec.map_err(|error| CliError::Period(error.to_string()))?;
    let periods: Result<Vec<f64>, String> = given.periods.iter().map(|text| period(text)).collect();
    let periods = periods.map_err(CliError::Period)?;
    let parameters = options.time.as_ref().and_then(|time| time.parameters.clone());
    Ok(Some(TimeOptions { spec, periods, parameters }))
}

/// Fits a table with a progress bar; the first Ctrl-C keeps the best model so far.
pub(crate) fn fit_watched(table: &Dataset, options: &FitOptions, console: Console) -> Result<Fit, FitError> {
    let n_cells = (!options.has_parameters()).then(|| table.observations().n_observed());
    watched(n_cells, console, |monitor| fit(table, options, monitor))
}

/// Runs `learn` with a progress bar; `n_cells` is the number of cells to report, if anything is learned.
pub(crate) fn watched<T>(
    n_cells: Option<usize>,
    console: Console,
    learn: impl FnOnce(&FitMonitor<'_>) -> Result<T, FitError>,
) -> Result<T, FitError> {
    let learning = Learning::begin();
    if let Some(n_cells) = n_cells {
        console.say(format!("learning from {n_cells} observed cells"));
    }
    let bar = console.fitting();
    let monitor = |event: Event| {
        bar.show(event);
        if learning.is_asked_to_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = learn(&monitor);
    bar.finish();
    fit
}

/// Prints the warnings of a fit.
pub(crate) fn warn(fit: &Fit, console: Console) {
    for warning in &fit.summary().warnings {
        console.say(format!("warning: {warning}"));
    }
}
