//! Errors of summaries and their bytes.

use thiserror::Error;

/// Summaries that do not belong together, or invalid bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The bytes are of something else.
    #[error("these bytes are not {expected}; pass bytes that `to_bytes` returned")]
    SomethingElse {
        /// What was expected.
        expected: &'static str,
    },
    /// The bytes have an unknown version.
    #[error("the bytes of a segment have version {found}; this program reads version {known}")]
    Version {
        /// The version found.
        found: u32,
        /// The version known.
        known: u32,
    },
    /// The bytes do not match their checksum.
    #[error(
        "the bytes of a segment are damaged: these {len} bytes do not match their checksum; write them again"
    )]
    Damaged {
        /// The number of bytes.
        len: usize,
    },
    /// Numbers left the range of doubles.
    #[error("numbers overflow when the segments are joined; standardize inputs and outputs first")]
    Overflow,
    /// The summaries are of models with other states.
    #[error(
        "the segments have states of {first:?} and {second:?} components; summarize both under one model"
    )]
    OtherModel {
        /// Components of each latent of the first.
        first: Vec<usize>,
        /// Components of each latent of the second.
        second: Vec<usize>,
    },
}
