//! One interface over inference methods: message passing on one structure or an ensemble, exact, sparse variational,
//! nearest-neighbor and full-scale inference.

mod attach;
mod by_likelihood;
mod catena;
mod conditioned;
mod dense;
mod ensemble;
mod exact;
mod full_scale;
mod in_time;
mod learning;
mod message_passing;
mod method;
mod named;
mod nngp;
mod registry;
mod space;
mod svgp;

pub(crate) use self::catena::Place;
pub(crate) use by_likelihood::{LikelihoodEvidence, condition_by_likelihood};
pub(crate) use conditioned::ConditionedModel;
pub use ensemble::EnsembleMethod;
pub use exact::ExactMethod;
pub use full_scale::FullScaleMethod;
pub(crate) use in_time::{InTime, Known};
pub(crate) use learning::{MethodEvidence, condition, condition_at, learn, learning_task};
pub use message_passing::{MessagePassing, States};
pub use method::{Differentiable, Evidence, Fitted, Method, Quantity};
pub use nngp::NngpMethod;
pub use space::SpaceMethod;
pub(crate) use space::{SpaceEvidence, SpaceQuery};
pub use svgp::SvgpMethod;
