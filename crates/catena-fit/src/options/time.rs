//! Options and given parameters of time models.

use catena::kernel::Kernel;

use super::MeanChoice;
use super::time_spec::TimeSpec;

/// With more outputs the joint state is too large to be carried along the rows.
pub const MOST_OUTPUTS: usize = 32;
/// With more outputs a season in every latent is too much: they share it, with a phase of its own in each.
pub const MOST_WITH_OWN_SEASONS: usize = 16;
/// What is asked of a model along time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimeOptions {
    /// The sum; `None` for a level, an oscillator or a rough process, and what seasons there are.
    pub spec: Option<TimeSpec>,
    /// Periods of seasons, in units of the input; empty to look for them, unless the sum is given.
    pub periods: Vec<f64>,
    /// Parameters that are given, with all pieces and periods; `None` to learn them.
    pub parameters: Option<TimeParameters>,
}

/// The parameters of a model along time. There are as many sums as outputs, all of the same pieces.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeParameters {
    /// What outputs return to.
    pub mean: MeanChoice,
    /// The sums, piece by piece.
    pub sums: Vec<Vec<ComponentParameters>>,
    /// How much of each sum every output has, in its units: a row per output, a column per sum.
    pub mixing: Vec<Vec<f64>>,
    /// Seasons that all outputs share.
    pub shared: Vec<SharedSeason>,
    /// One noise variance per output, in squared units of the output.
    pub noise: Vec<f64>,
}

/// One piece of a sum.
#[derive(Clone, PartialEq, Debug)]
pub struct ComponentParameters {
    /// What it is.
    pub kind: ComponentKind,
    /// Its length-scale, in units of the input: of an oscillator the inverse of its frequency in radians, of a season the time in which
    /// its shape changes.
    pub length_scale: f64,
    /// Its standard deviation in an output that has 1 of the sum, where it is stationary; of levels and trends that at the first
    /// row. One number, of a season one for each harmonic.
    pub amplitudes: Vec<f64>,
}

/// What a piece is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ComponentKind {
    /// A stationary kernel.
    Kernel(Kernel),
    /// A damped oscillator.
    Oscillator {
        /// How slowly its swings die out.
        quality: f64,
    },
    /// A level that wanders.
    Level,
    /// A level with a slope that wanders.
    Trend,
    /// A season that slowly changes.
    Season {
        /// Its period, in units of the input.
        period: f64,
    },
}

/// A season that all outputs share: one group of it.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedSeason {
    /// Its period, in units of the input.
    pub period: f64,
    /// The time in which its shape changes, in units of the input.
    pub length_scale: f64,
    /// Harmonic by harmonic.
    pub harmonics: Vec<SharedHarmonic>,
}

/// One harmonic of a shared season, output by output.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedHarmonic {
    /// Standard deviations, in units of the outputs.
    pub amplitudes: Vec<f64>,
    /// How far each output is ahead, in radians of this harmonic. Only differences of phases count.
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
            Self::Season { .. } => "qp",
        }
    }
}
