//! Progress of a fit, requests to stop it, and its time limit.

mod pace;
mod watch;

pub(crate) use pace::Pace;
pub use watch::{Event, FitMonitor, Stage};
pub(crate) use watch::{Reporter, Step, StepWork, Watch};
