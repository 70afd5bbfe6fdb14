//! The Rust of the book in `docs/`, compiled and run by `cargo test --doc`. It is here because its pages use the core and this crate.

/// Extending catena.
#[doc = include_str!("../../../docs/extending.md")]
pub struct Extending;

/// The glossary: every name it gives.
#[doc = include_str!("../../../docs/glossary.md")]
pub struct Glossary;

/// Edits, streams and segments.
#[doc = include_str!("../../../docs/live.md")]
pub struct Live;

/// The sweep.
#[doc = include_str!("../../../docs/sweep.md")]
pub struct Sweep;
