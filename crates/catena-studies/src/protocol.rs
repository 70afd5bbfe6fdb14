//! The choices in which the authors' runs of one set-up differ: streams, dealing of splits and masks, and order of summation.

use crate::julia_streams::JuliaVersion;
use crate::summation::Summation;

/// In which order random numbers are dealt to the points of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dealing {
    /// By position in the chain from the first row.
    ByPosition,
    /// By row of the table, so that the data do not depend on a chain.
    ByRow,
}

/// How a run of the authors drew its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The version of the random streams.
    pub streams: JuliaVersion,
    /// The order in which the split (sensor network) and the mask (electricity) are dealt.
    pub dealing: Dealing,
    /// The order in which columns of the electricity table are summed.
    pub summation: Summation,
}

impl Protocol {
    /// The runs behind all figures but the one on chain starts.
    pub const MAIN: Self =
        Self { streams: JuliaVersion::UpTo1_10, dealing: Dealing::ByPosition, summation: Summation::Authors };
    /// The runs of the study on chain starts.
    pub const CHAIN_STARTS: Self =
        Self { streams: JuliaVersion::From1_11, dealing: Dealing::ByRow, summation: Summation::TwoLanes };
}
