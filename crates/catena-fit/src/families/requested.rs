//! Transforms that the options request: whether they can be applied to a table, and their exponents.

use catena::data::Dataset;
use catena::index::OutputIndex;
use catena::kernel::Kernel;
use catena::learning::{Family, MultiStartSettings};

use super::plan::plan_for;
use super::powers::{PowerTask, marginal_power};
use crate::cost::TableSize;
use crate::error::FitError;
use crate::folds::representative_rows;
use crate::learn::LearningTask;
use crate::monitor::{Reporter, Stage, Watch};
use crate::options::{FitOptions, GroupScaling, TransformChoice, TransformKind};
use crate::power::PowerTransform;
use crate::prepare::InputUnits;

/// Checks that requested transforms can be applied to a table.
pub(crate) fn check_requested(table: &Dataset, options: &FitOptions) -> Result<(), FitError> {
    let observations = table.observations();
    let kinds = options.transform_kinds(observations.n_outputs())?;
    if !kinds.iter().any(|kind| kind.is_requested()) {
        return Ok(());
    }
    let refuse = |what| Err(FitError::TransformsWith { what });
    if options.has_parameters() {
        return refuse("a given parameter");
    }
    if observations.has_cell_noise() {
        return refuse("the known noise of a cell");
    }
    let kind = |output: OutputIndex| kinds[output.get()];
    let mut cells = observations.cells();
    match cells.find(|(_, cell)| cell.value <= 0.0 && kind(cell.output).needs_positive()) {
        None => Ok(()),
        Some((row, cell)) => {
            let (output, value) = (cell.output, cell.value);
            Err(FitError::NotTransformable { row, output, value, kind: kind(output).name() })
        }
    }
}

/// The requested transforms of a table, with exponents learned on a sample of it.
pub(crate) fn requested_transforms(
    table: &Dataset,
    options: &FitOptions,
    units: InputUnits,
    watch: &Watch<'_>,
) -> Result<TransformChoice, FitError> {
    let plan = plan_for(TableSize::of(table), options).2;
    let sample = table.select_rows(&representative_rows(table, plan.n_rows, options.seed))?;
    let reporter = Reporter::new(watch, Stage::Smoothness, 0.0);
    reporter.end_within(0.1);
    requested_on(&sample, options, units, plan.smoothness, &reporter)
}

/// The same on a sample. Exponents are learned with one shared latent and private ones, and start at those of the marginal
/// likelihood.
pub(super) fn requested_on(
    sample: &Dataset,
    options: &FitOptions,
    units: InputUnits,
    settings: MultiStartSettings,
    reporter: &Reporter<'_>,
) -> Result<TransformChoice, FitError> {
    let n_outputs = sample.observations().n_outputs();
    let kinds = options.transform_kinds(n_outputs)?;
    let power = |(output, kind): (usize, &TransformKind)| match kind {
        TransformKind::Auto => PowerTransform::None,
        kind => marginal_power(sample, output, *kind, false),
    };
    let powers = kinds.iter().enumerate().map(power).collect();
    let start = options.transform_choice().with_powers(powers);
    let own_of_groups = options.group_scaling == GroupScaling::Own && sample.inputs().groups().is_some();
    if start.powers.iter().all(|power| power.exponent().is_none()) {
        return Ok(TransformChoice { own_of_groups, ..start });
    }
    let task = PowerTask { table: sample, units, structure: options.structure, reporter: Some(reporter) };
    let prepared = task.prepared(&start)?.1;
    let kernel = Kernel::Matern32;
    let family = Family {
        n_shared: 1,
        shared_kernel: kernel,
        private_kernel: (n_outputs > 1).then_some(kernel),
        state: options.state.unwrap_or_else(|| prepared.default_state()),
        tied: false,
    };
    let learned = LearningTask::new(family, settings, &prepared.statistics, options)
        .learn_reported(&prepared, reporter)?;
    Ok(TransformChoice { own_of_groups, ..task.maximized(start, &learned.model)?.0 })
}
