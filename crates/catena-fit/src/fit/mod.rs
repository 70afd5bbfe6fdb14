//! From a table to a fitted model in one call: choose, learn, condition, summarize.

mod auto_likelihood;
mod compared;
mod describe;
mod finish;
mod fitted;
mod given;
mod likelihood_candidates;
mod likelihoods;
mod natural_limits;
mod pipeline;
mod reasons;
mod space;
mod summary;
mod sums;
mod text;
mod time;
mod warnings;
mod work;

pub use compared::FitComparison;
pub(crate) use describe::{Description, SelectionReport, summarize};
pub(crate) use finish::{LearnedModel, finish};
pub use fitted::{Fit, FitParts};
pub(crate) use given::given_model;
pub(crate) use pipeline::with_decided_likelihoods;
pub use pipeline::{fit, fit_compared};
pub(crate) use reasons::{copies_reason, stretches_reason};
pub(crate) use space::relearn_space;
pub use summary::{HeldOut, LatentSummary, MemberSummary, OriginSummary, OutputSummary, Summary};
pub use sums::{ComponentSummary, SumSummary};
pub(crate) use text::UNCHECKED;
pub(crate) use time::{fit as fit_time_model, time_model};
pub(crate) use warnings::range_warnings;
