//! A model along time in the user's own units: what a fit has learned, to be given to another one.

use std::ops::Range;

use catena::index::{LatentIndex, OutputIndex};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, ModelError, Process};
use catena::units::{LengthScale, Quality, Variance};

use super::sums::{Group, first_shared, group_columns, n_columns, terms, with_groups};
use crate::fit::{FitError, MeanChoice};

/// The parameters of a model along time. There are as many sums as outputs, all of the same pieces.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeParameters {
    /// What outputs return to.
    pub mean: MeanChoice,
    /// The sums, piece by piece.
    pub sums: Vec<Vec<PieceParameters>>,
    /// How much of each sum every output has, in its units: a row per output, a column per sum.
    pub mixing: Vec<Vec<f64>>,
    /// Seasons that all outputs share.
    pub shared: Vec<SharedSeason>,
    /// One noise variance per output, in squared units of the output.
    pub noise: Vec<f64>,
}

/// One piece of a sum.
#[derive(Clone, PartialEq, Debug)]
pub struct PieceParameters {
    /// What it is.
    pub kind: PieceKind,
    /// Its length-scale, in units of the input: of an oscillator the inverse of its frequency in radians, of a season the time in which
    /// its shape changes.
    pub length_scale: f64,
    /// Its standard deviation in an output that has 1 of the sum, where it is stationary; of levels and trends that at the first
    /// row. One number, of a season one for each harmonic.
    pub amplitudes: Vec<f64>,
}

/// What a piece is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PieceKind {
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

impl PieceKind {
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

    fn of(latent: &Latent) -> Option<Self> {
        Some(match latent.process() {
            Process::Stationary(kernel, _) => Self::Kernel(kernel),
            Process::Component(Component::Sho { quality }) => Self::Oscillator { quality: quality.get() },
            Process::Component(Component::RandomWalk) => Self::Level,
            Process::Component(Component::LocalLinearTrend) => Self::Trend,
            Process::Component(Component::Cycle { period }) => Self::Season { period: period.get() },
            Process::QuarterTurn => return None,
        })
    }
}

impl PieceParameters {
    /// Its latents, one per amplitude.
    fn latents(&self) -> Result<Vec<Latent>, FitError> {
        let is_season = matches!(self.kind, PieceKind::Season { .. });
        let found = self.amplitudes.len();
        if found == 0 || (found > 1 && !is_season) {
            return Err(FitError::ParameterShape { what: "the amplitudes of a piece", expected: 1, found });
        }
        let length_scale = length(self.length_scale)?;
        let piece = match self.kind {
            PieceKind::Kernel(kernel) => {
                let latent = Latent::new(kernel, StateKind::Derivative, length_scale);
                return Ok(vec![latent.map_err(ModelError::from)?]);
            }
            PieceKind::Season { period } => return cycles(period, length_scale, found),
            PieceKind::Oscillator { quality } => {
                Component::Sho { quality: Quality::new(quality).map_err(ModelError::from)? }
            }
            PieceKind::Level => Component::RandomWalk,
            PieceKind::Trend => Component::LocalLinearTrend,
        };
        Ok(vec![Latent::component(piece, length_scale)])
    }

    /// What two sums must have in common.
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
    /// Cycles and quarter turns with their weights: `a cos φ` and `a sin φ` of an amplitude a and a phase φ.
    fn group(&self, n_outputs: usize) -> Result<Group, FitError> {
        let length_scale = length(self.length_scale)?;
        let cycles = cycles(self.period, length_scale, self.harmonics.len())?;
        let pair = |cycle: &Latent| [Some(*cycle), Latent::quarter_turn_of(cycle)];
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

    /// A group as it stands in a model in the user's units.
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
    /// The parameters of a model in the user's units; `None` if it is not made of sums.
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
            let piece = |columns: Range<usize>| {
                Some(PieceParameters {
                    kind: PieceKind::of(&latents[columns.start])?,
                    length_scale: latents[columns.start].length_scale().get(),
                    amplitudes: multiples[columns].to_vec(),
                })
            };
            sums.push(terms(latents).into_iter().map(piece).collect::<Option<Vec<_>>>()?);
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

    /// The model in the user's units, for a table of so many outputs.
    pub(crate) fn model(&self, n_outputs: usize) -> Result<Lmc, FitError> {
        has_entries("the list of sums", n_outputs, self.sums.len())?;
        has_entries("the mixing matrix", n_outputs, self.mixing.len())?;
        for row in &self.mixing {
            has_entries("a row of the mixing matrix", n_outputs, row.len())?;
        }
        has_entries("the noise", n_outputs, self.noise.len())?;
        let form = |sum: &[PieceParameters]| sum.iter().map(PieceParameters::form).collect::<Vec<_>>();
        let is_other = |sum: &Vec<PieceParameters>| sum.is_empty() || form(sum) != form(&self.sums[0]);
        if let Some(other) = self.sums.iter().position(is_other) {
            return Err(FitError::OtherPieces { sum: other + 1 });
        }
        let mut latents = vec![];
        for piece in self.sums.iter().flatten() {
            latents.extend(piece.latents()?);
        }
        let mut weights = vec![];
        for (row, sum) in self.mixing.iter().flat_map(|row| row.iter().zip(&self.sums)) {
            weights.extend(sum.iter().flat_map(|piece| &piece.amplitudes).map(|amplitude| row * amplitude));
        }
        let groups: Result<Vec<Group>, FitError> =
            self.shared.iter().map(|season| season.group(n_outputs)).collect();
        let noise: Result<Vec<Variance>, _> = self.noise.iter().map(|noise| Variance::new(*noise)).collect();
        Ok(with_groups(latents, &weights, &groups?, noise.map_err(ModelError::from)?)?)
    }
}

/// The columns of a sum as weights by output and multiples of them by column, the first that does not vanish with 1; `None`
/// if they are not multiples of one another.
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
