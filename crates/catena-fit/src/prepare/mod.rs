//! Table preparation: from a table in the user's units to scaled observations on a structure, and predictions back.

mod bounds;
mod component;
mod copies;
mod group_units;
mod input_units;
mod least_squares;
mod observed;
mod output_transform;
mod point;
mod predictive;
mod rescale;
mod rows;
mod table;
mod units;

pub(crate) use bounds::check_bounds;
pub(crate) use copies::without_copies;
pub use input_units::{InputUnits, median_gap, median_gap_within_groups};
pub(crate) use least_squares::solve_with_ridge;
pub(crate) use observed::Law;
pub use output_transform::OutputTransform;
pub use point::Point;
pub(crate) use predictive::PooledMember;
pub use predictive::Predictive;
pub(crate) use rescale::rescaled;
pub use rows::rows_with_a_cell;
pub(crate) use rows::{appended, joined_inputs, rows_by_contents, with_empty_rows};
pub(crate) use table::{PreparedTable, TableStatistics, constant_outputs};
pub use units::Preparation;
pub(crate) use units::{is_in_range, log_volume};
