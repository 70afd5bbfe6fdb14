//! The covariance form over the segments of a chain, on several threads.
//!
//! A segment depends on the rest of the chain through the filtered Gaussian (m, P) before it and the adjoint (r, N) after it. A sweep in
//! blocks passes them from one segment to the next; a sweep on several threads computes them without waiting, because a filter
//! forgets its initial state:
//!
//! 1. In parallel, each segment is filtered from an unknown but fixed state, with mean and covariance zero, together with the
//!    dependence Φ on that state ([`merge`]). Where Φ has fallen below rounding, the segment has merged with the filter of the whole
//!    chain, and its moments are final.
//! 2. Segments that do not merge follow the one before them.
//! 3. In parallel, the beginning of each segment up to its merge is filtered again, from the true Gaussian before it.
//! 4. The adjoint is carried back by the same matrices by which the filter forgets, so at the start of a segment it does not depend on
//!    anything beyond the merge. From there each segment computes the adjoint that the segment before it needs.
//! 5. In parallel, all segments are smoothed.
//!
//! The segments depend on the length of the chain alone, never on the number of threads, and sums are taken in their order: results
//! are the same to the bit on any number of threads.

mod merge;
mod segment;
mod sweep;
mod threads;

pub(super) use segment::Segment;
pub(super) use sweep::KalmanSweep;
pub(super) use threads::Cut;
