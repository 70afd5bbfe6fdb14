//! Options of a fit.

mod choices;
mod fit_options;
mod time;
mod time_spec;
mod words;

pub use choices::{
    Budget, GivenParameters, KernelPair, MeanChoice, MethodChoice, StructureOption, TransformChoice,
    UnknownKernel,
};
pub use fit_options::FitOptions;
pub use time::{
    ComponentKind, ComponentParameters, MOST_OUTPUTS, MOST_WITH_OWN_SEASONS, SharedHarmonic, SharedSeason,
    TimeOptions, TimeParameters,
};
pub use time_spec::{SpecError, Term, TimeSpec};
pub use words::UnknownWord;

/// How users request relearning, on the command line and in Python.
pub(crate) const RELEARN: &str = "--relearn (relearn=True in Python)";
