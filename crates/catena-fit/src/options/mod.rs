//! Options of a fit.

mod bounds;
mod by_output;
mod choices;
mod fit_options;
mod likelihoods;
mod methods;
mod structures;
mod time;
mod time_spec;
mod transforms;
mod words;

pub use bounds::{Bounds, BoundsOptions, InvalidBounds};
pub use by_output::{ByOutput, InvalidByOutput};
pub use choices::{
    Budget, CombineChoice, GivenParameters, GroupScaling, KernelPair, MeanChoice, TransformChoice,
    UnknownKernel,
};
pub use fit_options::FitOptions;
pub use likelihoods::{InvalidLikelihood, LikelihoodChoice, LikelihoodOptions, LikelihoodRequest};
pub use methods::MethodChoice;
pub(crate) use methods::with_methods;
pub(crate) use structures::rows_by_inputs;
pub use structures::{MOST_CHAINS, StructureOption, Ties};
pub use time::{
    ComponentKind, ComponentParameters, MOST_OUTPUTS, MOST_WITH_OWN_SEASONS, SharedHarmonic, SharedSeason,
    TimeOptions, TimeParameters,
};
pub use time_spec::{SpecError, Term, TimeSpec};
pub use transforms::{InvalidTransforms, TransformKind, TransformOptions};
pub use words::UnknownWord;
pub(crate) use words::positive_count;

/// How users request relearning, on the command line and in Python.
pub(crate) const RELEARN: &str = "--relearn (relearn=True in Python)";
