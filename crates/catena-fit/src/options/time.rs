//! Options and given parameters of time models.

use catena::kernel::Kernel;

use super::choices::MeanChoice;
use super::time_spec::TimeSpec;

/// The most outputs of a time model; the joint state of more is too large.
pub const MOST_OUTPUTS: usize = 32;
/// The most outputs with a season in every latent; more outputs share seasons, with one phase per output.
pub const MOST_WITH_OWN_SEASONS: usize = 16;
/// Options of a time model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimeOptions {
    /// The sum; `None` to choose a level with an oscillator or a Matérn-1/2 kernel, and seasons.
    pub spec: Option<TimeSpec>,
    /// Periods of seasons, in units of the input; if empty and no sum is given, periods are found by a periodogram.
    pub periods: Vec<f64>,
    /// Given parameters, including all components and periods; `None` to learn them.
    pub parameters: Option<TimeParameters>,
}

/// Parameters of a time model. There are as many sums as outputs, all with the same components.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeParameters {
    /// The prior mean.
    pub mean: MeanChoice,
    /// The components of each sum.
    pub sums: Vec<Vec<ComponentParameters>>,
    /// Weights of the sums, in units of the outputs: a row per output, a column per sum.
    pub mixing: Vec<Vec<f64>>,
    /// Seasons shared by all outputs.
    pub shared: Vec<SharedSeason>,
    /// One noise variance per output, in squared units of the output.
    pub noise: Vec<f64>,
}

/// One component of a sum.
#[derive(Clone, PartialEq, Debug)]
pub struct ComponentParameters {
    /// The kind.
    pub kind: ComponentKind,
    /// The length-scale, in units of the input: for an oscillator the inverse of its angular frequency, for a season the time
    /// in which its shape changes.
    pub length_scale: f64,
    /// The standard deviation for a weight of 1; for levels and trends at the first row. One number, or one per harmonic of a
    /// season.
    pub amplitudes: Vec<f64>,
}

/// A kind of component.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ComponentKind {
    /// A stationary kernel.
    Kernel(Kernel),
    /// A damped oscillator.
    Oscillator {
        /// The quality factor.
        quality: f64,
    },
    /// A random walk.
    Level,
    /// A local linear trend.
    Trend,
    /// A damped trend.
    DampedTrend,
    /// A quasi-periodic season.
    Season {
        /// The period, in units of the input.
        period: f64,
    },
}

/// One group of a season shared by all outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedSeason {
    /// The period, in units of the input.
    pub period: f64,
    /// The time in which the shape changes, in units of the input.
    pub length_scale: f64,
    /// The harmonics.
    pub harmonics: Vec<SharedHarmonic>,
}

/// One harmonic of a shared season.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedHarmonic {
    /// The standard deviation of each output, in its units.
    pub amplitudes: Vec<f64>,
    /// The phase of each output, in radians of this harmonic. Only differences matter.
    pub phases: Vec<f64>,
}

impl ComponentKind {
    /// The name used in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel(kernel) => kernel.name(),
            Self::Oscillator { .. } => "sho",
            Self::Level => "rw",
            Self::Trend => "llt",
            Self::DampedTrend => "dt",
            Self::Season { .. } => "qp",
        }
    }
}
