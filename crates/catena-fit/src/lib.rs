//! Automatic fits: from a table in the user's units to a fitted model, and one interface over inference methods.
//!
//! [`fit`] chooses a model family and a method, learns, conditions and summarizes. [`Fit`] predicts, takes more rows
//! ([`Fit::with_more_rows`], [`Fit::relearned`]) and becomes a [`LiveFit`] for streams.
//!
//! - [`methods`]: message passing, exact, sparse, nearest-neighbor and full-scale inference, and simple rules as [`methods::Method`]s.
//! - [`parts`]: fits of tables in partitions.
//! - [`forecast`]: models chosen for forecasts, and forecasts from many origins, scored.
//! - [`scores`], [`normal`]: scores of predictive distributions.
//!
//! ARCHITECTURE.md has the layers of the modules; `tests/layers.rs` checks them.

mod blocks;
#[cfg(doctest)]
mod book;
mod check;
mod compare;
mod components;
mod cost;
mod error;
mod families;
mod fit;
mod folds;
pub mod forecast;
mod known_rows;
mod learn;
mod live;
mod method_selection;
pub mod methods;
mod monitor;
pub mod normal;
mod options;
pub mod parts;
mod power;
mod prepare;
mod relearn;
pub mod scores;
mod size;
mod space;
mod stack;
mod student;

pub use blocks::{Block, InBlocks};
pub use catena_methods::MemoryLimit;
pub use catena_methods::fullscale::FullScaleSize;
pub use catena_methods::simple_rules::AheadRule;
pub use check::{BAND, Checked, FALSE_DISCOVERY_RATE, Finding, FindingKind, check, fit_cleaned};
pub use compare::{Compared, ComparedScores, Comparison, HeldOutBlock, compare};
pub use components::Components;
pub use error::{FitError, MethodError};
pub use families::CandidateSummary;
pub use fit::{
    ComponentSummary, Fit, FitComparison, FitParts, HeldOut, LatentSummary, MemberSummary, OriginSummary,
    OutputSummary, SumSummary, Summary, fit, fit_compared,
};
pub use folds::{HeldOutFolds, SimpleRule};
pub use forecast::{Effect, KnownColumns, KnownFit, KnownScore, fit_ahead, fit_known};
pub use known_rows::{NewRows, later_rows};
pub use live::{Expected, LiveFit, LiveFitError, LiveGroups};
pub use methods::Quantity;
pub use monitor::{Event, FitMonitor, Stage};
pub use options::{
    Bounds, BoundsOptions, Budget, ByOutput, CombineChoice, ComponentKind, ComponentParameters, FitOptions,
    GivenParameters, GroupScaling, InvalidBounds, InvalidByOutput, InvalidLikelihood, InvalidTransforms,
    KernelPair, LikelihoodChoice, LikelihoodOptions, LikelihoodRequest, MOST_CHAINS, MOST_OUTPUTS,
    MOST_WITH_OWN_SEASONS, MeanChoice, MethodChoice, SharedHarmonic, SharedSeason, SpecError,
    StructureOption, Term, Ties, TimeOptions, TimeParameters, TimeSpec, TransformChoice, TransformKind,
    TransformOptions, UnknownKernel, UnknownWord,
};
pub use power::{LARGEST_EXPONENT, PowerTransform};
pub use prepare::{
    InputUnits, OutputTransform, Point, Predictive, Preparation, median_gap, median_gap_within_groups,
    rows_with_a_cell,
};
pub use size::{FitSize, QuerySize};
pub use space::{Geometry, Places};
pub use stack::{
    Combination, Member, MemberKind, PlaceColumns, PoolComponent, ResidualProcess, RowRegression, RowRule,
    RuleAhead,
};
