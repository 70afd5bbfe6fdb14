//! Chooses the inference method for tables with several inputs.
//!
//! Exact inference is used if its cost fits the time and memory budget. Otherwise candidates are compared on held-out cells:
//! message passing on the default structure and on an ensemble of chains, and the full-scale method at several sizes. Message
//! passing learns on all compared rows; the other methods learn from a few hundred rows by the full-scale likelihood. Exact and
//! full-scale inference use Euclidean distances, so they choose their own smoothness and private latents.

mod candidate;
mod euclidean;
mod selection;

pub(crate) use selection::select_method;
