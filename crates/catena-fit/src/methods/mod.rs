//! One interface over inference methods: message passing on one structure or an ensemble, exact, sparse variational,
//! nearest-neighbor and full-scale inference.

mod attach;
mod dense;
mod ensemble;
mod full_scale;
mod learning;
mod message_passing;
mod method;

pub use dense::{ExactMethod, NngpMethod, SvgpMethod};
pub use ensemble::EnsembleMethod;
pub use full_scale::FullScaleMethod;
pub(crate) use learning::{MethodEvidence, condition, learn, learning_task};
pub use message_passing::{MessagePassing, States};
pub use method::{Differentiable, Evidence, Fitted, Method, Quantity};
