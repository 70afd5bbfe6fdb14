//! One optimization problem: model family, starts, priors and multi-start settings.

use catena::index::OutputIndex;
use catena::learning::{
    Evidence, Family, GraphEvidence, Learned, MultiStartError, MultiStartSettings, OutputMoments, Parameters,
    Priors, Progress, multi_start,
};
use catena::model::{Lmc, ModelError};

use std::ops::ControlFlow;

use crate::cost::RowSize;
use crate::error::FitError;
use crate::monitor::{Pace, Reporter};
use crate::options::FitOptions;
use crate::prepare::{PreparedTable, TableStatistics};

/// A callback for the iterations of an optimization; `Break` stops it.
pub(crate) type LearningMonitor<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// One optimization problem: model family, starts, priors and multi-start settings.
#[derive(Clone, Debug)]
pub(crate) struct LearningTask {
    pub(crate) family: Family,
    pub(crate) settings: MultiStartSettings,
    pub(crate) priors: Priors,
    noise_floor: f64,
    /// Outputs whose noise is no parameter of their likelihood.
    without_noise: Vec<OutputIndex>,
    /// Models learned before.
    earlier: Vec<Lmc>,
    /// Length-scale multipliers of starts from the table's statistics.
    multipliers: &'static [f64],
}

impl LearningTask {
    /// Learns a family from one start, which is derived from the table.
    pub(crate) fn new(
        family: Family,
        settings: MultiStartSettings,
        statistics: &TableStatistics,
        options: &FitOptions,
    ) -> Self {
        let priors = options.priors.clone().unwrap_or_else(|| statistics.priors());
        let noise_floor = options.noise_floor;
        let without_noise = vec![];
        Self { family, settings, priors, noise_floor, without_noise, earlier: vec![], multipliers: &[1.0] }
    }

    /// The same task with other starts: models learned before, then starts from the table with these multipliers of the
    /// length-scales.
    pub(crate) fn with_starts(self, earlier: Vec<Lmc>, multipliers: &'static [f64]) -> Self {
        Self { earlier, multipliers, ..self }
    }

    /// The same task with the noise of these outputs fixed.
    pub(crate) fn with_fixed_noise(self, without_noise: Vec<OutputIndex>) -> Self {
        Self { without_noise, ..self }
    }

    /// The free parameters of a member of the family; weights and noise of constant outputs are fixed.
    pub(crate) fn parameters(&self, statistics: &TableStatistics, member: Lmc) -> Parameters {
        let constant = statistics.constant.iter().map(|(output, _)| *output);
        let parameters = self.family.parameters_without(member, self.noise_floor, constant);
        self.without_noise.iter().fold(parameters, |free, output| free.with_fixed_noise_of(*output))
    }

    /// The number of free parameters.
    pub(crate) fn n_free(&self, table: &PreparedTable) -> Result<usize, FitError> {
        let start = self.family.start(table.moments(), table.statistics.extent, 1.0)?;
        Ok(self.parameters(&table.statistics, table.statistics.silenced(start)?).n_free())
    }

    /// Learns by message passing.
    pub(crate) fn learn(
        &self,
        table: &PreparedTable,
        monitor: &LearningMonitor<'_>,
    ) -> Result<Learned, FitError> {
        let starts = self.starts(&table.statistics, || table.moments())?;
        let graph = table.graph(starts[0].clone())?;
        self.run(&table.statistics, &starts, &|| GraphEvidence::new(graph.clone()), monitor)
    }

    /// Learns by any log evidence with gradient.
    pub(crate) fn learn_by<'m, E>(
        &self,
        statistics: &TableStatistics,
        moments: impl Fn() -> &'m OutputMoments,
        evidence: &(dyn Fn() -> E + Sync),
        monitor: &LearningMonitor<'_>,
    ) -> Result<Learned, FitError>
    where
        E: Evidence + Send,
        E::Error: std::error::Error + Send + 'static,
        FitError: From<MultiStartError<E::Error>>,
    {
        self.run(statistics, &self.starts(statistics, moments)?, evidence, monitor)
    }

    /// Learns by message passing as far as the time of the current stage goes.
    pub(crate) fn learn_reported(
        &self,
        table: &PreparedTable,
        reporter: &Reporter<'_>,
    ) -> Result<Learned, FitError> {
        let pace = Pace::new(reporter, self.work_of_evaluation(table));
        self.learn(table, &|progress| {
            reporter.go_on()?;
            pace.step(progress)
        })
    }

    /// Seconds of one core for the log evidence of a table with its gradient, by counted work.
    pub(crate) fn work_of_evaluation(&self, table: &PreparedTable) -> f64 {
        let row = RowSize::of(&self.family, table.dataset.observations().n_outputs());
        1e-6 * row.microseconds() * table.dataset.n_rows() as f64
    }

    /// The number of starts.
    pub(crate) fn n_starts(&self) -> usize {
        self.earlier.len() + self.multipliers.len()
    }

    fn run<E>(
        &self,
        statistics: &TableStatistics,
        starts: &[Lmc],
        evidence: &(dyn Fn() -> E + Sync),
        monitor: &LearningMonitor<'_>,
    ) -> Result<Learned, FitError>
    where
        E: Evidence + Send,
        E::Error: std::error::Error + Send + 'static,
        FitError: From<MultiStartError<E::Error>>,
    {
        let parameters = self.parameters(statistics, starts[0].clone());
        Ok(multi_start(evidence, &parameters, &self.priors, starts, self.settings, monitor)?)
    }

    /// All starts, at least one.
    fn starts<'m>(
        &self,
        statistics: &TableStatistics,
        moments: impl Fn() -> &'m OutputMoments,
    ) -> Result<Vec<Lmc>, FitError> {
        let from_table = self.multipliers.iter().map(|&multiplier| {
            statistics.silenced(self.family.start(moments(), statistics.extent, multiplier)?)
        });
        let starts = self.earlier.iter().cloned().map(Ok).chain(from_table);
        let starts = starts.collect::<Result<Vec<Lmc>, ModelError>>()?;
        if starts.is_empty() { Err(FitError::NoStart) } else { Ok(starts) }
    }
}
