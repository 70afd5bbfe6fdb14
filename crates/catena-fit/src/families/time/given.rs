//! Time models from and to parameters in the user's units.

use std::ops::Range;
use std::sync::Arc;

use catena::data::Dataset;
use catena::index::{LatentIndex, OutputIndex};
use catena::kernel::{Component, StateKind};
use catena::model::{Latent, Lmc, ModelError, Process};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Quality, Variance};

use super::comparison::TimeModel;
use super::drift::latest_warnings;
use super::sums::{self, Group, first_shared, group_columns, n_columns, terms, with_groups};
use crate::error::FitError;
use crate::options::{
    ComponentKind, ComponentParameters, FitOptions, MeanChoice, SharedHarmonic, SharedSeason, TimeParameters,
};
use crate::prepare::{InputUnits, Preparation, rescaled};

/// A time model with parameters in the user's units, for a table in the units of a preparation.
pub(crate) fn given(
    table: &Dataset,
    preparation: &Preparation,
    parameters: &TimeParameters,
    options: &FitOptions,
) -> Result<TimeModel, FitError> {
    let n_outputs = table.observations().n_outputs();
    let units = Preparation::identity(table.inputs(), n_outputs, InputUnits::AsGiven);
    let model = rescaled(&parameters.model(n_outputs)?, &units, preparation)?;
    let tree = Arc::new(sorted_chain(table.inputs())?);
    let warnings = latest_warnings(table, &tree, &model, options)?;
    let unit = preparation.inputs[0].1;
    let spec = sums::spec_of(&model).text(|period| (options.length_text)(period * unit));
    let (reasons, sums) = (vec![format!("parameters as given, of {spec}")], sums::numbers(&model));
    Ok(TimeModel { model, learned: None, reasons, warnings, sums })
}

impl ComponentKind {
    pub(super) fn of(latent: &Latent) -> Option<Self> {
        Some(match latent.process() {
            Process::Stationary(kernel, _) => Self::Kernel(kernel),
            Process::Component(Component::Sho { quality }) => Self::Oscillator { quality: quality.get() },
            Process::Component(Component::RandomWalk) => Self::Level,
            Process::Component(Component::LocalLinearTrend) => Self::Trend,
            Process::Component(Component::DampedTrend) => Self::DampedTrend,
            Process::Component(Component::Cycle { period }) => Self::Season { period: period.get() },
            Process::Quadrature => return None,
        })
    }
}

impl ComponentParameters {
    /// The latents, one per amplitude.
    fn latents(&self) -> Result<Vec<Latent>, FitError> {
        let is_season = matches!(self.kind, ComponentKind::Season { .. });
        let found = self.amplitudes.len();
        if found == 0 || (found > 1 && !is_season) {
            return Err(FitError::ParameterShape {
                what: "the amplitudes of a component",
                expected: 1,
                found,
            });
        }
        let length_scale = length(self.length_scale)?;
        let component = match self.kind {
            ComponentKind::Kernel(kernel) => {
                let latent = Latent::new(kernel, StateKind::Derivative, length_scale);
                return Ok(vec![latent.map_err(ModelError::from)?]);
            }
            ComponentKind::Season { period } => return cycles(period, length_scale, found),
            ComponentKind::Oscillator { quality } => {
                Component::Sho { quality: Quality::new(quality).map_err(ModelError::from)? }
            }
            ComponentKind::Level => Component::RandomWalk,
            ComponentKind::Trend => Component::LocalLinearTrend,
            ComponentKind::DampedTrend => Component::DampedTrend,
        };
        Ok(vec![Latent::component(component, length_scale)])
    }

    /// What all sums must have in common.
    fn form(&self) -> (&'static str, usize) {
        (self.kind.name(), self.amplitudes.len())
    }
}

fn length(value: f64) -> Result<LengthScale, FitError> {
    Ok(LengthScale::new(value).map_err(ModelError::from)?)
}

/// The harmonics of a season.
fn cycles(period: f64, length_scale: LengthScale, count: usize) -> Result<Vec<Latent>, FitError> {
    let cycle = |order: usize| -> Result<Latent, FitError> {
        Ok(Latent::component(Component::Cycle { period: length(period / order as f64)? }, length_scale))
    };
    (1..=count).map(cycle).collect()
}

impl SharedSeason {
    /// Cycles and quadrature components with the weights `a cos φ` and `a sin φ` for an amplitude a and a phase φ.
    fn group(&self, n_outputs: usize) -> Result<Group, FitError> {
        let length_scale = length(self.length_scale)?;
        let cycles = cycles(self.period, length_scale, self.harmonics.len())?;
        let pair = |cycle: &Latent| [Some(*cycle), Latent::quadrature_of(cycle)];
        let latents: Vec<Latent> = cycles.iter().flat_map(pair).flatten().collect();
        if latents.is_empty() {
            return Err(FitError::ParameterShape {
                what: "the harmonics of a shared season",
                expected: 1,
                found: 0,
            });
        }
        for SharedHarmonic { amplitudes, phases } in &self.harmonics {
            has_entries("the amplitudes of a shared season", n_outputs, amplitudes.len())?;
            has_entries("the phases of a shared season", n_outputs, phases.len())?;
        }
        let weights = |output: usize| {
            self.harmonics.iter().flat_map(move |SharedHarmonic { amplitudes, phases }| {
                let (sine, cosine) = phases[output].sin_cos();
                [amplitudes[output] * cosine, amplitudes[output] * sine]
            })
        };
        let weights = (0..n_outputs).flat_map(weights).collect();
        Ok(Group { latents, weights })
    }

    /// A group of a model in the user's units.
    fn of(model: &Lmc, columns: Range<usize>) -> Self {
        let first = &model.latents()[columns.start];
        let harmonic = |column: usize| {
            let weight = |output: usize, column: usize| weight(model, output, column);
            let pairs =
                || (0..model.n_outputs()).map(|output| (weight(output, column), weight(output, column + 1)));
            SharedHarmonic {
                amplitudes: pairs().map(|(a, b)| a.hypot(b)).collect(),
                phases: pairs().map(|(a, b)| b.atan2(a)).collect(),
            }
        };
        Self {
            period: first.shape().unwrap_or(f64::NAN),
            length_scale: first.length_scale().get(),
            harmonics: columns.clone().step_by(2).map(harmonic).collect(),
        }
    }
}

fn weight(model: &Lmc, output: usize, column: usize) -> f64 {
    model.mixing().weight(OutputIndex::new(output), LatentIndex::new(column))
}

fn has_entries(what: &'static str, expected: usize, found: usize) -> Result<(), FitError> {
    if expected == found { Ok(()) } else { Err(FitError::ParameterShape { what, expected, found }) }
}

impl TimeParameters {
    /// The parameters of a model in the user's units; `None` if it is not a time model.
    pub(crate) fn of(model: &Lmc, mean: MeanChoice) -> Option<Self> {
        let (n_outputs, n_columns) = (model.n_outputs(), n_columns(model));
        let is_of_sums = n_columns > 0 && first_shared(model) == n_outputs * n_columns;
        if !is_of_sums || model.mixing().has_private() {
            return None;
        }
        let mut mixing = vec![vec![]; n_outputs];
        let mut sums = vec![];
        for first in (0..n_outputs).map(|sum| sum * n_columns) {
            let (weights, multiples) = taken_apart(model, first..first + n_columns)?;
            mixing.iter_mut().zip(weights).for_each(|(row, weight)| row.push(weight));
            let latents = &model.latents()[first..first + n_columns];
            let component = |columns: Range<usize>| {
                Some(ComponentParameters {
                    kind: ComponentKind::of(&latents[columns.start])?,
                    length_scale: latents[columns.start].length_scale().get(),
                    amplitudes: multiples[columns].to_vec(),
                })
            };
            sums.push(terms(latents).into_iter().map(component).collect::<Option<Vec<_>>>()?);
        }
        Some(Self {
            mean,
            sums,
            mixing,
            shared: group_columns(model)
                .into_iter()
                .map(|columns| SharedSeason::of(model, columns))
                .collect(),
            noise: model.noise().iter().map(|noise| noise.get()).collect(),
        })
    }

    /// The model in the user's units.
    pub(crate) fn model(&self, n_outputs: usize) -> Result<Lmc, FitError> {
        has_entries("the list of sums", n_outputs, self.sums.len())?;
        has_entries("the mixing matrix", n_outputs, self.mixing.len())?;
        for row in &self.mixing {
            has_entries("a row of the mixing matrix", n_outputs, row.len())?;
        }
        has_entries("the noise", n_outputs, self.noise.len())?;
        let form =
            |sum: &[ComponentParameters]| sum.iter().map(ComponentParameters::form).collect::<Vec<_>>();
        let is_other = |sum: &Vec<ComponentParameters>| sum.is_empty() || form(sum) != form(&self.sums[0]);
        if let Some(other) = self.sums.iter().position(is_other) {
            return Err(FitError::DifferentComponents { sum: other + 1 });
        }
        let mut latents = vec![];
        for component in self.sums.iter().flatten() {
            latents.extend(component.latents()?);
        }
        let mut weights = vec![];
        for (row, sum) in self.mixing.iter().flat_map(|row| row.iter().zip(&self.sums)) {
            weights.extend(
                sum.iter().flat_map(|component| &component.amplitudes).map(|amplitude| row * amplitude),
            );
        }
        let groups: Result<Vec<Group>, FitError> =
            self.shared.iter().map(|season| season.group(n_outputs)).collect();
        let noise: Result<Vec<Variance>, _> = self.noise.iter().map(|noise| Variance::new(*noise)).collect();
        Ok(with_groups(latents, &weights, &groups?, noise.map_err(ModelError::from)?)?)
    }
}

/// The columns of a sum as weights by output times a factor by column, which is 1 for the first nonzero column; `None` if they
/// are not multiples of one another.
fn taken_apart(model: &Lmc, columns: Range<usize>) -> Option<(Vec<f64>, Vec<f64>)> {
    let outputs = 0..model.n_outputs();
    let weights_of =
        |column: usize| outputs.clone().map(|output| weight(model, output, column)).collect::<Vec<f64>>();
    let Some(head) = columns.clone().find(|column| weights_of(*column).iter().any(|weight| *weight != 0.0))
    else {
        return Some((vec![0.0; outputs.len()], vec![1.0; columns.len()]));
    };
    let heads = weights_of(head);
    let largest = outputs.clone().max_by(|a, b| heads[*a].abs().total_cmp(&heads[*b].abs()))?;
    let multiples: Vec<f64> =
        columns.clone().map(|column| weight(model, largest, column) / heads[largest]).collect();
    let is_bound = |(column, multiple): (usize, &f64)| {
        let size = (multiple * heads[largest]).abs();
        let found = weights_of(column);
        found.iter().zip(&heads).all(|(found, head)| (found - multiple * head).abs() <= 1e-9 * size)
    };
    let are_bound = columns.clone().zip(&multiples).all(is_bound);
    are_bound.then_some((heads, multiples))
}
