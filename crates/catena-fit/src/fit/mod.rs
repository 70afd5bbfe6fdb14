//! From a table to a fitted model in one call: choose, learn, condition, summarize.

mod describe;
mod fitted;
mod given;
mod joint;
mod pipeline;
mod summary;
mod sums;
mod text;
mod time;
mod warnings;

pub(crate) use describe::{Description, SelectionReport, summarize};
pub use fitted::{Fit, FitParts};
pub(crate) use given::given_model;
pub use pipeline::fit;
pub(crate) use pipeline::{LearnedModel, copies_reason, finish};
pub use summary::{HeldOut, LatentSummary, OutputSummary, Summary};
pub use sums::{ComponentSummary, SumSummary};
pub(crate) use time::time_model;
pub(crate) use warnings::range_warnings;
