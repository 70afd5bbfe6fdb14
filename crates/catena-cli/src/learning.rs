//! A fit of the chosen columns, with progress, and Ctrl-C to stop with the best so far.

use std::ops::ControlFlow;

use catena::data::Dataset;
use catena_auto::fit::{Event, Fit, FitOptions, fit};

use crate::arguments::ModelOptions;
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Learning;
use crate::parameters;
use crate::plan;
use crate::source::Source;

/// Limits the threads of everything that follows.
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

/// What is asked of a fit, parameters read from their file. A wrong option must not wait for a large table to be read, so
/// this comes first; names follow with the table.
pub(crate) fn fit_options(options: &ModelOptions) -> Result<FitOptions, CliError> {
    use_threads(options.threads)?;
    let parameters = match (options.no_learn, &options.parameters) {
        (true, None) => return Err(CliError::NoParameters),
        (true, Some(path)) => Some(parameters::read(path)?),
        (false, _) => None,
    };
    Ok(FitOptions {
        method: options.method,
        structure: options.structure,
        state: options.state.given(),
        latents: options.latents.given(),
        private: options.private.given(),
        relevance: options.ard.given(),
        kernel: options.kernel.given(),
        parameters,
        budget: options.budget,
        seed: options.seed,
        ..FitOptions::default()
    })
}

/// Fits the chosen columns.
pub(crate) fn learn(
    source: &Source,
    options: &FitOptions,
    limits: &ModelOptions,
    console: Console,
) -> Result<Fit, CliError> {
    let frame = &source.frame;
    if options.parameters.is_none() && frame.n_rows() < 2 {
        return Err(CliError::OneRow { file: frame.file.clone() });
    }
    plan::check_memory(frame, options, limits.max_memory)?;
    let options = FitOptions {
        input_names: frame.inputs.iter().map(|input| input.name.clone()).collect(),
        output_names: frame.outputs.clone(),
        ..options.clone()
    };
    fit_watched(&source.dataset()?, &options, console).map_err(|error| source.in_user_terms(error))
}

/// Fits a table with a progress bar; the first Ctrl-C keeps the best so far.
pub(crate) fn fit_watched(
    table: &Dataset,
    options: &FitOptions,
    console: Console,
) -> Result<Fit, catena_auto::fit::FitError> {
    let learning = Learning::begin();
    if options.parameters.is_none() {
        console.say(format!("learning from {} observed cells", table.observations().n_observed()));
    }
    let bar = console.fitting();
    let monitor = |event: Event| {
        bar.show(event);
        if learning.is_asked_to_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = fit(table, options, &monitor);
    bar.finish();
    fit
}

/// Says what the user should know before trusting a fit.
pub(crate) fn warn(fit: &Fit, console: Console) {
    for warning in &fit.summary().warnings {
        console.say(format!("warning: {warning}"));
    }
}
