//! Fuzz targets for everything that reads foreign input, and for the way from a table to a prediction.
//!
//! A target is a function of bytes that must return: a panic is a finding, and so is a number that is not finite where an error
//! is due. The same functions run in the tests, over the corpus, the regressions and a short seeded run of mutations, and under
//! libFuzzer (`cargo xtask fuzz`). `docs/fuzzing.md` lists the findings.
//!
//! - [`TARGETS`]: one file each in `targets/`;
//! - [`Supply`]: numbers and choices from bytes;
//! - [`mutations`]: seeded mutations of a corpus.

mod mutation;
mod scratch;
mod supply;
mod targets;

pub use mutation::{Mutations, mutations};
pub use supply::Supply;
pub use targets::{TARGETS, Target, find};
