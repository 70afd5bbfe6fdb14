//! Members conditioned on a table, and the mixture of their predictions.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use catena::data::{DataError, Dataset, InputPoints};
use catena::index::RowIndex;
use catena_methods::MemoryLimit;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use super::member::{Member, MemberKind};
use super::rows::FittedRows;
use crate::error::{FitError, MethodError};
use crate::methods::{ConditionedModel, Quantity, condition};
use crate::options::{MethodChoice, StructureOption};
use crate::prepare::Predictive;

/// The random stream that draws members.
const MEMBER_STREAM: u64 = 2;

/// The members of a fit, conditioned on its table.
pub(crate) struct FittedMembers {
    members: Vec<FittedMember>,
    inputs: InputPoints,
    /// Rows by the bits of their inputs; inputs of several rows are left out. Built when first needed.
    rows: OnceLock<HashMap<Box<[u64]>, RowIndex>>,
    n_outputs: usize,
}

struct FittedMember {
    weight: f64,
    widening: f64,
    kind: FittedKind,
}

enum FittedKind {
    Best,
    Model(ConditionedModel),
    Rows(FittedRows),
}

/// A key of inputs in which −0 and 0 are equal.
fn key(inputs: &[f64]) -> Box<[u64]> {
    inputs.iter().map(|input| (input + 0.0).to_bits()).collect()
}

fn rows_by_inputs(inputs: &InputPoints) -> HashMap<Box<[u64]>, RowIndex> {
    let (mut rows, mut counts) = (HashMap::new(), HashMap::new());
    for row in inputs.rows() {
        let key = key(inputs.point(row));
        *counts.entry(key.clone()).or_insert(0_usize) += 1;
        rows.insert(key, row);
    }
    rows.retain(|key, _| counts.get(key) == Some(&1));
    rows
}

impl FittedMembers {
    /// Conditions members on a table; `None` for an empty list.
    pub(crate) fn new(
        members: &[Member],
        table: &Dataset,
        structure: StructureOption,
        (seed, memory): (u64, MemoryLimit),
    ) -> Result<Option<Self>, FitError> {
        if members.is_empty() {
            return Ok(None);
        }
        let fitted = |member: &Member| -> Result<FittedMember, FitError> {
            let kind = match &member.kind {
                MemberKind::Best => FittedKind::Best,
                MemberKind::Model { preparation, model } => {
                    let prepared = Arc::new(preparation.dataset(table)?);
                    let choice = (MethodChoice::Catena, structure);
                    let posterior = condition(&prepared, model, choice, None, None, (seed, memory))?;
                    FittedKind::Model(ConditionedModel::new(preparation.clone(), model, prepared, posterior))
                }
                MemberKind::Rows(regression) => FittedKind::Rows(regression.fitted(table, structure)?),
            };
            Ok(FittedMember { weight: member.weight, widening: member.widening, kind })
        };
        let members: Result<Vec<FittedMember>, FitError> = members.iter().map(fitted).collect();
        let (inputs, n_outputs) = (table.inputs().clone(), table.observations().n_outputs());
        Ok(Some(Self { members: members?, inputs, rows: OnceLock::new(), n_outputs }))
    }

    /// The mixture at the table's rows. `best` is the best single model.
    pub(crate) fn predict_rows(
        &self,
        best: &ConditionedModel,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        self.mixture(|member| match &member.kind {
            FittedKind::Best => best.predict_rows(quantity),
            FittedKind::Model(model) => model.predict_rows(quantity),
            FittedKind::Rows(rows) => rows.predict_rows(quantity),
        })
    }

    /// The mixture at any inputs. A member that predicts at rows only is replaced by the best single model elsewhere.
    pub(crate) fn predict(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
    ) -> Result<Predictive, FitError> {
        let rows = self.rows_at(at);
        self.mixture(|member| match &member.kind {
            FittedKind::Best => best.predict(at, quantity),
            FittedKind::Model(model) => model.predict(at, quantity),
            FittedKind::Rows(_) if rows.iter().all(Option::is_none) => best.predict(at, quantity),
            FittedKind::Rows(regression) => {
                let own = regression.predict_rows(quantity)?;
                let row = |point: usize| rows[point].map(RowIndex::get);
                Ok(best.predict(at, quantity)?.with_rows_of(&own, row))
            }
        })
    }

    /// The row of the table at each point, if there is exactly one.
    fn rows_at(&self, at: &InputPoints) -> Vec<Option<RowIndex>> {
        let rows = self.rows.get_or_init(|| rows_by_inputs(&self.inputs));
        at.rows().map(|point| rows.get(&key(at.point(point))).copied()).collect()
    }

    fn mixture(
        &self,
        predict: impl Fn(&FittedMember) -> Result<Predictive, FitError>,
    ) -> Result<Predictive, FitError> {
        let member = |member: &FittedMember| Ok((member.weight, predict(member)?.widened(member.widening)));
        let members: Result<Vec<(f64, Predictive)>, FitError> = self.members.iter().map(member).collect();
        let mixture = Predictive::mixture(members?).ok_or(FitError::NoStart)?;
        let is_number = |at: usize| mixture.mean(at).is_finite() && mixture.deviation(at).is_finite();
        match (0..mixture.n_cells()).find(|&at| !is_number(at)) {
            None => Ok(mixture),
            Some(at) => {
                let (row, output) = (RowIndex::new(at / self.n_outputs), at % self.n_outputs);
                Err(DataError::UnscalingOverflow { row, output }.into())
            }
        }
    }

    /// The covariance of all outputs at each input: that of the mixture. Members that predict single cells have no covariance
    /// between outputs.
    pub(crate) fn covariances(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
    ) -> Result<Vec<f64>, FitError> {
        let n_outputs = self.n_outputs;
        let together = self.predict(best, at, quantity)?;
        let rows = self.rows_at(at);
        let mut covariances = vec![0.0; at.n_rows() * n_outputs * n_outputs];
        for member in &self.members {
            let (means, mut within) = match &member.kind {
                FittedKind::Best => (best.predict(at, quantity)?, best.covariances(at, quantity)?),
                FittedKind::Model(model) => (model.predict(at, quantity)?, model.covariances(at, quantity)?),
                FittedKind::Rows(regression) => {
                    let own = regression.predict_rows(quantity)?;
                    let row = |point: usize| rows[point].map(RowIndex::get);
                    let means = best.predict(at, quantity)?.with_rows_of(&own, row);
                    let mut within = best.covariances(at, quantity)?;
                    for (point, block) in within.chunks_exact_mut(n_outputs * n_outputs).enumerate() {
                        if rows[point].is_some() {
                            block.fill(0.0);
                            for output in 0..n_outputs {
                                block[output * (n_outputs + 1)] =
                                    means.deviation(point * n_outputs + output).powi(2);
                            }
                        }
                    }
                    (means, within)
                }
            };
            within.iter_mut().for_each(|entry| *entry *= member.widening * member.widening);
            for (place, (covariance, within)) in covariances.iter_mut().zip(within).enumerate() {
                let (cell, other) = (place / n_outputs, place % n_outputs);
                let beside = cell / n_outputs * n_outputs + other;
                let deviation = |cell: usize| means.mean(cell) - together.mean(cell);
                *covariance += member.weight * (within + deviation(cell) * deviation(beside));
            }
        }
        Ok(covariances)
    }

    /// Joint draws; each is of a randomly drawn member. Draws are spread around the member's mean by its factor.
    pub(crate) fn draws(
        &self,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(MEMBER_STREAM);
        let drawn: Vec<usize> = (0..n_draws).map(|_| self.drawn(&mut generator)).collect();
        let size = at.n_rows() * self.n_outputs;
        let mut draws = vec![0.0; n_draws * size];
        for (number, member) in self.members.iter().enumerate() {
            let places: Vec<usize> = (0..n_draws).filter(|&draw| drawn[draw] == number).collect();
            if places.is_empty() {
                continue;
            }
            let own_seed = seed.wrapping_add(1 + number as u64);
            let (means, own) = self.draws_of(member, best, at, quantity, places.len(), own_seed)?;
            for (draw, place) in own.chunks_exact(size).zip(places) {
                let target = &mut draws[place * size..][..size];
                for (cell, (target, value)) in target.iter_mut().zip(draw).enumerate() {
                    *target = means.mean(cell) + member.widening * (value - means.mean(cell));
                }
            }
        }
        Ok(draws)
    }

    /// A member, drawn by its weight.
    fn drawn(&self, generator: &mut ChaCha8Rng) -> usize {
        let mut left: f64 = StandardUniform.sample(generator);
        for (number, member) in self.members.iter().enumerate() {
            left -= member.weight;
            if left < 0.0 {
                return number;
            }
        }
        self.members.len() - 1
    }

    /// The predictions and draws of one member.
    fn draws_of(
        &self,
        member: &FittedMember,
        best: &ConditionedModel,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<(Predictive, Vec<f64>), FitError> {
        match &member.kind {
            FittedKind::Best => Ok((best.predict(at, quantity)?, best.draws(at, quantity, n_draws, seed)?)),
            FittedKind::Model(model) => {
                Ok((model.predict(at, quantity)?, model.draws(at, quantity, n_draws, seed)?))
            }
            FittedKind::Rows(regression) => {
                let rows = self.rows_at(at);
                let own = regression.predict_rows(quantity)?;
                let row = |point: usize| rows[point].map(RowIndex::get);
                let means = best.predict(at, quantity)?.with_rows_of(&own, row);
                let mut draws = best.draws(at, quantity, n_draws, seed)?;
                let known: Vec<RowIndex> = rows.iter().copied().flatten().collect();
                let at_rows = regression.draws(&known, n_draws, seed)?;
                let noise = regression.noise_deviations();
                let mut generator = ChaCha8Rng::seed_from_u64(seed);
                generator.set_stream(MEMBER_STREAM);
                let (n_outputs, size) = (self.n_outputs, at.n_rows() * self.n_outputs);
                for draw in 0..n_draws {
                    let mut from = at_rows[draw * known.len() * n_outputs..].chunks_exact(n_outputs);
                    let points = draws[draw * size..][..size].chunks_exact_mut(n_outputs);
                    for (point, _) in points.zip(&rows).filter(|(_, row)| row.is_some()) {
                        let values = from.next().ok_or(MethodError::NotOffered { what: "joint draws" })?;
                        for ((target, value), noise) in point.iter_mut().zip(values).zip(&noise) {
                            let fresh: f64 = match quantity {
                                Quantity::Function => 0.0,
                                Quantity::Observation => StandardNormal.sample(&mut generator),
                            };
                            *target = value + noise * fresh;
                        }
                    }
                }
                Ok((means, draws))
            }
        }
    }
}
