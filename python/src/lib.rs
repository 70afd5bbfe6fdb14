//! The Rust extension of the Python package: converts arguments and results. It has no mathematics and no defaults of its own.
//!
//! - `model`: a fit as a Python object; `fitting`: making one, with progress and Ctrl-C.
//! - `live`: a fit that takes single observations.
//! - `options`: keyword arguments as options of a fit; `about`: names and clocks of a table.
//! - `parts`: partitioned tables, one process per partition.
//! - `answers`: quantiles, components and new rows of a fit; `scoring`: forecasts from many origins, and comparisons of methods.
//! - `checking`: bad cells of a table.
//! - `structure`, `sweep`, `scores`: building blocks.
//! - `times`: times as numbers.
//! - `arrays`, `failure`, `threads`: numpy arrays, exceptions, and a thread pool that survives a fork.

mod about;
mod answers;
mod arrays;
mod checking;
mod failure;
mod fitting;
mod known;
mod live;
mod model;
mod options;
mod parts;
mod scores;
mod scoring;
mod structure;
mod sweep;
mod threads;
mod times;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// The system allocator returns the memory of a sweep after every call, and fresh pages take half of the time of a posterior of
/// 17 420 rows.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Extension module; the public interface is the package `catena`.
#[pymodule]
mod _catena {
    #[pymodule_export]
    use super::answers::{cell_noise, components, new_rows, quantiles};
    #[pymodule_export]
    use super::checking::{check, fit_clean};
    #[pymodule_export]
    use super::fitting::{fit, relearn};
    #[pymodule_export]
    use super::known::{KnownModel, fit_known};
    #[pymodule_export]
    use super::live::Live;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::parts::{Outline, Segment, census, chain_order, merged_census, rows_to_compare, surroundings};
    #[pymodule_export]
    use super::scores::cell_scores;
    #[pymodule_export]
    use super::scoring::{backtest, compare};
    #[pymodule_export]
    use super::structure::{Structure, chain, greedy_chain, random_chains, sorted_chain, spanning_tree};
    #[pymodule_export]
    use super::sweep::sweep;
    #[pymodule_export]
    use super::times::{
        calendar_of, duration_seconds, instants_of, median_gap, numbers_of, rows_ahead, seconds_text,
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python looks for")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
