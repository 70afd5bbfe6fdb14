//! A fitted model that takes observations one by one, at a cost that hardly depends on the number of rows.

mod error;
mod groups;
mod left_out;
mod live_fit;

pub use error::LiveFitError;
pub use groups::LiveGroups;
pub use left_out::Expected;
pub use live_fit::LiveFit;
