//! The verbs, one file each.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completion;
pub(crate) mod demo;
pub(crate) mod fit;
pub(crate) mod forecast;
pub(crate) mod impute;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod score;
pub(crate) mod serve;
pub(crate) mod structure;
pub(crate) mod update;
pub(crate) mod watch;

use crate::arguments::{Command, Verb};
use crate::error::CliError;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command.verb {
        Verb::Fit(arguments) => fit::run(&arguments),
        Verb::Predict(arguments) => predict::run(&arguments),
        Verb::Impute(arguments) => impute::run(&arguments),
        Verb::Forecast(arguments) => forecast::run(&arguments),
        Verb::Update(arguments) => update::run(&arguments),
        Verb::Watch(arguments) => watch::run(&arguments),
        Verb::Serve(arguments) => serve::run(&arguments),
        Verb::Score(arguments) => score::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
        Verb::Structure(arguments) => structure::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Completion(arguments) => completion::run(&arguments),
    }
}
