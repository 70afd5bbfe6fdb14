//! Power transforms of one output: the logarithm, Box–Cox and Yeo–Johnson, with the moments of a normal after the inverse.

mod moments;
mod transform;

pub(crate) use moments::covariance;
pub use transform::{LARGEST_EXPONENT, PowerTransform};
