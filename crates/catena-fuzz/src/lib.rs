//! Attacks on everything that reads what others wrote, and on the way from a table to an answer.
//!
//! A target is a plain function of bytes that must return: a panic is a finding, and so is a number that is not finite where
//! an error should have been. The same functions run in the tests, over the corpus, the regressions and a short seeded run of
//! mutations, and under libFuzzer for as long as one likes (`cargo xtask fuzz`). `docs/fuzzing.md` says what was found.
//!
//! - [`TARGETS`]: one file each in `targets/`;
//! - [`Supply`]: numbers and choices out of bytes;
//! - [`mutations`]: what the tests do to a corpus.

mod mutation;
mod scratch;
mod supply;
mod targets;

pub use mutation::{Mutations, mutations};
pub use supply::Supply;
pub use targets::{TARGETS, Target, find};
