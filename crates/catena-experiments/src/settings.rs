//! What a user may ask for.

use std::path::PathBuf;

use crate::error::ExperimentError;

/// A study of the paper, or one that it does not ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyName {
    /// Accuracy over the input dimension (Fig. dim_sweep, Fig. chain_gap).
    Sensor,
    /// Electricity with three inputs (Fig. ETT, Fig. pareto).
    Ett,
    /// Electricity over time (Fig. ETT_m1).
    EttTime,
    /// Where the chain starts (Fig. chain_start, Proposition 1).
    Start,
    /// Lemmas 1 and 2 and Theorem 1.
    Bounds,
    /// The table of costs, with measured exponents.
    Complexity,
    /// Learned parameters, trees, ensembles, and tasks on which methods can be told apart.
    Beyond,
}

impl StudyName {
    /// All, in the order of the report.
    pub const ALL: [Self; 7] =
        [Self::Sensor, Self::Ett, Self::EttTime, Self::Start, Self::Bounds, Self::Complexity, Self::Beyond];

    /// The name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sensor => "sensor",
            Self::Ett => "ett",
            Self::EttTime => "ett-time",
            Self::Start => "start",
            Self::Bounds => "bounds",
            Self::Complexity => "complexity",
            Self::Beyond => "beyond",
        }
    }
}

/// How large the studies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Extent {
    /// As in the paper.
    #[default]
    Full,
    /// A few settings and smaller problems, to see that it works.
    Quick,
}

/// Everything a run is told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The studies; with all of them, those of the electricity table are left out when there is none.
    pub studies: Vec<StudyName>,
    /// Where results go.
    pub folder: PathBuf,
    /// At most this many seeds of each study; `None` for the paper's counts.
    pub seeds: Option<u32>,
    /// At most this many seeds of the exact method, whose cost is cubic; `None` for as many as the others.
    pub exact_seeds: Option<u32>,
    /// The electricity table.
    pub ett: Option<PathBuf>,
    /// How large the studies are.
    pub extent: Extent,
}

/// Settings, checked, with the electricity table read.
pub(crate) struct Context {
    seeds: Option<u32>,
    exact_seeds: Option<u32>,
    pub(crate) electricity: Option<String>,
    pub(crate) extent: Extent,
}

impl Context {
    pub(crate) fn new(settings: &Settings) -> Result<Self, ExperimentError> {
        if settings.seeds == Some(0) || settings.exact_seeds == Some(0) {
            return Err(ExperimentError::NoSeeds);
        }
        let electricity = settings.ett.as_deref().map(crate::ett_file::read).transpose()?;
        Ok(Self {
            seeds: settings.seeds,
            exact_seeds: settings.exact_seeds,
            electricity,
            extent: settings.extent,
        })
    }

    /// Seeds of a study that the paper runs with so many.
    pub(crate) fn n_seeds(&self, of_paper: u32) -> u32 {
        self.seeds.map_or(of_paper, |seeds| seeds.min(of_paper))
    }

    /// Seeds of the exact method there.
    pub(crate) fn n_exact_seeds(&self, of_paper: u32) -> u32 {
        let seeds = self.n_seeds(of_paper);
        self.exact_seeds.map_or(seeds, |exact| exact.min(seeds))
    }
}
