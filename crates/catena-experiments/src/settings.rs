//! Options of a run.

use std::path::PathBuf;

use crate::error::ExperimentError;

/// A study, of the paper or beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyName {
    /// Accuracy over the input dimension (Fig. dim_sweep, Fig. chain_gap).
    Sensor,
    /// Electricity with three inputs (Fig. ETT, Fig. pareto).
    Ett,
    /// Electricity over time (Fig. ETT_m1).
    EttTime,
    /// The first row of the chain (Fig. chain_start, Proposition 1).
    Start,
    /// Lemmas 1 and 2 and Theorem 1.
    Bounds,
    /// The table of costs, with measured exponents.
    Complexity,
    /// Learned parameters, trees, ensembles, and tasks that can rank methods.
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
    /// Few settings and small problems, as a test of the program.
    Quick,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The studies; if there are several, those of the electricity table are left out without the table.
    pub studies: Vec<StudyName>,
    /// The folder of the results.
    pub folder: PathBuf,
    /// The maximum number of seeds per study; `None` for the paper's.
    pub seeds: Option<u32>,
    /// The maximum number of seeds of the exact method, whose cost is cubic; `None` for that of the others.
    pub exact_seeds: Option<u32>,
    /// The electricity table.
    pub ett: Option<PathBuf>,
    /// How large the studies are.
    pub extent: Extent,
}

/// Checked options, with the text of the electricity table.
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

    /// The number of seeds of a study for which the paper has `of_paper`.
    pub(crate) fn n_seeds(&self, of_paper: u32) -> u32 {
        self.seeds.map_or(of_paper, |seeds| seeds.min(of_paper))
    }

    /// The number of seeds of its exact method.
    pub(crate) fn n_exact_seeds(&self, of_paper: u32) -> u32 {
        let seeds = self.n_seeds(of_paper);
        self.exact_seeds.map_or(seeds, |exact| exact.min(seeds))
    }
}
